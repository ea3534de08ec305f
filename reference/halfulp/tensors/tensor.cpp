// Chunked reading: straight, byte-swapped, unpacked, or gathered from Fortran order; then every word is
// checked.
#include "halfulp/tensors/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace halfulp::tensors {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;

/// Calls `visit` with a value of the unsigned type of that many bytes.
template <class Visit>
void with_word(int bytes, Visit&& visit) {
  if (bytes == 1) return visit(std::uint8_t{});
  if (bytes == 2) return visit(std::uint16_t{});
  if (bytes == 4) return visit(std::uint32_t{});
  visit(std::uint64_t{});
}

template <class Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <class Word>
void store(std::byte* at, Word word) {
  std::memcpy(at, &word, sizeof word);
}

/// File bytes to native words, in place.
void to_native(std::span<std::byte> words, int word_bytes, bool big_endian) {
  const bool swap = big_endian == (std::endian::native == std::endian::little);
  if (!swap || word_bytes == 1) return;
  const auto step = static_cast<std::size_t>(word_bytes);
  for (std::size_t i = 0; i < words.size(); i += step) std::reverse(&words[i], &words[i] + step);
}

}  // namespace

std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t d : shape) {
    if (__builtin_mul_overflow(count, d, &count) || count >> 63 != 0) return std::nullopt;
  }
  return count;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t d : shape) text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text.empty() ? "scalar" : text;
}

TensorSource::TensorSource(Tensor tensor, ElementType type, Bytes bytes, ElementOrder order)
    : tensor_(std::move(tensor)),
      type_(std::move(type)),
      bytes_(std::move(bytes)),
      order_(order),
      count_(tensor_.count()) {
  if (std::count_if(tensor_.shape.begin(), tensor_.shape.end(), [](std::uint64_t d) { return d > 1; }) <
      2) {
    order_.column_major = false;  // one running index: both orders are the same
  }
  if (order_.column_major && !bytes_->random_access()) {
    throw InputError("file '" + bytes_->name() + "'",
                     "a large deflated member in Fortran order cannot be read in pieces",
                     "save it in C order (numpy.ascontiguousarray) or without compression");
  }
}

TensorSource TensorSource::as(std::string_view type_name) const {
  TensorSource other = *this;
  other.type_ = element_type(type_name);
  if (other.type_.word_bytes != type_.word_bytes || (order_.packing && other.type_.width != type_.width)) {
    throw InputError("dtype '" + std::string(type_name) + "'",
                     "its words have " + std::to_string(other.type_.word_bytes) +
                         " bytes, and the elements of '" + bytes_->name() + "' (" + type_.name + ") have " +
                         std::to_string(type_.word_bytes),
                     "name a type of that size");
  }
  other.tensor_.dtype = other.type_.name;
  return other;
}

void TensorSource::read_words(std::uint64_t first, std::span<std::byte> words) const {
  const auto word = static_cast<std::size_t>(type_.word_bytes);
  const std::uint64_t n = words.size() / word;
  if (words.size() % word != 0 || first > count_ || n > count_ - first) {
    throw InputError("reading elements " + std::to_string(first) + " to " + std::to_string(first + n),
                     "the tensor has " + std::to_string(count_), "ask for elements that it has");
  }
  if (n == 0) return;
  if (order_.packing) {
    read_packed(first, words);
    return;
  }
  if (order_.column_major) {
    gather(first, words);
  } else {
    read_stored(first, words);
  }
  to_native(words, type_.word_bytes, order_.big_endian);
  check_words(first, words);
}

void TensorSource::read_stored(std::uint64_t first, std::span<std::byte> words) const {
  bytes_->read(tensor_.offset + first * static_cast<std::uint64_t>(type_.word_bytes), words);
}

void TensorSource::read_packed(std::uint64_t first, std::span<std::byte> words) const {
  const int width = type_.width;
  std::vector<std::byte> buffer;
  for (std::size_t done = 0; done < words.size();) {
    const std::size_t n = std::min(words.size() - done, kBuffer);
    const std::uint64_t from = (first + done) * static_cast<std::uint64_t>(width) / 8;
    const std::uint64_t to = ((first + done + n) * static_cast<std::uint64_t>(width) + 7) / 8;
    buffer.resize(static_cast<std::size_t>(to - from));
    bytes_->read(tensor_.offset + from, buffer);
    const auto* data = reinterpret_cast<const std::uint8_t*>(buffer.data());
    for (std::size_t i = 0; i < n; ++i) {
      words[done + i] = static_cast<std::byte>(
          read_bits(data, packed_bit(*order_.packing, width, first + done + i) - from * 8, width));
    }
    done += n;
  }
}

