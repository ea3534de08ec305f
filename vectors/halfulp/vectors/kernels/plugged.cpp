// Sizes of rows, and words for messages.
#include "halfulp/vectors/kernels/plugged.hpp"

#include <cstdio>

namespace halfulp::vectors {
namespace {

std::size_t bytes_of(const std::vector<KernelColumn>& columns) {
  std::size_t sum = 0;
  for (const KernelColumn& column : columns) sum += column.row_bytes();
  return sum;
}

}  // namespace

std::size_t RowShape::input_bytes() const {
  return bytes_of(inputs);
}
std::size_t RowShape::output_bytes() const {
  return bytes_of(outputs);
}

std::string grouped_digits(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += c;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    shown += escape;
  }
  return text.size() > longest ? shown + "…" : shown;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@,%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

}  // namespace halfulp::vectors
