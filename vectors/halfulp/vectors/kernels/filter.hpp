// filter(): a command that reads source words on its standard input and writes codes to its standard
// output.
//
// Decides: what a short, a long, a garbled and a missing answer are. The command is run once; it is fed
// while its answers are read, so it may answer at once, in pieces, or only at the end of its input.
#pragma once

#include <chrono>
#include <string>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

struct FilterOptions {
  enum class Form : bool { binary, text };
  Form form = Form::binary;  ///< text: hexadecimal words, a line per row
  /// Without a byte read or written; in all, once every row is answered and more comes.
  std::chrono::milliseconds timeout = kUsualTimeout;
};

Plug filter(const std::string& command, const FilterOptions& options);

}  // namespace halfulp::vectors
