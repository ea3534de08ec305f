// Plays cuBLASLt on the CPU for tests: FP8 products by the accumulation engine, promoted every 128 unless fast accumulation is asked for.
// HALFULP_TEST_FAULT makes it lie: scale (left out), f16 (accumulated in f16), order (float32, one product after the other: no lie, no
// Hopper), unsteady (another result every time), overrun (a word behind D), fail (a status), unsupported (no algorithm), many and negative (counts of algorithms), workspace (2^40 bytes for the first of two).
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace {

using namespace halfulp;

constexpr int kSuccess = 0, kInvalid = 7, kNotSupported = 15;

struct Product {
  int compute = 0, scale = 0;
  std::map<int, std::vector<unsigned char>> attributes;

  template <class T>
  T get(int attribute) const {
    T value{};
    const auto found = attributes.find(attribute);
    if (found != attributes.end()) std::memcpy(&value, found->second.data(), std::min(sizeof value, found->second.size()));
    return value;
  }
};
struct Layout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
};
struct Result {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

bool fault(const char* name) {
  const char* asked = std::getenv("HALFULP_TEST_FAULT");
  return asked != nullptr && std::string(asked) == name;
}

/// What FP8 products need: A transposed, sizes and strides of 16 bytes.
bool is_supported(const Product& product, const Layout& a, const Layout& b, const Layout& d) {
  const bool types = product.compute == 68 && product.scale == 0 && a.type == 28 && b.type == 28 && d.type == 0;
  const bool transposes = product.get<std::int32_t>(3) == 1 && product.get<std::int32_t>(4) == 0;
  const bool sizes = a.rows == b.rows && a.columns == d.rows && b.columns == d.columns && a.rows % 16 == 0 && d.rows % 16 == 0;
  return types && transposes && sizes && a.leading >= static_cast<std::int64_t>(a.rows) && d.leading >= static_cast<std::int64_t>(d.rows);
}

accumulation::Engine engine_of(bool fast) {
  const bool order = fault("order"), f16 = fault("f16");
  return accumulation::Engine(accumulation::make_spec({.model = order ? "f32_sequential" : "hopper_fp8_wgmma",
                                                       .format_a = "e4m3",
                                                       .format_b = "e4m3",
                                                       .output = f16 ? "f16" : "f32",
                                                       .interval = fast || order || f16 ? 0 : 128}));
}

float float_of(std::uint32_t word) {
  if (fault("f16")) word = static_cast<std::uint32_t>(cast(spec_of("f16"), word, spec_of("f32"), CastPolicy{}).code);
  return std::bit_cast<float>(word);
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 1; }
int cublasLtCreate(void** handle) { return *handle = new int(0), kSuccess; }
int cublasLtDestroy(void* handle) { return delete static_cast<int*>(handle), kSuccess; }
int cublasLtMatmulDescCreate(void** handle, int compute, int scale) { return *handle = new Product{compute, scale, {}}, kSuccess; }
int cublasLtMatmulDescDestroy(void* handle) { return delete static_cast<Product*>(handle), kSuccess; }
int cublasLtMatmulDescSetAttribute(void* handle, int attribute, const void* value, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(value);
  static_cast<Product*>(handle)->attributes[attribute].assign(from, from + bytes);
  return kSuccess;
}
int cublasLtMatrixLayoutCreate(void** handle, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  return *handle = new Layout{type, rows, columns, leading}, kSuccess;
}
int cublasLtMatrixLayoutDestroy(void* handle) { return delete static_cast<Layout*>(handle), kSuccess; }
int cublasLtMatmulPreferenceCreate(void** handle) { return *handle = new int(0), kSuccess; }
int cublasLtMatmulPreferenceDestroy(void* handle) { return delete static_cast<int*>(handle), kSuccess; }
int cublasLtMatmulPreferenceSetAttribute(void*, int attribute, const void*, std::size_t bytes) { return attribute == 1 && bytes == 8 ? kSuccess : kInvalid; }

int cublasLtMatmulAlgoGetHeuristic(void*, void* product, void* a, void* b, void*, void* d, void*, int most, Result* results, int* found) {
  *found = 0;
  if (fault("unsupported") || !is_supported(*static_cast<Product*>(product), *static_cast<Layout*>(a), *static_cast<Layout*>(b), *static_cast<Layout*>(d))) {
    return kNotSupported;
  }
  if (most < 2) return kInvalid;
  results[0] = results[1] = Result{{7, 3, 1}, 0, kSuccess, 1.0f, {}};
  if (fault("workspace")) results[0].workspace = std::size_t{1} << 40;
  *found = fault("many") ? 1000 : fault("negative") ? -1 : fault("workspace") ? 2 : 1;
  return kSuccess;
}

int cublasLtMatmulAlgoConfigGetAttribute(const std::uint64_t* algorithm, int attribute, void* value, std::size_t bytes, std::size_t* written) {
  if (attribute < 0 || attribute > 2 || bytes != 4) return kInvalid;
  const auto number = static_cast<std::uint32_t>(algorithm[attribute]);
  std::memcpy(value, &number, 4);
  *written = 4;
  return kSuccess;
}

int cublasLtMatmul(void*, void* product_handle, const void* alpha, const void* a, void* a_handle, const void* b, void* b_handle, const void* beta, const void*,
                   void*, void* d, void* d_handle, const std::uint64_t* algorithm, void*, std::size_t, void*) {
  const auto& product = *static_cast<Product*>(product_handle);
  const auto &a_layout = *static_cast<Layout*>(a_handle), &b_layout = *static_cast<Layout*>(b_handle), &d_layout = *static_cast<Layout*>(d_handle);
  const bool plain = *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0 && algorithm[0] == 7;
  if (fault("fail") || !plain || !is_supported(product, a_layout, b_layout, d_layout)) return kInvalid;
  const auto *scale_a = product.get<const float*>(17), *scale_b = product.get<const float*>(18);
  const float scale = fault("scale") ? 1 : (scale_a == nullptr ? 1 : *scale_a) * (scale_b == nullptr ? 1 : *scale_b);
  const accumulation::Engine engine = engine_of(product.get<std::int8_t>(25) != 0);
  const std::uint64_t k = a_layout.rows;
  const auto column = [k](const void* codes, const Layout& layout, std::uint64_t number) {
    const auto* from = static_cast<const unsigned char*>(codes) + number * static_cast<std::uint64_t>(layout.leading);
    return std::vector<std::uint32_t>(from, from + k);
  };
  auto* out = static_cast<float*>(d);
  for (std::uint64_t j = 0; j < d_layout.columns; ++j) {
    const std::vector<std::uint32_t> right = column(b, b_layout, j);
    for (std::uint64_t i = 0; i < d_layout.rows; ++i) {
      const std::vector<std::uint32_t> left = column(a, a_layout, i);
      accumulation::Row row;
      row.a = left, row.b = right;
      out[i + j * static_cast<std::uint64_t>(d_layout.leading)] = float_of(engine.dot(row)) * scale;
    }
  }
  static int calls = 0;
  if (fault("unsteady") && ++calls % 2 == 0) out[0] = 0;
  if (fault("overrun")) out[d_layout.rows * d_layout.columns] = 0;
  return kSuccess;
}

}  // extern "C"
