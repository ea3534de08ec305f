// A file that appears whole or not at all.
#include "halfulp/tensors/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace halfulp::tensors {

std::string through_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path at = path;
  std::error_code error;
  // /dev/stdout leads to names such as pipe:[7] that cannot be followed
  if (std::filesystem::is_other(std::filesystem::status(at, error))) return path;
  for (int i = 0; std::filesystem::is_symlink(at, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error || i == kMostLinks)
      throw InputError("file '" + path + "'", "its symbolic links lead nowhere", "name a file or a link to one");
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
  return at.string();
}

InputError OutputFile::failed(int error) const {
  return {"file '" + path_ + "'", std::string("it cannot be written (") + std::strerror(error) + ")",
          "check the folder, its rights and its space"};
}

OutputFile::OutputFile(std::string path) : path_(through_links(path)) {
  struct stat target {};
  if (stat(path_.c_str(), &target) == 0 && !S_ISREG(target.st_mode)) {
    throw InputError("file '" + path_ + "'", S_ISDIR(target.st_mode) ? "it is a folder" : "it is not a regular file",
                     "name a new file");
  }
  static std::atomic<unsigned> count{0};
  beside_ = path_ + ".part" + std::to_string(getpid()) + "." + std::to_string(count++);
  file_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) throw failed(errno);
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(beside_.c_str());
}

void OutputFile::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw failed(n == 0 ? ENOSPC : errno);
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::write(std::span<const std::byte> bytes) {
  put(size_, bytes);
  size_ += bytes.size();
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  put(offset, bytes);
}

void OutputFile::commit() {
  const int file = std::exchange(file_, -1);
  int error = close(file) != 0 ? errno : 0;
  if (error == 0 && std::rename(beside_.c_str(), path_.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(beside_.c_str());
  throw failed(error);
}

}  // namespace halfulp::tensors
