// The integer engine and the oracle agree. The default tier: every named format of at most 8 bits, through the oracle's
// interval tables; value by value with flags on a sample. The rest is in twins_exhaustive.cpp.
#include "twins.hpp"

namespace halfulp::test {
namespace {

TEST(Twins, AgreeOnEverySixteenBitSourceForEveryNarrowFormatRoundingAndOverflowRule) {
  std::uint64_t checked = 0;
  for (const char* source : {"f16", "bf16"}) {
    const Format from = *find_format(source);
    for (const Format& to : kFormats) {
      if (to.spec.width > 8) continue;
      for (const Rounding rounding : kDeterministic) {
        for (const Overflow overflow : kOverflows) {
          checked += compare_by_intervals(from, to, total_policy(rounding, overflow));
          if (HasFailure()) return;
        }
      }
    }
  }
  std::cout << "source codes compared: " << checked << "\n";
}

TEST(Twins, AgreeOnEveryNarrowSourceIntoEveryNamedFormatWithFlags) {
  std::uint64_t checked = 0;
  for (const Format& from : kFormats) {
    if (from.spec.width > 8) continue;
    for (const Format& to : kFormats) {
      for (const Rounding rounding : {Rounding::ties_to_even, Rounding::to_odd}) {
        checked += compare_by_value(from, all_codes(from.spec), to, total_policy(rounding, Overflow::overflow));
        if (HasFailure()) return;
      }
    }
  }
  std::cout << "values compared: " << checked << "\n";
}

/// Both ends of every oracle interval (so both sides of every threshold, and the ties), and NaNs.
std::vector<std::uint64_t> threshold_words(const Format& from, const Format& to, const CastPolicy& policy) {
  std::vector<std::uint64_t> words;
  for (const oracle::Interval& interval : oracle::thresholds(from.spec, to.spec, policy)) {
    words.push_back(interval.first);
    words.push_back(interval.last);
  }
  const std::uint64_t infinity = from.spec.infinity_magnitude();
  for (const std::uint64_t payload : {std::uint64_t{1}, infinity >> 3, from.spec.magnitude_mask() - infinity}) {
    words.push_back(infinity | (payload & low_mask(from.spec.fraction_bits)) | 1);
    words.push_back(words.back() | from.spec.sign_mask());
  }
  return words;
}

TEST(Twins, AgreeWithFlagsOnBothSidesOfEveryThresholdFromWideSources) {
  std::uint64_t checked = 0;
  for (const char* source : {"f32", "f64"}) {
    const Format from = *find_format(source);
    for (const Format& to : kFormats) {
      if (to.spec.width > 8) continue;
      for (const Rounding rounding : kDeterministic) {
        for (const Overflow overflow : kOverflows) {
          const CastPolicy policy = total_policy(rounding, overflow);
          checked += compare_by_value(from, threshold_words(from, to, policy), to, policy);
          if (HasFailure()) return;
        }
      }
    }
  }
  std::cout << "values compared: " << checked << "\n";
}

TEST(Thresholds, AreTheRunsOfTheEnumeratedCastEvenWhereInfGoesElsewhere) {
  for (const Format& from : kFormats) {
    if (from.spec.width > 8) continue;
    const OrderedCodes order(from.spec);
    for (const char* target : {"e2m1", "int2", "int8", "e4m3", "nf4", "e8m0"}) {
      for (const InfNone inf : {InfNone::max, InfNone::zero}) {
        CastPolicy policy = total_policy(Rounding::toward_zero, Overflow::saturate);
        policy.inf_none = inf;
        const FormatSpec to = find_format(target)->spec;
        std::vector<Step> runs;
        for (std::uint64_t i = 0; i < order.size(); ++i) {
          const CastResult result = cast(from.spec, order[i], to, policy);
          if (runs.empty() || runs.back().result.code != result.code) runs.push_back({order[i], order[i], result});
          runs.back().last = order[i];
        }
        const std::vector<Step> steps = thresholds(from.spec, to, policy);
        ASSERT_EQ(steps.size(), runs.size()) << from.name << " -> " << target;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          EXPECT_EQ(steps[i].first, runs[i].first) << from.name << " -> " << target;
          EXPECT_EQ(steps[i].last, runs[i].last) << from.name << " -> " << target;
        }
      }
    }
  }
}

/// Draws from every named format and from P3109, every policy field and random words; all from one counter.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dull;
  }
  std::uint64_t below(std::uint64_t n) { return (word() >> 11) % n; }
  template <class Enum>
  Enum one() {
    return kNames<Enum>[below(kNames<Enum>.size())].value;
  }
  FormatSpec format() {
    if (below(3) != 0) return kFormats[below(kFormats.size())].spec;
    const int k = 3 + static_cast<int>(below(14));
    const bool is_signed = below(2) == 0;
    return p3109(k, 1 + static_cast<int>(below(static_cast<std::uint64_t>(is_signed ? k - 1 : k))), is_signed, below(2) == 0);
  }
  CastPolicy policy() {
    CastPolicy p;
    p.rounding = one<Rounding>();
    p.overflow = one<Overflow>();
    p.overflow_test = one<OverflowTest>();
    p.directed_overflow = one<DirectedOverflow>();
    p.nan_sign = below(8) == 0 ? NanSign::unrecorded : one<NanSign>();
    p.inf_record = below(8) == 0 ? InfRecord::unrecorded : InfRecord::by_overflow;
    p.nan_code = one<NanCode>();
    p.nan_none = one<NanNone>();
    p.inf_none = one<InfNone>();
    p.negative = one<Negative>();
    p.zero = one<ZeroInto>();
    p.flush = one<Flush>();
    p.fnuz_nan = one<FnuzNan>();
    p.low_binade = below(4) == 0 ? one<LowBinade>() : LowBinade::by_rounding;
    p.sr_variant = one<Stochastic>();
    p.sr_bits = 1 + static_cast<int>(below(32));
    return p;
  }

 private:
  std::uint64_t state_;
};

