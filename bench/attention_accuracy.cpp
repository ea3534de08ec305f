// Accuracy studies of quantized attention on generated data with channel outliers; `attention_accuracy [SEED]`.
//
// Data: N(0, 1) times the size of its channel; 4 of 128 channels of K are 20 times larger. Errors are root mean squares
// relative to that of the true scores or outputs, which are softmax attention of the unrounded data in double.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace {

using namespace halfulp;
using Values = std::vector<double>;
using vectors::blocks::Random;

constexpr std::size_t kDim = 128, kOutliers = 4, kQueries = 16;
constexpr double kOutlierSize = 20, kSoftmaxScale = 0.08838834764831845;  // 1/sqrt(128)

struct Data {
  std::size_t keys = 0;
  Values q, k, v;  ///< rows of kDim, numbers of float32
};

double f32(double x) { return static_cast<double>(static_cast<float>(x)); }

/// `recent`: how much queries lean towards the last keys.
Data make_data(std::size_t keys, double k_gain, double recent, std::uint64_t seed) {
  Random random(seed);
  Data data{keys, {}, {}, {}};
  Values size(kDim, 1);
  for (std::size_t i = 0; i < kOutliers; ++i) size[i * 31 + 3] = kOutlierSize;
  for (std::size_t i = 0; i < keys * kDim; ++i) {
    data.k.push_back(f32(k_gain * size[i % kDim] * random.normal()));
    data.v.push_back(f32(random.normal() + 0.5));
  }
  for (std::size_t row = 0; row < kQueries; ++row) {
    const std::size_t near = keys - 1 - row;
    for (std::size_t d = 0; d < kDim; ++d)
      data.q.push_back(f32((random.normal() + recent * data.k[near * kDim + d] / (k_gain * size[d])) / (k_gain * size[d])));
  }
  return data;
}

Values scores(const Data& data, const Values& k) {
  Values all;
  for (std::size_t row = 0; row < kQueries; ++row) {
    for (std::size_t key = 0; key < data.keys; ++key) {
      double sum = 0;
      for (std::size_t d = 0; d < kDim; ++d) sum += data.q[row * kDim + d] * k[key * kDim + d];
      all.push_back(sum * kSoftmaxScale);
    }
  }
  return all;
}

Values attention_of(const Data& data, const Values& S, const Values& v) {
  Values O;
  for (std::size_t row = 0; row < kQueries; ++row) {
    const auto begin = S.begin() + static_cast<std::ptrdiff_t>(row * data.keys), end = begin + static_cast<std::ptrdiff_t>(data.keys);
    const double most = *std::max_element(begin, end);
    Values weights;
    double sum = 0;
    for (auto s = begin; s != end; ++s) sum += weights.emplace_back(std::exp(*s - most));
    for (std::size_t d = 0; d < kDim; ++d) {
      double o = 0;
      for (std::size_t key = 0; key < data.keys; ++key) o += weights[key] * v[key * kDim + d];
      O.push_back(o / sum);
    }
  }
  return O;
}

double relative(const Values& got, const Values& want) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    off += (got[i] - want[i]) * (got[i] - want[i]);
    all += want[i] * want[i];
  }
  return std::sqrt(off / all);
}

Values through(const char* recipe_name, const Values& x, std::size_t rows) {
  const recipes::QuantRecipe& recipe = recipes::named_recipe(recipe_name);
  return recipes::dequantize(recipe, recipes::quantize(recipe, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(kDim), x}));
}

Values through_fp8(const Values& x, double scale) {
  Values y;
  constexpr FormatSpec e4m3 = spec_of("e4m3");
  for (const double value : x) y.push_back(scale * vectors::blocks::in_format(e4m3, f32(value / scale)));
  return y;
}

void print_row(const char* what, const Data& data, const Values& k, const Values& v) {
  const Values S = scores(data, data.k), O = attention_of(data, S, data.v), Sq = scores(data, k);
  std::printf("  %-44s K %8.4f %%   scores %8.4f %%   output %8.4f %%\n", what, 100 * relative(k, data.k), 100 * relative(Sq, S), 100 * relative(attention_of(data, Sq, v), O));
}

