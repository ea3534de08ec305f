// Recipe packs: SPECs, rows of the levels, bytes, the judge.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"
#include "halfulp/vectors/blocks/row_flags.hpp"
#include "halfulp/vectors/blocks/strata.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/reports/report_recipe.hpp"

namespace halfulp::vectors {
namespace {

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// ---- SPECs ----

TEST(RecipeSpec, CanonicalTextGivesTheSamePlan) {
  const std::pair<const char*, const char*> specs[] = {
      {"recipe:mxfp8/rceil", "recipe:mxfp8/rceil,to=e4m3,from=f32,shape=2x64"},
      {"recipe:mxfp8/rceil,to=float8_e5m2,from=bfloat16",
       "recipe:mxfp8/rceil,to=e5m2,from=bf16,shape=2x64"},
      {"recipe:mxfp4/vllm,packing=low_first,layout=128x4,rows=5",
       "recipe:mxfp4/vllm,to=e2m1,from=f32,shape=2x64,rows=5,packing=low_first,layout=128x4"},
      {"recipe:fp8_block/deepseek,block=128x128,layout=transposed,multiple=4,shape=128x128",
       "recipe:fp8_block/"
       "deepseek,to=e4m3,block=128x128,from=f32,shape=128x128,layout=transposed,multiple=4"},
      {"recipe:fp8_per_token/vllm_cuda,ub=1200,task=dequantize", "no error"},
      {"recipe:nvfp4/vllm,tensor_amax=varied",
       "recipe:nvfp4/vllm,to=e2m1,from=f32,shape=2x32,tensor_amax=varied"},
      {"recipe:int_asym/zero_point,clip=0x1.cp-1",
       "recipe:int_asym/zero_point,to=uint8,from=f32,shape=4x16,clip=0x1.cp-1"},
      {"recipe:fp8_static/vllm,scale=0.5", "recipe:fp8_static/vllm,to=e4m3,from=f32,shape=2x16,scale=0.5"}};
  for (const auto& [spec, text] : specs) {
    if (std::string(text) == "no error") continue;
    const RecipePlan plan = parse_recipe_spec(spec);
    EXPECT_EQ(spec_text(plan), text);
    EXPECT_EQ(spec_text(parse_recipe_spec(spec_text(plan))), text);
  }
}

TEST(RecipeSpec, RefusalsSayWhatToDo) {
  const std::pair<const char*, const char*> specs[] = {
      {"recipe:mxfp8/rceli", "nearest names: mxfp8/rceil"},
      {"recipe:", "unknown"},
      {"cast:f32:e4m3", "not that of a recipe"},
      {"recipe:mxfp8/rceil,to=e2m1", "not one of its elements"},
      {"recipe:mxfp8/rceil,from=e4m3", "use f32, bf16 or f16"},
      {"recipe:mxfp8/rceil,shape=2", "write rows and columns as 2x64"},
      {"recipe:mxfp8/rceil,shape=0x64", "not a shape"},
      {"recipe:mxfp8/rceil,shape=99999999999999999999x1", "not a shape"},
      {"recipe:mxfp8/rceil,shape=1048576x1048576", "at most 2^20 elements"},
      {"recipe:mxfp8/rceil,block=1048576x1048576", "name a shape=RxC"},
      {"recipe:mxfp8/rceil,block=wide", "not a block"},
      {"recipe:mxfp8/rceil,packing=low", "choose from: low_first"},
      {"recipe:mxfp6/rceil,packing=low_first", "does not hold codes of 6 bits"},
      {"recipe:mxfp8/rceil,layout=4x128", "choose from: linear"},
      {"recipe:kv_fp8/scale_1,layout=linear", "stores no block scales"},
      {"recipe:mxfp8/rceil,multiple=4", "not a padding"},
      {"recipe:mxfp8/rceil,rows=0", "not a count"},
      {"recipe:mxfp8/rceil,rows", "not key=value"},
      {"recipe:mxfp8/rceil,rows=", "not key=value"},
      {"recipe:mxfp8/rceil,rows=1,rows=2", "given twice"},
      {"recipe:mxfp8/rceil,task=decode", "choose from: quantize, dequantize, fake_quantize"},
      {"recipe:mxfp8/rceil,task=fake_quantize,packing=dense", "only values come and go"},
      {"recipe:mxfp8/rceil,shpe=2x64", "nearest names: shape"},
      {"recipe:mxfp8/rceil,tensor_amax=1", "not one of this recipe's"},
      {"recipe:fp8_per_token/vllm_cuda,ub=much", "not a number"},
      {"recipe:nvfp4/vllm,tensor_amax=varied,tensor_scale=varied", "name one of them"},
      {"recipe:kvquant/k,codebook=1", "a table is no single value"}};
  for (const auto& [spec, words] : specs) {
    const std::string error = error_of([&, s = spec] { parse_recipe_spec(s); });
    EXPECT_NE(error.find(words), std::string::npos) << spec << ": " << error;
  }
  EXPECT_NE(error_of([] {
              level_rows(parse_recipe_spec("recipe:mxfp8/rceil"), Level::exhaustive, 0);
            }).find("use stratified"),
            std::string::npos);
  const RecipePlan plan = parse_recipe_spec("recipe:mxfp8/rceil");
  EXPECT_NE(error_of([&] { recipe_kernel(plan, "mutant:scale_flor"); }).find("mutant:scale_floor"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              recipe_kernel(plan, "recipe:nvfp4/vllm");
            }).find("does not store what mxfp8/rceil stores"),
            std::string::npos);
}

// ---- rows ----

TEST(RecipeRowsOfLevels, EveryRecipeAndTaskPassesItsOwnPack) {
  std::size_t plans = 0, elements = 0;
  for (const std::string_view name : recipes::recipe_names()) {
    for (const std::string& element : recipes::recipe_elements(name)) {
      for (const char* task : {"quantize", "dequantize", "fake_quantize"}) {
        const RecipePlan plan =
            parse_recipe_spec("recipe:" + std::string(name) + ",to=" + element + ",rows=8,task=" + task);
        const RecipeVerdict verdict =
            verify_recipe(plan, recipe_kernel(plan, "halfulp"), {.level = Level::thresholds});
        EXPECT_TRUE(verdict.passed()) << spec_text(plan) << " " << verdict.answers.failure;
        EXPECT_EQ(verdict.tally.by_choice, 0u);
        ++plans;
        elements += verdict.tally.rows * plan.elements();
      }
    }
  }
  std::printf("%zu SPECs, %zu elements through engine, twin and bytes\n", plans, elements);
}

TEST(RecipeRowsOfLevels, TheSameForEveryNumberOfThreadsAndOtherwiseForAnotherSeed) {
  const RecipePlan plan = parse_recipe_spec("recipe:nvfp4/torchao");
  const RecipeRows one = level_rows(plan, Level::thresholds, 5, 1),
                   three = level_rows(plan, Level::thresholds, 5, 3);
  ASSERT_EQ(one.rows.size(), three.rows.size());
  const auto same_bits = [](const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
  };
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_TRUE(same_bits(one.rows[i].values, three.rows[i].values)) << i;
    EXPECT_EQ(one.expected[i], three.expected[i]);
    EXPECT_EQ(one.rows[i].flags, three.rows[i].flags);
  }
  const RecipeRows other = level_rows(plan, Level::thresholds, 6, 1);
  EXPECT_FALSE(same_bits(one.rows.back().values, other.rows.back().values));
}

