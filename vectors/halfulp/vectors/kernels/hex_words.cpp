// Text to words and back; see hex_words.hpp.
#include "halfulp/vectors/kernels/hex_words.hpp"

#include <charconv>

namespace halfulp::vectors {
namespace {

constexpr std::size_t kLongestToken = 64;
constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

HexWords::HexWords(const std::vector<KernelColumn>& columns) : columns_(columns) {}

void HexWords::finish_token(std::vector<std::byte>& words) {
  if (token_.empty()) return;
  const KernelColumn& column = columns_[column_];
  std::string_view digits = token_;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
  const std::string where = "line " + grouped_digits(line_) + ": '" + printable(token_) + "'";
  const int bits = 8 * column.word_bytes;
  if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    garbage_ = where + " is not a code in hexadecimal";
  } else if (error != std::errc{} || (bits < 64 && word >> bits != 0)) {
    garbage_ = where + ": the code does not fit a word of " + std::to_string(bits) + " bits (" +
               column.format + ")";
  }
  token_.clear();
  if (garbage_.empty() && row_ended_) garbage_ = where + " stands behind the words of a whole row, and a line is a row";
  if (!garbage_.empty()) return;
  for (int i = 0; i < column.word_bytes; ++i) words.push_back(static_cast<std::byte>(word >> (8 * i)));
  if (++word_ < column.words_per_row) return;
  word_ = 0;
  column_ = (column_ + 1) % columns_.size();
  row_ended_ = column_ == 0;
}

void HexWords::finish_line() {
  if (garbage_.empty() && (column_ != 0 || word_ != 0))
    garbage_ = "line " + grouped_digits(line_) + " ends before all words of its row";
  row_ended_ = false;
  ++line_;
}

void HexWords::add(std::string_view text, std::vector<std::byte>& words) {
  for (const char c : text) {
    if (!garbage_.empty()) return;
    if (comment_ && c != '\n') continue;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#') {
      finish_token(words);
      comment_ = c == '#';
      if (c == '\n') finish_line();
    } else if (token_.size() <= kLongestToken) {
      token_ += token_.size() < kLongestToken ? c : '~';  // too long to be a code: garbage
    }
  }
}

void HexWords::end(std::vector<std::byte>& words) {
  if (garbage_.empty()) finish_token(words);
  if (column_ != 0 || word_ != 0) finish_line();
}

void append_hex_rows(const std::vector<KernelColumn>& columns, std::span<const std::byte> rows,
                     std::string& text) {
  while (!rows.empty()) {
    bool first = true;
    for (const KernelColumn& column : columns) {
      for (std::uint64_t i = 0; i < column.words_per_row; ++i) {
        if (!first) text += ' ';
        first = false;
        text += "0x";
        const auto bytes = static_cast<std::size_t>(column.word_bytes);
        for (std::size_t k = bytes; k-- > 0;) {
          const auto byte = std::to_integer<unsigned>(rows[k]);
          text += kDigits[byte >> 4];
          text += kDigits[byte & 15];
        }
        rows = rows.subspan(bytes);
      }
    }
    text += '\n';
  }
}

}  // namespace halfulp::vectors
