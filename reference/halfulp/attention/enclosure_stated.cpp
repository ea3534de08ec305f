// Tiles, order and split as stated: the steps of the kernel followed in intervals; see detail/enclosure_row.hpp.
//
// Inside a tile nothing depends on the order: the maximum is exact, the sum of l is bounded for every order, the bound of P V
// holds for every permutation of the keys of a tile over its chunks.
#include <cmath>

#include "halfulp/attention/detail/enclosure_row.hpp"

namespace halfulp::attention::detail {
namespace {

template <class N>
class Walk {
  using I = Interval<N>;
  using D = Directed<N>;

 public:
  Walk(const Context& context, const RowScores<N>& row)
      : context_(context), kernel_(context.budget.kernel), row_(row), dims_(context.problem.shape.value_dim) {}

  Sums<N> run() {
    const std::size_t keys = context_.problem.shape.keys,
                      part = kernel_.split == 0 ? std::max<std::size_t>(keys, 1) : static_cast<std::size_t>(kernel_.split);
    Part total = empty_part();
    if (row_.sink) {
      total.seen = true;
      total.m = *row_.sink;
      total.l = weight(*row_.sink, total.m);
    }
    for (std::size_t first = 0; first < keys; first += part) {
      if (first == 0) {
        walk_part(total, 0, std::min(part, keys));
        continue;
      }
      Part next = empty_part();
      walk_part(next, first, std::min(first + part, keys));
      join(total, next);
    }
    // Every P passes at most one addition per other summand.
    const std::size_t summands = row_.keys.size() + (row_.sink ? 1 : 0);
    sums_.l = total.l * one_around<N>(gamma(summands > 1 ? summands - 1 : 0) * context_.share(Term::row_sum));
    sums_.O = total.O;
    return sums_;
  }

 private:
  struct Part {
    bool seen = false;
    I m, l;
    std::vector<I> O;
  };
  Part empty_part() const {
    Part part;
    part.O.assign(dims_, I());
    return part;
  }

  /// P of a score under m.
  I weight(const I& S, const I& m) const {
    const I gap = ((S - m) * row_.L).at_most(stale_rise(context_));
    const N shift = D::mul(m.magnitude(), row_.L.hi, Side::up);
    return kernel_exp2(context_, gap + I(static_cast<double>(kernel_.offset)) + I::around_zero(exponent_error<N>(context_, shift, gap.magnitude())));
  }

  void walk_part(Part& part, std::size_t first, std::size_t last) {
    const auto tile = static_cast<std::size_t>(kernel_.tile);
    const std::size_t count = (last - first + tile - 1) / tile;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = first + (kernel_.order == TileOrder::ascending ? i : count - 1 - i) * tile;
      walk_tile(part, begin, std::min(begin + tile, last));
    }
  }

  /// Brings l and O from one maximum to another.
  void rescale(Part& part, const I& alpha) {
    if (alpha.is_point() && alpha.lo == D::of(1)) return;
    const double lanes = static_cast<double>(row_.keys.size() + 1);  // at most: each may lose a subnormal
    const I rounding = one_around<N>(kUnit * context_.share(Term::rescale)), tiny = I::between(-lanes * kTiny, lanes * kTiny);
    part.l = (part.l * alpha * rounding + tiny).at_least(0);
    for (I& o : part.O) o = o * alpha * rounding + tiny;
  }

  /// The maximum after a tile; with a stale rule it may be either.
  I next_maximum(const Part& part, const I& candidate, I& alpha) const {
    alpha = I(1);
    if (!part.seen) return candidate;
    if (!(part.m.lo < candidate.hi)) return part.m;
    alpha = kernel_alpha(context_, part.m, candidate, row_.L);
    if (!kernel_.threshold) return candidate;
    const double slack = 2.000001 * kUnit + context_.budget.logit_scale_error;
    const I rise = ((candidate - part.m) * row_.L) * one_around<N>(slack) + I::between(-kTiny, kTiny);
    const N threshold = D::of(static_cast<double>(*kernel_.threshold));
    if (threshold < rise.lo) return candidate;
    if (threshold < rise.hi) {
      alpha = hull(alpha, I(1));
      return hull(part.m, candidate);
    }
    alpha = I(1);
    return part.m;
  }

