// The worked examples about caches, rotations and tables, to their stated digits: in rational arithmetic
// and by recipe.
#include <gtest/gtest.h>

#include <cmath>

#include "exact_grids.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/error_report.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_lines.hpp"

namespace halfulp::test {
namespace {

using recipes::named_recipe;
using recipes::QuantRecipe;

double f16(double x) {
  return in_format(spec_of("f16"), x);
}

/// A matrix of literals, each rounded to `format`; rows separated by ";".
Tensor tensor_of(const std::string& text, std::string_view format) {
  Tensor tensor;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';');) {
    const std::vector<double> values = numbers(row, find_format(format)->spec);
    tensor.values.insert(tensor.values.end(), values.begin(), values.end());
    ++tensor.rows;
  }
  tensor.columns = static_cast<std::int64_t>(tensor.values.size()) / tensor.rows;
  return tensor;
}
Matrix matrix_of(const std::string& text) {
  Matrix m;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';');) m.push_back(vector_of(row));
  return m;
}

/// One row or column by engine and twin.
struct Result {
  recipes::Quantized quantized;
  std::vector<double> values;
};
Result run(const QuantRecipe& recipe, const Tensor& tensor, const recipes::Inputs& inputs = {}) {
  Result result{recipes::quantize(recipe, tensor.view(), inputs), {}};
  EXPECT_EQ(result.quantized, recipes::quantize_exact(recipe, tensor.view(), inputs));
  result.values = recipes::dequantize(recipe, result.quantized, inputs);
  return result;
}
double scale_of(const QuantRecipe& recipe, const Result& result, std::size_t block = 0) {
  return number_of(recipe.scale.format, result.quantized.scales.at(block));
}
using Codes = std::vector<std::uint64_t>;

/// A percentage to `digits` places, as printed.
std::string percent(const Exact& squared_error, const Exact& squared_norm, int digits) {
  const std::string parts[] = {(squared_error / squared_norm).numerator_string(),
                               (squared_error / squared_norm).denominator_string()};
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits,
                100 * std::sqrt(std::stod(parts[0]) / std::stod(parts[1])));
  return text;
}

const std::string kK = "0.4 -0.2 9 0.1;-0.3 0.5 11 -0.4;0.2 -0.6 10 0.3;0.5 0.1 12 -0.2";

TEST(LessonScaleOne, Table) {
  const QuantRecipe& recipe = named_recipe("kv_fp8/scale_1");
  EXPECT_EQ(line(recipe, "0.001 0x1p-10 0x1.000002p-10 0x1.8p-9 448 464 465 500 -500 inf nan"),
            "- 01 00 01 02 7e 7e 7e 7e fe 7e 7f");
  const Result r = run(recipe, tensor_of("0.001 0x1p-10 0x1.8p-9 500", "f32"));
  EXPECT_EQ(r.values, (std::vector<double>{0x1p-9, 0, 0x1p-8, 448}));
  EXPECT_EQ((fraction("2^-9") - fraction("0.001")) / fraction("0.001"), fraction("61/64"));
}

TEST(LessonKivi, ExactPerTokenAndPerChannel) {
  const Matrix k = matrix_of(kK);
  const Vector q = vector_of("1 1 0.1 1");
  EXPECT_EQ(scores(k, q), vector_of("6/5 9/10 9/10 8/5"));
  const Matrix tokens = by_rows(k, real_minimum, 3), channels = by_columns(k, real_minimum, 3);
  EXPECT_EQ(tokens, matrix_of("-1/5 -1/5 9 -1/5;-2/5 -2/5 11 -2/5;-3/5 -3/5 10 -3/5;-1/5 -1/5 12 -1/5"));
  const char* steps[] = {"46/15", "19/5", "53/15", "61/15"};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(real_minimum(k[t], 3).scale, fraction(steps[t]));
    EXPECT_EQ(real_minimum(k[t], 3).codes, vector_of("0 0 3 0"));
  }
  EXPECT_EQ(scores(tokens, q), vector_of("3/10 -1/10 -4/5 3/5"));
  EXPECT_EQ(largest({scores(difference(tokens, k), q)}), fraction("17/10"));
  EXPECT_EQ(transposed(channels),
            matrix_of("1/2 -3/10 7/30 1/2;-7/30 1/2 -3/5 2/15;9 11 10 12;1/15 -2/5 3/10 -1/6"));
  EXPECT_EQ(scores(channels, q), vector_of("37/30 9/10 14/15 5/3"));
  EXPECT_EQ(largest({scores(difference(channels, k), q)}), fraction("1/15"));
  EXPECT_EQ(squared_norm(k), fraction("895/2"));
  EXPECT_EQ(squared_norm(difference(tokens, k)), fraction("33/10"));
  EXPECT_EQ(squared_norm(difference(channels, k)), fraction("7/450"));
  EXPECT_EQ(percent(fraction("33/10"), fraction("895/2"), 3), "8.587");
  EXPECT_EQ(percent(fraction("7/450"), fraction("895/2"), 4), "0.5896");
}

