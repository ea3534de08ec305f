// Signals from outside while files are written or a command of the user's runs: nothing half-written stays, and no
// process goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using command::Process;
using command::Result;
using Folder = halfulp::test::TemporaryFolder;
using std::chrono::steady_clock;

const int kSignals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

/// Waits until it holds, 20 s at most.
bool comes(const std::function<bool()>& holds) {
  for (const auto end = steady_clock::now() + std::chrono::seconds(20); steady_clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return holds();
}

/// The names of all files in a folder, and in the folders there.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

bool runs(int pid) {
  if (kill(pid, 0) != 0) return false;
  // A zombie whose parent is gone for good is no process that goes on.
  const std::string state = halfulp::test::read_bytes("/proc/" + std::to_string(pid) + "/stat");
  const auto behind = state.rfind(')');
  return behind != std::string::npos && state[behind + 2] != 'Z';
}

TEST(Signals, gen_leaves_nothing) {
  for (const int signal : kSignals) {
    const Folder folder;
    Process gen({"gen", "cast:f32:e4m3", "--level", "exhaustive", "-o", folder / "a"});  // 2^32 rows
    ASSERT_TRUE(comes([&] { return folder.files() > 0; }));
    gen.send_signal(signal);
    EXPECT_EQ(gen.finish({}).status, 128 + signal);
    EXPECT_EQ(folder.files(), 0u) << strsignal(signal);
  }
}

TEST(Signals, verify_kills_the_command_that_it_runs) {
  for (const int signal : kSignals) {
    const Folder folder;
    const std::string pid_file = folder / "pid";
    // The shell writes its own number, then runs a child of its own, both of which must go.
    Process verify({"verify", "cast:f32:e4m3", "--exec", "sleep 600 & echo $$ $! > " + pid_file + "; wait", "--report",
                    folder / "report.html"});
    ASSERT_TRUE(comes([&] { return halfulp::test::read_bytes(pid_file).ends_with('\n'); }));
    const std::string text = halfulp::test::read_bytes(pid_file);
    const int shell = std::stoi(text), child = std::stoi(text.substr(text.find(' ')));
    ASSERT_TRUE(runs(shell) && runs(child)) << text;
    verify.send_signal(signal);
    EXPECT_EQ(verify.finish({}).status, 128 + signal);
    EXPECT_TRUE(comes([&] { return !runs(shell) && !runs(child); })) << strsignal(signal);
    EXPECT_EQ(files_of(folder / ""), std::vector<std::string>{"pid"});
  }
}

/// Sends the signal as soon as a part of the file is there; the file must come whole or not at all.
/// True when the command was stopped by the signal.
bool stopped_while_writing(const std::vector<std::string>& arguments, const Folder& folder, const std::string& target,
                           std::uintmax_t whole, int signal) {
  Process writer(arguments);
  const std::size_t before = folder.files();
  if (!comes([&] { return folder.files() > before; })) return false;
  writer.send_signal(signal);
  const int status = writer.finish({}).status;
  EXPECT_TRUE(status == 0 || status == 128 + signal) << status;
  EXPECT_LE(folder.files(), before + 1);
  for (const std::string& name : files_of(folder / "")) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
  if (fs::exists(target)) {
    EXPECT_EQ(fs::file_size(target), whole);
  }
  fs::remove(target);
  return status == 128 + signal;
}

TEST(Signals, dequantize_leaves_no_part_of_its_array) {
  const Folder folder;
  const std::size_t elements = std::size_t{1} << 21;
  halfulp::test::write_bytes(folder / "x.bin", std::string(elements * 2, '\x3c'));
  const Result made = command::run({"quantize", "-r", "kv_fp8/scale_1", "-i", folder / "x.bin", "--dtype", "bf16", "--shape",
                                    "2097152", "-o", folder / "q.npz"});
  ASSERT_EQ(made.status, 0) << made.error;
  int stopped = 0;
  for (const int signal : kSignals)
    stopped += stopped_while_writing({"dequantize", "-i", folder / "q.npz", "-o", folder / "y.npy"}, folder, folder / "y.npy",
                                     elements * 4 + 128, signal);
  EXPECT_GT(stopped, 0);  // the signal came while it wrote at least once
}

TEST(Signals, quantize_leaves_no_part_of_its_pack) {
  const Folder folder;
  halfulp::test::write_bytes(folder / "x.bin", std::string(std::size_t{1} << 24, '\x3c'));
  int stopped = 0;
  for (const int signal : {SIGINT, SIGQUIT}) {
    stopped += stopped_while_writing({"quantize", "-r", "mxfp8/rceil", "-i", folder / "x.bin", "--dtype", "bf16", "--shape",
                                      "4096x2048", "-o", folder / "y.safetensors"},
                                     folder, folder / "y.safetensors", 0, signal);
  }
  EXPECT_EQ(stopped, 2);
}

}  // namespace
