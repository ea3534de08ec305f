// `halfulp verify` on kernels of users: filters, shared libraries and files that are right, wrong, short,
// long, dead.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "command_runner.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace {

using command::Result;
using nlohmann::json;

/// A folder of the test's own.
class Verify : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/halfulp_verify_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string folder_;
};

/// `verify SPEC --exec COMMAND …` as JSON.
json exec(const std::string& spec, const std::string& kernel, int status,
          std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"verify", spec, "--exec", kernel, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result result = command::run(arguments);
  EXPECT_EQ(result.status, status) << kernel << "\n" << result.out << result.error;
  return json::parse(result.out);
}

void expect_finding(const json& verdict, const std::string& kind, const std::string& text) {
  ASSERT_FALSE(verdict["findings"].empty()) << verdict;
  EXPECT_EQ(verdict["findings"][0]["kind"], kind) << verdict["findings"];
  EXPECT_NE(verdict["findings"][0]["text"].get<std::string>().find(text), std::string::npos)
      << verdict["findings"];
}

constexpr char kSame[] = "cast:e4m3:e4m3";  // 256 rows of a byte; `cat` is a right kernel

TEST_F(Verify, a_right_filter_passes_however_it_answers) {
  for (const std::string kernel :
       {"cat", "x=$(cat | od -An -v -tx1); for c in $x; do printf \"\\\\$(printf %o 0x$c)\"; done",
        "dd bs=7 2>/dev/null"}) {
    const json verdict = exec(kSame, kernel, 0);
    EXPECT_EQ(verdict["verdict"], "bit-exact");
    EXPECT_EQ(verdict["checked"], 256);
  }
  // Every 16-bit word: more than a pipe holds, answered at the end of the input only.
  const json verdict = exec("cast:bf16:bf16,nan-code=payload,overflow=overflow",
                            "cat >" + path("all") + " && cat " + path("all"), 1, {"--level", "exhaustive"});
  EXPECT_EQ(verdict["checked"], 65536);
  EXPECT_EQ(verdict["mismatches"], 126);  // signalling NaNs, which a cast quiets
  EXPECT_TRUE(verdict["findings"].empty());
}

TEST_F(Verify, the_rows_of_a_sweep_leave_out_what_the_policy_refuses) {
  const Result fed = command::run(
      {"verify", "cast:f16:e2m1", "--level", "exhaustive", "--exec", "tee " + path("fed") + " >/dev/null"});
  EXPECT_EQ(fed.status, 3);
  const std::string words = read("fed");
  ASSERT_EQ(words.size(), 2u * (65536 - 2046));
  std::size_t at = 0;
  for (unsigned word = 0; word < 65536; ++word) {
    if ((word & 0x7fff) > 0x7c00) continue;  // NaN
    const unsigned got = static_cast<unsigned char>(words[at]) |
                         static_cast<unsigned>(static_cast<unsigned char>(words[at + 1])) << 8;
    ASSERT_EQ(got, word);
    at += 2;
  }
}

TEST_F(Verify, a_text_filter_reads_and_writes_hexadecimal_lines) {
  const Result right =
      command::run_shell("halfulp verify cast:f32:e4m3 --text --exec 'halfulp cast --from f32 --to e4m3'");
  EXPECT_EQ(right.status, 0) << right.out << right.error;
  EXPECT_EQ(exec(kSame, "sed 's/^0x//' | tr a-f A-F", 0, {"--text"})["verdict"], "bit-exact");
  expect_finding(exec(kSame, "head -9; echo hello", 3, {"--text"}), "garbage",
                 "9 of 256 rows answered; line 10: 'hello' is not a code");
  expect_finding(exec(kSame, "echo 0x100", 3, {"--text"}), "garbage",
                 "line 1: '0x100': the code does not fit a word of 8 bits (e4m3)");
  expect_finding(exec(kSame, "printf '0x00\\n\\033[31m\\n'", 3, {"--text"}), "garbage",
                 "line 2: '\\x1b[31m'");
  expect_finding(exec(kSame, "cat; echo 0x00", 1, {"--text"}), "extra output", "1 more than the 256 rows");
}

