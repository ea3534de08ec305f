#include "gpu_check/libraries/cublas_lt.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace halfulp::gpu {
namespace {

using namespace cublas_lt;

std::string failure(const char* call, int status) { return std::string(call) + " gives status " + std::to_string(status); }

void check(int status, const char* call) {
  if (status != kSuccess) throw std::runtime_error(failure(call, status));
}

}  // namespace

CublasLt::CublasLt(const std::string& folder) {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    if (library == nullptr) library = dlopen((folder.empty() ? name : folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    why_not_ = "libcublasLt.so.13 or .12 not found " + (folder.empty() ? std::string("by the loader; --libraries names its folder") : "in " + folder);
    return;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && why_not_.empty()) why_not_ = std::string("libcublasLt has no ") + name;
  };
#define HALFULP_FIND(name) find(functions_.name, #name)
  HALFULP_FIND(cublasLtGetVersion);
  HALFULP_FIND(cublasLtCreate);
  HALFULP_FIND(cublasLtDestroy);
  HALFULP_FIND(cublasLtMatmulDescCreate);
  HALFULP_FIND(cublasLtMatmulDescDestroy);
  HALFULP_FIND(cublasLtMatmulDescSetAttribute);
  HALFULP_FIND(cublasLtMatrixLayoutCreate);
  HALFULP_FIND(cublasLtMatrixLayoutDestroy);
  HALFULP_FIND(cublasLtMatmulPreferenceCreate);
  HALFULP_FIND(cublasLtMatmulPreferenceDestroy);
  HALFULP_FIND(cublasLtMatmulPreferenceSetAttribute);
  HALFULP_FIND(cublasLtMatmulAlgoGetHeuristic);
  HALFULP_FIND(cublasLtMatmulAlgoConfigGetAttribute);
  HALFULP_FIND(cublasLtMatmul);
#undef HALFULP_FIND
}

// The library's matrices stand column after column: row i of A is column i of a k x m matrix, transposed; B's rows are the columns of a
// k x n matrix. With the two exchanged, D comes out row after row.
CublasLtProduct::CublasLtProduct(const CublasLt& library, const GemmProblem& problem, bool fast_accumulation, const void* scale_a, const void* scale_b)
    : lt_(library.functions()) {
  check(lt_.cublasLtCreate(&context_), "cublasLtCreate");
  check(lt_.cublasLtMatmulDescCreate(&product_, kCompute32F, kR32F), "cublasLtMatmulDescCreate");
  const auto set = [&](int attribute, const auto& value) {
    check(lt_.cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  };
  set(kTransposeA, kYes);
  set(kTransposeB, kNo);
  set(kFastAccumulation, static_cast<std::int8_t>(fast_accumulation ? 1 : 0));
  set(kScaleA, scale_b);
  set(kScaleB, scale_a);
  check(lt_.cublasLtMatrixLayoutCreate(&a_, kR8FE4M3, problem.k, problem.n, problem.k), "cublasLtMatrixLayoutCreate");
  check(lt_.cublasLtMatrixLayoutCreate(&b_, kR8FE4M3, problem.k, problem.m, problem.k), "cublasLtMatrixLayoutCreate");
  check(lt_.cublasLtMatrixLayoutCreate(&d_, kR32F, problem.n, problem.m, problem.n), "cublasLtMatrixLayoutCreate");
}

CublasLtProduct::~CublasLtProduct() {
  for (const Handle layout : {a_, b_, d_}) {
    if (layout != nullptr) lt_.cublasLtMatrixLayoutDestroy(layout);
  }
  if (product_ != nullptr) lt_.cublasLtMatmulDescDestroy(product_);
  if (context_ != nullptr) lt_.cublasLtDestroy(context_);
}

std::vector<Heuristic> CublasLtProduct::algorithms(int most, std::size_t workspace_bytes) const {
  Handle preference = nullptr;
  check(lt_.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  int status = lt_.cublasLtMatmulPreferenceSetAttribute(preference, kMostWorkspace, &workspace_bytes, sizeof workspace_bytes);
  std::vector<Heuristic> found(static_cast<std::size_t>(most));
  int count = 0;
  if (status == kSuccess) status = lt_.cublasLtMatmulAlgoGetHeuristic(context_, product_, a_, b_, d_, d_, preference, most, found.data(), &count);
  lt_.cublasLtMatmulPreferenceDestroy(preference);
  if (status != kNotSupported) check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count < 0 || count > most) {
    throw std::runtime_error("cublasLtMatmulAlgoGetHeuristic counts " + std::to_string(count) + " algorithms where at most " + std::to_string(most) + " were asked for");
  }
  found.resize(status == kNotSupported ? 0 : static_cast<std::size_t>(count));
  std::erase_if(found, [](const Heuristic& each) { return each.status != kSuccess; });
  return found;
}

std::string CublasLtProduct::text_of(const Algorithm& algorithm) const {
  std::string text;
  for (const auto& [attribute, name] : {std::pair(kAlgorithmId, "id "), std::pair(kTile, ", tile "), std::pair(kSplitK, ", split-k ")}) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    const bool known = lt_.cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written) == kSuccess;
    text += name + (known ? std::to_string(value) : std::string("unknown"));
  }
  return text;
}

std::string CublasLtProduct::start(const Heuristic& algorithm, const void* a, const void* b, void* d, void* workspace) const {
  const float one = 1, zero = 0;
  const int status = lt_.cublasLtMatmul(context_, product_, &one, b, a_, a, b_, &zero, d, d_, d, d_, &algorithm.algorithm, workspace, algorithm.workspace, nullptr);
  return status == kSuccess ? "" : failure("cublasLtMatmul", status);
}

}  // namespace halfulp::gpu
