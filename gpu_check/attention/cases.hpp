// The attention comparisons: a kernel of kernels/attention.cuh, a spec of the reference kernel, and the size of a problem.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace halfulp::gpu {

/// Kernels by cache and by who computes QK and PV.
enum class AttentionKernel : std::uint8_t {
  prefill,             ///< contiguous cache, both products in integer arithmetic; also INT8 QK
  prefill_mma_sync,    ///< both by mma.sync on E4M3
  prefill_wgmma_e4m3,  ///< both by wgmma
  prefill_wgmma_e5m2,
  paged,               ///< decode from a paged FP8 cache, integer arithmetic
  paged_mma_sync,
  int8_mma_sync,       ///< QK by mma.sync on INT8, PV in integer arithmetic
  kivi,                ///< decode from a KIVI cache, dequantized to f16, integer arithmetic
  kivi_mma_sync,       ///< both by mma.sync on f16
};

/// What is put over the drawn inputs (edges.hpp).
enum class Edge : std::uint8_t {
  none,
  hidden_nan,       ///< NaN codes among V, in keys that some row does not see
  nan_scores,       ///< NaN in a row of Q and in a key that some rows see
  infinite_scores,  ///< Inf there
  equal_zeros,      ///< the largest scores are +0 and -0
  at_threshold,     ///< maxima rise by the threshold exactly, by a little more and a little less
};

struct AttentionCase {
  std::string_view name;
  AttentionKernel kernel;
  std::string_view spec;  ///< as parse_spec (halfulp/attention/presets.hpp) reads it
  std::uint32_t query_heads, kv_heads, queries, keys, head_dim, value_dim;
  int architecture = 0;        ///< of the GPU whose matrix instructions have the models of `spec`; 0: any
  Edge edge = Edge::none;
  bool sink = false;
  std::uint32_t page_size = 0; ///< paged
  std::uint32_t code_bits = 0; ///< KIVI
};

/// f16 throughout, P without an offset: what a KIVI cache is multiplied with.
#define HALFULP_KIVI_SPEC \
  "reference,qk_model=hopper_f16,q_format=f16,k_format=f16,pv_model=hopper_f16,p_format=f16,v_format=f16,offset=0,out=f16"
#define HALFULP_PRODUCTS(model) ",qk_model=" model ",pv_model=" model

