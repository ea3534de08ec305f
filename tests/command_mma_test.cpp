// `halfulp mma` and `halfulp gemm` as their users run them: rows, files, errors and exit statuses.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "command_runner.hpp"
#include "mma_text.hpp"

namespace {

using command::expect_one_error_line;
using command::Result;
using command::run;
using command::split;

std::string mma(const std::string& options, const std::string& rows) {
  const Result result = run(split("mma " + options), rows);
  EXPECT_EQ(result.status, 0) << result.error;
  return result.out;
}

TEST(CommandMma, TheMeasuredRowsComeBack) {
  for (const mma_text::Set& set : mma_text::sets()) {
    const Result result = run({"mma", "--model", set.model, "--format", set.format, "--output-format", set.output}, set.rows);
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.out, set.results) << set.name << " under " << set.model;
  }
}

TEST(CommandMma, ProbesOfTheZeroRules) {
  std::string words, zeros;
  for (int i = 0; i < 16; ++i) words += " 19800000";
  for (int i = 0; i < 14; ++i) zeros += " 00000000";
  const std::string row = words + " |" + words + " | 00000000\n";
  EXPECT_EQ(mma("--model hopper_f16 --format bf16", row), "00000000\n");
  EXPECT_EQ(mma("--model hopper_f16 --format bf16 --zero-rule b", row), "00000002\n");
  const std::string tie = "39800000 33800000" + zeros + " | 39000000 33800000" + zeros + " | 0x00000000\n";
  EXPECT_EQ(mma("--model hopper_f16 --output-format f16", tie), "33800000\n");
  EXPECT_EQ(mma("--model hopper_f16 --output-format f16 --zero-rule b", tie), "00000000\n");
}

TEST(CommandMma, UnitsThatDifferInC) {
  const std::string row = "00000000|00000000|40403017\n";
  EXPECT_EQ(mma("--model hopper_fp8_wgmma", row), "40403000\n");
  EXPECT_EQ(mma("--model hopper_fp8_mma_sync", row), "40403017\n");
  EXPECT_EQ(mma("--model hopper_fp8_wgmma --json", row), "{\"result\":\"0x40403000\"}\n");
}

TEST(CommandMma, IntegersPrintInDecimal) {
  EXPECT_EQ(mma("--model int8_imma", "c3000000 42fe0000 | c3000000 3f800000 | 40000000\n"), "16513\n");
  EXPECT_EQ(mma("--model int8_imma", "3f800000 | bf800000 | 00000000\n"), "-1\n");
  EXPECT_EQ(mma("--model int8_imma --json", "3f800000 | bf800000 | 00000000\n"), "{\"result\":-1}\n");
}

TEST(CommandMma, ScalesOfModelsAndOfPieces) {
  EXPECT_EQ(mma("--model blackwell_mxf8f6f4", "3f800000 | 3f800000 | 00000000 | 40000000 | 3f000000\n"), "3f800000\n");
  EXPECT_EQ(mma("--model blackwell_mxf8f6f4", "3f800000 | 3f800000 | 00000000 | 40800000 | 40800000\n"), "41800000\n");
  EXPECT_EQ(mma("--model hopper_fp8_wgmma --interval 2 --scale-order scales_first",
                "3f800000 3f800000 40000000 | 3f800000 3f800000 3f800000 | 3f800000 | 3f000000 3e800000 | 40000000 3f800000\n"),
            "40600000\n");  // 1 + 2 * (0.5 * 2) + 2 * (0.25 * 1)
}

TEST(CommandMma, LongRowsAreRead) {
  std::string ones;
  for (int i = 0; i < 20000; ++i) ones += "3f800000 ";
  EXPECT_EQ(mma("--model exact --format e4m3", ones + "|" + ones + "| 00000000\n"), "469c4000\n");
}

