// The diagnosis names every mutant, sees what cannot be told apart, and does not name what it does not
// know.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

Verdict judged(const Implementation& implementation, const std::string& spec,
               Level level = Level::thresholds) {
  return verify(implementation, parse_spec(spec),
                {.level = level, .seed = 1, .threads = 1, .progress = {}});
}

/// A mutant under its own SPEC, judged once for all tests.
const Verdict& verdict_of(const Implementation& mutant) {
  static std::map<std::string, Verdict> made;
  const auto found = made.find(mutant.name);
  if (found != made.end()) return found->second;
  return made.emplace(mutant.name, judged(mutant, mutant.claims.front().spec)).first->second;
}

// clang-format off
const std::map<std::string, std::string> kNamesOfMutants = {
    {"truncate", "rounding=toward_zero"},
    {"ties_away", "rounding=ties_to_away"},
    {"ties_up", "rounding=ties_up"},
    {"ties_down", "rounding=ties_down"},
    {"ties_toward_zero", "rounding=ties_toward_zero"},
    {"ties_to_odd", "rounding=ties_to_odd"},
    {"away_from_zero", "rounding=away_from_zero"},
    {"direction_of_magnitude", "rounding=away_from_zero"},
    {"negative_truncated", "rounding-of-negatives=toward_zero"},
    {"sticky_lost", "rounding=significand_cut_1"},
    {"guard_bit_only", "rounding=guard_bits_1"},
    {"two_guard_bits", "rounding=guard_bits_2"},
    {"no_carry", "rounding=carry_lost"},
    {"shift_modulo_64", "rounding=shift_modulo_64"},
    {"shift_modulo_32", "rounding=shift_modulo_32"},
    {"double_f16", "via=f16"},
    {"double_bf16", "via=bf16"},
    {"double_f32", "via=f32"},
    {"bf16_cut", "via=bf16 (truncated)"},
    {"flush_in", "flush=in"},
    {"flush_out", "flush=out"},
    {"clamp_before_rounding", "overflow-test=before"},
    {"hip_nosat", "@hip_6_4_nosat"},
    {"saturates", "overflow=saturate"},
    {"inf_kept", "overflow=saturate_keep_inf"},
    {"inf_to_zero", "inf-none=zero"},
    {"lost_top_binade", "top-binade=lost"},
    {"not_monotone", "defect=above_480_is_largest"},
    {"nan_sign", "nan=positive"},
    {"nan_payload", "nan-code=ones"},
    {"nan_to_max", "nan=nan_to_max"},
    {"nan_to_zero", "nan=nan_to_zero"},
    {"nan_to_inf", "nan=payload_cut"},
    {"nan_carries", "nan=payload_rounded"},
    {"fnuz_nan_max", "fnuz-nan=signed_max"},
    {"zero_sign_lost", "minus-zero=lost"},
    {"fnuz_bias", "bias=8"},
    {"fnuz_for_ocp", "to=e5m2fnuz"},
    {"ieee_for_ocp", "to=e4m3_ieee"},
    {"sign_extended", "output=sign_extended"},
    {"high_bits", "output=high_bits"},
    {"bytes_swapped", "output=bytes_swapped"},
    {"code_plus_1", "output=code_plus_1"},
    {"ggml_ue4m3", "defect=top_codes_skipped, rounding=ties_to_away"},
    {"e8m0_low_binade", "low-binade=upward"},
    {"e8m0_never_min", "low-binade=never_min"},
    {"e8m0_ceil", "rounding=toward_positive"},
    {"e8m0_nearest", "rounding=ties_to_even"},
    {"e8m0_zero_nan", "zero=nan"},
    {"e8m0_negative_nan", "negative=nan"},
    {"decode_hidden_bit", "source-subnormals=hidden_bit"},
    {"decode_half", "source-subnormals=halved"},
    {"decode_flush", "flush=in"},
    {"decode_nan_480", "source-specials=numbers"},
    {"decode_inf_number", "source-specials=numbers"},
    {"decode_fnuz", "from=e4m3fnuz"},
    {"decode_ocp", "from=e5m2"},
    {"decode_ieee", "from=e4m3_ieee"},
    {"decode_bias", "source-bias=2"},
    {"decode_sign", "source=sign_dropped"},
    {"decode_minus_zero", "minus-zero=lost"},
    {"decode_nibbles", "source=nibbles_swapped"},
    {"decode_e8m0_shift", "source=exponent_field"},
};
// clang-format on

bool names(const Fit& fit, const std::string& behaviour) {
  return fit.behaviour == behaviour ||
         std::find(fit.equals.begin(), fit.equals.end(), behaviour) != fit.equals.end();
}

