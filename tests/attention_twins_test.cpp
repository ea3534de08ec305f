// The attention engine equals its exact twin in every stage: a sample. 100 times more in attention_twins_exhaustive.cpp.
#include "attention_twins.hpp"

#include "halfulp/attention/detail/kernel_exact_number.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/transcendental.hpp"

namespace {

using namespace attention_twins;  // NOLINT: one test program
namespace exact = halfulp::attention::exact;

TEST(AttentionTwins, EngineIsTheTwinOnRandomSpecsAndProblems) { compare(600, 1); }

/// Every preset as it stands, over several of its tiles.
TEST(AttentionTwins, EngineIsTheTwinOnEveryPreset) {
  for (const auto& preset : halfulp::attention::presets()) {
    Random random(99);
    for (const Operands kind : {Operands::normal, Operands::outliers}) {
      const Shape shape{2, 1, 2, static_cast<std::size_t>(2 * preset.spec.tile + 5), 8, 2};
      const OwnedProblem problem = random_problem(random, preset.spec, shape, kind);
      const Stages engine = halfulp::attention::run(preset.spec, problem.view(), halfulp::attention::Keep::all);
      EXPECT_EQ(difference(engine, halfulp::attention::run_exact(preset.spec, problem.view())), "") << preset.spec.name;
    }
  }
}

/// The steps of the twin against IEEE 754 hardware and the oracle: they were written for the twin alone.
TEST(AttentionTwins, FloatStepsAreIeee) {
  Random random(5);
  const auto word = [&] {
    switch (random.below(6)) {
      case 0: return static_cast<std::uint32_t>(random.next() & 0x807fffff);                   // zeros and subnormals
      case 1: return static_cast<std::uint32_t>(0x7f800000 | (random.next() & 0x80000001));    // Inf, NaN
      case 2: return std::bit_cast<std::uint32_t>(static_cast<float>(random.normal()));
      default: return static_cast<std::uint32_t>(random.next());
    }
  };
  const auto bits = [](float x) { return x != x ? exact::kNan : std::bit_cast<std::uint32_t>(x); };
  for (int i = 0; i < 200'000; ++i) {
    const std::uint32_t a = word(), b = word(), c = word();
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = std::bit_cast<float>(c);
    ASSERT_EQ(exact::add(a, b), bits(x + y)) << std::hex << a << " " << b;
    ASSERT_EQ(exact::subtract(a, b), bits(x - y)) << std::hex << a << " " << b;
    ASSERT_EQ(exact::multiply(a, b), bits(x * y)) << std::hex << a << " " << b;
    ASSERT_EQ(exact::divide(a, b), bits(x / y)) << std::hex << a << " " << b;
    ASSERT_EQ(exact::fused(a, b, c), bits(std::fma(x, y, z))) << std::hex << a << " " << b << " " << c;
    ASSERT_EQ(exact::greater(a, b), x > y) << std::hex << a << " " << b;
  }
}

/// The twin's exp2 and tanh equal the functions of the engine, and lie within the stated distance of the correctly rounded values.
TEST(AttentionTwins, Exp2AndTanhAreTheDefinitions) {
  Random random(6);
  for (int i = 0; i < 60'000; ++i) {
    const float x =
        i % 4 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random.next())) : static_cast<float>(random.normal() * (i % 4 == 1 ? 40 : 0.5));
    const auto word = std::bit_cast<std::uint32_t>(x);
    ASSERT_EQ(exact::exp2(word), std::bit_cast<std::uint32_t>(halfulp::attention::exp2_p6(x))) << x;
    ASSERT_EQ(exact::tanh(word), std::bit_cast<std::uint32_t>(halfulp::attention::tanh_fma(x))) << x;
  }
  constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32");
  for (int i = 0; i < 3000; ++i) {
    const auto x = static_cast<float>(random.real() * 135 - 126);
    const auto value = halfulp::oracle::exp2_rounded(halfulp::oracle::value_of(kF32, std::bit_cast<std::uint32_t>(x)), kF32);
    const std::int64_t right = static_cast<std::int64_t>(halfulp::oracle::nearest(value, kF32, {}).code);
    EXPECT_LE(std::abs(static_cast<std::int64_t>(exact::exp2(std::bit_cast<std::uint32_t>(x))) - right), 1) << x;
  }
  EXPECT_EQ(exact::exp2(0xc1238d46), 0x3a5b7d5du);  // -10.221991, the note's check
}

}  // namespace
