// Probes: problems whose right answer is known without knowing the kernel - no tile size, order, split,
// promotion or lane count can change it, and no tolerance is needed. Each carries its proof as text and as
// inequalities that are evaluated in exact arithmetic. The table of them is in
// docs/attention_probes.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/attention/probes_case.hpp"

namespace halfulp::attention {

/// A line of a proof: left <= right. Both are dyadic rationals of at most 53 bits, so that the comparison
/// is exact.
struct Inequality {
  std::string text;  ///< what is compared
  double left = 0, right = 0;
  bool holds() const { return left <= right; }
};

/// What the exact answer may be before it is rounded once to the output format: low <= O <= high, or
/// nothing is claimed.
struct Claim {
  double low = 0, high = 0;
  bool made = false;
};

/// How far a probe's claim reaches.
enum class Reach : std::uint8_t {
  every_kernel,  ///< holds for every kernel that computes attention with the formats of the spec
  this_spec,     ///< holds for the choices of the spec (offset, prescale, empty rows); for others it is a
                 ///< property
  these_tiles,   ///< holds for the tile of the spec, too
};

struct Probe {
  std::string kind;   ///< row of the table, e.g. `one_hot`
  std::string title;  ///< what is particular about this one
  std::string proof;
  std::string fails;  ///< what a kernel that gives another answer does
  Reach reach = Reach::every_kernel;
  Case input;
  std::vector<Claim> output;       ///< [row, value_dim]; rows = query heads * queries
  std::vector<float> scores;       ///< [row, token] forced in stage S; empty: none
  bool rescales = false;           ///< a row meets maxima that differ by what is neither nothing nor out of reach
  int same_as = -1;                ///< index of a probe whose output bits this one must repeat; -1: none
  std::vector<Inequality> checks;  ///< the proof, checked; all hold

  bool claims() const;
};

/// Sizes that all probes of a list share; a probe uses fewer tokens where it needs fewer.
struct Frame {
  Shape shape{.query_heads = 4, .kv_heads = 2, .queries = 2, .keys = 320, .head_dim = 8, .value_dim = 4};
  std::size_t page_size = 0;  ///< 0: tokens lie in order
  bool sinks = false;         ///< the kernel takes sinks
};

/// Every probe whose proof holds for the spec: all its checks do. Throws InputError where the frame is too
/// small for them (smallest_frame()).
std::vector<Probe> probes(const KernelSpec& spec, const Frame& frame = {});

/// For a cache that keeps float16 keys as recipe kivi/k does, in 2 bits, groups of 32 tokens per channel,
/// tokens behind the last whole group exact: the sequences of one batch, in their order. Keys are those
/// before the cache.
std::vector<Probe> kivi_probes(const KernelSpec& spec, const Frame& frame = {});

/// The smallest shape that probes() accepts.
Shape smallest_frame();

/// The words of the output format that a claim admits: those from round(low) to round(high). One word: it
/// is forced. Requires claim.made.
struct Admitted {
  std::uint32_t low, high;
  bool holds(const FormatSpec& format, std::uint32_t word) const;  ///< NaN never; both zeros are one number
  bool forced() const { return low == high; }
};
Admitted admitted(const FormatSpec& format, const Claim& claim);

/// Whether no number from low - loose to high + loose has this word: in rational numbers, the ends cast by the oracle. NaN is no number.
/// Requires claim.made.
bool excluded_exactly(const FormatSpec& format, const Claim& claim, double loose, std::uint32_t word);

}  // namespace halfulp::attention
