// bench_accumulation [--quick] [Google Benchmark's options]: tensor-core models in GMAC/s at every vector level beside the
// scalar engine, a whole 4096^3 product, and exact dot products against cpp_rational.
#include <boost/multiprecision/cpp_int.hpp>
#include <chrono>
#include <random>
#include <string>

#include "goal.hpp"
#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/value.hpp"

namespace halfulp::bench {
namespace {

using namespace accumulation;  // NOLINT: one program

/// Random matrices of a spec: exponents near the middle of the format, block scales of 1.
struct Product {
  Product(const MmaSpec& spec, std::size_t m, std::size_t n, std::size_t k) : a(codes(spec.a, m * k, 1)), b(codes(spec.b, n * k, 2)) {
    const auto block = static_cast<std::size_t>(scale_block(spec));
    if (block != 0) {
      const std::uint32_t one = scale_format(spec).exponent_bits == 8 ? 0x7f : 0x38;
      scale_a.assign(m * (k / block), one);
      scale_b.assign(n * (k / block), one);
    }
    problem = {spec, {a, m, k}, {b, n, k}, {scale_a, 1}, {scale_b, 1}, {}};
  }

  static std::vector<std::byte> codes(const FormatSpec& format, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto bytes = static_cast<std::size_t>(format.storage_bytes());
    std::vector<std::byte> words(count * bytes);
    const std::uint64_t fields = std::uint64_t{1} << format.exponent_bits, middle = static_cast<std::uint64_t>(format.bias);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t field = fields <= 8 ? random() % (fields - 1) : middle - 3 + random() % 7;
      const std::uint64_t code = ((random() & 1) << (format.width - 1)) | (field << format.fraction_bits) | (random() & ((std::uint64_t{1} << format.fraction_bits) - 1));
      const auto word = static_cast<std::uint32_t>(code << format.storage_shift);
      std::memcpy(&words[i * bytes], &word, bytes);  // little-endian
    }
    return words;
  }

  std::uint32_t word(const std::vector<std::byte>& words, const FormatSpec& format, std::size_t i) const {
    const auto bytes = std::min<std::size_t>(4, static_cast<std::size_t>(format.storage_bytes()));
    std::uint32_t word = 0;
    std::memcpy(&word, &words[i * bytes], bytes);
    return word;
  }

  /// Some elements against the exact twin.
  void check() const {
    const MmaSpec& spec = problem.spec;
    const std::size_t m = problem.a.rows, n = problem.b.rows, k = problem.a.k;
    const auto d = gemm_sums(problem);
    std::vector<std::uint32_t> x(k), y(k);
    for (std::size_t i = 0; i < m * n; i += m * n / 16 + 1) {
      for (std::size_t p = 0; p < k; ++p) {
        x[p] = word(a, spec.a, i / n * k + p);
        y[p] = word(b, spec.b, i % n * k + p);
      }
      const std::size_t blocks = scale_a.size() / m;
      if (dot_exact(spec, {x, y, 0, std::span(scale_a).first(blocks), std::span(scale_b).first(blocks)}) != d[i]) throw Skip{"WRONG RESULT"};
    }
  }

