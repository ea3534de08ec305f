// Tiles, order and parts unknown: every key under every maximum it can meet; see detail/enclosure_row.hpp.
//
// Sums are written in units of a fixed M, the most that the largest score can be: a number made under a maximum m counts
// 2^((m - M) L), at most 2^0, and the quotient O / l does not feel the choice. A key meets maxima from S (less what a stale rule keeps)
// to M, which differ from tile to tile; each of them rises at most once per larger score.
#include <algorithm>
#include <cmath>

#include "halfulp/attention/detail/enclosure_row.hpp"

namespace halfulp::attention::detail {
namespace {

template <class N>
class AnyOrder {
  using I = Interval<N>;
  using D = Directed<N>;

 public:
  AnyOrder(const Context& context, const RowScores<N>& row)
      : context_(context), kernel_(context.budget.kernel), row_(row), dims_(context.problem.shape.value_dim), stale_(stale_rise(context)) {
    for (const Key<N>& key : row.keys) scores_.push_back(key.S);
    if (row.sink) scores_.push_back(*row.sink);
    M_ = scores_[0];
    for (const I& S : scores_) M_ = larger(M_, S);
    M_ = I(M_.hi, M_.hi);
    points_ = context.budget.scores == Scores::as_model && !kernel_.softcap && !kernel_.threshold && scores_.size() <= 64;
    count_rises();
  }

  Sums<N> run() {
    Sums<N> sums;
    const std::size_t n = scores_.size();
    std::vector<I> weights(row_.keys.size());
    N slop = D::of(1);
    for (std::size_t k = 0; k < n; ++k) {
      const I chain = rescale_chain(k);
      slop = std::max(slop, chain.hi);
      const I W = weight(k), P = W * chain;
      const bool has_v = k < row_.keys.size();
      if (has_v) weights[k] = code_weight(k, W) * chain;
      // Each rescale rounds l once more; flushed or subnormal numbers lose or gain less than `lost`.
      const bool codes = kernel_.sum_of == SumOf::quantized && has_v;
      const double flushed = lost(k) * (codes ? 2 * std::max(1.0, prescale()) : 1);
      sums.l += (codes ? weights[k] : P) * one_around<N>(gamma(rises(k)) * context_.share(Term::rescale)) + I::between(-flushed, flushed);
    }
    sums.l = sums.l.at_least(0) * one_around<N>(gamma(n - 1) * context_.share(Term::row_sum));
    for (std::size_t d = 0; d < dims_; ++d) sums.O.push_back(output(weights, d, slop, sums));
    return sums;
  }

 private:
  /// Scores that may be above each one. With a threshold all the others may make its maximum rise.
  void count_rises() {
    std::vector<N> tops;
    for (const I& S : scores_) tops.push_back(S.hi);
    std::sort(tops.begin(), tops.end());
    for (const I& S : scores_) {
      const auto above = static_cast<std::size_t>(tops.end() - std::upper_bound(tops.begin(), tops.end(), S.lo));
      rises_.push_back(kernel_.threshold ? scores_.size() - 1 : above - (S.lo < S.hi ? 1 : 0));
    }
  }
  /// Times that a running maximum over the key can rise.
  std::size_t rises(std::size_t k) const { return rises_[k]; }

  double prescale() const { return kernel_.prescale ? static_cast<double>(*kernel_.prescale) : 1; }

  /// (M - S) L >= 0.
  I gap(std::size_t k) const { return ((M_ - scores_[k]) * row_.L).at_least(0); }

  /// (1 +- what P is off by) 2^(offset - gap), in units of M.
  I weight(std::size_t k) const {
    const N far = D::add(gap(k).hi, D::of(stale_), Side::up);
    const N shift = D::add(D::mul(std::max(M_.magnitude(), scores_[k].magnitude()), row_.L.hi, Side::up), D::of(stale_), Side::up);
    const I t = I(static_cast<double>(kernel_.offset)) - gap(k) + I::around_zero(exponent_error<N>(context_, shift, far));
    return exp2(t) * one_around<N>(context_.budget.exp2_error * context_.share(Term::exp2));
  }

  /// The product of all rescale factors, over its exact value: each exp2 is off by its error, the exponents in all by 2u of the way. The
  /// error of L on the way from S to M stands in `weight`; a stale maximum goes back as far as it was ahead.
  I rescale_chain(std::size_t k) const {
    const std::size_t r = rises(k);
    if (r == 0) return I(1);
    const Budget& budget = context_.budget;
    const double again = 1.000001 * budget.logit_scale_error * stale_ * context_.share(Term::logit_scale);
    const N far = D::add(gap(k).hi, D::of(stale_), Side::up);
    const double relative = 2.000001 * kUnit * (1 + budget.logit_scale_error) * context_.share(Term::rescale);
    const N exponent = D::add(D::mul(far, D::of(relative), Side::up), D::of(again + static_cast<double>(r) * kTiny), Side::up);
    return exp2(I::around_zero(exponent)) * one_around<N>(gamma(r, budget.exp2_error) * context_.share(Term::exp2));
  }

  /// What flushed results of exp2 and subnormal roundings can take from or add to one summand.
  double lost(std::size_t k) const {
    const double P = std::exp2(std::max(0.0, static_cast<double>(kernel_.offset)) + stale_ + 1);
    return static_cast<double>(2 * rises(k) + 4) * 0x1p-126 * P;
  }

