// The step libraries on a stand-in for cuBLASLt: what it computes is named, and every lie is found.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

class Libraries : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = ::testing::TempDir() + "halfulp_libraries_" + std::to_string(::getpid());
    prepare_libraries(folder());
  }
  static const std::vector<GemmProblem>& problems() {
    static const std::vector<GemmProblem> read = [] {
      std::vector<GemmProblem> all;
      for (std::size_t i = 0, count = count_gemm_problems(folder()); i < count; ++i) all.push_back(read_gemm_problem(folder(), i));
      return all;
    }();
    return read;
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  void TearDown() override { ::unsetenv("HALFULP_TEST_FAULT"); }

  static std::string& folder() {
    static std::string path;
    return path;
  }
  static StepReport run(const char* fault, const std::string& libraries = HALFULP_STAND_IN) {
    ::setenv("HALFULP_TEST_FAULT", fault, 1);
    return run_libraries({folder(), "", true, find_device(), libraries});
  }
};

std::uint64_t count_of(const ResultRow& row, const std::string& model) {
  for (const auto& [name, count] : row.counts) {
    if (name == model) return count;
  }
  return ~0ull;
}

/// Rows with `part` in their names that failed.
std::size_t failed(const StepReport& report, const std::string& part = "") {
  std::size_t count = 0;
  for (const ResultRow& row : report.rows) count += row.status == Status::failed && row.test.find(part) != std::string::npos ? 1 : 0;
  return count;
}

TEST_F(Libraries, WhatTheLibraryComputesIsNamed) {
  const StepReport report = run("");
  ASSERT_EQ(report.rows.size(), 14u);
  for (const ResultRow& row : report.rows) {
    EXPECT_EQ(row.status, Status::passed) << text_of(report);
    EXPECT_NE(row.test.find("(id 7, tile 3, split-k 1)"), std::string::npos) << row.test;
    const bool fast = row.test.find("fast accumulation") != std::string::npos;
    EXPECT_EQ(count_of(row, fast ? "hopper_fp8_wgmma" : "hopper_fp8_wgmma, promoted every 128"), row.inputs) << row.test;
    EXPECT_NE(row.note.find(fast ? "hopper_fp8_wgmma" : "hopper_fp8_wgmma, promoted every 128"), std::string::npos) << row.note;
    EXPECT_NE(row.note.find("[cuBLASLt 1]"), std::string::npos);
  }
  EXPECT_EQ(exit_status(report), kExitPassed);
}

/// Named models that cannot be told apart would be named together.
TEST_F(Libraries, TheProductsTellTheModelsApart) {
  std::vector<std::vector<std::uint32_t>> words;
  for (const GemmProblem& problem : problems()) {
    words.resize(problem.models.size());
    for (std::size_t i = 0; i < words.size(); ++i) words[i].insert(words[i].end(), problem.words[i].begin(), problem.words[i].end());
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_TRUE(words[i] != words[j]) << i << " " << j;
  }
}

TEST_F(Libraries, EveryNamedModelKeepsTheBounds) {
  for (const GemmProblem& problem : problems()) {
    for (std::size_t i = 0; i < problem.models.size(); ++i) {
      const GemmVerdict verdict = judge_gemm(problem, problem.words[i]);
      EXPECT_EQ(verdict.outside, 0u) << problem.name << ": " << problem.models[i] << "\n" << (verdict.first.empty() ? "" : verdict.first[0]);
    }
  }
}

TEST_F(Libraries, IntegersHaveOneAnswer) {
  const GemmProblem& integers = problems()[3];
  EXPECT_EQ(integers.lower, integers.upper);
  std::size_t odd_beyond_f16 = 0;
  for (const std::uint32_t word : integers.lower) {
    const float sum = std::bit_cast<float>(word);
    odd_beyond_f16 += sum > 2048 && std::fmod(sum, 2.0f) != 0 ? 1 : 0;
  }
  EXPECT_GT(odd_beyond_f16, 100u);
}

