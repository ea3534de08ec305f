// Scores behaviours against answers; see mma_diagnose.hpp.
#include "halfulp/vectors/mma/mma_diagnose.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <tuple>

#include "halfulp/vectors/mma/mma_kernels.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::AccumulationModel;
using accumulation::MmaSpec;
using accumulation::Output;
using accumulation::ScaleOrder;
using accumulation::Scheme;
using accumulation::ZeroRule;

struct Behaviour {
  std::string name;
  bool named = false;
  MmaFunction function;
};

std::string promotion_text(int interval) {
  return interval == 0 ? "one chain" : "promotion every " + std::to_string(interval);
}

constexpr int kLeastF = 6, kMostF = 40, kFarF = 4;
constexpr int kExactF = 1024;  ///< below every bit of every product and c

/// The plan's own model with another F, another width of float32 results, and both.
void add_widths(const MmaPlan& plan, std::vector<Behaviour>& all) {
  const AccumulationModel& own = plan.spec.model;
  const bool narrows = plan.spec.output == Output::f32 && own.scheme == Scheme::fused;
  std::vector<int> alignments = {own.fraction_bits}, results = {own.f32_fraction_bits};
  if (own.fraction_bits != 0) {
    for (int bits = std::min(kLeastF, own.fraction_bits - kFarF);
         bits <= std::max(kMostF, own.fraction_bits + kFarF); ++bits)
      if (bits != own.fraction_bits) alignments.push_back(bits);
    alignments.push_back(kExactF);
  }
  for (const int bits : {23, 13, 22, 10})
    if (narrows && bits != own.f32_fraction_bits) results.push_back(bits);
  for (const int result : results) {
    const bool usual = result == own.f32_fraction_bits || result == 23 || result == 13;
    for (const int alignment : alignments) {
      if (alignment != own.fraction_bits && !usual) continue;
      std::string name;
      if (alignment == kExactF) name = "exact alignment";
      else if (alignment != own.fraction_bits) name = "F = " + std::to_string(alignment);
      if (result != own.f32_fraction_bits)
        name += (name.empty() ? "" : " and ") + ("results of " + std::to_string(result) + " bits");
      if (name.empty()) continue;
      MmaSpec spec = plan.spec;
      spec.model.fraction_bits = alignment;
      spec.model.f32_fraction_bits = result;
      all.push_back({std::string(own.name) + " with " + name, false, function_of(spec)});
    }
  }
}

/// The plan's own model with one number changed.
void add_departures(const MmaPlan& plan, std::vector<Behaviour>& all) {
  const MmaSpec& own = plan.spec;
  const auto add = [&](std::string name, const std::function<void(MmaSpec&)>& change) {
    MmaSpec spec = own;
    change(spec);
    if (spec != own) all.push_back({std::move(name), false, function_of(spec)});
  };
  constexpr int kLongestChunk = 256, kLongestInterval = 4096;
  const std::string model(own.model.name);
  add_widths(plan, all);
  const bool any_chunk = own.model.chunk != 0 && own.model.scheme != Scheme::widened_halves;
  for (int n = 1; any_chunk && n <= kLongestChunk; n *= 2)
    add(model + " with chunks of " + std::to_string(n), [&](MmaSpec& s) { s.model.chunk = n; });
  if (own.scale_order == ScaleOrder::none && own.output != Output::int32) {
    std::vector<int> intervals = {0};
    for (int n = std::max(1, own.model.chunk); n <= kLongestInterval; n *= 2) intervals.push_back(n);
    for (const int n : intervals) {
      if (n > static_cast<int>(plan.k)) break;
      const bool whole = own.model.scale.block == 0 || n % own.model.scale.block == 0;
      if (whole) add(model + " with " + promotion_text(n), [&](MmaSpec& s) { s.interval = n; });
    }
  } else if (own.scale_order != ScaleOrder::none) {
    for (const ScaleOrder order : {ScaleOrder::scales_first, ScaleOrder::operand_first}) {
      for (const bool contract : {false, true}) {
        add(std::string(order == ScaleOrder::scales_first ? "scales_first" : "operand_first") +
                (contract ? ", contracted" : ""),
            [&](MmaSpec& s) {
              s.scale_order = order;
              s.contract = contract;
            });
      }
    }
  }
  if (own.model.scheme == Scheme::integer)
    add(own.saturate ? "wrapping" : "clamping", [](MmaSpec& s) { s.saturate = !s.saturate; });
}

