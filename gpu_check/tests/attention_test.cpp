// The attention kernels on the thread shim: every stage against the reference kernel, in every order of threads and blocks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/attention/run.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

/// A folder with the files of all cases, made once.
const std::string& data_folder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "halfulp_gpu_attention_" + std::to_string(::getpid());
    prepare_attention(path);
    return path;
  }();
  return folder;
}

class Cleanup : public ::testing::Environment {
  void TearDown() override { std::filesystem::remove_all(data_folder()); }
};
[[maybe_unused]] const auto* const kCleanup = ::testing::AddGlobalTestEnvironment(new Cleanup);

StepContext context(int architecture) {
  set_modelled_architecture(architecture);
  return {data_folder(), "", false, find_device()};
}

TEST(Attention, EveryStageOfEveryCaseOnEveryModelledGpu) {
  std::set<std::string> passed;
  for (const int architecture : {90, 89, 120}) {
    const StepReport report = run_attention(context(architecture));
    EXPECT_EQ(report.rows.size(), kAttentionCases.size());
    for (const ResultRow& row : report.rows) {
      EXPECT_NE(row.status, Status::failed) << row.test << "\n" << text_of({"attention", {row}});
      if (row.status == Status::passed) passed.insert(row.test);
    }
  }
  EXPECT_EQ(passed.size(), kAttentionCases.size());
}

}  // namespace
}  // namespace halfulp::gpu