TEST(Mutants, are_named_by_the_diagnosis) {
  EXPECT_EQ(kNamesOfMutants.size(), mutants().size());
  for (const Implementation& mutant : mutants()) {
    const auto name = kNamesOfMutants.find(mutant.name.substr(7));
    ASSERT_NE(name, kNamesOfMutants.end()) << mutant.name;
    const Diagnosis& found = verdict_of(mutant).diagnosis;
    EXPECT_TRUE(found.exact()) << mutant.name;
    const bool named = std::any_of(found.fits.begin(), found.fits.end(),
                                   [&](const Fit& fit) { return names(fit, name->second); });
    EXPECT_TRUE(named) << mutant.name;
    std::string line = mutant.name + ":";
    for (const Fit& fit : found.fits) {
      line += " [" + fit.behaviour;
      for (const std::string& other : fit.equals) line += " = " + other;
      line += "]";
      EXPECT_EQ(fit.matched, found.cases);
    }
    std::printf("%s\n", line.c_str());
  }
}

/// A kernel that gives what a function makes of the right code.
Implementation twisted(std::uint64_t (*twist)(std::uint64_t word, std::uint64_t right)) {
  Implementation wrong;
  wrong.name = "twisted";
  wrong.open_plan = [twist](const CastPlan& plan) -> Kernel {
    return [plan, twist](std::span<const std::byte> in, std::span<std::byte> out) {
      map_storage(*plan.from, plan.to, in, out,
                  [&](std::uint64_t word) { return twist(word, plan(word).code); });
    };
  };
  return wrong;
}

TEST(Diagnosis, names_nothing_where_nothing_fits) {
  const Implementation noise = twisted([](std::uint64_t word, std::uint64_t right) {
    return right ^ (counter_random(7, word) % 4 == 0 ? 1u : 0u);
  });
  const Diagnosis found = judged(noise, "cast:f32:e4m3").diagnosis;
  EXPECT_GT(found.differences(), 0u);
  EXPECT_TRUE(found.fits.empty());
}

TEST(Diagnosis, counts_what_a_partial_explanation_leaves_and_breaks) {
  // Truncates, but not from 256 on.
  const Implementation wrong = twisted([](std::uint64_t word, std::uint64_t right) {
    const CastPlan truncating = make_plan(parse_cast_spec("cast:f32:e4m3,rounding=toward_zero"));
    return (word & 0x7fffffff) >= 0x43800000 ? right : truncating(word).code;
  });
  const Verdict verdict = judged(wrong, "cast:f32:e4m3");
  const Diagnosis& found = verdict.diagnosis;
  ASSERT_FALSE(found.fits.empty());
  const Fit& fit = found.fits.front();
  EXPECT_FALSE(found.exact());
  EXPECT_EQ(fit.behaviour, "rounding=toward_zero");
  EXPECT_EQ(fit.explained, found.differences());
  EXPECT_GT(fit.broken, 0u);
  EXPECT_EQ(fit.matched, found.by_spec + fit.explained - fit.broken);
  ASSERT_TRUE(fit.unexplained);
  const CastPlan& plan = verdict.plan;
  EXPECT_GE(fit.unexplained->word,
            0x43880001u);  // above 272 = 256 + 32 / 2, where truncation goes wrong first
  EXPECT_LT(fit.unexplained->word, 0x43900000u);
  EXPECT_EQ(fit.unexplained->got, plan(fit.unexplained->word).code);
  EXPECT_EQ(fit.unexplained->want, fit.rule(fit.unexplained->word).code);
}

TEST(Diagnosis, of_partial_explanations_only_those_that_halve_the_mistakes_are_named) {
  for (const Implementation& mutant : mutants()) {
    // Judged under another SPEC than its own: most are wrong in more than one way then.
    const std::string spec = "cast:bf16:e5m2,overflow=overflow,nan-code=quiet,rounding=to_odd";
    Verdict verdict;
    try {
      verdict = judged(mutant, spec);
    } catch (const InputError&) {  // the fault has no meaning here
      continue;
    }
    const Diagnosis& found = verdict.diagnosis;
    for (const Fit& fit : found.fits) {
      EXPECT_EQ(fit.matched, found.by_spec + fit.explained - fit.broken) << mutant.name;
      const std::uint64_t mistakes = found.cases - fit.matched;
      EXPECT_LE(mistakes * 2, found.differences()) << mutant.name;
      EXPECT_EQ(fit.unexplained.has_value(), mistakes > 0) << mutant.name;
      EXPECT_EQ(mistakes == 0, found.exact()) << mutant.name;
    }
  }
}

