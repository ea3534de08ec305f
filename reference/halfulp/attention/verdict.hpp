// Verdicts: what results of a kernel prove about a stated budget.
//
// Rounding is monotone, so the codes that the budget allows are those from cast(lo) to cast(hi) of its enclosure (enclosure.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halfulp/attention/enclosure.hpp"

namespace halfulp::attention {

enum class Verdict : std::uint8_t {
  violation,   ///< outside: the budget was broken
  forced,      ///< one value was possible, and it is the one: proved right
  admissible,  ///< several were possible, one of them came: nothing is proved
  undecided,   ///< no enclosure, or the two readings of zeros (zero rule a and b) do not agree on a violation
};
std::string_view name_of(Verdict verdict);

struct Judged {
  Verdict verdict = Verdict::undecided;
  std::uint64_t values = 0;       ///< numbers of the output format that the budget allows; +0 and -0 are one; 0 where not known
  std::uint32_t low = 0, high = 0;  ///< codes of the ends
};

/// A violation. Those of the first `most_wide_rows` rows that have any are confirmed in 256-bit intervals.
struct Violation {
  std::size_t row = 0, dim = 0;
  std::uint32_t code = 0, low = 0, high = 0;
};

struct Judgement {
  std::vector<Judged> elements;            ///< [row, value_dim]
  std::array<std::size_t, 4> counts = {};  ///< per verdict
  std::vector<Violation> violations;
  std::size_t wide_rows = 0;     ///< rows that were enclosed once more in 256 bits
  std::size_t rechecked = 0;     ///< violations among them that stand
  bool overturned = false;       ///< one did not stand
  /// 1 with any violation; 3 when nothing was forced or something is undecided (and so for no elements at all); else 0.
  int exit_status() const;
};

/// Judges output codes [row, value_dim] of the format budget.kernel.out. Throws InputError when their number is not that of the problem.
/// A violation that the wide intervals do not confirm gets their verdict; from then on every row with a violation is enclosed in them,
/// whatever `most_wide_rows` says. Intervals of double are rounded outward, too: what they exclude is excluded; the wide ones guard
/// against a fault of their arithmetic, and cost a second per row of some hundred keys and channels.
Judgement judge(const Budget& budget, const Problem& problem, std::span<const std::uint32_t> codes,
                std::size_t most_wide_rows = SIZE_MAX);

}  // namespace halfulp::attention
