// What `halfulp verify` is asked to judge: a SPEC or a pack, of a cast, a decode or a recipe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "halfulp/vectors/reports/report.hpp"
#include "plug_options.hpp"

namespace halfulp::tool {

struct VerifyArguments {
  std::string subject;         ///< SPEC or pack; with --impl list a name
  std::string implementation;  ///< --impl; empty: a kernel of the user
  PlugArguments plug;
  std::string level;  ///< empty: not given
  std::uint64_t seed = 0;
  bool seeded = false;  ///< --seed was given
  std::string report;
  int threads = 0;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// A verdict for people and for programs.
struct Shown {
  vectors::Report report;
  std::string json;  ///< one object and a line end
};

/// Nothing when the implementation is not here; a line on standard error says so. Throws InputError.
std::optional<Shown> judge_subject(const VerifyArguments& arguments);

}  // namespace halfulp::tool
