// A matrix product in FP8 for a library, with what its results may be: made by prepare, judged where the library runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfulp::gpu {

/// D = scale_a * scale_b * A * B' in float32, A of m x k and B of n x k E4M3 codes. Words of D stand row after row.
struct GemmProblem {
  std::string name;
  std::uint32_t m = 0, n = 0, k = 0;
  float scale_a = 1, scale_b = 1;              ///< powers of two: exact wherever they are applied
  std::vector<std::uint32_t> a, b;             ///< four codes to a word
  std::vector<std::uint32_t> lower, upper;     ///< float32: no order of the products leaves these bounds
  std::vector<std::string> models;             ///< named models
  std::vector<std::vector<std::uint32_t>> words;  ///< of D under each model

  std::size_t outputs() const { return static_cast<std::size_t>(m) * n; }
};

/// Files DATA/libraries/gemm_NUMBER.txt and .bin, and their count. All throw std::runtime_error.
void write_gemm_problems(const std::string& data, const std::vector<GemmProblem>& problems);
std::size_t count_gemm_problems(const std::string& data);
GemmProblem read_gemm_problem(const std::string& data, std::size_t number);

/// Results of a library against a problem.
struct GemmVerdict {
  std::vector<std::uint64_t> equal;  ///< outputs that each model gives
  std::uint64_t outside = 0;         ///< outputs that leave their bounds, NaN among them
  std::vector<std::string> first;    ///< up to 16 of those
  std::vector<std::string> models;   ///< that give every output
};
GemmVerdict judge_gemm(const GemmProblem& problem, const std::vector<std::uint32_t>& got);

}  // namespace halfulp::gpu