// clang-format off
inline constexpr auto kAttentionCases = std::to_array<AttentionCase>({
    //  name                        kernel                              spec                                         heads     Lq  Lk  d   dv
    {"reference",                   AttentionKernel::prefill,           "reference",                                 2, 1,     3,  70, 40, 24},
    {"fa3_like",                    AttentionKernel::prefill,           "fa3_like",                                  2, 2,     3, 150, 32, 16},
    {"fa3_like_two_level",          AttentionKernel::prefill,           "fa3_like_two_level,interval=32,out=bf16",   2, 1,     3, 150, 32, 16},
    {"fa4_like",                    AttentionKernel::prefill,           "fa4_like,out=bf16",                         1, 1,     5, 150, 32, 16},
    {"fa4_like_faulty",             AttentionKernel::prefill,           "fa4_like_faulty",                           1, 1,     5, 150, 32, 16},
    {"flashinfer_like",             AttentionKernel::prefill,           "flashinfer_like,out=f16",                   2, 1,     2, 150, 32, 16},
    {"flashinfer_like_e5m2",        AttentionKernel::prefill,           "flashinfer_like_e5m2",                      1, 1,     4, 150, 32, 16},
    {"flashinfer_like_two_level",   AttentionKernel::prefill,           "flashinfer_like_two_level",                 1, 1,     4, 150, 32, 16},
    {"no_prescale",                 AttentionKernel::prefill,           "no_prescale",                               2, 1,     9,  70, 64,  8},
    {"mma_sync model",              AttentionKernel::prefill,           "reference" HALFULP_PRODUCTS("hopper_fp8_mma_sync"), 1, 1, 4, 70, 40, 24},
    {"causal",                      AttentionKernel::prefill,           "reference,tile=32,causal=yes,sum_of=quantized,lanes=4", 1, 1, 18, 70, 32, 16, 0, Edge::hidden_nan},
    {"window, prefix, soft cap",    AttentionKernel::prefill,           "fa3_like,tile=16,window=20:3,visible_prefix=4,softcap=30:0.0625", 2, 1, 5, 60, 32, 16, 0, Edge::hidden_nan},
    {"sink, split, threshold",      AttentionKernel::prefill,           "reference,tile=16,split=32,threshold=2",    2, 1,     3,  90, 32, 16, 0, Edge::none, true},
    {"NaN in K and Q",              AttentionKernel::prefill,           "reference,tile=16,causal=yes",              2, 1,     4,  40, 32, 16, 0, Edge::nan_scores},
    {"Inf in K and Q",              AttentionKernel::prefill,           "flashinfer_like_e5m2,tile=16,causal=yes,softcap=30:0.0625", 2, 1, 4, 40, 32, 16, 0, Edge::infinite_scores},
    {"maxima of both zeros",        AttentionKernel::prefill,           "reference,tile=16,softcap=30:1e-45",        1, 1,     4,  40, 16,  8, 0, Edge::equal_zeros},
    {"at the threshold",            AttentionKernel::prefill,           "reference,tile=16,threshold=2",             5, 1,     2,  40, 16,  8, 0, Edge::at_threshold},
    {"empty parts",                 AttentionKernel::prefill,           "reference,tile=16,split=16,window=12:-6",   1, 1,    20,  40, 16,  8},
    {"no keys",                     AttentionKernel::prefill,           "reference",                                 1, 1,     2,   0, 16,  8, 0, Edge::none, true},
    {"sage_like",                   AttentionKernel::prefill,           "sage_like",                                 2, 1,     4,  70, 64, 16},
    {"sage_like_f16",               AttentionKernel::prefill,           "sage_like_f16,interval=16",                 2, 1,     4,  70, 64, 16},
    {"fa3_like, wgmma",             AttentionKernel::prefill_wgmma_e4m3, "fa3_like",                                 2, 1,     3, 150, 40, 24, 90},
    {"fa3_like_two_level, wgmma",   AttentionKernel::prefill_wgmma_e4m3, "fa3_like_two_level,interval=32,causal=yes", 1, 1,    4, 150, 32, 16, 90, Edge::hidden_nan},
    {"flashinfer_like, wgmma",      AttentionKernel::prefill_wgmma_e4m3, "flashinfer_like",                          2, 1,     8, 150, 32, 16, 90},
    {"flashinfer_like_e5m2, wgmma", AttentionKernel::prefill_wgmma_e5m2, "flashinfer_like_e5m2",                     2, 1,     2, 150, 32, 16, 90},
    {"fa3_like, sm_90 mma.sync",    AttentionKernel::prefill_mma_sync,  "fa3_like" HALFULP_PRODUCTS("hopper_fp8_mma_sync"), 2, 1, 8, 150, 40, 24, 90},
    {"causal, sm_90 mma.sync",      AttentionKernel::prefill_mma_sync,  "reference,tile=32,causal=yes" HALFULP_PRODUCTS("hopper_fp8_mma_sync"), 1, 1, 6, 50, 32, 16, 90, Edge::hidden_nan},
    {"fa3_like, sm_89 mma.sync",    AttentionKernel::prefill_mma_sync,  "fa3_like" HALFULP_PRODUCTS("ada_fp8"),      2, 1,     8, 150, 40, 24, 89},
    {"fa4_like, sm_120 mma.sync",   AttentionKernel::prefill_mma_sync,  "fa4_like",                                  2, 1,     8, 150, 40, 24, 120},
    {"paged",                       AttentionKernel::paged,             "reference,tile=32",                         4, 2,     1,  83, 32, 16, 0, Edge::none, false, 16},
    {"paged, fa3_like, split",      AttentionKernel::paged,             "fa3_like,tile=16,split=32,out=bf16",        4, 1,     1, 110, 32, 16, 0, Edge::none, true, 8},
    {"paged, window",               AttentionKernel::paged,             "flashinfer_like,tile=32,window=40:0,causal=yes,visible_prefix=3", 4, 2, 2, 83, 32, 16, 0, Edge::hidden_nan, false, 16},
    {"paged, sm_90 mma.sync",       AttentionKernel::paged_mma_sync,    "reference,tile=32,split=64" HALFULP_PRODUCTS("hopper_fp8_mma_sync"), 4, 2, 1, 83, 32, 16, 90, Edge::none, false, 16},
    {"sage_like, int8 mma.sync",    AttentionKernel::int8_mma_sync,     "sage_like,causal=yes",                      2, 1,     4,  70, 64, 16, 0, Edge::hidden_nan},
    {"sage_like_f16, int8 mma.sync", AttentionKernel::int8_mma_sync,    "sage_like_f16",                             1, 1,     4,  70, 48, 16},
    {"kivi 2 bits",                 AttentionKernel::kivi,              HALFULP_KIVI_SPEC,                           4, 2,     1, 110, 32, 32, 0, Edge::none, false, 0, 2},
    {"kivi 4 bits, two_level",      AttentionKernel::kivi,              HALFULP_KIVI_SPEC ",pv=two_level,tile=32,split=64", 2, 1, 1, 110, 64, 64, 0, Edge::none, false, 0, 4},
    {"kivi 2 bits, sm_90 mma.sync", AttentionKernel::kivi_mma_sync,     HALFULP_KIVI_SPEC,                           4, 2,     1, 110, 32, 32, 90, Edge::none, false, 0, 2},
});
// clang-format on

}  // namespace halfulp::gpu