TEST_F(Verify, a_filter_that_dies_hangs_or_stops_early_is_a_finding_with_counts) {
  struct Case {
    const char* kernel;
    const char* kind;
    const char* text;
    int checked;
  };
  for (const Case& one : {
           Case{"exit 3", "crash", "0 of 256 rows answered; it ended with exit status 3", 0},
           Case{"/nonexistent/kernel", "crash", "0 of 256 rows answered; it ended with exit status 127", 0},
           Case{"head -c 100; exit 1", "crash", "100 of 256 rows answered; it ended with exit status 1",
                100},
           Case{"head -c 100; kill -SEGV $$", "crash", "it ended with signal 11", 100},
           Case{"head -c 100", "missing output", "100 of 256 rows answered, 156 missing", 100},
           Case{"cat >/dev/null", "missing output", "0 of 256 rows answered, 256 missing", 0},
           Case{"sleep 60", "time-out", "0 of 256 rows answered; no progress for 300 ms", 0},
           Case{"head -c 100; sleep 60", "time-out", "100 of 256 rows answered; no progress for 300 ms",
                100},
           Case{"cat; sleep 60", "time-out", "all rows are answered, but it did not end within 300 ms",
                256},
           Case{"cat; exit 5", "crash", "all rows are answered, but it ended with exit status 5", 256},
       }) {
    const json verdict = exec(kSame, one.kernel, 3, {"--timeout", "0.3"});
    EXPECT_EQ(verdict["verdict"], "incomplete") << one.kernel;
    EXPECT_EQ(verdict["checked"], one.checked) << one.kernel;
    EXPECT_EQ(verdict["mismatches"], 0) << one.kernel;
    expect_finding(verdict, one.kind, one.text);
  }
  const json wrong = exec(kSame, "printf aaaa; exit 1", 1);
  EXPECT_EQ(wrong["checked"], 4);
  EXPECT_EQ(wrong["verdict"], "MISMATCH");
  const json half = exec("cast:bf16:bf16", "head -c 7", 3, {"--level", "specials"});
  expect_finding(half, "missing output", "(and 1 bytes of another)");
}

TEST_F(Verify, more_output_than_rows_is_wrong) {
  expect_finding(exec(kSame, "cat; printf 123", 1), "extra output", "3 more than the 256 rows");
  expect_finding(exec(kSame, "cat; cat /dev/zero", 1), "extra output", "at least 67,");
  expect_finding(exec("cast:bf16:bf16,nan-code=payload", "cat; printf 123", 1, {"--level", "specials"}),
                 "extra output", "and 1 bytes");
}

