// Packs of accumulation models: SPECs, rows of the levels, order-free and undecided rows, packs on disk, verdicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/error.hpp"
#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/mma/mma_kernels.hpp"
#include "halfulp/vectors/mma/mma_report.hpp"
#include "halfulp/words.hpp"
#include "temporary_folder.hpp"

#include "../vectors/mutants/loose_sum.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::AccumulationModel;
using accumulation::MmaSpec;
using accumulation::models;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

MmaRun run_of(const std::string& spec, const std::string& implementation, Level level = Level::stratified) {
  return verify_mma_spec(mma_plug(spec, implementation), spec, {.level = level, .seed = 0, .threads = 1, .progress = {}});
}

TEST(MmaSpec, CanonicalTextGivesTheSamePlan) {
  const std::pair<const char*, const char*> specs[] = {
      {"mma:hopper_fp8_wgmma", "mma:hopper_fp8_wgmma,from=e4m3,to=f32,k=128"},
      {"mma:hopper_fp8_wgmma,from=float8_e5m2,to=f16,interval=128", "mma:hopper_fp8_wgmma,from=e5m2,to=f16,interval=128,k=384"},
      {"mma:ada_fp8,from_a=e4m3,from_b=e5m2,order=any,nan=exact", "mma:ada_fp8,from_a=e4m3,from_b=e5m2,to=f32,k=64,order=any,nan=exact"},
      {"mma:blackwell_f8f6f4,interval=32,scale_order=operand_first,contract=yes,k=70",
       "mma:blackwell_f8f6f4,from=e4m3,to=f32,interval=32,scale_order=operand_first,contract=yes,k=70"},
      {"mma:int8_imma,saturate=yes", "mma:int8_imma,from=int8,to=int32,saturate=yes,k=128"},
      {"mma:hopper_f16,zero_rule=b", "mma:hopper_f16,from=f16,to=f32,zero_rule=b,k=64"},
      {"mma:f32_warp_tree,from=bf16", "mma:f32_warp_tree,from=bf16,to=f32,k=64"}};
  for (const auto& [spec, text] : specs) {
    EXPECT_EQ(spec_text(parse_mma_spec(spec)), text);
    EXPECT_EQ(spec_text(parse_mma_spec(text)), text);
  }
}

TEST(MmaSpec, RefusalsSayWhatToDo) {
  const std::pair<const char*, const char*> specs[] = {
      {"mma:hoper_f16", "nearest names: hopper_f16"},
      {"cast:f32:e4m3", "not that of an accumulation model"},
      {"mma:hopper_f16,from=e4m3", "choose from f16, bf16"},
      {"mma:hopper_f16,to=int32", "choose from f32, f16"},
      {"mma:hopper_f16,k=0", "write 1 to 65536"},
      {"mma:hopper_f16,k=99999999999", "write 1 to 65536"},
      {"mma:hopper_f16,from", "not key=value"},
      {"mma:hopper_f16,k=16,k=32", "given twice"},
      {"mma:hopper_f16,form=f16", "nearest names: from"},
      {"mma:hopper_f16,zero_rule=c", "choose from: a, b"},
      {"mma:hopper_f16,order=some", "choose from: model, any"},
      {"mma:hopper_f16,scale_order=scales_first", "give --interval N"},
      {"mma:f32_tree,zero_rule=b", "one reading only"}};
  for (const auto& [spec, words] : specs) {
    const std::string error = error_of([&, s = spec] { parse_mma_spec(s); });
    EXPECT_NE(error.find(words), std::string::npos) << spec << ": " << error;
  }
  const MmaPlan plan = parse_mma_spec("mma:hopper_f16");
  EXPECT_NE(error_of([&] { mma_level_rows(plan, Level::exhaustive, 0); }).find("use stratified"), std::string::npos);
  EXPECT_NE(error_of([&] { mma_function(plan, "mutant:c_lat"); }).find("mutant:c_late"), std::string::npos);
  EXPECT_NE(error_of([&] { mma_function(plan, "mutant:no_parity"); }).find("does not apply"), std::string::npos);
  EXPECT_NE(error_of([&] { mma_function(plan, "mma:ada_fp8"); }).find("name a model with the same formats"), std::string::npos);
}

