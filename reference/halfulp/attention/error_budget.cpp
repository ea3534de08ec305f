// The chain of an error budget; see error_budget.hpp.
#include "halfulp/attention/error_budget.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "halfulp/attention/detail/kernel_plan.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::attention {
namespace {

double value_of(const FormatSpec& format, std::uint32_t code) {
  const Unpacked x = unpack(format, code);
  if (x.number_class == NumberClass::nan) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = x.number_class == NumberClass::infinity ? HUGE_VAL : std::ldexp(static_cast<double>(x.significand), x.exponent);
  return x.negative ? -magnitude : magnitude;
}
double f32(std::uint32_t word) { return static_cast<double>(std::bit_cast<float>(word)); }

std::vector<double> values(std::string_view format, std::span<const std::uint32_t> codes) {
  const FormatSpec spec = require_format(format).spec;
  std::vector<double> all;
  for (const std::uint32_t code : codes) all.push_back(value_of(spec, code));
  return all;
}

void check_size(const char* what, std::size_t got, std::size_t wanted) {
  if (got != wanted) {
    throw InputError(std::string("originals of ") + what, std::to_string(got) + " values where the problem has " + std::to_string(wanted),
                     "give the tensor that was quantized");
  }
}

class Chain {
 public:
  Chain(const KernelSpec& spec, const Problem& problem, const Originals& originals)
      : spec_(spec), problem_(problem), shape_(problem.shape), originals_(originals), codes_q_(values(spec.q_format, problem.q)),
        codes_k_(values(spec.k_format, problem.k)), codes_v_(values(spec.v_format, problem.v)), q_(originals.q.begin(), originals.q.end()),
        k_(originals.k.begin(), originals.k.end()), v_(originals.v.begin(), originals.v.end()), stages_(run(spec, problem, Keep::all)) {
    if (spec.prescale && spec.sum_of == SumOf::f32) prescale_ = static_cast<double>(*spec.prescale);
    KernelSpec wide = spec;
    wide.out = "f32";
    before_cast_ = run(wide, problem).O;
    for (std::size_t at = 0; at < codes_v_.size(); ++at) {
      const std::size_t d = at % shape_.value_dim, kv_head = at / shape_.value_dim / std::max<std::size_t>(shape_.keys, 1);
      codes_v_[at] *= value_scale(kv_head, d) * prescale_;
    }
    find_tiles();
  }

  /// The outputs along the chain: [link][row, value_dim], the first one exact.
  std::array<std::vector<double>, kBudgetStages + 1> links() {
    std::array<std::vector<double>, kBudgetStages + 1> all;
    for (std::size_t row = 0; row < stages_.rows; ++row) {
      const double L = scale(originals_.logit_scale, row), cap_scale = static_cast<double>(originals_.softcap_scale);
      add(all[0], row, logits(row, q_, k_, L, 1, cap_scale), v_);
      add(all[1], row, logits(row, codes_q_, k_, L, scale(originals_.q_scale, row), cap_scale), v_);
      const auto codes = logits(row, codes_q_, codes_k_, f32(stages_.L[row]), 1, spec_.softcap ? static_cast<double>(spec_.softcap->scale) : 0);
      add(all[2], row, codes, v_);
      add(all[3], row, codes, codes_v_);
      add(all[4], row, kernel_logits(row), codes_v_);
      add_weighted(all[5], row);
      for (std::size_t d = 0; d < shape_.value_dim; ++d) all[6].push_back(f32(before_cast_[row * shape_.value_dim + d]));
    }
    all[7] = values(spec_.out, stages_.O);
    return all;
  }

 private:
  std::size_t kv_head(std::size_t row) const { return row / shape_.queries / (shape_.query_heads / shape_.kv_heads); }
  double scale(std::span<const float> scales, std::size_t row) const {
    return scales.empty() ? 1 : static_cast<double>(scales[scales.size() == 1 ? 0 : row / shape_.queries]);
  }
  double value_scale(std::size_t kv_head, std::size_t d) const {
    const auto scales = problem_.v_scale;
    if (scales.empty()) return 1;
    if (scales.size() == 1) return static_cast<double>(scales[0]);
    return static_cast<double>(scales.size() == shape_.kv_heads ? scales[kv_head] : scales[kv_head * shape_.value_dim + d]);
  }

