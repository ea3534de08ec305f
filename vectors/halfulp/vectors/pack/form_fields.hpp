// FormField: one column as the text forms state and lay it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/error.hpp"
#include "halfulp/vectors/pack/forms.hpp"

namespace halfulp::vectors {

struct FormField {
  std::string name;
  std::string format;
  std::uint64_t words_per_row = 1;
  int word_bytes = 1;
  int digits = 2;             ///< of a word
  std::uint64_t mask = 0xff;  ///< bits that a word may have
  std::size_t column = 0;     ///< in the manifest, where the field comes from one

  /// `input:f32`, or `codes:e2m1[32]` with several words in a row.
  std::string text() const;
};

/// A field by its names. Throws InputError for an unknown format.
FormField make_field(std::string name, std::string_view format, std::uint64_t words_per_row);

/// The reverse of FormField::text(); empty when it is none.
std::optional<FormField> parse_field(std::string_view text);

/// The columns that a form holds, in their order: all for C and JSON, without flags for txt, without flags
/// and status for memh.
std::vector<FormField> form_fields(Form form, const Manifest& manifest);

/// What every text form says about its pack: `SPEC; N rows; halfulp VERSION`.
std::string form_title(const Manifest& manifest);
struct FormTitle {
  std::string spec;
  std::uint64_t rows = 0;
};
std::optional<FormTitle> parse_title(std::string_view text);

/// A word of 1 to 16 lower-case hexadecimal digits; empty when it is none.
std::optional<std::uint64_t> parse_digits(std::string_view digits);
/// A number of 1 to 19 decimal digits without a leading zero (but for 0); empty when it is none.
std::optional<std::uint64_t> parse_count(std::string_view digits);

/// The error `file 'ORIGIN', line N: WHY; …`.
InputError bad_line(std::string_view origin, std::uint64_t line, const std::string& why);

}  // namespace halfulp::vectors
