// `halfulp explain block` and `explain lesson` as commands.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.hpp"

namespace {

namespace fs = std::filesystem;
using command::run;
using command::split;
using nlohmann::json;

TEST(ExplainBlock, ValuesRowsAndFiles) {
  const auto values = run(split("explain block --recipe nvfp4/torchao 6 0.4 -0.02"));
  EXPECT_EQ(values.status, 0) << values.error;
  EXPECT_NE(values.out.find("T = f32(%2)"), std::string::npos) << values.out;
  EXPECT_NE(values.out.find("  stored  0x7e 0x7 0x1 0x8\n  packed  17 08  (low_first)\n"),
            std::string::npos)
      << values.out;
  const auto rows = run(split("explain block --recipe nvfp4/torchao --input -"), "6 0.4 -0.02\n");
  EXPECT_EQ(rows.out, values.out);
  // Codes and scales are those that quantize stores.
  const auto explained =
      json::parse(run(split("explain block --recipe kivi/k --json 0.4 -0.3 0.2 0.5")).out);
  EXPECT_EQ(explained.at("rows"), 4);  // a block of this recipe is a column
  std::string line = explained.at("blocks")[0].at("scale").get<std::string>() + ":" +
                     explained.at("blocks")[0].at("zero").get<std::string>();
  for (const json& element : explained.at("blocks")[0].at("elements"))
    line += " " + std::to_string(std::stoi(element.at("code").get<std::string>(), nullptr, 16));
  EXPECT_EQ(run(split("quantize --recipe kivi/k"), "0.4\n-0.3\n0.2\n0.5\n").out, line + "\n");
  const fs::path page =
      fs::temp_directory_path() / ("halfulp_explain_" + std::to_string(getpid()) + ".html");
  const auto html =
      run({"explain", "block", "--recipe", "mxfp8/rceil", "1", "nan", "--html", page.string()});
  EXPECT_EQ(html.status, 0) << html.error;
  EXPECT_EQ(html.out, "");
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  EXPECT_NE(text.str().find("<title>mxfp8/rceil</title>"), std::string::npos);
  fs::remove(page);
}

TEST(ExplainBlock, Errors) {
  const std::pair<const char*, const char*> rows[] = {
      {"explain block --recipe nvfp4/vlm 1", "nvfp4/vllm"},
      {"explain block --recipe nvfp4/vllm", "--input FILE"},
      {"explain block --recipe nvfp4/vllm x", "'x'"},
      {"explain block --recipe fp8_static/vllm 1", "--scale"},
      {"explain block --recipe nvfp4/vllm --input no.npy", "no.npy"},
      {"explain block --recipe nvfp4/vllm --input no.npy 1", "--input"},
      {"explain block --recipe nvfp4/vllm --input -", "empty"},
      {"explain lesson kivy", "kivi"},
      {"explain lesson --html x.html", "--html"}};
  for (const auto& [arguments, word] : rows) {
    const auto result = run(split(arguments));
    EXPECT_EQ(result.status, 2) << arguments;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(word), std::string::npos) << arguments << ": " << result.error;
  }
}

TEST(ExplainLesson, EveryLessonRunsAndItsCommandsPrintWhatItShows) {
  const auto list = run(split("explain lesson"));
  EXPECT_EQ(list.status, 0);
  std::istringstream lines(list.out);
  int lessons = 0;
  for (std::string line; std::getline(lines, line); ++lessons) {
    const std::string name = line.substr(0, line.find(' '));
    const auto text = run({"explain", "lesson", name});
    EXPECT_EQ(text.status, 0) << text.error;
    const json lesson = json::parse(run({"explain", "lesson", name, "--json"}).out);
    for (const json& each : lesson.at("cases")) {
      const std::string command = each.at("command"), output = each.at("output");
      EXPECT_EQ(command::run_shell(command).out, output) << command;
      EXPECT_NE(text.out.find("$ " + command + "\n" + output), std::string::npos) << name;
    }
  }
  EXPECT_EQ(lessons, 12);
  const auto kivi = run(split("explain lesson kivi"));
  EXPECT_NE(kivi.out.find("0x3c00:0x4880 0 2 1 3\n"), std::string::npos)
      << kivi.out;  // channel 3: step 1, minimum 9
  const auto scales = run(split("explain lesson fp8-scales"));
  EXPECT_NE(scales.out.find("0x3e892492 0x12 0xc4 0x54 0x4f 0xf2 0x7e\n"), std::string::npos) << scales.out;
}

}  // namespace