  bool sees(std::size_t row, std::size_t key) const { return detail::visible_keys(spec_, shape_, row % shape_.queries)(key); }

  double capped(double S, double cap_scale) const {
    return spec_.softcap ? static_cast<double>(spec_.softcap->cap) * std::tanh(S * cap_scale) : S;
  }

  /// Exponents of a row, NaN where a key is not seen.
  std::vector<double> logits(std::size_t row, const std::vector<double>& q, const std::vector<double>& k, double L, double q_scale,
                             double cap_scale) const {
    const std::size_t dim = shape_.head_dim;
    std::vector<double> all(shape_.keys, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      if (!sees(row, j)) continue;
      double S = 0;
      for (std::size_t i = 0; i < dim; ++i) S += q[row * dim + i] * q_scale * k[(kv_head(row) * shape_.keys + j) * dim + i];
      all[j] = capped(S, cap_scale) * L;
    }
    return all;
  }

  std::vector<double> kernel_logits(std::size_t row) const {
    std::vector<double> all(shape_.keys, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      if (sees(row, j))
        all[j] = capped(f32(stages_.S[row * shape_.keys + j]), spec_.softcap ? static_cast<double>(spec_.softcap->scale) : 0) * f32(stages_.L[row]);
    }
    return all;
  }

  /// Softmax of exponents to base 2, times values; the sink, an exponent of its own, is the kernel's in every link.
  void add(std::vector<double>& out, std::size_t row, const std::vector<double>& t, const std::vector<double>& v) const {
    const bool has_sink = !problem_.sink.empty();
    const double sink = has_sink ? static_cast<double>(problem_.sink[row / shape_.queries]) * f32(stages_.L[row]) : 0;
    double top = has_sink ? sink : -HUGE_VAL, sum = 0;
    for (std::size_t j = 0; j < t.size(); ++j) {
      if (sees(row, j)) top = t[j] > top || t[j] != t[j] ? t[j] : top;
    }
    std::vector<double> O(shape_.value_dim);
    if (has_sink) sum = std::exp2(sink - top);
    for (std::size_t j = 0; j < t.size(); ++j) {
      if (!sees(row, j)) continue;
      const double weight = std::exp2(t[j] - top);
      sum += weight;
      for (std::size_t d = 0; d < O.size(); ++d) O[d] += weight * v[(kv_head(row) * shape_.keys + j) * shape_.value_dim + d];
    }
    for (const double o : O) out.push_back(sum == 0 ? 0 : o / sum);
  }

  /// The kernel's P under its running maxima, with every sum exact.
  void add_weighted(std::vector<double>& out, std::size_t row) const {
    const double L = f32(stages_.L[row]), last = f32(stages_.m_last[row]);
    const FormatSpec p = require_format(spec_.p_format).spec;
    std::vector<double> O(shape_.value_dim);
    const double sink = problem_.sink.empty()
                            ? 0
                            : std::exp2((static_cast<double>(problem_.sink[row / shape_.queries]) - last) * L + static_cast<double>(spec_.offset));
    double sum = sink;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      if (!sees(row, j)) continue;
      const std::size_t at = row * shape_.keys + j;
      const double back = std::exp2((f32(stages_.m[row * stages_.tiles + tile_of_[j]]) - last) * L), code = value_of(p, stages_.P_code[at]);
      sum += back * (spec_.sum_of == SumOf::f32 ? f32(stages_.P[at]) : code);
      for (std::size_t d = 0; d < O.size(); ++d) O[d] += back * code / prescale_ * codes_v_[(kv_head(row) * shape_.keys + j) * shape_.value_dim + d];
    }
    for (const double o : O) out.push_back(sum == 0 ? 0 : o / sum);
  }

