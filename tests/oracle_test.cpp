// The oracle's cast against rows worked out by hand and against the case file: inputs that broke real
// libraries.
#include "halfulp/oracle/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "halfulp/formats.hpp"

namespace {

using namespace halfulp;
using nlohmann::json;
using oracle::Exact;
using oracle::Value;
using oracle::ValueClass;

FormatSpec spec(std::string_view name) {
  return find_format(name).value().spec;
}

// ---- rows by hand ----

struct Row {
  std::string input;  ///< literal, or a code of `from`
  std::string from;   ///< "exact" or a format
  std::string to;
  CastPolicy policy;
  CastResult expected;
  std::string reason;
};

constexpr CastResult refused(Refusal why) {
  return {0, 0, why};
}
constexpr std::uint8_t kIU = kInexact | kUnderflow;
constexpr std::uint8_t kIO = kInexact | kOverflow;

// clang-format off
const std::vector<Row> kRows = {
    // nearest
    {"0.1", "exact", "e4m3", {}, {0x1d, kInexact}, "between 0.09375 and 0.1015625"},
    {"464", "exact", "e4m3", {}, {0x7e, kInexact | kTie}, "tie to the even code 7E"},
    {"464", "exact", "e4m3", {.overflow = Overflow::overflow}, {0x7e, kInexact | kTie}, "overflow is judged after rounding"},
    {"465", "exact", "e4m3", {}, {0x7e, kIO}, "OCP SAT"},
    {"-465", "exact", "e4m3", {.overflow = Overflow::overflow}, {0xff, kIO}, "OCP OVF: the NaN keeps the sign"},
    {"480", "exact", "e4m3", {.rounding = Rounding::toward_zero, .overflow = Overflow::overflow}, {0x7e, kIO}, "rounded inward: clamped"},
    {"479", "exact", "e4m3", {.rounding = Rounding::toward_zero, .overflow = Overflow::overflow}, {0x7e, kInexact}, "rounds to the largest: no overflow"},
    {"480", "exact", "e4m3", {.rounding = Rounding::toward_zero, .overflow = Overflow::overflow, .directed_overflow = DirectedOverflow::literal}, {0x7f, kIO}, "the literal reading of the OVF table"},
    {"449", "exact", "e4m3", {.rounding = Rounding::toward_positive, .overflow = Overflow::overflow}, {0x7f, kIO}, "rounded outward"},
    {"-449", "exact", "e4m3", {.rounding = Rounding::toward_positive, .overflow = Overflow::overflow}, {0xfe, kInexact}, "toward positive is inward for negatives"},
    {"-1000", "exact", "e4m3", {.rounding = Rounding::toward_positive, .overflow = Overflow::overflow}, {0xfe, kIO}, "inward: clamped"},
    {"1000", "exact", "e5m2", {.rounding = Rounding::toward_negative}, {0x63, kInexact}, "896, next is 1024"},
    {"1e30", "exact", "e5m2", {.rounding = Rounding::toward_negative, .overflow = Overflow::overflow}, {0x7b, kIO}, "inward: clamped"},
    {"-1e30", "exact", "e5m2", {.rounding = Rounding::toward_negative, .overflow = Overflow::overflow}, {0xfc, kIO}, "outward: -Inf"},
    {"57345", "exact", "e5m2", {.overflow = Overflow::overflow, .overflow_test = OverflowTest::before_rounding}, {0x7c, kIO}, "judged on the source"},
    {"57345", "exact", "e5m2", {.overflow_test = OverflowTest::before_rounding}, {0x7b, kInexact}, "matters only when not saturating"},
    {"57345", "exact", "e5m2", {.rounding = Rounding::toward_zero, .overflow = Overflow::overflow, .overflow_test = OverflowTest::before_rounding}, {0x7b, kIO}, "overflow, clamped"},
    {"7", "exact", "e2m1", {}, {0x7, kIO | kTie}, "the tie goes to 8, an even code: overflow"},
    {"0.25", "exact", "e2m1", {}, {0x0, kIU | kTie}, "tie to zero"},
    {"0.25", "exact", "e2m1", {.rounding = Rounding::ties_to_away}, {0x1, kIU | kTie | kSubnormal}, "tie away"},
    {"-0.2", "exact", "e2m1", {}, {0x8, kIU}, "a negative zero keeps its sign"},
    {"-0.0001", "exact", "e4m3fnuz", {}, {0x00, kIU}, "no -0"},
    {"-0", "exact", "e4m3fnuz", {}, {0x00, 0}, "no -0"},
    {"2^-9", "exact", "e4m3", {}, {0x01, kSubnormal}, "an exact subnormal is no underflow"},
    {"0.0146484375", "exact", "e4m3", {}, {0x08, kInexact | kTie}, "tie of the largest subnormal and the smallest normal"},
    {"3", "exact", "binary8p1se", {}, {0x42, kInexact | kTie}, "one bit of precision: the even code decides"},
    // to_odd
    {"0.1", "exact", "e4m3", {.rounding = Rounding::to_odd}, {0x1d, kInexact}, "odd neighbour 0.1015625"},
    {"0.09", "exact", "e4m3", {.rounding = Rounding::to_odd}, {0x1b, kInexact}, "odd neighbour 0.0859375 below"},
    {"449", "exact", "e4m3", {.rounding = Rounding::to_odd, .overflow = Overflow::overflow}, {0x7e, kIO}, "480 is odd: overflow, given inward"},
    {"449", "exact", "e4m3", {.rounding = Rounding::to_odd, .overflow = Overflow::overflow, .directed_overflow = DirectedOverflow::literal}, {0x7f, kIO}, "literal"},
    {"61440", "exact", "e5m2", {.rounding = Rounding::to_odd, .overflow = Overflow::overflow}, {0x7b, kInexact}, "the largest code is odd"},
    // Inf
    {"inf", "exact", "e4m3", {}, {0x7e, kInexact}, "OCP SAT"},
    {"-inf", "exact", "e4m3", {.overflow = Overflow::overflow}, {0xff, kInexact}, "OCP OVF"},
    {"inf", "exact", "e4m3", {.overflow = Overflow::saturate_keep_inf}, {0x7f, kInexact}, "no Inf: NaN"},
    {"-inf", "exact", "e5m2", {.overflow = Overflow::saturate_keep_inf}, {0xfc, 0}, "kept"},
    {"inf", "exact", "binary8p4sf", {.overflow = Overflow::saturate_keep_inf}, {0x7f, kInexact}, "P3109 finite format: largest"},
    {"inf", "exact", "binary8p4sf", {.overflow = Overflow::overflow}, {0x80, kInexact}, "NaN"},
    {"-inf", "exact", "binary8p4se", {.overflow = Overflow::overflow}, {0xff, 0}, "-Inf"},
    {"-inf", "exact", "e2m1", {}, {0xf, kInexact}, "max of its sign"},
    {"-inf", "exact", "e2m1", {.overflow = Overflow::overflow, .inf_none = InfNone::zero}, {0x8, kInexact}, "zero of its sign"},
    {"inf", "exact", "e2m1", {.inf_none = InfNone::error}, refused(Refusal::infinity), "refused"},
    {"-inf", "exact", "int8", {}, {0x80, kInexact}, "the full range"},
    {"inf", "exact", "f32", {.inf_record = InfRecord::unrecorded}, refused(Refusal::infinity_unrecorded), "not known"},
    {"inf", "exact", "e8m0", {.overflow = Overflow::overflow}, {0xff, kInexact}, "NaN"},
    // NaN
    {"nan", "exact", "e5m2", {}, {0x7e, 0}, "quiet"},
    {"-nan", "exact", "e5m2", {.nan_code = NanCode::ones}, {0xff, 0}, "ones"},
    {"-nan", "exact", "e4m3", {.nan_sign = NanSign::positive}, {0x7f, 0}, "sign dropped"},
    {"nan", "exact", "e4m3", {.nan_sign = NanSign::unrecorded}, refused(Refusal::nan_unrecorded), "not known"},
    {"0x7fa00000", "f32", "e5m2", {.nan_code = NanCode::payload}, {0x7f, 0}, "a signalling payload is quieted"},
    {"0x7f800001", "f32", "e5m2", {.nan_code = NanCode::payload}, {0x7e, 0}, "low payload bits are lost"},
    {"0xffe12345", "f32", "bf16", {.nan_code = NanCode::payload}, {0xffe1, 0}, "top payload bits kept"},
    {"0x7fa00000", "f32", "tf32", {.nan_code = NanCode::payload}, {0x7fe00000, 0}, "container word"},
    {"-nan", "exact", "e4m3fnuz", {.fnuz_nan = FnuzNan::signed_max}, {0xff, kInexact}, "a library fault, replayed"},
    {"nan", "exact", "e2m1", {}, refused(Refusal::nan), "no NaN rule named"},
    {"-nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_max}, {0x7, kInexact}, ""},
    {"-nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_signed_max}, {0xf, kInexact}, ""},
    {"-nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_zero}, {0x0, kInexact}, ""},
    {"-nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_signed_zero}, {0x8, kInexact}, ""},
    {"nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_negative_zero_flip}, {0x8, kInexact}, ""},
    {"-nan", "exact", "e2m1", {.nan_none = NanNone::nan_to_negative_zero_flip}, {0x0, kInexact}, ""},
    {"-nan", "exact", "ue4m3", {}, {0x7f, 0}, "a NaN is not a negative number"},
    // unsigned targets and E8M0
    {"-1", "exact", "ue4m3", {}, refused(Refusal::negative), "no rule named"},
    {"-1", "exact", "ue4m3", {.negative = Negative::abs}, {0x38, 0}, ""},
    {"-1", "exact", "ue4m3", {.negative = Negative::zero}, {0x00, 0}, ""},
    {"-inf", "exact", "ue4m3", {.negative = Negative::nan}, {0x7f, 0}, ""},
    {"-0", "exact", "ue4m3", {}, {0x00, 0}, "-0 is not negative"},
    {"-1", "exact", "uint8", {.negative = Negative::nan}, refused(Refusal::nan), "no NaN either"},
    {"-1", "exact", "e8m0", {.negative = Negative::zero}, refused(Refusal::zero), "and no zero"},
    {"-1", "exact", "e8m0", {.negative = Negative::zero, .zero = ZeroInto::min}, {0x00, kInexact}, ""},
    {"0", "exact", "e8m0", {}, refused(Refusal::zero), "no rule named"},
    {"-0", "exact", "e8m0", {.zero = ZeroInto::nan}, {0xff, kInexact}, ""},
    {"2^-300", "exact", "e8m0", {.rounding = Rounding::toward_positive}, {0x00, kInexact}, "below the grid: the smallest"},
    {"0x1.4p-127", "exact", "e8m0", {.low_binade = LowBinade::upward}, {0x01, kInexact}, ""},
    {"2^-127", "exact", "e8m0", {.low_binade = LowBinade::upward}, {0x00, 0}, "strictly between"},
    {"2^-127", "exact", "e8m0", {.low_binade = LowBinade::never_min}, {0x01, kInexact}, ""},
    {"2^-200", "exact", "e8m0", {.low_binade = LowBinade::never_min}, {0x01, kInexact}, ""},
    {"0x1.8p127", "exact", "e8m0", {.rounding = Rounding::ties_to_away, .overflow = Overflow::overflow}, {0xff, kIO | kTie}, ""},
    // flush
    {"0x00400000", "f32", "bf16", {.flush = Flush::in}, {0x0000, kIU}, "source subnormal"},
    {"0x80400000", "f32", "bf16", {.flush = Flush::in}, {0x8000, kIU}, "the zero keeps the sign"},
    {"0x00400000", "f32", "bf16", {.flush = Flush::out}, {0x0000, kIU}, "result subnormal"},
    {"0x00400000", "f32", "bf16", {}, {0x0040, kSubnormal}, "neither"},
    {"2^-140", "exact", "f32", {.flush = Flush::in}, {0x200, kSubnormal}, "an exact source has no subnormals"},
    {"0x80400000", "f32", "e8m0", {.negative = Negative::error, .zero = ZeroInto::min, .flush = Flush::both}, {0x00, kIU}, "flushed before its sign is looked at"},
    // integers and codebooks
    {"127.5", "exact", "int8", {}, {0x7f, kIO | kTie}, "the tie goes to 128"},
    {"-128.5", "exact", "int8", {}, {0x80, kInexact | kTie}, "the tie goes to -128"},
    {"-129", "exact", "int8", {}, {0x80, kIO}, "saturated"},
    {"-128", "exact", "int8_restricted", {}, {0x81, kIO}, "the restricted range"},
    {"0.4", "exact", "int8", {}, {0x00, kIU}, "rounded to zero"},
    {"-2.5", "exact", "int4", {}, {0xe, kInexact | kTie}, "ties to even"},
    {"-2", "exact", "mxint8", {}, {0x80, 0}, "-2 is the code 80"},
    {"1.5", "exact", "nf4", {}, {0xf, kIO}, "a codebook ends at its largest value"},
    {"-1.5", "exact", "nf4", {.rounding = Rounding::toward_zero}, {0x0, kIO}, "the same for every rounding"},
    {"0.0397901497781276702880859375", "exact", "nf4", {}, {0x8, kInexact | kTie}, "half of code 8: the even code"},
    {"40000", "exact", "hif8", {.rounding = Rounding::ties_to_away}, {0x6e, kInexact}, "below the tie at 1.25 * 2^15"},
    {"49152", "exact", "hif8", {.rounding = Rounding::ties_to_away, .overflow = Overflow::overflow}, {0x6f, kIO}, "1.5 * 2^15 is Inf"},
    {"inf", "exact", "hif8", {.rounding = Rounding::ties_to_away}, {0x6e, kInexact}, ""},
};
// clang-format on

TEST(Oracle, RowsByHand) {
  for (const Row& row : kRows) {
    const bool is_code = row.from != "exact";
    const Value x = is_code ? oracle::value_of(spec(row.from), std::stoull(row.input, nullptr, 16))
                            : oracle::parse_value(row.input).value();
    const CastResult got = oracle::nearest(x, spec(row.to), row.policy);
    EXPECT_EQ(got, row.expected) << row.from << " " << row.input << " -> " << row.to << " (" << row.reason
                                 << "): code " << std::hex << got.code << " flags " << int{got.flags}
                                 << " refusal " << static_cast<int>(got.refusal);
  }
}

TEST(Oracle, StochasticVariantsCarryAsTheirFormulasSay) {
  // For each of the four random numbers of 2 bits: 1 where the result is 1.125, 0 where it is 1.
  const auto carries = [](const char* literal, Stochastic variant) {
    const CastPolicy policy = {.rounding = Rounding::stochastic, .sr_variant = variant, .sr_bits = 2};
    std::string result;
    for (std::uint64_t r = 0; r < 4; ++r) {
      const auto code = oracle::nearest(oracle::parse_value(literal).value(), spec("e4m3"), policy, r).code;
      result += code == 0x39 ? '1' : '0';
    }
    return result;
  };
  // 1 + 3/64: nu = 3/8, 4 nu = 1.5.
  EXPECT_EQ(carries("67/64", Stochastic::A), "0001");  // 1 + r >= 4
  EXPECT_EQ(carries("67/64", Stochastic::B), "0011");  // 3 + 2r + 1 >= 8
  EXPECT_EQ(carries("67/64", Stochastic::C), "0011");  // 2 + r >= 4
  // 1 + 5/64: nu = 5/8, 4 nu = 2.5.
  EXPECT_EQ(carries("69/64", Stochastic::A), "0011");  // 2 + r >= 4
  EXPECT_EQ(carries("69/64", Stochastic::B), "0111");  // 5 + 2r + 1 >= 8
  EXPECT_EQ(carries("69/64", Stochastic::C), "0011");  // 2 + r >= 4
}

TEST(Oracle, StochasticRoundingUsesOnlyItsLowBits) {
  const CastPolicy policy = {.rounding = Rounding::stochastic, .sr_variant = Stochastic::A, .sr_bits = 3};
  const Value x = oracle::parse_value("67/64").value();
  for (std::uint64_t r = 0; r < 8; ++r) {
    EXPECT_EQ(oracle::nearest(x, spec("e4m3"), policy, r),
              oracle::nearest(x, spec("e4m3"), policy, r | 0xabcdef8));
  }
}

// ---- the case file ----

Rounding rounding_of(const std::string& word) {
  if (word == "ties_to_even") return Rounding::ties_to_even;
  if (word == "ties_to_away") return Rounding::ties_to_away;
  if (word == "toward_zero") return Rounding::toward_zero;
  if (word == "toward_positive") return Rounding::toward_positive;
  if (word == "toward_negative") return Rounding::toward_negative;
  if (word == "to_odd") return Rounding::to_odd;
  if (word == "stochastic") return Rounding::stochastic;
  throw std::invalid_argument("rounding " + word);
}

bool given(const json& row, const char* key) {
  return row.contains(key) && !row[key].is_null();
}

CastPolicy policy_of(const json& row) {
  CastPolicy policy = {.rounding = rounding_of(row["rounding"])};
  const std::string overflow = row["overflow"];
  policy.overflow = overflow == "saturate"   ? Overflow::saturate
                    : overflow == "overflow" ? Overflow::overflow
                                             : Overflow::saturate_keep_inf;
  EXPECT_EQ(row["nan"], "keep_sign");
  if (given(row, "directed_overflow") && row["directed_overflow"] == "literal") {
    policy.directed_overflow = DirectedOverflow::literal;
  }
  if (given(row, "sr")) {
    const std::string variant = row["sr"]["variant"];
    policy.sr_variant = variant == "A" ? Stochastic::A : variant == "B" ? Stochastic::B : Stochastic::C;
    policy.sr_bits = row["sr"]["bits"];
  }
  return policy;
}

Value input_of(const json& row) {
  const std::string from = row["from"];
  const std::string input = row["input"];
  if (from == "exact") return oracle::parse_value(input).value();
  return oracle::value_of(spec(from), std::stoull(input, nullptr, 16));
}

TEST(Oracle, EveryCaseWithoutADialectIsAnsweredAsRecorded) {
  std::ifstream file(HALFULP_SOURCE_DIR "/tests/data/scalar.json");
  ASSERT_TRUE(file) << "tests/data/scalar.json";
  int casts = 0;
  int decodes = 0;
  for (const json& row : json::parse(file)) {
    if (given(row, "dialect")) continue;
    SCOPED_TRACE(row["id"].get<std::string>());
    const Value x = input_of(row);
    const json expected = row["expected"].is_array() ? row["expected"] : json::array({row["expected"]});
    if (row["op"] == "decode") {
      ++decodes;
      EXPECT_EQ(oracle::to_string(x), expected[0].get<std::string>());
      continue;
    }
    ASSERT_EQ(row["op"], "cast");
    ++casts;
    const FormatSpec to = spec(row["to"].get<std::string>());
    const std::uint64_t r = given(row, "sr") ? row["sr"]["r"].get<std::uint64_t>() : 0;
    const CastResult got = oracle::nearest(x, to, policy_of(row), r);
    EXPECT_EQ(got.refusal, Refusal::none);
    const bool right = std::any_of(expected.begin(), expected.end(), [&](const json& one) {
      if (one == "nan") return oracle::value_of(to, got.code).cls == ValueClass::nan;
      return got.code == std::stoull(one.get<std::string>(), nullptr, 16);
    });
    EXPECT_TRUE(right) << "got " << std::hex << got.code << ", expected " << expected << ": "
                       << row["note"];
  }
  EXPECT_EQ(casts, 196);
  EXPECT_EQ(decodes, 8);
}

}  // namespace
