// Byte strings, messages and a Python for the tests of tensor files.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/error.hpp"
#include "halfulp/tensors/tensor.hpp"
#include "temporary_folder.hpp"

namespace halfulp::tensors {

using test::read_bytes;
using test::TemporaryFolder;
using test::write_bytes;

/// The bytes of a literal, NULs included.
template <std::size_t N>
std::string raw(const char (&text)[N]) {
  return std::string(text, N - 1);
}

/// Little-endian number of `size` bytes.
inline std::string le(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

inline Bytes source_of(std::string_view bytes, const std::string& name = "file") {
  return memory_bytes(name, std::as_bytes(std::span(bytes)));
}

/// Every element of a tensor.
inline std::vector<std::uint64_t> all(const TensorSource& source) {
  std::vector<std::uint64_t> words(source.size());
  source.read<std::uint64_t>(0, words);
  return words;
}

/// Every element of a tensor of bytes.
inline std::string text_of(const TensorSource& source) {
  std::string text(source.size(), '\0');
  source.read_words(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// The message of the InputError that `run` throws, or "accepted".
template <class Run>
std::string message_of(Run&& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The Python of $HALFULP_PYTHON, else of .venv in the source tree, else python3.
inline std::string python() {
  if (const char* named = std::getenv("HALFULP_PYTHON")) return named;
  const std::string in_tree = std::string(HALFULP_SOURCE_DIR) + "/.venv/bin/python";
  return std::filesystem::exists(in_tree) ? in_tree : "python3";
}

/// Runs a script with the folder as its argument; false when the modules cannot be imported. A script that
/// fails fails the test.
inline bool run_python(const TemporaryFolder& folder, const std::string& modules,
                       const std::string& script) {
  const std::string path = folder / "script.py", log = folder / "log";
  write_bytes(path, "import sys\ntry:\n    import " + modules +
                        "\nexcept ImportError:\n    sys.exit(77)\n" + script);
  const int status =
      std::system((python() + " " + path + " " + folder / "" + " >" + log + " 2>&1").c_str());
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) return false;
  EXPECT_EQ(status, 0) << read_bytes(log);
  return true;
}

}  // namespace halfulp::tensors

#define HALFULP_PYTHON_OR_SKIP(folder, modules, script)                                               \
  if (!run_python(folder, modules, script)) {                                                         \
    GTEST_SKIP() << python()                                                                          \
                 << " cannot import " modules ": not compared (HALFULP_PYTHON names another Python)"; \
  }
