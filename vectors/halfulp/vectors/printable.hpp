// printable(): text from outside - arguments, file names, what a kernel says - for a terminal and for
// files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halfulp::vectors {

/// Bytes of the UTF-8 sequence at the start of `text`; 0 when it is none, or U+FFFE or U+FFFF.
std::size_t utf8_length(std::string_view text);

/// Control characters and bytes that are no UTF-8 as \x1b and the like; at most `longest` bytes of text,
/// then `…`.
std::string printable(std::string_view text, std::size_t longest = 60);

}  // namespace halfulp::vectors