  std::vector<std::byte> a, b;
  std::vector<std::uint32_t> scale_a, scale_b;
  GemmProblem problem;
};

Kernel kernel_at(const Product& product, const std::string& level) {
  const GemmProblem& p = product.problem;
  return {[&p, level] {
            set_simd_level(level);
            benchmark::DoNotOptimize(gemm_sums(p));
            set_simd_level("");
          },
          static_cast<double>(p.a.rows) * static_cast<double>(p.b.rows) * static_cast<double>(p.a.k)};
}

/// GMAC/s at a level; the reference speed that is printed beside it is the scalar engine's.
Comparison speed_at(const std::string& model, const std::string& level) {
  if (!set_simd_level(level)) throw Skip{"this processor or build has no " + level};
  const Product product(make_spec({.model = model}), 64, 256, 4096);
  product.check();
  Comparison c = compare(kernel_at(product, level), kernel_at(product, "SCALAR"));
  c.ratio = c.elements_per_second / 1e9;
  return c;
}

Comparison whole_product(std::size_t side) {
  const Product product(make_spec({.model = "hopper_fp8_wgmma"}), side, side, side);
  const auto start = std::chrono::steady_clock::now();
  benchmark::DoNotOptimize(gemm_sums(product.problem, 2));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double macs = static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
  return {seconds.count(), seconds.count(), macs / seconds.count(), 0};
}

using Rational = boost::multiprecision::cpp_rational;

/// How the engine is asked: words, rows decoded before, or a matrix of dots of such rows.
enum class Asked : std::uint8_t { codes, decoded, matrix };

/// Dot products of 128 E4M3 codes: the engine against cpp_rational, whose values are looked up.
Comparison exact_dots(Asked asked) {
  constexpr FormatSpec kE4m3 = spec_of("e4m3");
  constexpr std::size_t kLength = 128, kDots = 16, kPeerDots = 4;  // stay in the first cache
  const auto words_of = [](std::uint64_t seed) {
    const auto bytes = Product::codes(spec_of("e4m3"), kLength * kDots, seed);
    std::vector<std::uint32_t> words;
    for (const std::byte byte : bytes) words.push_back(static_cast<std::uint32_t>(byte));
    return words;
  };
  const auto a = words_of(3), b = words_of(4);
  std::vector<Rational> values;
  for (std::uint32_t code = 0; code < 256; ++code) {
    const auto value = oracle::value_of(kE4m3, code);
    const auto number = value.is_finite() ? value.number() : oracle::Exact();
    values.emplace_back(Rational(boost::multiprecision::cpp_int(number.numerator_string()), boost::multiprecision::cpp_int(number.denominator_string())));
  }
  const ExactDot dot(kE4m3, kE4m3);
  const auto peer = [&](std::size_t i) {
    Rational sum = 0;
    for (std::size_t k = i * kLength; k < (i + 1) * kLength; ++k) sum += values[a[k]] * values[b[k]];
    return sum;
  };
  const auto part = [](const std::vector<std::uint32_t>& words, std::size_t i) { return std::span(words).subspan(i * kLength, kLength); };
  std::vector<ExactDot::Decoded> of_a, of_b;
  for (std::size_t i = 0; i < kDots; ++i) {
    of_a.push_back(dot.decoded_a(part(a, i)));
    of_b.push_back(dot.decoded_b(part(b, i)));
  }
  constexpr std::size_t kRows = 16;  // a matrix of kRows x kDots
  std::vector<ExactUnpacked> matrix(kRows * kDots);
  const auto fill = [&] { dot.values(std::span(of_a).first(kRows), of_b, matrix); };
  if (asked == Asked::matrix) fill();
  const auto ours = [&](std::size_t i) {
    if (asked == Asked::codes) return dot.value(part(a, i), part(b, i));
    if (asked == Asked::decoded) return dot.value(of_a[i], of_b[i]);
    return matrix[i * kDots + i];
  };
  for (std::size_t i = 0; i < kPeerDots; ++i) {
    const ExactUnpacked x = ours(i);
    Rational value = static_cast<std::uint64_t>(x.significand >> 64);
    value = value * Rational(boost::multiprecision::cpp_int(1) << 64) + static_cast<std::uint64_t>(x.significand);
    const boost::multiprecision::cpp_int power = boost::multiprecision::cpp_int(1) << static_cast<unsigned>(std::abs(x.exponent));
    value = x.exponent >= 0 ? Rational(value * power) : Rational(value / power);
    if ((x.negative ? Rational(-value) : value) != peer(i)) throw Skip{"WRONG RESULT"};
  }
  constexpr int kTurns = 160;  // a turn must be long beside the clock
  const auto all_ours = [&] {
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < kDots; ++i) benchmark::DoNotOptimize(ours(i));
    }
  };
  const auto matrices = [&] {
    for (int turn = 0; turn < kTurns; ++turn) {
      fill();
      benchmark::DoNotOptimize(matrix.data());
      benchmark::ClobberMemory();
    }
  };
  const std::size_t dots = asked == Asked::matrix ? kRows * kDots : kDots;
  const Kernel subject = {asked == Asked::matrix ? std::function<void()>(matrices) : all_ours, static_cast<double>(dots * kTurns)};
  return compare(subject, {[&] {
                             for (int turn = 0; turn < kTurns; ++turn) {
                               for (std::size_t i = 0; i < kPeerDots; ++i) benchmark::DoNotOptimize(peer(i));
                             }
                           },
                           static_cast<double>(kPeerDots * kTurns)});
}

}  // namespace

void add_goals(bool quick) {
  struct Row {
    const char *model, *level;
    double goal;
  };
  const Row rows[] = {{"hopper_fp8_wgmma", "AVX3_DL", 10}, {"hopper_fp8_wgmma", "AVX3", 10},  {"hopper_fp8_wgmma", "AVX2", 4},
                      {"hopper_fp8_wgmma", "SCALAR", 0.3}, {"hopper_f16", "AVX3", 0.5},       {"hopper_f16", "AVX2", 0.5},
                      {"blackwell_mxf8f6f4", "AVX3", 0.5}, {"blackwell_mxf8f6f4", "AVX2", 0.5}, {"blackwell_mxf4nvf4", "AVX2", 0.5},
                      {"ampere_f16", "AVX2", 0.5},         {"ampere_tf32", "AVX2", 0.5},        {"volta_f16", "AVX2", 0.5},
                      {"ada_fp8", "AVX2", 0.5},            {"hopper_fp8_mma_sync", "AVX2", 0.5}, {"blackwell_f8f6f4", "AVX2", 0.5},
                      {"blackwell_mxf4", "AVX2", 0.5}};
  for (const Row& row : rows) {
    add_goal("accumulate/" + std::string(row.model) + "/" + row.level, row.goal, "GMAC/s", [=] { return speed_at(row.model, row.level); });
  }
  const std::size_t side = quick ? 1024 : 4096;
  add_goal("accumulate/hopper_fp8_wgmma/" + std::to_string(side) + "^3/2_threads", quick ? 1 : 20, "s (at most)", [=] { return whole_product(side); });
  add_goal("exact_dot/e4m3/128/codes", 250, "times cpp_rational", [] { return exact_dots(Asked::codes); });
  add_goal("exact_dot/e4m3/128/decoded", 1500, "times cpp_rational", [] { return exact_dots(Asked::decoded); });
  add_goal("exact_dot/e4m3/128/matrix", 1500, "times cpp_rational", [] { return exact_dots(Asked::matrix); });
}

}  // namespace halfulp::bench
