// Formats by name, and what an error line says of a wrong name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halfulp/formats.hpp"

namespace halfulp {

/// `text` in quotes for an error line: at most 60 bytes, control characters replaced.
std::string quoted(std::string_view text);
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }  // not std::quoted

/// Up to three of `candidates` that are close to `name` by edit distance, as "a, b, c"; empty if none is.
std::string nearest_names(std::string_view name, const std::vector<std::string_view>& candidates);

/// The format called `name`; throws InputError with the nearest names.
Format require_format(std::string_view name);

}  // namespace halfulp
