// `halfulp diff` of two result files, or of all columns of two packs: first differing index and count. Words are compared: NaNs of other bits differ, and
// so do zeros of other signs.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "diff.hpp"
#include "halfulp/error.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "stored_recipe.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

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

/// `5`, or `5 = [1,2]` in a tensor of several axes.
std::string index_text(std::uint64_t index, const std::vector<std::uint64_t>& shape) {
  std::string text;
  std::uint64_t rest = index;
  for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
    text = std::to_string(rest % shape[axis]) + (text.empty() ? "" : ",") + text;
  return std::to_string(index) + (shape.size() > 1 ? " = [" + text + "]" : "");
}

struct Comparison {
  std::uint64_t compared = 0, differing = 0, first = 0;
  std::uint64_t first_a = 0, first_b = 0;  ///< words
};

/// Throws InputError when the tensors are not of one type and number of elements.
Comparison compare(const tensors::TensorSource& a, const tensors::TensorSource& b, const std::string& what) {
  if (a.type().name != b.type().name) {
    throw InputError(what, "element types " + a.type().name + " and " + b.type().name, "give files of one element type, or --dtype");
  }
  if (a.size() != b.size()) {
    throw InputError(what, "shapes " + tensors::shape_text(a.tensor().shape) + " and " + tensors::shape_text(b.tensor().shape),
                     "give files with as many elements");
  }
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  Comparison found;
  found.compared = a.size();
  std::vector<std::uint64_t> words_a, words_b;
  for (std::uint64_t at = 0; at < a.size(); at += kPiece) {
    words_a.resize(std::min(kPiece, a.size() - at));
    words_b.resize(words_a.size());
    a.read<std::uint64_t>(at, words_a);
    b.read<std::uint64_t>(at, words_b);
    for (std::size_t i = 0; i < words_a.size(); ++i) {
      if (words_a[i] == words_b[i] || found.differing++ != 0) continue;
      found.first = at + i;
      found.first_a = words_a[i];
      found.first_b = words_b[i];
    }
  }
  return found;
}

Json to_json(const Comparison& found, const tensors::TensorSource& a) {
  Json json = {{"found", found.differing != 0}, {"complete", true}, {"compared", found.compared}, {"differing", found.differing}};
  if (found.differing == 0) return json;
  json["index"] = found.first;
  json["place"] = index_text(found.first, a.tensor().shape);
  json["answer_a"] = word_text(a.type(), found.first_a);
  json["answer_b"] = word_text(a.type(), found.first_b);
  return json;
}

std::string to_text(const Comparison& found, const tensors::TensorSource& a) {
  if (found.differing == 0) return "equal  " + std::to_string(found.compared) + (found.compared == 1 ? " element of " : " elements of ") + a.type().name + "\n";
  return "index  " + index_text(found.first, a.tensor().shape) + " (first that differs)\nA  " + word_text(a.type(), found.first_a) + "\nB  " +
         word_text(a.type(), found.first_b) + "\ndiffer  " + std::to_string(found.differing) + " of " + std::to_string(found.compared) +
         " elements of " + a.type().name + "\n";
}

/// A pack folder, or an archive of which no member is named.
bool is_whole(const std::string& text) {
  const tensors::TensorName name = tensors::parse_tensor_name(text);
  std::error_code error;
  return !name.member && (name.path.ends_with(".npz") || name.path.ends_with(".safetensors") || std::filesystem::is_directory(name.path, error));
}

/// The tensors of a pack or an archive by name, in words of the manifest's formats where there is one.
std::map<std::string, tensors::TensorSource> columns_of(const std::string& path) {
  std::map<std::string, tensors::TensorSource> columns;
  if (!has_manifest(path)) {
    for (const tensors::Tensor& tensor : tensors::list_tensors(path)) columns.emplace(tensor.name, tensors::open_tensor(path + ":" + tensor.name));
    return columns;
  }
  const bool folder = !path.ends_with(".npz") && !path.ends_with(".safetensors");
  const auto pack = vectors::read_pack(path);
  for (const vectors::ColumnInfo& column : pack->manifest().columns) {
    columns.emplace(column.name, folder ? tensors::open_tensor(path + "/" + column.file, {.dtype = column.format, .shape = column.shape})
                                        : tensors::open_tensor(path + ":" + column.name, {.dtype = column.format, .shape = {}}));
  }
  return columns;
}

int diff_whole(const DiffOptions& options, const Globals& globals) {
  const auto a = columns_of(options.a), b = columns_of(options.b);
  for (const auto& [one, other, path] : {std::tuple{&a, &b, &options.b}, std::tuple{&b, &a, &options.a}}) {
    for (const auto& [name, column] : *one) {
      if (!other->contains(name))
        throw InputError(quoted(*path), "it has no column '" + name + "' as the other has", "compare results of one recipe, or single columns as FILE:NAME");
    }
  }
  Json json = {{"a", options.a}, {"b", options.b}};
  std::string text;
  std::uint64_t differing = 0, compared = 0;
  for (const auto& [name, column] : a) {
    const Comparison found = compare(column, b.at(name), "column '" + name + "' of " + quoted(options.a) + " and " + quoted(options.b));
    differing += found.differing;
    compared += found.compared;
    json["columns"][name] = to_json(found, column);
    text += name + "\n" + to_text(found, column);
  }
  json.update({{"found", differing != 0}, {"complete", true}, {"compared", compared}, {"differing", differing}});
  Output output;
  output.text() += globals.json ? json.dump() + "\n" : text;
  output.flush();
  return differing != 0 ? kMismatch : compared > 0 ? kPassed : kIncomplete;
}

}  // namespace

int diff_files(const DiffOptions& options, const Globals& globals) {
  if (is_whole(options.a) && is_whole(options.b)) return diff_whole(options, globals);
  const tensors::TensorSource a = open(options.a, options), b = open(options.b, options);
  const Comparison found = compare(a, b, quoted(options.a) + " and " + quoted(options.b));
  Json json = {{"a", options.a}, {"b", options.b}};
  json.update(to_json(found, a));
  Output output;
  output.text() += globals.json ? json.dump() + "\n" : to_text(found, a);
  output.flush();
  return found.differing != 0 ? kMismatch : found.compared > 0 ? kPassed : kIncomplete;
}

}  // namespace halfulp::tool
