// Builds the runs of a cast from the oracle's threshold table; see expected.hpp.
#include "halfulp/vectors/expected.hpp"

#include <algorithm>
#include <cstdio>

#include "halfulp/names.hpp"
#include "halfulp/oracle/limits.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/thresholds.hpp"

namespace halfulp::vectors {
namespace {

constexpr CastPolicy kIntermediate = {.overflow = Overflow::overflow, .nan_code = NanCode::payload};
constexpr int kEnumeratedBits = 8;    ///< sources this wide are asked word by word
constexpr int kSmallSourceBits = 16;  ///< sources this wide have a table for every target
constexpr int kTabulatedBits = 16;    ///< targets wider than this have too many steps
constexpr int kSweptBits = 19;        ///< the same for sweeps: tf32 takes seconds

bool same(const CastResult& a, const CastResult& b) {
  return a.code == b.code && a.refusal == b.refusal;
}

/// Appends the runs of bits first..last, inside which answers are monotone, by bisection.
template <class Ask>
void bisect(std::uint64_t first, std::uint64_t last, const Ask& ask, std::vector<Run>& runs) {
  for (std::uint64_t begin = first;;) {
    const CastResult at_begin = ask(begin);
    std::uint64_t inside = begin;
    if (same(ask(last), at_begin)) {
      inside = last;
    } else {
      for (std::uint64_t outside = last; outside - inside > 1;) {
        const std::uint64_t middle = inside + (outside - inside) / 2;
        (same(ask(middle), at_begin) ? inside : outside) = middle;
      }
    }
    runs.push_back({begin, inside, at_begin, {}});
    if (inside == last) return;
    begin = inside + 1;
  }
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// The codes of an interval of values, as at most two ranges of source bits.
void append_interval(const oracle::ThresholdTable& table, std::size_t index, std::vector<Run>& runs) {
  const oracle::Interval& interval = table.intervals()[index];
  const CastResult result{.code = interval.code, .refusal = interval.refusal};
  const FormatSpec& from = table.order().format();
  const auto bits = [&](std::uint64_t position) {
    return table.order().code_at(position) >> from.storage_shift;
  };
  const auto negative = [&](std::uint64_t position) { return (bits(position) & from.sign_mask()) != 0; };
  const std::uint64_t begin = table.start(index);
  const std::uint64_t end = table.start(index + 1);
  std::uint64_t split = begin;  // the first position that is not negative
  for (std::uint64_t high = end; split < high;) {
    const std::uint64_t middle = split + (high - split) / 2;
    if (negative(middle))
      split = middle + 1;
    else
      high = middle;
  }
  if (split > begin) {
    const auto [low, high] = std::minmax({bits(begin), bits(split - 1)});
    runs.push_back({low, high, result, {}});
  }
  if (end > split) runs.push_back({bits(split), bits(end - 1), result, {}});
}

}  // namespace

Expected::Expected(CastPlan plan, bool every_word) : plan_(std::move(plan)) {
  if (!plan_.from) {
    throw InputError("source exact", "literals cannot be enumerated",
                     "name a source format, e.g. cast:f64:" + plan_.to_name);
  }
  if (plan_.policy.rounding == Rounding::stochastic && !plan_.random) {
    throw InputError("rounding stochastic", "every value would have its own random word",
                     "add sr-random=HEX");
  }
  if (plan_.from->encoding != Encoding::floating && plan_.from->width > kSmallSourceBits) {
    throw InputError("source " + plan_.from_name, "integers of more than 16 bits are not enumerated here",
                     "name a floating source or a narrower integer");
  }
  random_ = plan_.random_word(0);
  nans_ = oracle::limits_of(plan_.to).nans;
  const int tabulated_bits = every_word ? kSweptBits : kTabulatedBits;
  if (plan_.from->width > kSmallSourceBits && plan_.to.width > tabulated_bits) return;
  runs_ = tabulate(plan_.policy);
  if (plan_.policy.rounding == Rounding::to_odd && plan_.policy.overflow == Overflow::overflow) {
    CastPolicy literal = plan_.policy;
    literal.directed_overflow = DirectedOverflow::literal;
    const std::vector<Run> others = tabulate(literal);
    std::vector<Run> merged;
    for (std::size_t i = 0, j = 0; i < runs_.size();) {
      Run run = runs_[i];
      run.first = std::max(runs_[i].first, others[j].first);
      run.last = std::min(runs_[i].last, others[j].last);
      if (others[j].result.code != run.result.code) run.alternative = others[j].result.code;
      merged.push_back(run);
      const std::uint64_t last = run.last;
      if (others[j].last == last) ++j;
      if (runs_[i].last == last) ++i;
    }
    runs_ = std::move(merged);
  }
  for (const Run& run : runs_) cross_check(run);
}

/// The oracle's answer, through the intermediate format where there is one.
CastResult Expected::ask(std::uint64_t bits, const CastPolicy& policy) const {
  oracle::Value x = oracle::value_of(*plan_.from, bits << plan_.from->storage_shift);
  if (plan_.via) {
    const CastResult step = oracle::nearest(x, *plan_.via, kIntermediate);
    if (step.refusal != Refusal::none) return step;
    x = oracle::value_of(*plan_.via, step.code);
  }
  return oracle::nearest(x, plan_.to, policy, random_);
}

std::vector<Run> Expected::tabulate(const CastPolicy& policy) const {
  const FormatSpec& from = *plan_.from;
  const auto asked = [&](std::uint64_t bits) { return ask(bits, policy); };
  std::vector<Run> runs;
  if (from.width <= kEnumeratedBits || from.encoding != Encoding::floating) {
    for (std::uint64_t bits = 0; bits <= low_mask(from.width); ++bits) {
      const CastResult result = asked(bits);
      if (!runs.empty() && same(runs.back().result, result))
        runs.back().last = bits;
      else
        runs.push_back({bits, bits, result, {}});
    }
    return runs;
  }
  if (!plan_.via) {
    const oracle::ThresholdTable table(from, plan_.to, policy, random_);
    for (std::size_t i = 0; i < table.intervals().size(); ++i) append_interval(table, i, runs);
  } else {
    // Answers are monotone where source and intermediate value keep their class: first find such stretches.
    const auto kind = [&](std::uint64_t bits) {
      const oracle::Value x = oracle::value_of(from, bits << from.storage_shift);
      const CastResult step = oracle::nearest(x, *plan_.via, kIntermediate);
      if (step.refusal != Refusal::none) return CastResult{.refusal = step.refusal};
      const oracle::Value middle = oracle::value_of(*plan_.via, step.code);
      return CastResult{.code = static_cast<std::uint64_t>(middle.cls) * 2 + (middle.subnormal ? 1 : 0)};
    };
    const oracle::SourceOrder order(from);
    for (const auto& segment : order.segments()) {
      const auto [low, high] = std::minmax({order.code_at(segment.begin), order.code_at(segment.end - 1)});
      std::vector<Run> stretches;
      bisect(low >> from.storage_shift, high >> from.storage_shift, kind, stretches);
      for (const Run& stretch : stretches) bisect(stretch.first, stretch.last, asked, runs);
    }
  }
  for (const auto& nans : oracle::limits_of(from).nans) {
    // Signalling and quiet halves apart: inside each, the answer grows with the payload.
    const std::uint64_t first = nans.first >> from.storage_shift;
    const std::uint64_t last = nans.last >> from.storage_shift;
    const std::uint64_t quiet = first == last ? last : last & ~low_mask(from.fraction_bits - 1);
    if (first < quiet) bisect(first, quiet - 1, asked, runs);
    bisect(std::max(first, quiet), last, asked, runs);
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  std::uint64_t next = 0;
  for (const Run& run : runs) {
    if (run.first != next) throw Disagreement("the oracle's steps do not cover source " + hex(next));
    next = run.last + 1;
  }
  if (next - 1 != low_mask(from.width))
    throw Disagreement("the oracle's steps end at source " + hex(next - 1));
  return runs;
}

void Expected::cross_check(const Run& run) const {
  for (const std::uint64_t bits : {run.first, run.first + (run.last - run.first) / 2, run.last}) {
    const std::uint64_t word = bits << plan_.from->storage_shift;
    const CastResult engine = plan_(word);
    if (same(engine, run.result)) continue;
    throw Disagreement("oracle and integer engine disagree on " + spec_text(plan_) + " for source " +
                       hex(word) + ": " + hex(run.result.code) + " and " + hex(engine.code) +
                       "; this is a fault of halfulp, please report it");
  }
}

Run Expected::at(std::uint64_t word) const {
  const std::uint64_t bits = word >> plan_.from->storage_shift;
  if (tabulated()) {
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), bits,
                         [](std::uint64_t value, const Run& run) { return value < run.first; });
    return *(after - 1);
  }
  Run run{bits, bits, ask(bits, plan_.policy), {}};
  cross_check(run);
  if (plan_.policy.rounding == Rounding::to_odd && plan_.policy.overflow == Overflow::overflow) {
    CastPolicy literal = plan_.policy;
    literal.directed_overflow = DirectedOverflow::literal;
    run.alternative = ask(bits, literal).code;
  }
  return run;
}

bool Expected::is_target_nan(std::uint64_t code) const {
  return std::any_of(nans_.begin(), nans_.end(),
                     [code](const auto& r) { return r.first <= code && code <= r.last; });
}

bool Expected::single_answer(const Run& run) const {
  return !run.alternative && !(plan_.policy.nan_code == NanCode::any && is_target_nan(run.result.code));
}

bool Expected::accepts(const Run& run, std::uint64_t got) const {
  if (got == run.result.code || (run.alternative && got == *run.alternative)) return true;
  if (plan_.policy.nan_code != NanCode::any || !is_target_nan(run.result.code) || !is_target_nan(got)) return false;
  // A user who names the sign rule has it checked; otherwise NaNs are one class.
  const bool sign_named = std::any_of(plan_.options.begin(), plan_.options.end(), [](const auto& option) {
    return option.first == "nan" && value_named<NanSign>(option.second);
  });
  return !sign_named || ((got ^ run.result.code) & (plan_.to.sign_mask() << plan_.to.storage_shift)) == 0;
}

}  // namespace halfulp::vectors