std::vector<Behaviour> behaviours_of(const MmaPlan& plan) {
  std::vector<Behaviour> all;
  const auto other_rule = [](MmaSpec spec) {
    spec.zero_rule = spec.zero_rule == ZeroRule::a ? ZeroRule::b : ZeroRule::a;
    return spec;
  };
  const auto rule_text = [](const MmaSpec& spec) {
    return spec.zero_rule == ZeroRule::a ? std::string(",zero_rule=a") : std::string(",zero_rule=b");
  };
  for (const AccumulationModel& model : accumulation::models()) {
    const auto spec = comparable_model(plan, model.name);
    if (!spec) continue;
    const std::string name = "mma:" + std::string(model.name);
    if (*spec != plan.spec) all.push_back({name, true, function_of(*spec)});
    if (accumulation::has_zero_rule(model))
      all.push_back({name + rule_text(other_rule(*spec)), true, function_of(other_rule(*spec))});
  }
  add_departures(plan, all);
  for (const MmaMutant& mutant : mma_mutants()) {
    if (auto function = mutant.open(plan.spec))
      all.push_back({"mutant:" + mutant.name + ": " + mutant.about, false, *std::move(function)});
  }
  return all;
}

/// Rows that were answered; first as many as `parts` says, half of each part wrong and half right where
/// there are so many.
std::vector<std::size_t> scoring_order(const MmaAnswers& answers, const MmaTally& tally,
                                       std::span<const std::size_t> parts) {
  std::vector<std::size_t> wrong, right, order;
  for (std::size_t i = 0; i < tally.wrong_rows.size(); ++i) {
    if (answers[i]) (tally.wrong_rows[i] ? wrong : right).push_back(i);
  }
  const auto spread = [&](std::vector<std::size_t>& from, std::size_t count) {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool chosen = from.size() <= count || i * count / from.size() != (i + 1) * count / from.size();
      (chosen ? order : rest).push_back(from[i]);
    }
    from = rest;
  };
  for (const std::size_t part : parts) {
    spread(wrong, part / 2);
    spread(right, part / 2);
  }
  order.insert(order.end(), wrong.begin(), wrong.end());
  order.insert(order.end(), right.begin(), right.end());
  return order;
}

}  // namespace

MmaDiagnosis diagnose_sums(const MmaPlan& plan, const MmaRows& rows, const MmaAnswers& answers,
                           const MmaTally& tally, std::size_t most) {
  MmaDiagnosis diagnosis;
  if (tally.wrong == 0) return diagnosis;
  // Behaviours that do not fit the first rows are tried no further, but for the best few.
  static constexpr std::size_t kParts[] = {24, 72}, kKept[] = {24, 6};
  diagnosis.rows = tally.rows;
  diagnosis.rows_by_spec = tally.rows - tally.wrong - (tally.undecided - tally.as_expected);
  const std::vector<std::size_t> order = scoring_order(answers, tally, kParts);
  const std::vector<Behaviour> all = behaviours_of(plan);
  diagnosis.behaviours = all.size();
  struct Score {
    const Behaviour* behaviour;
    MmaFit fit;
  };
  std::vector<Score> scores;
  const auto add = [&](Score& score, std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < std::min(to, order.size()); ++at) {
      const std::size_t i = order[at];
      if (same_result(plan, score.behaviour->function(rows.rows[i]), *answers[i]))
        ++score.fit.rows;
      else if (!score.fit.unexplained || i < *score.fit.unexplained)
        score.fit.unexplained = i;
    }
  };
  const auto better = [](const Score& a, const Score& b) {
    return std::tuple(a.fit.rows, a.fit.named) > std::tuple(b.fit.rows, b.fit.named);
  };
  for (const Behaviour& behaviour : all)
    scores.push_back({&behaviour, {behaviour.name, behaviour.named, 0, {}}});
  std::size_t done = 0;
  for (std::size_t part = 0; part < std::size(kParts); ++part) {
    for (Score& score : scores) add(score, done, done + kParts[part]);
    done += kParts[part];
    std::stable_sort(scores.begin(), scores.end(), better);
    std::size_t kept = 0;
    while (kept < scores.size() && (kept < kKept[part] || !scores[kept].fit.unexplained)) ++kept;
    scores.erase(scores.begin() + static_cast<std::ptrdiff_t>(kept), scores.end());
  }
  for (Score& score : scores) add(score, done, order.size());
  std::stable_sort(scores.begin(), scores.end(), better);
  const bool exact = !scores.empty() && scores[0].fit.rows == diagnosis.rows;
  for (Score& score : scores) {
    if (exact ? score.fit.rows < diagnosis.rows
              : diagnosis.fits.size() == most || score.fit.rows <= diagnosis.rows_by_spec)
      break;
    diagnosis.fits.push_back(std::move(score.fit));
  }
  return diagnosis;
}

}  // namespace halfulp::vectors
