#include "halfulp/vectors/attention/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/vectors/attention/enclosed.hpp"

namespace halfulp::vectors {
namespace {

using attention::Admitted;
using attention::Probe;

/// How far exp2, reciprocals and rescaling may be off where nothing but attention is asked of a kernel: 2^-22 each for the
/// hardware's functions, and a rounding for each of up to 64 tiles. In units of the largest V, since weights add up to 1.
constexpr double kApproximation = 0x1p-17;

/// What a unit with few bits adds where a rescale factor is not exactly a power of two: O leaves the grid of its sums, and each chunk may cut
/// it twice, as a term and as a result. In units of the largest V.
double chained_loss(const AttentionPlan& plan, const Probe& probe) {
  if (!probe.rescales) return 0;
  const bool narrow = attention::format_named(plan.kernel.v_format).width <= 8;  // of any kernel: the unit with the fewest bits
  const accumulation::AccumulationModel& unit = accumulation::find_model(plan.anything && narrow ? "hopper_fp8_wgmma" : plan.kernel.pv_model);
  if (unit.scheme != accumulation::Scheme::fused || (!plan.anything && plan.kernel.pv != attention::PvMode::chained)) return 0;
  const auto chunk = static_cast<std::size_t>(unit.chunk);
  return std::ldexp(static_cast<double>(2 * ((probe.input.live + chunk - 1) / chunk)), -std::min(unit.fraction_bits, unit.f32_fraction_bits));
}

/// What a claim is widened by on either side; 0 where the SPEC states the arithmetic, or where there is nothing to weigh.
double looseness(const AttentionPlan& plan, const Probe& probe) {
  if (!plan.order_unknown || probe.kind == "no_keys") return 0;
  const FormatSpec& format = attention::format_named(plan.kernel.v_format);
  const attention::Case& c = probe.input;
  double largest = 0, scale = 0;
  for (std::size_t head = 0; head < c.shape.kv_heads; ++head) {
    for (std::size_t token = 0; token < c.live; ++token) {
      for (std::size_t d = 0; d < c.shape.value_dim; ++d) {
        const std::uint32_t word = c.v[(head * c.shape.keys + c.slot(token)) * c.shape.value_dim + d];
        largest = std::max(largest, std::fabs(static_cast<double>(attention::value_of(format, word))));
      }
    }
  }
  for (const float v_scale : probe.input.v_scale) scale = std::max(scale, std::fabs(static_cast<double>(v_scale)));
  return (kApproximation + chained_loss(plan, probe)) * largest * scale;
}

/// The double beside it: the exact bound lies between them.
double below(double x) { return std::nextafter(x, -HUGE_VAL); }
double above(double x) { return std::nextafter(x, HUGE_VAL); }

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

bool is_nan(const FormatSpec& format, std::uint32_t word) {
  const float value = attention::value_of(format, word);
  return value != value;
}

/// Compares a stage; false when it differs.
bool compare(const AttentionColumn& column, const std::vector<std::uint32_t>& want,
             const std::vector<std::uint32_t>& got, std::size_t row, StageTally& tally) {
  if (got.empty()) return true;
  const FormatSpec& format = attention::format_named(column.format);
  bool same = true;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ++tally.compared;
    if (want[i] == got[i] || (is_nan(format, want[i]) && is_nan(format, got[i]))) continue;
    if (tally.wrong++ == 0) {
      tally.row = row;
      tally.word = i;
      tally.got = got[i];
      tally.want = want[i];
    }
    same = false;
  }
  return same;
}

/// Whether a kernel that is known as far as the plan says must keep the probe's claim.
bool is_promised(const AttentionPlan& plan, const Probe& probe) {
  if (plan.anything) return probe.reach == attention::Reach::every_kernel;
  return !plan.order_unknown || probe.reach != attention::Reach::these_tiles;
}

}  // namespace

void ClaimTally::add(const ClaimTally& other) {
  if (first.empty()) first = other.first;
  violated += other.violated;
  forced += other.forced;
  admissible += other.admissible;
  undecided += other.undecided;
  enclosed += other.enclosed;
  rechecked += other.rechecked;
}

std::uint64_t AttentionTally::compared() const {
  std::uint64_t sum = 0;
  for (const StageTally& stage : stages) sum += stage.compared;
  return sum;
}

std::uint64_t AttentionTally::wrong() const {
  std::uint64_t sum = 0;
  for (const StageTally& stage : stages) sum += stage.wrong;
  return sum;
}

const StageTally* AttentionTally::first() const {
  const StageTally* found = nullptr;
  for (const StageTally& stage : stages) {
    if (stage.wrong > 0 && (found == nullptr || stage.row < found->row)) found = &stage;
  }
  return found;
}

