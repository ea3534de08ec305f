// The inputs of the cast benchmarks, made once: far larger than any cache unless --quick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halfulp::bench {

/// Number of elements of every stream: 64 Mi, or 16 Mi with --quick. To be set before the first stream is asked for.
void use_quick_size();
std::size_t stream_size();

std::span<const std::uint32_t> rand_words();  ///< f32 words, all bit patterns equally likely
std::span<const std::uint32_t> norm_words();  ///< f32 words of N(0,1) * 50
std::span<const std::uint8_t> rand_bytes();   ///< codes, all equally likely
std::span<std::uint8_t> byte_output();
std::span<std::uint32_t> word_output();

}  // namespace halfulp::bench