  /// The most that is ever cast: under the lowest maximum that a key can meet.
  double largest_before_cast() const {
    const double error = context_.budget.exp2_error + context_.budget.logit_scale_error * stale_ + 0x1p-10;
    return std::exp2(static_cast<double>(kernel_.offset) + stale_) * prescale() * (1 + error);
  }

  /// The decoded code of P, whose weight is W, in units of M: x = W / A is cast, A = 2^((m - M) L) from the key's own score to 1.
  I code_weight(std::size_t k, I W) const {
    const double scale = prescale();
    if (kernel_.prescale) W = W * I(scale) * one_around<N>(kUnit);
    W = (W + I::between(-lost(k) * scale, lost(k) * scale)).at_least(0);
    if (points_) {
      I all;
      bool first = true;
      for (const I& S : scores_) {
        if (S.lo < scores_[k].lo) continue;
        // The cast keeps nothing of the error of L before it; what the way from here to M adds is left.
        const I way = (S - M_) * row_.L, A = exp2(way), x = W / A;
        const N again = D::mul(way.magnitude(), D::of(1.000001 * context_.budget.logit_scale_error * context_.share(Term::logit_scale)), Side::up);
        const I code = I::between(nearest(context_.p, x.lo), nearest(context_.p, x.hi)) * A * exp2(I::around_zero(again));
        all = first ? code : hull(all, code);
        first = false;
      }
      return all;
    }
    // |cast(x) - x| <= max(x 2^-(p+1), half the smallest number), and A <= 1; saturation leaves at least largest / x of it.
    const double relative = std::ldexp(1.0, -context_.p.fraction_bits - 1) * context_.share(Term::cast),
                 absolute = context_.p.half_smallest() * context_.share(Term::cast);
    const double most = largest_before_cast();
    const auto step = [&](const N& x) { return std::max(D::mul(x, D::of(relative), Side::up), D::of(absolute)); };
    N low = D::add(W.lo, -step(W.lo), Side::down);
    if (most > context_.p.largest) low = std::min(low, D::mul(W.lo, D::of(context_.p.largest / most * (1 - 0x1p-40)), Side::down));
    const N high = std::min(D::add(W.hi, step(W.hi), Side::up), D::of(context_.p.largest));
    return {std::max(low, D::of(0)), std::max(high, D::of(0))};
  }

  I output(const std::vector<I>& weights, std::size_t d, const N& slop, Sums<N>& sums) const {
    const SumModel& model = context_.pv_sum;
    const std::size_t n = row_.keys.size();
    I dot;
    N magnitude = D::of(0), aligned = D::of(0), largest_v = D::of(0);
    double lost_in_all = 0, outright = 0;
    const double largest_code = std::min(context_.p.largest, 2 * largest_before_cast());
    for (std::size_t k = 0; k < n; ++k) {
      const Decoded& v = row_.v[row_.keys[k].index * dims_ + d];
      const I term = weights[k] * I(v.value);
      dot += term;
      magnitude = D::add(magnitude, term.magnitude(), Side::up);
      const N place = D::of(std::ldexp(1.0, v.exponent));
      aligned = std::max(aligned, D::mul(weights[k].hi, place, Side::up));  // a normal code is at least 2^e
      largest_v = std::max(largest_v, place);
      outright += largest_code * std::abs(v.value);  // in the kernel's own unit
      lost_in_all += lost(k) * std::abs(v.value) * std::max(1.0, prescale());
    }
    aligned = std::max(aligned, D::mul(largest_v, D::of(std::ldexp(1.0, context_.p.min_exponent)), Side::up));  // a subnormal code, or zero
    // A chunk that changes anything holds a visible key, or is the first chunk of a tile that holds one: at most 2n chunks and pieces.
    // Parts add at most n more additions. Every tile rounds O once where it rescales it.
    const std::size_t chunks = 2 * n, additions = n + (kernel_.pv == PvMode::two_level ? 2 * n : 0), rescales = scores_.size() - 1;
    const N grown = D::mul(magnitude, D::of(1 + 2 * gamma(additions + rescales + chunks)), Side::up);
    N error = D::mul(sum_error<N>(model, n, chunks, grown, aligned), D::of(context_.share(Term::pv)), Side::up);
    error =
        D::add(error, D::mul(grown, D::of(gamma(additions) * context_.share(Term::pv) + gamma(rescales) * context_.share(Term::rescale)), Side::up),
               Side::up);
    if (!(outright < std::ldexp(1.0, model.overflow - 2)) || (model.grows && chunks > 1000 && model.output_bits < 20)) sums.bounded = false;
    const N flushed = D::of((lost_in_all + static_cast<double>(4 * n + 4) * kTiny) * 2);
    return dot + I::around_zero(D::add(D::mul(error, slop, Side::up), flushed, Side::up));
  }

  const Context& context_;
  const KernelSpec& kernel_;
  const RowScores<N>& row_;
  std::size_t dims_;
  double stale_;
  std::vector<I> scores_;
  std::vector<std::size_t> rises_;
  I M_;
  bool points_ = false;
};

}  // namespace

template <class N>
Sums<N> any_sums(const Context& context, const RowScores<N>& row) {
  return AnyOrder<N>(context, row).run();
}
template Sums<double> any_sums(const Context&, const RowScores<double>&);
template Sums<Wide> any_sums(const Context&, const RowScores<Wide>&);

}  // namespace halfulp::attention::detail
