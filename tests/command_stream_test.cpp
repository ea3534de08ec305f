// Values on standard input: order, line forms, errors in the middle, slow and broken pipes, and JSON lines.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "command_runner.hpp"
#include "halfulp/plan.hpp"

namespace {

using command::Process;
using command::run;
using command::split;

struct StreamRow {
  const char* about;
  std::string input;
  std::string out;
  int status = 0;
  const char* error = "";  ///< part of the error line; empty: nothing on stderr
};

TEST(Stream, of_any_shape_is_answered_line_by_line) {
  const StreamRow rows[] = {
      {"one value", "1\n", "0x38\n"},
      {"no line end", "1\n2", "0x38\n0x40\n"},
      {"blank lines and comments", "\n# one\n  \n1\n   # two\n\t2\t\n", "0x38\n0x40\n"},
      {"carriage returns", "1\r\n\r\n2\r\n", "0x38\n0x40\n"},
      {"negative literals", "-0.5\n-inf\n", "0xb0\n0xfe\n"},
      {"nothing", "", "", 3, "no values"},
      {"only comments", "# nothing\n\n", "", 3, "no values"},
      {"a word in the middle", "1\nx\n2\n", "0x38\n", 2, "stdin line 2, value 'x'"},
      {"line numbers count what is skipped", "1\n\n# c\nx\n", "0x38\n", 2, "stdin line 4,"},
      {"a code without a source format", "0x38\n", "", 2, "stdin line 1, code '0x38'"},
      {"two values on a line", "1 2\n", "", 2, "stdin line 1, value '1 2'"},
      {"a NUL byte", std::string("1\n2\0\n", 5), "0x38\n", 2, "stdin line 2, value '2?'"},
      {"only NUL bytes", std::string(10, '\0'), "", 2, "stdin line 1"},
      {"a long literal", std::string(4096, '0') + "\n", "0x00\n"},
      {"a literal over the limit", "1\n" + std::string(4097, '1') + "\n", "0x38\n", 2,
       "longer than 4096 characters"},
      {"a line over the limit", "1\n" + std::string(70000, '1') + "\n", "0x38\n", 2,
       "line 2: longer than 65536 bytes"},
      {"an endless line", std::string(3000000, ' '), "", 2, "line 1: longer than 65536 bytes"},
      {"bytes that are not UTF-8", "\xff\xfe\n", "", 2, "not a number"},
  };
  for (const StreamRow& row : rows) {
    const auto result = run(split("cast --to e4m3"), row.input);
    EXPECT_EQ(result.out, row.out) << row.about;
    EXPECT_EQ(result.status, row.status) << row.about;
    if (*row.error == '\0')
      EXPECT_EQ(result.error, "") << row.about;
    else
      EXPECT_NE(result.error.find(row.error), std::string::npos) << row.about << "\n" << result.error;
    if (row.status == 2) command::expect_one_error_line(result.error);
  }
  EXPECT_EQ(run(split("cast --to e4m3 --quiet")).error, "");
  EXPECT_EQ(run(split("cast --to e4m3 --quiet")).status, 3);
  EXPECT_EQ(run(split("decode e4m3"), "0x01\n0x7e\n").out, "0.001953125\n448\n");
  EXPECT_EQ(run(split("decode e4m3"), "").status, 3);
}

TEST(Stream, of_many_codes_is_answered_in_order) {
  constexpr int kCount = 200000;
  const halfulp::CastPlan plan =
      halfulp::make_plan({.from = "f32", .to = "e5m2", .dialect = {}, .options = {}});
  std::mt19937_64 random(1);
  std::string input;
  std::string expected;
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t word = random() >> 32;
    char line[24];
    std::snprintf(line, sizeof line, "0x%08llx\n", static_cast<unsigned long long>(word));
    input += line;
    std::snprintf(line, sizeof line, "0x%02llx\n", static_cast<unsigned long long>(plan(word).code));
    expected += line;
  }
  const auto result = run(split("cast --from f32 --to e5m2"), input);
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out == expected);
}

TEST(Stream, with_pauses_is_answered_before_it_goes_on) {
  for (const char* arguments : {"cast --to e4m3", "cast --to e4m3 --values", "cast --to e4m3 --json"}) {
    Process process(split(arguments));
    for (int i = 0; i < 3; ++i) {
      process.write_all("1\n");
      EXPECT_EQ(process.read_line(5000).substr(0, 1), std::string(arguments).back() == 'n' ? "{" : "0")
          << arguments;
    }
    EXPECT_EQ(process.finish({}).status, 0);
  }
}

