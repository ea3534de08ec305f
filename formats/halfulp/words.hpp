// Words of a text, separated by single blanks: lists of names in tables.
#pragma once

#include <string_view>
#include <vector>

namespace halfulp {

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    words.push_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
  }
  return words;
}

}  // namespace halfulp