/// Every scale code that some maximum gives, and every element code that can stand beside it.
TEST(RecipeRowsOfLevels, StratifiedReachesEveryScaleAndPair) {
  const RecipePlan plan = parse_recipe_spec("recipe:mxfp4/ocp_floor");
  const RecipeRows rows = level_rows(plan, Level::stratified, 0);
  std::set<std::uint64_t> scales;
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const RowAnswer& answer : rows.expected) {
    for (std::int64_t b = 0; b < plan.blocks().count(); ++b) {
      const std::uint64_t scale = answer.scales[static_cast<std::size_t>(b)];
      scales.insert(scale);
      blocks::for_each_place(plan.blocks(), b, [&](std::size_t i) {
        pairs.insert({scale, answer.codes[i]});
      });
    }
  }
  // Bytes 0 .. 252: the largest binary32 number has exponent 127 - 2; 255 for NaN and Inf.
  EXPECT_EQ(scales.size(), 254u);
  std::size_t missing = 0;
  for (std::uint64_t scale = 2; scale <= 252; ++scale) {
    for (std::uint64_t code = 0; code < 16; ++code) missing += pairs.contains({scale, code}) ? 0 : 1;
  }
  EXPECT_EQ(missing, 0u);
}

TEST(RecipeRowsOfLevels, FlagsSayWhatIsInARow) {
  const RecipePlan plan = parse_recipe_spec("recipe:mxfp8/rceil,shape=2x48");
  const RecipeRows rows = level_rows(plan, Level::stratified, 0);
  std::map<std::string, std::size_t> counts;
  for (const RecipeRow& row : rows.rows) {
    for (std::size_t bit = 0; bit < row_flags().size(); ++bit)
      counts[row_flags()[bit].name] += row.flags >> bit & 1;
  }
  for (const FlagNote& note : row_flags()) {
    EXPECT_FALSE(note.tests.empty() || note.matters.empty() || note.goes_wrong.empty()) << note.name;
    if (note.name == "several_answers")
      EXPECT_EQ(counts[note.name], 0u);
    else
      EXPECT_GT(counts[note.name], 0u) << note.name;
  }
  EXPECT_EQ(counts["partial_block"], rows.rows.size());
}