TEST(CommandMma, TheListNamesEveryModelOnce) {
  const Result list = run(split("mma --list")), json = run(split("mma --list --json"));
  EXPECT_EQ(list.status, 0);
  for (const char* name : {"volta_f16", "turing_f16", "ampere_f16", "ampere_tf32", "ada_fp8", "hopper_f16", "hopper_tf32", "hopper_fp8_wgmma",
                           "hopper_fp8_mma_sync", "blackwell_f16", "blackwell_tf32", "blackwell_f8f6f4", "blackwell_mxf8f6f4", "blackwell_mxf4",
                           "blackwell_mxf4nvf4", "int8_imma", "cdna1_f16", "cdna1_bf16", "cdna1_bf16_1k", "cdna2_f16", "cdna2_bf16",
                           "cdna2_bf16_1k", "cdna3_f16", "cdna3_xf32", "cdna3_fp8", "exact", "f32_sequential", "f32_fma_sequential", "f32_tree", "f32_warp_tree"}) {
    EXPECT_NE(list.out.find("\n" + std::string(name) + " "), std::string::npos) << name;
    EXPECT_NE(json.out.find("{\"name\":\"" + std::string(name) + "\""), std::string::npos) << name;
  }
}

struct Bad {
  const char* options;
  const char* rows;
  const char* part;  ///< of the error line
};

TEST(CommandMma, BadInputGetsOneLineAndStatusTwo) {
  const Bad bad[] = {
      {"--model hopper_fp8_wgmm", "", "nearest names: hopper_fp8_wgmma"},
      {"", "", "no model is named"},
      {"--model hopper_f16 --format e4m3", "", "choose from f16, bf16"},
      {"--model hopper_f16 --format-a f16 --format-b bf16", "", "one format for both"},
      {"--model hopper_tf32 --output-format f16", "", "choose from f32"},
      {"--model hopper_fp8_wgmma --interval 0", "", "interval"},
      {"--model hopper_fp8_wgmma --scale-order scales_first", "", "--interval"},
      {"--model hopper_fp8_wgmma --contract", "", "scale-order"},
      {"--model f32_tree --zero-rule b", "", "zero rule b"},
      {"--model hopper_fp8_wgmma --saturate", "", "saturation"},
      {"--model blackwell_mxf8f6f4 --interval 48", "", "multiple of 32"},
      {"--model hopper_fp8_wgmma", "3f8ccccd | 3f800000 | 00000000\n", "stdin line 1, word of a: 3f8ccccd is no number of e4m3"},
      {"--model hopper_fp8_wgmma", "7f800000 | 3f800000 | 00000000\n", "no number of e4m3"},
      {"--model hopper_tf32", "3f800001 | 3f800000 | 00000000\n", "no number of tf32"},
      {"--model hopper_fp8_wgmma", "# rows\n3f800000 | 3f800000\n", "stdin line 2, row: 2 columns"},
      {"--model hopper_fp8_wgmma", "3f800000 | 3f800000 3f800000 | 00000000\n", "1 words of a, 2 of b"},
      {"--model hopper_fp8_wgmma", "| | 00000000\n", "no words of a"},
      {"--model hopper_fp8_wgmma", "3f800000 | 3f800000 | 0 \n", "not float32 bits"},
      {"--model hopper_fp8_wgmma", "3f800000 | 3f800000 | 00000000 | 3f800000 | 3f800000\n", "5 columns"},
      {"--model blackwell_mxf8f6f4", "3f800000 | 3f800000 | 00000000\n", "3 columns"},
      {"--model blackwell_mxf8f6f4", "3f800000 | 3f800000 | 00000000 | 3f800000 3f800000 | 3f800000\n", "2 scales of a"},
      {"--model blackwell_mxf8f6f4", "3f800000 | 3f800000 | 00000000 | 40400000 | 3f800000\n", "no number of e8m0"},
      {"--model int8_imma", "3f800000 | 3f800000 | 7f800000\n", "outside int32"},
  };
  for (const Bad& each : bad) {
    const Result result = run(split("mma " + std::string(each.options)), each.rows);
    EXPECT_EQ(result.status, 2) << each.options;
    expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(each.part), std::string::npos) << result.error;
  }
}

