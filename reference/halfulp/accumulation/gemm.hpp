// gemm: D = epilogue(A * B' + C) under an accumulation model, for whole matrices, with threads and vector kernels.
//
// Every element is dot_exact (sum_exact.hpp) of its row and column, then the epilogue's steps in their order; the vector
// level and the number of threads change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/model.hpp"
#include "halfulp/policy.hpp"

namespace halfulp::accumulation {

/// A matrix of codes, row after row, k running fastest: A is m x k, B is given by its columns, n x k. Words of
/// FormatSpec::storage_bytes() bytes in native order.
struct CodeMatrix {
  std::span<const std::byte> words;
  std::size_t rows = 0, k = 0;
};

/// Scales of a CodeMatrix: one word (of scale_format(spec)) for `row_block` rows and scale_block(spec) products, blocks of a
/// row of blocks side by side.
struct ScaleMatrix {
  std::span<const std::uint32_t> words = {};
  std::size_t row_block = 1;
};

/// The sums D as words of the output format, m x n. `c`: empty for zero, else m x n words of the output format.
/// Throws std::invalid_argument where sizes do not fit. `threads` >= 1. `tick` is called now and then, from any thread, with
/// the number of elements done since its last call; what it throws stops the work and is thrown on.
struct GemmProblem {
  MmaSpec spec;
  CodeMatrix a, b;
  ScaleMatrix scale_a, scale_b;
  std::span<const std::uint32_t> c = {};
};
std::vector<std::uint32_t> gemm_sums(const GemmProblem& problem, int threads = 1,
                                     const std::function<void(std::size_t)>& tick = {});

/// How the parts of a split k are added, in the output format, to nearest even.
enum class Combine : std::uint8_t {
  sequential,  ///< c + part 0 + part 1 + ..., from the left
  tree,        ///< adjacent pairs, an odd leftover moving up, then + c
};

/// The same with k in `parts` equal stretches (the last may be shorter), each summed from zero and combined with c, also a single one. A stretch of
/// ceil(k / parts) is made a multiple of the scale block, so that there may be fewer. std::invalid_argument where parts is 0.
std::vector<std::uint32_t> split_k_sums(const GemmProblem& problem, std::size_t parts, Combine combine, int threads = 1,
                                        const std::function<void(std::size_t)>& tick = {});

/// What happens to a sum, in order; every multiply and add is one float32 operation to nearest even.
enum class EpilogueStep : std::uint8_t {
  scale_a,       ///< times the scale of the row of A (one per row, or one for all)
  scale_b,       ///< times the scale of the column of B
  scale_ab,      ///< times (scale of A times scale of B)
  scale_result,  ///< times one scale of the whole result
  bias,          ///< plus the bias of the column
  cast,          ///< rounded to the result format, and on from there
};

/// The rows of words that an epilogue names; an int32 sum becomes a float32 first, to nearest even (inexact above 2^24).
struct Epilogue {
  std::vector<EpilogueStep> steps;
  std::vector<float> scale_a, scale_b;  ///< one, or one per row of A, per column of B
  float scale_result = 1;
  std::vector<float> bias;              ///< one per column
};

/// `scale_a,scale_b,bias,cast` and the like. Throws InputError with the nearest names.
std::vector<EpilogueStep> parse_steps(std::string_view text);

/// Runs the steps on m x n sums and rounds to `to`: container words. A refused cast throws InputError.
std::vector<std::uint32_t> apply_epilogue(const Epilogue& epilogue, Output sums_format, std::span<const std::uint32_t> sums,
                                          std::size_t columns, const FormatSpec& to, const CastPolicy& policy);

}  // namespace halfulp::accumulation
