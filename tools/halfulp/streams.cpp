// Streams; see streams.hpp.
#include "streams.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "commands.hpp"
#include "halfulp/error.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

/// True when a read would return at once: data, end of input, or an error.
bool input_is_ready() {
  pollfd standard_input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&standard_input, 1, 0) != 0;
}

}  // namespace

void Output::flush() {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      text_.clear();
      throw InputError("standard output", std::strerror(errno),
                       "write to a place that can take the answers");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  text_.clear();
}

void print(std::string text) {
  Output output;
  output.text() = std::move(text);
  output.flush();
}

bool LineInput::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (!input_is_ready()) before_wait_();
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer_.data() + end_, buffer_.size() - end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw InputError("standard input", std::strerror(errno),
                       "give values as arguments or a readable file");
    end_ += static_cast<std::size_t>(count);
    return count > 0;
  }
}

bool LineInput::next_raw(std::string_view& line) {
  for (std::size_t searched = 0;;) {
    const char* begin = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const auto* newline = static_cast<const char*>(std::memchr(begin + searched, '\n', size - searched));
    const std::size_t length = newline != nullptr ? static_cast<std::size_t>(newline - begin) : size;
    if (length > longest_) {
      throw InputError("stdin line " + std::to_string(number_ + 1),
                       "longer than " + std::to_string(longest_) + " bytes", "write one value per line");
    }
    if (newline != nullptr || at_end_) {
      line = {begin, length};
      begin_ += length + (newline != nullptr ? 1 : 0);
      number_ += newline != nullptr || length > 0 ? 1 : 0;
      return newline != nullptr || length > 0;
    }
    searched = size;
    at_end_ = !fill();
  }
}

bool LineInput::next(std::string_view& line) {
  while (next_raw(line)) {
    line = trimmed(line);
    if (!line.empty() && line.front() != '#') return true;
  }
  return false;
}

int for_each_value(const std::vector<std::string>& values, Output& output, bool quiet,
                   const std::function<void(std::string_view, std::uint64_t)>& answer) {
  std::uint64_t index = 0;
  if (!values.empty()) {
    try {
      for (const std::string& value : values) answer(value, index++);
    } catch (const InputError&) {
      output.flush();
      throw;
    }
    output.flush();
    return kPassed;
  }
  LineInput input([&output] { output.flush(); });
  for (std::string_view line;; ++index) {
    bool more = false;
    try {
      more = input.next(line);
    } catch (const InputError&) {
      output.flush();
      throw;
    }
    if (!more) break;
    try {
      answer(line, index);
    } catch (const InputError& error) {
      output.flush();
      throw std::runtime_error("stdin line " + std::to_string(input.number()) + ", " + error.what());
    }
  }
  output.flush();
  if (index > 0) return kPassed;
  if (!quiet)
    std::fputs("halfulp: no values: give some as arguments or one per line on standard input\n", stderr);
  return kIncomplete;
}

}  // namespace halfulp::tool
