// `halfulp cast`, `decode`, `formats`, `thresholds` and `doctor`: answers, errors and exit statuses, row by
// row.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "command_runner.hpp"

namespace {

using command::run;
using command::split;

struct Answer {
  const char* arguments;
  const char* out;  ///< lines separated by '\n', the last one without
};

void expect_answers(std::string_view name, std::initializer_list<Answer> rows) {
  for (const Answer& row : rows) {
    const auto result = run(split(std::string(name) + " " + row.arguments));
    EXPECT_EQ(result.out, std::string(row.out) + "\n") << name << " " << row.arguments;
    EXPECT_EQ(result.error, "") << name << " " << row.arguments;
    EXPECT_EQ(result.status, 0) << name << " " << row.arguments;
  }
}

TEST(Cast, prints_the_code_of_each_value) {
  expect_answers(
      "cast",
      {
          {"--to e4m3 0.1", "0x1d"},
          {"--to e4m3 0.1 1 448", "0x1d\n0x38\n0x7e"},
          {"--to e4m3 0x1.8p-3 3/32 2^-9 inf -inf nan -nan", "0x24\n0x1c\n0x01\n0x7e\n0xfe\n0x7f\n0xff"},
          {"--to e4m3 -0.5 -1e-3 -2^-9 -.5 -0 -0x1p0 -3/32", "0xb0\n0x81\n0x81\n0xb0\n0x80\n0xb8\n0x9c"},
          {"--to e4m3 -- -0.5", "0xb0"},
          {"-0.5 --to e4m3 1", "0xb0\n0x38"},
          {"--to e2m1 -- 5", "0x6"},
          {"--to tf32 1", "0x3f800000"},
          {"--to f32 0.1", "0x3dcccccd"},
          {"--to f64 0.1", "0x3fb999999999999a"},
          {"--to binary9p3se 1", "0x080"},
          {"--to e3m2 28 -28", "0x1f\n0x3f"},
          {"--to int8 200 -200 2.5 -1", "0x7f\n0x80\n0x02\n0xff"},
          {"--to int8_restricted -200", "0x81"},
          {"--to mxint8 1", "0x40"},
          {"--to nf4 0 1 -5", "0x7\n0xf\n0x0"},
          {"--to float8_e4m3fn 1", "0x38"},
          {"--from f32 --to e4m3 0x43e80000 0x43e80001", "0x7e\n0x7e"},
          {"--from f32 --to e4m3 0X3F800000", "0x38"},
          {"--from bf16 --to e4m3 1.3", "0x3a"},
          {"--from tf32 --to e4m3 0x3f800000", "0x38"},
          {"--from ue4m3 --to e4m3 0x7e", "0x7e"},
          {"--from exact --to e4m3 1", "0x38"},
      });
}

TEST(Cast, follows_every_policy_option) {
  expect_answers(
      "cast",
      {
          {"--to e4m3 --rounding toward_zero 0.1", "0x1c"},
          {"--to e4m3 --rounding rtz 0.1", "0x1c"},
          {"--to e4m3 --rounding toward_positive 0.1 -0.1", "0x1d\n0x9c"},
          {"--to e4m3 --rounding toward_negative 0.1 -0.1", "0x1c\n0x9d"},
          {"--to e4m3 --rounding ties_to_away 1.0625", "0x39"},
          {"--to e4m3 1.0625", "0x38"},
          {"--to e4m3 --rounding to_odd 1.01 1.2", "0x39\n0x39"},
          {"--from f32 --to e4m3 --overflow overflow 0x43e80001 0x7f800000", "0x7f\n0x7f"},
          {"--to e5m2 --overflow saturate_keep_inf 1e9 inf", "0x7b\n0x7c"},
          {"--to e5m2 --overflow=overflow 1e9", "0x7c"},
          {"--to e4m3 --nan positive -nan", "0x7f"},
          {"--to e2m1 --nan nan_to_max -nan", "0x7"},
          {"--to e2m1 --nan nan_to_signed_max -nan", "0xf"},
          {"--to e2m1 --nan positive --nan nan_to_signed_max nan", "0x7"},
          {"--to e5m2 nan", "0x7e"},
          {"--to e5m2 --nan-code ones nan", "0x7f"},
          {"--from f32 --to e5m2 --nan-code payload 0x7fa00000", "0x7f"},
          {"--to e2m1 inf", "0x7"},
          {"--to e2m1 --inf-none zero inf", "0x0"},
          {"--to ue4m3 --negative abs -1", "0x38"},
          {"--to ue4m3 --negative zero -1", "0x00"},
          {"--to ue4m3 --negative nan -1", "0x7f"},
          {"--to e8m0 --zero min 0", "0x00"},
          {"--to e8m0 --zero nan 0", "0xff"},
          {"--to e4m3 --rounding rtz --overflow overflow 500", "0x7e"},
          {"--to e4m3 --rounding rtz --overflow overflow --directed-overflow literal 500", "0x7f"},
          {"--from f32 --to e4m3 --overflow overflow --overflow-test before 0x43e00001", "0x7f"},
          {"--to e4m3 --flush out 2^-9", "0x00"},
          {"--from f32 --to bf16 --flush in 0x00400000", "0x0000"},
          {"--to e4m3fnuz nan", "0x80"},
          {"--to e4m3fnuz --fnuz-nan signed_max nan", "0x7f"},
          {"--from f32 --to e8m0 0x00500000", "0x00"},
          {"--from f32 --to e8m0 --low-binade upward 0x00500000", "0x01"},
          {"--from f32 --to e4m3 0x3f880001", "0x39"},
          {"--from f32 --to e4m3 --via f16 0x3f880001", "0x38"},
          {"--to e4m3 --via f32 431.99999999999994", "0x7e"},
          {"--to e4m3 431.99999999999994", "0x7d"},
          {"--to e4m3 --rounding stochastic --sr-bits 8 --sr-random 0 --overflow overflow 449", "0x7e"},
          {"--to e4m3 --rounding sr --sr-bits 8 --sr-random 0xff --overflow overflow 449", "0x7f"},
          {"--to e4m3 --rounding sr --sr-variant A --sr-bits 1 --sr-random 1 1.0625", "0x39"},
          {"--to e4m3 --dialect cuda_satfinite -nan inf", "0x7f\n0x7e"},
          {"--from f32 --to e4m3 --dialect torch_2_11 0x43e80001", "0x7f"},
          {"--from f32 --to e4m3 --dialect torch_2_12 0x43e80001", "0x7e"},
          {"--from f32 --to e4m3 --dialect torch_2_11 --overflow saturate 0x43e80001", "0x7e"},
          {"--from f32 --to e4m3 --dialect onednn 0x3f880001", "0x38"},
      });
}

TEST(Cast, repeats_stochastic_answers_for_a_seed_and_varies_them_along_the_stream) {
  const std::string base = "cast --to int8 --rounding stochastic --sr-bits 16 --seed ";
  const std::string values = " 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5";
  const auto one = run(split(base + "1" + values));
  EXPECT_EQ(one.out, run(split(base + "1" + values)).out);
  EXPECT_NE(one.out, run(split(base + "2" + values)).out);
  EXPECT_NE(one.out.find("0x00"), std::string::npos);
  EXPECT_NE(one.out.find("0x01"), std::string::npos);
}

TEST(Cast, adds_values_and_flags_in_a_fixed_order) {
  expect_answers("cast", {
                             {"--to e4m3 --values 0.1 nan -0", "0x1d 0.1015625\n0x7f nan\n0x80 -0"},
                             {"--to e4m3 --flags 1 0.1", "0x38 -\n0x1d inexact"},
                             {"--to e4m3 --values --flags 2^-9", "0x01 0.001953125 subnormal"},
                             {"--to e4m3 --flags --values 2^-10", "0x00 0 inexact,underflow,tie"},
                             {"--to f16 --overflow overflow --flags 65520", "0x7c00 inexact,overflow,tie"},
                             {"--to e4m3 --flags 0.0107421875", "0x06 inexact,underflow,tie,subnormal"},
                             {"--from f32 --to e4m3 --flags 0x43e80000", "0x7e inexact,tie"},
                             {"--to e4m3 --rounding rtz --flags 1.0625", "0x38 inexact"},
                             {"--to e4m3 --via f16 --flags 1000000", "0x7e inexact,overflow"},
                             {"--to e4m3 --via e4m3 --flags 2^-11", "0x00 inexact,underflow"},
                         });
}

TEST(Decode, prints_exact_decimals) {
  expect_answers("decode", {
                               {"e4m3 0x01", "0.001953125"},
                               {"e4m3 0x7e 0x7f 0xff 0x80 0x00 0xfe", "448\nnan\nnan\n-0\n0\n-448"},
                               {"e5m2 0x7c 0xfc", "inf\n-inf"},
                               {"e4m3 --hex-float 0x01", "0x1p-9"},
                               {"e4m3 --hex-float 0x7e 0xb8 0x80 0x7f", "0x1.cp+8\n-0x1p+0\n-0x0p+0\nnan"},
                               {"f32 0x3dcccccd", "0.100000001490116119384765625"},
                               {"f32 --hex-float 0x3dcccccd 0x00000001", "0x1.99999ap-4\n0x1p-149"},
                               {"e8m0 0xfe", "170141183460469231731687303715884105728"},
                               {"int8 0x80 0xff 0x7f", "-128\n-1\n127"},
                               {"mxint8 0x01", "0.015625"},
                               {"nf4 0x1", "-0.696192800998687744140625"},
                               {"hif8 0x6e 0x6f 0x01", "32768\ninf\n0.0000002384185791015625"},
                               {"binary8p1uf 0xfe", "85070591730234615865843651857942052864"},
                               {"fp4 0x7", "6"},
                               {"f64 0x7fefffffffffffff --hex-float", "0x1.fffffffffffffp+1023"},
                           });
}

TEST(Decode, handles_the_widest_exponents) {
  const auto tiny = run(split("decode f64 0x1"));
  EXPECT_EQ(tiny.out.size(), 2u + 1074u + 1u);
  EXPECT_EQ(tiny.out.substr(0, 2) + tiny.out.substr(tiny.out.size() - 8), "0.7265625\n");
  const auto huge = run(split("decode binary16p1ue 0xfffd"));
  EXPECT_EQ(huge.out.size(), 9864u + 1u);  // 2^32765 has 9864 digits
  const auto small = run(split("decode binary16p1ue 0x0001"));
  EXPECT_EQ(small.out.size(), 2u + 32767u + 1u);  // 2^-32767
}

TEST(Thresholds, of_f32_to_e2m1_are_the_transcribed_table) {
  expect_answers("thresholds", {{"--from f32 --to e2m1",
                                 "0xf -6 0xff800000 0xc0a00001 yes\n"
                                 "0xe -4 0xc0a00000 0xc0600000 yes\n"
                                 "0xd -3 0xc05fffff 0xc0200001 yes\n"
                                 "0xc -2 0xc0200000 0xbfe00000 yes\n"
                                 "0xb -1.5 0xbfdfffff 0xbfa00001 yes\n"
                                 "0xa -1 0xbfa00000 0xbf400000 yes\n"
                                 "0x9 -0.5 0xbf3fffff 0xbe800001 yes\n"
                                 "0x8 -0 0xbe800000 0x80000000 no\n"
                                 "0x0 0 0x00000000 0x3e800000 yes\n"
                                 "0x1 0.5 0x3e800001 0x3f3fffff yes\n"
                                 "0x2 1 0x3f400000 0x3fa00000 yes\n"
                                 "0x3 1.5 0x3fa00001 0x3fdfffff yes\n"
                                 "0x4 2 0x3fe00000 0x40200000 yes\n"
                                 "0x5 3 0x40200001 0x405fffff yes\n"
                                 "0x6 4 0x40600000 0x40a00000 yes\n"
                                 "0x7 6 0x40a00001 0x7f800000 no"}});
}

TEST(Thresholds, follow_the_policy) {
  expect_answers("thresholds",
                 {{"--from e4m3 --to int2 --rounding toward_zero",
                   "0x2 -2 0xfe 0xc0 no\n0x3 -1 0xbf 0xb8 no\n0x0 0 0xb7 0x37 no\n0x1 1 0x38 0x7e no"}});
  const auto overflow = run(split("thresholds --from f32 --to e4m3 --overflow overflow"));
  EXPECT_NE(overflow.out.find("\n0x7f nan 0x43e80001 0x7f800000 no\n"), std::string::npos);
  EXPECT_NE(overflow.out.find("\n0x7e 448 0x43d80000 0x43e80000 yes\n"), std::string::npos);
}

TEST(Thresholds, leave_refused_runs_out_and_say_so) {
  const auto result = run(split("thresholds --from e5m2 --to e8m0"));
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.error.find("left out"), std::string::npos) << result.error;
  EXPECT_EQ(result.out.rfind("0x6f 0.0000152587890625 0x01 0x01 ", 0), 0u) << result.out;
  EXPECT_EQ(run(split("thresholds --from e5m2 --to e8m0 --quiet")).error, "");
}

