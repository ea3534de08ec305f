// The batch engine against halfulp::cast, element by element: every tier, every SIMD level, every refusal, every length.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "halfulp/batch.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"
#include "halfulp/thresholds.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace halfulp {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");
constexpr Rounding kDeterministic[] = {Rounding::ties_to_even,    Rounding::ties_to_away,    Rounding::toward_zero,
                                       Rounding::toward_positive, Rounding::toward_negative, Rounding::to_odd};
constexpr Overflow kOverflows[] = {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow};

std::vector<Format> named_narrow_formats() {
  std::vector<Format> formats;
  std::copy_if(kFormats.begin(), kFormats.end(), std::back_inserter(formats),
               [](const Format& f) { return f.spec.storage_bytes() == 1; });
  return formats;
}

std::vector<Format> narrow_formats() {
  std::vector<Format> formats = named_narrow_formats();
  for (const std::string_view name : {"binary8p1se", "binary8p3se", "binary8p4sf", "binary8p3ue", "binary8p4uf", "binary6p2se",
                                      "binary3p2sf", "binary8p7ue", "binary8p1uf", "binary5p5uf"}) {
    formats.push_back(*find_format(name));
  }
  return formats;
}

/// Names an answer for every input class, so that nothing is refused.
CastPolicy permissive(Rounding rounding, Overflow overflow) {
  return {.rounding = rounding, .overflow = overflow, .nan_none = NanNone::nan_to_signed_zero, .negative = Negative::abs,
          .zero = ZeroInto::min};
}

/// Policies that bend one rule each.
std::vector<CastPolicy> bent_policies() {
  const CastPolicy base = permissive(Rounding::ties_to_even, Overflow::saturate);
  std::vector<CastPolicy> policies;
  const auto add = [&](auto change) {
    policies.push_back(base);
    change(policies.back());
  };
  add([](CastPolicy& p) { p.nan_sign = NanSign::positive; });
  add([](CastPolicy& p) { p.nan_sign = NanSign::unrecorded; });
  add([](CastPolicy& p) { p.nan_code = NanCode::ones; });
  add([](CastPolicy& p) { p.nan_code = NanCode::payload; });
  add([](CastPolicy& p) { p.nan_none = NanNone::error; });
  add([](CastPolicy& p) { p.nan_none = NanNone::nan_to_max; });
  add([](CastPolicy& p) { p.nan_none = NanNone::nan_to_signed_max; });
  add([](CastPolicy& p) { p.nan_none = NanNone::nan_to_negative_zero_flip; });
  add([](CastPolicy& p) { p.inf_none = InfNone::zero; });
  add([](CastPolicy& p) { p.inf_none = InfNone::error; });
  add([](CastPolicy& p) { p.inf_record = InfRecord::unrecorded; });
  add([](CastPolicy& p) { p.negative = Negative::error; });
  add([](CastPolicy& p) { p.negative = Negative::zero; });
  add([](CastPolicy& p) { p.negative = Negative::nan; });
  add([](CastPolicy& p) { p.negative = Negative::zero, p.overflow = Overflow::overflow; });
  add([](CastPolicy& p) { p.zero = ZeroInto::nan; });
  add([](CastPolicy& p) { p.zero = ZeroInto::error; });
  add([](CastPolicy& p) { p.flush = Flush::both; });
  add([](CastPolicy& p) { p.fnuz_nan = FnuzNan::signed_max; });
  add([](CastPolicy& p) { p.overflow = Overflow::overflow, p.overflow_test = OverflowTest::before_rounding; });
  add([](CastPolicy& p) { p.rounding = Rounding::toward_zero, p.overflow = Overflow::overflow, p.directed_overflow = DirectedOverflow::literal; });
  add([](CastPolicy& p) { p.low_binade = LowBinade::upward; });
  add([](CastPolicy& p) { p.low_binade = LowBinade::never_min; });
  add([](CastPolicy& p) { p.rounding = Rounding::unrecorded; });
  return policies;
}

std::vector<CastResult> expected(const FormatSpec& from, const auto& words, const FormatSpec& to, const CastPolicy& policy) {
  std::vector<CastResult> results;
  results.reserve(words.size());
  for (const auto word : words) results.push_back(cast(from, word, to, policy));
  return results;
}

