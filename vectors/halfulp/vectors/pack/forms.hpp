// Derived forms of a pack: what other tools read. Each is written from a pack, and can be read back.
//
// Decides: the bytes of .memh, C headers, text and JSON. One rule for all: a word has ceil(bits of its
// container / 4) hexadecimal digits, lower case; words of one row and column follow each other as in the
// column.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/names.hpp"
#include "halfulp/vectors/pack/pack.hpp"

namespace halfulp::vectors {

enum class Form : std::uint8_t { npz, safetensors, memh, c, txt, json };

/// Rows that JSON and C headers may have: larger ones no tool likes to read.
inline constexpr std::uint64_t kMostJsonRows = 65'536;
inline constexpr std::uint64_t kMostCRows = 1 << 20;

/// `vectors.npz` …: the file of a form beside the columns of a folder.
std::string form_file(Form form);

/// Throws InputError when a pack with that manifest cannot be given in the form.
void check_form(Form form, const Manifest& manifest);

/// Writes a pack in another form; the file appears whole or not at all. `threads` as in WriteOptions.
/// `between` is called now and then, and may throw to end the writing. Throws InputError.
void write_form(Form form, const PackReader& pack, const std::string& path, int threads,
                const std::function<void()>& between = {});

/// A column as a form holds it.
struct FormColumn {
  std::string name;
  std::string format;
  std::uint64_t words_per_row = 1;
  std::vector<std::uint64_t> words;

  friend bool operator==(const FormColumn&, const FormColumn&) = default;
};

/// What a form holds of a pack: text holds no flags, .memh neither flags nor status.
struct FormRows {
  std::string spec;
  std::uint64_t rows = 0;
  std::vector<FormColumn> columns;

  friend bool operator==(const FormRows&, const FormRows&) = default;
};

/// The columns of a pack that a form holds.
FormRows form_rows(Form form, const PackReader& pack);

/// Reads back what write_form() wrote; for memh, c, txt and json. Throws InputError naming `origin` and the
/// line or byte.
FormRows read_form(Form form, std::string_view text, std::string_view origin);

}  // namespace halfulp::vectors

namespace halfulp {
template <>
inline constexpr auto kNames<vectors::Form> =
    std::to_array<Name<vectors::Form>>({{vectors::Form::npz, "npz"},
                                        {vectors::Form::safetensors, "safetensors"},
                                        {vectors::Form::memh, "memh"},
                                        {vectors::Form::c, "c"},
                                        {vectors::Form::txt, "txt"},
                                        {vectors::Form::json, "json"}});
}  // namespace halfulp