bool lives(const std::string& pid_text) {
  const int pid = std::atoi(pid_text.c_str());
  for (int i = 0; i < 100 && kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return pid <= 0 || kill(pid, 0) == 0;
}

TEST_F(Verify, nothing_that_a_filter_starts_outlives_the_command) {
  exec(kSame, "sleep 1000 & echo $! >" + path("pid") + "; cat", 3, {"--timeout", "0.3"});
  EXPECT_FALSE(lives(read("pid")));

  command::Process running(
      {"verify", kSame, "--exec", "sleep 1000 & echo $! >" + path("second") + "; sleep 1000"});
  for (int i = 0; i < 200 && read("second").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_FALSE(read("second").empty());
  running.send_signal(SIGINT);
  EXPECT_EQ(running.finish({}).status, 128 + SIGINT);
  EXPECT_FALSE(lives(read("second")));
}

/// `verify cast:f32:e4m3 --lib` with a fault.
Result library(const std::string& fault, const std::string& name = "faulty_kernel") {
  setenv("HALFULP_TEST_KERNEL", fault.c_str(), 1);
  const Result result = command::run({"verify", "cast:f32:e4m3", "--json", "--timeout", "1", "--lib",
                                      std::string(HALFULP_TEST_KERNELS) + "/lib" + name + ".so"});
  unsetenv("HALFULP_TEST_KERNEL");
  return result;
}

TEST_F(Verify, a_right_library_passes) {
  const Result result = library("");
  EXPECT_EQ(result.status, 0) << result.out << result.error;
  const json verdict = json::parse(result.out);
  EXPECT_EQ(verdict["version"], "faulty\\x1bkernel");
  EXPECT_GT(verdict["checked"], 9000);
}

TEST_F(Verify, a_library_that_crashes_hangs_or_ends_is_named_with_the_row) {
  const auto right_rows = json::parse(library("").out)["checked"].get<int>();
  struct Case {
    const char* fault;
    const char* kind;
    const char* text;
    int status;
  };
  for (const Case& one :
       {Case{"segv", "crash", ", input 0x3f800000: it crashed: signal 11", 3},
        Case{"abort", "crash", ", input 0x3f800000: it crashed: signal 6", 3},
        Case{"exit", "crash", ", input 0x3f800000: it ended the process: exit status 3", 3},
        Case{"hang", "time-out", "no answer within 1 s", 3},
        Case{"error", "failure", "it reports error 12: no\\x09device", 3},
        Case{"crash_at_start", "crash", "while it was loaded: signal 6", 3},
        Case{"overrun", "out of bounds", "it wrote behind the end of expected", 1},
        Case{"underrun", "out of bounds", "it wrote before the start of expected", 1},
        Case{"stray", "out of bounds", "it wrote outside column expected", 1},
        Case{"overrun_by_the_pattern", "out of bounds", "it wrote behind the end of expected", 1},
        Case{"far_overrun", "out of bounds", "it wrote outside column expected", 1},
        Case{"input_written", "out of bounds", "it wrote into its input input", 1},
        Case{"random", "non-determinism", "two runs differ in 1 of", 1},
        Case{"skip", "missing output", "rows of expected (first: row", 3}}) {
    const Result result = library(one.fault);
    EXPECT_EQ(result.status, one.status) << one.fault << result.out << result.error;
    const json verdict = json::parse(result.out);
    expect_finding(verdict, one.kind, one.text);
    const bool located = std::string(one.text).starts_with(", input");
    if (located) {
      EXPECT_EQ(verdict["findings"].size(), 1u) << one.fault;
      EXPECT_EQ(verdict["checked"], right_rows - 1) << one.fault;  // all but 1.0
    }
  }
}

TEST_F(Verify, rows_that_a_library_leaves_unwritten_are_not_judged) {
  const auto right_rows = json::parse(library("").out)["checked"].get<int>();
  const json one = json::parse(library("skip").out);
  EXPECT_EQ(one["verdict"], "incomplete");
  EXPECT_EQ(one["mismatches"], 0);
  EXPECT_EQ(one["checked"], right_rows - 1);
  const Result none = library("write_nothing");
  EXPECT_EQ(none.status, 3) << none.out;
  EXPECT_EQ(json::parse(none.out)["checked"], 0);
}

TEST_F(Verify, a_library_that_crashes_again_and_again_is_given_up) {
  const Result result = library("crash_often");
  EXPECT_EQ(result.status, 3);
  const json verdict = json::parse(result.out);
  EXPECT_EQ(verdict["findings"].size(), 8u) << verdict["findings"];
  EXPECT_NE(verdict["findings"].dump().find("no more are looked for"), std::string::npos);
  EXPECT_GT(verdict["checked"], 1000);
}

TEST_F(Verify, a_file_that_is_no_kernel_library_is_refused) {
  write("text.so", "no library");
  for (const auto& [file, why] : std::map<std::string, std::string>{
           {path("text.so"), "it cannot be loaded"},
           {path("missing.so"), "it cannot be loaded"},
           {std::string(HALFULP_TEST_KERNELS) + "/libother_abi_kernel.so", "ABI version 99"},
           {std::string(HALFULP_TEST_KERNELS) + "/libno_info_kernel.so",
            "it exports no halfulp_kernel_info"}}) {
    const Result result = command::run({"verify", "cast:f32:e4m3", "--lib", file});
    EXPECT_EQ(result.status, 2) << file;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(why), std::string::npos) << result.error;
  }
  const Result other = command::run(
      {"verify", "cast:f32:e5m2", "--lib", std::string(HALFULP_TEST_KERNELS) + "/libfaulty_kernel.so"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.error.find("it does not list cast:f32:e5m2"), std::string::npos) << other.error;
}

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

json got(const std::string& spec, const std::string& file, int status) {
  const Result result = command::run({"verify", spec, "--got", file, "--json"});
  EXPECT_EQ(result.status, status) << file << result.out << result.error;
  return json::parse(result.out);
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

/// Tags nest, attributes are quoted, no stray `<` or `&`: what a parser of XML would refuse.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&') {
      const std::size_t end = xml.find(';', i);
      if (end == std::string::npos || end - i > 6) return false;
    }
    if (static_cast<unsigned char>(xml[i]) < 0x20 && xml[i] != '\n') return false;
    if (xml[i] != '<') continue;
    std::size_t end = i + 1;
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      if (xml[end] == '<') return false;
    }
    const std::string tag = xml.substr(i + 1, end - i - 1);
    i = end;
    if (tag.starts_with("?")) continue;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

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

TEST_F(Verify, a_pack_is_judged_by_its_rows) {
  const std::string pack = path("pack");
  ASSERT_EQ(
      command::run({"gen", "cast:f32:e4m3", "-o", pack, "--quiet", "--also", "npz,safetensors"}).status, 0);
  for (const std::string form : {"", "/vectors.npz", "/vectors.safetensors"}) {
    EXPECT_EQ(got(pack, pack + form, 0)["verdict"], "bit-exact") << form;
    EXPECT_EQ(got(pack + form, pack + "/expected.bin", 0)["verdict"], "bit-exact") << form;
  }
  EXPECT_EQ(command::run({"verify", pack, "--impl", "halfulp"}).status, 0);
  const Result mutant = command::run({"verify", pack, "--impl", "mutant:truncate", "--json"});
  EXPECT_EQ(mutant.status, 1);
  const json verdict = json::parse(mutant.out);
  EXPECT_EQ(verdict["spec"], "cast:f32:e4m3");
  EXPECT_EQ(verdict["subject"], pack);
  EXPECT_EQ(verdict["diagnosis"]["fits"][0]["behaviour"], "rounding=toward_zero");
  // The same answers as from the SPEC itself.
  const json direct =
      json::parse(command::run({"verify", "cast:f32:e4m3", "--impl", "mutant:truncate", "--json"}).out);
  for (const char* key : {"checked", "mismatches", "groups", "first"})
    EXPECT_EQ(verdict[key], direct[key]) << key;
  expect_finding(exec(pack, "head -c 40 >/dev/null", 3), "missing output", "0 of 9,");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--level", "specials"}, {"--seed", "0"}}) {
    std::vector<std::string> arguments = {"verify", pack, "--impl", "halfulp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(command::run(arguments).status, 2);
  }
}

/// A pack's manifest with one text replaced; columns stay as they were.
std::string replaced(std::string manifest, const std::string& what, const std::string& with) {
  const std::size_t at = manifest.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? manifest : manifest.replace(at, what.size(), with);
}

TEST_F(Verify, a_pack_that_contradicts_its_SPEC_is_refused) {
  // The header of an .npz has no room for a trick: rewrite the SPEC of a folder, whose columns stay as they
  // were.
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:f32:e4m3", "-o", pack, "--quiet"}).status, 0);
  const std::string manifest = read("pack/manifest.json");
  for (const std::string rounding : {"toward_zero", "ties_to_away"}) {
    write("pack/manifest.json",
          replaced(manifest, "\"cast:f32:e4m3\"", "\"cast:f32:e4m3,rounding=" + rounding + "\""));
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{"verify", pack, "--impl", "halfulp"},
          {"verify", pack, "--got", pack + "/expected.bin"},
          {"diagnose", pack, "--got", pack + "/expected.bin"},
          {"coverage", pack}}) {
      const Result result = command::run(line);
      EXPECT_EQ(result.status, 2) << line[0] << result.out;
      EXPECT_NE(result.error.find("it contradicts its SPEC in row "), std::string::npos) << result.error;
      command::expect_one_error_line(result.error);
    }
  }
}

