// Order-free rows are order-free, rows that only look so are refused, and no order passes the error bound.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "accumulation_rows.hpp"
#include "halfulp/accumulation/bounds.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/exact.hpp"
#include "halfulp/oracle/value.hpp"

namespace {

using namespace accumulation_rows;       // NOLINT: one test program
using namespace halfulp::accumulation;   // NOLINT
using halfulp::oracle::Exact;

/// The products of a row in another order. Only for rows without block scales.
OwnedRow shuffled(const Row& row, std::mt19937_64& random) {
  std::vector<std::size_t> order(row.a.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  OwnedRow other;
  for (const std::size_t k : order) {
    other.a.push_back(row.a[k]);
    other.b.push_back(row.b[k]);
  }
  other.c = row.c;
  return other;
}

Exact value(const FormatSpec& format, std::uint32_t word) { return halfulp::oracle::value_of(format, word).number(); }

Exact exact_sum(const MmaSpec& spec, const Row& row) {
  Exact sum = value(format_of(spec.output), row.c);
  for (std::size_t k = 0; k < row.a.size(); ++k) sum += value(spec.a, row.a[k]) * value(spec.b, row.b[k]);
  return sum;
}

TEST(OrderFreeRows, EveryModelOrderChunkAndPromotionGivesTheExactSum) {
  std::mt19937_64 random(1);
  int runs = 0;
  for (const char* format : {"e4m3", "e5m2", "f16", "bf16", "tf32", "e3m2", "e2m3"}) {
    // The narrowest unit that takes the format; a row that is order-free there is so everywhere.
    const bool fp8 = std::string(format) == "e4m3" || std::string(format) == "e5m2";
    const std::string narrowest = fp8 ? "hopper_fp8_wgmma" : std::string(format) == "tf32" ? "ampere_tf32" : std::string(format)[0] == 'e' ? "blackwell_f8f6f4" : "ampere_f16";
    const MmaSpec narrow = make_spec({.model = narrowest, .format_a = format, .format_b = format});
    for (const std::size_t k : {1u, 31u, 256u, 1820u, 4096u, 20000u}) {
      const ProbeRow probe = order_free_row(narrow, k, k);
      const auto want = std::bit_cast<std::uint32_t>(static_cast<float>(probe.sum));
      for (const AccumulationModel& model : models()) {
        const std::string inputs = " " + std::string(model.inputs) + " ", outputs = " " + std::string(model.outputs) + " ";
        if (inputs.find(" " + std::string(format) + " ") == std::string::npos || outputs.find(" f32 ") == std::string::npos || !model.scale.format.empty()) continue;
        for (const int interval : {0, 32, 128}) {
          const Engine engine(make_spec({.model = std::string(model.name), .format_a = format, .format_b = format, .output = "f32", .interval = interval}));
          const OwnedRow other = shuffled(probe.row(), random);
          EXPECT_EQ(engine.dot(probe.row()), want) << model.name << " " << format << " k " << k;
          EXPECT_EQ(engine.dot(other.row()), want) << model.name << " " << format << " k " << k << ", another order";
          runs += 2;
        }
      }
    }
  }
  std::printf("order-free: %d runs\n", runs);
}

TEST(OrderFreeRows, BlockScaledModelsToo) {
  for (const char* name : {"blackwell_mxf8f6f4", "blackwell_mxf4", "blackwell_mxf4nvf4"}) {
    const MmaSpec spec = make_spec({.model = name, .format_a = "e2m1", .format_b = "e2m1"});
    for (const std::size_t k : {16u, 64u, 1000u, 4096u}) {
      const ProbeRow probe = order_free_row(spec, k, k);
      EXPECT_EQ(Engine(spec).dot(probe.row()), std::bit_cast<std::uint32_t>(static_cast<float>(probe.sum))) << name << " k " << k;
    }
  }
}

TEST(OrderFreeRows, TheStatedLimitsOfE4m3) {
  const MmaSpec spec = make_spec({.model = "hopper_fp8_wgmma"});
  const auto verdict = [&spec](std::uint32_t code, std::size_t k) {
    const std::vector<std::uint32_t> words(k, code);
    return order_free(spec, {words, words, 0, {}, {}});
  };
  EXPECT_EQ(verdict(0x38, 16383), OrderFree::yes);  // 1
  EXPECT_EQ(verdict(0x38, 16384), OrderFree::range);
  EXPECT_EQ(verdict(0x44, 1820), OrderFree::yes);  // 3
  EXPECT_EQ(verdict(0x44, 1821), OrderFree::range);
}

TEST(OrderFreeRows, EachDroppedConditionHasItsCounterExample) {
  const MmaSpec bf16 = make_spec({.model = "hopper_f16", .format_a = "bf16", .format_b = "bf16"});
  const std::vector<std::uint32_t> a = {0x0000, 0x3800}, b = {0x7f00, 0x3800};  // 0 * 2^127 + 2^-15 * 2^-15
  EXPECT_EQ(order_free(bf16, {a, b, 0, {}, {}}), OrderFree::alignment);
  EXPECT_EQ(Engine(bf16).dot({a, b, 0, {}, {}}), 0u);
  MmaSpec rule_b = bf16;
  rule_b.zero_rule = ZeroRule::b;
  EXPECT_EQ(order_free(rule_b, {a, b, 0, {}, {}}), OrderFree::yes);
  EXPECT_EQ(Engine(rule_b).dot({a, b, 0, {}, {}}), 0x30800000u);

  const MmaSpec mxf4 = make_spec({.model = "blackwell_mxf4"});
  std::vector<std::uint32_t> ones(64, 0), scales = {0x7f, 0xfe}, unit = {0x7f, 0x7f};
  ones[0] = 0x2;
  EXPECT_EQ(order_free(mxf4, {ones, ones, 0, scales, unit}), OrderFree::alignment);  // a zero group at 2^127 beside 1 * 1
  EXPECT_EQ(Engine(mxf4).dot({ones, ones, 0, scales, unit}), 0u);
  EXPECT_EQ(order_free(mxf4, {ones, ones, 0, unit, unit}), OrderFree::yes);

  // A group 1*1 - 3*1 is a multiple of 1, not of the 4 that its magnitudes sum to; beside 2^25 its last bit is out of range.
  std::vector<std::uint32_t> pair(64, 0), other(64, 0), high = {0x7f, 0x98};
  pair[0] = pair[32] = other[0] = other[1] = other[32] = 0x2;
  pair[1] = 0xd;
  EXPECT_EQ(order_free(mxf4, {pair, other, 0, high, unit}), OrderFree::range);

  const MmaSpec wgmma = make_spec({.model = "hopper_fp8_wgmma"});
  const std::vector<std::uint32_t> wide = {0x38, 0x04}, same = {0x38, 0x04};  // 1 + 2^-14
  EXPECT_EQ(order_free(wgmma, {wide, same, 0, {}, {}}), OrderFree::alignment);
  EXPECT_EQ(order_free(wgmma, {wide, same, 0x7f800000, {}, {}}), OrderFree::special);
  const MmaSpec f16 = make_spec({.model = "hopper_f16", .output = "f16"});
  const std::vector<std::uint32_t> tiny = {0x0001}, one = {0x3800};  // 2^-24 * 0.5
  EXPECT_NE(order_free(f16, {tiny, one, 0, {}, {}}), OrderFree::yes);
  const std::vector<std::uint32_t> big = {0x5c00}, more = {0x5c00};  // 256 * 256
  EXPECT_EQ(order_free(f16, {big, more, 0, {}, {}}), OrderFree::overflow);
}

TEST(ErrorBounds, NoOrderPassesThem) {
  std::mt19937_64 random(3);
  double closest = 0;
  for (const char* name : {"hopper_fp8_wgmma", "ada_fp8", "hopper_fp8_mma_sync", "blackwell_f8f6f4", "hopper_f16", "ampere_tf32", "volta_f16"}) {
    for (MmaSpec spec : specs_of(find_model(name))) {
      for (const int interval : {0, 64}) {
        spec.interval = interval;
        const Engine engine(spec);
        RowMaker maker(spec, 11);
        for (int i = 0; i < 60; ++i) {
          const RowClass row_class = std::array{RowClass::near, RowClass::cancellation, RowClass::large_c, RowClass::extremes}[maker.below(4)];
          const OwnedRow owned = shuffled(maker.row(row_class, 1 + maker.below(150)).row(), random);
          const std::uint32_t word = engine.dot(owned.row());
          const auto result = halfulp::oracle::value_of(format_of(spec.output), word);
          if (!result.is_finite()) continue;  // overflow: the bound says nothing
          const double bound = error_bound(spec, owned.row());
          const Exact error = (result.number() - exact_sum(spec, owned.row())).abs();
          EXPECT_LE(error, Exact::from_double(bound)) << name << " " << name_of(row_class);
          if (!error.is_zero() && error.floor_log2() + 4 >= Exact::from_double(bound).floor_log2()) closest += 1;
        }
      }
    }
  }
  std::printf("error bounds: %.0f rows within 16x of the bound\n", closest);
  EXPECT_GT(closest, 10);  // the bound is not idle
}

TEST(ErrorBounds, ModelsWithoutOneAreRefused) {
  const MmaSpec cdna = make_spec({.model = "cdna3_f16"});
  EXPECT_THROW(error_bound(cdna, {}), std::invalid_argument);
  EXPECT_THROW(order_free(make_spec({.model = "f32_tree"}), {}), std::invalid_argument);
}

}  // namespace
