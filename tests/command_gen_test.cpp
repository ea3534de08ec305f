// `halfulp gen` as a user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "temporary_folder.hpp"

namespace command {
namespace {

namespace fs = std::filesystem;

using Folder = halfulp::test::TemporaryFolder;

TEST(Gen, OneLineSaysWhatWasWritten) {
  const Folder folder;
  const Result r = run({"gen", "cast:bf16:e4m3", "-o", folder / "a", "--level", "exhaustive"});
  EXPECT_EQ(r.status, 0) << r.error;
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder / "a")) bytes += file.file_size();
  EXPECT_EQ(r.out, "65536 rows, level exhaustive, exhaustive, " + std::to_string(bytes) + " bytes in " +
                       folder / "a" + "\n");
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(halfulp::test::read_bytes(folder / "a/input.bin").size(), 131072u);
  EXPECT_EQ(halfulp::test::read_bytes(folder / "a/expected.bin").size(), 65536u);
  const Result quiet = run({"gen", "cast:bf16:e4m3", "-o", folder / "b.npz", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.error, "");
}

TEST(Gen, JsonSaysTheSame) {
  const Folder folder;
  const Result r = run({"gen", "bf16->e2m1", "-o", folder / "a.safetensors", "--json", "--seed", "7",
                        "--level", "stratified"});
  ASSERT_EQ(r.status, 0) << r.error;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["spec"], "cast:bf16:e2m1");
  EXPECT_EQ(json["level"], "stratified");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["completeness"], "complete_for_monotone");
  EXPECT_GT(json["refused"], 10);
  EXPECT_GT(json["rows"], 1000);
  EXPECT_EQ(json["bytes"], fs::file_size(folder / "a.safetensors"));
  EXPECT_EQ(json["path"], folder / "a.safetensors");
}

TEST(Gen, LevelsHaveTheirDefaults) {
  const Folder folder;
  EXPECT_NE(
      run({"gen", "cast:f32:e4m3", "-o", folder / "a"}).out.find("level thresholds, complete_for_monotone"),
      std::string::npos);
  EXPECT_NE(
      run({"gen", "decode:e5m2", "-o", folder / "b"}).out.find("256 rows, level stratified, exhaustive"),
      std::string::npos);
}

TEST(Gen, TheSameBytesOnEveryNumberOfThreadsAndOtherOnesForAnotherSeed) {
  const Folder folder;
  const auto made = [&](const std::string& name, const char* threads, const char* seed) {
    const Result r = run({"gen", "cast:f32:e4m3", "-o", folder / name, "--level", "stratified", "--threads",
                          threads, "--seed", seed, "--also", "txt,memh"});
    EXPECT_EQ(r.status, 0) << r.error;
    std::string all;
    for (const char* file : {"manifest.json", "input.bin", "expected.bin", "flags.bin", "status.bin",
                             "vectors.txt", "vectors.memh"})
      all += halfulp::test::read_bytes(folder / (name + "/" + file));
    return all;
  };
  const std::string one = made("one", "1", "1");
  EXPECT_TRUE(one == made("five", "5", "1"));
  EXPECT_FALSE(one == made("other", "5", "2"));
}

TEST(Gen, FurtherFormsStandBesideTheColumns) {
  const Folder folder;
  const Result r =
      run({"gen", "decode:e2m1", "-o", folder / "a/", "--also", "npz,safetensors,memh,c,txt,json"});
  ASSERT_EQ(r.status, 0) << r.error;
  for (const char* file : {"vectors.npz", "vectors.safetensors", "vectors.memh", "vectors.h", "vectors.txt",
                           "vectors.json", "manifest.json"})
    EXPECT_GT(halfulp::test::read_bytes(folder / (std::string("a/") + file)).size(), 100u) << file;
  EXPECT_EQ(halfulp::test::read_bytes(folder / "a/vectors.txt").substr(0, 36), "# input:e2m1 expected:f32; decode:e2");
}

struct Bad {
  const char* arguments;
  const char* message;
};
const Bad kBad[] = {
    {"gen cast:f32:e4m4", "format 'e4m4'"},
    {"gen sum:x", "packs are not made of it"},
    {"gen mma:x", "model 'x'"},
    {"gen attention:x", "attention preset 'x'"},
    {"gen decode:f64:f32", "does not hold every value"},
    {"gen cast:f64:e4m3 --level exhaustive", "too many codes"},
    {"gen cast:f32:f64 --level exhaustive", "too many steps"},
    {"gen cast:f32:e4m3 --level all", "level 'all'"},
    {"gen cast:f32:e4m3 --also pdf", "form 'pdf'"},
    {"gen cast:f32:e4m3,rounding=stochastic,sr-bits=4", "random word"},
    {"gen cast:f32:f16 --level stratified --also json", "it takes at most 65536"},
    {"gen cast:exact:e4m3", "source exact"},
};

