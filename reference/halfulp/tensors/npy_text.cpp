// A reader of the literals that numpy has ever written: strings without escapes, True, False, tuples of
// integers with an optional L (Python 2). Nothing else is evaluated.
#include "halfulp/tensors/npy_text.hpp"

#include <utility>

namespace halfulp::tensors {
namespace {

constexpr std::size_t kMaxDimensions = 64;  // numpy 2's own limit

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, std::uint64_t offset)
      : text_(text), file_(file), offset_(offset) {}

  NpyHeader header() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::size_t at = position();
      const std::string key = string();
      expect(':');
      bool* seen = nullptr;
      if (key == "descr") {
        seen = &descr;
        if (peek() == '[') fail("it is a structured array", "save its fields as arrays of their own");
        header.descr = string();
      } else if (key == "fortran_order") {
        seen = &order;
        header.fortran_order = boolean();
      } else if (key == "shape") {
        seen = &shape;
        header.shape = tuple();
      }
      if (seen == nullptr || *seen) {
        at_ = at;
        fail("the header has " + std::string(seen == nullptr ? "an unknown key" : "a key twice") + " '" +
             key + "'");
      }
      *seen = true;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (position(); at_ != text_.size()) fail("the header goes on after its dictionary");
    if (!descr || !order || !shape) fail("the header lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& why,
                         const std::string& mend = "save it again with numpy.save") const {
    throw malformed(file_, offset_ + at_, why, mend);
  }

  std::size_t position() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_;
  }
  char peek() { return position() < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("a '") + c + "' is missing in the header");
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string is missing in the header");
    const std::size_t end = text_.find(quote, at_ + 1);
    const std::string_view body = text_.substr(at_ + 1, end == std::string_view::npos ? 0 : end - at_ - 1);
    if (end == std::string_view::npos || body.find('\\') != std::string_view::npos)
      fail("a string of the header does not end");
    at_ = end + 1;
    return std::string(body);
  }

  bool boolean() {
    position();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail("fortran_order is neither True nor False");
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxDimensions) fail("the shape has more than 64 dimensions");
      shape.push_back(number());
      accept('L');
      if (accept(',')) continue;
      expect(')');
      if (shape.size() == 1) fail("the shape is not a tuple");
      break;
    }
    return shape;
  }

  std::uint64_t number() {
    if (peek() == '-') fail("a dimension is negative");
    std::uint64_t value = 0;
    const std::size_t start = position();
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(value, 10u, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value) || value >> 63 != 0) {
        at_ = start;
        fail("a dimension is larger than 2^63 - 1");
      }
    }
    if (at_ == start) fail("a dimension is not an integer");
    return value;
  }

  std::string_view text_;
  const std::string& file_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_text(std::string_view text, const std::string& file, std::uint64_t offset) {
  return Reader(text, file, offset).header();
}

}  // namespace halfulp::tensors
