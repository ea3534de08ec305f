// HexWords: codes as text - hexadecimal words between blanks and line ends - to bytes, in pieces of any
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// Reads words of the columns of a row, a row per line: `0x7e`, `7E`; `#` begins a comment, and lines without a word do not
/// count.
class HexWords {
 public:
  explicit HexWords(const std::vector<KernelColumn>& columns);

  /// Appends the words of complete tokens to `words`, little-endian. After garbage nothing more is read.
  void add(std::string_view text, std::vector<std::byte>& words);
  /// The end of the text: a token that no blank followed is complete now.
  void end(std::vector<std::byte>& words);
  /// What was found that is no code or no row, and where; empty if nothing was.
  const std::string& garbage() const { return garbage_; }

 private:
  void finish_token(std::vector<std::byte>& words);
  void finish_line();

  std::vector<KernelColumn> columns_;
  std::size_t column_ = 0;
  std::uint64_t word_ = 0;  ///< of the column's words in a row
  std::string token_;
  std::uint64_t line_ = 1;
  bool comment_ = false, row_ended_ = false;  ///< in the present line
  std::string garbage_;
};

/// Appends one line per row: the words of all columns in hexadecimal with blanks between.
void append_hex_rows(const std::vector<KernelColumn>& columns, std::span<const std::byte> rows,
                     std::string& text);

}  // namespace halfulp::vectors
