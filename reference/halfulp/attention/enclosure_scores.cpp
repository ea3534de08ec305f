// Decoding, masks and scores of a row; see detail/enclosure_row.hpp.
#include <cmath>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/detail/enclosure_row.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::attention::detail {
namespace {

Decoded decoded_one(const FormatSpec& format, std::uint32_t code) {
  const Unpacked x = unpack(format, code);
  if (x.number_class == NumberClass::infinity || x.number_class == NumberClass::nan) return {0, accumulation::kZeroExponent, false};
  if (x.number_class == NumberClass::zero) return {};
  const double value = std::ldexp(static_cast<double>(x.significand), x.exponent);
  const int places = format.encoding == Encoding::twos_complement ? 0 : format.fraction_bits;
  return {x.negative ? -value : value, x.exponent + places, true};
}

InputError no_bound(const accumulation::MmaSpec& spec, const char* why) {
  return InputError("an enclosure with model " + std::string(spec.model.name), why, "choose another model");
}

}  // namespace

std::vector<Decoded> decoded(const FormatSpec& format, std::span<const std::uint32_t> codes) {
  std::vector<Decoded> all;
  all.reserve(codes.size());
  for (const std::uint32_t code : codes) all.push_back(decoded_one(format, code));
  return all;
}

SumModel sum_model(const accumulation::MmaSpec& spec, bool f32_any_order) {
  using accumulation::Output, accumulation::Scheme;
  if (!spec.model.scale.format.empty()) throw no_bound(spec, "it has block scales");
  if (spec.model.flushes) throw no_bound(spec, "it flushes subnormals");
  SumModel model;
  model.chunk = spec.model.chunk == 0 ? 1'000'000'000 : static_cast<std::size_t>(spec.model.chunk);
  if (spec.output == Output::f16) {
    model.output_bits = 10;
    model.min_exponent = -14;
    model.overflow = 15;
    model.grows = true;
  }
  if (f32_any_order) {
    model.kind = SumModel::Kind::f32;
    model.chunk = 1;
    return model;
  }
  model.fraction_bits = spec.model.fraction_bits;
  switch (spec.model.scheme) {
    case Scheme::fused:
      if (spec.output == Output::f32) model.output_bits = spec.model.f32_fraction_bits;
      for (const auto rule : {accumulation::ZeroRule::a, accumulation::ZeroRule::b}) {
        model.floor = std::max(model.floor, accumulation::exponent_floor(rule, spec.model.fraction_bits, spec.output));
      }
      break;
    case Scheme::widened_halves:  // per 32 products two cut sums, each with its c, and one float addition
      model.per_chunk = 3;
      model.floor = std::max(accumulation::exponent_floor(accumulation::ZeroRule::b, 25, spec.output), -133);
      model.grows = true;
      break;
    case Scheme::two_stage:
    case Scheme::two_stage_parity:  // floors of both sums and of c, and c dropped below a unit and a half
      model.per_chunk = 6;
      model.grows = true;
      break;
    case Scheme::pairwise:
    case Scheme::sequential:
    case Scheme::fma_sequential:
    case Scheme::tree:
    case Scheme::warp_tree: model.kind = SumModel::Kind::f32; break;  // additions of absent lanes are exact
    case Scheme::exact:
      model.kind = SumModel::Kind::exact;
      model.grows = true;
      break;
    case Scheme::integer: model.kind = SumModel::Kind::integer; break;
    case Scheme::scaled_groups: throw no_bound(spec, "it has block scales");
  }
  return model;
}

double gamma(std::size_t n, double u) {
  const double x = static_cast<double>(n) * u;
  return beside(beside(x / (1 - x), Side::up), Side::up);
}

template <class N>
N sum_error(const SumModel& model, std::size_t terms, std::size_t chunks, const N& magnitude, const N& aligned) {
  using D = Directed<N>;
  const auto times = [](const N& x, double factor) { return D::mul(x, D::of(factor), Side::up); };
  const auto plus = [](const N& x, double y) { return D::add(x, D::of(y), Side::up); };
  const auto n = static_cast<double>(terms), c = static_cast<double>(chunks);
  switch (model.kind) {
    case SumModel::Kind::f32:  // every product and c pass one rounding of their own and at most terms + chunks additions
      return plus(times(magnitude, gamma(terms + chunks + 2)), n * kTiny);
    case SumModel::Kind::exact:  // one rounding to nearest per chunk
      return plus(times(magnitude, c * std::ldexp(1.0, -model.output_bits)), c * std::ldexp(1.0, model.min_exponent - model.output_bits));
    case SumModel::Kind::integer:  // exact in int32, then one conversion to float32
      return magnitude < D::of(0x1p24) ? D::of(0) : times(magnitude, kUnit);
    case SumModel::Kind::cut: break;
  }
  // Each term is cut by less than 2^(mx-F), and mx is the exponent of a term, of a partial result (a subnormal one has the smallest), or
  // the floor. Each result is rounded by less than a unit of its last place. Results to nearest grow by less than a factor of two in all.
  const N top = model.grows ? times(magnitude, 2) : magnitude;
  const N normal = D::of(std::ldexp(1.0, model.min_exponent)), floor = D::of(std::ldexp(1.0, std::max(model.floor, -1000)));
  const N cut = times(std::max(std::max(aligned, top), std::max(normal, floor)), (n + c * model.per_chunk) * std::ldexp(1.0, -model.fraction_bits));
  const N place = std::max(model.grows ? D::add(top, cut, Side::up) : top, normal);
  const double rounded = model.per_chunk == 3 ? 3 * c : c;
  return D::add(cut, times(place, rounded * std::ldexp(1.0, -model.output_bits)), Side::up);
}
template double sum_error(const SumModel&, std::size_t, std::size_t, const double&, const double&);
template Wide sum_error(const SumModel&, std::size_t, std::size_t, const Wide&, const Wide&);