/// Where an element of row-major index `index` lies in Fortran order.
std::uint64_t TensorSource::stored_index(std::uint64_t index) const {
  std::uint64_t stride = 1, at = 0, rest = count_;
  for (const std::uint64_t d : tensor_.shape) {
    rest /= d;
    at += index / rest * stride;
    index %= rest;
    stride *= d;
  }
  return at;
}

/// Elements with the same indices but the first are neighbours in Fortran order: one read for each such
/// run, through a window when consecutive runs lie close.
void TensorSource::gather(std::uint64_t first, std::span<std::byte> words) const {
  const auto word = static_cast<std::size_t>(type_.word_bytes);
  const std::uint64_t n = words.size() / word, last = first + n - 1;
  const std::uint64_t rows = tensor_.shape[0], tail = count_ / rows;
  const std::uint64_t stride =
      count_ / tensor_.shape.back() * word;  // bytes between runs of neighbouring last indices
  const bool windowed = stride <= kBuffer / 4;
  std::vector<std::byte> run, window;
  std::uint64_t window_at = 0;
  // Only the tails that occur in the chunk: all of them, unless it lies within one row or two.
  const std::uint64_t start = n >= tail ? 0 : first % tail, tails = std::min(n, tail);
  for (std::uint64_t t = 0; t < tails; ++t) {
    const std::uint64_t j = (start + t) % tail;
    const std::uint64_t low = first <= j ? 0 : (first - j + tail - 1) / tail;
    const std::uint64_t high = (last - j) / tail;  // last >= j: j occurs in the chunk
    if (last < j || low > high) continue;
    const std::uint64_t at = stored_index(low * tail + j) * word;
    const std::size_t size = static_cast<std::size_t>(high - low + 1) * word;
    const std::byte* data = nullptr;
    if (windowed && size <= kBuffer / 4) {
      if (window.empty() || at < window_at || at + size > window_at + window.size()) {
        window_at = at;
        window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, tensor_.length - at)));
        bytes_->read(tensor_.offset + at, window);
      }
      data = window.data() + (at - window_at);
    } else {
      run.resize(size);
      bytes_->read(tensor_.offset + at, run);
      data = run.data();
    }
    for (std::uint64_t row = low; row <= high; ++row) {
      std::memcpy(&words[static_cast<std::size_t>(row * tail + j - first) * word],
                  data + (row - low) * word, word);
    }
  }
}

void TensorSource::read_widened(std::uint64_t first, std::uint64_t count, std::size_t wide,
                                std::span<std::byte> out) const {
  const auto narrow = static_cast<std::size_t>(type_.word_bytes);
  if (narrow > wide) {
    throw InputError(
        "reading '" + type_.name + "'",
        "its words have " + std::to_string(narrow) + " bytes, and " + std::to_string(wide) + " are offered",
        "read into wider words");
  }
  std::vector<std::byte> buffer;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t n = std::min<std::uint64_t>(count - done, kBuffer / narrow);
    buffer.resize(static_cast<std::size_t>(n) * narrow);
    read_words(first + done, buffer);
    with_word(type_.word_bytes, [&](auto small) {
      with_word(static_cast<int>(wide), [&](auto large) {
        for (std::size_t i = 0; i < n; ++i) {
          store(&out[(static_cast<std::size_t>(done) + i) * wide],
                static_cast<decltype(large)>(load<decltype(small)>(&buffer[i * narrow])));
        }
      });
    });
    done += n;
  }
}

void TensorSource::check_words(std::uint64_t first, std::span<std::byte> words) const {
  if (type_.width == type_.word_bytes * 8) return;
  const std::uint64_t allowed = low_mask(type_.width) << type_.shift;
  with_word(type_.word_bytes, [&](auto zero) {
    using Word = decltype(zero);
    const auto forbidden = static_cast<Word>(~allowed);
    Word seen = 0;
    for (std::size_t i = 0; i < words.size(); i += sizeof(Word))
      seen = static_cast<Word>(seen | load<Word>(&words[i]));
    if ((seen & forbidden) == 0) return;
    for (std::size_t i = 0; i < words.size(); i += sizeof(Word)) {
      const Word word = load<Word>(&words[i]);
      const auto beyond = static_cast<Word>(word & forbidden);
      const bool copies = type_.sign_copies && beyond == forbidden && (word >> (type_.width - 1) & 1) != 0;
      if (copies) store(&words[i], static_cast<Word>(word & static_cast<Word>(allowed)));
      if (beyond == 0 || copies) continue;
      const std::uint64_t element = first + i / sizeof(Word);
      const std::uint64_t at = order_.column_major ? stored_index(element) : element;
      throw malformed(bytes_->name(), tensor_.offset + at * sizeof(Word),
                      "element " + std::to_string(element) + " is " + std::to_string(std::uint64_t{word}) +
                          ", which has bits beyond the " + std::to_string(type_.width) + " of " +
                          type_.name,
                      "name the type that the elements have");
    }
  });
}

}  // namespace halfulp::tensors