TEST(Twins, AgreeOnRandomFormatsPoliciesAndWords) {
  Draw draw(20260101);
  std::uint64_t checked = 0;
  for (int round = 0; round < 400000; ++round) {
    const FormatSpec from = draw.format();
    const FormatSpec to = draw.format();
    const CastPolicy policy = draw.policy();
    for (int i = 0; i < 10; ++i, ++checked) {
      // Half of the sources stand near a number of the target, where roundings differ.
      std::uint64_t word = (draw.word() & low_mask(from.width)) << from.storage_shift;
      if (draw.below(2) == 0) {
        const std::uint64_t target = (draw.word() & low_mask(to.width)) << to.storage_shift;
        const CastResult near = cast(to, target, from, total_policy(Rounding::toward_zero, Overflow::saturate));
        const std::uint64_t code = (near.code >> from.storage_shift) + draw.below(5) - 2;
        word = (code & low_mask(from.width)) << from.storage_shift;
      }
      const std::uint64_t random = draw.word();
      const CastResult got = cast(from, word, to, policy, random);
      const CastResult expected = oracle::cast(from, word, to, policy, random);
      ASSERT_EQ(got, expected) << std::hex << "round " << std::dec << round << std::hex << " source 0x" << word << " from width "
                               << std::dec << from.width << " E" << from.exponent_bits << "M" << from.fraction_bits
                               << " rule " << int(from.non_finite) << " to width " << to.width << " E" << to.exponent_bits
                               << "M" << to.fraction_bits << " rule " << int(to.non_finite) << " signed " << to.is_signed << " enc "
                               << int(to.encoding) << " " << name_of(policy.rounding) << " " << name_of(policy.overflow)
                               << " test " << name_of(policy.overflow_test) << " directed " << name_of(policy.directed_overflow)
                               << " neg " << name_of(policy.negative) << " zero " << name_of(policy.zero) << " nan_none "
                               << name_of(policy.nan_none) << " inf_none " << name_of(policy.inf_none) << " flush "
                               << name_of(policy.flush) << " low " << name_of(policy.low_binade) << " fnuz " << name_of(policy.fnuz_nan)
                               << " sr " << name_of(policy.sr_variant) << policy.sr_bits << std::hex << ": engine 0x"
                               << got.code << " flags " << int(got.flags) << " refusal " << int(got.refusal) << ", oracle 0x"
                               << expected.code << " flags " << int(expected.flags) << " refusal " << int(expected.refusal);
    }
  }
  std::cout << "casts compared: " << checked << "\n";
}

}  // namespace
}  // namespace halfulp::test
