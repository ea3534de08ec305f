// The three byte sources: a file, memory, a part of another.
#include "halfulp/tensors/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace halfulp::tensors {

InputError malformed(const std::string& file, std::uint64_t offset, const std::string& why,
                     const std::string& mend) {
  return {"file '" + file + "', byte " + std::to_string(offset), why, mend};
}

std::uint64_t little(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return value;
}

namespace {

void check_range(const ByteSource& source, std::uint64_t offset, std::uint64_t length) {
  if (offset > source.size() || length > source.size() - offset) {
    throw malformed(source.name(), source.size(),
                    "the file ends here, and " + std::to_string(length) + " bytes from byte " +
                        std::to_string(offset) + " on are needed",
                    "it is cut short; make it again");
  }
}

class FileBytes final : public ByteSource {
 public:
  // Without O_NONBLOCK a named pipe would wait for its writer.
  explicit FileBytes(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_ < 0) throw failed(std::strerror(errno));
    struct stat state {};
    const char* why = nullptr;
    if (fstat(file_, &state) != 0) {
      why = std::strerror(errno);
    } else if (!S_ISREG(state.st_mode)) {
      why = S_ISDIR(state.st_mode) ? "it is a folder" : "it is not a regular file";
    }
    if (why != nullptr) {
      close(file_);
      throw failed(why);
    }
    size_ = static_cast<std::uint64_t>(state.st_size);
  }
  ~FileBytes() override { close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& name() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    check_range(*this, offset, out.size());
    while (!out.empty()) {
      const ssize_t n = pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw failed(std::strerror(errno));
      if (n == 0) {
        throw malformed(path_, offset, "the file became shorter while it was read",
                        "let nothing write to it");
      }
      offset += static_cast<std::uint64_t>(n);
      out = out.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  InputError failed(const std::string& why) const {
    return {"file '" + path_ + "'", "it cannot be read (" + why + ")", "check the path and its rights"};
  }
  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

class MemoryBytes final : public ByteSource {
 public:
  MemoryBytes(std::string name, std::span<const std::byte> bytes)
      : name_(std::move(name)), bytes_(bytes.begin(), bytes.end()) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    check_range(*this, offset, out.size());
    std::copy_n(bytes_.data() + offset, out.size(), out.data());
  }

 private:
  std::string name_;
  std::vector<std::byte> bytes_;
};

class SliceBytes final : public ByteSource {
 public:
  SliceBytes(Bytes whole, std::uint64_t offset, std::uint64_t length, std::string name)
      : whole_(std::move(whole)), offset_(offset), length_(length), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return length_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    check_range(*this, offset, out.size());
    whole_->read(offset_ + offset, out);
  }
  bool random_access() const override { return whole_->random_access(); }

 private:
  Bytes whole_;
  std::uint64_t offset_, length_;
  std::string name_;
};

}  // namespace

Bytes open_file(const std::string& path) {
  return std::make_shared<FileBytes>(path);
}

Bytes memory_bytes(std::string name, std::span<const std::byte> bytes) {
  return std::make_shared<MemoryBytes>(std::move(name), bytes);
}

Bytes slice(Bytes whole, std::uint64_t offset, std::uint64_t length, std::string name) {
  check_range(*whole, offset, length);
  return std::make_shared<SliceBytes>(std::move(whole), offset, length, std::move(name));
}

}  // namespace halfulp::tensors
