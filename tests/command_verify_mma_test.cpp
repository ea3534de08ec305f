// `halfulp gen`, `verify` and `diagnose` on accumulation models, as a user runs them.
#include <sstream>

#include "verify_runner.hpp"

namespace {

using command::json;
using command::Result;
using command::run;

class VerifyMma : public command::Verify {};

TEST_F(VerifyMma, APackIsWrittenAndJudgesAKernel) {
  const Result gen = run({"gen", "mma:ada_fp8", "-o", path("pack"), "--json"});
  ASSERT_EQ(gen.status, 0) << gen.error;
  EXPECT_EQ(json::parse(gen.out)["spec"], "mma:ada_fp8,from=e4m3,to=f32,k=64");
  EXPECT_EQ(json::parse(gen.out)["level"], "stratified");
  const json right = json::parse(run({"verify", path("pack"), "--impl", "halfulp-exact", "--json"}).out);
  EXPECT_EQ(right["verdict"], "bit-exact");
  EXPECT_EQ(right["mismatches"], 0);
  EXPECT_GT(right["checked"], 500);
  const Result got = run({"verify", path("pack"), "--got", path("pack/d.bin")});
  EXPECT_EQ(got.status, 0) << got.out << got.error;
  const Result wrong = run({"verify", path("pack"), "--impl", "mutant:half_chunk"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.out.find("ada_fp8 with chunks of 8"), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("cut toward zero 13 bits below the largest exponent"), std::string::npos) << wrong.out;
}

TEST_F(VerifyMma, TheCommandOfTheCardGivesTheExpectedResult) {
  const json verdict = json::parse(run({"verify", "mma:hopper_f16", "--impl", "mutant:c_late", "--json"}).out);
  const std::string reproduce = verdict["first"]["reproduce"];
  ASSERT_NE(reproduce.find("halfulp mma --model hopper_f16"), std::string::npos) << verdict;
  const Result again = command::run_shell(reproduce);
  EXPECT_EQ("0x" + again.out, verdict["first"]["expected"].get<std::string>() + "\n") << again.error;
}

/// Every card has a command that works as typed: of long rows, promoted ones, scaled ones, results of f16 and int32.
TEST_F(VerifyMma, EveryCardHasACommand) {
  const std::pair<const char*, const char*> runs[] = {{"mma:hopper_fp8_wgmma,k=128", "mutant:whole_result"},
                                                      {"mma:hopper_fp8_wgmma,interval=128", "mutant:fast_accumulation"},
                                                      {"mma:hopper_fp8_wgmma,interval=128,scale_order=scales_first", "mutant:other_scale_order"},
                                                      {"mma:hopper_f16,to=f16", "mutant:nan_is_zero"},
                                                      {"mma:ada_fp8,to=f16", "mutant:c_dropped"},
                                                      {"mma:blackwell_mxf4", "mutant:scales_rotated"},
                                                      {"mma:int8_imma", "mutant:clamps"}};
  for (const auto& [spec, implementation] : runs) {
    const json first = json::parse(run({"verify", spec, "--impl", implementation, "--seed", "3", "--json"}).out)["first"];
    const std::string reproduce = first["reproduce"];
    ASSERT_NE(reproduce, "") << spec;
    const Result again = command::run_shell(reproduce);
    EXPECT_EQ(again.out, first["prints"].get<std::string>() + "\n") << reproduce << again.error;
    const Result card = run({"verify", spec, "--impl", implementation, "--seed", "3"});
    EXPECT_NE(card.out.find(reproduce), std::string::npos) << card.out;
    EXPECT_NE(card.out.find("prints " + first["prints"].get<std::string>()), std::string::npos) << card.out;
  }
  const json whole = json::parse(run({"verify", "mma:hopper_fp8_wgmma", "--impl", "mutant:whole_result", "--json"}).out)["first"];
  EXPECT_EQ("0x" + whole["prints"].get<std::string>(), whole["expected"]);
}

/// Rows of a pack are rows of its SPEC, level and seed.
TEST_F(VerifyMma, TheCommandOfAPacksCard) {
  ASSERT_EQ(run({"gen", "mma:hopper_fp8_wgmma,order=any,k=96", "--level", "thresholds", "--seed", "5", "-o", path("pack"), "--quiet"}).status, 0);
  const json first = json::parse(run({"verify", path("pack"), "--impl", "mutant:c_dropped", "--json"}).out)["first"];
  EXPECT_EQ(command::run_shell(first["reproduce"]).out, first["prints"].get<std::string>() + "\n") << first;
}

/// Runs of equal words are written once, and read as what they stand for.
TEST_F(VerifyMma, RunsOfEqualWords) {
  const std::string command = " | halfulp mma --model hopper_fp8_wgmma";
  const Result runs = command::run_shell("echo '3f800000*3 40000000 | 3f800000 3f800000*2 3f800000 | 3f800000'" + command);
  EXPECT_EQ(runs.status, 0) << runs.error;
  EXPECT_EQ(runs.out, "40c00000\n");  // 1 + 1 + 1 + 2 + 1 = 6
  for (const char* bad : {"3f800000*0", "3f800000*", "3f800000*x", "3f800000*99999999", "*3", "3f800000*2*2"})
    EXPECT_EQ(command::run_shell("echo '" + std::string(bad) + " | 3f800000 | 00000000'" + command).status, 2) << bad;
  const json verdict = json::parse(run({"verify", "mma:hopper_f16", "--impl", "mutant:c_late", "--json"}).out);
  const std::string reproduce = verdict["first"]["reproduce"];
  EXPECT_EQ(reproduce.find("00000000 00000000 00000000"), std::string::npos) << reproduce;
}

/// Two models that give every answer: one line says that they do not part.
TEST_F(VerifyMma, WhatTheRowsDoNotTellApart) {
  const Result result = run({"verify", "mma:hopper_f16", "--impl", "mma:ampere_f16"});
  EXPECT_EQ(result.status, 1);
  const auto all = result.out.find("  all  ");
  ASSERT_NE(all, std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("  all  ", all + 1), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" rows compared: "), std::string::npos) << result.out;
}

/// A filter of one's own: rows in, words out. Here `d` of the pack itself, handed on.
TEST_F(VerifyMma, FiltersAndShortAnswers) {
  ASSERT_EQ(run({"gen", "mma:volta_f16,to=f16", "-o", path("pack"), "--quiet"}).status, 0);
  const json whole = command::exec(path("pack"), "cat > /dev/null; cat " + path("pack") + "/d.bin", 0);
  EXPECT_EQ(whole["verdict"], "bit-exact");
  const json shorter = command::exec(path("pack"), "cat > /dev/null; head -c 100 " + path("pack") + "/d.bin", 3);
  EXPECT_EQ(shorter["verdict"], "incomplete");
  EXPECT_EQ(shorter["checked"], 50);
  command::expect_finding(shorter, "missing output", "");
}

TEST_F(VerifyMma, DiagnoseNamesAModelAndAMutant) {
  const Result model = run({"diagnose", "mma:hopper_fp8_wgmma", "--impl", "mma:ada_fp8"});
  EXPECT_EQ(model.status, 1);
  EXPECT_NE(model.out.find("all rows match mma:ada_fp8\n"), std::string::npos) << model.out;
  const json mutant = json::parse(run({"diagnose", "mma:hopper_fp8_wgmma,interval=128", "--impl", "mutant:fast_accumulation", "--json"}).out);
  EXPECT_EQ(mutant["diagnosis"]["fits"][0]["rows"], mutant["diagnosis"]["rows"]);
  const Result same = run({"diagnose", "mma:hopper_f16", "--impl", "mma:blackwell_f16"});
  EXPECT_EQ(same.status, 0);
  EXPECT_NE(same.out.find("all answers follow"), std::string::npos);
}

TEST_F(VerifyMma, AnUnknownOrderIsJudgedByOrderFreeRows) {
  const json verdict = json::parse(run({"verify", "mma:exact,from=e4m3,order=any", "--impl", "mma:hopper_fp8_wgmma", "--json"}).out);
  EXPECT_EQ(verdict["verdict"], "bit-exact");
  EXPECT_GT(verdict["left_out"], 100);
  EXPECT_EQ(run({"verify", "mma:exact,from=e4m3,order=any", "--impl", "mutant:c_dropped", "--quiet"}).status, 1);
}

TEST_F(VerifyMma, UndecidedRowsAreCountedApart) {
  const Result text = run({"verify", "mma:blackwell_mxf4", "--impl", "mma:blackwell_mxf4,zero_rule=b"});
  EXPECT_EQ(text.status, 0) << text.out;
  EXPECT_NE(text.out.find("on which the zero rules part"), std::string::npos) << text.out;
  const std::string probe = "00000000 38000000 | 7f000000 38000000 | 00000000\n";
  EXPECT_EQ(run({"mma", "--model", "hopper_f16", "--format", "bf16", "--undecided"}, probe).out, "00000000 ~ 30800000\n");
  EXPECT_EQ(run({"mma", "--model", "hopper_f16", "--format", "bf16", "--undecided", "--json"}, probe).out,
            "{\"result\":\"0x00000000\",\"other_rule\":\"0x30800000\"}\n");
  EXPECT_EQ(run({"mma", "--model", "hopper_f16", "--undecided"}, "3f800000 | 3f800000 | 00000000\n").out, "3f800000\n");
}

TEST_F(VerifyMma, CoverageSaysThatSumsAreNotCounted) {
  ASSERT_EQ(run({"gen", "mma:volta_f16,k=4", "--level", "specials", "-o", path("pack"), "--quiet"}).status, 0);
  for (const std::string& subject : {path("pack"), std::string("mma:volta_f16"), std::string("attention:fa3_like")}) {
    const Result result = run({"coverage", subject});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.error.find("rows of casts and recipes are counted"), std::string::npos) << result.error;
    command::expect_one_error_line(result.error);
  }
}

TEST_F(VerifyMma, RefusalsAreOneLine) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"gen", "mma:hopper_f16", "-o", path("x"), "--level", "exhaustive"},
                                                    {"verify", "mma:hopper_f61", "--impl", "halfulp"},
                                                    {"verify", "mma:hopper_f16", "--impl", "recipe:mxfp8/rceil"},
                                                    {"coverage", "mma:hopper_f16"},
                                                    {"mma", "--rows-of", "mma:hopper_f16", "--row", "99999"},
                                                    {"mma", "--rows-of", "mma:hopper_f16", "--level", "some"},
                                                    {"mma", "--rows-of", "mma:hopper_f16", "--model", "hopper_f16"},
                                                    {"mma", "--model", "hopper_f16", "--row", "3"},
                                                    {"mma", "--model", "f32_tree", "--undecided"}}) {
    const Result result = run(arguments, "");
    EXPECT_EQ(result.status, 2) << result.out;
    command::expect_one_error_line(result.error);
  }
}

}  // namespace
