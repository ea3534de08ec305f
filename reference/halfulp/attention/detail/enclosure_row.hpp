// What the parts of an enclosure share: a problem decoded, one row of it in intervals, error bounds of sums. Private to the enclosure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/attention/detail/interval.hpp"
#include "halfulp/attention/enclosure.hpp"

namespace halfulp::attention::detail {

inline constexpr double kUnit = 0x1p-24;  ///< u: relative error of one float32 operation
inline constexpr double kTiny = 0x1p-149; ///< above its absolute error among subnormals

/// A code as a number, exactly, and the exponent at which it is aligned: max(field, 1) - bias, of a zero -126.
struct Decoded {
  double value = 0;
  int exponent = accumulation::kZeroExponent;
  bool finite = true;
};
std::vector<Decoded> decoded(const FormatSpec& format, std::span<const std::uint32_t> codes);

/// How far a sum of products in an accumulation model can be from the exact one.
struct SumModel {
  enum class Kind : std::uint8_t { cut, f32, exact, integer } kind = Kind::cut;
  int fraction_bits = 0;    ///< F
  int output_bits = 23;     ///< fraction bits of a result
  int min_exponent = -126;  ///< of a normal result
  int overflow = 127;       ///< magnitudes below 2^overflow stay finite
  int per_chunk = 1;        ///< cut units per chunk besides one per product
  int floor = accumulation::kNoExponent;  ///< of the alignment
  bool grows = false;       ///< results may be rounded away from zero
  std::size_t chunk = 1;    ///< products
};
/// Throws InputError where there is no bound.
SumModel sum_model(const accumulation::MmaSpec& spec, bool f32_any_order);

/// A bound of |computed - exact| for `terms` products in `chunks` chunks, chained. `magnitude` bounds the sum of all |a b| and |c|;
/// `aligned` bounds 2^e of every term but c.
template <class N>
N sum_error(const SumModel& model, std::size_t terms, std::size_t chunks, const N& magnitude, const N& aligned);

/// n u / (1 - n u): the relative error of n roundings of relative error u.
double gamma(std::size_t n, double u = kUnit);
/// [1 - x, 1 + x].
template <class N>
Interval<N> one_around(double x) {
  return Interval<N>::between(beside(1 - x, Side::down), beside(1 + x, Side::up));
}

struct Context {
  Context(const Budget& budget, const Problem& problem);
  const Budget& budget;
  const Problem& problem;
  Grid p, out;
  accumulation::MmaSpec qk, pv;
  SumModel qk_sum, pv_sum;
  std::optional<accumulation::Engine> engine;  ///< of as_model scores
  std::vector<Decoded> q, k, v;
  double share(Term term) const { return budget.share[static_cast<std::size_t>(term)]; }
  bool sees(std::size_t query, std::size_t key) const;
};

template <class N>
struct Key {
  std::size_t index = 0;
  Interval<N> exact;  ///< true score, soft cap included
  Interval<N> S;      ///< the kernel's
};

/// One row: what it sees, and the sink as a score without V.
template <class N>
struct RowScores {
  std::vector<Key<N>> keys;
  std::optional<Interval<N>> sink;
  Interval<N> L;
  const Decoded* v = nullptr;  ///< [key, value_dim] of the KV head
  bool bounded = true;
};
template <class N>
RowScores<N> row_scores(const Context& context, std::size_t row);

/// l and O of a kernel, in one unit. `bounded` false: not known.
template <class N>
struct Sums {
  bool bounded = true;
  Interval<N> l;
  std::vector<Interval<N>> O;
};
template <class N>
Sums<N> stated_sums(const Context& context, const RowScores<N>& row);
template <class N>
Sums<N> any_sums(const Context& context, const RowScores<N>& row);

/// How far (S - m) L can be above 0: not at all, or as far as a stale maximum is kept: rn(rn(c - m) L) <= threshold.
double stale_rise(const Context& context);

/// |t - ((S - m) L + offset)| for t = fma(S, L, fma(-m, L, offset)): u of |m L| + |offset|, u of |t|, and the error of L on S - m.
/// `shift` bounds |m L|, `gap` bounds |S - m| L.
template <class N>
N exponent_error(const Context& context, const N& shift, const N& gap) {
  using D = Directed<N>;
  const double eta = context.budget.logit_scale_error, offset = std::abs(static_cast<double>(context.budget.kernel.offset));
  const double u = kUnit * (1 + 0x1p-20) * (1 + eta) * context.share(Term::exponent);
  const N rounded = D::mul(D::add(D::add(shift, gap, Side::up), D::of(2 * offset), Side::up), D::of(u), Side::up);
  const N scale = D::mul(gap, D::of(eta * context.share(Term::logit_scale)), Side::up);
  return D::add(D::add(rounded, scale, Side::up), D::of(kTiny), Side::up);
}

/// exp2 as the budget has it: (1 +- error) 2^t; a result below 2^-125 may be flushed or rounded among subnormals.
template <class N>
Interval<N> kernel_exp2(const Context& context, const Interval<N>& t) {
  using I = Interval<N>;
  if (t.is_point() && t.lo == Directed<N>::of(0)) return I(1);
  const I power = exp2(t) * one_around<N>(context.budget.exp2_error * context.share(Term::exp2));
  if (!(t.lo < Directed<N>::of(-125))) return power;
  return (power + I::between(-0x1p-126, kTiny)).at_least(0);
}

/// exp2(rn(rn(from - to) L)) for from <= to: the exponent is off by 2u relative, L by its own error.
template <class N>
Interval<N> kernel_alpha(const Context& context, const Interval<N>& from, const Interval<N>& to, const Interval<N>& L) {
  using I = Interval<N>;
  if (from.is_point() && to.is_point() && from.lo == to.lo) return I(1);
  const I exponent = ((from - to) * L).at_most(0);
  const double relative =
      2.000001 * kUnit * context.share(Term::rescale) + 1.000001 * context.budget.logit_scale_error * context.share(Term::logit_scale);
  return kernel_exp2(context, exponent * one_around<N>(relative) + I::between(-kTiny, kTiny)).at_most(1 + context.budget.exp2_error);
}

}  // namespace halfulp::attention::detail