TEST_F(Libraries, ADroppedScaleIsFound) {
  const StepReport report = run("scale");
  EXPECT_EQ(failed(report, "scales 2^-3 and 2^5"), 2u) << text_of(report);
  EXPECT_EQ(failed(report), 2u) << "the other products have scales of one";
  EXPECT_EQ(report.rows[2].mismatches, report.rows[2].inputs);
  EXPECT_NE(report.rows[2].first[0].find("D[0][0]: got "), std::string::npos);
  EXPECT_EQ(exit_status(report), kExitFailed);
}

TEST_F(Libraries, AccumulationInF16IsFound) {
  const StepReport report = run("f16");
  EXPECT_EQ(failed(report, "beyond f16"), 2u) << text_of(report);
  EXPECT_EQ(failed(report, "integers"), 2u) << text_of(report);
  EXPECT_EQ(exit_status(report), kExitFailed);
}

TEST_F(Libraries, AnotherOrderIsWithinTheBoundsAndNamed) {
  for (const ResultRow& row : run("order").rows) {
    EXPECT_EQ(row.status, Status::passed) << row.test;
    EXPECT_EQ(count_of(row, "f32_sequential"), row.inputs) << row.test;
  }
}

TEST_F(Libraries, TwoRunsMustAgreeAndStayInsideD) {
  const StepReport unsteady = run("unsteady"), overrun = run("overrun");
  EXPECT_EQ(failed(unsteady), unsteady.rows.size());
  EXPECT_NE(unsteady.rows[0].first[0].find("cublasLtMatmul: result depends on the order of threads: d: byte "), std::string::npos) << unsteady.rows[0].first[0];
  EXPECT_EQ(failed(overrun), overrun.rows.size());
  EXPECT_NE(overrun.rows[0].first[0].find("write outside a buffer: 4 bytes beside d"), std::string::npos) << overrun.rows[0].first[0];
}

TEST_F(Libraries, CountsAndWorkspacesThatCannotBeAreRefused) {
  for (const auto& [fault, number] : {std::pair("many", "1000"), std::pair("negative", "-1")}) {
    const StepReport report = run(fault);
    ASSERT_EQ(report.rows.size(), 14u);
    EXPECT_EQ(failed(report), 14u);
    EXPECT_EQ(report.rows[0].first[0], std::string("cublasLtMatmulAlgoGetHeuristic counts ") + number + " algorithms where at most 4 were asked for");
  }
  const StepReport report = run("workspace");
  ASSERT_EQ(report.rows.size(), 28u);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    EXPECT_EQ(report.rows[i].status, i % 2 == 0 ? Status::failed : Status::passed) << text_of(report);
  }
  EXPECT_EQ(report.rows[0].first[0], "the library offers an algorithm with a workspace of 1099511627776 bytes where at most 4096 were allowed; it was not run");
}

TEST_F(Libraries, WhatCannotRunIsSaid) {
  const StepReport failing = run("fail"), unsupported = run("unsupported");
  EXPECT_EQ(failed(failing), failing.rows.size());
  EXPECT_EQ(failing.rows[0].first[0], "cublasLtMatmul: cublasLtMatmul gives status 7");
  for (const ResultRow& row : unsupported.rows) {
    EXPECT_EQ(row.status, Status::skipped);
    EXPECT_EQ(row.note, "the library has no algorithm for it on this device");
  }
  EXPECT_EQ(exit_status(unsupported), kExitAbsent);
  const StepReport absent = run("", folder()), host = run("", "");
  ASSERT_EQ(absent.rows.size(), 1u);
  EXPECT_EQ(absent.rows[0].note, "libcublasLt.so.13 or .12 not found in " + folder());
  EXPECT_EQ(exit_status(absent), kExitAbsent);
  EXPECT_EQ(host.rows[0].note, "no device, and --libraries names no stand-in");
}

}  // namespace
}  // namespace halfulp::gpu
