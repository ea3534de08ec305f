// Judges rows by engine and twin; see mma_row.hpp.
#include "halfulp/vectors/mma/mma_row.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "halfulp/accumulation/bounds.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/unpacked.hpp"
#include "halfulp/vectors/expected.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::AccumulationModel;
using accumulation::MmaSpec;
using accumulation::OrderFree;
using accumulation::Output;
using accumulation::ScaleOrder;
using accumulation::Scheme;
using accumulation::ZeroRule;

constexpr std::uint32_t kOneF32 = 0x3f800000;

bool all_ones(const std::vector<std::uint32_t>& scales) {
  return std::all_of(scales.begin(), scales.end(), [](std::uint32_t word) { return word == kOneF32; });
}

/// The spec without promotion, which order_free() covers, and without its scales of 1.
MmaSpec plain(MmaSpec spec) {
  spec.interval = 0;
  spec.scale_order = ScaleOrder::none;
  spec.contract = false;
  return spec;
}

/// The narrowest fused unit that a result may come from.
MmaSpec narrowest(MmaSpec spec, Scheme scheme) {
  constexpr int kBits = 13;
  spec = plain(spec);
  spec.model.scheme = scheme;
  spec.model.fraction_bits = spec.model.f32_fraction_bits = kBits;
  spec.zero_rule = ZeroRule::a;
  return spec;
}

/// What software orders and CDNA ask beside: CDNA2 flushes, so no operand and no bit of a product may be
/// subnormal; and a sum of nothing but zeros has a sign that depends on what it starts from.
bool fits_every_scheme(const MmaSpec& spec, const MmaRow& row) {
  constexpr int kSmallest = -126;
  bool zero = row.c << 1 == 0 || (spec.output == Output::f16 && (row.c & 0x7fff) == 0);
  const auto subnormal = [](const Unpacked& x) { return x.number_class == NumberClass::subnormal; };
  if (subnormal(unpack(accumulation::format_of(spec.output), row.c))) return false;
  for (std::size_t k = 0; k < row.a.size(); ++k) {
    const Unpacked a = unpack(spec.a, row.a[k]), b = unpack(spec.b, row.b[k]);
    if (subnormal(a) || subnormal(b)) return false;
    if (a.significand == 0 || b.significand == 0) continue;
    zero = false;
    if (a.exponent + b.exponent < kSmallest) return false;
  }
  return !zero;
}

std::int64_t integer_of(const FormatSpec& format, std::uint32_t word) {
  const Unpacked x = unpack(format, word);
  const auto magnitude = static_cast<std::int64_t>(x.significand) << x.exponent;
  return x.negative ? -magnitude : magnitude;
}

bool integers_fit(const MmaSpec& spec, const MmaRow& row) {
  std::int64_t sum = std::abs(integer_of(accumulation::format_of(Output::int32), row.c));
  for (std::size_t k = 0; k < row.a.size(); ++k)
    sum += std::abs(integer_of(spec.a, row.a[k]) * integer_of(spec.b, row.b[k]));
  return sum <= INT32_MAX;
}

const std::vector<FlagNote> kNotes = {
    {"order_free",
     "sums that no order of the products, no chunking and no promotion of this model changes, with the "
     "proof checked",
     "a kernel of unknown order can be judged by them",
     "a dropped, doubled or misplaced term; a wrong scale"},
    {"model_free", "the same for every model with these operands",
     "a kernel of unknown model can be judged by them", "the same"},
    {"undecided", "rows on which the two readings of zero operands part", "nobody has measured them",
     "nothing: neither answer is a failure"},
    {"last_kept", "terms beside the last bit that alignment keeps",
     "they show how many bits are kept, and how the rest is cut",
     "an F one too large or too small, rounding where the unit truncates"},
    {"rounding", "sums beside a boundary of the result's rounding",
     "truncation and rounding to nearest differ only there", "the neighbouring result"},
    {"cancellation", "large terms that cancel", "what is left was aligned at the large ones",
     "bits that the unit does not keep"},
    {"large_c", "c above all products", "c takes part in the alignment", "c added after the sum"},
    {"small_c", "c below the products", "c is cut as every term is", "c kept whole"},
    {"position", "terms whose place in k decides", "chunks are summed in ascending k",
     "another order, another chunk, a promotion too many or too few"},
    {"special", "NaN and Inf among operands and c", "0*Inf and opposite infinities are NaN",
     "a number, or the other infinity"},
    {"zero", "zeros of either sign, sums that cancel to zero", "a sum that is zero is +0",
     "-0, or a flushed sign"},
    {"subnormal", "subnormal operands, c and results", "tensor cores keep them, some units flush",
     "zeros for small numbers"},
    {"extreme", "largest and smallest numbers, results beside the overflow threshold",
     "a product may be beyond the result's range", "Inf inside the sum, or a clamp"},
    {"scale_end", "block scales at the ends of their format and NaN", "their exponents add up",
     "a scale of 0, Inf or NaN"},
    {"random", "random operands, by binade and by bits", "what nobody thought of", ""},
};

}  // namespace