Context::Context(const Budget& b, const Problem& x) : budget(b), problem(x) {
  const KernelSpec& kernel = b.kernel;
  qk = accumulation::make_spec({.model = kernel.qk_model, .format_a = kernel.q_format, .format_b = kernel.k_format});
  if (accumulation::has_zero_rule(qk.model)) qk.zero_rule = b.zero_rule;
  pv = accumulation::make_spec({.model = kernel.pv_model, .format_a = kernel.p_format, .format_b = kernel.v_format, .output = kernel.pv_output});
  p = grid_of(pv.a);
  out = grid_of(require_format(kernel.out).spec);
  pv_sum = sum_model(pv, b.pv_f32);
  if (pv_sum.kind == SumModel::Kind::integer) throw no_bound(pv, "P V is summed in integers");
  if (b.scores == Scores::as_model) {
    engine.emplace(qk);
  } else {
    qk_sum = sum_model(qk, b.scores == Scores::f32_any_order);
  }
  q = decoded(qk.a, x.q);
  k = decoded(qk.b, x.k);
  v = decoded(pv.b, x.v);
}

bool Context::sees(std::size_t query, std::size_t key) const {
  const KernelSpec& kernel = budget.kernel;
  const auto j = static_cast<std::int64_t>(key);
  const auto last =
      static_cast<std::int64_t>(query) + static_cast<std::int64_t>(problem.shape.keys) - static_cast<std::int64_t>(problem.shape.queries);
  if (kernel.causal && j > last) return false;
  if (!kernel.window || j < kernel.visible_prefix) return true;
  return last - kernel.window->before <= j && j <= last + kernel.window->after;
}

template <class N>
RowScores<N> row_scores(const Context& context, std::size_t row) {
  using I = Interval<N>;
  using D = Directed<N>;
  const Problem& problem = context.problem;
  const Shape& shape = problem.shape;
  const std::size_t head = row / shape.queries, query = row % shape.queries, kv_head = head / (shape.query_heads / shape.kv_heads);
  const std::size_t d = shape.head_dim;
  RowScores<N> scores;
  const float L = problem.logit_scale.empty() ? 1.0f : problem.logit_scale[problem.logit_scale.size() == 1 ? 0 : head];
  if (!std::isfinite(L) || L < 0) return scores.bounded = false, scores;
  scores.L = I(static_cast<double>(L));
  scores.v = context.v.data() + kv_head * shape.keys * shape.value_dim;
  if (!problem.sink.empty()) {
    if (!std::isfinite(problem.sink[head])) return scores.bounded = false, scores;
    scores.sink = I(static_cast<double>(problem.sink[head]));
  }
  const Budget& budget = context.budget;
  for (std::size_t j = 0; j < shape.keys; ++j) {
    if (!context.sees(query, j)) continue;
    const Decoded *a = &context.q[row * d], *b = &context.k[(kv_head * shape.keys + j) * d];
    I sum;
    N magnitude = D::of(0);
    int aligned = accumulation::kNoExponent;
    for (std::size_t i = 0; i < d; ++i) {
      if (!a[i].finite || !b[i].finite) return scores.bounded = false, scores;
      const I product = I(a[i].value) * I(b[i].value);
      sum += product;
      magnitude = D::add(magnitude, product.magnitude(), Side::up);
      aligned = std::max(aligned, a[i].exponent + b[i].exponent);
    }
    Key<N> key{j, sum, sum};
    if (budget.scores == Scores::as_model) {
      const std::uint32_t word =
          context.engine->dot({problem.q.subspan(row * d, d), problem.k.subspan((kv_head * shape.keys + j) * d, d), 0, {}, {}});
      const bool integer = context.qk.output == accumulation::Output::int32;
      const float S = integer ? static_cast<float>(static_cast<std::int32_t>(word)) : std::bit_cast<float>(word);
      if (!std::isfinite(S)) return scores.bounded = false, scores;
      key.S = I(static_cast<double>(S));
    } else {
      const int overflow = context.qk_sum.kind == SumModel::Kind::integer ? 30 : context.qk_sum.overflow - 1;
      if (!(magnitude < D::of(std::ldexp(1.0, overflow)))) return scores.bounded = false, scores;
      const std::size_t chunks = (d + context.qk_sum.chunk - 1) / context.qk_sum.chunk;
      const N error = sum_error<N>(context.qk_sum, d, chunks, magnitude, D::of(std::ldexp(1.0, std::max(aligned, -1000))));
      key.S = sum + I::around_zero(D::mul(error, D::of(context.share(Term::scores)), Side::up));
    }
    if (const auto& cap = budget.kernel.softcap) {
      const I scale(static_cast<double>(cap->scale)), height(static_cast<double>(cap->cap));
      key.exact = height * tanh(key.exact * scale);
      const double tiny = kTiny * (1 + std::abs(static_cast<double>(cap->cap)));  // a product among subnormals, times the cap
      key.S = height * tanh(key.S * scale) * one_around<N>(budget.softcap_error * context.share(Term::softcap)) + I::between(-tiny, tiny);
    }
    scores.keys.push_back(key);
  }
  return scores;
}
template RowScores<double> row_scores(const Context&, std::size_t);
template RowScores<Wide> row_scores(const Context&, std::size_t);

}  // namespace halfulp::attention::detail
