// Verdicts: what results of a kernel prove about a stated budget.
//
// Rounding is monotone, so the codes that the budget allows are those from cast(lo) to cast(hi) of its enclosure (enclosure.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// A violation, with the ends that 256 bits give.
struct Violation {
  std::size_t row = 0, dim = 0;
  std::uint32_t code = 0, low = 0, high = 0;
};

struct Judgement {
  std::vector<Judged> elements;            ///< [row, value_dim]
  std::array<std::size_t, 4> counts = {};  ///< per verdict
  std::vector<Violation> violations;       ///< every one was found twice: in doubles and in 256 bits
  /// 1 with any violation; 3 when nothing was forced or something is undecided (and so for no elements at all); else 0.
  int exit_status() const;
};

/// Encloses rows of a problem once more: [place in `rows`, value_dim].
using Recheck = std::function<std::vector<Enclosure>(const Budget&, const Problem&, std::span<const std::size_t> rows, unsigned threads)>;

/// Judges output codes [row, value_dim] of the format budget.kernel.out; `threads` (0: all cores) changes nothing. Throws InputError when
/// their number is not that of the problem. Intervals of double are rounded outward: what they exclude is excluded. All the same each
/// violation is enclosed once more, and where the second enclosure does not exclude the code, too, the arithmetic of one of them is at
/// fault: then judge() throws std::logic_error and gives no verdict.
Judgement judge(const Budget& budget, const Problem& problem, std::span<const std::uint32_t> codes, unsigned threads = 1,
                const Recheck& recheck = enclose_wide);

}  // namespace halfulp::attention