/// Every model, first format and output: engine and twin agree on every row (else Disagreement), both pass, flags occur.
TEST(MmaRowsOfLevels, EveryModelPassesItsOwnRows) {
  std::size_t rows = 0, undecided = 0, order_free = 0, specs = 0;
  for (const AccumulationModel& model : models()) {
    for (const std::string_view output : words_of(model.outputs)) {
      const std::string spec = "mma:" + std::string(model.name) + ",to=" + std::string(output);
      const MmaRun run = run_of(spec, "halfulp");
      EXPECT_TRUE(run.passed()) << spec;
      EXPECT_EQ(run.tally.rows, run.rows.rows.size());
      EXPECT_EQ(run.tally.as_expected, run.tally.undecided);
      std::uint32_t seen = 0;
      for (const MmaRow& row : run.rows.rows) {
        seen |= row.flags;
        order_free += row.flags & bit(MmaFlag::order_free) ? 1 : 0;
      }
      for (const MmaFlag flag : {MmaFlag::order_free, MmaFlag::model_free, MmaFlag::position, MmaFlag::large_c, MmaFlag::zero, MmaFlag::extreme})
        EXPECT_NE(seen & bit(flag), 0u) << spec << " has no row " << mma_flags()[static_cast<std::size_t>(flag)].name;
      EXPECT_EQ((seen & bit(MmaFlag::scale_end)) != 0, run.plan.scales() != 0) << spec;
      rows += run.tally.rows;
      undecided += run.tally.undecided;
      ++specs;
    }
  }
  std::printf("%zu specs, %zu rows: %zu order-free, %zu undecided\n", specs, rows, order_free, undecided);
  EXPECT_GT(undecided, 0u);
}

/// The proof of the flags against what it claims: shuffled products, other chunkings, promotions, models.
TEST(MmaRowsOfLevels, OrderFreeRowsAreSo) {
  std::mt19937_64 random(1);
  std::size_t own = 0, any = 0;
  for (const char* spec : {"mma:hopper_fp8_wgmma", "mma:hopper_fp8_wgmma,to=f16", "mma:hopper_f16", "mma:ampere_f16,from=bf16", "mma:hopper_tf32",
                           "mma:blackwell_f8f6f4,from=e2m1", "mma:exact,from=f16", "mma:cdna2_f16", "mma:cdna3_fp8"}) {
    const MmaPlan plan = parse_mma_spec(spec);
    const MmaRows rows = mma_level_rows(plan, Level::stratified, 3);
    std::vector<std::pair<std::string, MmaFunction>> others;
    for (const AccumulationModel& model : models()) {
      if (const auto other = comparable_model(plan, model.name)) others.emplace_back(model.name, function_of(*other));
    }
    MmaSpec promoted = plan.spec, smaller = plan.spec, larger = plan.spec;
    promoted.interval = 48;
    smaller.model.chunk = smaller.model.chunk == 0 ? 0 : 1;
    larger.model.chunk *= 4;
    const bool fused = plan.spec.model.scheme == accumulation::Scheme::fused;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const MmaRow& row = rows.rows[i];
      if ((row.flags & (bit(MmaFlag::order_free) | bit(MmaFlag::model_free))) == 0) continue;
      MmaRow shuffled = row;
      for (std::size_t k = shuffled.a.size(); k > 1; --k) {
        const std::size_t other = random() % k;
        std::swap(shuffled.a[k - 1], shuffled.a[other]);
        std::swap(shuffled.b[k - 1], shuffled.b[other]);
      }
      ++own;
      for (const MmaSpec& each : {plan.spec, promoted, fused ? smaller : plan.spec, fused ? larger : plan.spec})
        EXPECT_EQ(function_of(each)(shuffled), rows.expected[i]) << spec << " row " << i;
      if ((row.flags & bit(MmaFlag::model_free)) == 0) continue;
      for (const auto& [name, function] : others) {
        EXPECT_EQ(function(shuffled), rows.expected[i]) << spec << " row " << i << " by " << name;
        ++any;
      }
    }
  }
  std::printf("%zu order-free rows, %zu runs under other models\n", own, any);
  EXPECT_GT(own, 1000u);
  EXPECT_GT(any, 2000u);
}