TEST(CommandMma, AnswersBeforeABadLineStandAndNoRowsAreIncomplete) {
  const Result result = run(split("mma --model hopper_fp8_wgmma"), "3f800000|3f800000|00000000\n3f800000|x|00000000\n3f800000|3f800000|00000000\n");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "3f800000\n");
  EXPECT_NE(result.error.find("stdin line 2"), std::string::npos) << result.error;
  EXPECT_EQ(run(split("mma --model hopper_fp8_wgmma"), "# nothing\n").status, 3);
}

class CommandGemm : public testing::Test {
 protected:
  CommandGemm() : folder_(std::filesystem::temp_directory_path() / ("halfulp_gemm_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CommandGemm() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  template <class T>
  std::string npy(const std::string& name, const std::string& descr, std::size_t rows, std::size_t columns, const std::vector<T>& values) const {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + "), }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream out(path(name), std::ios::binary);
    const auto length = static_cast<std::uint16_t>(header.size());
    out << std::string("\x93NUMPY\x01\x00", 8);
    out.write(reinterpret_cast<const char*>(&length), 2);
    out << header;
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return path(name);
  }

  std::string gemm(const std::string& options) const {
    const Result result = run(split("gemm " + options));
    EXPECT_EQ(result.status, 0) << result.error;
    return result.out;
  }

  std::filesystem::path folder_;
};

TEST_F(CommandGemm, FloatsAndCodesGiveTheSameSums) {
  const std::string a = npy<float>("a.npy", "<f4", 2, 3, {1, 2, 3, -1, 0.5f, 8}), b = npy<float>("b.npy", "<f4", 3, 2, {1, 2, 4, 0, 0, 1});
  const std::string want = "0x41100000 0x40a00000\n0x3f800000 0x40c00000\n";
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --a " + a + " --b " + b), want);
  const std::string bt = npy<float>("bt.npy", "<f4", 2, 3, {1, 4, 0, 2, 0, 1});
  EXPECT_EQ(gemm("--model exact --format e4m3 --transpose-b --a " + a + " --b " + bt), want);
  const std::string codes = npy<std::uint8_t>("codes.npy", "|u1", 2, 3, {0x38, 0x40, 0x44, 0xb8, 0x30, 0x50});
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --threads 2 --a " + codes + " --b " + b), want);
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --a " + codes + " --b " + b + " --to bf16"), "0x4110 0x40a0\n0x3f80 0x40c0\n");
}

TEST_F(CommandGemm, ScalesPromotionBiasAndC) {
  const std::string a = npy<float>("a.npy", "<f4", 1, 4, {1, 1, 1, 1}), b = npy<float>("b.npy", "<f4", 4, 1, {1, 2, 4, 8});
  const std::string sa = npy<float>("sa.npy", "<f4", 1, 2, {2, 0.5f}), sb = npy<float>("sb.npy", "<f4", 1, 2, {1, 4});
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --interval 2 --scale-order operand_first --scale-a " + sa + " --scale-b " + sb + " --a " + a + " --b " + b),
            "0x41f00000\n");  // 3*2*1 + 12*0.5*4
  const std::string one = npy<float>("one.npy", "<f4", 1, 1, {3}), bias = npy<float>("bias.npy", "<f4", 1, 1, {-5}), c = npy<float>("c.npy", "<f4", 1, 1, {1});
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --c " + c + " --scale-a " + one + " --bias " + bias + " --scale-result 0.5 --epilogue scale_a,bias,scale_result --a " + a + " --b " + b),
            "0x41ac0000\n");  // ((1 + 15) * 3 - 5) * 0.5
  EXPECT_EQ(gemm("--model f32_sequential --format e4m3 --split-k 2 --combine tree --a " + a + " --b " + b), "0x41700000\n");
}

