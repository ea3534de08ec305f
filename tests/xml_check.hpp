// A small check of XML.
#pragma once

#include <string>
#include <vector>

/// Tags nest, attributes are quoted, no stray `<` or `&`: what a parser of XML would refuse.
inline bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&') {
      const std::size_t end = xml.find(';', i);
      if (end == std::string::npos || end - i > 6) return false;
    }
    if (static_cast<unsigned char>(xml[i]) < 0x20 && xml[i] != '\n') return false;
    if (xml[i] != '<') continue;
    std::size_t end = i + 1;
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      if (xml[end] == '<') return false;
    }
    const std::string tag = xml.substr(i + 1, end - i - 1);
    i = end;
    if (tag.starts_with("?")) continue;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}
