// What each term of a budget is worth: cases made to spend it, against enclosures in which it is scaled down.
#pragma once

#include "attention_enclosure_runs.hpp"

namespace attention_enclosure {

struct Hard {
  Case c;
  OwnedProblem problem;
};

/// One row, `keys` keys, everything float32 and exact that the term does not need.
inline Hard plain(std::size_t keys, std::size_t dim) {
  Hard hard;
  hard.c.shape = hard.problem.shape = {1, 1, 1, keys, dim, 1};
  hard.c.manner = Manner::extreme;
  Budget& budget = hard.c.budget;
  budget.exp2_error = 0x1p-22;
  KernelSpec& spec = budget.kernel;
  spec.qk_model = "blackwell_f8f6f4";
  spec.pv_model = "f32_sequential", spec.p_format = spec.v_format = "f32";
  spec.offset = 0;
  return hard;
}

inline std::uint32_t e4m3(double x) { return code_of(halfulp::spec_of("e4m3"), x); }
inline std::uint32_t f32(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

/// A few keys with random scores; the last one has V = 1, the others V = 0.
inline Hard few_keys(Random& random) {
  Hard hard = plain(2 + random.below(2), 1);
  hard.problem.q = {e4m3(1)};
  for (std::size_t j = 0; j < hard.c.shape.keys; ++j) {
    hard.problem.k.push_back(e4m3(random.normal()));
    hard.problem.v.push_back(f32(j + 1 == hard.c.shape.keys ? 1 : 0));
  }
  hard.problem.logit_scale = {static_cast<float>(0.5 + random.real())};
  return hard;
}

inline Hard spend(Term term, Random& random) {
  Hard hard = few_keys(random);
  Budget& budget = hard.c.budget;
  OwnedProblem& problem = hard.problem;
  switch (term) {
    case Term::scores:  // one product of 2^16, 31 products just below the unit 2^(16-13): all are cut
      hard = plain(2, 32);
      hard.c.budget.kernel.qk_model = "hopper_fp8_wgmma";
      hard.problem.q.assign(32, e4m3(2.75));
      hard.problem.k.assign(64, e4m3(0));
      hard.problem.q[0] = e4m3(256);
      hard.problem.k[0] = e4m3(256);
      for (std::size_t i = 1; i < 32; ++i) hard.problem.k[i] = e4m3(random.one_in(8) ? 2.5 : 2.75);
      hard.problem.v = {f32(0), f32(1)};
      hard.problem.logit_scale = {0x1p-16f};
      break;
    case Term::logit_scale: budget.logit_scale_error = 0x1p-8; break;
    case Term::softcap:
      budget.softcap_error = 0x1p-8;
      budget.kernel.softcap = {static_cast<float>(2 + 4 * random.real()), 0.5f};
      break;
    case Term::exponent:  // scores near 16129 that differ by little: m L is a little above 1024, the gaps are a few units
      hard = plain(3, 2);
      hard.c.budget.kernel.qk_model = "int8_imma", hard.c.budget.kernel.q_format = hard.c.budget.kernel.k_format = "int8";
      hard.problem.q = {127, 1};
      for (std::size_t j = 0; j < 3; ++j) {
        hard.problem.k.insert(hard.problem.k.end(), {127, static_cast<std::uint32_t>(random.below(60))});
        hard.problem.v.push_back(f32(j == 2 ? 1 : 0));
      }
      hard.problem.logit_scale = {static_cast<float>(0.0636 + 0.0005 * random.real())};
      break;
    case Term::exp2: budget.exp2_error = 0x1p-8; break;
    case Term::cast:
      budget.kernel.pv_model = "exact", budget.kernel.p_format = budget.kernel.v_format = "e4m3";
      budget.kernel.offset = 8;
      for (std::uint32_t& v : problem.v) v = v == 0 ? 0 : e4m3(1);
      break;
    case Term::rescale:  // powers of two all the way, but for the distance between tiles
      hard = plain(6, 1);
      hard.c.budget.exp2_error = kP6;
      hard.c.manner = Manner::mild;
      hard.problem.q = {e4m3(1)};
      for (std::size_t j = 0; j < 6; ++j) {
        hard.problem.k.push_back(e4m3(static_cast<double>(j) / 8));
        hard.problem.v.push_back(f32(random.real()));
      }
      break;
    case Term::row_sum: {  // equal P that are no powers of two: every addition errs the same way
      hard = plain(30 + random.below(30), 1);
      hard.c.budget.exp2_error = kP6;
      hard.c.budget.kernel.offset = static_cast<float>(random.real());
      hard.c.manner = Manner::mild;
      hard.problem.q = {0};
      hard.problem.k.assign(hard.c.shape.keys, 0);
      hard.problem.v.assign(hard.c.shape.keys, 0);
      hard.problem.v[0] = f32(1);
      break;
    }
    case Term::pv:  // as for the scores: P = 256, V = 256 once, 31 products just below the unit
      hard = plain(32, 1);
      hard.c.budget.tiles = Tiles::stated;
      hard.c.budget.kernel.pv_model = "hopper_fp8_wgmma", hard.c.budget.kernel.p_format = hard.c.budget.kernel.v_format = "e4m3";
      hard.c.budget.kernel.offset = 8;
      hard.problem.q = {0};
      hard.problem.k.assign(32, 0);
      hard.problem.v.assign(32, e4m3(0x1.ep-6));
      hard.problem.v[random.below(32)] = e4m3(256);
      for (int i = 0; i < 3; ++i) hard.problem.v[1 + random.below(31)] = e4m3(0x1.cp-6);
      break;
    case Term::reciprocal: budget.reciprocal_error = 0x1p-8; break;
  }
  return hard;
}

struct Worth {
  std::size_t cases = 0, outside = 0, broken_at_half = 0;
  double largest_broken = 0;  ///< share of the bound that a case still broke
};

inline bool is_outside(const Budget& budget, const OwnedProblem& problem, const std::vector<float>& O) {
  const auto enclosures = halfulp::attention::enclose(budget, problem.view());
  for (std::size_t i = 0; i < O.size(); ++i) {
    const double x = static_cast<double>(O[i]);
    if (enclosures[i].bounded && !(enclosures[i].lo <= x && x <= enclosures[i].hi)) return true;
  }
  return false;
}

inline Worth worth_of(Term term, std::size_t cases, std::uint64_t seed) {
  Worth worth;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed + i);
    Hard hard = spend(term, random);
    const std::vector<float> O = results(hard.c, hard.problem.view(), random);
    Budget budget = hard.c.budget;
    ++worth.cases;
    for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}) {
      budget.share[static_cast<std::size_t>(term)] = share;
      if (!is_outside(budget, hard.problem, O)) continue;
      if (share == 1.0) ++worth.outside;
      worth.largest_broken = std::max(worth.largest_broken, share);
      if (share >= 0.5) ++worth.broken_at_half;
      break;
    }
  }
  return worth;
}

/// Terms that no case breaks at half are loose; the list of those is part of the claim.
inline void halved(std::size_t cases, std::uint64_t seed, std::initializer_list<Term> loose) {
  std::printf("%-12s %8s %8s %15s %s\n", "term", "cases", "outside", "broken at half", "largest broken share");
  for (std::size_t t = 0; t < kTerms; ++t) {
    const auto term = static_cast<Term>(t);
    const Worth worth = worth_of(term, cases, seed);
    const bool is_loose = std::find(loose.begin(), loose.end(), term) != loose.end();
    std::printf("%-12s %8zu %8zu %15zu %.1f%s\n", std::string(name_of(term)).c_str(), worth.cases, worth.outside, worth.broken_at_half,
                worth.largest_broken, is_loose ? "  (loose)" : "");
    EXPECT_EQ(worth.outside, 0u) << name_of(term);
    EXPECT_EQ(worth.broken_at_half == 0, is_loose) << name_of(term);
  }
}

}  // namespace attention_enclosure
