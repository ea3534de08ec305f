// The examples of docs/plug-in.md, run as they are written there; skipped where their tool is not found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace {

const std::string kExamples = HALFULP_SOURCE_DIR "/docs/examples";
const std::string kInclude = HALFULP_SOURCE_DIR "/vectors";

bool found(const std::string& tool) {
  return command::run_shell("command -v " + tool + " >/dev/null").status == 0;
}

/// A folder of its own, with the examples in it.
class Example : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(kExamples, folder_ / "");
  }

  command::Result shell(const std::string& text) const {
    return command::run_shell("cd " + folder_ / "" + "; " + text);
  }
  void expect_exact(const std::string& text) const {
    const command::Result result = shell(text);
    EXPECT_EQ(result.status, 0) << result.out << result.error;
    EXPECT_EQ(result.out.rfind("bit-exact  cast:f32:e4m3", 0), 0u) << result.out;
  }
  void expect_builds(const std::string& text) const {
    const command::Result result = shell(text);
    ASSERT_EQ(result.status, 0) << result.error;
    ASSERT_EQ(result.error, "");
  }

 private:
  const halfulp::test::TemporaryFolder folder_;
};

TEST_F(Example, c_filter) {
  if (!found("cc")) GTEST_SKIP() << "not found: cc";
  expect_builds("cc -std=c99 -Wall -Wextra -pedantic -O2 c_filter.c -o c_filter");
  expect_exact("halfulp verify cast:f32:e4m3 --exec ./c_filter");
  expect_exact("halfulp verify cast:f32:e4m3 --level stratified --exec ./c_filter");
}

TEST_F(Example, c_filter_that_truncates_is_told_so) {
  if (!found("cc")) GTEST_SKIP() << "not found: cc";
  expect_builds(
      "sed -i 's/kept += .*/(void)rest, (void)half;/' e4m3_cast.h && cc -O2 c_filter.c -o c_filter");
  const command::Result result = shell("halfulp verify cast:f32:e4m3 --exec ./c_filter");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("all  rounding=toward_zero"), std::string::npos) << result.out;
}

TEST_F(Example, c_library) {
  if (!found("cc")) GTEST_SKIP() << "not found: cc";
  expect_builds("cc -std=c99 -Wall -Wextra -pedantic -O2 -shared -fPIC -I " + kInclude +
                " c_library.c -o c_library.so");
  expect_exact("halfulp verify cast:f32:e4m3 --lib ./c_library.so");
  expect_exact("halfulp verify cast:f32:e4m3 --lib c_library.so --level stratified");
}

/// The Python that has a module: $HALFULP_PYTHON, else python3; empty when it has not.
std::string python_with(const std::string& module) {
  const char* chosen = std::getenv("HALFULP_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  return command::run_shell(python + " -c 'import " + module + "' 2>/dev/null").status == 0 ? python : "";
}

TEST_F(Example, numpy_filter) {
  const std::string python = python_with("numpy");
  if (python.empty()) GTEST_SKIP() << "not found: a Python with numpy (HALFULP_PYTHON names it)";
  expect_exact("halfulp verify cast:f32:e4m3 --exec '" + python + " numpy_filter.py'");
  expect_exact("halfulp verify cast:f32:e4m3 --level stratified --exec '" + python + " numpy_filter.py'");
}

TEST_F(Example, verilog) {
  if (!found("iverilog")) GTEST_SKIP() << "not found: iverilog";
  expect_builds(
      "halfulp gen cast:f32:e4m3 -o pack --also memh --quiet && "
      "iverilog -Wall -DROWS=$(grep -vc // pack/vectors.memh) -o cast_tb f32_to_e4m3.v f32_to_e4m3_tb.v");
  expect_exact("halfulp verify pack --text --exec 'vvp -n cast_tb +rows=pack/vectors.memh'");
}

TEST_F(Example, torch_through_files) {
  const std::string python = python_with("torch");
  if (python.empty()) GTEST_SKIP() << "not found: a Python with torch (HALFULP_PYTHON names it)";
  expect_exact("halfulp gen cast:f32:e4m3@torch_2_11 -o pack --quiet; " + python +
               " torch_cast.py pack/input.bin out.bin && halfulp verify pack --got out.bin");
}

}  // namespace
