// Products for libraries: bounds that hold for any order of the products, and what named models give.
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>

#include "gpu_check/libraries/problem.hpp"
#include "gpu_check/prepare/prepare.hpp"
#include "halfulp/accumulation/bounds.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"

namespace halfulp::gpu {
namespace {

using accumulation::MmaSpec;

/// What a library may do with a row: a unit, promoted after `interval` products (0: never), k cut into `parts` that are added one by one.
struct NamedModel {
  const char* unit;
  int interval;
  std::size_t parts = 1;
};
constexpr NamedModel kModels[] = {{"hopper_fp8_wgmma", 0},      {"hopper_fp8_wgmma", 32},     {"hopper_fp8_wgmma", 64},  {"hopper_fp8_wgmma", 128}, {"hopper_fp8_wgmma", 256},
                                  {"hopper_fp8_wgmma", 0, 2},   {"hopper_fp8_wgmma", 128, 2}, {"hopper_fp8_mma_sync", 0}, {"ada_fp8", 0},            {"ada_fp8", 128},
                                  {"blackwell_f8f6f4", 0},      {"exact", 0},                 {"f32_sequential", 0}};
/// The units of FP8, for the bounds.
constexpr const char* kUnits[] = {"hopper_fp8_wgmma", "hopper_fp8_mma_sync", "ada_fp8", "blackwell_f8f6f4"};

MmaSpec spec_of_model(const char* unit, int interval = 0) {
  return accumulation::make_spec({.model = unit, .format_a = "e4m3", .format_b = "e4m3", .output = "f32", .interval = interval});
}

std::string name_of(const NamedModel& model) {
  std::string name = model.unit;
  if (model.interval != 0) name += ", promoted every " + std::to_string(model.interval);
  if (model.parts != 1) name += ", split-k " + std::to_string(model.parts);
  return name;
}

/// How codes are drawn: magnitudes of `fields` exponent fields from `first` on, all fractions; or integers 0 to `first`.
struct Draw {
  const char* name;
  std::uint32_t m, n, k;
  bool integers, negative;
  std::uint32_t first, fields;
  float scale_a, scale_b;
};
constexpr Draw kDraws[] = {
    {"k 512, either sign", 32, 32, 512, false, true, 4, 5, 1, 1},
    {"k 512, positive, scales 2^-3 and 2^5", 32, 32, 512, false, false, 5, 4, 0x1p-3f, 0x1p5f},
    {"k 512, positive, beyond f16", 32, 32, 512, false, false, 11, 4, 1, 1},
    {"k 512, integers, exact in any order", 32, 32, 512, true, false, 4, 0, 1, 1},
    {"k 4096, either sign", 32, 32, 4096, false, true, 4, 5, 1, 1},
    {"k 208, either sign", 32, 32, 208, false, true, 4, 5, 1, 1},
    {"k 512, all magnitudes", 32, 32, 512, false, true, 0, 15, 1, 1},
};

/// The float32 that bounds x from above.
float up(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) >= x ? f : std::nextafterf(f, std::numeric_limits<float>::infinity());
}

std::uint32_t code_of(const Draw& draw, std::mt19937_64& random) {
  const auto word = static_cast<std::uint32_t>(random() >> 32);
  constexpr std::uint32_t kIntegers[] = {0x00, 0x38, 0x40, 0x44, 0x48};  // 0 to 4
  if (draw.integers) return kIntegers[word % (draw.first + 1)];
  return (draw.negative ? word & 0x80u : 0u) | (draw.first + (word >> 3) / 32 % draw.fields) << 3 | (word & 7u);
}

GemmProblem make_gemm(const Draw& draw) {
  std::mt19937_64 random(draw.k * 1000003ull + draw.first * 101 + (draw.negative ? 1 : 0));
  GemmProblem problem{draw.name, draw.m, draw.n, draw.k, draw.scale_a, draw.scale_b, {}, {}, {}, {}, {}, {}};
  std::vector<std::uint32_t> a(std::size_t{draw.m} * draw.k), b(std::size_t{draw.n} * draw.k);
  std::vector<std::byte> a_bytes, b_bytes;
  const auto fill = [&](std::vector<std::uint32_t>& codes, std::vector<std::byte>& bytes, std::vector<std::uint32_t>& packed) {
    packed.assign(codes.size() / 4, 0);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = code_of(draw, random);
      bytes.push_back(static_cast<std::byte>(codes[i]));
      packed[i / 4] |= codes[i] << (8 * (i % 4));
    }
  };
  fill(a, a_bytes, problem.a);
  fill(b, b_bytes, problem.b);

  const float scale = draw.scale_a * draw.scale_b;
  std::vector<MmaSpec> specs;
  for (const char* unit : kUnits) {
    specs.push_back(spec_of_model(unit));
    specs.push_back(spec_of_model(unit, specs.back().model.chunk));  // a chunk at a time: longer pieces round less often
  }
  const auto value = [](std::uint32_t code) {
    const int field = static_cast<int>(code >> 3 & 15), fraction = static_cast<int>(code & 7);
    return std::ldexp(field == 0 ? fraction : 8 + fraction, std::max(field, 1) - 10) * ((code & 0x80u) != 0 ? -1 : 1);
  };
  for (std::uint32_t i = 0; i < draw.m; ++i) {
    for (std::uint32_t j = 0; j < draw.n; ++j) {
      accumulation::Row row;
      row.a = std::span(a).subspan(std::size_t{i} * draw.k, draw.k);
      row.b = std::span(b).subspan(std::size_t{j} * draw.k, draw.k);
      double sum = 0, bound = 0;  // the sum is exact: multiples of 2^-18 below 2^30
      for (std::uint32_t k = 0; k < draw.k; ++k) sum += value(row.a[k]) * value(row.b[k]);
      for (const MmaSpec& spec : specs) bound = std::max(bound, accumulation::error_bound(spec, row));
      if (draw.integers) {
        if (accumulation::order_free(specs[0], row) != accumulation::OrderFree::yes) throw std::logic_error("a row of integers depends on its order");
        bound = 0;
      }
      const auto outward = [bound](double x) { return bound == 0 ? x : std::nextafter(x, std::numeric_limits<double>::infinity()); };
      problem.upper.push_back(std::bit_cast<std::uint32_t>(up(outward(bound + sum)) * scale));
      problem.lower.push_back(std::bit_cast<std::uint32_t>(-up(outward(bound - sum)) * scale));
    }
  }
  for (const NamedModel& model : kModels) {
    accumulation::GemmProblem product{spec_of_model(model.unit, model.interval), {a_bytes, draw.m, draw.k}, {b_bytes, draw.n, draw.k}, {}, {}, {}};
    std::vector<std::uint32_t> words =
        model.parts == 1 ? accumulation::gemm_sums(product) : accumulation::split_k_sums(product, model.parts, accumulation::Combine::sequential);
    for (std::uint32_t& word : words) word = std::bit_cast<std::uint32_t>(std::bit_cast<float>(word) * scale);
    problem.models.push_back(name_of(model));
    problem.words.push_back(std::move(words));
  }
  return problem;
}

}  // namespace

std::vector<GemmProblem> make_gemm_problems() {
  std::vector<GemmProblem> problems;
  for (const Draw& draw : kDraws) problems.push_back(make_gemm(draw));
  return problems;
}

void prepare_libraries(const std::string& data) {
  std::filesystem::create_directories(data + "/libraries");
  write_gemm_problems(data, make_gemm_problems());
}

}  // namespace halfulp::gpu
