// The worked examples cell by cell, in rational arithmetic and by recipe: FP8 scales, KIVI, second copies,
// tables, smoothing. What recipes_cache_lessons_test.cpp and recipes_fp8_int8_cases_test.cpp state is not
// repeated.
#include <gtest/gtest.h>

#include <cmath>

#include "exact_grids.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/kv_cache.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_lines.hpp"

namespace halfulp::test {
namespace {

using recipes::Inputs;
using recipes::named_recipe;

Exact value_of_code(const char* format, std::uint64_t code) {
  return oracle::value_of(find_format(format)->spec, code).number();
}
std::uint64_t nearest_code(const Exact& x, const char* format, Overflow overflow = Overflow::saturate) {
  return oracle::nearest(oracle::value_from(x), find_format(format)->spec, {.overflow = overflow}).code;
}
std::string digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}
/// A percentage of one number by another, to two places.
std::string percent(const Exact& part, const Exact& whole) {
  const Exact ratio = part / whole;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                100 * std::stod(ratio.numerator_string()) / std::stod(ratio.denominator_string()));
  return text;
}

struct Cell {
  const char *x, *quotient;
  std::uint64_t code;
  const char *value, *value_f32;
};

/// x / s, its E4M3 code and the code's value times s, all exact; and the recipe's values in binary32.
void check_cells(const std::vector<Cell>& cells, const Exact& s, const char* recipe,
                 const Inputs& inputs = {}) {
  std::vector<double> x;
  for (const Cell& cell : cells) {
    EXPECT_EQ(fraction(cell.x) / s, fraction(cell.quotient)) << cell.x;
    EXPECT_EQ(nearest_code(fraction(cell.quotient), "e4m3"), cell.code) << cell.x;
    EXPECT_EQ(value_of_code("e4m3", cell.code) * s, fraction(cell.value)) << cell.x;
    x.push_back(numbers(cell.x)[0]);
  }
  const recipes::TensorView row{1, static_cast<std::int64_t>(x.size()), x};
  const recipes::Quantized q = recipes::quantize(named_recipe(recipe), row, inputs);
  const std::vector<double> values = recipes::dequantize(named_recipe(recipe), q, inputs);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(q.codes[i], cells[i].code) << cells[i].x;
    EXPECT_EQ(digits(values[i]), cells[i].value_f32) << cells[i].x;
  }
}

TEST(WorkedScales, Dynamic) {
  for (const char* recipe : {"fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native"}) {
    check_cells({{"0.01", "7/5", 0x3b, "11/1120", "0.00982142892"},
                 {"-0.8", "-112", 0xee, "-4/5", "-0.800000012"},
                 {"3.2", "448", 0x7e, "16/5", "3.20000005"}},
                fraction("1/140"), recipe);
    check_cells({{"2", "224/45", 0x4a, "225/112", "2.00892854"},
                 {"-45", "-112", 0xee, "-45", "-45"},
                 {"180", "448", 0x7e, "180", "180"}},
                fraction("45/112"), recipe);
  }
  EXPECT_EQ(fraction("3.2") / Exact(448), fraction("1/140"));
  EXPECT_EQ(fraction("180") / Exact(448), fraction("45/112"));
  EXPECT_EQ(value_of_code("e4m3", 0x3b), fraction("1.375"));  // 1.4 lies between it and the next
  EXPECT_EQ(value_of_code("e4m3", 0x3c), fraction("1.5"));
  EXPECT_EQ(percent(fraction("0.01") - fraction("11/1120"), fraction("0.01")), "1.79");
}

