// Values as users write them: codes (0x…) and literals; and the text of answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/plan.hpp"

namespace halfulp::tool {

/// `text` without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// True for `0x…` without `p`: the bits of a code, not a hex-float.
bool is_code(std::string_view text);

/// Reads a code of `format` as its container word. Throws InputError unless it is one.
std::uint64_t parse_code(std::string_view text, const Format& format);

/// Reads a literal exactly. Throws InputError unless it is one.
ExactUnpacked read_literal(std::string_view text);

/// Appends a container word: `0x` and one digit per four bits.
void append_code(std::string& text, const FormatSpec& spec, std::uint64_t word);
std::string code_text(const FormatSpec& spec, std::uint64_t word);

/// Appends `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);

/// The text of a format's values, remembered for formats of up to 8 bits.
class ValueTexts {
 public:
  using Append = void (*)(std::string&, const Unpacked&);
  ValueTexts(const FormatSpec& spec, Append append);
  /// Text of a container word; valid until the next call.
  std::string_view operator()(std::uint64_t word);

 private:
  FormatSpec spec_;
  Append append_;
  std::vector<std::string> known_;  ///< by word; empty for wider formats
  std::string last_;
};

}  // namespace halfulp::tool
