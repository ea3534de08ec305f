// What the fuzzers of tensor files do with a file that opened: every element is read once; only InputError
// may come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

inline Bytes fuzz_bytes(const std::uint8_t* data, std::size_t size) {
  return memory_bytes("fuzz", std::as_bytes(std::span(data, size)));
}

[[noreturn]] inline void fuzz_fail(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

/// Reads in chunks of `chunk` elements, at most 64 KiB elements in all.
inline void read_all(const TensorSource& source, std::size_t chunk) {
  if (source.size() != source.tensor().count()) fuzz_fail("size and shape differ");
  const std::uint64_t count = std::min<std::uint64_t>(source.size(), 1 << 16);
  std::vector<std::uint64_t> words(chunk);
  for (std::uint64_t first = 0; first < count; first += chunk) {
    const auto part =
        std::span(words).first(static_cast<std::size_t>(std::min<std::uint64_t>(chunk, count - first)));
    source.read<std::uint64_t>(first, part);
    for (const std::uint64_t word : part) {
      if (source.type().width < 64 && (word >> source.type().shift) >> source.type().width != 0)
        fuzz_fail("a code too wide");
    }
  }
}

}  // namespace halfulp::tensors
