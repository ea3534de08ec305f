// Checks of a problem, its tensors packed, and its two products through the engines of accumulation; see detail/kernel_plan.hpp.
#include "halfulp/attention/detail/kernel_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::attention::detail {
namespace {

constexpr FormatSpec kF32 = spec_of("f32"), kF16 = spec_of("f16");

InputError bad_problem(const std::string& what, const std::string& why, const std::string& mend) { return InputError("attention problem, " + what, why, mend); }

void check_size(const char* what, std::size_t got, std::size_t wanted) {
  if (got != wanted) {
    throw bad_problem(what, std::to_string(got) + " values where the shape says " + std::to_string(wanted), "give one per place of the shape");
  }
}

void check_codes(const char* what, std::span<const std::uint32_t> codes, const FormatSpec& format) {
  const std::uint64_t mask = low_mask(format.width) << format.storage_shift;
  for (const std::uint32_t code : codes) {
    if ((code & ~mask) != 0) throw bad_problem(what, "a word is wider than its format", "give container words of the format");
  }
}

/// The spec, checked before anything is made of it.
const KernelSpec& checked(const KernelSpec& spec) {
  check(spec);
  return spec;
}

void check_problem(const Problem& p, const accumulation::MmaSpec& qk, const accumulation::MmaSpec& pv) {
  const Shape& s = p.shape;
  if (s.kv_heads == 0 || s.query_heads == 0 || s.query_heads % s.kv_heads != 0) {
    throw bad_problem("heads", std::to_string(s.query_heads) + " query heads for " + std::to_string(s.kv_heads) + " KV heads",
                      "give a multiple of the KV heads");
  }
  if (s.head_dim == 0 || s.value_dim == 0) throw bad_problem("dimensions", "a head without channels", "give at least one");
  check_size("Q", p.q.size(), s.query_heads * s.queries * s.head_dim);
  check_size("K", p.k.size(), s.kv_heads * s.keys * s.head_dim);
  check_size("V", p.v.size(), s.kv_heads * s.keys * s.value_dim);
  check_codes("Q", p.q, qk.a);
  check_codes("K", p.k, qk.b);
  check_codes("V", p.v, pv.b);
  if (p.logit_scale.size() > 1) check_size("logit_scale", p.logit_scale.size(), s.query_heads);
  for (const float L : p.logit_scale) {
    if (!(L > 0) || std::isinf(L)) throw bad_problem("logit_scale", "not positive and finite: the largest score would not be the largest logit", "fold the sign into Q");
  }
  if (p.v_scale.size() > 1 && p.v_scale.size() != s.kv_heads) check_size("v_scale", p.v_scale.size(), s.kv_heads * s.value_dim);
  if (!p.sink.empty()) check_size("sink", p.sink.size(), s.query_heads);
  for (const float sink : p.sink) {
    if (!std::isfinite(sink)) throw bad_problem("sink", "not finite", "leave a sink that never counts out");
  }
}

accumulation::MmaSpec qk_spec(const KernelSpec& s) {
  return accumulation::make_spec({.model = s.qk_model, .format_a = s.q_format, .format_b = s.k_format});
}
accumulation::MmaSpec pv_spec(const KernelSpec& s) {
  return accumulation::make_spec({.model = s.pv_model, .format_a = s.p_format, .format_b = s.v_format, .output = s.pv_output});
}

std::vector<Piece> pieces_of(const KernelSpec& spec, std::size_t begin, std::size_t end) {
  if (spec.pv == PvMode::chained || spec.interval == 0) return {{begin, end}};
  std::vector<Piece> pieces;
  const auto interval = static_cast<std::size_t>(spec.interval);
  for (std::size_t first = begin; first < end; first += interval) pieces.push_back({first, std::min(end, first + interval)});
  return pieces;
}

/// m x n sums of one product, c included, through the vector kernels where they serve.
std::vector<std::uint32_t> sums(const accumulation::Engine& engine, const accumulation::CodeMatrix& a, const accumulation::CodeMatrix& b,
                                std::span<const std::uint32_t> c) {
  const accumulation::GemmProblem problem = {engine.spec(), a, b, {}, {}, c};
  const accumulation::detail::GemmRun run(problem, engine.plan());
  std::vector<std::uint32_t> d(a.rows * b.rows);
  // Formats of 16 bits make large tables for the vector kernels: not worth it for little work.
  const bool small = engine.spec().a.storage_bytes() > 1 && a.rows * b.rows * a.k < std::size_t{1} << 20;
  if (run.lanes != accumulation::detail::Lanes::none && !small) accumulation::detail::lanes_gemm(run, 1, {}, d.data());
  else accumulation::detail::scalar_tile(run, 0, a.rows, 0, b.rows, d.data());
  return d;
}

}  // namespace

