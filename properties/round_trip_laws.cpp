// Round trips: every code of every named format up to 16 bits (and tf32) means what the definition says,
// and comes back as itself under every rounding. f32 and f64 are sampled by one counter.
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "halfulp/names.hpp"
#include "halfulp/plan.hpp"
#include "law.hpp"

namespace halfulp::laws {
namespace {

const FormatSpec kF64 = spec_of("f64");
constexpr int kExhaustiveWidth = 19;  // tf32
constexpr std::uint64_t kSamples = 1 << 16;

/// Calls visit(word) for every code of the format, or for kSamples of a wide one.
template <class Visit>
void for_each_code(const FormatSpec& spec, Visit visit) {
  const bool exhaustive = spec.width <= kExhaustiveWidth;
  const std::uint64_t count = exhaustive ? low_mask(spec.width) + 1 : kSamples;
  for (std::uint64_t i = 0; i < count; ++i) {
    visit((exhaustive ? i : counter_random(1, i) & low_mask(spec.width)) << spec.storage_shift);
  }
}

/// Every rounding with every overflow rule; stochastic with both ends of the random words.
std::vector<std::pair<CastPolicy, std::uint64_t>> all_policies() {
  std::vector<std::pair<CastPolicy, std::uint64_t>> policies;
  for (const Overflow overflow : {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow}) {
    for (const Rounding rounding : kDeterministicRoundings) {
      policies.push_back({{.rounding = rounding, .overflow = overflow, .nan_code = NanCode::payload}, 0});
    }
    for (const Stochastic variant : {Stochastic::A, Stochastic::B, Stochastic::C}) {
      const CastPolicy policy = {.rounding = Rounding::stochastic,
                                 .overflow = overflow,
                                 .nan_code = NanCode::payload,
                                 .sr_variant = variant,
                                 .sr_bits = 8};
      policies.push_back({policy, 0});
      policies.push_back({policy, ~std::uint64_t{0}});
    }
  }
  return policies;
}

/// The code an exact value of the format must come back as: itself, Inf as the overflow rule says, NaN made
/// quiet.
bool comes_back(const FormatSpec& spec, const Unpacked& x, std::uint64_t word, const CastResult& back,
                Overflow overflow) {
  if (back.refusal != Refusal::none) return false;
  if (x.number_class == NumberClass::infinity && overflow == Overflow::saturate) {
    return back.flags == kInexact && unpack(spec, back.code).number_class != NumberClass::infinity;
  }
  if (x.number_class == NumberClass::nan && spec.non_finite == NonFinite::ieee) {
    return back.code == (word | std::uint64_t{1} << (spec.fraction_bits - 1 + spec.storage_shift)) &&
           back.flags == 0;
  }
  return back.code == word && (back.flags & ~kSubnormal) == 0;
}

TEST(RoundTrip, EveryCodeDecodesAndComesBackAsItselfUnderEveryRoundingAndOverflowRule) {
  for (const Format& format : kFormats) {
    const bool restricted = format.spec.range == IntegerRange::restricted;
    for (const auto& [policy, random] : all_policies()) {
      for_each_code(format.spec, [&, &p = policy, &r = random](std::uint64_t word) {
        const Unpacked x = unpack(format.spec, word);
        if (restricted && word == format.spec.sign_mask()) return;  // the code that no cast produces
        const CastResult back = cast(x, format.spec, p, r);
        if (!comes_back(format.spec, x, word, back, p.overflow)) {
          ADD_FAILURE() << format.name << ' ' << name_of(p.rounding) << std::hex << " 0x" << word
                        << " came back as 0x" << back.code << " flags " << int(back.flags);
        }
      });
      if (HasFailure()) return;
    }
  }
}

TEST(RoundTrip, EveryCodeSurvivesTheWayThroughF64AndF32WhereverTheyHoldItsValue) {
  for (const Format& format : kFormats) {
    for (const char* name : {"f64", "f32"}) {
      const FormatSpec wide = find_format(name)->spec;
      std::uint64_t carried = 0;
      for (const auto& [policy, random] : all_policies()) {
        if (policy.overflow != Overflow::saturate_keep_inf) continue;  // keeps Inf on both ways
        for_each_code(format.spec, [&, &p = policy, &r = random](std::uint64_t word) {
          const Unpacked x = unpack(format.spec, word);
          const CastResult there = cast(x, wide, p, r);
          if ((there.flags & kInexact) != 0) return;
          const bool payload_lost =
              x.number_class == NumberClass::nan && wide.fraction_bits < format.spec.fraction_bits;
          if (payload_lost) return;
          if (format.spec.range == IntegerRange::restricted && word == format.spec.sign_mask()) return;
          ++carried;
          const CastResult back = cast(wide, there.code, format.spec, p, r);
          if (!comes_back(format.spec, x, word, back, p.overflow)) {
            ADD_FAILURE() << format.name << " through " << name << ' ' << name_of(p.rounding) << std::hex
                          << " 0x" << word << " came back as 0x" << back.code << " flags "
                          << int(back.flags);
          }
        });
        if (HasFailure()) return;
      }
      EXPECT_TRUE(carried > 0 || format.spec.width > wide.width) << format.name << " through " << name;
    }
  }
}

TEST(RoundTrip, EveryCodeHasInF64TheValueOfItsDefinition) {
  for (const Format& format : kFormats) {
    for_each_code(format.spec, [&](std::uint64_t word) {
      const oracle::Value expected = oracle::value_of(format.spec, word);
      const CastResult wide =
          cast(format.spec, word, kF64, {.overflow = Overflow::overflow, .nan_code = NanCode::payload});
      const oracle::Value got = oracle::value_of(kF64, wide.code);
      const bool same = got.cls == expected.cls && got.negative == expected.negative &&
                        got.magnitude == expected.magnitude;
      if (!same || (wide.flags & kInexact) != 0) {
        ADD_FAILURE() << format.name << std::hex << " 0x" << word << ": f64 0x" << wide.code;
      }
    });
    if (HasFailure()) return;
  }
}

TEST(RoundTrip, DifferentNumbersHaveDifferentCodes) {
  for (const Format& format : kFormats) {
    if (format.spec.width > kExhaustiveWidth) continue;
    std::set<std::uint64_t> seen;
    std::uint64_t numbers = 0;
    for_each_code(format.spec, [&](std::uint64_t word) {
      if (unpack(format.spec, word).number_class == NumberClass::nan) return;
      ++numbers;
      seen.insert(cast(format.spec, word, kF64, {.overflow = Overflow::overflow}).code);
    });
    EXPECT_EQ(seen.size(), numbers) << format.name;
  }
}

}  // namespace
}  // namespace halfulp::laws
