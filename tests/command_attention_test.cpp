// `halfulp attention`, and attention in `gen`, `verify`, `diagnose` and `explain`, as a
// user runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace {

using command::run;
using command::run_shell;
using command::split;
using halfulp::test::TemporaryFolder;

/// A float32 .npy of that shape.
void write_npy(const std::string& path, const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() & 0xff)
       << static_cast<char>(header.size() >> 8) << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

class Attention : public testing::Test {
 protected:
  TemporaryFolder folder_;
  /// Two query heads on one KV head, one query of one channel, keys 0 and -1, values 1 and 0.
  std::vector<std::string> arguments() {
    write_npy(folder_ / "q.npy", "(2, 1, 1)", {1, 1});
    write_npy(folder_ / "k.npy", "(2, 1)", {0, -1});
    write_npy(folder_ / "v.npy", "(2, 1)", {1, 0});
    return {"attention",       "--q", folder_ / "q.npy", "--k",
            folder_ / "k.npy", "--v", folder_ / "v.npy", "--softmax-scale",
            "0x1.62e43p-1"};
  }
};

std::vector<std::string> with(std::vector<std::string> arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

TEST_F(Attention, WeightsOfTwoKeys) {
  // L = log2 e * ln 2 = 1 in float32: weights 1 and 1/2.
  const auto result = run(arguments());
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "0x3f2aaaab\n0x3f2aaaab\n");
  EXPECT_EQ(run(with(arguments(), {"--kernel", "fa3_like,out=bf16"})).out, "0x3f2b\n0x3f2b\n");
  // A Q scale of 2 is divided out of the codes and comes back in L; only the first head has it.
  EXPECT_EQ(run(with(arguments(), {"--q-scale", "2,1"})).out, "0x3f2aaaab\n0x3f2aaaab\n");
  EXPECT_EQ(run(with(arguments(), {"--v-scale", "0.5"})).out, "0x3f2aaaab\n0x3f2aaaab\n");
  EXPECT_EQ(run(with(arguments(), {"--visible-prefix", "1", "--window=-1:0"})).out,
            "0x3f800000\n0x3f800000\n");
}

/// A cap far above all scores changes nothing: the softmax scale and those of Q and K act once, inside it.
TEST_F(Attention, ASoftCapTakesTheScalesIn) {
  arguments();  // writes the files
  const auto first = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"attention", "--q", folder_ / "q.npy", "--k", folder_ / "k.npy", "--v", folder_ / "v.npy"};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run(all);
    EXPECT_EQ(result.status, 0) << result.error;
    return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(result.out.substr(0, 10), nullptr, 16)));
  };
  for (const std::vector<std::string>& scales : std::vector<std::vector<std::string>>{{}, {"--q-scale", "0.5"}, {"--q-scale", "0.5", "--k-scale", "2"}}) {
    std::vector<std::string> capped = scales, plain = scales;
    capped.insert(capped.end(), {"--kernel", "reference,softcap=1e4:2.5e-5"});
    plain.insert(plain.end(), {"--softmax-scale", "0.25"});
    EXPECT_NEAR(first(capped), first(plain), 1e-4);
  }
  EXPECT_GT(std::fabs(first({"--kernel", "reference,softcap=0.01:25"}) - first({"--softmax-scale", "0.25"})), 1e-2);
  for (const auto& more : std::vector<std::vector<std::string>>{{"--softmax-scale", "1"}, {"--q-scale", "1,2"}, {"--q-scale", "0x1p-149"}}) {
    std::vector<std::string> all = {"attention", "--q", folder_ / "q.npy", "--k", folder_ / "k.npy", "--v", folder_ / "v.npy", "--kernel", "reference,softcap=1e4:2.5e-5"};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run(all);
    EXPECT_EQ(result.status, 2) << more[0] << result.out;
    command::expect_one_error_line(result.error);
  }
}

TEST_F(Attention, StagesAndFiles) {
  const auto result =
      run(with(arguments(), {"--stages", folder_ / "stages", "--output", folder_ / "o.npy"}));
  EXPECT_EQ(result.status, 0) << result.error;
  for (const char* stage :
       {"S", "L", "m", "t", "P", "P_code", "alpha", "l", "row_sum", "m_last", "O_tile", "O"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / ("stages/" + std::string(stage) + ".npy"))) << stage;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o.npy"));
  const auto again = run(with(arguments(), {"--stages", folder_ / "stages"}));
  EXPECT_EQ(again.status, 2);
  command::expect_one_error_line(again.error);
}

