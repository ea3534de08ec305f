// The frame of every HTML page of an explanation: one page, no script, no outside resources.
#pragma once

#include <string>

namespace halfulp::explain {

/// Text with the characters that HTML gives a meaning replaced.
std::string escaped(const std::string& text);

/// A page that works offline, follows the reader's light or dark setting, and prints. `body` is HTML,
/// `title` text.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace halfulp::explain