/// Runs a caster over all words, going on after each refusal, and compares every answer.
template <class Code, class Word>
void expect_same(const BatchCaster& caster, const std::vector<Word>& words, const std::vector<CastResult>& want,
                 const std::string& context) {
  std::vector<Code> codes(words.size());
  std::size_t refusals = 0;
  for (std::size_t begin = 0; begin < words.size();) {
    const auto in = std::span(words).subspan(begin);
    const auto out = std::span(codes).subspan(begin);
    const BatchResult r = caster.run(in, out);
    for (std::size_t i = begin; i < begin + r.done; ++i) {
      ASSERT_TRUE(want[i].refusal == Refusal::none && want[i].code == codes[i])
          << context << ": word " << std::hex << +words[i] << " gave " << +codes[i] << ", cast gives " << want[i].code
          << " refusal " << +static_cast<std::uint8_t>(want[i].refusal);
    }
    begin += r.done;
    if (r.ok()) {
      ASSERT_EQ(begin, words.size()) << context;
      break;
    }
    ASSERT_LT(begin, words.size()) << context;
    ASSERT_EQ(r.refusal, want[begin].refusal) << context << ": word " << std::hex << +words[begin];
    ++begin;
    if (++refusals == 50) break;  // half of the words may be refused: enough is enough
  }
}

std::string describe(const FormatSpec& to, const CastPolicy& p) {
  std::string text = "width " + std::to_string(to.width) + " fraction " + std::to_string(to.fraction_bits);
  text += " " + std::string(name_of(p.rounding)) + " " + std::string(name_of(p.overflow)) + " level ";
  return text + std::string(simd_level());
}

template <class Visit>
void at_every_level(Visit visit) {
  for (const std::string_view level : simd_targets()) {
    ASSERT_TRUE(set_simd_level(level));
    ASSERT_EQ(simd_level(), level);
    visit();
  }
  set_simd_level("");
}

/// Every threshold of the cast with its neighbours, all exponents, specials and NaN payloads.
std::vector<std::uint32_t> edge_words(const FormatSpec& to, const CastPolicy& policy) {
  std::vector<std::uint32_t> words;
  for (const Step& step : thresholds(kF32, to, policy)) {
    for (const std::uint64_t word : {step.first, step.last}) {
      for (int near = -1; near <= 1; ++near) words.push_back(static_cast<std::uint32_t>(word) + static_cast<std::uint32_t>(near));
    }
  }
  for (std::uint32_t field = 0; field < 256; ++field) {
    for (const std::uint32_t fraction : {0x000000u, 0x000001u, 0x3fffffu, 0x400000u, 0x400001u, 0x7fffffu, 0x2aaaaau}) {
      words.push_back(field << 23 | fraction);
      words.push_back(0x80000000u | field << 23 | fraction);
    }
  }
  return words;
}

template <class Word>
std::vector<Word> all_words() {
  std::vector<Word> words(std::size_t{1} << (8 * sizeof(Word)));
  std::iota(words.begin(), words.end(), Word{0});
  return words;
}

TEST(Batch, EverySixteenBitSourceIntoEveryNarrowFormat) {
  const auto words = all_words<std::uint16_t>();
  for (const std::string_view source : {"f16", "bf16"}) {
    const FormatSpec from = find_format(source)->spec;
    for (const Format& to : named_narrow_formats()) {
      for (const Rounding rounding : kDeterministic) {
        for (const Overflow overflow : kOverflows) {
          if (to.spec.encoding == Encoding::codebook && overflow != Overflow::saturate) continue;  // slow, and the same
          const CastPolicy policy = permissive(rounding, overflow);
          const BatchCaster caster(from, to.spec, policy);
          EXPECT_EQ(caster.tier(), BatchTier::table);
          ASSERT_NO_FATAL_FAILURE(expect_same<std::uint8_t>(caster, words, expected(from, words, to.spec, policy),
                                                            std::string(source) + " " + describe(to.spec, policy)));
        }
      }
    }
  }
}

