// C headers: one static array per column.
#include <algorithm>
#include <cctype>
#include <optional>

#include "halfulp/vectors/pack/form_texts.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::string_view kArray = "static const uint";

/// SPEC as an identifier.
std::string identifier(std::string_view spec) {
  std::string name(spec);
  for (char& c : name) {
    const auto u = static_cast<unsigned char>(c);
    c = std::isalnum(u) != 0 && u < 0x80 ? static_cast<char>(std::tolower(u)) : '_';
  }
  return name;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Text that cannot end a comment.
std::string in_comment(std::string text) {
  for (std::size_t at; (at = text.find("*/")) != std::string::npos;) text.insert(at + 1, " ");
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

std::string declaration(const std::string& prefix, const FormField& field, std::uint64_t rows) {
  return std::string(kArray) + std::to_string(8 * field.word_bytes) + "_t " + prefix + "_" + field.name +
         "[" + std::to_string(rows * field.words_per_row) + "] = {\n";
}

std::string comment(const FormField& field) {
  return "/* " + field.text() + " */\n";
}

/// Hands out lines.
class Lines {
 public:
  Lines(std::string_view text, std::string_view origin) : rest_(text), origin_(origin) {}
  std::optional<std::string_view> next() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return line;
  }
  [[noreturn]] void fail(const std::string& why) const { throw bad_line(origin_, number_, why); }

 private:
  std::string_view rest_, origin_;
  std::uint64_t number_ = 0;
};

void read_array(Lines& lines, const FormField& field, std::uint64_t count,
                std::vector<std::uint64_t>& words) {
  for (;;) {
    const auto line = lines.next();
    if (!line) lines.fail("the file ends in an array");
    if (*line == "};") break;
    std::string_view rest = *line;
    if (!rest.starts_with("   ")) lines.fail("it is no line of an array");
    rest.remove_prefix(3);
    const std::size_t step = static_cast<std::size_t>(field.digits) + 4;  // blank, 0x, digits, comma
    for (; !rest.empty(); rest.remove_prefix(step)) {
      const auto word = rest.size() < step || !rest.starts_with(" 0x") || rest[step - 1] != ','
                            ? std::nullopt
                            : parse_digits(rest.substr(3, static_cast<std::size_t>(field.digits)));
      if (!word || (*word & ~field.mask) != 0) lines.fail("it is no line of words of " + field.text());
      words.push_back(*word);
    }
  }
  if (words.size() != count)
    lines.fail("the array has " + std::to_string(words.size()) + " words, and " + std::to_string(count) +
               " are stated");
}

}  // namespace

std::string c_text(const PackReader& pack) {
  const Manifest& m = pack.manifest();
  const std::string prefix = identifier(m.spec), guard = upper(prefix) + "_H";
  std::string text = "/* " + in_comment(form_title(m)) + "\n";
  text += "   level " + std::string(name_of(m.level)) + ", seed " + std::to_string(m.seed) + ", " +
          std::string(name_of(m.completeness)) + ".\n";
  text +=
      "   Each array is named after its column and holds its words row by row; the column and its format "
      "stand above it.\n";
  for (const ColumnInfo& column : m.columns) {
    if (column.role == Role::flags) {
      text += "   Bits of " + column.name + ":\n";
      for (std::size_t i = 0; i < m.flags.size(); ++i)
        text += "     " + std::to_string(i) + " " + in_comment(m.flags[i].name + ": " + m.flags[i].tests) +
                "\n";
    }
    if (column.role == Role::status)
      text += "   Bits of " + column.name + ": 0 inexact, 1 overflow, 2 underflow, 3 tie, 4 subnormal.\n";
  }
  text += "*/\n#ifndef " + guard + "\n#define " + guard + "\n#include <stdint.h>\n\n#define " +
          upper(prefix) + "_ROWS " + std::to_string(m.rows) + "\n";
  for (const FormField& field : form_fields(Form::c, m)) {
    text += "\n" + comment(field) + declaration(prefix, field, m.rows);
    const std::uint64_t count = m.rows * field.words_per_row;
    const std::uint64_t in_line = std::max(1, 100 / (field.digits + 4));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % in_line == 0) text += "   ";
      text += " " +
              word_digits(field, word_at(pack.column(field.column), i, field.word_bytes) & field.mask) +
              ",";
      if (i % in_line == in_line - 1 || i == count - 1) text += "\n";
    }
    text += "};\n";
  }
  return text + "\n#endif\n";
}

FormRows read_c_text(std::string_view text, std::string_view origin) {
  Lines lines(text, origin);
  const auto first = lines.next();
  const auto title = first && first->starts_with("/* ") ? parse_title(first->substr(3)) : std::nullopt;
  if (!title) lines.fail("it does not state the SPEC and the rows");
  FormRows rows{title->spec, title->rows, {}};
  if (title->rows > kMostCRows) lines.fail("a header has at most " + std::to_string(kMostCRows) + " rows");
  const std::string prefix = identifier(title->spec);
  std::optional<FormField> field;
  bool ended = false;
  while (const auto line = lines.next()) {
    if (ended) lines.fail("something follows the end of the header");
    if (line->starts_with(kArray)) {
      if (!field || *line != declaration(prefix, *field, rows.rows).substr(0, line->size()) ||
          line->size() + 1 != declaration(prefix, *field, rows.rows).size())
        lines.fail("no array is declared so");
      if (rows.columns.size() == 64) lines.fail("a pack has at most 64 columns");
      rows.columns.push_back({field->name, field->format, field->words_per_row, {}});
      read_array(lines, *field, rows.rows * field->words_per_row, rows.columns.back().words);
      field.reset();
    } else if (line->starts_with("/* ") && line->ends_with(" */")) {
      field = parse_field(line->substr(3, line->size() - 6));
    }
    ended = *line == "#endif";
  }
  if (!ended) lines.fail("the header does not end");
  if (rows.columns.empty()) lines.fail("it holds no arrays");
  return rows;
}

}  // namespace halfulp::vectors