const std::vector<FlagNote>& mma_flags() {
  return kNotes;
}

bool is_order_free(const MmaPlan& plan, const MmaRow& row, bool any_model) {
  const MmaSpec& spec = plan.spec;
  if (spec.scale_order != ScaleOrder::none && (!all_ones(row.scale_a) || !all_ones(row.scale_b)))
    return false;
  if (spec.model.scheme == Scheme::integer)
    return integers_fit(spec, row) || (!any_model && !spec.saturate);
  accumulation::Row view = row.view();
  if (spec.scale_order != ScaleOrder::none) view.scale_a = view.scale_b = {};
  const bool fused = spec.model.scheme == Scheme::fused || spec.model.scheme == Scheme::scaled_groups;
  if (fused && !any_model) return accumulation::order_free(plain(spec), view) == OrderFree::yes;
  if (!fits_every_scheme(spec, row)) return false;
  const bool scaled = !spec.model.scale.format.empty();
  const bool groups_too = scaled && spec.model.scale.format == "ue4m3";
  const bool both = scaled && plan.from_a == "e2m1" && plan.from_b == "e2m1" && !groups_too;
  if (both || !groups_too) {
    if (accumulation::order_free(narrowest(spec, Scheme::fused), view) != OrderFree::yes) return false;
  }
  return !(both || groups_too) ||
         accumulation::order_free(narrowest(spec, Scheme::scaled_groups), view) == OrderFree::yes;
}

MmaFunction function_of(const MmaSpec& spec) {
  try {
    return [engine = accumulation::Engine(spec)](const MmaRow& row) { return engine.dot(row.view()); };
  } catch (const std::invalid_argument&) {
    return [spec](const MmaRow& row) { return accumulation::dot_exact(spec, row.view()); };
  }
}

MmaRows judged_rows(const MmaPlan& plan, std::vector<MmaRow> rows, int threads) {
  MmaSpec flipped = plan.spec;
  flipped.zero_rule = plan.spec.zero_rule == ZeroRule::a ? ZeroRule::b : ZeroRule::a;
  const bool two_rules = accumulation::has_zero_rule(plan.spec.model);
  const accumulation::Engine engine(plan.spec), other(two_rules ? flipped : plan.spec);
  const auto result = [&](const accumulation::Engine& run, const MmaRow& row) {
    const std::uint32_t word = run.dot(row.view());
    if (word != accumulation::dot_exact(run.spec(), row.view()))
      throw Disagreement("model " + std::string(plan.spec.model.name) +
                         ": the engine and its exact twin give different results; " + spec_text(plan) +
                         " cannot be judged");
    return word;
  };
  constexpr std::uint32_t kProven =
      bit(MmaFlag::order_free) | bit(MmaFlag::model_free) | bit(MmaFlag::undecided);
  std::vector<std::uint32_t> expected(rows.size()), others(rows.size());
  std::exception_ptr trouble;
  std::mutex mutex;
  const auto work = [&](std::size_t first, std::size_t step) {
    try {
      for (std::size_t i = first; i < rows.size(); i += step) {
        MmaRow& row = rows[i];
        expected[i] = result(engine, row);
        others[i] = two_rules ? result(other, row) : expected[i];
        row.flags &= ~kProven;
        if (expected[i] != others[i]) row.flags |= bit(MmaFlag::undecided);
        if (is_order_free(plan, row, false)) row.flags |= bit(MmaFlag::order_free);
        if (is_order_free(plan, row, true)) row.flags |= bit(MmaFlag::model_free);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      trouble = std::current_exception();
    }
  };
  const auto count = static_cast<std::size_t>(std::max(1, threads));
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < count; ++i) pool.emplace_back(work, i, count);
  work(0, count);
  for (std::thread& thread : pool) thread.join();
  if (trouble) std::rethrow_exception(trouble);

  MmaRows judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (plan.any_order && (rows[i].flags & (bit(MmaFlag::order_free) | bit(MmaFlag::model_free))) == 0) {
      ++judged.left_out;
      continue;
    }
    judged.rows.push_back(std::move(rows[i]));
    judged.expected.push_back(expected[i]);
    judged.other.push_back(others[i]);
  }
  return judged;
}

}  // namespace halfulp::vectors