TEST_F(Verify, the_claims_of_a_pack_are_those_of_its_rows) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:f16:e2m1", "-o", pack, "--quiet", "--level", "exhaustive"}).status, 0);
  const std::string manifest = read("pack/manifest.json");
  EXPECT_EQ(got(pack, pack + "/expected.bin", 0)["completeness"], "exhaustive");
  const auto refused = [&](const std::string& text, const std::string& why) {
    write("pack/manifest.json", text);
    const Result result = command::run({"verify", pack, "--got", pack + "/expected.bin"});
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.error.find(why), std::string::npos) << result.error;
    command::expect_one_error_line(result.error);
  };
  refused(replaced(manifest, "\"refused\": 2046", "\"refused\": 7"), "the policy refuses 7 words of its level");
  // Of another level than it says, every word is still there.
  write("pack/manifest.json", replaced(manifest, "\"level\": \"exhaustive\"", "\"level\": \"thresholds\""));
  const json own = got(pack, pack + "/expected.bin", 0);
  EXPECT_EQ(own["own_rows"], true) << own;
  EXPECT_EQ(own["refused"], 0);
  EXPECT_EQ(own["completeness"], "exhaustive");
}

TEST_F(Verify, an_endless_trickle_behind_the_last_row_is_ended) {
  const auto start = std::chrono::steady_clock::now();
  const json verdict =
      exec(kSame, "cat; while :; do printf a; sleep 0.02; done", 1, {"--timeout", "0.5"});
  expect_finding(verdict, "extra output", "more than the 256 rows");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Verify, a_named_pipe_is_no_file_of_answers) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Result result = command::run({"verify", kSame, "--got", path("pipe")});
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_NE(result.error.find("it is not a regular file"), std::string::npos) << result.error;
}

