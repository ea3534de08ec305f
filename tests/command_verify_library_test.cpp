// `halfulp verify` on shared libraries: right, crashing, hanging, writing where they must not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "verify_runner.hpp"

namespace {

using command::expect_finding;
using command::Result;
using command::Verify;
using nlohmann::json;

/// `verify cast:f32:e4m3 --lib` with a fault.
Result library(const std::string& fault, const std::string& name = "faulty_kernel") {
  setenv("HALFULP_TEST_KERNEL", fault.c_str(), 1);
  const Result result = command::run({"verify", "cast:f32:e4m3", "--json", "--timeout", "1", "--lib",
                                      std::string(HALFULP_TEST_KERNELS) + "/lib" + name + ".so"});
  unsetenv("HALFULP_TEST_KERNEL");
  return result;
}

TEST_F(Verify, a_right_library_passes) {
  const Result result = library("");
  EXPECT_EQ(result.status, 0) << result.out << result.error;
  const json verdict = json::parse(result.out);
  EXPECT_EQ(verdict["version"], "faulty\\x1bkernel");
  EXPECT_GT(verdict["checked"], 9000);
}

TEST_F(Verify, a_library_that_crashes_hangs_or_ends_is_named_with_the_row) {
  const auto right_rows = json::parse(library("").out)["checked"].get<int>();
  struct Case {
    const char* fault;
    const char* kind;
    const char* text;
    int status;
  };
  for (const Case& one :
       {Case{"segv", "crash", ", input 0x3f800000: it crashed: signal 11", 3},
        Case{"abort", "crash", ", input 0x3f800000: it crashed: signal 6", 3},
        Case{"exit", "crash", ", input 0x3f800000: it ended the process: exit status 3", 3},
        Case{"hang", "time-out", ", input 0x3f800000: no answer within 1 s, stopped", 3},
        Case{"error", "failure", "it reports error 12: no\\x09device", 3},
        Case{"crash_at_start", "crash", "while it was loaded: signal 6", 3},
        Case{"overrun", "out of bounds", "it wrote behind the end of expected", 1},
        Case{"underrun", "out of bounds", "it wrote before the start of expected", 1},
        Case{"stray", "out of bounds", "it wrote outside column expected", 1},
        Case{"overrun_by_the_pattern", "out of bounds", "it wrote behind the end of expected", 1},
        Case{"far_overrun", "out of bounds", "it wrote outside column expected", 1},
        Case{"input_written", "out of bounds", "it wrote into its input input", 1},
        Case{"random", "non-determinism", "two runs differ in 1 of", 1},
        Case{"skip", "missing output", "rows of expected (first: row", 3}}) {
    const Result result = library(one.fault);
    EXPECT_EQ(result.status, one.status) << one.fault << result.out << result.error;
    const json verdict = json::parse(result.out);
    expect_finding(verdict, one.kind, one.text);
    const bool located = std::string(one.text).starts_with(", input");
    if (located) {
      EXPECT_EQ(verdict["findings"].size(), 1u) << one.fault;
      EXPECT_EQ(verdict["checked"], right_rows - 1) << one.fault;  // all but 1.0
    }
  }
}

TEST_F(Verify, rows_that_a_library_leaves_unwritten_are_not_judged) {
  const auto right_rows = json::parse(library("").out)["checked"].get<int>();
  const json one = json::parse(library("skip").out);
  EXPECT_EQ(one["verdict"], "incomplete");
  EXPECT_EQ(one["mismatches"], 0);
  EXPECT_EQ(one["checked"], right_rows - 1);
  const Result none = library("write_nothing");
  EXPECT_EQ(none.status, 3) << none.out;
  EXPECT_EQ(json::parse(none.out)["checked"], 0);
}

TEST_F(Verify, a_library_that_crashes_again_and_again_is_given_up) {
  const Result result = library("crash_often");
  EXPECT_EQ(result.status, 3);
  const json verdict = json::parse(result.out);
  EXPECT_EQ(verdict["findings"].size(), 8u) << verdict["findings"];
  EXPECT_NE(verdict["findings"].dump().find("no more are looked for"), std::string::npos);
  EXPECT_GT(verdict["checked"], 1000);
}

TEST_F(Verify, a_file_that_is_no_kernel_library_is_refused) {
  write("text.so", "no library");
  for (const auto& [file, why] : std::map<std::string, std::string>{
           {path("text.so"), "it cannot be loaded"},
           {path("missing.so"), "it cannot be loaded"},
           {std::string(HALFULP_TEST_KERNELS) + "/libother_abi_kernel.so", "ABI version 99"},
           {std::string(HALFULP_TEST_KERNELS) + "/libno_info_kernel.so",
            "it exports no halfulp_kernel_info"}}) {
    const Result result = command::run({"verify", "cast:f32:e4m3", "--lib", file});
    EXPECT_EQ(result.status, 2) << file;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(why), std::string::npos) << result.error;
  }
  const Result other = command::run(
      {"verify", "cast:f32:e5m2", "--lib", std::string(HALFULP_TEST_KERNELS) + "/libfaulty_kernel.so"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.error.find("it does not list cast:f32:e5m2"), std::string::npos) << other.error;
}

}  // namespace
