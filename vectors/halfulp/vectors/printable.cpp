// UTF-8 (RFC 3629) and its control characters.
#include "halfulp/vectors/printable.hpp"

#include <cstdio>

namespace halfulp::vectors {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80; };
  const unsigned lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    const unsigned code = (lead & 15u) << 12 | (byte(1) & 63u) << 6 | (byte(2) & 63u);
    return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) || code >= 0xfffe ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const unsigned code =
        (lead & 7u) << 18 | (byte(1) & 63u) << 12 | (byte(2) & 63u) << 6 | (byte(3) & 63u);
    return code < 0x10000 || code > 0x10ffff ? 0 : 4;
  }
  return 0;
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  std::size_t taken = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::size_t step = length == 0 ? 1 : length;
    if (taken + step > longest) return shown + "…";
    const auto first = static_cast<unsigned char>(text[0]);
    const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0u;
    const bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
    if (length > 0 && !control) {
      shown += text.substr(0, length);
    } else {
      for (const char c : text.substr(0, step)) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
        shown += escape;
      }
    }
    taken += step;
    text.remove_prefix(step);
  }
  return shown;
}

}  // namespace halfulp::vectors
