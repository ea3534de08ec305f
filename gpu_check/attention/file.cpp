// Text lines `plan NAME VALUE` and `input|stage NAME COUNT`, the latter followed by COUNT little-endian words and a new line.
#include "gpu_check/attention/file.hpp"

#include <bit>
#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "gpu_check/words_file.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::gpu {
namespace {

constexpr const char* kHeader = "halfulp attention 1";
constexpr std::int64_t kMostWords = 1 << 28;

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
void set_value(T& value, const std::string& text) {
  if constexpr (std::is_same_v<T, FormatSpec>) {
    const auto format = find_format(text);
    if (!format) throw std::runtime_error("unknown format " + text);
    value = format->spec;
  } else if constexpr (std::is_same_v<T, float>) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(integer_of(text)));
  } else {
    value = static_cast<T>(integer_of(text));
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

AttentionFile read_attention_file(const std::string& path) {
  std::istringstream in(read_prepared(path));
  std::string line;
  if (!std::getline(in, line) || line != kHeader) throw std::runtime_error(path + ": not an attention file; make it with gpu_check_prepare");
  AttentionFile file;
  std::map<std::string, std::string> numbers;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind, name, value;
    words >> kind >> name >> value;
    if (kind == "plan") {
      numbers[name] = value;
      continue;
    }
    const std::int64_t count_or_less = kind == "input" || kind == "stage" ? integer_of(value) : -1;
    if (count_or_less < 0 || count_or_less > kMostWords) throw std::runtime_error(path + ": cut short or damaged");
    const auto count = static_cast<std::size_t>(count_or_less);
    std::string bytes(4 * count + 1, '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      throw std::runtime_error(path + ": cut short or damaged");
    }
    std::vector<std::uint32_t>& array = (kind == "input" ? file.inputs : file.stages)[name];
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t word = 0;
      for (std::size_t j = 0; j < 4; ++j) word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[4 * i + j])) << (8 * j);
      array.push_back(word);
    }
  }
  for_each_member(file.plan, [&](const char* name, auto& value) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) throw std::runtime_error(path + ": no " + name);
    set_value(value, found->second);
  });
  for (const char* stage : kStageNames) {
    if (file.stages[stage].size() != stage_size(file.plan, stage)) throw std::runtime_error(path + ": stage " + stage + " has another size");
  }
  return file;
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
