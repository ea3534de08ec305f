// Who computes a product of a tile: integer arithmetic, mma.sync or wgmma. All take codes from shared memory and add to words.
#pragma once

#include "gpu_check/kernels/attention_mma.cuh"
#include "gpu_check/kernels/attention_product.cuh"

namespace halfulp::gpu {

/// D[row, column] += sum over k in [begin, end) of A[row, k] * B[column, k]. A is row-major, B in cores (core_index); both are
/// zero-padded to whole instructions in rows and columns, and B in k.
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
HALFULP_DEVICE AFragment a_fragment(const Operands<Code>& x, unsigned k, Active active) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  AFragment a;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g + i % 2 * 8;
    a.word[i] = active(row) ? packed<Code>(k + (4 * t + 16 * (i / 2)) / kBytes<Code>, x.end, [&](unsigned at) { return x.a[row * x.a_depth + at]; }) : 0u;
  }
  return a;
}

template <class Active, class Start>
HALFULP_DEVICE DFragment d_fragment(unsigned first_column, unsigned columns, Active active, Start start) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  DFragment d;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g + i / 2 * 8, column = first_column + 2 * t + i % 2;
    d.word[i] = active(row) && column < columns ? start(row, column) : 0u;
  }
  return d;
}

template <class Active, class Store>
HALFULP_DEVICE void store_fragment(const DFragment& d, unsigned first_column, unsigned columns, Active active, Store store) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g + i / 2 * 8, column = first_column + 2 * t + i % 2;
    if (active(row) && column < columns) store(row, column, d.word[i]);
  }
}

/// Every warp takes eight columns at a time.
template <MmaType Type>
struct MmaSyncUnit {
  template <class Code, class Active, class Start, class Store>
  HALFULP_DEVICE static void run(const ProductPlan&, const Operands<Code>& x, Active active, Start start, Store store) {
    const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (unsigned first = threadIdx.x / 32 * kMmaColumns; first < x.columns; first += blockDim.x / 32 * kMmaColumns) {
      DFragment d = d_fragment(first, x.columns, active, start);
      for (unsigned k = x.begin; k < x.end; k += kMmaBytes / kBytes<Code>) {
        BFragment b;
        for (unsigned i = 0; i < 2; ++i) {
          b.word[i] = packed<Code>(k + (4 * t + 16 * i) / kBytes<Code>, x.end,
                                   [&](unsigned at) { return x.b[core_index<Code>(first + g, at, x.b_depth)]; });
        }
        mma_sync<Type>(d, a_fragment(x, k, active), b);
      }
      store_fragment(d, first, x.columns, active, store);
    }
  }
};

/// The whole block takes eight columns at a time; the rows are those of warp 0, the other warps multiply zeros. `begin` is a
/// multiple of 32 bytes, since B comes in whole cores.
template <MmaType Type>
struct WgmmaUnit {
  template <class Code, class Active, class Start, class Store>
  HALFULP_DEVICE static void run(const ProductPlan&, const Operands<Code>& x, Active active, Start start, Store store) {
    const auto mine = [&](unsigned row) { return threadIdx.x < 32 && active(row); };
    for (unsigned first = 0; first < x.columns; first += kMmaColumns) {
      DFragment d = d_fragment(first, x.columns, mine, start);
      for (unsigned k = x.begin; k < x.end; k += kMmaBytes) {
        wgmma<Type>(d, a_fragment(x, k, mine), shared_address(x.b) + core_index<Code>(first, k, x.b_depth), 128, x.b_depth / 16 * 128);
      }
      store_fragment(d, first, x.columns, mine, store);
    }
  }
};

}  // namespace halfulp::gpu
