// Kernel families: every parameter of the table, specs to text and back, refusals with the nearest names.
#include "halfulp/attention/presets.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "attention_problems.hpp"
#include "halfulp/error.hpp"

namespace halfulp::test {
namespace {

using namespace attention;  // NOLINT: the subject

struct Row {
  const char *name, *qk_model, *pv_model;
  float offset;
  std::optional<float> prescale, threshold;
  int tile;
  TileOrder order;
  int lanes;
  PvMode pv;
  const char *qk_format, *pv_format, *pv_output;
};

TEST(AttentionPresets, TheTableOfTheDocumentation) {
  const char *hopper = "hopper_fp8_wgmma", *blackwell = "blackwell_f8f6f4";
  constexpr TileOrder up = TileOrder::ascending, down = TileOrder::descending;
  constexpr PvMode chained = PvMode::chained, two = PvMode::two_level;
  const float sage = std::bit_cast<float>(0x410ce979u);
  const Row rows[] = {
      {"reference", hopper, hopper, 8, {}, {}, 64, up, 1, chained, "e4m3", "e4m3", "f32"},
      {"fa3_like", hopper, hopper, 8, {}, {}, 128, down, 4, chained, "e4m3", "e4m3", "f32"},
      {"fa3_like_two_level", hopper, hopper, 8, {}, {}, 128, down, 4, two, "e4m3", "e4m3", "f32"},
      {"fa4_like", blackwell, blackwell, 8, {}, 0.0f, 128, up, 1, chained, "e4m3", "e4m3", "f32"},
      {"fa4_like_faulty", blackwell, blackwell, 8, {}, 4.0f, 128, up, 1, chained, "e4m3", "e4m3", "f32"},
      {"flashinfer_like", hopper, hopper, 0, 448.0f, {}, 128, down, 4, chained, "e4m3", "e4m3", "f32"},
      {"flashinfer_like_e5m2", hopper, hopper, 0, 57344.0f, {}, 128, down, 4, chained, "e5m2", "e5m2", "f32"},
      {"flashinfer_like_two_level", hopper, hopper, 0, 448.0f, {}, 128, down, 4, two, "e4m3", "e4m3", "f32"},
      {"sage_like", "int8_imma", "ada_fp8", sage, {}, {}, 64, up, 4, two, "int8", "e4m3", "f32"},
      {"sage_like_f16", "int8_imma", "ada_fp8", sage, {}, {}, 64, up, 4, two, "int8", "e4m3", "f16"},
      {"no_prescale", hopper, hopper, 0, {}, {}, 64, up, 1, chained, "e4m3", "e4m3", "f32"},
  };
  ASSERT_EQ(presets().size(), std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    const KernelSpec& s = presets()[i].spec;
    EXPECT_EQ(s.name, row.name);
    EXPECT_EQ(s.qk_model, row.qk_model) << row.name;
    EXPECT_EQ(s.pv_model, row.pv_model) << row.name;
    EXPECT_EQ(s.offset, row.offset) << row.name;
    EXPECT_EQ(s.prescale, row.prescale) << row.name;
    EXPECT_EQ(s.threshold, row.threshold) << row.name;
    EXPECT_EQ(s.tile, row.tile) << row.name;
    EXPECT_EQ(s.order, row.order) << row.name;
    EXPECT_EQ(s.lanes, row.lanes) << row.name;
    EXPECT_EQ(s.pv, row.pv) << row.name;
    EXPECT_EQ(s.q_format, row.qk_format) << row.name;
    EXPECT_EQ(s.k_format, row.qk_format) << row.name;
    EXPECT_EQ(s.p_format, row.pv_format) << row.name;
    EXPECT_EQ(s.v_format, row.pv_format) << row.name;
    EXPECT_EQ(s.pv_output, row.pv_output) << row.name;
    EXPECT_EQ(s.sum_of, SumOf::f32) << row.name;
    EXPECT_FALSE(s.causal || s.window || s.softcap || s.split != 0 || s.interval != 0);
    EXPECT_FALSE(presets()[i].source.empty() || presets()[i].scales.empty());
  }
  EXPECT_TRUE(presets()[0].spec.tile == KernelSpec{}.tile && presets()[0].spec.offset == KernelSpec{}.offset);
}

/// The largest P stays within the P format, but for the faulty one, whose stale maximum lets it pass.
TEST(AttentionPresets, OnlyTheFaultyOneSaturates) {
  for (const Preset& preset : presets()) {
    const KernelSpec& s = preset.spec;
    const double largest = s.p_format == "e5m2" ? 57344 : 448;
    const double top = std::exp2(static_cast<double>(s.offset) + s.threshold.value_or(0)) * s.prescale.value_or(1);
    EXPECT_EQ(top > largest, s.name == "fa4_like_faulty") << s.name;
  }
}

TEST(AttentionPresets, TextAndBack) {
  for (const Preset& preset : presets()) {
    EXPECT_EQ(text_of(preset.spec), preset.spec.name);
    EXPECT_EQ(parse_spec(preset.spec.name), preset.spec);
  }
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    AttentionMaker maker(seed);
    KernelSpec spec = maker.spec();
    EXPECT_EQ(text_of(spec).substr(0, 9), "reference");  // no name: the defaults
    spec.name = presets()[maker.below(presets().size())].spec.name;
    const std::string text = text_of(spec);
    texts.insert(text);
    EXPECT_EQ(parse_spec(text), spec) << text;
  }
  EXPECT_GT(texts.size(), 490u);
  KernelSpec spec = parse_spec(
      "fa3_like,offset=0x410ce979,threshold=0x1p-3,softcap=30:1/"
      "16,window=-3:5,visible_prefix=4,causal=yes,k_format=float8_e5m2");
  EXPECT_EQ(spec.offset, std::bit_cast<float>(0x410ce979u));
  EXPECT_EQ(spec.threshold, 0.125f);
  EXPECT_EQ(spec.softcap, (SoftCap{30, 0.0625f}));
  EXPECT_EQ(spec.window, (Window{-3, 5}));
  EXPECT_EQ(spec.k_format, "e5m2");
  EXPECT_EQ(text_of(spec), "fa3_like,k_format=e5m2,softcap=30:0.0625,offset=8.807,threshold=0.125,causal=yes,window=-3:5,visible_prefix=4");
  EXPECT_EQ(parse_spec("fa4_like,threshold=none").threshold, std::nullopt);
}

std::string message(std::string_view text) {
  try {
    parse_spec(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AttentionPresets, Refusals) {
  const std::pair<const char*, const char*> rows[] = {
      {"fa3_lik", "nearest names: fa3_like"},
      {"", "no preset has that name"},
      {"reference,offsett=8", "nearest names: offset"},
      {"reference,zzzzzzzz=8", "options are tile, order"},
      {"reference,tile", "it has no value"},
      {"reference,tile=0", "not an integer in range"},
      {"reference,tile=8x", "not an integer in range"},
      {"reference,split=100", "a part would cut a tile in two"},
      {"reference,lanes=2", "sums of a row have 1 or 4 lanes"},
      {"reference,interval=32", "pieces exist in two levels only"},
      {"reference,pv_output=f16", "O is float32 and cannot be c"},
      {"reference,pv=two_level,pv_output=bf16", "PV sums are f32 or f16"},
      {"reference,qk_model=hoper_fp8_wgmma", "nearest names: hopper_fp8_wgmma"},
      {"reference,q_format=int8", "the model does not take it"},
      {"reference,q_format=e4m33", "nearest names"},
      {"reference,qk_model=blackwell_mxf8f6f4", "block scales"},
      {"reference,pv_model=int8_imma,p_format=int8,v_format=int8", "the model does not give it"},
      {"reference,pv_model=blackwell_f8f6f4,p_format=e2m1", "a NaN row has no code in it"},
      {"reference,out=int8", "a NaN row has no code in it"},
      {"reference,out=f64", "a NaN row has no code in it"},
      {"reference,offset=nan", "not finite"},
      {"reference,offset=0x1234", "not float32 bits"},
      {"reference,offset=eight", "not a number"},
      {"reference,order=sideways", "choose ascending or descending"},
      {"reference,causal=1", "choose no or yes"},
      {"reference,window=3", "write window=BEFORE:AFTER or none"},
      {"reference,softcap=30", "write softcap=CAP:SCALE or none"},
      {"reference,tile=8,tile=16", "given twice"},
      {"reference,visible_prefix=-1", "not an integer in range"},
      {"reference,prescale=0", "not positive"},
      {"reference,prescale=-448", "not positive"},
      {"reference,softcap=0:0", "not positive"},
      {"reference,softcap=-30:0.1", "not positive"},
      {"reference,softcap=30:-0.1", "not positive"},
  };
  for (const auto& [text, part] : rows) EXPECT_NE(message(text).find(part), std::string::npos) << text << ": " << message(text);
  KernelSpec spec;
  spec.offset = INFINITY;
  EXPECT_THROW(check(spec), InputError);
  spec = {};
  spec.tile = -1;
  EXPECT_THROW(check(spec), InputError);
  spec = {};
  spec.window = Window{INT64_MAX, 0};
  EXPECT_THROW(check(spec), InputError);
}

}  // namespace
}  // namespace halfulp::test
