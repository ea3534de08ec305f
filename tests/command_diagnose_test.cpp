// `halfulp diagnose` and `halfulp coverage` as a user runs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace {

using command::expect_one_error_line;
using command::run;
using Json = nlohmann::json;

using Folder = halfulp::test::TemporaryFolder;

TEST(Diagnose, names_what_a_file_of_answers_follows) {
  const Folder folder;
  const std::string pack = folder / "pack";
  ASSERT_EQ(run({"gen", "cast:f16:e4m3", "-o", pack, "--level", "exhaustive"}).status, 0);
  const std::string other = folder / "other";
  ASSERT_EQ(
      run({"gen", "cast:f16:e4m3,rounding=ties_to_away", "-o", other, "--level", "exhaustive"}).status, 0);
  const command::Result result = run({"diagnose", pack, "--got", other + "/expected.bin"});
  EXPECT_EQ(result.status, 1) << result.error;
  EXPECT_NE(result.out.find(
                "    all  rounding=ties_to_away  explains 126 of 126 differences, breaks 0 matches\n"),
            std::string::npos)
      << result.out;
  const command::Result right = run({"diagnose", pack, "--got", pack + "/expected.bin"});
  EXPECT_EQ(right.status, 0);
  EXPECT_NE(right.out.find("all answers follow cast:f16:e4m3\n"), std::string::npos) << right.out;
}

TEST(Diagnose, gives_json_with_names_that_are_equal_and_words_that_part) {
  const command::Result result =
      run({"diagnose", "cast:f32:e5m2,overflow=overflow", "--impl", "mutant:saturates", "--json"});
  EXPECT_EQ(result.status, 1) << result.error;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["diagnosis"]["fits"][0]["behaviour"], "overflow=saturate");
  EXPECT_EQ(json["diagnosis"]["fits"][0]["broken"], 0);
  EXPECT_EQ(json["diagnosis"]["differences"], json["diagnosis"]["fits"][0]["explained"]);
  const auto equals = json["diagnosis"]["fits"][0]["equals"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(equals.begin(), equals.end(), "@ocp_sat"), equals.end()) << result.out;
}

TEST(Diagnose, takes_filters_decodes_and_levels) {
  const command::Result result = command::run_shell(
      "halfulp diagnose decode:e4m3 --exec 'halfulp cast --from e4m3fnuz --to f32 --overflow overflow' "
      "--text");
  EXPECT_EQ(result.status, 1) << result.error;
  EXPECT_NE(result.out.find("from=e4m3fnuz"), std::string::npos) << result.out;
  EXPECT_EQ(run({"diagnose", "cast:f16:e4m3", "--impl", "halfulp", "--level", "exhaustive"}).status, 0);
}

TEST(Diagnose, names_what_the_blocks_of_a_recipe_follow) {
  const std::string spec = "recipe:mxfp8/ocp_floor,rows=24";
  const command::Result of_spec = run({"diagnose", spec, "--impl", "recipe:mxfp8/rceil"});
  EXPECT_EQ(of_spec.status, 1) << of_spec.error;
  EXPECT_NE(of_spec.out.find("  all 24 rows match recipe:mxfp8/rceil"), std::string::npos) << of_spec.out;
  const Folder folder;
  const std::string pack = folder / "pack", other = folder / "other";
  ASSERT_EQ(run({"gen", spec, "-o", pack, "--quiet"}).status, 0);
  const command::Result of_pack = run({"diagnose", pack, "--impl", "recipe:mxfp8/rceil", "--json"});
  EXPECT_EQ(of_pack.status, 1) << of_pack.error;
  const Json json = Json::parse(of_pack.out);
  EXPECT_EQ(json["diagnosis"]["rows"], 24);
  EXPECT_NE(json["diagnosis"]["fits"].dump().find("recipe:mxfp8/rceil"), std::string::npos) << of_pack.out;
  EXPECT_GT(json["mismatches"], 0);
  const command::Result right = run({"diagnose", pack, "--got", pack});
  EXPECT_EQ(right.status, 0) << right.error;
  EXPECT_NE(right.out.find("all answers follow recipe:mxfp8/ocp_floor"), std::string::npos) << right.out;
  const Json passed = Json::parse(run({"diagnose", pack, "--got", pack, "--json"}).out);
  EXPECT_TRUE(passed["diagnosis"]["fits"].empty());
  const command::Result dead = run({"diagnose", spec, "--exec", "exit 4"});
  EXPECT_EQ(dead.status, 3) << dead.out << dead.error;
  EXPECT_NE(dead.out.find("crash: "), std::string::npos) << dead.out;
}

