#include "attention_files.hpp"

#include <unistd.h>
#include <bit>
#include <filesystem>
#include <sstream>

#include "halfulp/attention/probes_case.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/tensors/element_type.hpp"
#include "halfulp/tensors/npy.hpp"
#include "halfulp/tensors/source.hpp"
#include "quantize_options.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");

bool is_file(const std::string& text) {
  return text.ends_with(".npy") || text.find(".npz") != std::string::npos ||
         text.find(".safetensors") != std::string::npos;
}

}  // namespace

HeadTensor load_heads(const std::string& name, const std::string& format,
                      const std::vector<float>& scales) {
  const FormatSpec& spec = attention::format_named(format);
  tensors::TensorSource source = tensors::open_tensor(name);
  const std::string type = source.type().name;
  const bool codes = spec.encoding != Encoding::twos_complement && (type == "uint8" || type == "uint16" || type == "uint32");
  if (source.type().word_bytes == spec.storage_bytes() && codes) source = source.as(format);
  const bool numbers = source.type().spec && (source.type().spec->encoding != Encoding::twos_complement || *source.type().spec == spec);
  if (!numbers)
    throw InputError("tensor '" + name + "'", "its type " + type + " holds neither codes of " + format + " nor floating numbers",
                     "store it as " + (spec.encoding == Encoding::twos_complement ? format : "uint" + std::to_string(8 * spec.storage_bytes())) +
                         ", or as numbers in f32, f16, bf16 or f64");
  const auto& shape = source.tensor().shape;
  if (shape.size() != 2 && shape.size() != 3)
    throw InputError("tensor '" + name + "'", "it has " + std::to_string(shape.size()) + " axes",
                     "give heads x tokens x channels, or tokens x channels for one head");
  HeadTensor x;
  x.heads = shape.size() == 3 ? shape[0] : 1;
  x.tokens = shape[shape.size() - 2];
  x.width = shape[shape.size() - 1];
  x.words.resize(x.heads * x.tokens * x.width);
  FormatSpec from = *source.type().spec;
  if (source.type().word_bytes > 4) {
    std::vector<std::uint64_t> wide(x.words.size());
    source.read(0, std::span(wide));
    for (std::size_t i = 0; i < wide.size(); ++i)
      x.words[i] =
          static_cast<std::uint32_t>(cast(from, wide[i], kF32, {.overflow = Overflow::overflow}).code);
    from = kF32;
  } else {
    source.read(0, std::span(x.words));
  }
  if (from == spec) return x;
  const std::size_t group = scales.size() <= 1 ? x.heads : x.heads / scales.size();
  if (!scales.empty() && (group == 0 || scales.size() * group != x.heads))
    throw InputError("scales of '" + name + "'",
                     std::to_string(scales.size()) + " for " + std::to_string(x.heads) + " heads",
                     "give one, or one per head");
  for (std::size_t i = 0; i < x.words.size(); ++i) {
    const float value = attention::value_of(from, x.words[i]);
    const float scale = scales.empty() ? 1.0f : scales[i / (x.tokens * x.width) / group];
    const CastResult cast_to = cast(kF32, std::bit_cast<std::uint32_t>(value / scale), spec, {});
    if (cast_to.refusal != Refusal::none)
      throw InputError("tensor '" + name + "', element " + std::to_string(i),
                       "a NaN has no code in " + format, "mend the tensor");
    x.words[i] = static_cast<std::uint32_t>(cast_to.code);
  }
  return x;
}

std::vector<float> read_floats(const std::string& text, const std::string& option) {
  std::vector<float> values;
  if (is_file(text)) {
    const tensors::TensorSource source = tensors::open_tensor(text);
    if (source.type().name != "f32")
      throw InputError(option + " '" + text + "'", "it is of type " + source.type().name,
                       "give float32 numbers");
    std::vector<std::uint32_t> words(static_cast<std::size_t>(source.size()));
    source.read(0, std::span(words));
    for (const std::uint32_t word : words) values.push_back(std::bit_cast<float>(word));
  } else {
    std::istringstream list(text);
    for (std::string word; std::getline(list, word, ',');)
      values.push_back(static_cast<float>(number_of(word, require_format("f32"))));
  }
  if (values.empty()) throw InputError(option, "it is empty", "give one number, or one per head");
  return values;
}

void write_npy(const std::string& path, const std::vector<std::uint32_t>& words, const std::string& format,
               std::vector<std::uint64_t> shape) {
  const tensors::ElementType type = tensors::element_type(format);
  const auto bytes = static_cast<std::size_t>(type.word_bytes);
  std::vector<std::byte> packed(words.size() * bytes);
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = static_cast<std::byte>(words[i / bytes] >> (8 * (i % bytes)));
  tensors::NpyHeader header;
  header.descr = tensors::npy_descr(type);
  header.shape = std::move(shape);
  tensors::NpyWriter writer(path, header);
  writer.write(packed);
  writer.commit();
}

void write_stages(const std::string& folder, const attention::KernelSpec& spec,
                  const attention::Shape& shape, const attention::Stages& s) {
  namespace fs = std::filesystem;
  if (fs::exists(folder))
    throw InputError("folder '" + folder + "'", "it is there already", "name a new one");
  const std::string beside = folder + ".partial-" + std::to_string(getpid());
  const std::uint64_t h = shape.query_heads, q = shape.queries;
  std::error_code error;
  try {
    if (!fs::create_directory(beside, error))
      throw InputError("folder '" + folder + "'", error.message(), "check where it lies, and its rights");
    const auto write = [&](const char* name, const std::vector<std::uint32_t>& words,
                           const std::string& format, std::vector<std::uint64_t> dimensions) {
      write_npy(beside + "/" + name + ".npy", words, format, std::move(dimensions));
    };
    write("S", s.S, "f32", {h, q, s.keys});
    write("L", s.L, "f32", {h, q});
    write("m", s.m, "f32", {h, q, s.tiles});
    write("t", s.t, "f32", {h, q, s.keys});
    write("P", s.P, "f32", {h, q, s.keys});
    write("P_code", s.P_code, spec.p_format, {h, q, s.keys});
    write("alpha", s.alpha, "f32", {h, q, s.tiles});
    write("l", s.l, "f32", {h, q, s.tiles, s.lanes});
    write("row_sum", s.row_sum, "f32", {h, q});
    write("m_last", s.m_last, "f32", {h, q});
    write("O_tile", s.O_tile, "f32", {h, q, s.tiles, s.value_dim});
    write("O", s.O, spec.out, {h, q, s.value_dim});
    fs::rename(beside, folder);
  } catch (const fs::filesystem_error& failure) {
    fs::remove_all(beside, error);
    throw InputError("folder '" + folder + "'", failure.code().message(),
                     "check where it lies, and its rights");
  } catch (...) {
    fs::remove_all(beside, error);
    throw;
  }
}

}  // namespace halfulp::tool