  void walk_tile(Part& part, std::size_t begin, std::size_t end) {
    std::size_t first = 0;
    while (first < row_.keys.size() && row_.keys[first].index < begin) ++first;
    std::size_t last = first;
    while (last < row_.keys.size() && row_.keys[last].index < end) ++last;
    if (first == last) return;  // nothing seen: O passes through, exactly

    I candidate = part.seen ? part.m : row_.keys[first].S;
    for (std::size_t i = first; i < last; ++i) candidate = larger(candidate, row_.keys[i].S);
    I alpha;
    const I m = next_maximum(part, candidate, alpha);
    rescale(part, alpha);
    part.m = m;
    part.seen = true;

    std::vector<I> codes;
    int top_code = accumulation::kZeroExponent;
    for (std::size_t i = first; i < last; ++i) {
      const I P = weight(row_.keys[i].S, m);
      I x = P;
      if (kernel_.prescale) x = (P * I(static_cast<double>(*kernel_.prescale)) * one_around<N>(kUnit) + I::between(-kTiny, kTiny)).at_least(0);
      const double low = nearest(context_.p, x.lo), high = nearest(context_.p, x.hi);
      codes.push_back(I::between(low, high));
      if (high != 0) top_code = std::max({top_code, std::ilogb(high), context_.p.min_exponent});
      part.l += kernel_.sum_of == SumOf::f32 ? P : codes.back();
    }
    for (std::size_t d = 0; d < dims_; ++d) product(part.O[d], codes, first, d, end - begin, top_code);
  }

  void product(I& O, const std::vector<I>& codes, std::size_t first, std::size_t d, std::size_t width, int top_code) {
    I dot;
    N magnitude = D::of(0);
    int top = accumulation::kNoExponent;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const Decoded& v = row_.v[row_.keys[first + i].index * dims_ + d];
      const I term = codes[i] * I(v.value);
      dot += term;
      magnitude = D::add(magnitude, term.magnitude(), Side::up);
      top = std::max(top, top_code + v.exponent);
    }
    const SumModel& model = context_.pv_sum;
    const N aligned = D::of(std::ldexp(1.0, std::max(top, -1000))), all = D::add(magnitude, O.magnitude(), Side::up);
    const bool chained = kernel_.pv == PvMode::chained;
    const std::size_t piece = kernel_.interval == 0 || chained ? width : std::min(width, static_cast<std::size_t>(kernel_.interval)),
                      pieces = (width + piece - 1) / piece;
    const std::size_t chunks = pieces * ((piece + model.chunk - 1) / model.chunk);
    N error = sum_error<N>(model, codes.size(), chunks, chained ? all : magnitude, aligned);
    if (!chained) error = D::add(error, D::mul(D::add(all, error, Side::up), D::of(gamma(pieces)), Side::up), Side::up);
    if (!(all < D::of(std::ldexp(1.0, model.overflow - 2))) || (model.grows && chunks > 1000 && model.output_bits < 20)) sums_.bounded = false;
    O = O + dot + I::around_zero(D::mul(error, D::of(context_.share(Term::pv)), Side::up));
  }

  /// Both parts to the larger maximum, then float32 additions (that of l is counted at the end).
  void join(Part& a, Part b) {
    if (!b.seen) return;
    if (!a.seen) {
      a = b;
      return;
    }
    const I m = larger(a.m, b.m);
    for (Part* part : {&a, &b}) rescale(*part, kernel_alpha(context_, part->m, m, row_.L));
    a.m = m;
    a.l += b.l;
    for (std::size_t d = 0; d < dims_; ++d) a.O[d] = (a.O[d] + b.O[d]) * one_around<N>(kUnit * context_.share(Term::rescale));
  }

  const Context& context_;
  const KernelSpec& kernel_;
  const RowScores<N>& row_;
  std::size_t dims_;
  Sums<N> sums_;
};

}  // namespace

template <class N>
Sums<N> stated_sums(const Context& context, const RowScores<N>& row) {
  return Walk<N>(context, row).run();
}
template Sums<double> stated_sums(const Context&, const RowScores<double>&);
template Sums<Wide> stated_sums(const Context&, const RowScores<Wide>&);

}  // namespace halfulp::attention::detail
