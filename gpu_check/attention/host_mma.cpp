#include "gpu_check/attention/host_mma.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include "gpu_check/host/backend_host.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"

namespace halfulp::gpu::host {
namespace {

constexpr const char* kFormats[] = {"e4m3", "e5m2", "int8", "f16"};
enum { kE4m3, kE5m2, kS8, kF16 };

/// The model of an instruction (docs/accumulation.md), empty where there is none.
const char* model_of(MatrixUnit unit, int type, int architecture) {
  if (unit == MatrixUnit::wgmma) return architecture == 90 && type <= kE5m2 ? "hopper_fp8_wgmma" : "";
  if (type == kS8) return "int8_imma";
  switch (architecture) {
    case 89: return type == kF16 ? "ampere_f16" : "ada_fp8";
    case 90: return type == kF16 ? "hopper_f16" : "hopper_fp8_mma_sync";
    case 100: return type == kF16 ? "blackwell_f16" : "hopper_fp8_mma_sync";
    case 120: return type == kF16 ? "blackwell_f16" : "blackwell_f8f6f4";
    default: return "";
  }
}

const accumulation::Engine& engine_of(const std::string& model, const char* format) {
  thread_local std::map<std::string, accumulation::Engine> engines;
  const std::string key = model + " " + format;
  if (const auto found = engines.find(key); found != engines.end()) return found->second;
  return engines.emplace(key, accumulation::Engine(accumulation::make_spec({.model = model, .format_a = format, .format_b = format}))).first->second;
}

}  // namespace

std::uint32_t modelled_dot(MatrixUnit unit, int type, const std::array<std::uint32_t, 8>& row, const std::array<std::uint32_t, 8>& column,
                           std::uint32_t c) {
  const std::string model = model_of(unit, type, modelled_architecture());
  if (model.empty()) throw std::invalid_argument("sm_" + std::to_string(modelled_architecture()) + " has no such matrix instruction");
  std::array<std::uint32_t, 32> a{}, b{};
  const unsigned bits = type == kF16 ? 16 : 8, per_word = 32 / bits, count = 8 * per_word;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned shift = i % per_word * bits, mask = (1u << bits) - 1;
    a[i] = row[i / per_word] >> shift & mask;
    b[i] = column[i / per_word] >> shift & mask;
  }
  accumulation::Row dot;
  dot.a = {a.data(), count};
  dot.b = {b.data(), count};
  dot.c = c;
  return engine_of(model, kFormats[type]).dot(dot);
}

std::array<std::uint32_t, 8> shared_column(std::uint32_t address, std::uint32_t core_bytes) {
  std::array<std::uint32_t, 8> words{};
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t at = address + i / 16 * core_bytes + i % 16;
    std::uint32_t first = 0;
    Memory* memory = shared_memory_at(at, first);
    if (memory == nullptr) {
      report(FaultKind::out_of_range, "shared address " + std::to_string(at) + " read by " + current_access().text());
      continue;
    }
    // Operands of matrix instructions are bytes.
    if (memory->bytes() == memory->count() && memory->check_read(at - first)) {
      words[i / 4] |= static_cast<std::uint32_t>(memory->data()[at - first]) << 8 * (i % 4);
    }
  }
  return words;
}

}  // namespace halfulp::gpu::host
