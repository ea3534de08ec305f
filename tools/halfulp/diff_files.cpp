// `halfulp diff` of two result files: first differing index and count. Words are compared: NaNs of other bits differ, and
// so do zeros of other signs.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "diff.hpp"
#include "halfulp/error.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/tensors/source.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

tensors::TensorSource open(const std::string& text, const DiffOptions& options) {
  tensors::OpenOptions open;
  if (!options.dtype.empty()) open.dtype = options.dtype;
  if (!options.shape.empty()) open.shape = tensors::parse_shape(options.shape);
  std::error_code error;
  if (text.ends_with(".bin") && !open.dtype && !open.shape) {  // bytes
    const std::uintmax_t size = std::filesystem::file_size(text, error);
    open.dtype = "uint8";
    open.shape = std::vector<std::uint64_t>{error ? 0 : size};
  }
  return tensors::open_tensor(text, open);
}

/// The word, and what it stands for where the type has a format of numbers.
std::string word_text(const tensors::ElementType& type, std::uint64_t word) {
  if (!type.spec) return std::to_string(word);
  const double value = recipes::decode(*type.spec, word);
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return code_text(*type.spec, word) + " " + (value != value ? "nan" : text);
}

}  // namespace

int diff_files(const DiffOptions& options, const Globals& globals) {
  const tensors::TensorSource a = open(options.a, options), b = open(options.b, options);
  const std::string what = quoted(options.a) + " and " + quoted(options.b);
  if (a.type().name != b.type().name) {
    throw InputError(what, "element types " + a.type().name + " and " + b.type().name, "give files of one element type, or --dtype");
  }
  if (a.size() != b.size()) {
    throw InputError(what, "shapes " + tensors::shape_text(a.tensor().shape) + " and " + tensors::shape_text(b.tensor().shape),
                     "give files with as many elements");
  }
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  std::vector<std::uint64_t> words_a, words_b;
  std::uint64_t differing = 0, first = 0, first_a = 0, first_b = 0;
  for (std::uint64_t at = 0; at < a.size(); at += kPiece) {
    words_a.resize(std::min(kPiece, a.size() - at));
    words_b.resize(words_a.size());
    a.read<std::uint64_t>(at, words_a);
    b.read<std::uint64_t>(at, words_b);
    for (std::size_t i = 0; i < words_a.size(); ++i) {
      if (words_a[i] == words_b[i] || differing++ != 0) continue;
      first = at + i;
      first_a = words_a[i];
      first_b = words_b[i];
    }
  }
  Output output;
  if (globals.json) {
    nlohmann::ordered_json json = {{"a", options.a}, {"b", options.b}, {"found", differing != 0}, {"complete", true},
                                   {"compared", a.size()}, {"differing", differing}};
    if (differing != 0) {
      json["index"] = first;
      json["answer_a"] = word_text(a.type(), first_a);
      json["answer_b"] = word_text(b.type(), first_b);
    }
    output.text() += json.dump() + "\n";
  } else if (differing == 0) {
    output.text() += "equal  " + std::to_string(a.size()) + " elements of " + a.type().name + "\n";
  } else {
    output.text() += "index  " + std::to_string(first) + " (first that differs)\nA  " + word_text(a.type(), first_a) + "\nB  " +
                     word_text(b.type(), first_b) + "\ndiffer  " + std::to_string(differing) + " of " + std::to_string(a.size()) +
                     " elements of " + a.type().name + "\n";
  }
  output.flush();
  return differing != 0 ? kMismatch : a.size() > 0 ? kPassed : kIncomplete;
}

}  // namespace halfulp::tool
