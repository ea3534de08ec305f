// Prepared files: any bytes with a checksum at their end, so that one changed byte is an error that names the file; and 32-bit words in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfulp::gpu {

/// Writes `content` and its checksum. All of these throw std::runtime_error.
void write_prepared(const std::string& path, const std::string& content);
/// The content without its checksum; throws where it does not fit.
std::string read_prepared(const std::string& path);

/// Little-endian words as a prepared file.
void write_words(const std::string& path, const std::vector<std::uint32_t>& words);
std::vector<std::uint32_t> read_words(const std::string& path);

/// A file as it is.
std::string read_text(const std::string& path);

}  // namespace halfulp::gpu
