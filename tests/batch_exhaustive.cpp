// All 2^32 f32 words into every named floating format of at most 8 bits, ties_to_even, each overflow rule: the batch
// engine against the runs of equal results that for_each_step finds by bisection (thresholds.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");
constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint32_t kInfinity = 0x7f800000u;

/// Words first..last give one code.
struct Interval {
  std::uint32_t first = 0, last = 0;
  std::uint8_t code = 0;
};

/// All words in the order of their bits; NaNs as two runs, whose constancy `cast` has by its policy (payload dropped).
std::vector<Interval> runs(const FormatSpec& to, const CastPolicy& policy) {
  std::vector<Interval> found;
  const auto add = [&](std::uint64_t first, std::uint64_t last, const CastResult& result) {
    EXPECT_EQ(result.refusal, Refusal::none);
    found.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), static_cast<std::uint8_t>(result.code)});
  };
  for (const Step& step : thresholds(kF32, to, policy)) {
    const bool from_negative = (step.first & kSign) != 0;
    const bool to_negative = (step.last & kSign) != 0;
    if (from_negative) add(to_negative ? step.last : kSign, step.first, step.result);
    if (!to_negative) add(from_negative ? 0 : step.first, step.last, step.result);
  }
  for (const std::uint32_t sign : {0u, kSign}) add(sign | (kInfinity + 1), sign | 0x7fffffffu, cast(kF32, sign | 0x7fc00000u, to, policy));
  std::sort(found.begin(), found.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
  return found;
}

TEST(BatchExhaustive, EveryF32IntoEveryNarrowFloatingFormat) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  std::vector<std::uint32_t> words(kChunk);
  std::vector<std::uint8_t> codes(kChunk);
  for (const Format& format : kFormats) {
    const FormatSpec& to = format.spec;
    if (to.encoding != Encoding::floating || to.storage_bytes() != 1) continue;
    for (const Overflow overflow : {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow}) {
      const CastPolicy policy = {.overflow = overflow, .nan_none = NanNone::nan_to_signed_max, .negative = Negative::abs, .zero = ZeroInto::min};
      const std::vector<Interval> table = runs(to, policy);
      std::uint64_t covered = 0;
      for (const Interval& run : table) {
        ASSERT_EQ(run.first, covered) << format.name;
        covered = std::uint64_t{run.last} + 1;
      }
      ASSERT_EQ(covered, std::uint64_t{1} << 32) << format.name;

      const BatchCaster caster(kF32, to, policy);
      auto run = table.begin();
      for (std::uint64_t base = 0; base < (std::uint64_t{1} << 32); base += kChunk) {
        std::iota(words.begin(), words.end(), static_cast<std::uint32_t>(base));
        ASSERT_TRUE(caster.run(std::span(words), std::span(codes)).ok());
        for (std::size_t at = 0; at < kChunk;) {
          const std::uint64_t end = std::min<std::uint64_t>(std::uint64_t{run->last} + 1, base + kChunk);
          std::size_t wrong = 0;
          for (const std::size_t stop = end - base; at < stop; ++at) wrong += codes[at] != run->code ? 1 : 0;
          ASSERT_EQ(wrong, 0u) << format.name << " between " << std::hex << run->first << " and " << run->last << ": not code " << +run->code;
          if (end == std::uint64_t{run->last} + 1 && run + 1 != table.end()) ++run;
        }
      }
    }
  }
}

}  // namespace
}  // namespace halfulp
