// tcgen05.mma, sm_100a and sm_103a: operands and scales in shared memory, c and d in tensor memory. Tensor memory has 128 lanes of words in
// columns; an address is lane << 16 | column. The host body (host/tensor_memory.hpp) follows addresses and descriptors.
#pragma once

#include "gpu_check/kernels/mma_scaled.cuh"
#include "gpu_check/kernels/wgmma.cuh"

#if !defined(__CUDACC__)
#include "gpu_check/host/tensor_memory.hpp"
#endif

namespace halfulp::gpu {

/// PTX ISA, matrix descriptor of tcgen05: address, leading and stride byte offsets in units of 16 bytes, a constant; swizzle 0.
HALFULP_HD constexpr std::uint64_t tcgen05_descriptor(std::uint32_t address, std::uint32_t along_rows = kAlongRows) {
  return (address >> 4 & 0x3fff) | static_cast<std::uint64_t>(kAlongK >> 4) << 16 | static_cast<std::uint64_t>(along_rows >> 4) << 32 | 1ull << 46;
}
inline constexpr std::uint32_t kScaleRows = 128;  ///< bytes from 8 rows of scales to the next 8

/// Which byte of a word of scales is the first that counts.
template <MmaInstruction I>
inline constexpr unsigned kScaleIdA = MmaNumbers<I>::kScales == 4 ? 0 : 2;
template <MmaInstruction I>
inline constexpr unsigned kScaleIdB = MmaNumbers<I>::kScales == 1 ? 1 : 0;

/// Codes of the formats of kind::f8f6f4 and kind::mxf8f6f4 in an instruction descriptor.
constexpr std::uint32_t tcgen05_format(std::string_view format) {
  return format == "e4m3" ? 0 : format == "e5m2" ? 1 : format == "e2m3" ? 3 : format == "e3m2" ? 4 : 5;
}
/// PTX ISA, instruction descriptor: dense, K-major, nothing negated. With scales it names their format and their first bytes instead of the
/// format of d.
constexpr std::uint32_t tcgen05_instruction(const MmaKind& kind, unsigned scale_id_a, unsigned scale_id_b) {
  const std::uint32_t a = kind.element_bits == 4 ? 1 : tcgen05_format(kind.a), b = kind.element_bits == 4 ? 1 : tcgen05_format(kind.b);
  const std::uint32_t shared = a << 7 | b << 10 | static_cast<std::uint32_t>(kind.n / 8) << 17;
  if (kind.scales() == 0) return shared | (kind.output == "f16" ? 0u : 1u) << 4 | static_cast<std::uint32_t>(kind.m / 16) << 24;
  return shared | scale_id_b << 4 | (kind.scale_format == "e8m0" ? 1u : 0u) << 23 | static_cast<std::uint32_t>(kind.m / 128) << 27 | scale_id_a << 29;
}
template <MmaInstruction I>
inline constexpr std::uint32_t kTcgen05Instruction = tcgen05_instruction(kind_of(I), kScaleIdA<I>, kScaleIdB<I>);

#if defined(__CUDACC__)

/// By one whole warp: the address of 32 fresh columns goes to `at`: the fewest that can be had, for 16 of d and 4 of each side's scales.
HALFULP_DEVICE void tensor_memory_get([[maybe_unused]] std::uint32_t* at) {
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;\ntcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(
                   shared_address(at))
               : "memory");
#endif
}
/// By the same warp, when all have read.
HALFULP_DEVICE void tensor_memory_give_back([[maybe_unused]] std::uint32_t address) {
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(address) : "memory");
#endif
}
/// 16 columns of the lane that belongs to the thread: a warp reaches the 32 lanes of its number.
HALFULP_DEVICE void tensor_memory_store([[maybe_unused]] std::uint32_t address, [[maybe_unused]] const std::uint32_t (&w)[16]) {
#if HALFULP_HAS_TCGEN05
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x16.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16};\n"
      "tcgen05.wait::st.sync.aligned;" ::"r"(address),
      "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]), "r"(w[6]), "r"(w[7]), "r"(w[8]), "r"(w[9]), "r"(w[10]), "r"(w[11]), "r"(w[12]),
      "r"(w[13]), "r"(w[14]), "r"(w[15])
      : "memory");
