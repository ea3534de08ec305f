// `halfulp verify` as a user meets it: reports, lists and usage errors.
#include <gtest/gtest.h>

#include <filesystem>

#include "verify_runner.hpp"
#include "xml_check.hpp"

namespace {

using command::exec;
using command::got;
using command::kSame;
using command::Result;
using command::Verify;
using nlohmann::json;

TEST_F(Verify, reports_are_valid_and_escape_what_users_write) {
  const std::string kernel = "printf 'a<&\"\\033' # ]]> <script> & \x01 \xff '";
  const std::string quoted = "printf 'aaaa' # <script>&\"]]> \x01 \xff";
  for (const std::string& hostile : {kernel, quoted}) {
    for (const char* form : {"report.html", "report.json", "report.xml"}) {
      const Result result = command::run({"verify", kSame, "--exec", hostile, "--report", path(form)});
      EXPECT_TRUE(result.status == 1 || result.status == 3) << result.error;
      EXPECT_EQ(result.out.find('\x01'), std::string::npos);
      EXPECT_FALSE(read(form).empty()) << form;
    }
    EXPECT_EQ(read("report.html").find("<script"), std::string::npos);
    EXPECT_EQ(read("report.html").find("http"), std::string::npos);
    EXPECT_NE(read("report.html").find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_EQ(json::parse(read("report.json"))["spec"], kSame);
    EXPECT_TRUE(well_formed(read("report.xml"))) << read("report.xml");
  }
  EXPECT_NE(read("report.xml").find("failures=\"1\""), std::string::npos) << read("report.xml");
  EXPECT_FALSE(well_formed("<a><b></a>"));
  EXPECT_FALSE(well_formed("<a x=\"<\"/>"));
}

TEST_F(Verify, a_report_on_nothing_checked_is_no_pass) {
  const Result result =
      command::run({"verify", kSame, "--exec", "cat >/dev/null", "--report", path("report.xml")});
  EXPECT_EQ(result.status, 3) << result.out;
  const std::string xml = read("report.xml");
  EXPECT_TRUE(well_formed(xml)) << xml;
  EXPECT_NE(xml.find("skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<skipped message=\"nothing was checked\"/>"), std::string::npos) << xml;
  EXPECT_NE(xml.find("errors=\"1\""), std::string::npos) << xml;  // the finding
}

TEST_F(Verify, the_command_to_run_again_keeps_the_time_limit) {
  const auto again = [](const std::string& seconds) {
    return exec(kSame, "cat", 0, {"--timeout", seconds})["reproduce"].get<std::string>();
  };
  EXPECT_EQ(again("7"), "halfulp verify cast:e4m3:e4m3 --exec cat --timeout 7 --level thresholds");
  EXPECT_NE(again("2.05").find(" --timeout 2.050 "), std::string::npos) << again("2.05");
  EXPECT_EQ(again("60").find("--timeout"), std::string::npos);
}

TEST_F(Verify, names_that_do_not_exist_are_answered_with_near_ones) {
  const auto error = [](const std::string& subject) {
    const Result result = command::run({"verify", subject, "--exec", "cat"});
    EXPECT_EQ(result.status, 2) << subject;
    command::expect_one_error_line(result.error);
    return result.error;
  };
  const std::string dialect = error("cast:f32:e4m3@cuda");
  for (const char* name : {"cuda_satfinite", "cuda_nosat"})
    EXPECT_NE(dialect.find(name), std::string::npos) << dialect;
  EXPECT_NE(error("packx").find("there is no such folder"), std::string::npos);
  EXPECT_NE(error("/nonexistent/packx").find("there is no such folder"), std::string::npos);
}

TEST_F(Verify, a_report_through_a_link_is_written_to_where_it_leads) {
  write("there.json", "old");
  std::filesystem::create_symlink("there.json", path("link.json"));
  std::filesystem::create_symlink("new.json", path("dangling.json"));
  for (const char* name : {"link.json", "dangling.json"}) {
    EXPECT_EQ(command::run({"verify", kSame, "--exec", "cat", "--quiet", "--report", path(name)}).status,
              0);
    EXPECT_TRUE(std::filesystem::is_symlink(path(name)));
  }
  EXPECT_EQ(json::parse(read("there.json"))["verdict"], "bit-exact");
  EXPECT_EQ(json::parse(read("new.json"))["verdict"], "bit-exact");
}

TEST_F(Verify, usage_errors_are_one_line) {
  const std::vector<std::vector<std::string>> wrong = {
      {"verify", kSame},
      {"verify", kSame, "--exec", "cat", "--impl", "halfulp"},
      {"verify", kSame, "--got", "a", "--exec", "cat"},
      {"verify", "--exec", "cat"},
      {"verify", kSame, "--impl", "halfulp", "--text"},
      {"verify", kSame, "--exec", "cat", "--timeout", "0"},
      {"verify", kSame, "--exec", "cat", "--timeout", "-1"},
      {"verify", kSame, "--exec", "cat", "--seed", "-1"},
      {"verify", kSame, "--exec", "cat", "--seed", "18446744073709551616"},
      {"verify", kSame, "--exec", "cat", "--seed", "1.5"},
      {"verify", kSame, "--exec", "cat", "--level", "all"},
      {"verify", kSame, "--exec", "cat", "--report", "x.pdf"},
      {"verify", kSame, "--exec", "cat", "--report", "/nonexistent/x.html"},
      {"verify", "cast:f32:e4m3,rounding=rtz,rounding=rne", "--exec", "cat"},
      {"verify", "cast:f32:e4m\033[31m3", "--exec", "cat"},
      {"verify", "decode:e9m9", "--exec", "cat"},
      {"verify", "cast:f64:e4m3", "--exec", "cat", "--level", "exhaustive"},
      {"verify", "\033[31m", "--exec", "cat"},
      {"verify", kSame, "--got", path("\001\x9b")},
      {"verify", kSame, "--impl", "\033[31m"}};
  for (const auto& arguments : wrong) {
    const Result result = command::run(arguments);
    EXPECT_EQ(result.status, 2) << result.out << result.error;
    command::expect_one_error_line(result.error);
    EXPECT_EQ(result.error.find('\033'), std::string::npos);
    EXPECT_EQ(result.error.find('\x9b'), std::string::npos);
    EXPECT_EQ(result.error.find('\001'), std::string::npos);
  }
}

TEST_F(Verify, a_list_as_JSON_holds_the_claims_of_one) {
  const json all = json::parse(command::run({"verify", "--impl", "list", "--json"}).out);
  const json one = json::parse(command::run({"verify", "halfulp-batch", "--impl", "list", "--json"}).out);
  EXPECT_GT(all.size(), 10u);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["name"], "halfulp-batch");
  const json mutant =
      json::parse(command::run({"verify", "mutant:truncate", "--impl", "list", "--json"}).out);
  ASSERT_EQ(mutant.size(), 1u);
  EXPECT_EQ(mutant[0]["claims"].size(), 1u);
}

}  // namespace
