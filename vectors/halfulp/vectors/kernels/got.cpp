// Columns of answers from files of every form, read in pieces; see got.hpp.
#include "halfulp/vectors/kernels/got.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

/// The words of a column, wherever they lie.
struct Answers {
  std::uint64_t words = 0;
  std::uint64_t odd_bytes = 0;  ///< behind the last whole word
  std::function<void(std::uint64_t first_word, std::span<std::byte> words)> read;
};

Answers raw_answers(const std::string& path, const KernelColumn& column) {
  const tensors::Bytes bytes = tensors::open_file(path);
  const auto size = static_cast<std::uint64_t>(column.word_bytes);
  return {
      bytes->size() / size, bytes->size() % size,
      [bytes, size](std::uint64_t first, std::span<std::byte> words) { bytes->read(first * size, words); }};
}

/// What a file calls a type (`<f4`, `|V1`, F8_E4M3) as an element name; void types stay `V1`, unknown ones
/// as they are.
std::string element_name(const std::string& path, const std::string& dtype) {
  const bool safetensors = path.ends_with(".safetensors");
  const std::string type =
      safetensors || dtype.size() < 2 ? dtype : dtype.substr(1);  // behind the byte order
  if (!safetensors && type.starts_with("V")) return type;
  for (const tensors::FileType& row : tensors::kFileTypes) {
    if ((safetensors ? row.safetensors : row.npy) == type) return std::string(row.name);
  }
  return dtype;
}

/// Codes come as the format itself, as integers of the word's size, or as void.
void require_type(const std::string& path, const std::string& type, const KernelColumn& column) {
  const std::string words = tensors::word_type(column.word_bytes).name;
  if (type == column.format || type == words || "u" + type == words ||
      type == "V" + std::to_string(column.word_bytes))
    return;
  throw InputError(
      "file '" + printable(path, 200) + "'",
      "elements of type " + printable(type) + ", and the codes of " + column.format + " are " + words,
      "write the codes as " + words + ", not their values");
}

Answers tensor_answers(const std::string& path, const tensors::Tensor& tensor, const KernelColumn& column) {
  const std::string type = element_name(path, tensor.dtype);
  require_type(path, type, column);
  tensors::OpenOptions options;
  // Packed types (F4, F6) are unpacked by their own name; a code too wide for its format is a finding, so
  // words otherwise.
  const tensors::FileType* row = tensors::file_type(type);
  const bool packed = row != nullptr && row->packing.has_value() && path.ends_with(".safetensors");
  if (!packed) options.dtype = tensors::word_type(column.word_bytes).name;
  const std::string name = tensor.name.empty() ? path : path + ":" + tensor.name;
  const auto source = std::make_shared<const tensors::TensorSource>(tensors::open_tensor(name, options));
  return {source->size(), 0,
          [source](std::uint64_t first, std::span<std::byte> words) { source->read_words(first, words); }};
}

Answers from_tensors(const std::string& path, const std::vector<tensors::Tensor>& tensors,
                     const RowShape& shape, const KernelColumn& column) {
  const bool only = tensors.size() == 1 && shape.outputs.size() == 1;
  for (const tensors::Tensor& tensor : tensors) {
    if (!only && tensor.name != column.name) continue;
    return tensor_answers(path, tensor, column);
  }
  std::string names;
  for (const tensors::Tensor& tensor : tensors)
    names += (names.empty() ? "" : ", ") + printable(tensor.name);
  throw InputError("file '" + printable(path, 200) + "'",
                   "no array is named " + column.name + " (it has " + names + ")",
                   "name the arrays as the columns of the pack");
}

std::vector<Answers> open_answers(const std::string& path, const RowShape& shape) {
  std::vector<Answers> answers;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const KernelColumn& column : shape.outputs)
      answers.push_back(raw_answers(path + "/" + column.name + ".bin", column));
    return answers;
  }
  const bool one_array = path.ends_with(".npy");
  if (path.ends_with(".npz") || path.ends_with(".safetensors") ||
      (one_array && shape.outputs.size() == 1)) {
    const std::vector<tensors::Tensor> found = tensors::list_tensors(path);
    for (const KernelColumn& column : shape.outputs)
      answers.push_back(from_tensors(path, found, shape, column));
    return answers;
  }
  if (shape.outputs.size() != 1) {
    throw InputError("file '" + printable(path, 200) + "'",
                     "it holds one column, and " + std::to_string(shape.outputs.size()) + " are expected",
                     "give a folder with NAME.bin per column, an .npz or a .safetensors file; packs of attention have one column without --stages");
  }
  answers.push_back(raw_answers(path, shape.outputs.front()));
  return answers;
}

