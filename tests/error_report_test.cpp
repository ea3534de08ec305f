// Error reports: exact sums, first largest error, what is left out, scores.
#include "halfulp/recipes/error_report.hpp"

#include <gtest/gtest.h>

#include "halfulp/error.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_data.hpp"

namespace halfulp::test {
namespace {

using oracle::Exact;
using recipes::ErrorReport;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ErrorReport, SmallNumbers) {
  const std::vector<double> x = {1, -2, 3, 4}, y = {1.5, -2, 2.5, 4};
  const ErrorReport r = recipes::compare(x, y);
  EXPECT_EQ(r.compared, 4u);
  EXPECT_EQ(r.largest_at, 0u);  // the first of equal ones
  EXPECT_EQ(r.largest_error(), 0.5);
  EXPECT_EQ(r.squared_error, Exact::pow2(-1));
  EXPECT_EQ(r.squared_norm, Exact(30));
  EXPECT_EQ(r.rms(), std::sqrt(0.125));
  EXPECT_EQ(r.relative(), std::sqrt(0.5 / 30));
  EXPECT_NEAR(r.sqnr_db(), 17.781512503836435, 1e-12);  // 10·log10(60)
  EXPECT_EQ(to_string(r),
            "compared        4\nInf or NaN      0\nlargest error   0.5 at 0\nrms error       0.353553391\n"
            "relative error  0.129099\nSQNR            17.78 dB\n");
}

TEST(ErrorReport, SumsAreExact) {  // binary64 would lose the small error beside the large one, in any order
  std::vector<double> x = {0x1p200, 0}, y = {0x1p200 * (1 + 0x1p-52), 0x1p-500};
  const ErrorReport r = recipes::compare(x, y);
  EXPECT_EQ(r.squared_error, Exact::pow2(296) + Exact::pow2(-1000));
  std::swap(x[0], x[1]);
  std::swap(y[0], y[1]);
  EXPECT_EQ(recipes::compare(x, y).squared_error, r.squared_error);
}

TEST(ErrorReport, InfAndNanAreLeftOut) {
  const std::vector<double> x = {kNan, 1, kInf, 2, 3}, y = {kNan, kInf, kInf, 2, 2};
  const ErrorReport r = recipes::compare(x, y);
  EXPECT_EQ(r.not_finite, 3u);
  EXPECT_EQ(r.compared, 2u);
  EXPECT_EQ(r.largest_at, 4u);
  EXPECT_EQ(r.squared_norm, Exact(13));
}

TEST(ErrorReport, NothingAndNoError) {
  const ErrorReport none = recipes::compare({}, {});
  EXPECT_EQ(none.compared, 0u);
  EXPECT_EQ(none.rms(), 0);
  EXPECT_EQ(none.sqnr_db(), kInf);
  const std::vector<double> zero = {0, -0.0}, one = {0, 1};
  EXPECT_EQ(recipes::compare(zero, zero).relative(), 0);
  EXPECT_EQ(recipes::compare(zero, one).relative(), kInf);
  EXPECT_EQ(recipes::compare(zero, one).sqnr_db(), -kInf);
  EXPECT_THROW(recipes::compare(zero, {}), InputError);
}

TEST(ErrorReport, Recipes) {  // the report of a recipe is that of its values; finer grids do better
  Random random(3);
  Tensor k = filled(64, 64, 0);
  for (double& x : k.values) x = in_format(spec_of("f16"), random.normal());
  const auto& coarse = recipes::named_recipe("kivi/k");
  const ErrorReport r = recipes::recipe_errors(coarse, k.view());
  const std::vector<double> read = recipes::dequantize(coarse, recipes::quantize(coarse, k.view()));
  EXPECT_EQ(r.squared_error, recipes::compare(k.values, read).squared_error);
  double plain = 0;
  for (std::size_t i = 0; i < read.size(); ++i) plain += (read[i] - k.values[i]) * (read[i] - k.values[i]);
  EXPECT_NEAR(r.rms(), std::sqrt(plain / 4096), 1e-12);
  EXPECT_GT(recipes::recipe_errors(recipes::named_recipe("ggml/q8_0"), k.view()).sqnr_db(),
            r.sqnr_db() + 20);
}

TEST(ErrorReport, Scores) {
  const std::vector<double> q = {1, 2, 0, -1}, k = {3, 4, 5, 6, 7, 8}, read = {3, 4.5, 5, 6, 6, 8};
  const ErrorReport r = recipes::score_errors({2, 2, q}, {3, 2, k}, read);
  // q0: 11 17 23 against 12 17 22; q1: -4 -6 -8 against -4.5 -6 -8
  EXPECT_EQ(r.compared, 6u);
  EXPECT_EQ(r.largest, Exact(1));
  EXPECT_EQ(r.largest_at, 0u);
  EXPECT_EQ(r.squared_error, Exact::ratio(9, 4));
  EXPECT_EQ(r.squared_norm, Exact(121 + 289 + 529 + 16 + 36 + 64));
  std::vector<double> broken = read;
  broken[2] = kInf;
  EXPECT_EQ(recipes::score_errors({2, 2, q}, {3, 2, k}, broken).not_finite, 2u);
  EXPECT_THROW(recipes::score_errors({2, 2, q}, {2, 3, k}, read), InputError);
}

TEST(ErrorReport, ScoreCancellationIsExact) {  // 2^100 - 2^100 + 1: binary64 in order would give 0 or 1
  const std::vector<double> q = {1, 1, 1}, k = {0x1p100, 1, -0x1p100}, read = {0x1p100, 0, -0x1p100};
  const ErrorReport r = recipes::score_errors({1, 3, q}, {1, 3, k}, read);
  EXPECT_EQ(r.squared_norm, Exact(1));
  EXPECT_EQ(r.largest, Exact(1));
}

}  // namespace
}  // namespace halfulp::test
