// Prepared files: any bytes, then the file's name and a checksum of both, so that one changed byte and one file in another's place are
// errors that name the file; and 32-bit words in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfulp::gpu {

/// Writes `content`, the name and the checksum. All of these throw std::runtime_error.
void write_prepared(const std::string& path, const std::string& content);
/// The content alone; throws where the checksum does not fit, or the name.
std::string read_prepared(const std::string& path);
/// The checksum of a file that read_prepared takes, as 16 hexadecimal digits.
std::string checksum_of_prepared(const std::string& path);
/// FOLDER/FILE, the end of `path`: what a prepared file calls itself, wherever the data lie.
std::string prepared_name(const std::string& path);

/// Little-endian words as a prepared file.
void write_words(const std::string& path, const std::vector<std::uint32_t>& words);
std::vector<std::uint32_t> read_words(const std::string& path);

/// A file as it is.
std::string read_text(const std::string& path);

}  // namespace halfulp::gpu
