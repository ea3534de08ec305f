// `halfulp verify` on filters: right, dead, hanging, short, long.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "verify_runner.hpp"

namespace {

using command::exec;
using command::expect_finding;
using command::got;
using command::kSame;
using command::Result;
using command::Verify;
using nlohmann::json;

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
  expect_finding(exec(kSame, "printf '0x00 0x01\\n'", 3, {"--text"}), "garbage",
                 "line 1: '0x01' stands behind the words of a whole row, and a line is a row");
  expect_finding(exec("recipe:mxfp8/ocp_floor", "printf '0x00\\n0x00\\n'", 3, {"--text"}), "garbage",
                 "line 1 ends before all words of its row");
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

TEST_F(Verify, an_endless_trickle_behind_the_last_row_is_ended) {
  const auto start = std::chrono::steady_clock::now();
  const json verdict = exec(kSame, "cat; while :; do printf a; sleep 0.02; done", 1, {"--timeout", "0.5"});
  expect_finding(verdict, "extra output", "more than the 256 rows");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Verify, a_time_out_is_a_number_of_seconds) {
  for (const std::string seconds : {"nan", "inf", "-1", "0", "x"})
    EXPECT_EQ(command::run({"verify", kSame, "--exec", "cat", "--timeout", seconds}).status, 2) << seconds;
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

}  // namespace
