// bench_attention [--quick] [Google Benchmark's options]: the reference kernel on one head, in seconds on two threads.
#include <chrono>
#include <random>
#include <string>

#include "goal.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::bench {
namespace {

using namespace attention;  // NOLINT: one program

/// One head, codes with exponents near the middle of the formats.
struct Head {
  Head(const KernelSpec& s, std::size_t queries, std::size_t keys, std::size_t dim)
      : spec(s), shape{1, 1, queries, keys, dim, dim}, q(codes(s.q_format, queries * dim, 1)), k(codes(s.k_format, keys * dim, 2)),
        v(codes(s.v_format, keys * dim, 3)) {}

  static std::vector<std::uint32_t> codes(const std::string& name, std::size_t count, std::uint64_t seed) {
    const FormatSpec format = find_format(name)->spec;
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words) {
      if (format.encoding == Encoding::floating) {
        const std::uint64_t field = static_cast<std::uint64_t>(format.bias) - 3 + random() % 4;
        word = static_cast<std::uint32_t>((random() & 1) << (format.width - 1) |
                                          field << format.fraction_bits |
                                          (random() & low_mask(format.fraction_bits)));
      } else {
        word = static_cast<std::uint32_t>(random() & low_mask(format.width));
      }
    }
    return words;
  }

  Stages run(unsigned threads) const { return attention::run(spec, {shape, q, k, v, {&L, 1}, {}, {}}, Keep::output, threads); }

  KernelSpec spec;
  Shape shape;
  std::vector<std::uint32_t> q, k, v;
  float L = 0.125f;
};

/// The scalar engine on a few rows must agree.
void check(const Head& head) {
  Head few = head;
  few.shape.queries = 2;
  few.shape.keys = 300;
  few.q.resize(2 * few.shape.head_dim);
  few.k.resize(300 * few.shape.head_dim);
  few.v.resize(300 * few.shape.value_dim);
  const Stages fast = few.run(1);
  set_simd_level("SCALAR");
  const Stages slow = few.run(1);
  set_simd_level("");
  if (fast.O != slow.O || fast.row_sum != slow.row_sum) throw Skip{"WRONG RESULT"};
}

Comparison seconds(const std::string& spec, std::size_t queries, std::size_t keys, std::size_t dim, unsigned threads) {
  const Head head(parse_spec(spec), queries, keys, dim);
  check(head);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(head.run(threads));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (i == 0 || time.count() < best) best = time.count();
  }
  return {best, best, static_cast<double>(queries * keys) / best, 0};
}

}  // namespace

void add_goals(bool quick) {
  const std::size_t keys = quick ? 2048 : 8192;
  struct Row {
    const char* spec;
    double goal;
  };
  const Row rows[] = {{"reference", 1}, {"fa3_like", 1}, {"fa3_like,causal=yes", 1}, {"fa4_like", 4}, {"sage_like", 4},
                      {"reference,qk_model=hopper_f16,q_format=f16,k_format=f16,pv_model=hopper_f16,p_format=f16,v_format=f16", 4}};
  for (const Row& row : rows) {
    const std::string spec = row.spec;
    const std::string name = spec.size() > 20 && spec.find("hopper_f16") != std::string::npos ? "reference/hopper_f16" : spec;
    add_goal("attention/" + name + "/128x" + std::to_string(keys) + "x128", row.goal, "s (at most)",
             [=] { return seconds(spec, 128, keys, 128, 2); });
  }
}

}  // namespace halfulp::bench
