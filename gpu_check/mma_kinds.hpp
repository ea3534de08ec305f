// The matrix instructions that gpu_check judges, and the accumulation model of each on each family of GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu_check/words_file.hpp"
#include "halfulp/formats.hpp"

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
  e3m2_f32,         ///< mma.sync.m16n8k32.kind::f8f6f4.f32.e3m2.e3m2.f32
  e2m3_f32,
  e2m1_f32,
  e4m3_e2m1_f32,
  mx_e4m3,          ///< mma.sync.m16n8k32.kind::mxf8f6f4.block_scale.scale_vec::1X, ue8m0
  mx_e5m2,
  mx_e2m1,
  mx_e3m2_e2m3,
  mxf4,             ///< mma.sync.m16n8k64.kind::mxf4.block_scale.scale_vec::2X, ue8m0
  nvf4,             ///< mma.sync.m16n8k64.kind::mxf4nvf4.block_scale.scale_vec::4X, ue4m3
  wgmma_e4m3_f32,   ///< wgmma.mma_async.m64n8k32.f32.e4m3.e4m3
  wgmma_e5m2_f32,
  wgmma_e4m3_f16,
  tcgen05_e4m3_f32,  ///< tcgen05.mma.kind::f8f6f4, m128n16k32
  tcgen05_e5m2_f32,
  tcgen05_e4m3_f16,
  tcgen05_e3m2_e2m3_f32,
  tcgen05_e4m3_e2m1_f32,
  tcgen05_mx_e4m3,   ///< tcgen05.mma.kind::mxf8f6f4.block_scale.scale_vec::1X, m128n16k32
  tcgen05_mx_e5m2_e3m2,
  tcgen05_mxf4,      ///< tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X, m128n16k64
  tcgen05_nvf4,      ///< tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X, m128n16k64
};

/// What an instruction is part of: every GPU of a family has mma_sync; the others ask for a target such as sm_120a.
enum class MmaUnit : std::uint8_t { mma_sync, narrow_mma_sync, wgmma, tcgen05 };

/// Families of GPUs by architecture number.
inline constexpr int kFamilies[] = {89, 90, 100, 120};

struct MmaKind {
  MmaInstruction instruction;
  std::string_view name;
  std::string_view a, b, output;            ///< formats
  int element_bits;                         ///< of an element of a or b in a tile; a narrower code stands in the low bits
  int m, n;
  std::array<std::string_view, 4> models;   ///< of kFamilies; empty: the family has no such instruction
  std::string_view scale_format = {};       ///< of block scales; empty: none
  int scale_block = 0;                      ///< products that share a scale

  constexpr int k() const { return 256 / element_bits; }  ///< 32 bytes of k in every instruction
  constexpr int scales() const { return scale_block == 0 ? 0 : k() / scale_block; }  ///< of a row of a, of a column of b
  constexpr int outputs() const { return m * n; }
  constexpr MmaUnit unit() const {
    if (m == 128) return MmaUnit::tcgen05;
    if (m == 64) return MmaUnit::wgmma;
    return scales() != 0 || code_bits(a) < 8 || code_bits(b) < 8 ? MmaUnit::narrow_mma_sync : MmaUnit::mma_sync;
  }
  /// Bits of a code that one element carries.
  static constexpr int code_bits(std::string_view format) { return find_format(format)->spec.width; }
};

