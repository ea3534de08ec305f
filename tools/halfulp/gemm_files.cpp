// Files of `gemm`; see gemm_files.hpp.
#include "gemm_files.hpp"

#include <cstring>
#include <optional>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/tensors/npy.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/text.hpp"
#include "halfulp/unpacked.hpp"
#include "interrupt.hpp"
#include "mma_options.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");

struct Shape {
  std::size_t rows, columns;
};

Shape matrix_shape(const tensors::TensorSource& source, const std::string& name) {
  const auto& shape = source.tensor().shape;
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {1, shape[0]};
  if (shape.size() == 2) return {shape[0], shape[1]};
  throw InputError("tensor '" + name + "'", "it has " + std::to_string(shape.size()) + " axes", "give a matrix");
}

/// A word of the file as a word of `format`; empty where the format has not the number. f32 into tf32 loses its low bits, as
/// in the hardware.
std::optional<std::uint32_t> converted(std::uint64_t word, const FormatSpec& from, const FormatSpec& format, const std::string& format_name) {
  const CastResult as_f32 = cast(from, word, kF32, {.overflow = Overflow::overflow});
  if (from != kF32 && (as_f32.flags & (kInexact | kOverflow)) != 0) return std::nullopt;
  const auto f32 = static_cast<std::uint32_t>(from == kF32 ? word : as_f32.code);
  if (format_name == "tf32" && (f32 & 0x7fffffff) <= 0x7f800000) return f32 & 0xffffe000;
  return exact_code(f32, format);
}

/// Unsigned words of the format's size are its codes. Those of integers are not: 200 in a uint8 is no -56.
bool holds_codes(const tensors::ElementType& type, const FormatSpec& format) {
  const bool unsigned_words = type.name == "uint8" || type.name == "uint16" || type.name == "uint32";
  return type.word_bytes == format.storage_bytes() && unsigned_words && format.encoding != Encoding::twos_complement;
}

void put_word(std::byte* at, std::uint32_t word, int bytes) {
  const auto narrow = static_cast<std::uint8_t>(word);
  const auto middle = static_cast<std::uint16_t>(word);
  if (bytes == 1) std::memcpy(at, &narrow, 1);
  else if (bytes == 2) std::memcpy(at, &middle, 2);
  else std::memcpy(at, &word, 4);
}

}  // namespace

LoadedMatrix load_codes(const std::string& name, const FormatSpec& format, const std::string& format_name) {
  tensors::TensorSource source = tensors::open_tensor(name);
  const std::string what = "tensor '" + name + "'";
  if (holds_codes(source.type(), format)) source = source.as(format_name);
  const bool integers = source.type().spec && source.type().spec->encoding == Encoding::twos_complement;
  if (!source.type().spec || (integers && format.encoding != Encoding::twos_complement)) {
    throw InputError(what, "its element type " + source.type().name + " is no number format here",
                     "store it as " + format_name + ", or as numbers in float32");
  }
  const Shape shape = matrix_shape(source, name);
  LoadedMatrix x{{}, shape.rows, shape.columns};
  const std::size_t bytes = static_cast<std::size_t>(format.storage_bytes()), count = shape.rows * shape.columns;
  x.words.resize(count * bytes);
  if (*source.type().spec == format) {
    source.read_words(0, x.words);
    return x;
  }
  constexpr std::size_t kPiece = 1 << 14;
  std::vector<std::uint64_t> words(kPiece);
  for (std::size_t done = 0; done < count; done += kPiece) {
    throw_if_interrupted();
    const std::size_t n = std::min(kPiece, count - done);
    source.read(done, std::span(words).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const auto word = converted(words[i], *source.type().spec, format, format_name);
      if (!word) {
        throw InputError(what + ", element " + std::to_string(done + i), hex_float_text(unpack(*source.type().spec, words[i])) + " is no number of " + format_name,
                         "round it first: `halfulp quantize`, or store it as " + format_name);
      }
      put_word(&x.words[(done + i) * bytes], *word, static_cast<int>(bytes));
    }
  }
  return x;
}

