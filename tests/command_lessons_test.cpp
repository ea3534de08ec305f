// `halfulp memory` and `explain lesson`, as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.hpp"

namespace {

using command::run;
using command::run_shell;
using command::split;

TEST(Memory, TheTableOfCapacities) {
  const auto result =
      run(split("memory --layers 32 --kv-heads 8 --head-dim 128 --context 128Ki --memory 58G --weights 16G "
                "--bandwidth 3352G --batch 3 --json"));
  EXPECT_EQ(result.status, 0) << result.error;
  for (
      const char* part :
      {R"("cache":"bf16","bits":16.0,"bytes_per_token":131072.0,"bytes_per_sequence":17179869184,"fit":3,"floor_ms":20.1)",
       R"("cache":"fp8","bits":8.0,"bytes_per_token":65536.0,"bytes_per_sequence":8589934592,"fit":6,"floor_ms":12.4)",
       R"("cache":"int4","bits":5.0,"bytes_per_token":40960.0,"bytes_per_sequence":5368709120,"fit":10,"floor_ms":9.5)",
       R"("cache":"int2","bits":3.0,"bytes_per_token":24576.0,"bytes_per_sequence":3221225472,"fit":18,"floor_ms":7.6)"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  const auto residual = run(split(
      "memory --layers 32 --kv-heads 8 --head-dim 128 --context 128Ki --memory 58G --residual 128 --json"));
  EXPECT_NE(residual.out.find(R"("bytes_per_sequence":3234856960,"fit":17)"), std::string::npos)
      << residual.out;
  EXPECT_EQ(run(split("memory --layers 32 --kv-heads 8 --head-dim 128 --context 12x")).status, 2);
  EXPECT_EQ(run(split("memory --layers 0 --kv-heads 8 --head-dim 128 --context 12")).status, 2);
}

TEST(Lessons, KeysPerTokenAndPerChannel) {
  const std::string text = run(split("explain lesson keys")).out;
  EXPECT_NE(text.find("unquantized scores: 6/5, 9/10, 9/10, 8/5;"), std::string::npos) << text;
  EXPECT_NE(text.find("3/10, -1/10, -4/5, 3/5; largest error 17/10; Frobenius 8.587 %"), std::string::npos)
      << text;
  EXPECT_NE(text.find("37/30, 9/10, 14/15, 5/3; largest error 1/15; Frobenius 0.5896 %"), std::string::npos)
      << text;
}

TEST(Lessons, WeightsOfP) {
  const std::string saturation = run(split("explain lesson p-saturation")).out;
  EXPECT_NE(saturation.find("O = 0.8888889,"), std::string::npos) << saturation;
  EXPECT_NE(saturation.find("O = 0.1944444,"), std::string::npos) << saturation;
  const std::string no_prescale = run(split("explain lesson no-prescale")).out;
  EXPECT_NE(no_prescale.find("O = 1, row sum 512\n"), std::string::npos) << no_prescale;
  EXPECT_NE(no_prescale.find("O = 0.5, row sum 2\n"), std::string::npos) << no_prescale;
  EXPECT_NE(no_prescale.find("O = 1, row sum 1\n"), std::string::npos) << no_prescale;
  const std::string list = run(split("explain lesson")).out;
  for (const char* name : {"keys", "p-saturation", "no-prescale", "row-sum", "kivi"})
    EXPECT_NE(list.find(std::string(name) + " "), std::string::npos) << name;
}

TEST(Help, ExamplesOfAttentionAndMemoryWork) {
  for (const char* line : {"halfulp attention --list",
                           "halfulp memory --layers 32 --kv-heads 8 --head-dim 128 --context 128Ki",
                           "halfulp explain lesson p-saturation",
                           "halfulp verify attention:fa3_like,out=bf16,stages=yes --impl halfulp",
                           "halfulp diagnose attention:fa3_like,out=bf16 --impl halfulp"})
    EXPECT_EQ(run_shell(line).status, 0) << line;
}

}  // namespace