TEST_F(CommandGemm, ResultsAreWrittenWholeOrNotAtAll) {
  const std::string a = npy<float>("a.npy", "<f4", 1, 1, {3}), b = npy<float>("b.npy", "<f4", 1, 1, {5});
  EXPECT_EQ(gemm("--model int8_imma --to int32 --a " + a + " --b " + b), "15\n");
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --output " + path("d.npy") + " --a " + a + " --b " + b), "");
  EXPECT_EQ(gemm("--model exact --format f32 --to f32 --transpose-b --a " + path("d.npy") + " --b " + b), "0x42960000\n");
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --to e4m3 --output " + path("d.safetensors") + " --a " + a + " --b " + b), "");
  EXPECT_EQ(gemm("--model exact --format e4m3 --a " + path("d.safetensors") + ":d --b " + b), "0x42960000\n");
  const Result bad = run(split("gemm --model hopper_fp8_wgmma --output " + path("no/d.npy") + " --a " + a + " --b " + b));
  EXPECT_EQ(bad.status, 2);
  expect_one_error_line(bad.error);
}

TEST_F(CommandGemm, BadInputGetsOneLineAndStatusTwo) {
  const std::string a = npy<float>("a.npy", "<f4", 1, 2, {1, 2}), b = npy<float>("b.npy", "<f4", 3, 1, {1, 2, 3}), odd = npy<float>("odd.npy", "<f4", 2, 1, {1.1f, 1});
  const std::string two = npy<float>("two.npy", "<f4", 2, 1, {1, 2});
  for (const std::string& options : {"--model hopper_fp8_wgmma --a " + a, "--model hopper_fp8_wgmma --a " + a + " --b " + b,
                                     "--model hopper_fp8_wgmma --a " + a + " --b " + odd, "--model hopper_fp8_wgmma --a " + a + " --b /nothing.npy",
                                     "--model hopper_fp8_wgmma --epilogue scale_x --a " + a + " --b " + two,
                                     "--model hopper_fp8_wgmma --epilogue bias --a " + a + " --b " + two,
                                     "--model hopper_fp8_wgmma --bias " + a + " --a " + a + " --b " + two,
                                     "--model blackwell_mxf8f6f4 --a " + a + " --b " + two,
                                     "--model hopper_fp8_wgmma --output x.txt --a " + a + " --b " + two,
                                     "--model hopper_fp8_wgmma --to f64 --a " + a + " --b " + two,
                                     "--model exact --format f32 --c " + a + " --a " + two + " --b " + npy<float>("one.npy", "<f4", 1, 1, {1})}) {
    const Result result = run(split("gemm " + options));
    EXPECT_EQ(result.status, 2) << options;
    expect_one_error_line(result.error);
  }
}

TEST_F(CommandGemm, OverflowIsAskedOfEveryResultFormat) {
  const std::string a = npy<float>("a.npy", "<f4", 1, 2, {0x1p127f, 0x1p127f}), one = npy<float>("one.npy", "<f4", 2, 1, {1, 1});
  const std::string options = "--model f32_tree --format f32 --a " + a + " --b " + one;
  EXPECT_EQ(gemm(options), "0x7f800000\n");
  EXPECT_EQ(gemm(options + " --overflow saturate"), "0x7f7fffff\n");
  EXPECT_EQ(gemm(options + " --overflow saturate --to bf16"), "0x7f7f\n");
}

/// One part is summed from zero, too: 2^14 + 2^-9 keeps its low bit only where the FP8 unit does not see it.
TEST_F(CommandGemm, PartsAreSummedFromZero) {
  const std::string x = npy<float>("x.npy", "<f4", 1, 1, {1}), c = npy<float>("c.npy", "<f4", 1, 1, {16384.001953125f});
  const std::string options = "--model hopper_fp8_wgmma --a " + x + " --b " + x + " --c " + c;
  EXPECT_EQ(gemm(options), "0x46800000\n");
  EXPECT_EQ(gemm(options + " --split-k 1"), "0x46800201\n");
  for (const std::string extra : {" --split-k 2", " --combine tree"}) {
    const Result result = run(split("gemm " + options + extra));
    EXPECT_EQ(result.status, 2) << extra;
    expect_one_error_line(result.error);
  }
}