TEST(WorkedScales, Static) {
  const Exact s = fraction("120") / Exact(448);
  EXPECT_EQ(s, fraction("15/56"));
  const double s32 = 0x1.124924p-2;
  EXPECT_EQ(numbers("15/56")[0], s32);
  EXPECT_EQ(1.0f / static_cast<float>(s32), 0x1.dddddep+1f);
  check_cells({{"0.01", "14/375", 0x12, "75/7168", "0.0104631688"},
               {"-0.8", "-224/75", 0xc4, "-45/56", "-0.803571403"},
               {"3.2", "896/75", 0x54, "45/14", "3.21428561"},
               {"2", "112/15", 0x4f, "225/112", "2.00892854"},
               {"-45", "-168", 0xf2, "-300/7", "-42.8571396"},
               {"180", "672", 0x7e, "120", "120"}},
              s, "fp8_static/vllm", {{"scale", {s32}}});
  EXPECT_EQ(nearest_code(Exact(672), "e4m3", Overflow::overflow), 0x7fu);
  EXPECT_EQ(nearest_code(Exact(672), "e5m2", Overflow::overflow), 0x61u);
  EXPECT_EQ(value_of_code("e5m2", 0x61), Exact(640));
  const oracle::Neighbours around = oracle::neighbours(oracle::value_from(Exact(-168)), spec_of("e4m3"));
  EXPECT_EQ(around.low, Exact(160));  // a tie, and 160 is the even one
  EXPECT_EQ(around.high, Exact(176));
  EXPECT_TRUE(around.low_is_even);
  EXPECT_EQ(percent(fraction("75/7168") - fraction("0.01"), fraction("0.01")), "4.63");
  EXPECT_EQ(percent(Exact(45) - fraction("300/7"), Exact(45)), "4.76");
  for (const char* x :
       {"0.01", "-0.8", "3.2", "2", "-45", "180"}) {  // x / s and x * (1 / s) agree on these
    const auto number = static_cast<float>(numbers(x)[0]), scale = static_cast<float>(s32);
    const auto code = [](float y) { return nearest_code(Exact::from_double(y), "e4m3"); };
    EXPECT_EQ(code(number / scale), code(number * (1.0f / scale))) << x;
  }
}

TEST(WorkedScales, One) {
  const std::vector<std::pair<const char*, std::pair<std::uint64_t, const char*>>> rows = {
      {"0.001", {0x01, "0.001953125"}}, {"2^-10", {0x00, "0"}}, {"0x1.000002p-10", {0x01, "0.001953125"}},
      {"3/1024", {0x02, "0.00390625"}}, {"448", {0x7e, "448"}}, {"464", {0x7e, "448"}}};
  for (const auto& [x, answer] : rows) {
    for (const Overflow overflow : {Overflow::saturate, Overflow::overflow})
      EXPECT_EQ(nearest_code(fraction(x), "e4m3", overflow), answer.first) << x;
    EXPECT_EQ(value_of_code("e4m3", answer.first), fraction(answer.second)) << x;
  }
  for (const char* x : {"465", "500"}) {
    EXPECT_EQ(nearest_code(fraction(x), "e4m3"), 0x7eu);
    EXPECT_EQ(nearest_code(fraction(x), "e4m3", Overflow::overflow), 0x7fu);
  }
}

Matrix matrix_of(const std::string& text) {
  Matrix m;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';');) m.push_back(vector_of(row));
  return m;
}

struct GridRow {
  const char *zero, *scale, *codes, *points;
};

void check_grids(const Matrix& rows, const std::vector<GridRow>& expected) {
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Grid g = real_minimum(rows[i], 3);
    EXPECT_EQ(g.zero, fraction(expected[i].zero)) << i;
    EXPECT_EQ(g.scale, fraction(expected[i].scale)) << i;
    EXPECT_EQ(g.codes, vector_of(expected[i].codes)) << i;
    Vector points;
    for (int code = 0; code < 4; ++code) points.push_back(g.zero + Exact(code) * g.scale);
    if (*expected[i].points != 0) {
      EXPECT_EQ(points, vector_of(expected[i].points)) << i;
    }
  }
}

TEST(WorkedKivi, Grids) {
  const Matrix k = matrix_of("0.4 -0.2 9 0.1;-0.3 0.5 11 -0.4;0.2 -0.6 10 0.3;0.5 0.1 12 -0.2");
  check_grids(k, {{"-1/5", "46/15", "0 0 3 0", "-1/5 43/15 89/15 9"},
                  {"-2/5", "19/5", "0 0 3 0", "-2/5 17/5 36/5 11"},
                  {"-3/5", "53/15", "0 0 3 0", "-3/5 44/15 97/15 10"},
                  {"-1/5", "61/15", "0 0 3 0", "-1/5 58/15 119/15 12"}});
  check_grids(transposed(k), {{"-3/10", "4/15", "3 0 2 3", "-3/10 -1/30 7/30 1/2"},
                              {"-3/5", "11/30", "1 3 0 2", "-3/5 -7/30 2/15 1/2"},
                              {"9", "1", "0 2 1 3", "9 10 11 12"},
                              {"-2/5", "7/30", "2 0 3 1", "-2/5 -1/6 1/15 3/10"}});
}

