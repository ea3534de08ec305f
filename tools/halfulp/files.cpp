// Writes a file beside its target and renames it, so that no reader ever sees half a file.
#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "halfulp/error.hpp"
#include "halfulp/tensors/output_file.hpp"
#include "interrupt.hpp"

namespace halfulp::tool {

void write_file(const std::string& name, std::string_view text) {
  const std::string path = tensors::through_links(name);
  const auto fail = [&path](const char* why) {
    return InputError("file '" + path + "'", std::string("it cannot be written (") + why + ")", "check the folder, its rights and its space");
  };
  struct stat target {};
  const bool special = stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode);  // /dev/stdout and the like
  const std::string beside = special ? path : path + ".part" + std::to_string(getpid());
  std::optional<HeldSignals> held;
  if (!special) held.emplace();
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | (special ? 0 : O_EXCL) | O_CLOEXEC, 0666);
  if (file < 0) throw fail(std::strerror(errno));
  int error = 0;
  for (std::size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && !special && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    if (!special) unlink(beside.c_str());
    throw fail(std::strerror(error));
  }
}

}  // namespace halfulp::tool