TEST_F(CommandGemm, JsonIsOneObject) {
  const std::string a = npy<float>("a.npy", "<f4", 2, 1, {1, 2}), b = npy<float>("b.npy", "<f4", 1, 2, {1, -3});
  EXPECT_EQ(gemm("--json --model hopper_fp8_wgmma --to bf16 --a " + a + " --b " + b),
            "{\"format\":\"bf16\",\"shape\":[2,2],\"codes\":[[\"0x3f80\",\"0xc040\"],[\"0x4000\",\"0xc0c0\"]]}\n");
  EXPECT_EQ(gemm("--json --model int8_imma --to int32 --a " + a + " --b " + b), "{\"format\":\"int32\",\"shape\":[2,2],\"values\":[[1,-3],[2,-6]]}\n");
}

/// What a file holds is never read as something else: no wrapped integers, no rounding on the way in.
TEST_F(CommandGemm, NumbersAreReadExactly) {
  const std::string bytes = npy<std::uint8_t>("bytes.npy", "|u1", 1, 1, {200}), small = npy<std::uint8_t>("small.npy", "|u1", 1, 1, {100});
  const std::string one = npy<float>("one.npy", "<f4", 1, 1, {1}), flag = npy<std::uint8_t>("flag.npy", "|b1", 1, 1, {1});
  const std::string wide = npy<double>("wide.npy", "<f8", 1, 1, {0.1}), narrow = npy<double>("narrow.npy", "<f8", 1, 1, {0.5});
  const std::string counts = npy<std::int64_t>("counts.npy", "<i8", 1, 1, {7}), nan = npy<float>("nan.npy", "<f4", 1, 1, {NAN});
  EXPECT_EQ(gemm("--model int8_imma --to int32 --a " + small + " --b " + one), "100\n");
  EXPECT_EQ(gemm("--model int8_imma --format-a uint8 --to int32 --a " + bytes + " --b " + one), "200\n");
  EXPECT_EQ(gemm("--model hopper_fp8_wgmma --c " + narrow + " --a " + one + " --b " + one), "0x3fc00000\n");
  const std::pair<std::string, const char*> wrong[] = {
      {"--model int8_imma --to int32 --a " + bytes + " --b " + one, "element 0: 0x1.9p+7 is no number of int8"},
      {"--model hopper_fp8_wgmma --a " + flag + " --b " + one, "its element type bool is no number format"},
      {"--model hopper_fp8_wgmma --c " + wide + " --a " + one + " --b " + one, "is no number of f32"},
      {"--model hopper_fp8_wgmma --epilogue bias --bias " + wide + " --a " + one + " --b " + one, "is no number of f32"},
      {"--model int8_imma --to int32 --c " + counts + " --a " + one + " --b " + one, "int64"},
      {"--model hopper_fp8_wgmma --to e2m1 --a " + nan + " --b " + one, "result [0, 0]"},
      {"--model blackwell_mxf8f6f4 --scale-a " + one + " --scale-b " + one + " --epilogue scale_a --a " + one + " --b " + one, "scales of blocks"}};
  for (const auto& [options, why] : wrong) {
    const Result result = run(split("gemm " + options));
    EXPECT_EQ(result.status, 2) << options;
    expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(why), std::string::npos) << result.error;
  }
}

/// A scale of the result is a whole code of float32 or a whole literal; nothing else becomes a number.
TEST_F(CommandGemm, AScaleOfTheResultIsACodeOrALiteral) {
  const std::string a = npy<float>("a.npy", "<f4", 1, 1, {3}), b = npy<float>("b.npy", "<f4", 1, 1, {5});
  const std::string options = "--model exact --format f32 --epilogue scale_result --a " + a + " --b " + b + " --scale-result ";
  for (const char* half : {"0.5", "1/2", "0x1p-1", "0x3f000000"}) EXPECT_EQ(gemm(options + half), "0x40f00000\n");
  for (const char* wrong : {"abc", "0x", "0xzz", "0x1.8", "0x3f000000junk", "-0x3f000000", "0x13f000000", "0x3f00000000000000000000"}) {
    const Result result = run(split("gemm " + options + wrong));
    EXPECT_EQ(result.status, 2) << wrong;
    EXPECT_EQ(result.out, "") << wrong;
    expect_one_error_line(result.error);
  }
}

}  // namespace