TEST(Gen, BadArgumentsGiveOneLineAndLeaveNothing) {
  const Folder folder;
  for (const Bad& bad : kBad) {
    std::vector<std::string> arguments = split(bad.arguments);
    arguments.insert(arguments.end(), {"-o", folder / "a"});
    const Result r = run(arguments);
    EXPECT_EQ(r.status, 2) << bad.arguments;
    expect_one_error_line(r.error);
    EXPECT_NE(r.error.find(bad.message), std::string::npos) << r.error;
  }
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_EQ(run({"gen", "decode:e2m1", "-o", folder / "a"}).status, 0);
  const Result again = run({"gen", "decode:e2m1", "-o", folder / "a"});
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.error.find("exists and is not empty"), std::string::npos) << again.error;
  const Result file = run({"gen", "decode:e2m1", "-o", folder / "a.npz", "--also", "c"});
  EXPECT_EQ(file.status, 2);
  EXPECT_NE(file.error.find("is one file"), std::string::npos) << file.error;
  EXPECT_EQ(run({"gen", "decode:e2m1"}).status, 2);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Gen, ItsExamplesWorkAsTyped) {
  const Folder folder;
  const std::string help = run({"gen", "--help"}).out;
  const std::size_t at = help.find("Examples:\n");
  ASSERT_NE(at, std::string::npos) << help;
  std::istringstream lines(help.substr(at + 10));
  int examples = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("halfulp") == std::string::npos) continue;
    const Result r = run_shell("cd " + folder / "" + " && " + line);
    EXPECT_EQ(r.status, 0) << line << r.error;
    EXPECT_NE(r.out, "");
    ++examples;
  }
  EXPECT_EQ(examples, 5);
  EXPECT_EQ(folder.files(), 5u);
}

TEST(Gen, WhatItAndQuantizeWriteAreReadAsPacks) {
  using namespace halfulp::vectors;
  const Folder folder;
  for (const char* name : {"a", "a.npz", "a.safetensors"}) {
    ASSERT_EQ(run({"gen", "cast:f32:e2m1,nan=nan_to_max", "-o", folder / name}).status, 0);
    const auto pack = read_pack(folder / name);
    EXPECT_EQ(pack->manifest().kind, "cast");
    EXPECT_EQ(pack->manifest().spec, "cast:f32:e2m1,nan=nan_to_max");
    EXPECT_EQ(pack->column(0).size(), 4 * pack->manifest().rows);
  }
  for (const char* recipe :
       {"nvfp4/transformer_engine", "fp8_per_tensor/vllm_native", "kivi/v", "mxfp8/ocp_floor"}) {
    for (const char* name : {"q", "q.npz", "q.safetensors"}) {
      fs::remove_all(folder / name);
      const Result r =
          run({"quantize", "--recipe", recipe, "--output", folder / name}, "0.5 -1 2 0.25\n1 3 -4 0.5\n");
      ASSERT_EQ(r.status, 0) << recipe << r.error;
      const auto pack = read_pack(folder / name);
      const Manifest& m = pack->manifest();
      EXPECT_EQ(m.kind, "tensor");
      EXPECT_TRUE(m.spec.starts_with(std::string("recipe:") + recipe)) << m.spec;
      ASSERT_NE(m.find("codes"), nullptr);
      EXPECT_EQ(m.find("codes")->shape, (std::vector<std::uint64_t>{2, 4}));
      EXPECT_EQ(nlohmann::json::parse(m.details)["recipe"], recipe);
    }
  }
}

TEST(Gen, AFullDiskLeavesNothing) {
  const Folder folder;
  // A file of at most 64 KiB: what is larger cannot be written. SIGXFSZ must be ignored for write() to fail
  // instead.
  for (const char* name : {"a", "a.npz", "a.safetensors"}) {
    const Result r = run_shell("trap '' XFSZ; ulimit -f 64; halfulp gen cast:bf16:e4m3 --level exhaustive -o " + folder / name);
    EXPECT_EQ(r.status, 2) << r.out;
    expect_one_error_line(r.error);
    EXPECT_NE(r.error.find("cannot be written"), std::string::npos) << r.error;
    EXPECT_EQ(folder.files(), 0u) << name;
  }
}

TEST(Gen, CtrlCLeavesNothing) {
  const Folder folder;
  for (const char* name : {"a", "a.npz"}) {
    // 2^32 rows: it is stopped long before the end.
    const Result r = run_shell("halfulp gen cast:f32:e4m3 --level exhaustive -o " + folder / name +
                               " & child=$!; while [ -z \"$(ls " + folder / "" +
                               ")\" ]; do sleep 0.05; done; sleep 0.2; "
                               "kill -TERM $child; wait $child; echo status $?");
    EXPECT_EQ(r.out, "status 143\n") << r.error;
    EXPECT_EQ(folder.files(), 0u) << name;
  }
}

}  // namespace
}  // namespace command