TEST(Diagnose, refuses_what_it_cannot_use) {
  for (const char* line :
       {"diagnose cast:f32:e4m3", "diagnose cast:f32:e4m3 --impl halfulp --got x",
        "diagnose cast:f32:e4m4 --impl halfulp", "diagnose cast:f32:e4m3 --got /nonexistent",
        "diagnose cast:f32:e4m3 --impl halfulp --level all", "diagnose /nonexistent/pack --impl halfulp",
        "diagnose recipe:mxfp8/none --impl halfulp", "diagnose recipe:mxfp8/rceil --impl none",
        "diagnose recipe:mxfp8/rceil --got /nonexistent",
        "diagnose recipe:mxfp8/rceil --impl halfulp --text", "diagnose", "coverage",
        "coverage cast:f32:e4m3 --level exhaustive", "coverage cast:exact:e4m3",
        "coverage recipe:mxfp4/ocp"}) {
    const command::Result result = run(command::split(line));
    EXPECT_EQ(result.status, 2) << line << result.out;
    expect_one_error_line(result.error);
  }
}

TEST(Coverage, counts_a_level_and_a_pack_alike) {
  const Folder folder;
  const std::string pack = folder / "pack";
  ASSERT_EQ(run({"gen", "cast:f32:e5m2", "-o", pack}).status, 0);
  const command::Result of_pack = run({"coverage", pack, "--json"});
  const command::Result of_level = run({"coverage", "cast:f32:e5m2", "--json"});
  EXPECT_EQ(of_pack.status, 0) << of_pack.error;
  EXPECT_EQ(of_pack.out, of_level.out);
  const Json json = Json::parse(of_pack.out);
  EXPECT_EQ(json["proves"], "complete_for_monotone");
  EXPECT_EQ(json["thresholds"]["reached"], json["thresholds"]["all"]);
  const command::Result text = run({"coverage", "decode:e5m2"});
  EXPECT_NE(text.out.find("proves        exhaustive\n"), std::string::npos) << text.out;
}

TEST(Coverage, gen_prints_what_it_wrote) {
  const Folder folder;
  for (const char* spec : {"cast:f32:e4m3", "recipe:mxfp4/ocp_floor,rows=40"}) {
    const command::Result level = run({"coverage", spec});
    EXPECT_EQ(level.status, 0) << level.error;
    const command::Result gen = run({"gen", spec, "-o", folder / (std::string(spec).substr(0, 4) + ".npz"), "--coverage"});
    EXPECT_EQ(gen.status, 0) << gen.error;
    EXPECT_EQ(gen.out.substr(gen.out.find('\n') + 1), level.out);
    const command::Result json = run({"gen", spec, "-o", folder / std::string(spec).substr(0, 4), "--coverage", "--json"});
    EXPECT_EQ(Json::parse(json.out)["coverage"], Json::parse(run({"coverage", spec, "--json"}).out));
  }
  const command::Result all = run({"gen", "cast:f16:e4m3", "--level", "exhaustive", "-o", folder / "all", "--coverage"});
  EXPECT_EQ(all.status, 0) << all.error;
  EXPECT_NE(all.out.find("proves        exhaustive\n"), std::string::npos) << all.out;
}

TEST(Coverage, of_a_recipe_counts_codes_scales_and_pairs) {
  const Json json = Json::parse(run({"coverage", "recipe:mxfp4/ocp_floor", "--json"}).out);
  EXPECT_EQ(json["proves"], "sampled");
  EXPECT_EQ(json["codes"], (Json{{"reached", 16}, {"all", 16}}));
  EXPECT_EQ(json["scales"], (Json{{"reached", 254}, {"all", 256}}));  // 253 and 254 are beyond binary32
  EXPECT_GE(json["pairs"]["reached"], 251 * 16);                      // all codes beside the scales 2 to 252
  EXPECT_EQ(json["pairs"]["all"], 254 * 16);
  EXPECT_GT(json["flags"]["tie"], 0);
  const Json few = Json::parse(run({"coverage", "recipe:mxfp4/ocp_floor,task=dequantize,rows=1", "--json"}).out);
  EXPECT_EQ(few["rows"], 1);
  EXPECT_LT(few["scales"]["reached"], 9);
  const Json values = Json::parse(run({"coverage", "recipe:mxfp4/ocp_floor,task=fake_quantize", "--json"}).out);
  EXPECT_FALSE(values.contains("codes"));
  const command::Result refused = run({"coverage", "recipe:mxfp4/ocp_floor", "--level", "exhaustive"});
  EXPECT_EQ(refused.status, 2);
}

}  // namespace