TEST_F(Verify, a_time_out_is_a_number_of_seconds) {
  for (const std::string seconds : {"nan", "inf", "-1", "0", "x"})
    EXPECT_EQ(command::run({"verify", kSame, "--exec", "cat", "--timeout", seconds}).status, 2) << seconds;
}

TEST_F(Verify, a_pack_that_is_broken_is_refused) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:bf16:e4m3", "-o", pack, "--quiet"}).status, 0);
  write("pack/expected.bin", read("pack/expected.bin").substr(1));
  for (const std::string& subject : {pack, path("none.npz"), std::string("/tmp")}) {
    const Result result = command::run({"verify", subject, "--exec", "cat"});
    EXPECT_EQ(result.status, 2) << subject;
    command::expect_one_error_line(result.error);
  }
}

TEST_F(Verify, recipes_are_judged_by_blocks) {
  const std::string spec = "recipe:mxfp8/ocp_floor,rows=12";
  const Result right = command::run({"verify", spec, "--impl", "halfulp"});
  EXPECT_EQ(right.status, 0) << right.out << right.error;
  const Result other = command::run(
      {"verify", spec, "--impl", "recipe:mxfp8/rceil", "--json", "--report", path("recipe.xml")});
  EXPECT_EQ(other.status, 1) << other.out << other.error;
  EXPECT_GT(json::parse(other.out)["mismatches"], 0);
  EXPECT_NE(other.out.find("recipe:mxfp8/rceil"), std::string::npos);
  EXPECT_TRUE(well_formed(read("recipe.xml")));

  const std::string pack = path("pack");
  const Result made = command::run({"gen", spec, "-o", pack, "--quiet"});
  ASSERT_EQ(made.status, 0) << made.error;
  EXPECT_EQ(got(pack, pack, 0)["verdict"], "bit-exact");
  // A filter answers row after row, the expected columns of each back to back.
  const json manifest = json::parse(read("pack/manifest.json"));
  std::string rows;
  const auto count = manifest["rows"].get<std::size_t>();
  for (std::size_t row = 0; row < count; ++row) {
    for (const json& column : manifest["columns"]) {
      if (column["role"] != "expected") continue;
      const std::string bytes = read("pack/" + column["file"].get<std::string>());
      rows += bytes.substr(row * (bytes.size() / count), bytes.size() / count);
    }
  }
  write("rows.bin", rows);
  EXPECT_EQ(exec(pack, "cat >/dev/null; cat " + path("rows.bin"), 0)["verdict"], "bit-exact");
  EXPECT_EQ(exec(spec, "cat >/dev/null; cat " + path("rows.bin"), 0)["verdict"], "bit-exact");
  const json half = exec(pack, "head -c " + std::to_string(rows.size() / 2) + " " + path("rows.bin"), 3);
  expect_finding(half, "missing output", "6 of 12 rows answered, 6 missing");
  EXPECT_EQ(half["rows"], 6);
  expect_finding(exec(pack, "cat " + path("rows.bin") + "; echo", 1), "extra output",
                 "more than the 12 rows");
  expect_finding(exec(pack, "exit 4", 3), "crash", "exit status 4");
}

TEST_F(Verify, files_of_codes_that_are_packed_or_not_are_told_apart) {
  const std::string plain = "recipe:mxfp4/ocp_floor,rows=8", packed = plain + ",packing=low_first";
  ASSERT_EQ(command::run({"gen", plain, "-o", path("plain"), "--quiet"}).status, 0);
  ASSERT_EQ(command::run({"gen", packed, "-o", path("packed"), "--quiet"}).status, 0);
  EXPECT_EQ(got(packed, path("packed"), 0)["verdict"], "bit-exact");
  expect_finding(got(packed, path("plain"), 1), "extra output", "the SPEC packs them: pack the codes");
  expect_finding(got(plain, path("packed"), 1), "missing output", "packed codes need packing= in the SPEC");
}

TEST_F(Verify, decodes_are_judged_too) {
  const json verdict = exec("decode:e4m3:f32", "cat >/dev/null", 3);
  EXPECT_EQ(verdict["spec"], "decode:e4m3:f32");
  const Result right =
      command::run_shell("halfulp verify decode:e2m1 --text --exec 'halfulp cast --from e2m1 --to f32'");
  EXPECT_EQ(right.status, 0) << right.out << right.error;
}

}  // namespace
