// JsonCursor: characters whose position is known to the handler, which nlohmann's SAX parser does not tell it.
#pragma once

#include <cstddef>
#include <iterator>

namespace halfulp::tensors {

/// Reads from `at`; `*seen` is behind the last character read.
class JsonCursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  JsonCursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  JsonCursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  JsonCursor operator++(int) {
    const JsonCursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator!=(const JsonCursor& a, const JsonCursor& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** seen_;
};

}  // namespace halfulp::tensors