TEST(WorkedKivi, SecondPair) {
  const Matrix k = matrix_of("0.1 0.2 8 0.1;0.3 0.1 9 0.2;0.2 0.3 7.5 0.1"),
               v = matrix_of("0.5 0.3 0.4 0.6;2 1.8 2.1 1.9;0.1 0.2 0.1 0.3");
  check_grids(transposed(k), {{"0.1", "1/15", "0 3 2", ""},
                              {"0.1", "1/15", "2 0 3", ""},
                              {"7.5", "1/2", "1 3 0", ""},
                              {"0.1", "1/30", "0 3 0", ""}});
  check_grids(
      k,
      {{"0.1", "79/30", "0 0 3 0", ""}, {"0.1", "89/30", "0 0 3 0", ""}, {"0.1", "37/15", "0 0 3 0", ""}});
  check_grids(
      v, {{"0.3", "1/10", "2 0 1 3", ""}, {"1.8", "1/10", "2 0 3 1", ""}, {"0.1", "1/15", "0 2 0 3", ""}});
  check_grids(transposed(v), {{"0.1", "19/30", "1 3 0", ""},
                              {"0.2", "8/15", "0 3 0", ""},
                              {"0.1", "2/3", "0 3 0", ""},
                              {"0.3", "8/15", "1 3 0", ""}});
  const Exact half = Exact::pow2(-1);  // the three ties, at 1.5
  EXPECT_EQ((fraction("0.2") - fraction("0.1")) / fraction("1/15"), Exact(1) + half);
  EXPECT_EQ((v[2][1] - fraction("0.1")) / fraction("1/15"), Exact(1) + half);
}

TEST(WorkedKivi, RequestCounts) {
  const Exact cache = Exact(320) * Exact(4096) / Exact(1 << 20);  // GiB at 320 KiB per token
  EXPECT_EQ(cache, fraction("1.25"));
  const auto fit = [&](const Exact& room, int bits) {
    return (room / (cache * Exact(bits) / Exact(16))).floor();
  };
  const Exact bytes = Exact(45'000'000'000) / Exact(1 << 30);
  EXPECT_EQ((Vector{fit(45, 16), fit(45, 8), fit(45, 4)}), vector_of("36 72 144"));
  EXPECT_EQ((Vector{fit(bytes, 16), fit(bytes, 8), fit(bytes, 4)}), vector_of("33 67 134"));
  EXPECT_EQ((Vector{fit(45, 5), fit(45, 3)}), vector_of("115 192"));
  recipes::KiviCache groups({.element = "uint2", .group = 64, .residual = 64, .channels = 64});
  for (int i = 0; i < 200; ++i) groups.append(0, std::vector<double>(64, i), std::vector<double>(64, i));
  EXPECT_EQ(groups.quantized_keys(0).blocks.rows, 192);
  EXPECT_EQ(groups.exact_keys(0), 8);
}

TEST(WorkedCopies, Nvfp4) {
  const auto& row = named_recipe("nvfp4/transformer_engine");
  const Inputs amax = {{recipes::kTensorAmax, {6}}};
  EXPECT_EQ(line(row, "6 0.4", amax), "7e 7 1");
  EXPECT_EQ(line(row, "0.4 0", amax), "5f 7 0");
  EXPECT_EQ(value_of_code("ue4m3", 0x7e), Exact(448));
  EXPECT_EQ(value_of_code("ue4m3", 0x5f), Exact(30));
  const float g = 2688.0f / 6;
  EXPECT_EQ(1.0f / (448.0f * (1.0f / g)), 1.0f);
  EXPECT_EQ(1.0f / (30.0f * (1.0f / g)), 0x1.dddddcp+3f);
  const auto read = [&](const char* literals, std::size_t i) {
    const std::vector<double> x = numbers(literals);
    const recipes::TensorView view{1, static_cast<std::int64_t>(x.size()), x};
    return recipes::dequantize(row, recipes::quantize(row, view, amax), amax).at(i);
  };
  EXPECT_EQ(read("6 0.4", 1), 0.5);
  EXPECT_EQ(digits(read("0.4 0", 0)), "0.401785702");
}

TEST(WorkedTable, Cells) {
  const Vector table = vector_of("-1 -1/3 1/3 1");
  const Exact low = -1, high = 2, off = (high + low) / Exact(2), range = (high - low) / Exact(2);
  EXPECT_EQ(off, fraction("1/2"));
  EXPECT_EQ(range, fraction("3/2"));
  struct Row {
    const char *x, *scaled;
    int code;
    const char* value;
    bool strict, inclusive;
  };
  const Row rows[] = {{"-1", "-1", 0, "-1", false, true},   {"-1/4", "-1/2", 1, "0", false, false},
                      {"0", "-1/3", 1, "0", false, false},  {"1/2", "0", 1, "0", false, false},
                      {"3/4", "1/6", 2, "1", false, false}, {"2", "1", 3, "2", false, true},
                      {"16", "31/3", -1, "16", true, true}};
  for (const Row& row : rows) {
    const Exact x = fraction(row.x), y = (x - off) / range;
    EXPECT_EQ(y, fraction(row.scaled)) << row.x;
    EXPECT_EQ(x < low || x > high, row.strict) << row.x;
    EXPECT_EQ(x <= low || x >= high, row.inclusive) << row.x;
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < table.size(); ++i) {
      if ((y - table[i]).abs() < (y - table[nearest]).abs()) nearest = i;  // the first minimum wins
    }
    if (row.code >= 0) {
      EXPECT_EQ(nearest, static_cast<std::size_t>(row.code)) << row.x;
    }
    EXPECT_EQ(row.strict ? x : table[nearest] * range + off, fraction(row.value)) << row.x;
  }
}