  void find_tiles() {
    tile_of_.assign(shape_.keys, 0);
    const std::size_t tile = static_cast<std::size_t>(spec_.tile),
                      part = spec_.split == 0 ? std::max<std::size_t>(shape_.keys, 1) : static_cast<std::size_t>(spec_.split);
    std::size_t done = 0;
    for (std::size_t first = 0; first < shape_.keys; first += part) {
      const std::size_t end = std::min(shape_.keys, first + part), count = (end - first + tile - 1) / tile;
      for (std::size_t j = first; j < end; ++j) {
        const std::size_t index = (j - first) / tile;
        tile_of_[j] = done + (spec_.order == TileOrder::ascending ? index : count - 1 - index);
      }
      done += count;
    }
  }

  const KernelSpec& spec_;
  const Problem& problem_;
  const Shape& shape_;
  const Originals& originals_;
  std::vector<double> codes_q_, codes_k_, codes_v_, q_, k_, v_;
  Stages stages_;
  std::vector<std::uint32_t> before_cast_;
  std::vector<std::size_t> tile_of_;
  double prescale_ = 1;  ///< of P where l has none of it: v_scale takes it back
};

StageError measured(const std::vector<double>& differences, const std::vector<double>& total, const std::vector<double>& exact) {
  StageError error;
  double squares = 0, crossed = 0, all = 0, signal = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    error.largest = std::max(error.largest, std::abs(differences[i]));
    squares += differences[i] * differences[i];
    crossed += differences[i] * total[i];
    all += total[i] * total[i];
    signal += exact[i] * exact[i];
  }
  error.rms = differences.empty() ? 0 : std::sqrt(squares / static_cast<double>(differences.size()));
  error.sqnr_db = squares == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / squares);
  error.share = all == 0 ? 0 : crossed / all;
  return error;
}

constexpr std::string_view kNames[] = {"q", "k", "v", "scores", "p", "sums", "output"};

}  // namespace

std::string_view name_of(BudgetStage stage) { return kNames[static_cast<std::size_t>(stage)]; }

ErrorBudget error_budget(const KernelSpec& spec, const Problem& problem, const Originals& originals) {
  check_size("Q", originals.q.size(), problem.q.size());
  check_size("K", originals.k.size(), problem.k.size());
  check_size("V", originals.v.size(), problem.v.size());
  for (const auto& [what, scales] : {std::pair{"the logit scale", originals.logit_scale}, std::pair{"the scale of Q", originals.q_scale}}) {
    if (scales.size() > 1) check_size(what, scales.size(), problem.shape.query_heads);
  }
  const auto links = Chain(spec, problem, originals).links();
  std::array<std::vector<double>, kBudgetStages> differences;
  std::vector<double> total, exact;
  ErrorBudget budget;
  for (std::size_t i = 0; i < links[0].size(); ++i) {
    const bool finite = std::all_of(links.begin(), links.end(), [i](const auto& link) { return std::isfinite(link[i]); });
    ++(finite ? budget.compared : budget.not_finite);
    if (!finite) continue;
    exact.push_back(links[0][i]);
    total.push_back(links[kBudgetStages][i] - links[0][i]);
    for (std::size_t s = 0; s < kBudgetStages; ++s) differences[s].push_back(links[s + 1][i] - links[s][i]);
  }
  for (std::size_t s = 0; s < kBudgetStages; ++s) budget.stages[s] = measured(differences[s], total, exact);
  budget.total = measured(total, total, exact);
  return budget;
}

std::string to_string(const ErrorBudget& budget) {
  std::string text;
  char line[128];
  const auto add = [&](std::string_view name, const StageError& error) {
    std::snprintf(line, sizeof line, "%-8.*s largest %-12.5g rms %-12.5g %8.2f dB  share %6.2f %%\n", static_cast<int>(name.size()), name.data(),
                  error.largest, error.rms, error.sqnr_db, 100 * error.share);
    text += line;
  };
  for (std::size_t s = 0; s < kBudgetStages; ++s) add(kNames[s], budget.stages[s]);
  add("total", budget.total);
  std::snprintf(line, sizeof line, "compared %zu, not finite %zu\n", budget.compared, budget.not_finite);
  return text + line;
}

}  // namespace halfulp::attention
