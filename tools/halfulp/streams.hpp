// Standard input by lines and standard output in large pieces, for streams of any length in constant
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace halfulp::tool {

/// Standard output. What is not flushed is lost: every command ends with flush().
class Output {
 public:
  /// The text not yet written; append to it, then call line_done().
  std::string& text() { return text_; }
  void line_done() {
    if (text_.size() >= kPiece) flush();
  }
  /// Writes everything. Throws InputError when the system refuses (a full disk).
  void flush();

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text_;
};

/// Writes a whole answer to standard output. Throws InputError when the system refuses.
void print(std::string text);

/// Lines of standard input: blank ones and `#` comments are skipped, blanks and carriage returns at the
/// ends removed.
class LineInput {
 public:
  /// `before_wait` runs whenever the next line is not there yet: answers already made must not wait with
  /// it.
  explicit LineInput(std::function<void()> before_wait, std::size_t longest = kLongest)
      : longest_(longest), buffer_(4 * longest), before_wait_(std::move(before_wait)) {}
  /// Sets `line`, valid until the next call; false at the end. Throws InputError for lines over
  /// `longest` bytes and read errors.
  bool next(std::string_view& line);
  /// Number of the line last read, from 1.
  std::uint64_t number() const { return number_; }

  static constexpr std::size_t kLongest = 65536;

 private:
  bool fill();
  bool next_raw(std::string_view& line);

  std::size_t longest_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of what is not yet handed out
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t number_ = 0;
  std::function<void()> before_wait_;
};

/// Calls answer(text, index) for each of `values` or, if there are none, for each line of standard input;
/// flushes. Returns kPassed, or kIncomplete when there was no value. What `answer` throws is thrown on
/// after a flush, with the number of the line.
int for_each_value(const std::vector<std::string>& values, Output& output, bool quiet,
                   const std::function<void(std::string_view, std::uint64_t)>& answer);

}  // namespace halfulp::tool