TEST(Formats, list_every_format_and_mark_the_unverified_one) {
  const auto result = run({"formats"});
  EXPECT_EQ(result.status, 0);
  for (const char* name :
       {"e4m3", "e5m2", "e2m1", "e8m0", "ue4m3", "tf32", "f64", "mxint8", "nf4", "int4_restricted"}) {
    EXPECT_NE(result.out.find("\n" + std::string(name) + " "), std::string::npos) << name;
  }
  const std::string hif8 = result.out.substr(result.out.find("\nhif8"));
  EXPECT_NE(hif8.find("unverified"), std::string::npos);
  EXPECT_EQ(result.out.find('\033'), std::string::npos);
  EXPECT_NE(run(split("formats --color always")).out.find('\033'), std::string::npos);
}

TEST(Formats, describe_one_and_list_its_codes) {
  const std::string e4m3 = run(split("formats e4m3")).out;
  for (const char* part : {"float8_e4m3fn", "OCP OFP8", "0x7e 448 0x1.cp+8", "0x08 0.015625 0x1p-6",
                           "0x01 0.001953125 0x1p-9", "0x7f 0xff", "0x80"}) {
    EXPECT_NE(e4m3.find(part), std::string::npos) << part;
  }
  const std::string codes = run(split("formats e4m3 --codes")).out;
  EXPECT_EQ(std::count(codes.begin(), codes.end(), '\n'), 256);
  EXPECT_EQ(codes.rfind("0x00 0 0x0p+0 zero\n0x01 0.001953125 0x1p-9 subnormal\n", 0), 0u);
  EXPECT_NE(codes.find("\n0x7e 448 0x1.cp+8 normal\n0x7f nan nan nan\n0x80 -0 -0x0p+0 zero\n"),
            std::string::npos);
  EXPECT_EQ(run(split("formats e2m1 --codes"))
                .out.substr(0, 40)
                .rfind("0x0 0 0x0p+0 zero\n0x1 0.5 0x1p-1 subnor", 0),
            0u);
  EXPECT_NE(run(split("formats int4_restricted")).out.find("0x9 -7 -0x1.cp+2"), std::string::npos);
  EXPECT_EQ(run(split("formats binary8p1se")).status, 0);
  EXPECT_EQ(run(split("formats binary3p3uf --codes")).status, 0);
}

