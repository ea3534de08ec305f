#include "data.hpp"

#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numbers>

namespace halfulp::bench {
namespace {

std::size_t g_size = std::size_t{64} << 20;

/// A touched buffer on large pages where the system grants them, so that page walks do not blur the ratios.
template <class T>
std::span<T> make_buffer() {
  const std::size_t bytes = g_size * sizeof(T);
  void* memory = std::aligned_alloc(std::size_t{2} << 20, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  return {static_cast<T*>(memory), g_size};
}

/// splitmix64: a counter through a mixing function.
class Random {
 public:
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 42;
};

}  // namespace

void use_quick_size() { g_size = std::size_t{16} << 20; }
std::size_t stream_size() { return g_size; }

std::span<const std::uint32_t> rand_words() {
  static const auto words = [] {
    auto buffer = make_buffer<std::uint32_t>();
    Random random;
    for (auto& word : buffer) word = static_cast<std::uint32_t>(random());
    return buffer;
  }();
  return words;
}

std::span<const std::uint32_t> norm_words() {
  static const auto words = [] {
    auto buffer = make_buffer<std::uint32_t>();
    Random random;
    for (std::size_t i = 0; i + 1 < buffer.size(); i += 2) {  // Box and Muller
      const float radius = 50 * std::sqrt(-2 * std::log((static_cast<float>(random() >> 41) + 0.5f) * 0x1p-23f));
      const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(random() >> 40) * 0x1p-24f;
      buffer[i] = std::bit_cast<std::uint32_t>(radius * std::cos(angle));
      buffer[i + 1] = std::bit_cast<std::uint32_t>(radius * std::sin(angle));
    }
    return buffer;
  }();
  return words;
}

std::span<const std::uint8_t> rand_bytes() {
  static const auto bytes = [] {
    auto buffer = make_buffer<std::uint8_t>();
    Random random;
    for (auto& byte : buffer) byte = static_cast<std::uint8_t>(random() >> 56);
    return buffer;
  }();
  return bytes;
}

std::span<std::uint8_t> byte_output() {
  static const auto buffer = make_buffer<std::uint8_t>();
  return buffer;
}

std::span<std::uint32_t> word_output() {
  static const auto buffer = make_buffer<std::uint32_t>();
  return buffer;
}

}  // namespace halfulp::bench
