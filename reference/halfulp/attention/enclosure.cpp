// The true result, and the end of a kernel; see enclosure.hpp.
#include "halfulp/attention/enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/attention/detail/enclosure_row.hpp"

namespace halfulp::attention {
namespace detail {
namespace {

/// The true sums: weights 2^((s - M) L).
template <class N>
Sums<N> true_sums(const Context& context, const RowScores<N>& row) {
  using I = Interval<N>;
  const std::size_t dims = context.problem.shape.value_dim;
  I M = row.sink ? *row.sink : row.keys[0].exact;
  for (const Key<N>& key : row.keys) M = larger(M, key.exact);
  Sums<N> sums;
  sums.O.assign(dims, I());
  if (row.sink) sums.l = exp2(((*row.sink - M) * row.L).at_most(0));
  for (const Key<N>& key : row.keys) {
    const I weight = exp2(((key.exact - M) * row.L).at_most(0));
    sums.l += weight;
    for (std::size_t d = 0; d < dims; ++d) sums.O[d] += weight * I(row.v[key.index * dims + d].value);
  }
  return sums;
}

double value_scale(const Problem& problem, std::size_t kv_head, std::size_t d) {
  const auto scales = problem.v_scale;
  if (scales.empty()) return 1;
  if (scales.size() == 1) return static_cast<double>(scales[0]);
  return static_cast<double>(scales.size() == problem.shape.kv_heads ? scales[kv_head] : scales[kv_head * problem.shape.value_dim + d]);
}

/// O * rn(rn(1 / l) * v_scale) without its last rounding: three relative errors, and subnormals.
template <class N>
Interval<N> finished(const Context& context, const Interval<N>& O, const Interval<N>& l, double v_scale) {
  using I = Interval<N>;
  const double share = context.share(Term::reciprocal);
  // Sums in units of the largest score stand for numbers that a stale maximum makes larger.
  const double least = kTiny * std::exp2(std::ceil(stale_rise(context)));
  const I tiny = I::between(-least, least);
  const I inverse = I(1) / l * one_around<N>(context.budget.reciprocal_error * share) + tiny;
  return O * (inverse * I(v_scale) * one_around<N>(kUnit * share) + tiny);
}

template <class N>
void enclose_row(const Context& context, std::size_t row, Enclosure* out) {
  using I = Interval<N>;
  using D = Directed<N>;
  const Shape& shape = context.problem.shape;
  const std::size_t kv_head = row / shape.queries / (shape.query_heads / shape.kv_heads);
  const RowScores<N> scores = row_scores<N>(context, row);
  if (!scores.bounded) return;
  if (scores.keys.empty()) {  // nothing seen: exactly 0
    for (std::size_t d = 0; d < shape.value_dim; ++d) out[d].bounded = true;
    return;
  }
  const Sums<N> truth = true_sums(context, scores);
  const Sums<N> sums = context.budget.tiles == Tiles::stated ? stated_sums(context, scores) : any_sums(context, scores);
  const bool l_known = D::of(0x1p-100) < sums.l.lo && sums.l.hi < D::of(0x1p120);
  // v_scale takes a prescale back that l has not seen.
  const KernelSpec& kernel = context.budget.kernel;
  const double prescale = kernel.prescale && kernel.sum_of == SumOf::f32 ? static_cast<double>(*kernel.prescale) : 1;
  for (std::size_t d = 0; d < shape.value_dim; ++d) {
    Enclosure& e = out[d];
    const double v_scale = value_scale(context.problem, kv_head, d);
    bool finite = sums.bounded && l_known && std::isfinite(v_scale);
    for (const Key<N>& key : scores.keys) finite = finite && scores.v[key.index * shape.value_dim + d].finite;
    if (!finite) continue;
    const I exact = truth.O[d] / truth.l * I(v_scale) * I(prescale), O = finished<N>(context, sums.O[d], sums.l, v_scale);
    e.true_lo = D::to_double(exact.lo, Side::down);
    e.true_hi = D::to_double(exact.hi, Side::up);
    e.lo = nearest(float32_grid(), O.lo);
    e.hi = nearest(float32_grid(), O.hi);
    e.bounded = std::isfinite(e.lo) && std::isfinite(e.hi);
  }
}

template <class N>
std::vector<Enclosure> enclose_rows(const Budget& budget, const Problem& problem, std::span<const std::size_t> rows, unsigned threads) {
  const Context context(budget, problem);
  const std::size_t dims = problem.shape.value_dim;
  std::vector<Enclosure> all(rows.size() * dims);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  accumulation::detail::for_each_task(rows.size(), static_cast<int>(threads == 0 ? cores : threads),
                                      [&](std::size_t i) { enclose_row<N>(context, rows[i], all.data() + i * dims); });
  return all;
}

}  // namespace

double stale_rise(const Context& context) {
  const KernelSpec& kernel = context.budget.kernel;
  if (!kernel.threshold) return 0;
  return std::max(0.0, static_cast<double>(*kernel.threshold)) * (1 + 0x1p-21 + 2 * context.budget.logit_scale_error) + kTiny;
}

}  // namespace detail

std::string_view name_of(Term term) {
  constexpr std::string_view kNames[] = {"scores", "logit_scale", "softcap", "exponent", "exp2", "cast", "rescale", "row_sum", "pv", "reciprocal"};
  return kNames[static_cast<std::size_t>(term)];
}

std::vector<Enclosure> enclose(const Budget& budget, const Problem& problem, unsigned threads) {
  std::vector<std::size_t> rows(problem.shape.query_heads * problem.shape.queries);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return detail::enclose_rows<double>(budget, problem, rows, threads);
}

std::vector<Enclosure> enclose_wide(const Budget& budget, const Problem& problem, std::span<const std::size_t> rows, unsigned threads) {
  return detail::enclose_rows<detail::Wide>(budget, problem, rows, threads);
}

}  // namespace halfulp::attention
