// Names are compared by edit distance; see lookup.hpp.
#include "halfulp/lookup.hpp"

#include <algorithm>
#include <cctype>

#include "halfulp/error.hpp"

namespace halfulp {
namespace {

/// Equal but for upper and lower case.
bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::size_t end = text.size();
  if (end > kShown) {
    end = kShown;
    while (end > kShown - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;  // not inside a character
  }
  std::string shown = "'";
  for (const char c : text.substr(0, end))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return shown + (text.size() > end ? "…'" : "'");
}

std::string nearest_names(std::string_view name, const std::vector<std::string_view>& candidates) {
  if (name.size() > 60) return {};
  constexpr std::size_t kLeastPart = 3;  // letters
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view candidate : candidates) {
    const bool begins = name.size() >= kLeastPart && candidate.size() > name.size() &&
                        candidate.substr(0, name.size()) == name;
    if (begins && std::string_view("_/.-").find(candidate[name.size()]) != std::string_view::npos) {
      ranked.emplace_back(0, candidate);
      continue;
    }
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= 1 + candidate.size() / 3 && distance < candidate.size()) ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::string text;
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) text += (i ? ", " : "") + std::string(ranked[i].second);
  return text;
}

Format require_format(std::string_view name) {
  if (const auto format = find_format(name)) return *format;
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) {
    if (same_letters(name, format.name)) return format;  // E4M3
    names.push_back(format.name);
    for (std::string_view rest = format.aliases; !rest.empty();) {
      const auto blank = rest.find(' ');
      names.push_back(rest.substr(0, blank));
      rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
    }
  }
  if (name.substr(0, 6) == "binary") {
    throw InputError("format " + quoted(name), "not a P3109 format",
                     "write binary{K}p{P}{s|u}{e|f} with 3 <= K <= 16 and 1 <= P <= K - 1 (signed) or K (unsigned)");
  }
  const std::string near = nearest_names(name, names);
  throw InputError("format " + quoted(name), "unknown",
                   near.empty() ? "`halfulp formats` lists the formats" : "nearest names: " + near);
}

}  // namespace halfulp
