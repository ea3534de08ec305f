// Who computes a product of a tile: integer arithmetic, mma.sync or wgmma. All take codes from shared memory and add to words.
#pragma once

#include "gpu_check/kernels/attention_mma.cuh"
#include "gpu_check/kernels/attention_product.cuh"

namespace halfulp::gpu {

/// D[row, column] += sum over k in [begin, end) of A[row, k] * B[column, k]. A is row-major, B in cores (core_index), zero-padded
/// to whole cores in columns and to 32 bytes in k.
template <class Code>
struct Operands {
  Out<Code> a, b;
  unsigned a_depth, b_depth;  ///< elements per row of A, per column of B
  unsigned rows, columns, begin, end;
};

/// Every unit: start(row, column) gives the word to add to, store(row, column, word) takes the result; rows without
/// active(row) are left alone. The same thread starts and stores an element at every call with the same sizes.
struct EmulatedUnit {
  template <class Code, class Active, class Start, class Store>
  HALFULP_DEVICE static void run(const ProductPlan& plan, const Operands<Code>& x, Active active, Start start, Store store) {
    for (unsigned i = threadIdx.x; i < x.rows * x.columns; i += blockDim.x) {
      const unsigned row = i / x.columns, column = i % x.columns;
      if (!active(row)) continue;
      std::uint32_t sum = start(row, column);
      for (unsigned k = x.begin; k < x.end; k += plan.chunk) {
        sum = chunk_sum(
            plan, x.end - k < plan.chunk ? x.end - k : plan.chunk, sum,
            [&](unsigned j) { return static_cast<std::uint32_t>(static_cast<Code>(x.a[row * x.a_depth + k + j])); },
            [&](unsigned j) { return static_cast<std::uint32_t>(static_cast<Code>(x.b[core_index<Code>(column, k + j, x.b_depth)])); });
      }
      store(row, column, sum);
    }
  }
};

// Fragments of m16n8 with 32 bytes of k, for 8 and 16 bits alike. With g = lane / 4 and t = lane % 4: registers of A hold bytes
// 4t.. of rows g and g + 8, then bytes 16 + 4t.. of the same; of B bytes 4t.. and 16 + 4t.. of column g; of D the elements
// (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). wgmma spreads 64 rows over four warps in the same way.
inline constexpr unsigned kDepthBytes = 32, kColumns = 8;
template <class Code>
inline constexpr unsigned kBytes = sizeof(Code);

/// Four bytes of codes from element k on; element(k) is asked below `end` only.
template <class Code, class Element>
HALFULP_DEVICE std::uint32_t packed(unsigned k, unsigned end, Element element) {
  std::uint32_t word = 0;
  for (unsigned j = 0; j < 4 / kBytes<Code>; ++j) {
    if (k + j < end) word |= static_cast<std::uint32_t>(static_cast<Code>(element(k + j))) << (8 * kBytes<Code> * j);
  }
  return word;
}

template <class Code, class Active>
HALFULP_DEVICE void load_a(std::uint32_t (&a)[4], const Operands<Code>& x, unsigned k, Active active) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g + i % 2 * 8;
    a[i] = active(row) ? packed<Code>(k + (4 * t + 16 * (i / 2)) / kBytes<Code>, x.end, [&](unsigned at) { return x.a[row * x.a_depth + at]; }) : 0u;
  }
}

/// Calls visit(register, row, column) for the elements of D that exist.
template <class Active, class Visit>
HALFULP_DEVICE void for_each_element(unsigned first_column, unsigned columns, Active active, Visit visit) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g + i / 2 * 8, column = first_column + 2 * t + i % 2;
    if (active(row) && column < columns) visit(i, row, column);
  }
}

/// Every warp takes eight columns at a time.
template <MmaInstruction I>
struct MmaSyncUnit {
  template <class Code, class Active, class Start, class Store>
  HALFULP_DEVICE static void run(const ProductPlan&, const Operands<Code>& x, Active active, Start start, Store store) {
    const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (unsigned first = threadIdx.x / 32 * kColumns; first < x.columns; first += blockDim.x / 32 * kColumns) {
      std::uint32_t d[4] = {};
      for_each_element(first, x.columns, active, [&](unsigned i, unsigned row, unsigned column) { d[i] = start(row, column); });
      for (unsigned k = x.begin; k < x.end; k += kDepthBytes / kBytes<Code>) {
        Fragments f;
        load_a(f.a, x, k, active);
        for (unsigned i = 0; i < 2; ++i) {
          f.b[i] = packed<Code>(k + (4 * t + 16 * i) / kBytes<Code>, x.end,
                                [&](unsigned at) { return x.b[core_index<Code>(first + g, at, x.b_depth)]; });
        }
        for (unsigned i = 0; i < 4; ++i) f.c[i] = d[i];
        mma_sync<I>(d, f);
      }
      for_each_element(first, x.columns, active, [&](unsigned i, unsigned row, unsigned column) { store(row, column, d[i]); });
    }
  }
};

/// The whole block of four warps takes eight columns at a time; the rows are those of warp 0, the other warps multiply zeros.
/// `begin` is a multiple of 32 bytes, since B comes in whole cores.
template <MmaInstruction I>
struct WgmmaUnit {
  template <class Code, class Active, class Start, class Store>
  HALFULP_DEVICE static void run(const ProductPlan&, const Operands<Code>& x, Active active, Start start, Store store) {
    const auto mine = [&](unsigned row) { return threadIdx.x < 32 && active(row); };
    for (unsigned first = 0; first < x.columns; first += kColumns) {
      std::uint32_t d[4] = {}, a[4];
      for_each_element(first, x.columns, mine, [&](unsigned i, unsigned row, unsigned column) { d[i] = start(row, column); });
      for (unsigned k = x.begin; k < x.end; k += kDepthBytes) {
        load_a(a, x, k, mine);
        wgmma_from_registers<I>(d, a, wgmma_descriptor(shared_address(x.b) + core_index<Code>(first, k, x.b_depth)));
      }
      for_each_element(first, x.columns, mine, [&](unsigned i, unsigned row, unsigned column) { store(row, column, d[i]); });
    }
  }
};

}  // namespace halfulp::gpu