TEST(WorkedSmoothing, Cells) {
  const Vector x = vector_of("16 1/20"), w = vector_of("1/4 1"), factors = vector_of("8 1");
  EXPECT_EQ(factors[0] * factors[0], Exact(16) / fraction("1/4"));
  EXPECT_EQ(dot(x, w), fraction("81/20"));
  const Grid plain = symmetric(x, 127), smoothed = symmetric({x[0] / factors[0], x[1] / factors[1]}, 127);
  const Vector smoothed_weights = {w[0] * factors[0], w[1] * factors[1]};
  EXPECT_EQ(plain.codes, vector_of("127 0"));
  EXPECT_EQ(dot(plain.values, w), Exact(4));
  EXPECT_EQ(smoothed.codes, vector_of("127 3"));
  EXPECT_EQ(dot(smoothed.values, smoothed_weights), fraction("514/127"));
  EXPECT_EQ(percent(fraction("514/127"), Exact(100)), "4.05");
  const auto codes = [](const char* recipe, const Inputs& inputs) {
    const std::string text = line(named_recipe(recipe), "16 0.05", inputs);
    return text.substr(text.find(' ') + 1);
  };
  const std::vector<double> smooth = {8, 1};
  const auto calibrated = [](double amax) { return in_format(spec_of("f16"), amax / 127); };
  EXPECT_EQ(codes("smoothquant/o1", {}), "7f 00");
  EXPECT_EQ(codes("smoothquant/o1", {{"smooth", smooth}}), "7f 03");
  EXPECT_EQ(codes("smoothquant/o3", {{"smooth", smooth}, {"scale", {calibrated(2)}}}), "7f 03");
  EXPECT_EQ(codes("smoothquant/o3", {{"smooth", smooth}, {"scale", {calibrated(1)}}}), "7f 06");
  EXPECT_EQ(fraction("6/127") < fraction("0.05"), true);
  const auto& factor = named_recipe("smoothquant/factor");
  const Inputs weights = {{"wmax", {0.25, 1}}};
  const std::vector<double> maxima = {16, 1};
  EXPECT_EQ(recipes::dequantize(factor, recipes::quantize(factor, {1, 2, maxima}, weights), weights),
            (std::vector<double>{8, 1}));
  EXPECT_EQ(in_format(spec_of("f16"), 1e-5), 0x1.5p-17);
  EXPECT_EQ(in_format(spec_of("f16"), 0x1.5p-17 / 127), 0x1p-24);
  EXPECT_EQ(line(named_recipe("smoothquant/o1"), "0 0").substr(0, 2),
            "01");  // the scale of a zero row, 2^-24
}

}  // namespace
}  // namespace halfulp::test