ClaimTally judge_probe(const AttentionPlan& plan, const Probe& probe, const AttentionAnswer& answer,
                       const AttentionAnswer* twin) {
  ClaimTally tally;
  const std::vector<std::uint32_t>& O = answer.back();
  const FormatSpec& out = attention::format_named(plan.kernel.out);
  const std::size_t width = plan.frame.shape.value_dim;
  const auto place = [&](std::size_t row, const char* what, std::size_t i) {
    const std::size_t queries = plan.frame.shape.queries;
    return "head " + std::to_string(row / queries) + ", query " + std::to_string(row % queries) + ", " + what + " " + std::to_string(i);
  };
  // `again`: what a second look in exact arithmetic says; words are integers, whose comparison needs none.
  const auto violated = [&](const std::string& where, bool again, const std::string& what) {
    if (!again)
      throw std::logic_error("internal: probe " + probe.kind + ", " + where +
                             " is a violation for the engine and none in exact arithmetic; please report this");
    ++tally.violated;
    ++tally.rechecked;
    if (tally.first.empty())
      tally.first = probe.kind + " (" + probe.title + "), " + where + ": " + what;
  };
  const double loose = looseness(plan, probe);
  for (std::size_t i = 0; i < O.size() && i < probe.output.size(); ++i) {
    attention::Claim claim = probe.output[i];
    if (!claim.made) continue;
    if (loose != 0) claim = {below(claim.low - loose), above(claim.high + loose), true};
    const Admitted admitted = attention::admitted(out, claim);
    if (admitted.holds(out, O[i]))
      ++(admitted.forced() ? tally.forced : tally.admissible);
    else
      violated(place(i / width, "element", i % width), attention::excluded_exactly(out, probe.output[i], loose, O[i]),
               number_text(static_cast<double>(attention::value_of(out, O[i]))) + " is not in [" +
                      number_text(claim.low) + ", " + number_text(claim.high) + "]");
  }
  if (twin != nullptr) {
    for (std::size_t i = 0; i < O.size(); ++i) {
      if (O[i] == twin->back()[i])
        ++tally.forced;
      else
        violated(place(i / width, "element", i % width), true, "the bits of the unpermuted problem are others");
    }
  }
  if (!probe.scores.empty() && plan.stages && !answer[0].empty()) {
    const std::size_t keys = plan.frame.shape.keys,
                      tokens = probe.scores.size() / (answer[0].size() / keys);
    constexpr FormatSpec kF32 = spec_of("f32");
    for (std::size_t i = 0; i < probe.scores.size(); ++i) {
      const std::uint32_t word = answer[0][i / tokens * keys + i % tokens];
      const auto S = std::bit_cast<float>(word);
      const auto forced = static_cast<double>(probe.scores[i]);
      if (S == probe.scores[i])
        ++tally.forced;
      else
        violated(place(i / tokens, "key", i % tokens), attention::excluded_exactly(kF32, {forced, forced, true}, 0, word),
                 "score " + number_text(static_cast<double>(S)) + " is not " + number_text(forced));
    }
  }
  return tally;
}

std::uint64_t wrong_outputs(const AttentionPlan& plan, const AttentionAnswer& want,
                            const AttentionAnswer& got) {
  StageTally tally;
  compare(attention_outputs(plan).back(), want.back(), got.back(), 0, tally);
  return tally.wrong;
}

AttentionTally judge_attention(const AttentionPlan& plan, const AttentionRows& rows,
                               const std::vector<AttentionAnswer>& expected,
                               const std::vector<AttentionAnswer>& answers,
                               const AttentionProgress& progress, unsigned threads) {
  AttentionTally tally;
  const auto columns = attention_outputs(plan);
  for (const AttentionColumn& column : columns) tally.stages.push_back({.name = column.name});
  for (std::size_t row = 0; row < answers.size() && row < rows.cases.size(); ++row) {
    if (progress) progress("rows judged", row, answers.size());
    const AttentionAnswer& answer = answers[row];
    if (answer.empty()) {
      tally.wrong_rows.push_back(false);
      continue;
    }
    ++tally.rows;
    bool right = true;
    for (std::size_t i = 0; i < columns.size() && !plan.order_unknown; ++i)
      right &= compare(columns[i], expected[row][i], answer[i], row, tally.stages[i]);
    if (row < rows.probes.size()) {
      const Probe& probe = rows.probes[row];
      const auto twin = static_cast<std::size_t>(std::max(0, probe.same_as));
      const ClaimTally claims = judge_probe(
          plan, probe, answer, probe.same_as >= 0 && !answers[twin].empty() ? &answers[twin] : nullptr);
      if (!is_promised(plan, probe)) {
        tally.properties.push_back({probe.kind + ": " + probe.title, claims.violated == 0});
      } else {
        if (claims.violated > 0 && !tally.violated_row) tally.violated_row = row;
        tally.claims.add(claims);
        if (plan.order_unknown) right &= claims.violated == 0;
      }
    } else if (plan.order_unknown) {
      const ClaimTally claims = judge_enclosed(plan, rows.cases[row], answer, threads);
      if (claims.violated > 0 && !tally.violated_row) tally.violated_row = row;
      tally.claims.add(claims);
      right &= claims.violated == 0;
    }
    tally.wrong_rows.push_back(!right);
    tally.rows_wrong += right ? 0 : 1;
  }
  return tally;
}

}  // namespace halfulp::vectors
