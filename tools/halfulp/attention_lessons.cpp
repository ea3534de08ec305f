#include "attention_lessons.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"

namespace halfulp::tool {
namespace {

/// A rational number of small terms.
struct Fraction {
  std::int64_t n = 0, d = 1;
  Fraction(std::int64_t numerator = 0, std::int64_t denominator = 1) : n(numerator), d(denominator) {
    const std::int64_t g = std::gcd(n, d);
    if (g > 1) n /= g, d /= g;
  }
  Fraction operator+(Fraction o) const { return {n * o.d + o.n * d, d * o.d}; }
  Fraction operator-(Fraction o) const { return {n * o.d - o.n * d, d * o.d}; }
  Fraction operator*(Fraction o) const { return {n * o.n, d * o.d}; }
  Fraction operator/(Fraction o) const { return o.n < 0 ? Fraction{-n * o.d, -d * o.n} : Fraction{n * o.d, d * o.n}; }
  bool operator<(Fraction o) const { return n * o.d < o.n * d; }
  double value() const { return static_cast<double>(n) / static_cast<double>(d); }
  std::string text() const { return d == 1 ? std::to_string(n) : std::to_string(n) + "/" + std::to_string(d); }
};

Fraction rounded(Fraction x) {  // to an integer, ties to even; x >= 0
  const std::int64_t low = x.n / x.d, twice = 2 * (x.n - low * x.d);
  return Fraction(low + (twice > x.d || (twice == x.d && low % 2 == 1) ? 1 : 0));
}

using Matrix = std::vector<std::vector<Fraction>>;

/// 2 bits with the real-valued minimum, all in exact arithmetic.
void quantize(std::vector<Fraction*> group) {
  Fraction low = *group[0], high = *group[0];
  for (const Fraction* x : group) {
    if (*x < low) low = *x;
    if (high < *x) high = *x;
  }
  const Fraction step = (high - low) / Fraction(3);
  for (Fraction* x : group) *x = step.n == 0 ? low : low + rounded((*x - low) / step) * step;
}

std::string scores_text(const char* label, const Matrix& K, const std::vector<Fraction>& q, const Matrix& exact) {
  std::string text = label;
  Fraction worst, error, norm;
  for (std::size_t token = 0; token < K.size(); ++token) {
    Fraction score, want;
    for (std::size_t c = 0; c < q.size(); ++c) {
      score = score + K[token][c] * q[c];
      want = want + exact[token][c] * q[c];
      const Fraction off = K[token][c] - exact[token][c];
      error = error + off * off;
      norm = norm + exact[token][c] * exact[token][c];
    }
    const Fraction off = score < want ? want - score : score - want;
    if (worst < off) worst = off;
    text += (token == 0 ? " " : ", ") + score.text();
  }
  char line[120];
  std::snprintf(line, sizeof line, "; largest error %s; Frobenius %.4g %%\n", worst.text().c_str(), 100 * std::sqrt((error / norm).value()));
  return text + line;
}

std::string keys_text() {
  const Matrix exact = {{{2, 5}, {-1, 5}, 9, {1, 10}}, {{-3, 10}, {1, 2}, 11, {-2, 5}}, {{1, 5}, {-3, 5}, 10, {3, 10}}, {{1, 2}, {1, 10}, 12, {-1, 5}}};
  const std::vector<Fraction> q = {1, 1, {1, 10}, 1};
  Matrix by_token = exact, by_channel = exact;
  for (std::size_t i = 0; i < 4; ++i) {
    quantize({&by_token[i][0], &by_token[i][1], &by_token[i][2], &by_token[i][3]});
    quantize({&by_channel[0][i], &by_channel[1][i], &by_channel[2][i], &by_channel[3][i]});
  }
  return "Keys [0.4 -0.2 9 0.1; -0.3 0.5 11 -0.4; 0.2 -0.6 10 0.3; 0.5 0.1 12 -0.2], query [1 1 0.1 1], 2 bits, exact arithmetic\n" +
         scores_text("unquantized scores:", exact, q, exact) + scores_text("one scale per token:  ", by_token, q, exact) +
         scores_text("one scale per channel:", by_channel, q, exact) +
         "\nThe channel of 9 to 12 takes the whole range of a token; the norm hides it, the scores show it.\n";
}

/// O of one query of one channel for keys and values of one channel.
double output_of(const char* kernel, const std::vector<std::pair<double, double>>& scores_and_values, double* row_sum = nullptr) {
  const attention::KernelSpec spec = attention::parse_spec(kernel);
  const FormatSpec &k = attention::format_named(spec.k_format), &v = attention::format_named(spec.v_format);
  std::vector<std::uint32_t> keys, values;
  for (const auto& [score, value] : scores_and_values) {
    keys.push_back(attention::word_of(k, score));
    values.push_back(attention::word_of(v, value));
  }
  const std::vector<std::uint32_t> q = {attention::word_of(attention::format_named(spec.q_format), 1)};
  const attention::Stages stages = attention::run(spec, {{1, 1, 1, keys.size(), 1, 1}, q, keys, values, {}, {}, {}});
  if (row_sum != nullptr) *row_sum = static_cast<double>(std::bit_cast<float>(stages.row_sum[0]));
  return static_cast<double>(std::bit_cast<float>(stages.O[0]));
}

std::string line_of(const char* kernel, const std::vector<std::pair<double, double>>& data) {
  double row_sum = 0;
  const double O = output_of(kernel, data, &row_sum);
  char line[160];
  std::snprintf(line, sizeof line, "%-34s O = %.7g, row sum %.7g\n", kernel, O, row_sum);
  return line;
}

std::string saturation_text() {
  std::vector<std::pair<double, double>> data(128, {0, 0});
  data.resize(256, {3, 1});
  return "128 keys of score 0 and V = 0, then 128 of score 3 (log2) and V = 1; the answer is 8/9 = 0.8888889\n" + line_of("fa4_like", data) + line_of("fa4_like_faulty", data) +
         "\nWith threshold 4 the maximum of the first tile stays: P of the second would be 2^(8 + 3) = 2048 and saturates at 448, while the row\n"
         "sum keeps 2048. 128 * 448 / (128 * 256 + 128 * 2048) = 7/36. An offset of 8 leaves room for 0.807 of threshold, not for 4.\n";
}

std::string no_prescale_text() {
  std::vector<std::pair<double, double>> data(1, {0, 1});
  data.resize(1025, {-10, 1});
  return "One key of score 0 and 1024 of score -10 (log2), V = 1; the answer is 1\n" + line_of("reference", data) + line_of("no_prescale", data) +
         line_of("no_prescale,sum_of=quantized", data) +
         "\nWithout offset or prescale P = 2^-10 is a tie that goes to 0 in e4m3: half of the weight is lost in the numerator and kept in the row\n"
         "sum. A row sum of the codes hides it, V = 1 no longer shows it, and the far keys have no weight at all.\n";
}

std::string row_sum_text() {
  std::vector<std::pair<double, double>> data(1, {0, 1});
  data.resize(32, {-0.9375, 1});
  return "One key of score 0 and 31 of score -15/16 (log2), V = 1: P = 2^(8 - 15/16) = 133.67 is cast to 128\n" + line_of("reference", data) +
         line_of("reference,sum_of=quantized", data) +
         "\nThe sum of the codes gives weights that sum to one; the sum of the float32 P is that of the softmax. Kernels do either: a comparison\n"
         "must say which.\n";
}

constexpr AttentionLesson kLessons[] = {
    {"keys", "Keys per token or per channel: look at the scores", keys_text},
    {"p-saturation", "A stale maximum saturates P", saturation_text},
    {"no-prescale", "P cast without offset or prescale", no_prescale_text},
    {"row-sum", "Which P the row sum is of", row_sum_text},
};

}  // namespace

std::span<const AttentionLesson> attention_lessons() { return kLessons; }

}  // namespace halfulp::tool
