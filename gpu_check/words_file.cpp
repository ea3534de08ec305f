#include "gpu_check/words_file.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "gpu_check/report.hpp"

namespace halfulp::gpu {

void write_words(const std::string& path, const std::vector<std::uint32_t>& words) {
  std::string bytes;
  bytes.reserve(words.size() * 4);
  for (const std::uint32_t word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(word >> (8 * i) & 0xff));
  }
  write_whole_file(path, bytes);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw std::runtime_error("cannot read " + path);
  return text.str();
}

std::vector<std::uint32_t> read_words(const std::string& path) {
  const std::string bytes = read_text(path);
  if (bytes.size() % 4 != 0) throw std::runtime_error(path + " is cut off");
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i % 4));
  return words;
}

}  // namespace halfulp::gpu