void study_keys(std::uint64_t seed) {
  std::printf("Keys per token or per channel, 2 bits in groups of 32 (kivi/v against kivi/k), 1024 keys\n");
  const Data data = make_data(1024, 1, 0, seed);
  print_row("per channel, 32 tokens", data, through("kivi/k", data.k, data.keys), data.v);
  print_row("per token, 32 channels", data, through("kivi/v", data.k, data.keys), data.v);
}

void study_scale(std::uint64_t seed) {
  std::printf("FP8 keys: scale 1.0 or calibrated to amax/448, 1024 keys\n");
  for (const double gain : {1.0, 0.01, 0.0002, 30.0}) {
    const Data data = make_data(1024, gain, 0, seed);
    double amax = 0;
    for (const double x : data.k) amax = std::max(amax, std::fabs(x));
    char label[64];
    std::snprintf(label, sizeof label, "size %g, scale 1.0", gain);
    print_row(label, data, through_fp8(data.k, 1), data.v);
    std::snprintf(label, sizeof label, "size %g, scale amax/448", gain);
    print_row(label, data, through_fp8(data.k, f32(amax / 448)), data.v);
  }
}

void study_residual(std::uint64_t seed) {
  std::printf("KIVI: last tokens kept exact, 2-bit keys and values, 1024 keys, queries that look at recent keys\n");
  const Data data = make_data(1024, 1, 0.6, seed);
  const Values k = through("kivi/k", data.k, data.keys), v = through("kivi/v", data.v, data.keys);
  for (const std::size_t residual : {std::size_t{0}, std::size_t{32}, std::size_t{128}}) {
    Values mixed_k = k, mixed_v = v;
    for (std::size_t i = (data.keys - residual) * kDim; i < data.keys * kDim; ++i) {
      mixed_k[i] = data.k[i];
      mixed_v[i] = data.v[i];
    }
    print_row((std::to_string(residual) + " exact").c_str(), data, mixed_k, mixed_v);
  }
}

/// The same codes through units of 13 and 25 fraction bits; V around 0.5, so that truncation does not cancel.
void study_accumulation(std::uint64_t seed) {
  std::printf("Accumulation of P V: largest and mean relative error against exact sums of the same P codes, flat scores\n");
  for (const std::size_t keys : {std::size_t{1024}, std::size_t{8192}, std::size_t{32768}}) {
    Random random(seed);
    constexpr FormatSpec e4m3 = spec_of("e4m3");
    std::vector<std::uint32_t> q(kDim, 0), k(keys * kDim, 0), v;
    constexpr std::size_t kWidth = 16;
    for (std::size_t i = 0; i < keys * kWidth; ++i) v.push_back(static_cast<std::uint32_t>(vectors::blocks::code_of(e4m3, 0.5 + random.uniform())));
    Values exact(kWidth, 0);
    for (std::size_t i = 0; i < v.size(); ++i) exact[i % kWidth] += static_cast<double>(attention::value_of(e4m3, v[i])) / static_cast<double>(keys);
    for (const char* kernel : {"fa3_like", "fa3_like_two_level", "fa4_like"}) {
      const attention::KernelSpec spec = attention::parse_spec(kernel);
      const attention::Stages stages = attention::run(spec, {{1, 1, 1, keys, kDim, kWidth}, q, k, v, {}, {}, {}});
      double largest = 0, mean = 0;
      for (std::size_t d = 0; d < kWidth; ++d) {
        const double off = static_cast<double>(std::bit_cast<float>(stages.O[d])) / exact[d] - 1;
        largest = std::max(largest, std::fabs(off));
        mean += off / kWidth;
      }
      std::printf("  %6zu keys  %-20s %-44s largest %9.5f %%   mean %9.5f %%\n", keys, kernel,
                  spec.pv_model == "hopper_fp8_wgmma" ? (spec.pv == attention::PvMode::chained ? "13 bits, chained" : "13 bits, promoted every 128 keys") : "25 bits, chained",
                  100 * largest, 100 * mean);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 7;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  study_keys(seed);
  study_scale(seed);
  study_residual(seed);
  study_accumulation(seed);
}