TEST(Batch, ThresholdsOfEveryRoundingAndOverflowAtEveryLevel) {
  for (const Format& to : narrow_formats()) {
    for (const Rounding rounding : kDeterministic) {
      for (const Overflow overflow : kOverflows) {
        const CastPolicy policy = permissive(rounding, overflow);
        const auto words = edge_words(to.spec, policy);
        const auto want = expected(kF32, words, to.spec, policy);
        const BatchCaster caster(kF32, to.spec, policy);
        EXPECT_NE(caster.tier(), BatchTier::scalar) << to.name;
        at_every_level([&] {
          expect_same<std::uint8_t>(caster, words, want, std::string(to.name) + " " + describe(to.spec, policy));
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Batch, BentPoliciesIncludingRefusals) {
  // One format of every kind: non-finite rule, sign, encoding, 254 finite numbers, and look-up tables with no spare code.
  for (const std::string_view name : {"e4m3", "e5m2", "e5m2fnuz", "e3m2", "e8m0", "ue4m3", "ue5m3", "int8", "nf4",
                                      "binary8p3se", "binary8p4uf"}) {
    const Format to = *find_format(name);
    for (const CastPolicy& policy : bent_policies()) {
      const auto words = edge_words(to.spec, permissive(Rounding::ties_to_even, Overflow::saturate));
      const auto want = expected(kF32, words, to.spec, policy);
      const BatchCaster caster(kF32, to.spec, policy);
      at_every_level([&] { expect_same<std::uint8_t>(caster, words, want, std::string(to.name) + " " + describe(to.spec, policy)); });
      std::vector<std::uint16_t> half;
      for (std::uint32_t word = 0; word < 0x10000; word += 13) half.push_back(static_cast<std::uint16_t>(word));
      expect_same<std::uint8_t>(BatchCaster(spec_of("f16"), to.spec, policy), half, expected(spec_of("f16"), half, to.spec, policy),
                                "f16 " + std::string(to.name));
      if (HasFailure()) return;
    }
  }
}

TEST(Batch, AMillionRandomWordsAtEveryLevel) {
  std::mt19937 bits(20240913);
  std::vector<std::uint32_t> words(1'000'000);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = static_cast<std::uint32_t>(bits());
    words[i] = i % 2 == 0 ? word : (word & 0x807fffffu) | (100 + (word >> 23) % 48) << 23;  // half of them near 1
  }
  for (const Format& to : narrow_formats()) {
    const CastPolicy policy = permissive(Rounding::ties_to_even, to.spec.width % 2 ? Overflow::saturate : Overflow::overflow);
    const auto want = expected(kF32, words, to.spec, policy);
    const BatchCaster caster(kF32, to.spec, policy);
    at_every_level([&] { expect_same<std::uint8_t>(caster, words, want, std::string(to.name) + " " + describe(to.spec, policy)); });
    if (HasFailure()) return;
  }
}

TEST(Batch, TheVectorKernelServesTheCommonCasts) {
  for (const std::string_view name : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "ue4m3", "binary8p3se"}) {
    for (const Overflow overflow : kOverflows) {
      EXPECT_EQ(BatchCaster(kF32, find_format(name)->spec, {.overflow = overflow}).tier(), BatchTier::simd) << name;
    }
  }
}

TEST(Batch, EveryLengthAndAlignmentWritesItsCodesAndNothingElse) {
  constexpr std::size_t kMargin = 80;
  std::vector<std::uint32_t> source(600);
  std::mt19937 bits(7);
  for (auto& word : source) word = (static_cast<std::uint32_t>(bits()) & 0x83ffffffu) + 0x3c000000u;
  for (const char* target : {"e4m3", "ue4m3", "e8m0", "int8", "f16"}) {
    const FormatSpec to = find_format(target)->spec;
    const CastPolicy policy = permissive(Rounding::ties_to_even, Overflow::saturate);
    const BatchCaster caster(kF32, to, policy);
    at_every_level([&] {
      for (std::size_t length = 0; length <= 200; ++length) {
        const std::size_t shift = length * 7 % 67;
        const auto in = std::span(source).subspan(shift, length);
        for (const BatchStore store : {BatchStore::cached, BatchStore::streaming}) {
          const auto check = [&]<class Code>(Code) {
            std::vector<Code> buffer(length + 2 * kMargin, Code{0xa5});
            const auto out = std::span(buffer).subspan(shift, length);
            ASSERT_EQ(caster.run(in, out, {.store = store}), (BatchResult{length, Refusal::none}));
            for (std::size_t i = 0; i < buffer.size(); ++i) {
              const bool inside = i >= shift && i < shift + length;
              const std::uint64_t want = inside ? cast(kF32, source[i], to, policy).code : 0xa5;
              ASSERT_EQ(buffer[i], want) << target << " length " << length << " at " << i;
            }
          };
          if (to.storage_bytes() == 1) check(std::uint8_t{});
          if (to.storage_bytes() == 2) check(std::uint16_t{});
        }
      }
    });
    if (HasFailure()) return;
  }
}

TEST(Batch, TheFirstRefusedElementIsNamed) {
  struct Case {
    const char* to;
    std::uint32_t refused;
    Refusal why;
  };
  constexpr Case cases[] = {{"e2m1", 0x7fc00000, Refusal::nan},      {"e2m1", 0xff800001, Refusal::nan},
                            {"ue4m3", 0xbf800000, Refusal::negative}, {"ue4m3", 0x80000001, Refusal::negative},
                            {"int8", 0x7fc00000, Refusal::nan},       {"e8m0", 0x00000000, Refusal::zero},
                            {"e8m0", 0xff800000, Refusal::negative},  {"nf4", 0xffc00000, Refusal::nan}};
  for (const Case& c : cases) {
    const FormatSpec to = find_format(c.to)->spec;
    const BatchCaster caster(kF32, to);
    at_every_level([&] {
      for (const std::size_t position : {0u, 1u, 15u, 16u, 63u, 64u, 65u, 1000u, 4095u, 4096u, 4097u, 9000u, 9999u}) {
        std::vector<std::uint32_t> words(10000, 0x3f400000);
        words[position] = c.refused;
        words.back() = c.refused;
        std::vector<std::uint8_t> codes(words.size());
        ASSERT_EQ(caster.run(std::span(words), std::span(codes)), (BatchResult{position, c.why})) << c.to << " " << position;
        const std::uint64_t code = cast(kF32, words[0], to, CastPolicy{}).code;
        for (std::size_t i = 0; i < position; ++i) ASSERT_EQ(codes[i], code);
      }
    });
  }
}

TEST(Batch, DecodingIsTheCastToF32AtEveryLevel) {
  const auto codes = all_words<std::uint8_t>();
  for (const Format& from : narrow_formats()) {
    ASSERT_TRUE(decodes_exactly(from.spec)) << from.name;
    at_every_level([&] {
      for (std::size_t length = 256; length > 0; length -= length > 80 ? 17 : 1) {
        const auto in = std::span(codes).last(length);
        std::vector<std::uint32_t> words(length + 2, 0xdeadbeef);
        decode_batch(from.spec, in, std::span(words).subspan(1, length));
        for (std::size_t i = 0; i < length; ++i) {
          ASSERT_EQ(words[i + 1], cast(from.spec, in[i], kF32, CastPolicy{}).code) << from.name << " " << +in[i] << " " << simd_level();
        }
        ASSERT_TRUE(words.front() == 0xdeadbeef && words.back() == 0xdeadbeef);
      }
    });
    if (HasFailure()) return;
  }
  for (const std::string_view name : {"f16", "bf16"}) {
    const FormatSpec from = find_format(name)->spec;
    const auto halves = all_words<std::uint16_t>();
    expect_same<std::uint32_t>(detail::decoder(from), halves, expected(from, halves, kF32, CastPolicy{}), std::string(name));
  }
  EXPECT_THROW(detail::decoder(spec_of("f64")), std::invalid_argument);
  EXPECT_THROW(detail::decoder(spec_of("binary16p1se")), std::invalid_argument);
}

TEST(Batch, DecodesExactlyMeansNoNumberIsInexact) {
  for (const std::string_view name : {"binary16p1se", "binary16p8se", "binary15p7uf", "binary12p3se", "binary16p9ue", "f16", "bf16", "e8m0"}) {
    const FormatSpec from = find_format(name)->spec;
    bool exact = true;
    for (std::uint64_t code = 0; code < (1u << from.width); ++code) {
      const Unpacked x = unpack(from, code);
      if (x.number_class == NumberClass::infinity || x.number_class == NumberClass::nan) continue;
      exact = exact && cast(x, kF32, CastPolicy{}).flags % 2 == 0;
    }
    EXPECT_EQ(decodes_exactly(from), exact) << name;
  }
}

TEST(Batch, OtherCastsGoElementByElement) {
  std::mt19937_64 bits(11);
  std::vector<std::uint64_t> doubles(20000);
  std::vector<std::uint32_t> random(doubles.size()), floats(doubles.size());
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    doubles[i] = bits();
    random[i] = static_cast<std::uint32_t>(bits());
    floats[i] = static_cast<std::uint32_t>(bits());
  }
  const FormatSpec f64 = spec_of("f64");
  const CastPolicy policy = permissive(Rounding::ties_to_away, Overflow::overflow);
  expect_same<std::uint8_t>(BatchCaster(f64, spec_of("e4m3"), policy), doubles, expected(f64, doubles, spec_of("e4m3"), policy), "f64 e4m3");
  expect_same<std::uint32_t>(BatchCaster(f64, spec_of("tf32"), policy), doubles, expected(f64, doubles, spec_of("tf32"), policy), "f64 tf32");
  expect_same<std::uint16_t>(BatchCaster(kF32, spec_of("bf16"), policy), floats, expected(kF32, floats, spec_of("bf16"), policy), "f32 bf16");
  expect_same<std::uint64_t>(BatchCaster(kF32, f64, policy), floats, expected(kF32, floats, f64, policy), "f32 f64");

  for (const Stochastic variant : {Stochastic::A, Stochastic::B, Stochastic::C}) {
    const CastPolicy stochastic = {.rounding = Rounding::stochastic, .sr_variant = variant, .sr_bits = 7};
    std::vector<std::uint8_t> codes(floats.size());
    const BatchCaster caster(kF32, spec_of("e4m3"), stochastic);
    ASSERT_TRUE(caster.run(std::span(floats), std::span(codes), {.random = random}).ok());
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(codes[i], cast(kF32, floats[i], spec_of("e4m3"), stochastic, random[i]).code);
    }
    EXPECT_THROW(caster.run(std::span(floats), std::span(codes)), std::invalid_argument);
  }
}

TEST(Batch, WrongSpansAreErrors) {
  const BatchCaster caster(kF32, spec_of("e4m3"));
  std::vector<float> floats(4, 1.0f);
  std::vector<std::uint16_t> wide(4);
  std::vector<std::uint8_t> codes(4);
  EXPECT_TRUE(caster.run(std::span(floats), std::span(codes)).ok());
  EXPECT_EQ(codes[3], 0x38);
  EXPECT_THROW(caster.run(std::span(wide), std::span(codes)), std::invalid_argument);
  EXPECT_THROW(caster.run(std::span(floats), std::span(wide)), std::invalid_argument);
  EXPECT_THROW(caster.run(std::span(floats), std::span(codes).first(3)), std::invalid_argument);
  EXPECT_THROW(BatchCaster(kF32, FormatSpec{}), std::invalid_argument);
  EXPECT_FALSE(set_simd_level("no such level"));
}

TEST(Batch, FloatModesOfTheThreadDoNotMatterAndAreKept) {
  const CastPolicy policy = permissive(Rounding::ties_to_even, Overflow::saturate);
  const auto words = edge_words(spec_of("e5m2"), policy);
  const auto want = expected(kF32, words, spec_of("e5m2"), policy);
  const BatchCaster caster(kF32, spec_of("e5m2"), policy);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    std::feclearexcept(FE_ALL_EXCEPT);
#if defined(__SSE2__)
    const unsigned before = _mm_getcsr() | 0x8040u;  // flush to zero, denormals are zero
    _mm_setcsr(before);
#endif
    expect_same<std::uint8_t>(caster, words, want, "mode " + std::to_string(mode));
#if defined(__SSE2__)
    EXPECT_EQ(_mm_getcsr(), before);
    _mm_setcsr(before & ~0x8040u);
#endif
    EXPECT_EQ(std::fegetround(), mode);
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
    std::fesetround(FE_TONEAREST);
  }
}

}  // namespace
}  // namespace halfulp
