// Sizes of rows, and words for messages.
#include "halfulp/vectors/kernels/plugged.hpp"

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

std::string counted(std::uint64_t number, std::string_view noun) {
  return grouped_digits(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string duration_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string timeout_option(std::chrono::milliseconds time) {
  if (time == kUsualTimeout) return {};
  std::string seconds = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest != 0) {
    const std::string digits = std::to_string(rest);
    seconds += "." + std::string(3 - digits.size(), '0') + digits;
  }
  return " --timeout " + seconds;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@,%";
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
