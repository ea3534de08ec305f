// accumulation_study [--k K] [--rows M] [--columns N] [--seed S]: what 13 fraction bits cost a long sum.
//
// A (M x K) and B (N x K), N(0,1) or U(0,1), rounded to E4M3; D by the Hopper FP8 unit in one chain and promoted every
// 128 products, against the exact sum. Relative errors per element, and of the whole matrix (Frobenius);
// and the largest error against the root mean square of the sums, which no cancellation blows up.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <thread>
#include <vector>

#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace {

using namespace halfulp;  // NOLINT: one program

constexpr FormatSpec kE4m3 = spec_of("e4m3"), kF32 = spec_of("f32");

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Uniform in (0, 1), 53 bits, by SplitMix64.
  double uniform() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::uint64_t state_;
};

struct Matrix {
  std::vector<std::byte> codes;
  std::vector<double> values;
};

Matrix make(std::size_t count, bool normal, Random& random) {
  Matrix x;
  for (std::size_t i = 0; i < count; ++i) {
    const auto f = static_cast<float>(normal ? random.normal() : random.uniform());
    const auto code = cast(kF32, std::bit_cast<std::uint32_t>(f), kE4m3, CastPolicy{}).code;
    x.codes.push_back(static_cast<std::byte>(code));
    x.values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(cast(kE4m3, code, kF32, CastPolicy{}).code)));
  }
  return x;
}

double at(const std::vector<double>& sorted, double quantile) {
  return sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))];
}

void report(const char* inputs, const char* order, const std::vector<double>& exact, const std::vector<std::uint32_t>& words) {
  std::vector<double> errors;
  double error_square = 0, square = 0, largest_error = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::bit_cast<float>(words[i]) - exact[i];
    largest_error = std::max(largest_error, std::fabs(error));
    if (exact[i] != 0) errors.push_back(std::fabs(error / exact[i]));
    error_square += error * error;
    square += exact[i] * exact[i];
  }
  std::sort(errors.begin(), errors.end());
  const double rms = std::sqrt(square / static_cast<double>(exact.size()));
  std::printf("%-8s %-18s %12.3e %12.3e %12.3e %12.3e %12.3e\n", inputs, order, at(errors, 0.5), at(errors, 0.99), errors.back(),
              std::sqrt(error_square / square), largest_error / rms);
}

std::uint64_t argument(int argc, char** argv, const char* name, std::uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t k = argument(argc, argv, "--k", 4096), m = argument(argc, argv, "--rows", 512), n = argument(argc, argv, "--columns", 512);
  const std::uint64_t seed = argument(argc, argv, "--seed", 20260101);
  if (k == 0 || m == 0 || n == 0 || k > 131072) {
    std::fputs("accumulation_study: K from 1 to 131072, M and N from 1\n", stderr);  // up to there a double sum is exact
    return 2;
  }
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::printf("K = %zu, %zu x %zu elements, seed %llu; hopper_fp8_wgmma, E4M3; errors relative to the exact sum\n", k, m, n,
              static_cast<unsigned long long>(seed));
  std::printf("%-8s %-18s %12s %12s %12s %12s %12s\n", "inputs", "order", "median", "p99", "maximum", "Frobenius", "largest/rms");
  for (const bool normal : {true, false}) {
    Random random(seed);
    const Matrix a = make(m * k, normal, random), b = make(n * k, normal, random);
    std::vector<double> exact(m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;  // products are multiples of 2^-18 below 2^18: exact for 2^17 terms
        for (std::size_t p = 0; p < k; ++p) sum += a.values[i * k + p] * b.values[j * k + p];
        exact[i * n + j] = sum;
      }
    }
    for (const int interval : {0, 128}) {
      const auto spec = accumulation::make_spec({.model = "hopper_fp8_wgmma", .interval = interval});
      const auto words = accumulation::gemm_sums({spec, {a.codes, m, k}, {b.codes, n, k}, {}, {}, {}}, threads);
      report(normal ? "N(0,1)" : "U(0,1)", interval == 0 ? "one chain" : "promoted every 128", exact, words);
    }
  }
  return 0;
}
