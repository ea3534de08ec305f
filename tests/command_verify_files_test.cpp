// `halfulp verify` on files of answers.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "verify_runner.hpp"

namespace {

using command::exec;
using command::expect_finding;
using command::got;
using command::kSame;
using command::Result;
using command::Verify;
using nlohmann::json;

/// All codes of kSame in order.
std::string all_codes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + ",), }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST_F(Verify, a_file_of_answers_is_judged_whole_and_its_size_is_a_finding) {
  write("right.bin", all_codes());
  EXPECT_EQ(got(kSame, path("right.bin"), 0)["verdict"], "bit-exact");
  std::filesystem::create_directory(path("folder"));
  write("folder/expected.bin", all_codes());
  EXPECT_EQ(got(kSame, path("folder"), 0)["verdict"], "bit-exact");

  std::string wrong = all_codes();
  wrong[1] = 2;
  wrong[0x7f] = static_cast<char>(0xff);  // any NaN, unless the SPEC names its sign
  write("wrong.bin", wrong);
  EXPECT_EQ(got(std::string(kSame) + ",nan=keep_sign", path("wrong.bin"), 1)["mismatches"], 2);
  const json verdict = got(kSame, path("wrong.bin"), 1);
  EXPECT_EQ(verdict["mismatches"], 1);
  EXPECT_EQ(verdict["first"]["input"], "0x01");
  EXPECT_EQ(verdict["diagnosis"]["differences"], 1);
  for (const char* key : {"spec", "seed", "level", "own_dialect", "groups", "examples", "reproduce"})
    EXPECT_TRUE(verdict.contains(key)) << key;

  write("short.bin", all_codes().substr(0, 200));
  expect_finding(got(kSame, path("short.bin"), 3), "missing output",
                 "expected: 200 of 256 codes, 56 missing");
  write("long.bin", all_codes() + "abc");
  expect_finding(got(kSame, path("long.bin"), 1), "extra output",
                 "expected: 3 codes more than the 256 expected");
  write("wide.bin", std::string(4 * 256, '\0'));
  expect_finding(got(kSame, path("wide.bin"), 1), "extra output",
                 "4 bytes per code, and codes of e4m3 are 1 byte: write the codes as words of 1 byte");
  // The answers of another level.
  ASSERT_EQ(
      command::run({"gen", "cast:f16:e4m3", "-o", path("all"), "--level", "exhaustive", "--quiet"}).status,
      0);
  expect_finding(got("cast:f16:e4m3", path("all/expected.bin"), 1), "extra output",
                 "as many as --level exhaustive has");
  write("empty.bin", "");
  expect_finding(got(kSame, path("empty.bin"), 3), "missing output", "0 of 256 codes");
}

TEST_F(Verify, arrays_of_codes_are_read_and_arrays_of_values_refused) {
  for (const char* descr : {"|u1", "|i1", "|V1"}) {
    write("codes.npy", npy(descr, "256", all_codes()));
    EXPECT_EQ(got(kSame, path("codes.npy"), 0)["verdict"], "bit-exact") << descr;
  }
  for (const char* descr : {"<f4", "<u4", "<f2", "|b1"}) {
    const std::size_t size = static_cast<std::size_t>(descr[2] - '0');
    write("values.npy", npy(descr, "256", std::string(256 * size, '\0')));
    const Result result = command::run({"verify", kSame, "--got", path("values.npy")});
    EXPECT_EQ(result.status, 2) << descr;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find("the codes of e4m3 are uint8"), std::string::npos) << result.error;
  }
  for (const char* name : {"missing.bin", "missing.npy", "missing.npz"}) {
    const Result result = command::run({"verify", kSame, "--got", path(name)});
    EXPECT_EQ(result.status, 2) << name;
    command::expect_one_error_line(result.error);
  }
}

TEST_F(Verify, bits_above_a_narrow_code_are_a_finding) {
  std::string codes;
  for (int i = 0; i < 16; ++i) codes += static_cast<char>(i);
  codes[3] = 0x73;
  write("wide.bin", codes);
  const json verdict = got("cast:e2m1:e2m1", path("wide.bin"), 1);
  EXPECT_EQ(verdict["mismatches"], 1);
  EXPECT_EQ(verdict["groups"][0]["class"], "does not fit");
  const Result text = command::run({"verify", "cast:e2m1:e2m1", "--got", path("wide.bin")});
  EXPECT_NE(text.out.find("bits above the code are set"), std::string::npos) << text.out;
}

TEST_F(Verify, a_file_that_cannot_be_asked_again_is_diagnosed_from_its_rows) {
  const Result gen = command::run(
      {"verify", "cast:bf16:e4m3", "--level", "exhaustive", "--exec", "cat >" + path("in.bin")});
  ASSERT_EQ(gen.status, 3);
  const std::string in = read("in.bin");
  ASSERT_EQ(in.size(), 2u * 65536);
  std::string out;
  for (std::size_t i = 0; i < in.size(); i += 2) {
    const auto word = static_cast<std::uint64_t>(static_cast<unsigned char>(in[i]) |
                                                 static_cast<unsigned char>(in[i + 1]) << 8);
    out += static_cast<char>(halfulp::cast(halfulp::spec_of("bf16"), word, halfulp::spec_of("e4m3"),
                                           {.rounding = halfulp::Rounding::toward_zero})
                                 .code);
  }
  write("out.bin", out);
  const Result result = command::run(
      {"verify", "cast:bf16:e4m3", "--level", "exhaustive", "--got", path("out.bin"), "--json"});
  ASSERT_EQ(result.status, 1) << result.error;
  const json verdict = json::parse(result.out);
  EXPECT_EQ(verdict["checked"], 65536);
  const json& fit = verdict["diagnosis"]["fits"][0];
  EXPECT_EQ(fit["behaviour"], "rounding=toward_zero");
  EXPECT_EQ(fit["broken"], 0);
  EXPECT_EQ(fit["explained"], verdict["diagnosis"]["differences"]);
}

TEST_F(Verify, a_named_pipe_is_no_file_of_answers) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Result result = command::run({"verify", kSame, "--got", path("pipe")});
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_NE(result.error.find("it is not a regular file"), std::string::npos) << result.error;
}

TEST_F(Verify, files_of_codes_that_are_packed_or_not_are_told_apart) {
  const std::string plain = "recipe:mxfp4/ocp_floor,rows=8", packed = plain + ",packing=low_first";
  ASSERT_EQ(command::run({"gen", plain, "-o", path("plain"), "--quiet"}).status, 0);
  ASSERT_EQ(command::run({"gen", packed, "-o", path("packed"), "--quiet"}).status, 0);
  EXPECT_EQ(got(packed, path("packed"), 0)["verdict"], "bit-exact");
  expect_finding(got(packed, path("plain"), 1), "extra output", "the SPEC packs them: pack the codes");
  expect_finding(got(plain, path("packed"), 1), "missing output", "packed codes need packing= in the SPEC");
}

}  // namespace
