// The kernel families, one per row; see presets.hpp. Evidence by cell: docs/attention.md.
#include "halfulp/attention/presets.hpp"

#include <bit>
#include <vector>

namespace halfulp::attention {
namespace {

constexpr float kSageOffset = std::bit_cast<float>(0x410ce979u);  // 8.807, just below log2 448

KernelSpec named(const char* name, KernelSpec spec) {
  spec.name = name;
  return spec;
}

KernelSpec fa3(KernelSpec s) {
  s.tile = 128;
  s.order = TileOrder::descending;
  s.lanes = 4;
  return s;
}

KernelSpec fa4(float threshold) {
  KernelSpec s;
  s.tile = 128;
  s.qk_model = s.pv_model = "blackwell_f8f6f4";
  s.threshold = threshold;
  return s;
}

KernelSpec flashinfer(const char* format, float prescale) {
  KernelSpec s = fa3({});
  s.q_format = s.k_format = s.p_format = s.v_format = format;
  s.offset = 0;
  s.prescale = prescale;
  return s;
}

KernelSpec sage(const char* pv_output) {
  KernelSpec s;
  s.qk_model = "int8_imma";
  s.q_format = s.k_format = "int8";
  s.pv_model = "ada_fp8";
  s.pv_output = pv_output;
  s.offset = kSageOffset;
  s.lanes = 4;
  s.pv = PvMode::two_level;
  return s;
}

KernelSpec no_prescale() {
  KernelSpec s;
  s.offset = 0;
  return s;
}

KernelSpec two_level(KernelSpec s) {
  s.pv = PvMode::two_level;
  return s;
}

constexpr std::string_view kPerKvHead = "Q, K and V: one per (batch, KV head)";
constexpr std::string_view kPerHead = "Q: one per query head; K and V: one per KV head";
constexpr std::string_view kSageScales = "Q, K: per block or thread, K minus its token mean; V: per channel, amax / 448";

const std::vector<Preset>& table() {
  static const std::vector<Preset> kTable = {
      {named("reference", {}), "the defaults of KernelSpec; no kernel", "any"},
      {named("fa3_like", fa3({})), "FlashAttention-3 FP8 forward, 2025: offset, descending tiles, four lanes", kPerKvHead},
      {named("fa3_like_two_level", two_level(fa3({}))), "forks of FlashAttention-3 that add every tile to float32", kPerKvHead},
      {named("fa4_like", fa4(0)), "FlashAttention-4 forward after the fix of the lazy rescale: threshold 0", kPerKvHead},
      {named("fa4_like_faulty", fa4(4)), "the same as first released: threshold 4 lets P pass 448", kPerKvHead},
      {named("flashinfer_like", flashinfer("e4m3", 448)), "FlashInfer Hopper FP8 prefill, 2025: P times 448", kPerHead},
      {named("flashinfer_like_e5m2", flashinfer("e5m2", 57344)), "the same in e5m2: P times 57344", kPerHead},
      {named("flashinfer_like_two_level", two_level(flashinfer("e4m3", 448))), "the same, every tile added to float32", kPerHead},
      {named("sage_like", sage("f32")), "SageAttention2, INT8 scores and FP8 PV: \"fp32+fp32\"", kSageScales},
      {named("sage_like_f16", sage("f16")), "SageAttention2++: FP8 PV in float16, every tile added to float32",
       "Q, K: per block or thread, K minus its token mean; V: per channel, amax / 2.25"},
      {named("no_prescale", no_prescale()), "kernels that cast P as it is; the sum keeps what the cast loses", "any"},
  };
  return kTable;
}

}  // namespace

std::span<const Preset> presets() { return table(); }

}  // namespace halfulp::attention
