// The diagnosis names every mutant, sees what cannot be told apart, and does not name what it does not know.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

Verdict judged(const Implementation& implementation, const std::string& spec, Level level = Level::thresholds) {
  return verify(implementation, parse_cast_spec(spec), {.level = level, .seed = 1, .threads = 1, .progress = {}});
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
  return fit.behaviour == behaviour || std::find(fit.equals.begin(), fit.equals.end(), behaviour) != fit.equals.end();
}

TEST(Mutants, are_named_by_the_diagnosis) {
  EXPECT_EQ(kNamesOfMutants.size(), mutants().size());
  for (const Implementation& mutant : mutants()) {
    const auto name = kNamesOfMutants.find(mutant.name.substr(7));
    ASSERT_NE(name, kNamesOfMutants.end()) << mutant.name;
    const Diagnosis& found = verdict_of(mutant).diagnosis;
    EXPECT_TRUE(found.exact()) << mutant.name;
    const bool named = std::any_of(found.fits.begin(), found.fits.end(), [&](const Fit& fit) { return names(fit, name->second); });
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

}  // namespace
}  // namespace halfulp::vectors
