// mmap.
#include "halfulp/tensors/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace halfulp::tensors {

MappedFile::MappedFile(const std::string& path, Links links) : path_(path) {
  const auto failed = [&path](const std::string& why) {
    return InputError("file '" + path + "'", "it cannot be read (" + why + ")",
                      "check the path and its rights");
  };
  // Without O_NONBLOCK a named pipe would wait for its writer.
  const int file =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::refused ? O_NOFOLLOW : 0));
  if (file < 0)
    throw failed(errno == ELOOP && links == Links::refused ? "it is a symbolic link"
                                                           : std::strerror(errno));
  struct stat state {};
  std::string why;
  if (fstat(file, &state) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISREG(state.st_mode)) {
    why = S_ISDIR(state.st_mode) ? "it is a folder" : "it is not a regular file";
  } else if (state.st_size > 0) {  // empty files cannot be mapped
    void* at = mmap(nullptr, static_cast<std::size_t>(state.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED) {
      why = std::strerror(errno);
    } else {
      data_ = static_cast<const std::byte*>(at);
      size_ = static_cast<std::uint64_t>(state.st_size);
    }
  }
  close(file);
  if (!why.empty()) throw failed(why);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), static_cast<std::size_t>(size_));
}

void MappedFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    throw malformed(path_, size_,
                    "the file ends here, and " + std::to_string(out.size()) + " bytes from byte " +
                        std::to_string(offset) + " on are needed",
                    "it is cut short; make it again");
  }
  if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
}

}  // namespace halfulp::tensors