TEST(Doctor, names_what_was_built_and_found) {
  const auto result = run({"doctor"});
  EXPECT_EQ(result.status, 0);
  for (const char* part :
       {"compiler", "build type", "SIMD", "threads", "CUDA toolkit", "CUDA driver", "implementations"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
}

struct Refused {
  const char* arguments;
  const char* message;  ///< part of the error line
  const char* out = "";
};

TEST(Errors, are_one_line_with_a_way_to_mend_and_exit_with_2) {
  const Refused rows[] = {
      {"cats", "nearest names: cast"},
      {"frobnicate", "command 'frobnicate'"},
      {"--jsn", "nearest names: --json"},
      {"cast --too e4m3 1", "--to"},
      {"cast --to e4m3 --roundng rtz 1", "nearest names: --rounding"},
      {"cast 1", "--to is required"},
      {"cast --to", "--to"},
      {"cast --to e4m4 1", "nearest names: e4m3"},
      {"cast --to e4m3 --to e5m2 1", "--to"},
      {"cast --to binary8p9se 1", "not a P3109 format"},
      {"cast --from f33 --to e4m3 1", "nearest names"},
      {"cast --to e4m3 --rounding up 1", "use one of ties_to_even"},
      {"cast --to e4m3 --overflow x 1", "use one of saturate"},
      {"cast --to e4m3 --nan x 1", "use one of keep_sign"},
      {"cast --to e4m3 --dialect cuda 1", "dialect 'cuda'"},
      {"cast --to nf4 --dialect ocp_sat 1", "nothing is recorded"},
      {"cast --to e4m3 --rounding stochastic 1", "add --sr-bits"},
      {"cast --to e4m3 --sr-bits 8 1", "add --rounding stochastic"},
      {"cast --to e4m3 --rounding sr --sr-bits 99 1", "1 to 32"},
      {"cast --to e4m3 --rounding sr --sr-bits 4 --sr-random 1f 1", "more than 4 bits"},
      {"cast --to e4m3 --seed -5 1", "seed '-5'"},
      {"cast --to e4m3 0x38", "add --from"},
      {"cast --from exact --to e4m3 0x38", "add --from"},
      {"cast --from e4m3 --to f32 0x100", "e4m3 has 8 bits"},
      {"cast --from e2m1 --to f32 0x10", "e2m1 has 4 bits"},
      {"cast --from ue4m3 --to f32 0x80", "ue4m3 has 7 bits"},
      {"cast --from tf32 --to f32 0x3f800001", "low 13 bits"},
      {"cast --from f64 --to f32 0x1ffffffffffffffff", "more than 64 bits"},
      {"cast --from f32 --to e4m3 0x", "no digits"},
      {"cast --from f32 --to e4m3 0x1.8", "not a hexadecimal number"},
      {"cast --to e4m3 1 2 two 3", "value 'two'", "0x38\n0x40\n"},
      {"cast --to e4m3 1e", "not a number"},
      {"cast --to e4m3 -0.5x", "value '-0.5x'"},
      {"cast --to e4m3 1/0", "denominator is zero"},
      {"cast --to e2m1 1 nan 2", "add --nan", "0x2\n"},
      {"cast --to e2m1 --inf-none error inf", "add --inf-none"},
      {"cast --to ue4m3 -1", "add --negative"},
      {"cast --to e8m0 0", "add --zero"},
      {"cast --from e2m1 --to f32 nan", "e2m1 cannot hold it"},
      {"cast --dialect onednn --to e4m3 inf", "not recorded"},
      {"cast --to e4m3 --threads 0 1", "--threads"},
      {"cast --to e4m3 --color red 1", "--color"},
      {"decode", "FORMAT is required"},
      {"decode e4m3 1", "not a code"},
      {"decode e4m3 0x1ff", "e4m3 has 8 bits"},
      {"decode e4m3 0x00 0xzz", "not a hexadecimal", "0\n"},
      {"decode e4m3 -0x1", "not a code"},
      {"decode foo 0x1", "format 'foo'"},
      {"formats nope", "format 'nope'"},
      {"formats e4m3 e5m2", "'e5m2'"},
      {"formats --codes", "no format is named"},
      {"formats f32 --codes", "at most 16 bits"},
      {"thresholds --to e4m3", "--from is required"},
      {"thresholds --from exact --to e4m3", "--from f32"},
      {"thresholds --from f32 --to e4m3 --rounding stochastic --sr-bits 4", "--sr-random"},
      {"doctor now", "'now'"},
  };
  for (const Refused& row : rows) {
    const auto result = run(split(row.arguments));
    EXPECT_EQ(result.status, 2) << row.arguments;
    EXPECT_EQ(result.out, row.out) << row.arguments;
    EXPECT_NE(result.error.find(row.message), std::string::npos) << row.arguments << "\n" << result.error;
    command::expect_one_error_line(result.error);
  }
}

TEST(Errors, name_empty_and_odd_arguments) {
  for (const std::string& value : {std::string(), std::string("\x01\x1b[2J"), std::string(5000, '1'),
                                   std::string("½"), std::string("\xff\xfe"), std::string("a\nb")}) {
    const auto result = run({"cast", "--to", "e4m3", value});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_LT(result.error.size(), 300u);
    command::expect_one_error_line(result.error);
  }
  command::expect_one_error_line(run({"cast", "--to", "", "1"}).error);
  command::expect_one_error_line(run({""}).error);
}

TEST(Command, without_arguments_prints_usage_on_stderr) {
  const auto result = run({});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.error.find("cast"), std::string::npos);
  const auto version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("halfulp ", 0), 0u);
}

/// The lines after "Examples:" in a help text.
std::vector<std::string> examples(const std::string& help) {
  std::vector<std::string> lines;
  const auto at = help.find("Examples:\n");
  if (at == std::string::npos) return lines;
  std::string rest = help.substr(at + 10);
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const std::string line = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    if (line.find_first_not_of(' ') != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(Help, examples_work_as_typed) {
  for (const char* name :
       {"formats", "decode", "cast", "thresholds", "explain", "explain value", "verify", "doctor"}) {
    const auto help = run(split(std::string(name) + " --help"));
    EXPECT_EQ(help.status, 0) << name;
    const auto lines = examples(help.out);
    EXPECT_GE(lines.size(), 2u) << name;
    EXPECT_LE(lines.size(), 4u) << name;
    for (const std::string& line : lines) {
      const auto result = command::run_shell(line);
      EXPECT_EQ(result.status, 0) << line << "\n" << result.error;
      EXPECT_NE(result.out, "") << line;
    }
  }
}

}  // namespace
