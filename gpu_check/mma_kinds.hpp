// The matrix instructions that gpu_check judges, and the accumulation model of each on each family of GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {

enum class MmaInstruction : std::uint8_t {
  f16_f32,    ///< mma.sync.m16n8k16.f32.f16.f16.f32
  f16_f16,    ///< mma.sync.m16n8k16.f16.f16.f16.f16
  bf16_f32,   ///< mma.sync.m16n8k16.f32.bf16.bf16.f32
  tf32_f32,   ///< mma.sync.m16n8k8.f32.tf32.tf32.f32
  e4m3_f32,   ///< mma.sync.m16n8k32.f32.e4m3.e4m3.f32
  e5m2_f32,
  e4m3_f16,
  e5m2_f16,
  s8_s32,           ///< mma.sync.m16n8k32.s32.s8.s8.s32
  wgmma_e4m3_f32,   ///< wgmma.mma_async.m64n8k32.f32.e4m3.e4m3
  wgmma_e5m2_f32,
  wgmma_e4m3_f16,
  tcgen05_e4m3_f32, ///< tcgen05.mma.kind::f8f6f4, m128n16k32
  tcgen05_e5m2_f32,
};

/// Families of GPUs by architecture number.
inline constexpr int kFamilies[] = {89, 90, 100, 120};

struct MmaKind {
  MmaInstruction instruction;
  std::string_view name;
  std::string_view format, output;
  int element_bytes, m, n;
  std::array<std::string_view, 4> models;  ///< of kFamilies; empty: the family has no such instruction

  constexpr int k() const { return 32 / element_bytes; }  ///< 32 bytes of k in every instruction
  constexpr int outputs() const { return m * n; }
};

inline constexpr auto kMmaKinds = [] {
  using enum MmaInstruction;
  return std::to_array<MmaKind>({
      {f16_f32, "mma_f16_f32", "f16", "f32", 2, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {f16_f16, "mma_f16_f16", "f16", "f16", 2, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {bf16_f32, "mma_bf16_f32", "bf16", "f32", 2, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {tf32_f32, "mma_tf32_f32", "tf32", "f32", 4, 16, 8, {"ampere_tf32", "hopper_tf32", "blackwell_tf32", "blackwell_tf32"}},
      {e4m3_f32, "mma_e4m3_f32", "e4m3", "f32", 1, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e5m2_f32, "mma_e5m2_f32", "e5m2", "f32", 1, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e4m3_f16, "mma_e4m3_f16", "e4m3", "f16", 1, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e5m2_f16, "mma_e5m2_f16", "e5m2", "f16", 1, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {s8_s32, "mma_s8_s32", "int8", "int32", 1, 16, 8, {"int8_imma", "int8_imma", "int8_imma", "int8_imma"}},
      {wgmma_e4m3_f32, "wgmma_e4m3_f32", "e4m3", "f32", 1, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {wgmma_e5m2_f32, "wgmma_e5m2_f32", "e5m2", "f32", 1, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {wgmma_e4m3_f16, "wgmma_e4m3_f16", "e4m3", "f16", 1, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {tcgen05_e4m3_f32, "tcgen05_e4m3_f32", "e4m3", "f32", 1, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_e5m2_f32, "tcgen05_e5m2_f32", "e5m2", "f32", 1, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
  });
}();

constexpr const MmaKind& kind_of(MmaInstruction instruction) {
  for (const MmaKind& kind : kMmaKinds) {
    if (kind.instruction == instruction) return kind;
  }
  return kMmaKinds[0];
}

/// Position in kFamilies of the family of an architecture; -1 for one below them.
constexpr int family_of(int architecture) {
  return architecture >= 120 ? 3 : architecture >= 100 ? 2 : architecture >= 90 ? 1 : architecture == 89 ? 0 : -1;
}

/// The tiles of one kind: for each tile m rows of a, n columns of b (32 bytes each), m * n words of c, row after row; and for
/// each output the right word under both zero rules. Tiles come in classes ("random bits", "measured H100", ...).
struct MmaTiles {
  struct Class {
    std::string name;
    std::uint32_t tiles = 0;
    /// 0: every output is judged by the model. Else only outputs (i, i) for i < diagonal were measured, the others are the model's.
    std::uint32_t diagonal = 0;
  };
  std::vector<Class> classes;
  std::vector<std::uint32_t> a, b, c, right_a, right_b;

  std::uint32_t tiles() const {
    std::uint32_t count = 0;
    for (const Class& one : classes) count += one.tiles;
    return count;
  }
};

inline std::string tiles_path(const std::string& data, const MmaKind& kind, int family) {
  return data + "/mma/" + std::string(kind.name) + "_sm" + std::to_string(kFamilies[family]);
}
void write_tiles(const std::string& path, const MmaTiles& tiles);
/// Throws std::runtime_error.
MmaTiles read_tiles(const std::string& path, const MmaKind& kind);

}  // namespace halfulp::gpu
