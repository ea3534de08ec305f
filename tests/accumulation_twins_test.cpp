// The engine equals its exact twin: a sample of 10^5 chunks of every model. 10^7 in accumulation_twins_exhaustive.cpp.
#include "accumulation_twins.hpp"

#include "halfulp/oracle/exact.hpp"

namespace {

using namespace accumulation_twins;  // NOLINT: one test program
using halfulp::accumulation::models;

TEST(AccumulationTwins, EngineIsTheTwinOnASampleOfEveryModel) {
  for (const auto& model : models()) compare_model(model, 100'000, 20260);
}

/// Promotion, with and without scales, and saturating integers.
TEST(AccumulationTwins, EngineIsTheTwinWherePiecesArePromoted) {
  using halfulp::accumulation::make_spec, halfulp::accumulation::ScaleOrder;
  const MmaSpec specs[] = {
      make_spec({.model = "hopper_fp8_wgmma", .interval = 128}),
      make_spec({.model = "hopper_fp8_wgmma", .output = "f16", .interval = 64}),
      make_spec({.model = "hopper_fp8_wgmma", .interval = 100, .scale_order = ScaleOrder::scales_first}),
      make_spec({.model = "hopper_fp8_wgmma", .interval = 128, .scale_order = ScaleOrder::operand_first, .contract = true}),
      make_spec({.model = "blackwell_f8f6f4", .interval = 32, .scale_order = ScaleOrder::scales_first, .contract = true}),
      make_spec({.model = "blackwell_mxf8f6f4", .interval = 64}),
      make_spec({.model = "exact", .format_a = "e4m3", .format_b = "e4m3", .interval = 16, .scale_order = ScaleOrder::operand_first}),
      make_spec({.model = "f32_tree", .interval = 7}),
      make_spec({.model = "int8_imma", .interval = 48}),
      make_spec({.model = "int8_imma", .format_a = "uint8", .saturate = true}),
  };
  for (const MmaSpec& spec : specs) {
    const halfulp::accumulation::Engine engine(spec);
    RowMaker maker(spec, 7);
    for (int i = 0; i < 3000; ++i) {
      const RowClass row_class = kClasses[maker.below(kClasses.size())];
      const OwnedRow owned = maker.row(row_class, maker.below(400));
      ASSERT_EQ(engine.dot(owned.row()), halfulp::accumulation::dot_exact(spec, owned.row())) << spec.model.name << " " << name_of(row_class);
    }
  }
}

}  // namespace