/// One object per query: the bits of the stages are those of --stages, the exact result is 2/3.
TEST_F(Attention, JsonOfARun) {
  const auto result = run(with(arguments(), {"--json", "--output", folder_ / "o.npy", "--kernel", "fa3_like,out=bf16,tile=1"}));
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "o.npy"));
  std::istringstream lines(result.out);
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row.at("kernel"), "fa3_like,tile=1,out=bf16");
    EXPECT_EQ(row.at("query_head"), count);
    EXPECT_EQ(row.at("query"), 0);
    EXPECT_EQ(row.at("L"), "0x3f800000");
    EXPECT_EQ(row.at("S"), nlohmann::json({"0x00000000", "0xbf800000"}));
    EXPECT_EQ(row.at("m"), nlohmann::json({"0xbf800000", "0x00000000"}));  // tiles descending
    EXPECT_EQ(row.at("alpha"), nlohmann::json({"0x3f800000", "0x3f000000"}));
    EXPECT_EQ(row.at("P"), nlohmann::json({"0x43800000", "0x43800000"}));
    EXPECT_EQ(row.at("P_code"), nlohmann::json({"0x78", "0x78"}));
    ASSERT_EQ(row.at("l").size(), 2u);
    EXPECT_EQ(row.at("l")[1].size(), 4u);
    EXPECT_EQ(row.at("l")[1][0], "0x43c00000");
    EXPECT_EQ(row.at("row_sum"), "0x43c00000");
    EXPECT_EQ(row.at("m_last"), "0x00000000");
    EXPECT_EQ(row.at("O_tile"), nlohmann::json({{"0x00000000"}, {"0x43800000"}}));
    EXPECT_EQ(row.at("O"), nlohmann::json({"0x3f2b"}));
    EXPECT_EQ(row.at("value")[0], 0x1.56p-1);
    EXPECT_NEAR(row.at("exact")[0].get<double>(), 2.0 / 3, 1e-11);
    EXPECT_EQ(row.at("error")[0].get<double>(), 0x1.56p-1 - row.at("exact")[0].get<double>());
  }
  EXPECT_EQ(count, 2);
  // A model that flushes subnormals has no bound: nothing exact is claimed.
  const auto open = run(with(arguments(), {"--json", "--kernel", "reference,qk_model=cdna2_f16,q_format=f16,k_format=f16"}));
  EXPECT_EQ(open.status, 0) << open.error;
  const auto row = nlohmann::json::parse(open.out.substr(0, open.out.find('\n')));
  EXPECT_EQ(row.at("O"), nlohmann::json({"0x3f2aaaab"}));
  EXPECT_TRUE(row.at("exact")[0].is_null() && row.at("error")[0].is_null());
}

TEST_F(Attention, ExplainedStepByStep) {
  auto explain = with(arguments(), {"--kernel", "fa3_like,out=bf16,tile=1", "--head", "1"});
  explain.insert(explain.begin(), "explain");
  const auto result = run(explain);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out,
            "kernel\n"
            "  spec      fa3_like,tile=1,out=bf16\n"
            "  element   query head 1, query 0, channel 0; KV head 0; 2 of 2 keys are seen\n"
            "  L         0x3f800000 (1)\n"
            "tile 1: key 1\n"
            "  key 1     S 0xbf800000 (-1), t 0x41000000 (8), P 0x43800000 (256), code 0x78 (256), V 0x00 (0)\n"
            "  m         0xbf800000 (-1), before 0xff800000 (-inf)\n"
            "  alpha     0x3f800000 (1)\n"
            "  l         0x43800000 (256), 0x00000000 (0), 0x00000000 (0), 0x00000000 (0)\n"
            "  O         0x00000000 (0)\n"
            "tile 2: key 0\n"
            "  key 0     S 0x00000000 (0), t 0x41000000 (8), P 0x43800000 (256), code 0x78 (256), V 0x38 (1)\n"
            "  m         0x00000000 (0), before 0xbf800000 (-1)\n"
            "  alpha     0x3f000000 (0.5)\n"
            "  l         0x43c00000 (384), 0x00000000 (0), 0x00000000 (0), 0x00000000 (0)\n"
            "  O         0x43800000 (256)\n"
            "end\n"
            "  m         0x00000000 (0)\n"
            "  row sum   0x43c00000 (384)\n"
            "  factor    rn(1 / row sum) = 0x3b2aaaab (0.00260416674), times V scale 0x3f800000 (1) = 0x3b2aaaab (0.00260416674)\n"
            "  O         rn(O factor) = 0x3f2aaaab (0.666666687)\n"
            "  bf16      0x3f2b (0.66796875)\n");
  const auto json = run(with(explain, {"--json"}));
  EXPECT_EQ(nlohmann::json::parse(json.out).back(),
            (nlohmann::json{{"place", "end"}, {"name", "bf16"}, {"text", "0x3f2b (0.66796875)"}}));
  const auto outside = run(with(explain, {"--query", "1"}));
  EXPECT_EQ(outside.status, 2);
  EXPECT_EQ(outside.out, "");
  command::expect_one_error_line(outside.error);
}

