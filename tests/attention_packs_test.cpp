// Packs of attention: the same bytes on every thread count, read back, and what they do not accept.
#include <gtest/gtest.h>

#include <fstream>

#include "halfulp/attention/kernel_exact.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/vectors/attention/pack.hpp"
#include "halfulp/vectors/attention/verify.hpp"
#include "tensor_files.hpp"

namespace halfulp::vectors {
namespace {

using tensors::read_bytes;
using tensors::TemporaryFolder;

constexpr const char* kSmall = ",heads=2:1,queries=1,keys=160,rows=2,probes=no,stages=yes";

std::string written(const std::string& spec, const std::string& path, int threads) {
  const auto rows = attention_row_source(parse_attention_spec(spec), Level::stratified, 0, threads);
  const auto writer = write_pack(path, rows->manifest());
  write_rows(*rows, *writer, {threads, {}});
  writer->commit();
  return read_bytes(path);
}

TEST(AttentionPacks, TheSameBytesOnEveryThreadCount) {
  const TemporaryFolder folder;
  for (const attention::Preset& preset : attention::presets()) {
    const std::string spec = "attention:" + preset.spec.name + kSmall;
    const std::string one = written(spec, folder / (preset.spec.name + "1.npz"), 1),
                      four = written(spec, folder / (preset.spec.name + "4.npz"), 4);
    EXPECT_EQ(one, four) << spec;
    const auto pack = read_pack(folder / (preset.spec.name + "1.npz"));
    EXPECT_EQ(pack->manifest().spec, spec);
    EXPECT_EQ(read_attention_pack(*pack).rows.cases.size(), 2u);
  }
}

TEST(AttentionPacks, EveryStageOfTheGoldenRowsIsThatOfTheExactTwin) {
  for (const attention::Preset& preset : attention::presets()) {
    const AttentionPlan plan = parse_attention_spec("attention:" + preset.spec.name + kSmall);
    const AttentionRows rows = attention_rows(plan, Level::stratified, 0);
    const attention::Case& c = rows.cases.back();
    const AttentionAnswer engine = answer_of(plan, reference_answers(plan, {c}).front());
    const AttentionAnswer exact =
        answer_of(plan, attention::run_exact(plan.kernel, gathered(plan.kernel, c).problem()));
    EXPECT_EQ(engine, exact) << preset.spec.name;
  }
}

TEST(AttentionPacks, SpecsAreReadBackAndBadOnesRefused) {
  for (const char* spec : {"attention:fa3_like", "attention:any,out=bf16",
                           "attention:sage_like,heads=8:2,keys=640,page=32,sinks=yes,stages=yes",
                           "attention:fa3_like,out=bf16,order=unknown", "attention:fa3_like,rows=0",
                           "attention:reference,rows=1,probes=no"}) {
    const AttentionPlan plan = parse_attention_spec(spec);
    EXPECT_EQ(spec_text(parse_attention_spec(spec_text(plan))), spec_text(plan)) << spec;
  }
  EXPECT_EQ(spec_text(parse_attention_spec("attention:fa3_like,dim=16:4,out=bf16")),
            "attention:fa3_like,out=bf16,dim=16:4");
  for (const char* spec :
       {"attention:fa9", "attention:fa3_like,heads=4", "attention:fa3_like,heads=4:3",
        "attention:fa3_like,page=7", "attention:fa3_like,stages=maybe", "attention:fa3_like,cache=kivi_k",
        "attention:fa3_like,keys=0", "attention:fa3_like,", "attention:fa3_like,tile=64,tile=64", "attention:any,tile=64", "attention:fa3_like,rows=0,probes=no", "attention:any,probes=no",
        "attention:fa3_like,tile", "attention:", "cast:f32:e4m3"})
    EXPECT_THROW(parse_attention_spec(spec), InputError) << spec;
  EXPECT_THROW(attention_rows(parse_attention_spec("attention:fa3_like"), Level::exhaustive, 0),
               InputError);
  EXPECT_THROW(attention_rows(parse_attention_spec("attention:fa3_like,probes=no"), Level::specials, 0),
               InputError);
}

TEST(AttentionPacks, ColumnsHoldWhatTheRowIs) {
  const AttentionPlan plan = parse_attention_spec("attention:fa3_like,page=16,sinks=yes,stages=yes");
  for (const attention::Case& c : attention_rows(plan, Level::stratified, 3).cases) {
    const auto bytes = input_bytes(plan, c);
    EXPECT_EQ(input_case(plan, {bytes.begin(), bytes.end()}), c);
  }
}

TEST(AttentionPacks, TheFirstStageThatDiffersIsNamed) {
  const AttentionPlan plan = parse_attention_spec("attention:fa3_like,stages=yes");
  const AttentionRows rows = attention_rows(plan, Level::stratified, 0);
  struct Expectation {
    const char *mutant, *stage;
  };
  for (const auto& [mutant, stage] : {Expectation{"mutant:truncated_P", "p_code"},
                                      {"mutant:q_scale_dropped", "t"},
                                      {"mutant:quantized_row_sum", "l"},
                                      {"mutant:v_scale_dropped", "o"},
                                      {"mutant:output_not_rescaled", "o_tile"}}) {
    const AttentionRun run = verify_attention(plan, rows, attention_kernel(mutant));
    ASSERT_NE(run.tally.first(), nullptr) << mutant;
    EXPECT_EQ(run.tally.first()->name, stage) << mutant;
    EXPECT_TRUE(run.failed());
    ASSERT_FALSE(run.fits.empty()) << mutant;
    EXPECT_EQ(run.fits[0].behaviour, mutant);
  }
  const AttentionRun run = verify_attention(plan, rows, attention_kernel("halfulp"));
  EXPECT_TRUE(run.passed());
  EXPECT_EQ(run.tally.first(), nullptr);
}

/// A pack of `manifest` with the bytes of `rows`; the first byte of column `changed` is another one.
bool accepted(const RowSource& rows, const Manifest& manifest, const std::string& changed) {
  const TemporaryFolder folder;
  const auto writer = write_pack(folder / "other.npz", manifest);
  for (std::size_t i = 0; i < manifest.columns.size(); ++i) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(manifest.columns[i].row_bytes() * manifest.rows));
    std::vector<std::span<std::byte>> columns(rows.manifest().columns.size());
    if (i < columns.size()) {
      columns[i] = bytes;
      rows.fill(0, manifest.rows, columns);
    }
    if (manifest.columns[i].name == changed) bytes[0] ^= std::byte{1};
    writer->write(i, bytes);
  }
  writer->commit();
  try {
    read_attention_pack(*read_pack(folder / "other.npz"));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST(AttentionPacks, APackThatSaysSomethingElseIsRefused) {
  const AttentionPlan plan = parse_attention_spec(std::string("attention:reference,page=16,sinks=yes") + kSmall);
  const auto rows = attention_row_source(plan, Level::stratified, 0, 1);
  const Manifest& manifest = rows->manifest();
  EXPECT_TRUE(accepted(*rows, manifest, ""));
  // logit_scale is not part of a case: the reference forms it, and a kernel may read it.
  for (const ColumnInfo& column : manifest.columns) EXPECT_FALSE(accepted(*rows, manifest, column.name)) << column.name;
  const std::pair<const char*, const char*> details[] = {{"\"tile\":64", "\"tile\":32"},
                                                         {"\"keys\":160", "\"keys\":161"},
                                                         {"\"order_unknown\":false", "\"order_unknown\":true"},
                                                         {"\"offset\":8.0", "\"offset\":0.0"},
                                                         {"\"probes\":[]", "\"probes\":[0]"}};
  for (const auto& [from, to] : details) {
    Manifest lie = manifest;
    const std::size_t at = lie.details.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    lie.details.replace(at, std::string(from).size(), to);
    EXPECT_FALSE(accepted(*rows, lie, "")) << to;
  }
  Manifest lie = manifest;
  lie.completeness = Completeness::exhaustive;
  EXPECT_FALSE(accepted(*rows, lie, ""));
  lie = manifest;
  lie.refused = 5;
  EXPECT_FALSE(accepted(*rows, lie, ""));
  lie = manifest;
  lie.spec.replace(lie.spec.find(",stages=yes"), 11, "");
  EXPECT_FALSE(accepted(*rows, lie, "")) << "columns of stages that the SPEC has not";
}

}  // namespace
}  // namespace halfulp::vectors
