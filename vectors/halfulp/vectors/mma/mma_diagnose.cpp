// Scores behaviours against answers; see mma_diagnose.hpp.
#include "halfulp/vectors/mma/mma_diagnose.hpp"

#include <algorithm>
#include <functional>
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

/// The plan's own model with one number changed.
void add_departures(const MmaPlan& plan, std::vector<Behaviour>& all) {
  const MmaSpec& own = plan.spec;
  const auto add = [&](std::string name, const std::function<void(MmaSpec&)>& change) {
    MmaSpec spec = own;
    change(spec);
    if (spec != own) all.push_back({std::move(name), false, function_of(spec)});
  };
  constexpr int kFarF = 4, kLongestChunk = 256, kLongestInterval = 4096;
  const std::string model(own.model.name);
  for (int d = -kFarF; own.model.fraction_bits != 0 && d <= kFarF; ++d) {
    const int bits = own.model.fraction_bits + d;
    add(model + " with F = " + std::to_string(bits), [&](MmaSpec& s) { s.model.fraction_bits = bits; });
  }
  const bool any_chunk = own.model.chunk != 0 && own.model.scheme != Scheme::widened_halves;
  for (int n = 1; any_chunk && n <= kLongestChunk; n *= 2)
    add(model + " with chunks of " + std::to_string(n), [&](MmaSpec& s) { s.model.chunk = n; });
  if (own.output == Output::f32 && own.model.scheme == Scheme::fused) {
    for (const int bits : {23, 13, 22, 10})
      add(model + " with results of " + std::to_string(bits) + " bits",
          [&](MmaSpec& s) { s.model.f32_fraction_bits = bits; });
  }
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

/// Rows that were answered, some wrong and some right ones first.
std::vector<std::size_t> scoring_order(const MmaAnswers& answers, const MmaTally& tally,
                                       std::size_t first_part) {
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
  spread(wrong, first_part / 2);
  spread(right, first_part / 2);
  order.insert(order.end(), wrong.begin(), wrong.end());
  order.insert(order.end(), right.begin(), right.end());
  return order;
}

}  // namespace

MmaDiagnosis diagnose_sums(const MmaPlan& plan, const MmaRows& rows, const MmaAnswers& answers,
                           const MmaTally& tally, std::size_t most) {
  MmaDiagnosis diagnosis;
  if (tally.wrong == 0) return diagnosis;
  constexpr std::size_t kFirst = 96, kKept = 6;
  diagnosis.rows = tally.rows;
  diagnosis.rows_by_spec = tally.rows - tally.wrong - (tally.undecided - tally.as_expected);
  const std::vector<std::size_t> order = scoring_order(answers, tally, kFirst);
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
  for (const Behaviour& behaviour : all) {
    scores.push_back({&behaviour, {behaviour.name, behaviour.named, 0, {}}});
    add(scores.back(), 0, kFirst);
  }
  std::stable_sort(scores.begin(), scores.end(), better);
  std::size_t kept = 0;
  while (kept < scores.size() && (kept < kKept || !scores[kept].fit.unexplained)) ++kept;
  scores.resize(kept);
  for (Score& score : scores) add(score, kFirst, order.size());
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