TEST(LessonKivi, RecipeInHalf) {
  const QuantRecipe& recipe = named_recipe("kivi/k");
  const Tensor k = tensor_of(kK, "f16");
  const Result r = run(recipe, k);
  EXPECT_EQ(r.quantized.codes, (Codes{3, 1, 0, 2, 0, 3, 2, 0, 2, 0, 1, 3, 3, 2, 3, 1}));
  const double steps[] = {0x1.11p-2, 0x1.774p-2, 1, 0x1.dep-3};
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(scale_of(recipe, r, c), steps[c]);
  const double channel[] = {0x1.ffcp-2, -0x1.334p-2, 0x1.dd8p-3, 0x1.ffcp-2};
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(r.values[4 * t], channel[t]);
  // The other axis on the same keys: one group per token.
  EXPECT_EQ(run(named_recipe("kivi/v"), k).quantized.codes,
            (Codes{0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0}));
}

TEST(LessonKivi, ScoresNotNorms) {
  const Tensor k = tensor_of(kK, "f16"), q = tensor_of("1 1 0.1 1", "f16");
  const auto report = [&](std::string_view name) {
    return recipes::score_errors(q.view(), k.view(), run(named_recipe(name), k).values);
  };
  EXPECT_NEAR(report("kivi/v").largest_error(), 1.7, 0.005);
  EXPECT_NEAR(report("kivi/k").largest_error(), 1.0 / 15, 0.005);
  EXPECT_EQ(report("kivi/v").largest_at, 2u);
}

TEST(LessonKivi, IntegerZeroPoint) {
  const Matrix k = matrix_of(kK);
  const Vector q = vector_of("1 1 0.1 1");
  const Matrix t = transposed(k), channels = by_columns(k, zero_point, 3),
               tokens = by_rows(k, zero_point, 3);
  const Matrix expected =
      matrix_of("8/15 -4/15 4/15 8/15;-11/30 11/30 -11/15 0;8 12 8 12;0 -7/15 7/30 -7/30");
  const Matrix scale_and_zero = matrix_of("4/15 1;11/30 2;4 0;7/30 2"),
               codes = matrix_of("3 0 2 3;1 3 0 2;2 3 2 3;2 0 3 1");
  for (std::size_t c = 0; c < 4; ++c) {
    const Grid g = zero_point(t[c], 3);
    EXPECT_EQ((Vector{g.scale, g.zero}), scale_and_zero[c]);
    EXPECT_EQ(g.codes, codes[c]);
    EXPECT_EQ(g.values, expected[c]);
    // The recipe in binary32 finds the same codes and zero point.
    Tensor column = filled(1, 4, 0);
    for (std::size_t i = 0; i < 4; ++i)
      column.values[i] = std::stod(t[c][i].numerator_string()) / std::stod(t[c][i].denominator_string());
    for (double& x : column.values) x = in_format(spec_of("f32"), x);
    const Result r = run(named_recipe("int_asym/zero_point", "uint2"), column);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(Exact::from_unsigned(r.quantized.codes[i]), codes[c][i]) << c << " " << i;
    EXPECT_EQ(Exact::from_unsigned(r.quantized.zeros.at(0)), scale_and_zero[c][1]);
  }
  EXPECT_EQ(scores(channels, q), vector_of("29/30 5/6 17/30 3/2"));
  EXPECT_EQ(scores(tokens, q), vector_of("23/25 57/50 53/50 61/50"));
  EXPECT_EQ(percent(squared_norm(difference(channels, k)), squared_norm(k), 2), "11.69");
  EXPECT_EQ(percent(squared_norm(difference(tokens, k)), squared_norm(k), 2), "6.85");
}

