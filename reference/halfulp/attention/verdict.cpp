// Verdicts; see verdict.hpp. Ends are cast by the oracle.
#include "halfulp/attention/verdict.hpp"

#include <stdexcept>
#include <string>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/error.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::attention {
namespace {

using oracle::Exact;

/// The cast at the end: saturating, float32 as it is.
std::uint32_t code_of(const FormatSpec& out, double x) {
  const CastResult result = oracle::nearest(oracle::value_from(Exact::from_double(x)), out, CastPolicy{});
  return static_cast<std::uint32_t>(result.code);
}

/// Position on the line of values: +0 and -0 are 0. For floating formats, whose magnitudes follow their codes.
std::int64_t position(const FormatSpec& out, std::uint32_t code) {
  const auto plain = static_cast<std::int64_t>(code >> out.storage_shift);
  const std::int64_t sign = std::int64_t{1} << (out.width - 1);
  return plain >= sign ? sign - plain : plain;
}

Judged judged(const FormatSpec& out, const Enclosure& enclosure, std::uint32_t code) {
  if (!enclosure.bounded) return {};
  const std::uint32_t low = code_of(out, enclosure.lo), high = code_of(out, enclosure.hi);
  const std::int64_t first = position(out, low), last = position(out, high);
  const bool finite = oracle::is_code(out, code) && oracle::value_of(out, code).is_finite();
  const auto values = static_cast<std::uint64_t>(last - first + 1);
  const bool inside = finite && position(out, code) >= first && position(out, code) <= last;
  return {!inside ? Verdict::violation : values == 1 ? Verdict::forced : Verdict::admissible, values, low, high};
}

/// Both readings of zeros: a violation stands only where they agree; what is forced must be forced by both.
Judged joined(const Judged& a, const Judged& b) {
  if (a.verdict == b.verdict) return a.values >= b.values ? a : b;
  const bool one_violates = a.verdict == Verdict::violation || b.verdict == Verdict::violation;
  if (one_violates || a.verdict == Verdict::undecided || b.verdict == Verdict::undecided) return {};
  return a.verdict == Verdict::admissible ? a : b;
}

/// The budgets that a violation must break. Only scores known as bits depend on the reading of zeros; every bound holds for both.
std::vector<Budget> readings_of(const Budget& budget) {
  std::vector<Budget> readings = {budget};
  if (budget.scores != Scores::as_model || !accumulation::has_zero_rule(accumulation::find_model(budget.kernel.qk_model))) return readings;
  readings.push_back(budget);
  readings[0].zero_rule = accumulation::ZeroRule::a;
  readings[1].zero_rule = accumulation::ZeroRule::b;
  return readings;
}

/// Every violation once more, under every reading.
void confirm(const std::vector<Budget>& readings, const Problem& problem, std::span<const std::uint32_t> codes, unsigned threads,
             const Recheck& recheck, Judgement& judgement) {
  const FormatSpec out = require_format(readings[0].kernel.out).spec;
  const std::size_t dims = problem.shape.value_dim;
  std::vector<std::size_t> rows;
  for (std::size_t e = 0; e < codes.size(); ++e) {
    if (judgement.elements[e].verdict == Verdict::violation && (rows.empty() || rows.back() != e / dims)) rows.push_back(e / dims);
  }
  std::vector<std::vector<Enclosure>> again;
  for (std::size_t i = 0; i < readings.size() && !rows.empty(); ++i) again.push_back(recheck(readings[i], problem, rows, threads));
  for (std::size_t i = 0; i < rows.size() * dims; ++i) {
    const std::size_t row = rows[i / dims], dim = i % dims, e = row * dims + dim;
    if (judgement.elements[e].verdict != Verdict::violation) continue;
    Judged& second = judgement.elements[e];
    second = judged(out, again[0][i], codes[e]);
    for (const auto& enclosures : again) second = joined(second, judged(out, enclosures[i], codes[e]));
    if (second.verdict != Verdict::violation) {
      throw std::logic_error("internal: row " + std::to_string(row) + ", element " + std::to_string(dim) +
                             " is a violation in doubles and not in 256 bits; please report this");
    }
    judgement.violations.push_back({row, dim, codes[e], second.low, second.high});
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::string_view kNames[] = {"violation", "forced", "admissible", "undecided"};
  return kNames[static_cast<std::size_t>(verdict)];
}

int Judgement::exit_status() const {
  if (counts[static_cast<std::size_t>(Verdict::violation)] != 0) return 1;
  return counts[static_cast<std::size_t>(Verdict::forced)] == 0 || counts[static_cast<std::size_t>(Verdict::undecided)] != 0 ? 3 : 0;
}

Judgement judge(const Budget& budget, const Problem& problem, std::span<const std::uint32_t> codes, unsigned threads, const Recheck& recheck) {
  const std::size_t dims = problem.shape.value_dim, count = problem.shape.query_heads * problem.shape.queries * dims;
  if (codes.size() != count) {
    throw InputError("attention results", std::to_string(codes.size()) + " codes where the problem has " + std::to_string(count),
                     "give one per row and value channel");
  }
  const FormatSpec out = require_format(budget.kernel.out).spec;
  const std::vector<Budget> readings = readings_of(budget);
  Judgement judgement;
  for (const Budget& reading : readings) {
    const std::vector<Enclosure> enclosures = enclose(reading, problem, threads);
    for (std::size_t e = 0; e < count; ++e) {
      const Judged one = judged(out, enclosures[e], codes[e]);
      if (judgement.elements.size() < count) judgement.elements.push_back(one);
      else judgement.elements[e] = joined(judgement.elements[e], one);
    }
  }
  confirm(readings, problem, codes, threads, recheck, judgement);
  for (const Judged& element : judgement.elements) ++judgement.counts[static_cast<std::size_t>(element.verdict)];
  return judgement;
}

}  // namespace halfulp::attention