// ---- bytes ----

TEST(RecipeColumns, PackedCodesAndLaidOutScalesComeBack) {
  const RecipePlan plan =
      parse_recipe_spec("recipe:mxfp4/ocp_floor,packing=low_first,layout=8x4,shape=3x96");
  const std::vector<RecipeColumn> columns = expected_columns(plan);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].shape, (std::vector<std::uint64_t>{32}));     // 8 rows x 4 columns of scales
  EXPECT_EQ(columns[1].shape, (std::vector<std::uint64_t>{3, 48}));  // two codes per byte
  EXPECT_EQ(columns[1].format, "uint8");
  RowAnswer answer;
  for (std::uint64_t i = 0; i < 9; ++i) answer.scales.push_back(100 + i);
  for (std::uint64_t i = 0; i < 3 * 96; ++i) answer.codes.push_back(i * 7 % 16);
  std::vector<std::byte> scales(32), codes(3 * 48);
  const std::span<std::byte> out[] = {scales, codes};
  put_answer(plan, answer, out);
  EXPECT_EQ(std::to_integer<int>(scales[4]), 103);  // row 1 of the tile
  EXPECT_EQ(std::to_integer<int>(scales[3]), 0);    // padding
  EXPECT_EQ(std::to_integer<int>(codes[0]), 0x70);  // element 0 low, element 1 high
  const std::span<const std::byte> in[] = {scales, codes};
  EXPECT_EQ(get_answer(plan, in), answer);
}

TEST(RecipeColumns, InputsOfTheirOwn) {
  const auto names = [](const char* spec) {
    std::string text;
    for (const RecipeColumn& column : input_columns(parse_recipe_spec(spec)))
      text += column.name + ":" + column.format + " ";
    text += "->";
    for (const RecipeColumn& column : expected_columns(parse_recipe_spec(spec)))
      text += " " + column.name + ":" + column.format;
    return text;
  };
  EXPECT_EQ(names("recipe:nvfp4/transformer_engine_stochastic"),
            "input:f32 random:uint8 -> tensor_scale:f32 scale:ue4m3 code:e2m1");
  EXPECT_EQ(names("recipe:nvfp4/vllm,tensor_scale=varied"),
            "input:f32 tensor_scale:f32 -> scale:ue4m3 code:e2m1");
  EXPECT_EQ(names("recipe:fp8_static/vllm"), "input:f32 scale:f32 -> stored_scale:f32 code:e4m3");
  EXPECT_EQ(names("recipe:kvquant/k,to=uint2"),
            "input:f32 outlier_lower:f32 outlier_upper:f32 codebook:f32 -> scale:f16 zero:f16 code:uint2 "
            "kept:uint8");
  EXPECT_EQ(names("recipe:nvfp4/transformer_engine,task=dequantize"),
            "tensor_scale:f32 scale:ue4m3 code:e2m1 tensor_amax:f32 -> value:f32");
  EXPECT_EQ(names("recipe:mxfp8/rceil,task=fake_quantize,from=bf16"), "input:bf16 -> value:f32");
}

// ---- the judge ----

struct OneRow {
  RecipePlan plan;
  RecipeRows rows;
  BlockTally judged(const RowAnswer& got) const { return judge_blocks(plan, rows, {got}); }
  const RowAnswer& right() const { return rows.expected[0]; }
};
OneRow one_row(const char* spec, std::vector<double> values) {
  RecipePlan plan = parse_recipe_spec(spec);
  std::vector<RecipeRow> rows = {{std::move(values), {}, {}, 0}};
  RecipeRows judged = judged_rows(plan, std::move(rows));
  return {std::move(plan), std::move(judged)};
}