TEST(LessonSecondPair, BothWays) {
  const std::string keys = "0.1 0.2 8 0.1;0.3 0.1 9 0.2;0.2 0.3 7.5 0.1",
                    values = "0.5 0.3 0.4 0.6;2 1.8 2.1 1.9;0.1 0.2 0.1 0.3";
  const Matrix k = matrix_of(keys), v = matrix_of(values);
  const auto errors = [](const Matrix& m, bool channels, auto quantizer, int levels, int digits) {
    const Matrix read = channels ? by_columns(m, quantizer, levels) : by_rows(m, quantizer, levels);
    return percent(squared_norm(difference(read, m)), squared_norm(m), digits);
  };
  const auto most = [](const Matrix& m, bool channels) {
    return largest(difference(channels ? by_columns(m, real_minimum, 3) : by_rows(m, real_minimum, 3), m));
  };
  EXPECT_EQ(errors(k, true, real_minimum, 3, 3), "0.332");
  EXPECT_EQ(errors(k, false, real_minimum, 3, 3), "2.336");
  EXPECT_EQ(errors(v, false, real_minimum, 3, 3), "0.826");
  EXPECT_EQ(errors(v, true, real_minimum, 3, 3), "11.331");
  EXPECT_EQ(errors(k, true, real_minimum, 15, 4), "0.0664");
  EXPECT_EQ(errors(k, false, real_minimum, 15, 3), "2.336");
  EXPECT_EQ(errors(v, false, real_minimum, 15, 3), "0.165");
  EXPECT_EQ(errors(v, true, real_minimum, 15, 3), "1.096");
  EXPECT_EQ(most(k, true), fraction("1/30"));
  EXPECT_EQ(most(k, false), fraction("1/5"));
  EXPECT_EQ(most(v, false), fraction("1/30"));
  EXPECT_EQ(most(v, true), fraction("3/10"));
  EXPECT_EQ(errors(k, true, symmetric, 127, 3), "0.101");
  EXPECT_EQ(errors(k, false, symmetric, 127, 3), "0.424");
  EXPECT_EQ(errors(v, false, symmetric, 127, 3), "0.109");
  EXPECT_EQ(errors(v, true, symmetric, 127, 3), "0.204");
  EXPECT_EQ(symmetric(transposed(k)[2], 127).codes, vector_of("113 127 106"));
  const char* exact_codes[] = {"0 3 2", "2 0 3", "1 3 0", "0 3 0"};
  for (std::size_t c = 0; c < 4; ++c)
    EXPECT_EQ(real_minimum(transposed(k)[c], 3).codes, vector_of(exact_codes[c]));
  EXPECT_EQ(real_minimum(v[2], 3).codes, vector_of("0 2 0 3"));

  // Three exact ties at 1.5 go the other way in binary16.
  const Result half = run(named_recipe("kivi/k"), tensor_of(keys, "f16"));
  EXPECT_EQ(half.quantized.codes, (Codes{0, 1, 1, 0, 3, 0, 3, 3, 1, 3, 0, 0}));
  EXPECT_EQ(half.values[8], 0x1.558p-3);
  const Result rows = run(named_recipe("kivi/v"), tensor_of(values, "f16"));
  EXPECT_EQ(rows.quantized.codes, (Codes{2, 0, 1, 3, 2, 0, 3, 1, 0, 1, 0, 3}));
}