LoadedMatrix transposed(const LoadedMatrix& x, int word_bytes) {
  const auto bytes = static_cast<std::size_t>(word_bytes);
  LoadedMatrix y{std::vector<std::byte>(x.words.size()), x.columns, x.rows};
  constexpr std::size_t kTile = 32;
  for (std::size_t i0 = 0; i0 < x.rows; i0 += kTile) {
    for (std::size_t j0 = 0; j0 < x.columns; j0 += kTile) {
      for (std::size_t i = i0; i < std::min(i0 + kTile, x.rows); ++i) {
        for (std::size_t j = j0; j < std::min(j0 + kTile, x.columns); ++j) {
          std::memcpy(&y.words[(j * x.rows + i) * bytes], &x.words[(i * x.columns + j) * bytes], bytes);
        }
      }
    }
  }
  return y;
}

LoadedWords load_words(const std::string& name, const FormatSpec& format, const std::string& format_name) {
  const LoadedMatrix codes = load_codes(name, format, format_name);
  LoadedWords x{std::vector<std::uint32_t>(codes.rows * codes.columns), codes.rows, codes.columns};
  const auto bytes = static_cast<std::size_t>(format.storage_bytes());
  for (std::size_t i = 0; i < x.words.size(); ++i) {
    if (bytes == 1) {
      x.words[i] = static_cast<std::uint32_t>(codes.words[i]);
    } else if (bytes == 2) {
      std::uint16_t word;
      std::memcpy(&word, &codes.words[2 * i], 2);
      x.words[i] = word;
    } else {
      std::memcpy(&x.words[i], &codes.words[4 * i], 4);
    }
  }
  return x;
}

void print_result(const std::vector<std::uint32_t>& words, std::size_t columns, const FormatSpec& format, const std::string& format_name,
                  bool json) {
  Output output;
  std::string& text = output.text();
  const bool integers = format.encoding == Encoding::twos_complement;
  if (json) {
    text += R"({"format":")" + format_name + R"(","shape":[)" + std::to_string(words.size() / columns) + "," + std::to_string(columns) + R"(],")" +
            (integers ? "values" : "codes") + R"(":[)";
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool first = i % columns == 0, last = (i + 1) % columns == 0;
    if (json) text += first ? (i == 0 ? "[" : ",[") : ",";
    if (integers) {
      const auto negative = format.is_signed && (words[i] >> (format.width - 1) & 1) != 0;
      text += std::to_string(static_cast<std::int64_t>(words[i]) - (negative ? std::int64_t{1} << format.width : 0));
    } else {
      if (json) text += '"';
      append_code(text, format, words[i]);
      if (json) text += '"';
    }
    if (json) text += last ? "]" : "";
    else text += last ? '\n' : ' ';
    output.line_done();
  }
  if (json) text += "]}\n";
  output.flush();
}

void write_result(const std::string& path, const std::vector<std::uint32_t>& words, std::size_t columns, const FormatSpec& format,
                  const std::string& format_name) {
  const int bytes = format.storage_bytes();
  std::vector<std::byte> packed(words.size() * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < words.size(); ++i) put_word(&packed[i * static_cast<std::size_t>(bytes)], words[i], bytes);
  const std::vector<std::uint64_t> shape = {columns == 0 ? 0 : words.size() / columns, columns};
  const tensors::ElementType type = tensors::element_type(format_name);
  if (path.ends_with(".npy")) {
    tensors::NpyHeader header;
    header.descr = tensors::npy_descr(type);
    header.shape = shape;
    tensors::NpyWriter writer(path, header);
    writer.write(packed);
    writer.commit();
    return;
  }
  if (!path.ends_with(".safetensors")) throw InputError("output '" + path + "'", "no kind of file that gemm writes", "name a .npy or .safetensors file, or -");
  const tensors::FileType* row = tensors::file_type(type.name);
  const bool packed_type = row != nullptr && row->packing.has_value();  // one code per byte
  const tensors::TensorPlan plan = {"d", packed_type ? "U8" : tensors::safetensors_dtype(type), shape};
  tensors::SafetensorsWriter writer(path, std::span(&plan, 1));
  writer.write("d", packed);
  writer.commit();
}

}  // namespace halfulp::tool
