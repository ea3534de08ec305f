// FP6, FP4 and block-scaled mma.sync on the thread shim: wrong places of elements and of scales are caught.
#include "gpu_check/kernels/mma_scaled.cuh"

#include <set>

#include "gpu_check/tests/mma_data.hpp"

namespace halfulp::gpu {
namespace {

enum class Wrong { nothing, a_registers, scale_rows, scale_pair, scale_byte, scale_column };

/// The first tile again, with one mistake.
template <MmaInstruction I, Wrong W>
HALFULP_KERNEL wrong_scaled(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, In<std::uint32_t> scale_a, In<std::uint32_t> scale_b,
                            Out<std::uint32_t> out) {
  using Numbers = MmaNumbers<I>;
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  const ScaleSelectors s = selectors_of(1, Numbers::kScales);
  ScaledFragments x;
  for (unsigned r = 0; r < 4; ++r) {
    const unsigned row = W == Wrong::a_registers ? r >> 1 : r & 1, half = W == Wrong::a_registers ? r & 1 : r >> 1;
    x.f.a[r] = a[(g + 8 * row) * 8 + t + 4 * half];
  }
  for (unsigned r = 0; r < 2; ++r) x.f.b[r] = b[g * 8 + t + 4 * r];
  const unsigned byte = W == Wrong::scale_byte ? (s.byte_a + Numbers::kScales) % 4 : s.byte_a;
  const unsigned pair = W == Wrong::scale_pair ? 1u - s.thread_a : s.thread_a;
  const unsigned row = W == Wrong::scale_rows ? g + 8 * (1 - t % 2) : g + 8 * (t % 2);
  x.scale_a = t / 2 == pair ? scale_register(scale_a[row], Numbers::kScales, byte) : 0xffffffffu;
  x.scale_b = t == s.thread_b ? scale_register(scale_b[W == Wrong::scale_column ? g ^ 1 : g], Numbers::kScales, s.byte_b) : 0xffffffffu;
  const unsigned top = g * 8 + 2 * t;
  for (unsigned i = 0; i < 4; ++i) x.f.c[i] = c[top + (i & 1) + 64 * (i >> 1)];
  std::uint32_t d[4];
  mma_sync_scaled<I>(d, x, s);
  for (unsigned i = 0; i < 4; ++i) out[top + (i & 1) + 64 * (i >> 1)] = d[i];
}

template <MmaInstruction I, Wrong W>
int mismatches() {
  const OneTile tile(I, "aligned");
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b), c("c", tile.c), scale_a("scale_a", tile.scale_a), scale_b("scale_b", tile.scale_b);
  Buffer<std::uint32_t> d("d", 128);
  const Launched launched = launch("wrong_scaled", wrong_scaled<I, W>, {1, 32}, a.in(), b.in(), c.in(), scale_a.in(), scale_b.in(), d.out());
  EXPECT_TRUE(launched.ok());
  return tile.mismatches(d.download());
}

template <MmaInstruction I>
void every_mistake_shows() {
  EXPECT_EQ((mismatches<I, Wrong::nothing>()), 0);
  EXPECT_GT((mismatches<I, Wrong::a_registers>()), 64);
  EXPECT_GT((mismatches<I, Wrong::scale_rows>()), 64);
  EXPECT_EQ((mismatches<I, Wrong::scale_pair>()), 128) << "the other pair holds NaN codes";
  EXPECT_GE((mismatches<I, Wrong::scale_column>()), 64) << "neighbours may have equal scales";
  if constexpr (MmaNumbers<I>::kScales < 4) {
    EXPECT_EQ((mismatches<I, Wrong::scale_byte>()), 128) << "the other bytes are NaN codes";
  }
}

TEST(MmaScaled, AWrongPlaceIsCaughtInMxfp8) { every_mistake_shows<MmaInstruction::mx_e4m3>(); }
TEST(MmaScaled, AWrongPlaceIsCaughtInMxfp4) { every_mistake_shows<MmaInstruction::mxf4>(); }
TEST(MmaScaled, AWrongPlaceIsCaughtInNvfp4) { every_mistake_shows<MmaInstruction::nvf4>(); }

/// Scales in the reverse order of their blocks.
TEST(MmaScaled, TheOrderOfScalesInAWordMatters) {
  const OneTile tile(MmaInstruction::nvf4, "aligned");
  std::vector<std::uint32_t> reversed;
  for (const std::uint32_t word : tile.scale_a) reversed.push_back(word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24);
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b), c("c", tile.c), scale_a("scale_a", reversed), scale_b("scale_b", tile.scale_b);
  Buffer<std::uint32_t> d("d", 128);
  EXPECT_TRUE(launch("scaled", mma_scaled_tiles<MmaInstruction::nvf4>, {1, 32}, a.in(), b.in(), c.in(), scale_a.in(), scale_b.in(), d.out()).ok());
  EXPECT_GT(tile.mismatches(d.download()), 64);
}

