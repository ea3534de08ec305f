// The two forms that are made as one text: C headers and JSON. Used by forms.cpp.
#pragma once

#include <string>
#include <string_view>

#include "halfulp/vectors/pack/form_fields.hpp"

namespace halfulp::vectors {

std::string c_text(const PackReader& pack);
FormRows read_c_text(std::string_view text, std::string_view origin);

std::string json_text(const PackReader& pack);
FormRows read_json_text(std::string_view text, std::string_view origin);

/// Word `index` of a column's bytes.
std::uint64_t word_at(std::span<const std::byte> column, std::uint64_t index, int word_bytes);

/// `0x` and the digits of a word.
std::string word_digits(const FormField& field, std::uint64_t word);

}  // namespace halfulp::vectors