TEST(RecipeJudge, KindsOfFindings) {
  const OneRow one =
      one_row("recipe:mxfp4/ocp_floor,block=4,shape=1x8", {4, 0.25, 3, -0.0, 2, 1, 0.5, 0.125});
  EXPECT_TRUE(one.judged(one.right()).passed());
  const auto kinds = [&](const std::function<void(RowAnswer&)>& change) {
    RowAnswer got = one.right();
    change(got);
    const BlockTally tally = one.judged(got);
    std::string text;
    for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
      if (tally.groups[i].count > 0)
        text += (text.empty() ? "" : ", ") + std::string(kBlockFindingNames[i]) + " " +
                std::to_string(tally.groups[i].count);
    }
    return text;
  };
  EXPECT_EQ(kinds([](RowAnswer& a) { ++a.scales[1]; }), "scale 1");
  EXPECT_EQ(kinds([](RowAnswer& a) { std::swap(a.scales[0], a.scales[1]); }), "order of scales 2");
  EXPECT_EQ(kinds([](RowAnswer& a) { a.codes[3] = 0; }), "zero sign 1");
  EXPECT_EQ(kinds([](RowAnswer& a) { a.codes[1] = 1; }), "tie 1");  // 0.25 lies half way between 0 and 0.5
  EXPECT_EQ(kinds([](RowAnswer& a) { a.codes[2] = 0x13; }), "other code 1");  // bits above the code
  EXPECT_EQ(kinds([](RowAnswer& a) { a.codes[0] = 7; }), "overflow 1");
  EXPECT_EQ(
      kinds([](RowAnswer& a) { std::swap(a.codes[4], a.codes[5]), std::swap(a.codes[6], a.codes[7]); }),
      "packing 4");
  RowAnswer only_scales = one.right();
  only_scales.codes.clear();
  EXPECT_TRUE(one.judged(only_scales).passed());  // a column that is not given is not judged
}

TEST(RecipeJudge, EveryNanIsRightWhereOneIsExpected) {
  const OneRow one = one_row("recipe:fp8_channel/compressed_tensors,shape=1x2",
                             {std::numeric_limits<double>::quiet_NaN(), 1});
  RowAnswer got = one.right();
  got.scales[0] = 0xffc12345;
  EXPECT_TRUE(one.judged(got).passed());
  got.codes[0] = 0xff;
  EXPECT_TRUE(one.judged(got).passed());
  got.codes[0] = 0x7e;  // a number
  EXPECT_FALSE(one.judged(got).passed());
}

/// A kernel whose reciprocals are one ulp off is right; a block that mixes choices is not.
TEST(RecipeJudge, AdmissibleResultsAreAccepted) {
  const RecipePlan plan = parse_recipe_spec("recipe:nvfp4/vllm");
  recipes::QuantRecipe other = plan.recipe;
  for (recipes::Step& step : other.steps) {
    if (step.op == recipes::Op::reciprocal_approx) step.ulps = 1;
  }
  const RowKernel kernel =
      row_kernel(plan, [&](const RecipePlan& p, const RecipeRow& row) { return answer_by(p, other, row); });
  const RecipeVerdict verdict = verify_recipe(plan, kernel, {.level = Level::thresholds});
  EXPECT_TRUE(verdict.passed());
  EXPECT_GT(verdict.tally.by_choice, 0u);
}

TEST(RecipeJudge, FailuresKeepWhatArrived) {
  const RecipePlan plan = parse_recipe_spec("recipe:fp8_block/deepseek,rows=12,shape=64x256");
  const RowKernel right = recipe_kernel(plan, "halfulp");
  const RecipeVerdict verdict = verify_recipe(plan, [&](const RowJob& job) {
    if (job.first > 0) throw KernelFailure("it died");
    right(job);
  });
  EXPECT_EQ(verdict.answers.failure, "it died");
  EXPECT_FALSE(verdict.passed());
  EXPECT_EQ(verdict.tally.words_wrong, 0u);
  EXPECT_GT(verdict.tally.rows, 0u);
  EXPECT_LT(verdict.tally.rows, verdict.rows.rows.size());
}

TEST(RecipeReport, TheCardShowsTheStepsAndACommand) {
  const RecipePlan plan = parse_recipe_spec("recipe:mxfp4/ocp_floor,rows=40");
  RecipeRun run;
  run.verdict = verify_recipe(plan, recipe_kernel(plan, "mutant:scale_one_up"),
                              {.implementation = "mutant:scale_one_up"});
  run.diagnosis = diagnose_blocks(plan, run.verdict.rows, run.verdict.answers.rows);
  const std::string text = report_text(report_of(run), false);
  for (const char* words :
       {"MISMATCH", "pow2_floor(a)", "expected codes", "got codes",
        "| halfulp quantize --recipe mxfp4/ocp_floor", "scale twice as large", "class"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  const std::string json = recipe_verdict_json(run.verdict, {});
  EXPECT_EQ(json.back(), '\n');
  EXPECT_NE(json.find("\"verdict\":\"MISMATCH\""), std::string::npos);
}

}  // namespace
}  // namespace halfulp::vectors