inline constexpr auto kMmaKinds = [] {
  using enum MmaInstruction;
  // clang-format off
  return std::to_array<MmaKind>({
      {f16_f32,  "mma_f16_f32",  "f16",  "f16",  "f32",   16, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {f16_f16,  "mma_f16_f16",  "f16",  "f16",  "f16",   16, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {bf16_f32, "mma_bf16_f32", "bf16", "bf16", "f32",   16, 16, 8, {"ampere_f16", "hopper_f16", "blackwell_f16", "blackwell_f16"}},
      {tf32_f32, "mma_tf32_f32", "tf32", "tf32", "f32",   32, 16, 8, {"ampere_tf32", "hopper_tf32", "blackwell_tf32", "blackwell_tf32"}},
      {e4m3_f32, "mma_e4m3_f32", "e4m3", "e4m3", "f32",    8, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e5m2_f32, "mma_e5m2_f32", "e5m2", "e5m2", "f32",    8, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e4m3_f16, "mma_e4m3_f16", "e4m3", "e4m3", "f16",    8, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {e5m2_f16, "mma_e5m2_f16", "e5m2", "e5m2", "f16",    8, 16, 8, {"ada_fp8", "hopper_fp8_mma_sync", "hopper_fp8_mma_sync", "blackwell_f8f6f4"}},
      {s8_s32,   "mma_s8_s32",   "int8", "int8", "int32",  8, 16, 8, {"int8_imma", "int8_imma", "int8_imma", "int8_imma"}},
      {e3m2_f32,      "mma_e3m2_f32",      "e3m2", "e3m2", "f32", 8, 16, 8, {"", "", "", "blackwell_f8f6f4"}},
      {e2m3_f32,      "mma_e2m3_f32",      "e2m3", "e2m3", "f32", 8, 16, 8, {"", "", "", "blackwell_f8f6f4"}},
      {e2m1_f32,      "mma_e2m1_f32",      "e2m1", "e2m1", "f32", 8, 16, 8, {"", "", "", "blackwell_f8f6f4"}},
      {e4m3_e2m1_f32, "mma_e4m3_e2m1_f32", "e4m3", "e2m1", "f32", 8, 16, 8, {"", "", "", "blackwell_f8f6f4"}},
      {mx_e4m3,       "mma_mx_e4m3",       "e4m3", "e4m3", "f32", 8, 16, 8, {"", "", "", "blackwell_mxf8f6f4"}, "e8m0", 32},
      {mx_e5m2,       "mma_mx_e5m2",       "e5m2", "e5m2", "f32", 8, 16, 8, {"", "", "", "blackwell_mxf8f6f4"}, "e8m0", 32},
      {mx_e2m1,       "mma_mx_e2m1",       "e2m1", "e2m1", "f32", 8, 16, 8, {"", "", "", "blackwell_mxf8f6f4"}, "e8m0", 32},
      {mx_e3m2_e2m3,  "mma_mx_e3m2_e2m3",  "e3m2", "e2m3", "f32", 8, 16, 8, {"", "", "", "blackwell_mxf8f6f4"}, "e8m0", 32},
      {mxf4,          "mma_mxf4",          "e2m1", "e2m1", "f32", 4, 16, 8, {"", "", "", "blackwell_mxf4"}, "e8m0", 32},
      {nvf4,          "mma_nvf4",          "e2m1", "e2m1", "f32", 4, 16, 8, {"", "", "", "blackwell_mxf4nvf4"}, "ue4m3", 16},
      {wgmma_e4m3_f32, "wgmma_e4m3_f32", "e4m3", "e4m3", "f32", 8, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {wgmma_e5m2_f32, "wgmma_e5m2_f32", "e5m2", "e5m2", "f32", 8, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {wgmma_e4m3_f16, "wgmma_e4m3_f16", "e4m3", "e4m3", "f16", 8, 64, 8, {"", "hopper_fp8_wgmma", "", ""}},
      {tcgen05_e4m3_f32,      "tcgen05_e4m3_f32",      "e4m3", "e4m3", "f32", 8, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_e5m2_f32,      "tcgen05_e5m2_f32",      "e5m2", "e5m2", "f32", 8, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_e4m3_f16,      "tcgen05_e4m3_f16",      "e4m3", "e4m3", "f16", 8, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_e3m2_e2m3_f32, "tcgen05_e3m2_e2m3_f32", "e3m2", "e2m3", "f32", 8, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_e4m3_e2m1_f32, "tcgen05_e4m3_e2m1_f32", "e4m3", "e2m1", "f32", 8, 128, 16, {"", "", "blackwell_f8f6f4", ""}},
      {tcgen05_mx_e4m3,       "tcgen05_mx_e4m3",       "e4m3", "e4m3", "f32", 8, 128, 16, {"", "", "blackwell_mxf8f6f4", ""}, "e8m0", 32},
      {tcgen05_mx_e5m2_e3m2,  "tcgen05_mx_e5m2_e3m2",  "e5m2", "e3m2", "f32", 8, 128, 16, {"", "", "blackwell_mxf8f6f4", ""}, "e8m0", 32},
      {tcgen05_mxf4,          "tcgen05_mxf4",          "e2m1", "e2m1", "f32", 4, 128, 16, {"", "", "blackwell_mxf4", ""}, "e8m0", 32},
      {tcgen05_nvf4,          "tcgen05_nvf4",          "e2m1", "e2m1", "f32", 4, 128, 16, {"", "", "blackwell_mxf4nvf4", ""}, "ue4m3", 16},
  });
  // clang-format on
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

/// The tiles of one kind: for each tile m rows of a, n columns of b (32 bytes each), m * n words of c, row after row; where the
/// kind has scales a word of them for every row of a and column of b, the first in the low byte; and for each output the right
/// word under both zero rules. Tiles come in classes ("random bits", "measured H100", ...).
struct MmaTiles {
  struct Class {
    std::string name;
    std::uint32_t tiles = 0;
    /// 0: every output is judged by the model. Else only outputs (i, i) for i < diagonal were measured, the others are the model's.
    std::uint32_t diagonal = 0;
  };
  std::vector<Class> classes;
  std::vector<std::uint32_t> a, b, c, scale_a, scale_b, right_a, right_b;

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

/// One element of a packed row or column.
inline std::uint32_t element_of(const MmaKind& kind, const std::uint32_t* words, int i) {
  const int per_word = 32 / kind.element_bits, shift = kind.element_bits * (i % per_word);
  return words[i / per_word] >> shift & static_cast<std::uint32_t>(low_mask(kind.element_bits));
}

}  // namespace halfulp::gpu