#endif
}
HALFULP_DEVICE void tensor_memory_load([[maybe_unused]] std::uint32_t address, [[maybe_unused]] std::uint32_t (&w)[16]) {
#if HALFULP_HAS_TCGEN05
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];\n"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7]), "=r"(w[8]), "=r"(w[9]), "=r"(w[10]), "=r"(w[11]),
        "=r"(w[12]), "=r"(w[13]), "=r"(w[14]), "=r"(w[15])
      : "r"(address)
      : "memory");
#endif
}
/// What a thread did in tensor memory before a barrier is done for those that it meets there.
HALFULP_DEVICE void syncthreads_with_tensor_memory() {
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#endif
  __syncthreads();
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
}
/// 32 rows of 16 bytes, 512 bytes of shared memory in all, to four columns of lanes 0-31 and again of each 32 lanes that follow.
HALFULP_DEVICE void tensor_memory_copy_scales([[maybe_unused]] std::uint32_t address, [[maybe_unused]] std::uint64_t rows) {
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(address), "l"(rows) : "memory");
#endif
}

#define HALFULP_TCGEN05(kind)                                                                                                                   \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\ntcgen05.mma.cta_group::1." kind " [%0], %1, %2, %3, p;\n}" ::"r"(d), "l"(a), "l"(b), "r"(instruction) \
               : "memory")
#define HALFULP_TCGEN05_SCALED(kind)                                                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\ntcgen05.mma.cta_group::1." kind " [%0], %1, %2, %3, [%4], [%5], p;\n}" ::"r"(d), "l"(a), "l"(b),       \
               "r"(instruction), "r"(scale_a), "r"(scale_b)                                                                                     \
               : "memory")

/// By one thread: d (128 x 16 in tensor memory) += a * b, scales from tensor memory. Done when the mbarrier of tcgen05_commit says so.
template <MmaInstruction I>
HALFULP_DEVICE void tcgen05_mma([[maybe_unused]] std::uint32_t d, [[maybe_unused]] std::uint64_t a, [[maybe_unused]] std::uint64_t b,
                                [[maybe_unused]] std::uint32_t instruction, [[maybe_unused]] std::uint32_t scale_a, [[maybe_unused]] std::uint32_t scale_b) {
#if HALFULP_HAS_TCGEN05
  if constexpr (MmaNumbers<I>::kScales == 0) HALFULP_TCGEN05("kind::f8f6f4");
  if constexpr (MmaNumbers<I>::kScales == 1) HALFULP_TCGEN05_SCALED("kind::mxf8f6f4.block_scale.scale_vec::1X");
  if constexpr (MmaNumbers<I>::kScales == 2) HALFULP_TCGEN05_SCALED("kind::mxf4.block_scale.scale_vec::2X");
  if constexpr (MmaNumbers<I>::kScales == 4) HALFULP_TCGEN05_SCALED("kind::mxf4nvf4.block_scale.scale_vec::4X");
#endif
}

/// An mbarrier for one arrival, by one thread, before a barrier that all others wait at.
HALFULP_DEVICE void matrix_barrier_start([[maybe_unused]] std::uint64_t* barrier) {
#if HALFULP_HAS_TCGEN05
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
#endif
}
/// The mbarrier's one arrival comes when all that the thread issued is done.
HALFULP_DEVICE void tcgen05_commit([[maybe_unused]] std::uint64_t* barrier) {
#if HALFULP_HAS_TCGEN05
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#endif
}
/// Waits for the first arrival; by all threads, which go on together.
HALFULP_DEVICE void matrix_barrier_wait([[maybe_unused]] std::uint64_t* barrier) {
#if HALFULP_HAS_TCGEN05
  for (std::uint32_t done = 0; done == 0;) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.b32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier))
                 : "memory");
  }
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
}

#endif

/// 16 codes of a byte each, in four words, as `bits` bits each from the first bit on; the rest is padding.
HALFULP_HD constexpr void pack_codes(std::uint32_t (&words)[4], unsigned bits) {
  std::uint32_t packed[4] = {};
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint32_t code = words[i / 4] >> (8 * (i % 4)) & ((1u << bits) - 1);
    const unsigned at = i * bits;
    packed[at / 32] |= code << at % 32;
    if (at % 32 + bits > 32) packed[at / 32 + 1] |= code >> (32 - at % 32);
  }
  for (unsigned i = 0; i < 4; ++i) words[i] = packed[i];
}