TEST_F(Attention, WhatItRefuses) {
  {
    std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    std::ofstream file(folder_ / "k32.npy", std::ios::binary);
    file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() + 1) << '\0' << header << '\n';
    for (const std::int32_t code : {0x38, 0x30}) file.write(reinterpret_cast<const char*>(&code), sizeof code);
  }
  for (const auto& more : std::vector<std::vector<std::string>>{{"--kernel", "fa9"},
                                                                {"--q-scale", "1,2,3"},
                                                                {"--output", "o.txt"},
                                                                {"--k", "nowhere.npy"},
                                                                {"--window", "3"},
                                                                {"--softmax-scale", "1,2"},
                                                                {"--softmax-scale", "1e-50"},
                                                                {"--softmax-scale", "1e39"},
                                                                {"--k", folder_ / "k32.npy"},
                                                                {"--v-scale", "1,2,3"}}) {
    std::vector<std::string> all = arguments();
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run(all);
    EXPECT_EQ(result.status, 2) << more[0] << " " << more[1];
    EXPECT_EQ(result.out, "");
    command::expect_one_error_line(result.error);
  }
  EXPECT_EQ(run({"attention"}).status, 2);
  EXPECT_NE(run({"attention", "--list"}).out.find("fa4_like_faulty"), std::string::npos);
}

