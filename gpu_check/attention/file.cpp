// Text lines `plan NAME VALUE` and `input|stage NAME COUNT`, the latter followed by COUNT little-endian words and a new line.
#include "gpu_check/attention/file.hpp"

#include <bit>
#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "gpu_check/attention/limits.hpp"
#include "gpu_check/words_file.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::gpu {
namespace {

constexpr const char* kHeader = "halfulp attention 1";

template <class T>
std::string text_of_value(const T& value) {
  if constexpr (std::is_same_v<T, FormatSpec>) {
    for (const Format& format : kFormats) {
      if (format.spec == value) return std::string(format.name);
    }
    throw std::runtime_error("a format without a name cannot be written");
  } else if constexpr (std::is_same_v<T, float>) {
    return std::to_string(std::bit_cast<std::uint32_t>(value));
  } else {
    return std::to_string(value);
  }
}

std::int64_t integer_of(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw std::runtime_error("'" + text + "' where a number should be");
  return value;
}

template <class T>
void set_value(T& value, const std::string& text, const char* name) {
  if constexpr (std::is_same_v<T, FormatSpec>) {
    const auto format = find_format(text);
    if (!format) throw std::runtime_error("unknown format " + text);
    value = format->spec;
  } else if constexpr (std::is_same_v<T, float>) {
    std::uint32_t word = 0;
    set_value(word, text, name);
    value = std::bit_cast<float>(word);
  } else {
    const std::int64_t number = integer_of(text);
    if (!std::in_range<T>(number)) throw std::runtime_error(std::string(name) + " is " + text + ", beyond its range");
    value = static_cast<T>(number);
  }
}

void append_words(std::string& text, const char* kind, const std::map<std::string, std::vector<std::uint32_t>>& arrays) {
  for (const auto& [name, words] : arrays) {
    text += std::string(kind) + " " + name + " " + std::to_string(words.size()) + "\n";
    for (const std::uint32_t word : words) {
      for (unsigned i = 0; i < 4; ++i) text += static_cast<char>(word >> (8 * i) & 0xff);
    }
    text += "\n";
  }
}

}  // namespace

std::size_t stage_size(const AttentionPlan& plan, std::string_view stage) {
  const std::size_t rows = plan.rows();
  if (stage == "S" || stage == "t" || stage == "P" || stage == "P_code") return rows * plan.keys;
  if (stage == "m" || stage == "alpha") return rows * plan.tiles();
  if (stage == "l") return rows * plan.tiles() * plan.lanes;
  if (stage == "O_tile") return rows * plan.tiles() * plan.value_dim;
  return stage == "O" ? rows * plan.value_dim : rows;
}

std::string stage_place(const AttentionPlan& plan, std::string_view stage, std::size_t index) {
  const std::size_t per_row = plan.rows() == 0 ? 1 : stage_size(plan, stage) / plan.rows(), row = index / per_row, at = index % per_row;
  std::string place = std::string(stage) + "[row " + std::to_string(row);
  const auto add = [&](const char* what, std::size_t number) { place += std::string(", ") + what + " " + std::to_string(number); };
  if (stage == "S" || stage == "t" || stage == "P" || stage == "P_code") add("key", at);
  if (stage == "m" || stage == "alpha") add("tile", at);
  if (stage == "l") add("tile", at / plan.lanes), add("lane", at % plan.lanes);
  if (stage == "O_tile") add("tile", at / plan.value_dim), add("channel", at % plan.value_dim);
  if (stage == "O") add("channel", at);
  return place + "]";
}

void write_attention_file(const std::string& path, const AttentionFile& file) {
  std::string text = std::string(kHeader) + "\n";
  for_each_member(file.plan, [&](const char* name, const auto& value) { text += std::string("plan ") + name + " " + text_of_value(value) + "\n"; });
  append_words(text, "input", file.inputs);
  append_words(text, "stage", file.stages);
  write_prepared(path, text);
}

namespace {

/// A row of `count` words and the new line after it.
std::vector<std::uint32_t> words_of(std::istream& in, std::int64_t count, std::size_t most) {
  if (count < 0 || static_cast<std::uint64_t>(count) > most) throw std::runtime_error("an array goes on behind the end");
  std::string bytes(4 * static_cast<std::size_t>(count) + 1, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw std::runtime_error("an array goes on behind the end");
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) words[i] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[4 * i + j])) << (8 * j);
  }
  return words;
}

AttentionFile parsed(const std::string& content) {
  std::istringstream in(content);
  std::string line;
  if (!std::getline(in, line) || line != kHeader) throw std::runtime_error("not an attention file");
  AttentionFile file;
  std::map<std::string, std::string> numbers;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string kind, name, value;
    fields >> kind >> name >> value;
    if (kind == "plan") numbers[name] = value;
    else if (kind == "input" || kind == "stage") (kind == "input" ? file.inputs : file.stages)[name] = words_of(in, integer_of(value), content.size() / 4);
    else throw std::runtime_error("a line that is neither plan, input nor stage");
  }
  for_each_member(file.plan, [&](const char* name, auto& value) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) throw std::runtime_error(std::string("no ") + name);
    set_value(value, found->second, name);
  });
  check_limits(file);
  for (const char* stage : kStageNames) {
    if (file.stages[stage].size() != stage_size(file.plan, stage)) throw std::runtime_error(std::string("stage ") + stage + " has another size");
  }
  return file;
}

}  // namespace

AttentionFile read_attention_file(const std::string& path, const AttentionCase* expected) {
  const std::string content = read_prepared(path);
  try {
    AttentionFile file = parsed(content);
    if (expected != nullptr) check_case(file, *expected);
    return file;
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what() + "; make the data again with gpu_check_prepare");
  }
}

std::string attention_path(const std::string& data, std::string_view case_name) {
  std::string name;
  for (const char c : case_name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  }
  return data + "/attention/" + name + ".bin";
}

}  // namespace halfulp::gpu
