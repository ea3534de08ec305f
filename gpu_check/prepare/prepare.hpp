// What the steps need from the CPU side: tables and rows made by the oracle and the exact models, as files. Written where the
// whole project is built; read where only nvcc, g++ and CMake are.
#pragma once

#include <string>

#include "gpu_check/cast_cases.hpp"
#include "gpu_check/cast_table.hpp"
#include "gpu_check/libraries/problem.hpp"

namespace halfulp::gpu {

/// The oracle's threshold table of a case for the random bits of one lane.
CastTable make_cast_table(const CastCase& cast, std::uint32_t lane_random);

/// Each writes its files under DATA. Throws std::runtime_error.
void prepare_casts(const std::string& data);
void prepare_mufu(const std::string& data);
void prepare_libraries(const std::string& data);
/// The products of prepare_libraries.
std::vector<GemmProblem> make_gemm_problems();
/// Constants of exp2_exact.hpp as the words of doubles.
std::vector<std::uint32_t> exp2_table_words();
/// `measured_folder`: tests/data/mma_hardware. `tiles`: of 128 outputs for each class and kind.
void prepare_mma(const std::string& data, const std::string& measured_folder, int tiles);

}  // namespace halfulp::gpu