TEST_F(Attention, PacksAndVerdicts) {
  const std::string pack = folder_ / "pack", spec = "attention:fa3_like,out=bf16,rows=1";
  EXPECT_EQ(run({"gen", spec, "-o", pack, "--stages"}).status, 0);
  EXPECT_EQ(run({"verify", pack, "--impl", "halfulp"}).status, 0);
  EXPECT_EQ(run({"verify", pack, "--got", pack}).status, 0);
  const auto wrong = run({"verify", pack, "--impl", "mutant:quantized_row_sum"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.out.find("first difference: stage l"), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("mutant:quantized_row_sum"), std::string::npos) << wrong.out;
  const auto named = run({"diagnose", spec, "--impl", "mutant:kv_head_by_modulo"});
  EXPECT_EQ(named.status, 1);
  EXPECT_NE(named.out.find("all  mutant:kv_head_by_modulo"), std::string::npos) << named.out;
  EXPECT_EQ(run({"verify", spec, "--impl", "mutant:nobody"}).status, 2);
  EXPECT_EQ(run({"verify", spec, "--level", "exhaustive", "--impl", "halfulp"}).status, 2);
  EXPECT_EQ(run({"gen", "cast:f32:e4m3", "--stages", "-o", folder_ / "x"}).status, 2);
  EXPECT_EQ(run({"gen", spec, "--coverage", "-o", folder_ / "x"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

/// The card names a claim only where one is violated, and that one; its stage may be judged or not.
TEST_F(Attention, CardsNameViolatedClaimsAlone) {
  const auto order =
      run({"verify", "attention:fa3_like,out=bf16", "--impl", "attention:fa3_like,out=bf16,tile=64"});
  EXPECT_EQ(order.status, 1);
  EXPECT_NE(order.out.find("proved        0 violated"), std::string::npos) << order.out;
  EXPECT_NE(order.out.find("no claim of a probe is violated"), std::string::npos) << order.out;
  EXPECT_NE(order.out.find("attention:fa3_like,out=bf16,order=unknown judges"), std::string::npos)
      << order.out;
  for (const char* word : {"who fails", "proof "})
    EXPECT_EQ(order.out.find(word), std::string::npos) << word;
  const auto head = run({"verify", "attention:fa3_like,out=bf16", "--impl", "mutant:kv_head_by_modulo"});
  EXPECT_NE(head.out.find("claim         violated in row 0: one_key"), std::string::npos) << head.out;
  EXPECT_NE(head.out.find("takes the wrong KV head"), std::string::npos) << head.out;
}

/// A kernel that violates in many rows: every violation is re-checked, and a table without rows has no head.
TEST_F(Attention, ManyViolationsAreAllReChecked) {
  const auto result = run({"verify", "attention:fa3_like,out=bf16,order=unknown,queries=16", "--impl",
                           "mutant:kv_head_by_modulo", "--json", "--threads", "2"});
  EXPECT_EQ(result.status, 1);
  const auto number = [&](const std::string& key) {
    const auto at = result.out.find("\"" + key + "\":");
    return at == std::string::npos ? -1 : std::stoi(result.out.substr(at + key.size() + 3));
  };
  EXPECT_EQ(number("rechecked"), number("violated")) << result.out;
  EXPECT_GT(number("enclosed"), 16);  // more than four query rows of four channels
  EXPECT_GT(number("violated"), number("enclosed"));
  const auto text =
      run({"verify", "attention:fa3_like,out=bf16,order=unknown", "--impl", "mutant:kv_head_by_modulo"})
          .out;
  EXPECT_NE(text.find("161 violated (161 re-checked: 144 in rational numbers, 17 on random data in 256 bits)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("mutant:kv_head_by_modulo  agrees in the bits of O on 26 of 26 rows"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("stage  "), std::string::npos) << text;
  EXPECT_EQ(text.find("matches except"), std::string::npos) << text;
}

TEST_F(Attention, WhatIsTooSmallForTheProbes) {
  const auto result = run({"verify", "attention:fa3_like,heads=2:1,keys=64,dim=64:2", "--impl", "halfulp"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.error.find("they do not fit into heads=2:1, keys=64, dim=64:2; write at least "
                              "heads=4:2,keys=320,dim=8:4, or probes=no"),
            std::string::npos)
      << result.error;
  EXPECT_EQ(run({"verify", "attention:fa3_like,heads=2:1,keys=64,dim=64:2,probes=no", "--impl", "halfulp"})
                .status,
            0);
}

/// float64 is rounded to float32 first: the answers are those of the float32 file.
TEST_F(Attention, TensorsOfFloat64) {
  const std::vector<std::string> narrow = arguments();
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 1), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream file(folder_ / "q64.npy", std::ios::binary);
  file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size()) << '\0' << header;
  for (const double x : {1.0 + 0x1p-40, 1.0}) file.write(reinterpret_cast<const char*>(&x), sizeof x);
  file.close();
  auto wide = narrow;
  wide[2] = folder_ / "q64.npy";
  const auto result = run(wide);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, run(narrow).out);
}

TEST_F(Attention, WithoutASpec) {
  const auto legitimate =
      run({"verify", "attention:any,out=bf16", "--impl", "attention:no_prescale,out=bf16"});
  EXPECT_EQ(legitimate.status, 0) << legitimate.out;
  EXPECT_NE(legitimate.out.find("far_keys: 128 keys 10 below the maximum, first or last: no"),
            std::string::npos)
      << legitimate.out;
  EXPECT_EQ(run({"verify", "attention:any,out=bf16", "--impl", "mutant:stale_maximum"}).status, 1);
  EXPECT_EQ(run({"verify", "attention:any,out=bf16", "--impl", "mutant:v_scale_dropped"}).status, 1);
  EXPECT_EQ(run({"verify", "attention:fa3_like,out=e4m3,order=unknown", "--impl",
                 "attention:fa3_like,out=e4m3,tile=64"})
                .status,
            0);
}

/// The lines behind "Examples:", in their order, in one new folder.
TEST_F(Attention, ExamplesOfTheHelpWorkAsTyped) {
  for (const std::string name : {"attention", "explain attention", "gemm"}) {
    const std::string help = run(split(name + " --help")).out, title = "Examples:\n";
    const auto at = help.find(title);
    ASSERT_NE(at, std::string::npos) << name;
    std::istringstream lines(help.substr(at + title.size()));
    std::string line, last;
    std::size_t count = 0;
    std::filesystem::create_directory(folder_ / name);
    while (std::getline(lines, line)) {
      if (line.find_first_not_of(' ') == std::string::npos) continue;
      last = line;
      ++count;
      const auto result = run_shell("cd '" + (folder_ / name) + "' && " + line);
      EXPECT_EQ(result.status, 0) << line << "\n" << result.error;
    }
    EXPECT_GE(count, name == "explain attention" ? 2u : 3u) << name;
    EXPECT_NE(last.find("halfulp " + name + " --"), std::string::npos) << last;
    EXPECT_NE(run_shell("cd '" + (folder_ / name) + "' && " + last).out.find("0x"), std::string::npos)
        << last;
  }
}

}  // namespace