/// Why a column may have the wrong size; empty when there is no guess.
std::string size_hint(const Answers& answers, const KernelColumn& column, const RowShape& shape) {
  const auto size = static_cast<std::uint64_t>(column.word_bytes);
  const std::uint64_t bytes = answers.words * size + answers.odd_bytes;
  const std::uint64_t wanted = shape.rows * column.row_bytes();
  if (bytes == 0 || wanted == 0) return {};
  const std::string own = std::to_string(size) + (size == 1 ? " byte" : " bytes");
  if (column.unpacked_words > 0 && bytes == shape.rows * column.unpacked_words * size)
    return "; one code per word, and the SPEC packs them: pack the codes, or leave packing= out";
  for (const std::uint64_t times : {2u, 4u, 8u}) {
    if (bytes == wanted * times)
      return "; " + std::to_string(times * size) + " bytes per code, and codes of " + column.format +
             " are " + own + ": write the codes as words of " + own;
  }
  constexpr int kNibble = 4;
  const auto format = find_format(column.format);
  if (column.unpacked_words == 0 && size == 1 && bytes * 2 == wanted && format &&
      format->spec.width <= kNibble)
    return "; half as many: packed codes need packing= in the SPEC, where there is one word per code";
  if (!shape.whose_rows || answers.odd_bytes > 0 || answers.words % column.words_per_row != 0) return {};
  return shape.whose_rows(answers.words / column.words_per_row);
}

class Got {
 public:
  Got(const std::string& path, RowShape shape)
      : shape_(std::move(shape)), answers_(open_answers(path, shape_)) {}

  void answer(const RowJob& job) const {
    std::uint64_t rows = job.rows;
    for (std::size_t c = 0; c < answers_.size(); ++c) {
      const std::uint64_t there = answers_[c].words / shape_.outputs[c].words_per_row;
      rows = std::min(rows, there > job.first ? there - job.first : 0);
    }
    for (std::size_t c = 0; c < answers_.size() && rows > 0; ++c) {
      const KernelColumn& column = shape_.outputs[c];
      answers_[c].read(job.first * column.words_per_row,
                       job.answers[c].first(static_cast<std::size_t>(rows) * column.row_bytes()));
    }
    if (rows == job.rows) return;
    std::string text;
    for (std::size_t c = 0; c < answers_.size(); ++c) {
      const KernelColumn& column = shape_.outputs[c];
      const std::uint64_t wanted = shape_.rows * column.words_per_row;
      if (answers_[c].words >= wanted) continue;
      text += (text.empty() ? "" : "; ") + column.name + ": " + grouped_digits(answers_[c].words) + " of " +
              grouped_digits(wanted) + " codes, " + grouped_digits(wanted - answers_[c].words) + " missing";
      if (answers_[c].odd_bytes > 0)
        text += " (and " + std::to_string(answers_[c].odd_bytes) + " bytes of another)";
      text += size_hint(answers_[c], column, shape_);
    }
    throw KernelFailure(text, Trouble::missing_output, rows);
  }

  std::vector<KernelFinding> finish() const {
    std::vector<KernelFinding> findings;
    for (std::size_t c = 0; c < answers_.size(); ++c) {
      const KernelColumn& column = shape_.outputs[c];
      const std::uint64_t wanted = shape_.rows * column.words_per_row;
      if (answers_[c].words <= wanted && answers_[c].odd_bytes == 0) continue;
      std::string text = column.name + ": " + grouped_digits(answers_[c].words - wanted) +
                         " codes more than the " + grouped_digits(wanted) + " expected";
      if (answers_[c].odd_bytes > 0) text += ", and " + std::to_string(answers_[c].odd_bytes) + " bytes";
      text += size_hint(answers_[c], column, shape_);
      findings.push_back({Trouble::extra_output, text});
    }
    return findings;
  }

 private:
  RowShape shape_;
  std::vector<Answers> answers_;
};

}  // namespace

Plug got(const std::string& path) {
  return {
      printable(path, 200), "--got " + shell_quoted(path),
      [path](const RowShape& shape, const InputRows&) -> Plugged {
        const auto file = std::make_shared<const Got>(path, shape);
        return {[file](const RowJob& job) { file->answer(job); }, [file] { return file->finish(); }, {}, false};
      }};
}

}  // namespace halfulp::vectors
