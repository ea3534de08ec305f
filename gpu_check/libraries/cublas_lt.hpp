// cuBLASLt, found at run time: nothing of it is needed to build. The declarations are checked against its header where that is installed
// (tests/cublas_lt_header.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu_check/libraries/problem.hpp"

namespace halfulp::gpu {
namespace cublas_lt {

using Handle = void*;  ///< of a context, a descriptor or a layout
struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

inline constexpr int kSuccess = 0, kNotSupported = 15;
inline constexpr int kCompute32F = 68, kR32F = 0, kR8FE4M3 = 28;
inline constexpr int kTransposeA = 3, kTransposeB = 4, kScaleA = 17, kScaleB = 18, kFastAccumulation = 25;  // of a descriptor
inline constexpr std::int32_t kNo = 0, kYes = 1;                                                            // transposes
inline constexpr int kMostWorkspace = 1;                                                                     // of a preference
inline constexpr int kAlgorithmId = 0, kTile = 1, kSplitK = 2;                                               // of an algorithm

/// The entry points, by the names that the library exports.
struct Functions {
  std::size_t (*cublasLtGetVersion)();
  int (*cublasLtCreate)(Handle*);
  int (*cublasLtDestroy)(Handle);
  int (*cublasLtMatmulDescCreate)(Handle*, int compute, int scale);
  int (*cublasLtMatmulDescDestroy)(Handle);
  int (*cublasLtMatmulDescSetAttribute)(Handle, int, const void*, std::size_t);
  int (*cublasLtMatrixLayoutCreate)(Handle*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading);
  int (*cublasLtMatrixLayoutDestroy)(Handle);
  int (*cublasLtMatmulPreferenceCreate)(Handle*);
  int (*cublasLtMatmulPreferenceDestroy)(Handle);
  int (*cublasLtMatmulPreferenceSetAttribute)(Handle, int, const void*, std::size_t);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle, Handle, Handle a, Handle b, Handle c, Handle d, Handle preference, int most, Heuristic*, int* found);
  int (*cublasLtMatmulAlgoConfigGetAttribute)(const Algorithm*, int, void*, std::size_t, std::size_t* written);
  int (*cublasLtMatmul)(Handle, Handle, const void* alpha, const void* a, Handle, const void* b, Handle, const void* beta, const void* c, Handle, void* d,
                        Handle, const Algorithm*, void* workspace, std::size_t bytes, void* stream);
};

}  // namespace cublas_lt

/// The library, loaded for good.
class CublasLt {
 public:
  /// Looks for libcublasLt.so.13, .so.12 and .so in `folder`, or where the loader looks when it is empty. why_not(): empty when found.
  explicit CublasLt(const std::string& folder);
  const std::string& why_not() const { return why_not_; }
  const cublas_lt::Functions& functions() const { return functions_; }

 private:
  cublas_lt::Functions functions_{};
  std::string why_not_;
};

/// A product on the library: descriptors and layouts, made once. Addresses are those that the library reads.
class CublasLtProduct {
 public:
  /// Throws std::runtime_error, naming the call and its status.
  CublasLtProduct(const CublasLt& library, const GemmProblem& problem, bool fast_accumulation, const void* scale_a, const void* scale_b);
  ~CublasLtProduct();
  CublasLtProduct(const CublasLtProduct&) = delete;
  CublasLtProduct& operator=(const CublasLtProduct&) = delete;

  /// Up to `most` algorithms, the one first that the library prefers; none where it does not support the product.
  std::vector<cublas_lt::Heuristic> algorithms(int most, std::size_t workspace_bytes) const;
  /// "id 66, tile 20, split-k 1".
  std::string text_of(const cublas_lt::Algorithm& algorithm) const;
  /// Puts the product on the default stream. Empty, or what failed.
  std::string start(const cublas_lt::Heuristic& algorithm, const void* a, const void* b, void* d, void* workspace) const;

 private:
  const cublas_lt::Functions& lt_;
  cublas_lt::Handle context_ = nullptr, product_ = nullptr, a_ = nullptr, b_ = nullptr, d_ = nullptr;
};

}  // namespace halfulp::gpu
