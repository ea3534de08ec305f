// SHA-256 of bytes that come in pieces. FIPS 180-4, sections 4.1.2, 4.2.2, 5 and 6.2.
// The processor's own SHA instructions are used where it has them (sha256.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfulp::vectors {

using Sha256State = std::array<std::uint32_t, 8>;

/// Mixes whole blocks of 64 bytes into the state, in C++ or by the instructions of the processor: the same
/// result.
void sha256_blocks_portable(Sha256State& state, const std::byte* blocks, std::size_t count);
/// The same by the fastest way that this processor has.
void sha256_blocks(Sha256State& state, const std::byte* blocks, std::size_t count);

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
      if (filled_ == 0 && bytes.size() >= block_.size()) {  // whole blocks, where they lie
        const std::size_t blocks = bytes.size() / block_.size();
        sha256_blocks(state_, bytes.data(), blocks);
        bytes = bytes.subspan(blocks * block_.size());
        continue;
      }
      const std::size_t n = std::min(bytes.size(), block_.size() - filled_);
      std::copy_n(bytes.begin(), n, block_.begin() + static_cast<std::ptrdiff_t>(filled_));
      filled_ += n;
      bytes = bytes.subspan(n);
      if (filled_ == block_.size()) {
        sha256_blocks(state_, block_.data(), 1);
        filled_ = 0;
      }
    }
  }

  /// 64 hexadecimal digits, lower case. Nothing may be added after.
  std::string hex() {
    const std::uint64_t bits = length_ * 8;
    const std::byte one{0x80}, zero{0};
    add({&one, 1});
    while (filled_ != 56) add({&zero, 1});
    std::array<std::byte, 8> tail;
    for (int i = 0; i < 8; ++i)
      tail[static_cast<std::size_t>(i)] = static_cast<std::byte>(bits >> (56 - 8 * i));
    add(tail);
    std::string text;
    for (const std::uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
    }
    return text;
  }

 private:
  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  Sha256State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace halfulp::vectors
