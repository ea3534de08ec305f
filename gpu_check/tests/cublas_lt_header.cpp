// The declarations of cublas_lt.hpp against the toolkit's header; compiled where that is installed.
#include <cublasLt.h>

#include <cstddef>
#include <type_traits>

#include "gpu_check/libraries/cublas_lt.hpp"

namespace halfulp::gpu::cublas_lt {
namespace {

/// One parameter of ours passes for one of the header's: the same size and kind.
template <class Ours, class Theirs>
constexpr bool passes() {
  if (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  return sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
}
template <class R, class... P, class S, class... Q>
constexpr bool same(R (*)(P...), S (*)(Q...)) {
  if constexpr (sizeof...(P) != sizeof...(Q)) return false;
  else return passes<R, S>() && (passes<P, Q>() && ...);
}
#define HALFULP_SAME(name) static_assert(same(decltype(Functions::name){}, static_cast<decltype(&::name)>(nullptr)), #name)
HALFULP_SAME(cublasLtGetVersion);
HALFULP_SAME(cublasLtCreate);
HALFULP_SAME(cublasLtDestroy);
HALFULP_SAME(cublasLtMatmulDescCreate);
HALFULP_SAME(cublasLtMatmulDescDestroy);
HALFULP_SAME(cublasLtMatmulDescSetAttribute);
HALFULP_SAME(cublasLtMatrixLayoutCreate);
HALFULP_SAME(cublasLtMatrixLayoutDestroy);
HALFULP_SAME(cublasLtMatmulPreferenceCreate);
HALFULP_SAME(cublasLtMatmulPreferenceDestroy);
HALFULP_SAME(cublasLtMatmulPreferenceSetAttribute);
HALFULP_SAME(cublasLtMatmulAlgoGetHeuristic);
HALFULP_SAME(cublasLtMatmulAlgoConfigGetAttribute);
HALFULP_SAME(cublasLtMatmul);

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t) && sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(kSuccess == CUBLAS_STATUS_SUCCESS && kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(kCompute32F == CUBLAS_COMPUTE_32F && kR32F == CUDA_R_32F && kR8FE4M3 == CUDA_R_8F_E4M3);
static_assert(kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA && kTransposeB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kScaleA == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER && kScaleB == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
static_assert(kFastAccumulation == CUBLASLT_MATMUL_DESC_FAST_ACCUM && kNo == CUBLAS_OP_N && kYes == CUBLAS_OP_T);
static_assert(kMostWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && kAlgorithmId == CUBLASLT_ALGO_CONFIG_ID);
static_assert(kTile == CUBLASLT_ALGO_CONFIG_TILE_ID && kSplitK == CUBLASLT_ALGO_CONFIG_SPLITK_NUM);

}  // namespace
}  // namespace halfulp::gpu::cublas_lt
