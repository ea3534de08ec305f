// This project's engines pass, and the judge judges itself. Libraries: verify_libraries_test; mutants: mutants_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/child.hpp"
#include "halfulp/vectors/listing.hpp"
#include "halfulp/vectors/verify.hpp"
#include "shared_tables.hpp"

namespace halfulp::vectors {
namespace {

Verdict run(const Implementation& implementation, const std::string& spec, Level level, int threads = 0) {
  return verify(implementation, parse_cast_spec(spec),
                {.level = level, .seed = 1, .threads = threads, .progress = {}});
}

std::string with_card(const Verdict& verdict) {
  return verdict.passed() ? "" : verdict_text(verdict, false);
}

// clang-format off
constexpr const char* kEngineSpecs[] = {
    "cast:f32:e4m3", "cast:f32:e4m3,overflow=overflow,rounding=to_odd",
    "cast:f32:e5m2,overflow=saturate_keep_inf,rounding=ties_to_away",
    "cast:f64:e4m3fnuz,overflow=overflow,rounding=toward_negative", "cast:f64:e4m3@torch_2_11",
    "cast:f32:e4m3@hip_6_4_nosat", "cast:f32:e4m3@onednn", "cast:f32:e8m0@ml_dtypes",
    "cast:f64:e8m0@ml_dtypes", "cast:f32:e8m0@cuda_nosat,rounding=toward_positive",
    "cast:f32:e2m1@ml_dtypes", "cast:f32:ue4m3,negative=abs",
    "cast:f32:binary8p3se,overflow=overflow,rounding=toward_positive", "cast:f32:binary8p1uf,negative=nan",
    "cast:f16:mxint8,nan=nan_to_zero", "cast:bf16:int4,nan=nan_to_zero", "cast:f32:nf4,nan=nan_to_max",
    "cast:f16:hif8,rounding=ties_to_away,overflow=overflow",
    "cast:f32:f16,overflow=overflow,nan-code=payload,flush=both",
    "cast:f32:e3m2,rounding=stochastic,sr-bits=8,sr-random=0x5a,nan=nan_to_max",
    "cast:e5m2:f32,nan-code=payload", "cast:f64:f32,overflow=overflow,nan-code=payload",
    "cast:f32:tf32,overflow=overflow"};
// clang-format on

TEST(Engines, pass_everything) {
  for (const char* name : {"halfulp", "halfulp-batch"}) {
    const Implementation& engine = require_implementation(name);
    if (!engine.missing.empty()) {
      std::cout << "not found: " << name << ": " << engine.missing << "\n";
      continue;
    }
    for (const std::string spec : kEngineSpecs) {
      if (engine.name == "halfulp-batch" && spec.find("stochastic") != std::string::npos) continue;
      const bool all = make_plan(parse_cast_spec(spec)).from->width <= 16;
      EXPECT_EQ(shared_verdict(engine, spec, all ? Level::exhaustive : Level::stratified).card, "") << name;
    }
  }
}

/// A mutant under its own SPEC, judged once for all tests.
const Verdict& verdict_of(const Implementation& mutant) {
  static std::map<std::string, Verdict> made;
  const auto found = made.find(mutant.name);
  if (found != made.end()) return found->second;
  return made.emplace(mutant.name, run(mutant, mutant.claims.front().spec, Level::thresholds))
      .first->second;
}

TEST(Sweep, totals_and_examples_do_not_depend_on_threads) {
  const Implementation& mutant = require_implementation("mutant:truncate");
  const Verdict one = run(mutant, "cast:bf16:e4m3", Level::exhaustive, 1);
  const Verdict four = run(mutant, "cast:bf16:e4m3", Level::exhaustive, 4);
  EXPECT_EQ(one.completeness, Completeness::exhaustive);
  EXPECT_EQ(one.tally.checked, 65536u);
  EXPECT_EQ(verdict_text(one, false), verdict_text(four, false));
}

TEST(Sweep, agrees_with_the_list_of_all_words) {
  const Expected expected(make_plan(parse_cast_spec("cast:f16:e4m3,overflow=overflow,rounding=to_odd")));
  std::uint64_t wrong = 0;
  for (std::uint64_t word = 0; word < 65536; ++word) {
    const auto want = expected.at(word);
    wrong += want.result.code != expected.plan()(word).code;
    const Unpacked x = unpack(*expected.plan().from, word);
    // Past the largest finite both answers count: 448 and NaN.
    if (x.number_class == NumberClass::normal && want.alternative) {
      EXPECT_TRUE(expected.accepts(want, 0x7f) || expected.accepts(want, 0xff));
    }
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Verdict, inputs_that_the_policy_refuses_are_counted_and_not_judged) {
  const Verdict verdict = run(require_implementation("halfulp"), "cast:f16:e2m1", Level::exhaustive);
  EXPECT_EQ(with_card(verdict), "");
  EXPECT_EQ(verdict.tally.refused, 2046u);  // NaN into a format without NaN
  EXPECT_EQ(verdict.tally.checked, 65536u - 2046u);
  EXPECT_GT(run(require_implementation("halfulp"), "cast:f32:e2m1", Level::thresholds).tally.refused, 0u);
}

std::string mutant_card(const char* name) {
  return verdict_text(verdict_of(require_implementation(std::string("mutant:") + name)), false);
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Card, shows_fields_line_rule_and_command) {
  expect_parts(mutant_card("truncate"),
               {"MISMATCH", "0|01110101|00000000000000000000001", "0|0000|001", "number line", "midpoint",
                "8388609/8589934592", "8388609/16777216 ulp below x", "IEEE 754-2019",
                "rounding=toward_zero", "halfulp cast --from f32 --to e4m3 --values --flags 0x3a800001",
                "carry", "first difference: cast:f32:e4m3, input 0x3a800001",
                "thresholds: complete for monotone casts (both sides of every boundary)"});
}

TEST(Card, distances_are_exact_or_say_that_they_are_not) {
  using oracle::Exact;
  const Exact tiny = Exact::pow2(-125);
  EXPECT_EQ(ulp_text(Exact::ratio(3, 8)), "3/8");
  EXPECT_EQ(ulp_text(Exact(1) - tiny), "1 - 2^-125");
  EXPECT_EQ(ulp_text(Exact::ratio(1, 2) + tiny), "1/2 + 2^-125");
  EXPECT_EQ(ulp_text(Exact(1) - tiny * Exact(3)), "just under 1");
  EXPECT_EQ(ulp_text(tiny * Exact(3)), "less than 2^-123");
  EXPECT_EQ(ulp_text(Exact::ratio(1, 3) + tiny), "≈ 0.3333333333");
  EXPECT_EQ(ulp_text(Exact::pow2(100) * Exact(3) + tiny), "more than 2^101");
  expect_parts(mutant_card("shift_modulo_64"), {"just under 1 ulp above x"});
}

TEST(Card, orders_negative_numbers_by_value_and_keeps_the_sign_of_zero) {
  expect_parts(mutant_card("negative_truncated"),
               {"lower         0x81  -0.001953125", "upper         0x80  -0\n"});
  expect_parts(mutant_card("zero_sign_lost"), {"  -0\n"});
  expect_parts(mutant_card("sign_extended"), {"bits above the code are set"});
}

TEST(Card, writes_long_decimals_as_hex_floats) {
  const Implementation& mutant = require_implementation("mutant:truncate");
  const std::string text =
      verdict_text(run(mutant, "cast:f32:bf16,overflow=overflow", Level::thresholds), false);
  expect_parts(text, {"0x1p-133"});
}

TEST(Card, names_the_judge_the_level_and_what_is_not_claimed) {
  const CastRequest dialect = parse_cast_spec("cast:f32:f16@x86_f16c");
  Implementation f16;  // follows one dialect, whatever is asked
  f16.name = "f16";
  f16.claims = {{spec_text(make_plan(dialect)),
                 [&] { return require_implementation("halfulp").open_plan(make_plan(dialect)); }}};
  const Verdict odd = run(f16, "cast:f32:f16,rounding=to_odd", Level::thresholds);
  expect_parts(verdict_text(odd, false), {"judged by     its own dialect @x86_f16c\n",
                                          "note          f16 does not claim rounding=to_odd\n"});
  ASSERT_FALSE(odd.diagnosis.fits.empty());
  for (const Fit& fit : odd.diagnosis.fits) EXPECT_NE(fit.behaviour, "rounding=ties_to_away");
  EXPECT_EQ(odd.diagnosis.fits.front().behaviour, "rounding=ties_to_even");
  EXPECT_EQ(odd.diagnosis.fits.front().matched, odd.diagnosis.cases);
  const std::string own = verdict_text(run(f16, "cast:f32:f16@x86_f16c", Level::stratified), false);
  expect_parts(own, {"stratified: complete for", "and a sample, seed 1\n"});
}

TEST(Listing, shows_the_claims_that_errors_point_at) {
  const Implementation& library = require_implementation("cpu-f16c");
  if (!library.missing.empty()) GTEST_SKIP() << "not found: cpu-f16c: " << library.missing;
  EXPECT_THROW(choose(library, parse_cast_spec("cast:f32:e4m3")), InputError);
  expect_parts(claims_text("cpu-f16c"), {"\n  cast:f32:f16@x86_f16c\n"});
  expect_parts(claims_text("cast:f32:f16"), {"cpu-f16c          cast:f32:f16@x86_f16c\n"});
}

TEST(Choice, the_own_dialect_fills_what_the_SPEC_leaves_open) {
  const Implementation& library = require_implementation("cuda-headers");
  if (!library.missing.empty()) GTEST_SKIP() << "not found: cuda-headers: " << library.missing;
  const auto chosen = [&](const char* spec) {
    return spec_text(choose(library, parse_cast_spec(spec)).plan);
  };
  EXPECT_EQ(chosen("cast:f32:e4m3"), "cast:f32:e4m3@cuda_satfinite");
  EXPECT_EQ(chosen("cast:f32:e4m3,overflow=overflow"), "cast:f32:e4m3@cuda_nosat,overflow=overflow");
  EXPECT_EQ(chosen("cast:f32:e4m3@ocp_sat"), "cast:f32:e4m3@ocp_sat");
  EXPECT_EQ(chosen("cast:f32:e2m1,rounding=toward_zero"),
            "cast:f32:e2m1@cuda_satfinite,rounding=toward_zero");
  EXPECT_THROW(chosen("cast:f32:int8"), InputError);
}

TEST(Choice, refuses_what_cannot_be_judged) {
  const Implementation& engine = require_implementation("halfulp");
  EXPECT_THROW(require_implementation("halfulq"), InputError);
  EXPECT_THROW(run(engine, "cast:f64:e4m3", Level::exhaustive), InputError);
  EXPECT_THROW(run(engine, "cast:f32:f64", Level::exhaustive), InputError);
  EXPECT_THROW(run(engine, "cast:exact:e4m3", Level::thresholds), InputError);
  EXPECT_THROW(run(engine, "cast:f32:e4m3,rounding=stochastic,sr-bits=4", Level::thresholds), InputError);
}

TEST(Child, crash_short_answer_and_hang_are_findings) {
  std::byte answer[16];
  const std::byte frame[4] = {};
  EXPECT_THROW(Child({"false"}).exchange(frame, answer), KernelFailure);
  EXPECT_THROW(Child({"echo"}).exchange(frame, answer), KernelFailure);
  EXPECT_THROW(Child({"sleep", "30"}, std::chrono::seconds(1)).exchange(frame, answer), KernelFailure);
  EXPECT_THROW(Child({"/nonexistent/program"}), KernelFailure);
}

TEST(Verdict, a_kernel_that_fails_is_not_passed) {
  Implementation broken;
  broken.name = "broken";
  broken.open_plan = [](const CastPlan&) -> Kernel {
    return [](auto, auto) { throw KernelFailure("it crashed"); };
  };
  const Verdict verdict = run(broken, "cast:f32:e4m3", Level::thresholds);
  EXPECT_FALSE(verdict.passed());
  EXPECT_EQ(verdict.tally.checked, 0u);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].text, "it crashed");
}

}  // namespace
}  // namespace halfulp::vectors