/// The matrix of a tile to shared memory: cores as wgmma's; FP6 and FP4 codes of a byte are packed, 16 to 16 bytes.
template <bool kBytes, unsigned kBits>
HALFULP_DEVICE void load_operand(Out<std::uint32_t> shared, In<std::uint32_t> matrix, unsigned first, unsigned rows) {
  for (unsigned i = threadIdx.x; i < rows * 2; i += blockDim.x) {
    std::uint32_t words[4];
    for (unsigned j = 0; j < 4; ++j) words[j] = matrix[first + i * 4 + j];
    if constexpr (kBytes && kBits < 8) pack_codes(words, kBits);
    for (unsigned j = 0; j < 4; ++j) shared[core_word(i / 2, i % 2 * 4 + j)] = words[j];
  }
}

/// Four warps per block and tile of 128 x 16 outputs; row of the tile, lane of tensor memory and thread are one. The scales of rows
/// 32 j + i (j < 4) lie in column j of lanes i; those of the columns in the first column.
template <MmaInstruction I>
HALFULP_KERNEL tcgen05_tiles(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, In<std::uint32_t> scale_a, In<std::uint32_t> scale_b,
                             Out<std::uint32_t> out) {
  using Numbers = MmaNumbers<I>;
  HALFULP_SHARED(std::uint32_t, left, 128 * 8);
  HALFULP_SHARED(std::uint32_t, right, 16 * 8);
  HALFULP_SHARED(std::uint32_t, scales, 2 * 128);
  HALFULP_SHARED(std::uint32_t, tensor, 1);
  HALFULP_SHARED(std::uint64_t, barrier, 1);
  const unsigned tile = blockIdx.x, thread = threadIdx.x, lanes = thread / 32 * 32 << 16;
  if (thread < 32) tensor_memory_get(tensor);
  if (thread == 0) matrix_barrier_start(barrier);
  load_operand<Numbers::kBytes, Numbers::kBitsA>(left, a, tile * 128 * 8, 128);
  load_operand<Numbers::kBytes, Numbers::kBitsB>(right, b, tile * 16 * 8, 16);
  if constexpr (Numbers::kScales != 0) {
    scales[thread % 32 * 4 + thread / 32] = scale_register(scale_a[tile * 128 + thread], Numbers::kScales, kScaleIdA<I>);
    scales[128 + thread % 32 * 4 + thread / 32] = thread < 16 ? scale_register(scale_b[tile * 16 + thread], Numbers::kScales, kScaleIdB<I>) : 0xffffffffu;
  }
  fence_shared_for_matrix_unit();
  syncthreads_with_tensor_memory();

  const std::uint32_t d = tensor[0], scale_columns = d + 16;
  std::uint32_t row[16];
  for (unsigned i = 0; i < 16; ++i) row[i] = c[(tile * 128 + thread) * 16 + i];
  tensor_memory_store(d + lanes, row);
  syncthreads_with_tensor_memory();

  if (thread == 0) {
    if constexpr (Numbers::kScales != 0) {
      tensor_memory_copy_scales(scale_columns, tcgen05_descriptor(shared_address(scales), kScaleRows));
      tensor_memory_copy_scales(scale_columns + 4, tcgen05_descriptor(shared_address(scales) + 512, kScaleRows));
    }
    tcgen05_mma<I>(d, tcgen05_descriptor(shared_address(left)), tcgen05_descriptor(shared_address(right)), kTcgen05Instruction<I>, scale_columns, scale_columns + 4);
    tcgen05_commit(barrier);
  }
  matrix_barrier_wait(barrier);

  tensor_memory_load(d + lanes, row);
  for (unsigned i = 0; i < 16; ++i) out[(tile * 128 + thread) * 16 + i] = row[i] & Numbers::kOutputMask;
  syncthreads_with_tensor_memory();
  if (thread < 32) tensor_memory_give_back(d);
}

}  // namespace halfulp::gpu
