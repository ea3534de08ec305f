// Files of 32-bit words, little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfulp::gpu {

/// Both throw std::runtime_error.
void write_words(const std::string& path, const std::vector<std::uint32_t>& words);
std::vector<std::uint32_t> read_words(const std::string& path);
std::string read_text(const std::string& path);

}  // namespace halfulp::gpu