TEST(LessonRotation, SymmetricAndAsymmetric) {
  const Vector k = vector_of("0.4 -0.2 9 0.1"), q = vector_of("1 1 0.1 1");
  const auto rotate = [](const Vector& x) {
    Vector y = x;
    for (std::size_t stride = 1; stride < y.size(); stride *= 2) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        if ((i & stride) != 0) continue;
        const Exact a = y[i], b = y[i + stride];
        y[i] = a + b;
        y[i + stride] = a - b;
      }
    }
    for (Exact& e : y) e *= Exact::pow2(-1);
    return y;
  };
  const Vector rk = rotate(k), rq = rotate(q);
  EXPECT_EQ(rk, vector_of("93/20 19/4 -89/20 -83/20"));
  EXPECT_EQ(rq, vector_of("31/20 -9/20 9/20 9/20"));
  EXPECT_EQ(dot(k, q), fraction("6/5"));
  EXPECT_EQ(dot(rk, rq), fraction("6/5"));
  const Grid plain = symmetric(k, 7), rotated = symmetric(rk, 7);
  EXPECT_EQ(plain.scale, fraction("9/7"));
  EXPECT_EQ(plain.codes, vector_of("0 0 7 0"));
  EXPECT_EQ(dot(plain.values, q), fraction("9/10"));
  EXPECT_EQ(rotated.scale, fraction("19/28"));
  EXPECT_EQ(rotated.codes, vector_of("7 7 -7 -6"));
  EXPECT_EQ(rotated.values, vector_of("19/4 19/4 -19/4 -57/14"));
  EXPECT_EQ(dot(rotated.values, rq), fraction("703/560"));
  EXPECT_EQ(rotate(rotated.values), vector_of("19/56 -19/56 513/56 19/56"));
  for (const auto& [x, y] : {std::pair(k, q), std::pair(rk, rq)}) {
    EXPECT_EQ(zero_point(x, 15).scale, fraction("46/75"));
    EXPECT_EQ(dot(zero_point(x, 15).values, y), fraction("23/15"));
  }
  // By recipe.
  EXPECT_EQ(line(named_recipe("int_sym/quarot"), "0.4 -0.2 9 0.1"), "3fa49249 0 0 7 0");
  EXPECT_EQ(run(named_recipe("int_sym/quarot"), tensor_of("4.65 4.75 -4.45 -4.15", "f16")).quantized.codes,
            (Codes{7, 7, 9, 10}));
  const Result r = run(named_recipe("quarot/k"), tensor_of("0.4 -0.2 9 0.1", "f16"));
  const Grid g = zero_point(rk, 15);
  double score = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Exact::from_unsigned(r.quantized.codes[i]), g.codes[i]);
    EXPECT_EQ(f16(r.values[i]), r.values[i]);
    score += r.values[i] * (i == 0 ? 1.55 : i == 1 ? -0.45 : 0.45);
  }
  EXPECT_NEAR(score, 23.0 / 15, 0.005);
}

TEST(LessonTable, OutliersAndEntries) {
  const QuantRecipe& recipe = named_recipe("kvquant/k", "uint2");
  const double third = in_format(spec_of("f32"), 1.0 / 3);
  recipes::Inputs inputs = {
      {"codebook", {-1, -third, third, 1}}, {"outlier_lower", {-1}}, {"outlier_upper", {2}}};
  Tensor x = tensor_of("-1;-0.25;0;0.5;0.75;2;16", "f32");
  const Result r = run(recipe, x, inputs);
  EXPECT_EQ(scale_of(recipe, r), 1.5);
  EXPECT_EQ(number_of(recipe.zero.format, r.quantized.zeros.at(0)), 0.5);
  EXPECT_EQ(Codes(r.quantized.codes.begin(), r.quantized.codes.end() - 1), (Codes{0, 1, 1, 1, 2, 3}));
  EXPECT_EQ(r.values, (std::vector<double>{-1, 0, 0, 0, 1, 2, 16}));
  ASSERT_EQ(r.quantized.kept.size(), 1u);  // strict: equal to a threshold is no outlier
  EXPECT_EQ(r.quantized.kept[0].index, 6);
  EXPECT_EQ(r.quantized.kept[0].value, 16);
}

}  // namespace
}  // namespace halfulp::test