void CodeBuffer::resize(const FormatSpec& format, std::size_t count) {
  switch (format.storage_bytes()) {
    case 1: words_.emplace<0>(count); break;
    case 2: words_.emplace<1>(count); break;
    default: words_.emplace<2>(count); break;
  }
}

std::span<const std::byte> CodeBuffer::bytes(std::size_t first, std::size_t count) const {
  return std::visit([&](const auto& words) { return std::as_bytes(std::span(words).subspan(first, count)); }, words_);
}

std::uint32_t CodeBuffer::operator[](std::size_t i) const {
  return std::visit([&](const auto& words) { return static_cast<std::uint32_t>(words[i]); }, words_);
}

void CodeBuffer::set(std::size_t i, std::uint32_t word) {
  std::visit([&](auto& words) { words[i] = static_cast<std::remove_cvref_t<decltype(words[0])>>(word); }, words_);
}

void CodeBuffer::copy(const CodeBuffer& from, std::size_t first, std::size_t count, std::size_t at) {
  std::visit(
      [&](auto& words) {
        const auto& source = std::get<std::remove_cvref_t<decltype(words)>>(from.words_);
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(first), count, words.begin() + static_cast<std::ptrdiff_t>(at));
      },
      words_);
}

void CodeBuffer::cast(const BatchCaster& caster, std::span<const float> x) {
  std::visit([&](auto& words) { caster.run(x, std::span(words).first(x.size())); }, words_);
}

Visible::Stretches Visible::among(std::size_t begin, std::size_t end) const {
  const std::size_t prefix_end = std::clamp(prefix, begin, end);
  const std::size_t second = std::clamp(first, prefix_end, end);
  return {{begin, second}, {prefix_end, std::clamp(last, second, end)}};
}

Visible visible_keys(const KernelSpec& spec, const Shape& shape, std::size_t query) {
  const auto keys = static_cast<std::int64_t>(shape.keys);
  const std::int64_t diagonal = static_cast<std::int64_t>(query) + keys - static_cast<std::int64_t>(shape.queries);
  const std::int64_t end = spec.causal ? std::clamp<std::int64_t>(diagonal + 1, 0, keys) : keys;
  const auto inside = [&](std::int64_t key) { return static_cast<std::size_t>(std::clamp<std::int64_t>(key, 0, end)); };
  if (!spec.window) return {0, inside(end), 0};
  return {inside(diagonal - spec.window->before), inside(diagonal + spec.window->after + 1), inside(spec.visible_prefix)};
}

