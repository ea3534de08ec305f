// tcgen05.mma on the thread shim: descriptors by their stated words, and every mistake around the instruction is caught.
#include "gpu_check/kernels/tcgen05.cuh"

#include <algorithm>

#include "gpu_check/tests/mma_data.hpp"

namespace halfulp::gpu {
namespace {

using host::FaultKind;

enum class Wrong {
  nothing,
  offsets_exchanged,   ///< of the matrix descriptor of a
  formats_exchanged,   ///< in the instruction descriptor
  n_of_eight,
  codes_not_packed,    ///< FP4 and FP6 left in bytes
  other_lanes,         ///< a warp stores c to lanes of the next
  c_late,              ///< no barrier between c and the instruction
  no_wait,             ///< d is read at once
  no_commit,
  commit_early,        ///< before the instruction
  commit_by_another,   ///< thread 32; the instruction is thread 0's
  barrier_for_wait,    ///< committed, but only a barrier of the block before d is read
  copy_by_another,     ///< thread 32 copies the scales and nobody waits for that
  give_back_unordered, ///< no barrier after the loads of d
  give_back_early,     ///< before them
  give_back_in_flight, ///< before the wait
  never_given_back,
  scales_missing,
  scales_exchanged,    ///< a's for b's
  scale_byte,          ///< another byte than the instruction descriptor names
};

/// tcgen05_tiles on one tile, with one mistake.
template <MmaInstruction I, Wrong W>
HALFULP_KERNEL wrong_tcgen05(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, In<std::uint32_t> scale_a, In<std::uint32_t> scale_b,
                             Out<std::uint32_t> out) {
  using Numbers = MmaNumbers<I>;
  constexpr unsigned kBitsA = W == Wrong::codes_not_packed ? 8 : Numbers::kBitsA, kBitsB = W == Wrong::codes_not_packed ? 8 : Numbers::kBitsB;
  HALFULP_SHARED(std::uint32_t, left, 128 * 8);
  HALFULP_SHARED(std::uint32_t, right, 16 * 8);
  HALFULP_SHARED(std::uint32_t, scales, 2 * 128);
  HALFULP_SHARED(std::uint32_t, tensor, 1);
  HALFULP_SHARED(std::uint64_t, barrier, 1);
  const unsigned thread = threadIdx.x, warp = W == Wrong::other_lanes ? (thread / 32 + 1) % 4 : thread / 32;
  if (thread < 32) tensor_memory_get(tensor);
  if (thread == 0) matrix_barrier_start(barrier);
  load_operand<Numbers::kBytes, kBitsA>(left, a, 0, 128);
  load_operand<Numbers::kBytes, kBitsB>(right, b, 0, 16);
  const unsigned id_a = W == Wrong::scale_byte ? kScaleIdA<I> ^ 2 : kScaleIdA<I>;
  if constexpr (Numbers::kScales != 0) {
    scales[thread % 32 * 4 + thread / 32] = scale_register(scale_a[thread], Numbers::kScales, id_a);
    scales[128 + thread % 32 * 4 + thread / 32] = thread < 16 ? scale_register(scale_b[thread], Numbers::kScales, kScaleIdB<I>) : 0xffffffffu;
  }
  fence_shared_for_matrix_unit();
  syncthreads_with_tensor_memory();
  const std::uint32_t d = tensor[0];
  std::uint32_t row[16];
  for (unsigned i = 0; i < 16; ++i) row[i] = c[thread * 16 + i];
  tensor_memory_store(d + (warp * 32 << 16), row);
  if (W != Wrong::c_late) syncthreads_with_tensor_memory();
  if (W == Wrong::copy_by_another) {
    if (thread == 32) tensor_memory_copy_scales(d + 16, tcgen05_descriptor(shared_address(scales), kScaleRows));
    syncthreads_with_tensor_memory();
  }
  if (thread == 0) {
    if (W == Wrong::commit_early) tcgen05_commit(barrier);
    std::uint64_t of_left = tcgen05_descriptor(shared_address(left));
    if (W == Wrong::offsets_exchanged) of_left = (of_left & ~0x3fff3fff0000ull) | (of_left >> 16 & 0x3fff) << 32 | (of_left >> 32 & 0x3fff) << 16;
    std::uint32_t instruction = kTcgen05Instruction<I>;
    if (W == Wrong::formats_exchanged) instruction = (instruction & ~0x1f80u) | (instruction >> 7 & 7) << 10 | (instruction >> 10 & 7) << 7;
    if (W == Wrong::n_of_eight) instruction = (instruction & ~(63u << 17)) | 1u << 17;
    const std::uint32_t of_a = W == Wrong::scales_exchanged ? d + 20 : d + 16, of_b = W == Wrong::scales_exchanged ? d + 16 : d + 20;
    if constexpr (Numbers::kScales != 0) {
      if (W != Wrong::scales_missing && W != Wrong::copy_by_another) tensor_memory_copy_scales(d + 16, tcgen05_descriptor(shared_address(scales), kScaleRows));
      tensor_memory_copy_scales(d + 20, tcgen05_descriptor(shared_address(scales) + 512, kScaleRows));
    }
    tcgen05_mma<I>(d, of_left, tcgen05_descriptor(shared_address(right)), instruction, of_a, of_b);
    if (W != Wrong::no_commit && W != Wrong::commit_early && W != Wrong::commit_by_another) tcgen05_commit(barrier);
  }
  if (W == Wrong::commit_by_another && thread == 32) tcgen05_commit(barrier);
  if (W == Wrong::barrier_for_wait || W == Wrong::give_back_in_flight) {
    syncthreads_with_tensor_memory();
  } else if (W != Wrong::no_wait) {
    matrix_barrier_wait(barrier);
  }
  const bool early = W == Wrong::give_back_early || W == Wrong::give_back_in_flight;
  if (early && thread < 32) tensor_memory_give_back(d);
  if (W != Wrong::give_back_in_flight) tensor_memory_load(d + (thread / 32 * 32 << 16), row);
  for (unsigned i = 0; i < 16; ++i) out[thread * 16 + i] = row[i];
  if (W != Wrong::give_back_unordered) syncthreads_with_tensor_memory();
  if (!early && W != Wrong::never_given_back && thread < 32) tensor_memory_give_back(d);
}

struct Found {
  int mismatches;
  host::Faults faults;
};
template <MmaInstruction I, Wrong W>
Found found(const char* class_name = "aligned") {
  const OneTile tile(I, class_name);
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b), c("c", tile.c), scale_a("scale_a", tile.scale_a), scale_b("scale_b", tile.scale_b);
  Buffer<std::uint32_t> d("d", tile.c.size());
  Found result;
  launch("wrong_tcgen05", wrong_tcgen05<I, W>, {1, 128}, &result.faults, a.in(), b.in(), c.in(), scale_a.in(), scale_b.in(), d.out());
  result.mismatches = tile.mismatches(d.download());
  return result;
}

using enum MmaInstruction;

TEST(Tcgen05, NothingIsWrongWithoutAMistake) {
  const Found of[] = {found<tcgen05_e4m3_f32, Wrong::nothing>(), found<tcgen05_e3m2_e2m3_f32, Wrong::nothing>(), found<tcgen05_nvf4, Wrong::nothing>()};
  for (const Found& one : of) {
    EXPECT_EQ(one.mismatches, 0);
    EXPECT_EQ(one.faults.count, 0u) << one.faults.text();
  }
}

TEST(Tcgen05, WrongDescriptorsAreCaught) {
  EXPECT_GT((found<tcgen05_e4m3_f32, Wrong::offsets_exchanged>().mismatches), 1000);
  const Found formats = found<tcgen05_e4m3_e2m1_f32, Wrong::formats_exchanged>(), n = found<tcgen05_e4m3_f32, Wrong::n_of_eight>();
  EXPECT_NE(formats.faults.text().find("instruction descriptor of tcgen05_e4m3_e2m1_f32: a b"), std::string::npos) << formats.faults.text();
  EXPECT_NE(n.faults.text().find("instruction descriptor of tcgen05_e4m3_f32: n"), std::string::npos) << n.faults.text();
}

TEST(Tcgen05, Fp6AndFp4ArePackedInSharedMemory) {
  EXPECT_GT((found<tcgen05_e3m2_e2m3_f32, Wrong::codes_not_packed>().mismatches), 1000);
  EXPECT_GT((found<tcgen05_e4m3_e2m1_f32, Wrong::codes_not_packed>().mismatches), 1000);
}

TEST(Tcgen05, WrongLanesAndMissingWaitsAreCaught) {
  const Found lanes = found<tcgen05_e4m3_f32, Wrong::other_lanes>(), late = found<tcgen05_e4m3_f32, Wrong::c_late>(),
              no_wait = found<tcgen05_e4m3_f32, Wrong::no_wait>(), no_commit = found<tcgen05_e4m3_f32, Wrong::no_commit>();
  EXPECT_TRUE(lanes.faults.has(FaultKind::out_of_range)) << lanes.faults.text();
  EXPECT_TRUE(late.faults.has(FaultKind::race)) << late.faults.text();
  EXPECT_TRUE(no_wait.faults.has(FaultKind::race)) << no_wait.faults.text();
  EXPECT_NE(no_commit.faults.text().find("an mbarrier at which nothing arrives"), std::string::npos) << no_commit.faults.text();
}

/// True when a fault of that kind names all of `parts`.
bool names(const host::Faults& faults, FaultKind kind, std::initializer_list<const char*> parts) {
  return std::any_of(faults.first.begin(), faults.first.end(), [&](const host::Fault& fault) {
    return fault.kind == kind && std::all_of(parts.begin(), parts.end(), [&](const char* part) { return fault.text.find(part) != std::string::npos; });
  });
}

constexpr const char *kNoCommit = "no commit of that thread came after it", *kProduct = "while tcgen05.mma of thread 0 of block 0 (tcgen05_test.cpp:";

/// The commit is of the operations that its own thread issued before it; d is there after that commit and a wait.
TEST(Tcgen05, ResultsInFlightAreNotRead) {
  const Found early = found<tcgen05_e4m3_f32, Wrong::commit_early>(), another = found<tcgen05_e4m3_f32, Wrong::commit_by_another>();
  for (const Found& one : {early, another}) {
    EXPECT_TRUE(names(one.faults, FaultKind::race, {"lane 0, column 64 of tensor memory is read by thread 0 of block 0 (tcgen05_test.cpp:", kProduct, kNoCommit}))
        << one.faults.text();
    EXPECT_EQ(one.mismatches, 2048);
  }
  const Found barrier = found<tcgen05_e4m3_f32, Wrong::barrier_for_wait>();
  EXPECT_TRUE(names(barrier.faults, FaultKind::race, {"is read by thread 0 of", kProduct, "nobody waited at the mbarrier of its commit"})) << barrier.faults.text();
  const Found copy = found<tcgen05_mx_e4m3, Wrong::copy_by_another>();
  EXPECT_TRUE(names(copy.faults, FaultKind::race, {"is read by thread 0 of", "while tcgen05.cp of thread 32 of block 0 (tcgen05_test.cpp:", kNoCommit})) << copy.faults.text();
}

TEST(Tcgen05, TensorMemoryIsGivenBackAfterItsLastUse) {
  const Found unordered = found<tcgen05_e4m3_f32, Wrong::give_back_unordered>(), early = found<tcgen05_e4m3_f32, Wrong::give_back_early>(),
              in_flight = found<tcgen05_e4m3_f32, Wrong::give_back_in_flight>(), never = found<tcgen05_e4m3_f32, Wrong::never_given_back>();
  constexpr const char* kBack = "tensor memory is given back by thread 0 of block 0 (tcgen05_test.cpp:";
  EXPECT_TRUE(names(unordered.faults, FaultKind::lifetime, {kBack, "and loaded by thread 32 of block 0 (tcgen05_test.cpp:", "no barrier between"}))
      << unordered.faults.text();
  EXPECT_TRUE(names(early.faults, FaultKind::lifetime, {"tensor memory is loaded by thread 32 of block 0", "after it was given back by thread 0 of block 0 (tcgen05_test.cpp:"}))
      << early.faults.text();
  EXPECT_TRUE(names(in_flight.faults, FaultKind::lifetime, {kBack, kProduct, "nobody waited"})) << in_flight.faults.text();
  EXPECT_TRUE(names(never.faults, FaultKind::lifetime, {"block 0 ended with tensor memory that was not given back"})) << never.faults.text();
  EXPECT_EQ(never.mismatches, 0);
}

TEST(Tcgen05, WrongScalesAreCaught) {
  const Found missing = found<tcgen05_mx_e4m3, Wrong::scales_missing>();
  EXPECT_TRUE(missing.faults.has(FaultKind::uninitialised)) << missing.faults.text();
  EXPECT_GT((found<tcgen05_nvf4, Wrong::scales_exchanged>().mismatches), 1000);
  EXPECT_EQ((found<tcgen05_mx_e4m3, Wrong::scale_byte>().mismatches), 2048) << "the other bytes are NaN codes";
  EXPECT_EQ((found<tcgen05_mxf4, Wrong::scale_byte>().mismatches), 2048);
}

/// PTX ISA, "Instruction descriptor format", by hand: f32 at 4, formats at 7 and 10, n / 8 at 17, m / 16 at 24; with scales their bytes
/// at 4 and 29, UE8M0 at 23, m / 128 at 27.
TEST(Tcgen05, InstructionDescriptorsAreTheStatedWords) {
  EXPECT_EQ(kTcgen05Instruction<tcgen05_e4m3_f32>, 0x08040010u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_e5m2_f32>, 0x08040490u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_e4m3_f16>, 0x08040000u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_e3m2_e2m3_f32>, 0x08040e10u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_e4m3_e2m1_f32>, 0x08041410u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_mx_e4m3>, 0x48840010u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_mxf4>, 0x48840480u);
  EXPECT_EQ(kTcgen05Instruction<tcgen05_nvf4>, 0x08040480u);
}

/// 16 codes 0, 1, ... 15 of 4 bits are a 64-bit number of hexadecimal digits; of 6 bits they go on over words.
TEST(Tcgen05, PackedCodesAreTheStatedWords) {
  std::uint32_t four[4] = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}, six[4] = {0x3f3f0001, 0, 0, 0x20000000};
  pack_codes(four, 4);
  EXPECT_EQ(std::vector<std::uint32_t>(four, four + 4), (std::vector<std::uint32_t>{0x76543210, 0xfedcba98, 0, 0}));
  pack_codes(six, 6);
  EXPECT_EQ(std::vector<std::uint32_t>(six, six + 4), (std::vector<std::uint32_t>{0x00fff001, 0, 0x80000000, 0}));
}

}  // namespace
}  // namespace halfulp::gpu
