// Fields and titles of the text forms.
#include "halfulp/vectors/pack/form_fields.hpp"

#include <algorithm>

#include "halfulp/tensors/element_type.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kMostWordsPerRow = 1 << 20;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool holds(Form form, Role role) {
  if (form == Form::memh) return role != Role::flags && role != Role::status;
  return form != Form::txt || role != Role::flags;
}

}  // namespace

std::string FormField::text() const {
  return name + ":" + format + (words_per_row == 1 ? "" : "[" + std::to_string(words_per_row) + "]");
}

FormField make_field(std::string name, std::string_view format, std::uint64_t words_per_row) {
  const tensors::ElementType type = tensors::element_type(format);
  const int bits = type.width + type.shift;
  return {.name = std::move(name),
          .format = std::string(format),
          .words_per_row = words_per_row,
          .word_bytes = type.word_bytes,
          .digits = (bits + 3) / 4,
          .mask = low_mask(bits)};
}

std::optional<FormField> parse_field(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, colon);
  std::string_view format = text.substr(colon + 1);
  std::uint64_t words = 1;
  if (const std::size_t bracket = format.find('['); bracket != std::string_view::npos) {
    if (!format.ends_with(']')) return std::nullopt;
    const auto count = parse_count(format.substr(bracket + 1, format.size() - bracket - 2));
    if (!count || *count > kMostWordsPerRow || *count == 1) return std::nullopt;
    words = *count;
    format = format.substr(0, bracket);
  }
  if (!is_word(name) || !is_word(format)) return std::nullopt;
  try {
    FormField field = make_field(std::string(name), format, words);
    if (tensors::element_type(format).name != format) return std::nullopt;
    return field;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<FormField> form_fields(Form form, const Manifest& manifest) {
  std::vector<FormField> fields;
  for (std::size_t i = 0; i < manifest.columns.size(); ++i) {
    const ColumnInfo& column = manifest.columns[i];
    if (!holds(form, column.role)) continue;
    fields.push_back(make_field(column.name, column.format, column.words_per_row()));
    fields.back().column = i;
  }
  return fields;
}

std::string form_title(const Manifest& manifest) {
  return manifest.spec + "; " + std::to_string(manifest.rows) + (manifest.rows == 1 ? " row; " : " rows; ") + manifest.generator;
}

std::optional<FormTitle> parse_title(std::string_view text) {
  const std::size_t first = text.find("; "), second = text.find(" rows; ");
  if (first == std::string_view::npos || second == std::string_view::npos || second < first + 2)
    return std::nullopt;
  const auto rows = parse_count(text.substr(first + 2, second - first - 2));
  if (!rows || first == 0) return std::nullopt;
  return FormTitle{std::string(text.substr(0, first)), *rows};
}

std::optional<std::uint64_t> parse_digits(std::string_view digits) {
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  std::uint64_t word = 0;
  for (const char c : digits) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) return std::nullopt;
    word = word << 4 | static_cast<std::uint64_t>(value);
  }
  return word;
}

std::optional<std::uint64_t> parse_count(std::string_view digits) {
  if (digits.empty() || digits.size() > 19 || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

InputError bad_line(std::string_view origin, std::uint64_t line, const std::string& why) {
  return {"file '" + std::string(origin) + "', line " + std::to_string(line), why,
          "write it again with `halfulp gen`"};
}

}  // namespace halfulp::vectors