/// A kernel of another order or model passes the order-free rows, and a wrong one does not.
TEST(MmaVerdicts, AKernelOfUnknownOrderIsJudgedByOrderFreeRows) {
  EXPECT_TRUE(run_of("mma:exact,from=e4m3,order=any", "mma:hopper_fp8_wgmma").passed());
  EXPECT_TRUE(run_of("mma:exact,from=e4m3,order=any", "mma:f32_warp_tree").passed());
  EXPECT_TRUE(run_of("mma:hopper_f16,order=any", "mutant:reversed").passed());
  EXPECT_TRUE(run_of("mma:hopper_fp8_wgmma,order=any", "mutant:half_chunk").passed());
  EXPECT_FALSE(run_of("mma:exact,from=e4m3", "mma:hopper_fp8_wgmma").passed());
  for (const char* mutant : {"mutant:c_dropped", "mutant:short_k", "mutant:shifted_operand"})
    EXPECT_TRUE(run_of("mma:exact,from=e4m3,order=any", mutant).failed()) << mutant;
}

TEST(MmaVerdicts, UndecidedRowsAreNeverFailures) {
  for (const char* spec : {"mma:hopper_f16,from=bf16", "mma:blackwell_mxf8f6f4", "mma:blackwell_mxf4", "mma:blackwell_mxf4nvf4"}) {
    const std::string other = std::string(spec) + ",zero_rule=b";
    const MmaRun run = run_of(spec, other);
    EXPECT_TRUE(run.passed()) << spec;
    EXPECT_GT(run.tally.undecided, 0u) << spec;
    EXPECT_EQ(run.tally.as_other, run.tally.undecided);
    EXPECT_EQ(run.tally.as_expected, 0u);
    MmaAnswers neither;
    for (std::size_t i = 0; i < run.rows.rows.size(); ++i) neither.push_back(run.rows.undecided(i) ? run.rows.expected[i] ^ 0x00010000 : run.rows.expected[i]);
    EXPECT_TRUE(judge_sums(run.plan, run.rows, neither).passed());
  }
}

TEST(MmaVerdicts, NansAreAClassUnlessTheSpecSaysExact) {
  const MmaRows rows = mma_level_rows(parse_mma_spec("mma:hopper_f16"), Level::specials, 0);
  MmaAnswers answers;
  std::size_t nans = 0;
  for (const std::uint32_t word : rows.expected) {
    answers.push_back(word == accumulation::kNanF32 ? 0xffc00001 : word);
    nans += word == accumulation::kNanF32 ? 1 : 0;
  }
  EXPECT_GT(nans, 10u);
  EXPECT_TRUE(judge_sums(parse_mma_spec("mma:hopper_f16"), rows, answers).passed());
  EXPECT_EQ(judge_sums(parse_mma_spec("mma:hopper_f16,nan=exact"), rows, answers).wrong, nans);
}

/// The mutants' own sum with nothing changed is the model: a third way beside engine and twin.
TEST(MmaMutants, TheirSumUnchangedIsTheModel) {
  for (const char* spec : {"mma:hopper_fp8_wgmma", "mma:ada_fp8,from=e5m2,to=f16", "mma:hopper_f16", "mma:ampere_f16,from=bf16", "mma:volta_f16,to=f16",
                           "mma:hopper_tf32", "mma:blackwell_f8f6f4,from=e2m3"}) {
    const MmaPlan plan = parse_mma_spec(spec);
    const MmaRows rows = mma_level_rows(plan, Level::stratified, 5);
    const auto sum = loose_sum(plan.spec, {});
    ASSERT_TRUE(sum);
    for (std::size_t i = 0; i < rows.rows.size(); ++i) ASSERT_TRUE(same_result(plan, (*sum)(rows.rows[i]), rows.expected[i])) << spec << " row " << i;
  }
}