TEST(Diagnosis, two_faults_in_different_places_are_both_named) {
  const Implementation wrong = twisted([](std::uint64_t word, std::uint64_t) {
    Behaviour both(make_plan(parse_cast_spec("cast:f32:e5m2,rounding=toward_zero,flush=out")));
    both.nan = &nan_fault("nan_to_zero");
    return both(word).code;
  });
  const Diagnosis found = judged(wrong, "cast:f32:e5m2").diagnosis;
  ASSERT_TRUE(found.exact());
  EXPECT_EQ(found.fits.front().behaviour, "rounding=toward_zero, flush=out, nan=nan_to_zero");
  EXPECT_EQ(found.fits.front().departures, 3);
}

TEST(Diagnosis, a_dialect_with_another_rounding_is_named_as_such) {
  const Implementation wrong = twisted([](std::uint64_t word, std::uint64_t) {
    return make_plan(parse_cast_spec("cast:f32:e5m2@hip_6_4_nosat,rounding=ties_to_away"))(word).code;
  });
  const Diagnosis found = judged(wrong, "cast:f32:e5m2,nan-code=quiet").diagnosis;
  ASSERT_TRUE(found.exact());
  EXPECT_TRUE(names(found.fits.front(), "@hip_6_4_nosat, rounding=ties_to_away"));
}

TEST(Diagnosis, codes_that_fit_no_rule_are_named_by_what_they_are) {
  const Implementation wrong = twisted([](std::uint64_t word, std::uint64_t right) {
    const bool nan = (word & 0x7fffffff) > 0x7f800000;
    const bool infinite = (word & 0x7fffffff) == 0x7f800000;
    return nan ? std::uint64_t{0x55} : infinite ? std::uint64_t{0x66} + (word >> 31) : right;
  });
  const Diagnosis found = judged(wrong, "cast:f32:e4m3").diagnosis;
  ASSERT_TRUE(found.exact());
  EXPECT_EQ(found.fits.front().behaviour, "inf=0x66/0x67, nan=0x55");
}

TEST(Diagnosis, explanations_that_the_answers_cannot_tell_apart_come_with_a_word_that_does) {
  const Expected expected(make_plan(parse_cast_spec("cast:f32:e4m3")));
  // 1 + 1/16 is a tie between 1 and 1 + 1/8: its answer alone fits many roundings.
  const std::vector<Answer> answers = {{0x3f800000, 0x38, true}, {0x3f880000, 0x39, false}};
  const Diagnosis found = diagnose(expected, answers);
  ASSERT_GT(found.fits.size(), 1u);
  EXPECT_FALSE(found.fits.front().apart);
  for (std::size_t i = 1; i < found.fits.size(); ++i) {
    const Fit& fit = found.fits[i];
    ASSERT_TRUE(fit.apart) << fit.behaviour;
    EXPECT_EQ(found.fits.front().rule(fit.apart->word).code, fit.apart->got);
    EXPECT_EQ(fit.rule(fit.apart->word).code, fit.apart->want);
    EXPECT_NE(fit.apart->got, fit.apart->want);
  }
}

TEST(Diagnosis, to_odd_past_the_largest_finite_may_give_either_answer) {
  for (const char* literal : {"", ",directed-overflow=literal"}) {
    const Implementation kernel = [&] {
      Implementation one;
      one.name = "odd";
      const CastPlan plan = make_plan(
          parse_cast_spec("cast:f16:e4m3,overflow=overflow,rounding=to_odd" + std::string(literal)));
      one.open_plan = [plan](const CastPlan&) { return require_implementation("halfulp").open_plan(plan); };
      return one;
    }();
    const Diagnosis found = judged(kernel, "cast:f16:e4m3,overflow=overflow").diagnosis;
    ASSERT_TRUE(found.exact());
    EXPECT_EQ(found.fits.front().behaviour, "rounding=to_odd");
    EXPECT_TRUE(judged(kernel, "cast:f16:e4m3,overflow=overflow,rounding=to_odd").passed());
  }
}

TEST(Diagnosis, of_no_answers_or_no_differences_is_empty) {
  const Expected expected(make_plan(parse_cast_spec("cast:f16:e4m3")));
  EXPECT_TRUE(diagnose(expected, {}).fits.empty());
  const std::vector<Answer> right = {{0x3c00, 0x38, true}};
  EXPECT_EQ(diagnose(expected, right).differences(), 0u);
}

}  // namespace
}  // namespace halfulp::vectors
