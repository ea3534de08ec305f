// The step-function view of a cast: runs of source codes, in value order, that give one target code.
//
// Twin: reference/halfulp/oracle/thresholds.hpp. Every cast in this library is monotone on each side of zero, so the end
// of a run is found by doubling and bisection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "halfulp/cast.hpp"

namespace halfulp {

/// The codes of a format without its NaNs, in value order from -Inf (or the most negative) to +Inf; -0 before +0.
class OrderedCodes {
 public:
  explicit OrderedCodes(const FormatSpec& spec) : spec_(spec) {
    switch (spec.encoding) {
      case Encoding::floating: {
        last_magnitude_ = spec.has_infinity() ? spec.infinity_magnitude() : spec.largest_magnitude();
        const bool minus_zero = spec.zeros == Zeros::plus_and_minus;
        negatives_ = spec.is_signed ? last_magnitude_ + (minus_zero ? 1 : 0) : 0;
        break;
      }
      case Encoding::twos_complement:
        last_magnitude_ = spec.magnitude_mask();
        negatives_ = spec.is_signed ? last_magnitude_ + 1 : 0;
        break;
      case Encoding::codebook:
      case Encoding::hifloat8: sort_table(); break;
    }
  }

  /// Number of codes: at most 2^64 - 2^53.
  std::uint64_t size() const { return table_.empty() ? negatives_ + last_magnitude_ + 1 : table_.size(); }
  /// How many of them stand before +0 (or the first positive number).
  std::uint64_t negatives() const { return negatives_; }
  /// End of the stretch that a position belongs to: -Inf, the other negatives, the positives, +Inf. Inside a stretch
  /// every cast is monotone; Inf may go elsewhere (inf_none = zero).
  std::uint64_t stretch_end(std::uint64_t position) const {
    const bool infinities = spec_.has_infinity();
    if (infinities && spec_.is_signed && position == 0) return 1;
    if (position < negatives_) return negatives_;
    return infinities && position < size() - 1 ? size() - 1 : size();
  }
  /// Container word at a position in value order.
  std::uint64_t operator[](std::uint64_t position) const {
    if (!table_.empty()) return table_[position];
    if (spec_.encoding == Encoding::twos_complement) return (position - negatives_) & low_mask(spec_.width);
    const bool negative = position < negatives_;
    const std::uint64_t magnitude = negative ? last_magnitude_ - position : position - negatives_;
    return (magnitude | (negative ? spec_.sign_mask() : 0)) << spec_.storage_shift;
  }

 private:
  void sort_table() {
    for (std::uint64_t code = 0; code <= low_mask(spec_.width); ++code) {
      if (unpack(spec_, code).number_class != NumberClass::nan) table_.push_back(code);
    }
    std::stable_sort(table_.begin(), table_.end(), [this](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
    negatives_ = static_cast<std::uint64_t>(
        std::count_if(table_.begin(), table_.end(), [this](std::uint64_t code) { return unpack(spec_, code).negative; }));
  }

  double key(std::uint64_t code) const {  // table values are exact in double
    const Unpacked x = unpack(spec_, code);
    if (x.number_class == NumberClass::infinity) return x.negative ? -0x1p100 : 0x1p100;
    double value = static_cast<double>(x.significand);
    for (int i = x.exponent; i < 0; ++i) value /= 2;
    return x.negative ? -value : value;
  }

  FormatSpec spec_;
  std::uint64_t last_magnitude_ = 0;
  std::uint64_t negatives_ = 0;
  std::vector<std::uint64_t> table_;  ///< codebooks and HiFloat8; empty for the others
};

/// A run of source codes with one result.
struct Step {
  std::uint64_t first = 0;  ///< source container words, in value order
  std::uint64_t last = 0;
  CastResult result;       ///< of `last`; refused runs have a refusal instead of a code
  bool upper_tie = false;  ///< the boundary above is exactly half way between two target numbers, and a source code
};

/// Calls visit(Step) for every run, from the most negative source code to the most positive. `cast_code` maps a source
/// container word to a CastResult and must be monotone in value on each side of zero.
template <class Cast, class Visit>
void for_each_step(const OrderedCodes& codes, Cast cast_code, Visit visit) {
  const auto same = [](const CastResult& a, const CastResult& b) { return a.code == b.code && a.refusal == b.refusal; };
  Step pending;
  bool have_pending = false;
  const std::uint64_t size = codes.size();
  for (std::uint64_t begin = 0; begin < size;) {
    const std::uint64_t side_end = codes.stretch_end(begin);
    const CastResult at_begin = cast_code(codes[begin]);
    std::uint64_t inside = begin;  // known to share the result
    std::uint64_t outside = side_end;
    for (std::uint64_t step = 1; side_end - inside > step; step *= 2) {
      if (!same(cast_code(codes[inside + step]), at_begin)) {
        outside = inside + step;
        break;
      }
      inside += step;
    }
    while (outside - inside > 1) {
      const std::uint64_t middle = inside + (outside - inside) / 2;
      (same(cast_code(codes[middle]), at_begin) ? inside : outside) = middle;
    }
    Step step{codes[begin], codes[inside], cast_code(codes[inside])};
    if (have_pending && same(pending.result, at_begin)) {
      step.first = pending.first;  // the run goes on through zero, or into Inf
    } else if (have_pending) {
      pending.upper_tie = ((pending.result.flags | at_begin.flags) & kTie) != 0;
      visit(pending);
    }
    pending = step;
    have_pending = true;
    begin = inside + 1;
  }
  if (have_pending) visit(pending);
}

/// The whole step function of one cast under one policy (and, for stochastic rounding, one random word).
inline std::vector<Step> thresholds(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy,
                                    std::uint64_t random = 0) {
  std::vector<Step> steps;
  for_each_step(
      OrderedCodes(from), [&](std::uint64_t word) { return cast(from, word, to, policy, random); },
      [&steps](const Step& step) { steps.push_back(step); });
  return steps;
}

}  // namespace halfulp