TEST(MmaPacks, ComeBackAndDoNotLie) {
  const test::TemporaryFolder folder;
  const std::string spec = "mma:blackwell_mxf4nvf4";
  std::vector<std::string> d;
  for (const char* name : {"one", "two"}) {
    const auto rows = rows_of_spec(spec, Level::thresholds, 7);
    const auto writer = write_pack(folder / name, rows->manifest());
    write_rows(*rows, *writer, {1, {}});
    writer->commit();
    d.push_back(test::read_bytes(folder / (std::string(name) + "/d.bin")) + test::read_bytes(folder / (std::string(name) + "/a.bin")));
  }
  EXPECT_EQ(d[0], d[1]);
  const auto pack = read_pack(folder / "one");
  EXPECT_EQ(pack->manifest().kind, "mma");
  EXPECT_NE(pack->manifest().find("d_alternative"), nullptr);
  EXPECT_EQ(pack->manifest().find("scale_a")->format, "ue4m3");
  const MmaPack read = read_mma_pack(*pack);
  EXPECT_EQ(read.rows.expected, mma_level_rows(read.plan, Level::thresholds, 7).expected);
  EXPECT_TRUE(verify_mma_pack(mma_plug(spec, "halfulp-exact"), *pack, "one", {}).passed());
  EXPECT_TRUE(verify_mma_pack(mma_plug(spec, "mutant:groups_one_bit_less"), *pack, "one", {}).failed());

  // A pack that expects something else, or flags a row as order-free that is not, judges nothing.
  const auto lying = [&](const char* name, std::size_t column, std::size_t byte) {
    const auto rows = rows_of_spec(spec, Level::thresholds, 7);
    const auto writer = write_pack(folder / name, rows->manifest());
    for (std::size_t i = 0; i < pack->manifest().columns.size(); ++i) {
      const auto bytes = pack->column(i);
      std::vector<std::byte> changed(bytes.begin(), bytes.end());
      if (i == column) changed[byte] ^= std::byte{1};
      writer->write(i, changed);
    }
    writer->commit();
    return error_of([&] { read_mma_pack(*read_pack(folder / name)); });
  };
  const std::size_t last = pack->manifest().columns.size() - 1;
  EXPECT_NE(lying("wrong_d", 5, 0).find("row 0"), std::string::npos);
  EXPECT_NE(lying("wrong_flag", last, 4).find("flags claim"), std::string::npos);

  EXPECT_NE(lying("other_a", 0, 0).find("not"), std::string::npos);

  // Nor does a pack that claims to prove more than a sample, or to be of another level or seed.
  const auto claiming = [&](const char* name, Level level, Completeness completeness) {
    Manifest manifest = pack->manifest();
    manifest.level = level;
    manifest.completeness = completeness;
    const auto writer = write_pack(folder / name, manifest);
    for (std::size_t i = 0; i < manifest.columns.size(); ++i) writer->write(i, pack->column(i));
    writer->commit();
    return error_of([&] { read_mma_pack(*read_pack(folder / name)); });
  };
  EXPECT_EQ(claiming("as_it_is", Level::thresholds, Completeness::sampled), "no error");
  EXPECT_NE(claiming("specials_claimed", Level::specials, Completeness::sampled).find("level and seed"), std::string::npos);
  EXPECT_NE(claiming("all_claimed", Level::thresholds, Completeness::exhaustive).find("more than a sample"), std::string::npos);
  EXPECT_NE(claiming("level_claimed", Level::exhaustive, Completeness::sampled).find("more than a sample"), std::string::npos);
}

}  // namespace
}  // namespace halfulp::vectors