/// An FP4 code at the bottom of its byte is another number.
HALFULP_KERNEL fp4_at_the_bottom(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, Out<std::uint32_t> out, unsigned shift) {
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4, top = g * 8 + 2 * t;
  Fragments f;
  for (unsigned r = 0; r < 4; ++r) f.a[r] = a[(g + 8 * (r & 1)) * 8 + t + 4 * (r >> 1)];
  for (unsigned r = 0; r < 2; ++r) f.b[r] = b[g * 8 + t + 4 * r] << shift;
  for (unsigned i = 0; i < 4; ++i) f.c[i] = c[top + (i & 1) + 64 * (i >> 1)];
  std::uint32_t d[4];
  mma_sync<MmaInstruction::e4m3_e2m1_f32>(d, f);
  for (unsigned i = 0; i < 4; ++i) out[top + (i & 1) + 64 * (i >> 1)] = d[i];
}

TEST(MmaScaled, Fp4StandsInTheMiddleOfAByte) {
  const OneTile tile(MmaInstruction::e4m3_e2m1_f32, "aligned");
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b), c("c", tile.c);
  for (const unsigned shift : {2u, 0u}) {
    Buffer<std::uint32_t> d("d", 128);
    EXPECT_TRUE(launch("fp4", fp4_at_the_bottom, {1, 32}, a.in(), b.in(), c.in(), d.out(), shift).ok());
    if (shift == 2) {
      EXPECT_EQ(tile.mismatches(d.download()), 0);
    } else {
      EXPECT_GT(tile.mismatches(d.download()), 64);
    }
  }
}

/// PTX ISA, "Valid values for various selector components": with one scale 4 * 2 * 4 * 4 choices, with two 2 * 2 * 2 * 4, with four 2 * 4.
TEST(MmaScaled, AllValidSelectorsComeInTurn) {
  for (const unsigned scales : {1u, 2u, 4u}) {
    std::set<std::array<unsigned, 4>> seen;
    for (unsigned tile = 0; tile < 128; ++tile) {
      const ScaleSelectors s = selectors_of(tile, scales);
      EXPECT_TRUE(s.byte_a % scales == 0 && s.byte_a < 4 && s.byte_b % scales == 0 && s.byte_b < 4 && s.thread_a < 2 && s.thread_b < 4) << tile;
      seen.insert({s.byte_a, s.thread_a, s.byte_b, s.thread_b});
    }
    EXPECT_EQ(seen.size(), scales == 1 ? 128u : scales == 2 ? 32u : 8u);
  }
}

/// Rule a sees none of 32 * 2^-152, rule b all; and the other probes as prepare/mma.cpp states them.
TEST(MmaScaled, TheProbesHaveTheStatedAnswers) {
  struct Probe {
    MmaInstruction instruction;
    std::uint32_t right_a, right_b;
  };
  using enum MmaInstruction;
  for (const Probe& probe : {Probe{mx_e4m3, 0, 4}, {mx_e2m1, 0, 4}, {mxf4, 1, 0}, {nvf4, 0, 0x35800000}, {tcgen05_mx_e4m3, 0, 4}, {tcgen05_mxf4, 1, 0},
                             {tcgen05_nvf4, 0, 0x35800000}}) {
    const OneTile tile(probe.instruction, "zero rule");
    for (std::size_t i = 0; i < tile.right_a.size(); ++i) {
      ASSERT_EQ(tile.right_a[i], probe.right_a) << tile.kind.name;
      ASSERT_EQ(tile.right_b[i], probe.right_b) << tile.kind.name;
    }
  }
}

}  // namespace
}  // namespace halfulp::gpu
