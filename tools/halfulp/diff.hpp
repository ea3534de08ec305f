// What the kinds of `halfulp diff` share: casts, recipes, result files.
#pragma once

#include <cstdint>
#include <string>

#include "commands.hpp"

namespace halfulp::tool {

struct DiffOptions {
  std::string a, b;
  std::string search = "threshold";  ///< random, threshold, all
  std::uint64_t most = 0;            ///< 0: the default of the kind
  std::string dtype, shape;          ///< of .bin files
};

/// Each compares one kind, prints and returns the exit status.
int diff_casts(const DiffOptions& options, const Globals& globals);
int diff_recipes(const DiffOptions& options, const Globals& globals);
int diff_files(const DiffOptions& options, const Globals& globals);

}  // namespace halfulp::tool
