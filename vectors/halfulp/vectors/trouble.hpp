// Trouble: what can be wrong with a kernel under test beside a wrong code.
#pragma once

#include <cstdint>
#include <string>

#include "halfulp/names.hpp"

namespace halfulp::vectors {

enum class Trouble : std::uint8_t {
  failure,          ///< it reported an error itself
  crash,            ///< ended by a signal, or by itself with an exit status
  time_out,         ///< no progress
  missing_output,   ///< fewer answers than rows
  extra_output,     ///< more answers than rows
  garbage,          ///< text that is no code
  out_of_bounds,    ///< wrote outside its output columns
  non_determinism,  ///< two runs on the same rows differ
};

/// A finding about the whole run, in one sentence.
struct KernelFinding {
  Trouble trouble = Trouble::failure;
  std::string text;
};

/// True when the kernel is wrong by it; false when the run is only incomplete.
constexpr bool is_wrong(Trouble trouble) {
  return trouble == Trouble::extra_output || trouble == Trouble::out_of_bounds ||
         trouble == Trouble::non_determinism;
}

}  // namespace halfulp::vectors

namespace halfulp {
template <>
inline constexpr auto kNames<vectors::Trouble> =
    std::to_array<Name<vectors::Trouble>>({{vectors::Trouble::failure, "failure"},
                                           {vectors::Trouble::crash, "crash"},
                                           {vectors::Trouble::time_out, "time-out"},
                                           {vectors::Trouble::missing_output, "missing output"},
                                           {vectors::Trouble::extra_output, "extra output"},
                                           {vectors::Trouble::garbage, "garbage"},
                                           {vectors::Trouble::out_of_bounds, "out of bounds"},
                                           {vectors::Trouble::non_determinism, "non-determinism"}});
}  // namespace halfulp
