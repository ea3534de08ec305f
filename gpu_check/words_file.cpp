#include "gpu_check/words_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "gpu_check/report.hpp"

namespace halfulp::gpu {
namespace {

/// FNV-1a of 64 bits. Every step is a bijection of the state, so contents that differ in one byte never agree.
std::uint64_t checksum(std::string_view content) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const char c : content) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return state;
}

constexpr std::size_t kDigits = 16;

/// The last line of a prepared file; all have one length.
std::string last_line(std::string_view content) { return "checksum " + hex(checksum(content), kDigits) + "\n"; }

/// The line before it.
std::string name_line(std::string_view name) { return "name " + std::string(name) + "\n"; }

/// The name in the line that ends `bytes`; empty where there is none.
std::string name_at_end(std::string_view bytes) {
  const std::size_t at = bytes.rfind("name ");
  if (at == std::string_view::npos || bytes.back() != '\n') return {};
  std::string name(bytes.substr(at + 5, bytes.size() - at - 6));
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  return printable ? name : "";
}

struct PreparedFile {
  std::string content, checksum;
};

PreparedFile read_whole(const std::string& path) {
  PreparedFile file{read_text(path), {}};
  std::string& bytes = file.content;
  const std::size_t length = last_line({}).size();
  const std::size_t end = bytes.size() < length ? 0 : bytes.size() - length;
  if (bytes.size() < length || bytes.substr(end) != last_line(std::string_view(bytes).substr(0, end))) {
    throw std::runtime_error(path + " is damaged or cut off: its checksum does not fit; make the data again with gpu_check_prepare");
  }
  file.checksum = bytes.substr(bytes.size() - kDigits - 1, kDigits);
  bytes.resize(end);
  const std::string line = name_line(prepared_name(path));
  if (!bytes.ends_with(line)) {
    const std::string name = name_at_end(bytes);
    throw std::runtime_error(path + (name.empty() ? " has no name in it: another gpu_check_prepare made it" : " is not what it is called: it is the file " + name) +
                             "; make the data again with gpu_check_prepare");
  }
  bytes.resize(bytes.size() - line.size());
  return file;
}

}  // namespace

std::string prepared_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path().filename() / whole.filename()).generic_string();
}

void write_prepared(const std::string& path, const std::string& content) {
  const std::string named = content + name_line(prepared_name(path));
  write_whole_file(path, named + last_line(named));
}

std::string read_prepared(const std::string& path) { return read_whole(path).content; }

std::string checksum_of_prepared(const std::string& path) { return read_whole(path).checksum; }

void write_words(const std::string& path, const std::vector<std::uint32_t>& words) {
  std::string bytes;
  bytes.reserve(words.size() * 4);
  for (const std::uint32_t word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(word >> (8 * i) & 0xff));
  }
  write_prepared(path, bytes);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  const bool empty = in && in.peek() == std::ifstream::traits_type::eof() && !in.bad();
  if (!empty && (!in || !(text << in.rdbuf()))) throw std::runtime_error("cannot read " + path);
  return text.str();
}

std::vector<std::uint32_t> read_words(const std::string& path) {
  const std::string bytes = read_prepared(path);
  if (bytes.size() % 4 != 0) throw std::runtime_error(path + " holds no whole number of words");
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i % 4));
  return words;
}

}  // namespace halfulp::gpu