TEST(Stream, keeps_the_answers_before_an_error_in_a_paused_stream) {
  Process process(split("cast --to e2m1"));
  process.write_all("1\nnan\n3\n");
  EXPECT_EQ(process.read_line(5000), "0x2\n");
  const auto result = process.finish({});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.error.find("stdin line 2, value 'nan' into e2m1"), std::string::npos) << result.error;
}

TEST(Stream, ends_when_nobody_reads_the_answers) {
  const auto result = command::run_shell("yes 0x3f800000 | halfulp cast --from f32 --to e4m3 | head -n 2");
  EXPECT_EQ(result.out, "0x38\n0x38\n");
  EXPECT_EQ(result.error, "");
}

TEST(Stream, reports_a_full_disk) {
  for (const char* arguments :
       {"cast --to e4m3 1", "decode e4m3 0x01", "formats", "formats e4m3 --codes", "doctor",
        "thresholds --from bf16 --to e4m3", "--help", "--version", "formats --json"}) {
    const auto result = command::run_shell("halfulp " + std::string(arguments) + " > /dev/full");
    EXPECT_EQ(result.status, 2) << arguments;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find("standard output"), std::string::npos) << result.error;
  }
}

TEST(Stream, reports_an_input_that_cannot_be_read) {
  const auto folder = command::run_shell("halfulp cast --to e4m3 < /");
  EXPECT_EQ(folder.status, 2);
  command::expect_one_error_line(folder.error);
  const auto closed = command::run_shell("halfulp cast --to e4m3 <&-");
  EXPECT_EQ(closed.status, 2);
  command::expect_one_error_line(closed.error);
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(nlohmann::json::parse(text.substr(at, end - at), nullptr, false));
    EXPECT_FALSE(lines.back().is_discarded()) << text.substr(at, end - at);
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

TEST(Json, of_cast_is_one_object_per_value) {
  const auto lines = json_lines(run(split("cast --json --to e4m3 0.1 -2^-10 nan 3/32")).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].dump(), R"({"code":"0x1d","flags":["inexact"],"input":"0.1","value":"0.1015625"})");
  EXPECT_EQ(lines[1].dump(),
            R"({"code":"0x80","flags":["inexact","underflow","tie"],"input":"-2^-10","value":"-0"})");
  EXPECT_EQ(lines[2].dump(), R"({"code":"0x7f","flags":[],"input":"nan","value":"nan"})");
  EXPECT_EQ(lines[3].dump(), R"({"code":"0x1c","flags":[],"input":"3/32","value":"0.09375"})");
  EXPECT_EQ(run(split("--json cast --to e4m3 1")).out, run(split("cast --to e4m3 1 --json")).out);
}

TEST(Json, of_decode_and_thresholds_is_one_object_per_line) {
  const auto codes = json_lines(run(split("decode e4m3 --json 0x7e 0x01")).out);
  ASSERT_EQ(codes.size(), 2u);
  EXPECT_EQ(codes[0].dump(), R"({"class":"normal","code":"0x7e","hex_float":"0x1.cp+8","value":"448"})");
  EXPECT_EQ(codes[1]["class"], "subnormal");
  const auto steps = json_lines(run(split("thresholds --from f32 --to e2m1 --json")).out);
  ASSERT_EQ(steps.size(), 16u);
  EXPECT_EQ(steps[9].dump(),
            R"({"code":"0x1","first":"0x3e800001","last":"0x3f3fffff","tie":true,"value":"0.5"})");
}

TEST(Json, of_formats_and_doctor_is_one_object) {
  const auto all = json_lines(run(split("formats --json")).out);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["formats"].size(), halfulp::kFormats.size());
  for (const auto& format : all[0]["formats"]) {
    EXPECT_EQ(json_lines(run({"formats", format["name"], "--json"}).out).at(0), format);
  }
  const auto e2m1 = json_lines(run(split("formats e2m1 --codes --json")).out).at(0);
  EXPECT_EQ(e2m1["codes"].size(), 16u);
  EXPECT_EQ(e2m1["codes"][7].dump(),
            R"({"class":"normal","code":"0x7","hex_float":"0x1.8p+2","value":"6"})");
  EXPECT_EQ(e2m1["largest"]["value"], "6");
  EXPECT_TRUE(e2m1["nan"].empty());
  const auto doctor = json_lines(run(split("doctor --json")).out).at(0);
  for (const char* key : {"version", "compiler", "build_type", "simd_levels", "threads", "cuda_toolkit",
                          "cuda_driver", "implementations"}) {
    EXPECT_TRUE(doctor.contains(key)) << key;
  }
}

}  // namespace
