// What the judge of recipes takes beside the printed result: every other NaN, unless the SPEC says
// nan=exact, and every other admissible result of an approximate step.
#include <gtest/gtest.h>

#include "halfulp/error.hpp"
#include "halfulp/unpacked.hpp"
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"
#include "halfulp/vectors/reports/report_recipe.hpp"

namespace halfulp::vectors {
namespace {

bool is_nan(const FormatSpec& format, std::uint64_t word) {
  return unpack(format, word).number_class == NumberClass::nan;
}

/// Another NaN of the format: of the other sign, or else of another payload; the word itself if there is
/// none.
std::uint64_t other_nan(const FormatSpec& format, std::uint64_t word) {
  for (const std::uint64_t other : {word ^ format.sign_mask(), word ^ 1}) {
    if (other != word && is_nan(format, other)) return other;
  }
  return word;
}

/// Changes the NaNs among some words; returns how many changed.
template <class Change>
std::size_t change_nans(const FormatSpec& format, std::vector<std::uint64_t>& words, Change change) {
  std::size_t count = 0;
  for (std::uint64_t& word : words) {
    if (!is_nan(format, word)) continue;
    const std::uint64_t before = word;
    word = static_cast<std::uint64_t>(change(word));
    count += word != before ? 1u : 0u;
  }
  return count;
}

struct Changed {
  RecipePlan plan;
  RecipeRows rows;
  std::vector<RowAnswer> answers;
  std::size_t count = 0;  ///< words that are another NaN than the engine's
};

Changed with_other_nans(const std::string& spec, const std::string& kernel = "halfulp") {
  const RecipePlan plan = parse_recipe_spec(spec);
  Changed changed{plan, level_rows(plan, Level::specials, 0), {}};
  changed.answers = run_rows(plan, changed.rows, recipe_kernel(plan, kernel)).rows;
  const auto& recipe = plan.recipe;
  const FormatSpec value = find_format(plan.value_format())->spec;
  const auto swap = [&](const FormatSpec& format, std::vector<std::uint64_t>& words) {
    changed.count +=
        change_nans(format, words, [&](std::uint64_t word) { return other_nan(format, word); });
  };
  for (RowAnswer& answer : changed.answers) {
    swap(recipe.code.format, answer.codes);
    if (recipe.scale.reg >= 0) swap(recipe.scale.format, answer.scales);
    swap(value, answer.values);
  }
  return changed;
}

TEST(BlockNans, every_nan_is_right_where_a_nan_is_expected) {
  for (const char* spec :
       {"recipe:mxfp8/ocp_floor", "recipe:mxfp8/rceil", "recipe:mxfp8/rceil,packing=dense",
        "recipe:mxfp8/ocp_floor,to=e5m2", "recipe:mxfp8/ocp_floor_torchao",
        "recipe:fp8_train/torchao,task=dequantize", "recipe:mxfp8/ocp_floor,task=fake_quantize"}) {
    SCOPED_TRACE(spec);
    const Changed changed = with_other_nans(spec);
    ASSERT_GT(changed.count, 0u);
    const BlockTally tally = judge_blocks(changed.plan, changed.rows, changed.answers);
    EXPECT_TRUE(tally.passed()) << tally.words_wrong << " words wrong";
    EXPECT_EQ(tally.rows, changed.rows.rows.size());
  }
}

TEST(BlockNans, a_spec_can_ask_for_the_code_of_the_cast) {
  for (const std::string spec : {"recipe:mxfp8/ocp_floor", "recipe:mxfp8/ocp_floor,to=e5m2"}) {
    SCOPED_TRACE(spec);
    const Changed changed = with_other_nans(spec + ",nan=exact");
    ASSERT_GT(changed.count, 0u);
    const BlockTally tally = judge_blocks(changed.plan, changed.rows, changed.answers);
    EXPECT_EQ(tally.words_wrong, changed.count);
    EXPECT_EQ(tally.groups[static_cast<std::size_t>(BlockFinding::code_nan)].count, changed.count);
    EXPECT_TRUE(judge_blocks(changed.plan, changed.rows, changed.rows.expected).passed());
    EXPECT_NE(spec_text(changed.plan).find(",nan=exact"), std::string::npos);
    EXPECT_EQ(spec_text(parse_recipe_spec(spec_text(changed.plan))), spec_text(changed.plan));
  }
  EXPECT_EQ(spec_text(parse_recipe_spec("recipe:mxfp8/ocp_floor,nan=any")).find("nan="), std::string::npos);
  EXPECT_THROW(parse_recipe_spec("recipe:mxfp8/ocp_floor,nan=some"), InputError);
}

TEST(BlockNans, a_number_for_a_nan_and_a_nan_for_a_number_are_wrong) {
  const RecipePlan plan = parse_recipe_spec("recipe:mxfp8/rceil");
  const RecipeRows rows = level_rows(plan, Level::specials, 0);
  const FormatSpec& code = plan.recipe.code.format;
  std::vector<RowAnswer> lost = rows.expected, made = rows.expected;
  std::size_t count = 0;
  for (RowAnswer& answer : lost)
    count += change_nans(code, answer.codes, [](std::uint64_t) { return 0x7e; });
  ASSERT_GT(count, 0u);
  EXPECT_EQ(judge_blocks(plan, rows, lost).words_wrong, count);
  for (std::uint64_t& word : made[0].codes) word = 0xff;
  EXPECT_GT(judge_blocks(plan, rows, made).words_wrong, 0u);
  std::vector<RowAnswer> scale = rows.expected;
  for (RowAnswer& answer : scale) answer.scales[0] = 0xff;  // NaN, and no other E8M0 word is one
  EXPECT_GT(judge_blocks(plan, rows, scale).groups[static_cast<std::size_t>(BlockFinding::scale)].count,
            0u);
}

TEST(BlockNans, another_nan_does_not_spoil_an_explanation) {
  const Changed changed = with_other_nans("recipe:mxfp8/ocp_floor", "recipe:mxfp8/even");
  ASSERT_GT(changed.count, 0u);
  const BlockDiagnosis diagnosis = diagnose_blocks(changed.plan, changed.rows, changed.answers);
  ASSERT_TRUE(diagnosis.exact());
  EXPECT_NE(diagnosis.fits[0].behaviour.find("mxfp8/even"), std::string::npos)
      << diagnosis.fits[0].behaviour;
}

TEST(BlockAdmissible, a_verdict_says_how_many_blocks_match_another_result_and_which_step_is_approximate) {
  const RecipePlan plan = parse_recipe_spec("recipe:nvfp4/flashinfer,rows=48");
  RecipeVerdict verdict = verify_recipe(plan, recipe_kernel(plan, "halfulp"));
  EXPECT_TRUE(verdict.passed());
  EXPECT_EQ(report_text(report_of(RecipeRun{verdict, {}, {}, {}, {}, false}), false).find("admissible"), std::string::npos);
  for (std::size_t i = 0; i < verdict.answers.rows.size(); ++i) {
    for (const RowAnswer& other : admissible_answers(plan, verdict.rows.rows[i])) {
      if (wrong_blocks(plan, {verdict.rows.expected[i]}, other) > 0) verdict.answers.rows[i] = other;
    }
  }
  verdict.tally = judge_blocks(plan, verdict.rows, verdict.answers.rows);
  EXPECT_TRUE(verdict.passed());
  ASSERT_GT(verdict.tally.by_choice, 0u);
  const std::string text = report_text(report_of(RecipeRun{verdict, {}, {}, {}, {}, false}), false);
  EXPECT_EQ(text.substr(0, 9), "bit-exact");
  EXPECT_NE(text.find("  admissible    " + std::to_string(verdict.tally.by_choice) + " of "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("approximate"), std::string::npos);
  EXPECT_NE(text.find("rcp_approx("), std::string::npos) << text;
}

}  // namespace
}  // namespace halfulp::vectors