KernelPlan::KernelPlan(const KernelSpec& s, const Problem& p)
    : spec(checked(s)),
      problem(p),
      qk(qk_spec(s)),
      pv(pv_spec(s)),
      p_format(pv.spec().a),
      out_format(find_format(s.out)->spec),
      to_p(kF32, p_format),
      to_out(kF32, out_format) {
  check_problem(p, qk.spec(), pv.spec());
  const Shape& shape = p.shape;
  const std::size_t keys = shape.keys, tile = static_cast<std::size_t>(spec.tile), part = spec.split == 0 ? std::max(keys, tile) : static_cast<std::size_t>(spec.split);
  std::vector<Piece> pieces;  // in key order
  for (std::size_t first = 0; first < keys; first += part) {
    std::vector<Tile> tiles_of_part;
    for (std::size_t begin = first; begin < std::min(keys, first + part); begin += tile) {
      const std::size_t end = std::min({keys, first + part, begin + tile});
      tiles_of_part.push_back({begin, end, pieces_of(spec, begin, end)});
      pieces.insert(pieces.end(), tiles_of_part.back().pieces.begin(), tiles_of_part.back().pieces.end());
    }
    if (spec.order == TileOrder::descending) std::reverse(tiles_of_part.begin(), tiles_of_part.end());
    tiles += tiles_of_part.size();
    part_tiles.push_back(std::move(tiles_of_part));
  }

  if (spec.sum_of == SumOf::quantized && p_format.storage_bits() <= 16) {
    for (std::uint64_t code = 0; code < std::uint64_t{1} << p_format.storage_bits(); ++code) {
      const auto bits = static_cast<std::uint32_t>(cast(p_format, code, kF32, {.overflow = Overflow::overflow}).code);
      const auto x = std::bit_cast<float>(bits);
      p_values_.push_back(x != x ? std::bit_cast<float>(kNan) : x);
    }
  }
  q_.resize(qk.spec().a, p.q.size());
  for (std::size_t i = 0; i < p.q.size(); ++i) q_.set(i, p.q[i]);
  k_.resize(qk.spec().b, p.k.size());
  for (std::size_t i = 0; i < p.k.size(); ++i) k_.set(i, p.k[i]);
  v_.resize(pv.spec().b, p.v.size());
  std::size_t at = 0;
  for (std::size_t h = 0; h < shape.kv_heads; ++h) {
    for (const Piece& piece : pieces) {
      for (std::size_t d = 0; d < shape.value_dim; ++d) {
        for (std::size_t key = piece.begin; key < piece.end; ++key) v_.set(at++, p.v[(h * keys + key) * shape.value_dim + d]);
      }
    }
  }
}

void KernelPlan::scores(std::size_t kv_head, std::size_t row, std::size_t rows, std::size_t begin, std::size_t end, float* S) const {
  const std::size_t d = problem.shape.head_dim;
  const auto words = sums(qk, {q_.bytes(row * d, rows * d), rows, d},
                          {k_.bytes((kv_head * problem.shape.keys + begin) * d, (end - begin) * d), end - begin, d}, {});
  const bool integers = qk.spec().output == accumulation::Output::int32;
  for (std::size_t i = 0; i < words.size(); ++i) {
    S[i] = integers ? static_cast<float>(static_cast<std::int32_t>(words[i])) : std::bit_cast<float>(words[i]);
  }
}

std::vector<std::uint32_t> KernelPlan::product(std::span<const std::byte> P, std::size_t rows, std::span<const std::byte> V, std::size_t keys,
                                               std::span<const std::uint32_t> c) const {
  return sums(pv, {P, rows, keys}, {V, problem.shape.value_dim, keys}, c);
}

std::span<const std::byte> KernelPlan::values(std::size_t kv_head, const Piece& piece) const {
  const std::size_t dim = problem.shape.value_dim;
  return v_.bytes((kv_head * problem.shape.keys + piece.begin) * dim, (piece.end - piece.begin) * dim);
}

float KernelPlan::partial_value(std::uint32_t word) const {
  if (pv.spec().output == accumulation::Output::f32) return std::bit_cast<float>(word);
  const auto x = cast(kF16, word, kF32, {.overflow = Overflow::overflow}).code;
  return std::bit_cast<float>(static_cast<std::uint32_t>(x));
}

void KernelPlan::cast_output(std::span<const float> x, std::uint32_t* codes) const {
  if (out_format == kF32) {
    for (std::size_t i = 0; i < x.size(); ++i) codes[i] = std::bit_cast<std::uint32_t>(x[i]);
    return;
  }
  CodeBuffer words;
  words.resize(out_format, x.size());
  words.cast(to_out, x);
  for (std::size_t i = 0; i < x.size(); ++i) codes[i] = words[i];
}

float KernelPlan::L(std::size_t head) const {
  if (problem.logit_scale.empty()) return 1;
  return problem.logit_scale[problem.logit_scale.size() == 1 ? 0 : head];
}

float KernelPlan::value_scale(std::size_t kv_head, std::size_t d) const {
  const auto scales = problem.v_scale;
  if (scales.empty()) return 1;
  if (scales.size() == 1) return scales[0];
  return scales[scales.size() == problem.shape.kv_heads ? kv_head : kv_head * problem.shape.value_dim + d];
}

}  // namespace halfulp::attention::detail
