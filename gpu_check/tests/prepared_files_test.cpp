// One changed byte of any prepared file: an error that names the file, wherever the byte is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/report.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

namespace fs = std::filesystem;

/// A folder as gpu_check_prepare writes it, made once.
const std::string& data_folder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "halfulp_prepared_" + std::to_string(::getpid());
    prepare_casts(path);
    prepare_mma(path, HALFULP_SOURCE_DIR "/tests/data/mma_hardware", 1);
    prepare_mufu(path);
    prepare_attention(path);
    prepare_libraries(path);
    return path;
  }();
  return folder;
}
class Cleanup : public ::testing::Environment {
  void TearDown() override { fs::remove_all(data_folder()); }
};
[[maybe_unused]] const auto* const kCleanup = ::testing::AddGlobalTestEnvironment(new Cleanup);

std::vector<std::string> all_files() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_folder())) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  return paths;
}

/// Changes one byte of a file for as long as it lives.
class Damage {
 public:
  Damage(const std::string& path, std::size_t at, int bits) : path_(path), before_(read_text(path)) {
    std::string changed = before_;
    changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ bits);
    write_whole_file(path_, changed);
  }
  ~Damage() { write_whole_file(path_, before_); }

 private:
  std::string path_, before_;
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

StepReport judge() { return run_data({data_folder(), "", true, find_device()}); }

TEST(PreparedFiles, UndamagedOnesPassAndAllAreCounted) {
  const StepReport report = judge();
  std::uint64_t files = 0;
  for (const ResultRow& row : report.rows) {
    EXPECT_EQ(row.status, Status::passed) << text_of(report);
    files += row.inputs;
  }
  EXPECT_EQ(files, all_files().size());
  EXPECT_GE(files, 90u);
}

TEST(PreparedFiles, AChangedByteOfAnyFileIsNamed) {
  std::uint64_t random = 1;
  for (const std::string& path : all_files()) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const Damage damage(path, static_cast<std::size_t>(random >> 32) % fs::file_size(path), 1 << (random >> 29 & 7));
    const StepReport report = judge();
    EXPECT_EQ(exit_status(report), kExitFailed) << path;
    std::vector<std::string> named;
    for (const ResultRow& row : report.rows) named.insert(named.end(), row.first.begin(), row.first.end());
    ASSERT_EQ(named.size(), 1u) << path;
    EXPECT_EQ(named[0].find(path + " is damaged or cut off"), 0u) << named[0];
  }
}

/// The readers of the steps refuse too: every byte of one small file of each kind, and some of a large one.
TEST(PreparedFiles, NoReaderTakesADamagedFile) {
  const MmaKind& kind = kind_of(MmaInstruction::e4m3_f32);
  const std::string tiles = tiles_path(data_folder(), kind, 1), table = table_name(kCastCases[0], 0), attention = attention_path(data_folder(), "kivi 2 bits");
  struct Kind {
    std::string path;
    std::function<void()> read;
  };
  const Kind kinds[] = {{data_folder() + "/casts/" + table + ".txt", [&] { read_cast_table(data_folder(), table); }},
                        {tiles + ".txt", [&] { read_tiles(tiles, kind); }},
                        {tiles + ".bin", [&] { read_tiles(tiles, kind); }},
                        {data_folder() + "/mufu/exp2_table.bin", [&] { read_words(data_folder() + "/mufu/exp2_table.bin"); }},
                        {data_folder() + "/libraries/problems.txt", [&] { read_gemm_problems(data_folder()); }},
                        {data_folder() + "/libraries/gemm_1.txt", [&] { read_gemm_problems(data_folder()); }},
                        {data_folder() + "/libraries/gemm_5.bin", [&] { read_gemm_problems(data_folder()); }},
                        {attention, [&] { read_attention_file(attention); }}};
  for (const Kind& each : kinds) {
    EXPECT_EQ(error_of(each.read), "none") << each.path;
    const std::size_t size = fs::file_size(each.path), step = std::max<std::size_t>(1, size / 97);
    std::set<std::size_t> places = {0, size - 1, size - 20};
    for (std::size_t at = 0; at < size; at += step) places.insert(at);
    for (const std::size_t at : places) {
      const Damage damage(each.path, at, 0x10);
      EXPECT_EQ(error_of(each.read).find(each.path + " is damaged or cut off"), 0u) << each.path << " at " << at;
    }
  }
}

TEST(PreparedFiles, CutOffAndForeignFilesAreRefused) {
  const std::string path = data_folder() + "/mufu/exp2_table.bin", before = read_text(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, before.size() - 26, before.size() - 1}) {
    fs::resize_file(path, size);
    EXPECT_EQ(error_of([&] { read_words(path); }).find(path + " is damaged or cut off"), 0u) << size;
    write_whole_file(path, before);
  }
  write_whole_file(path, before + "x");
  EXPECT_NE(error_of([&] { read_words(path); }), "none");
  write_whole_file(path, before);
}

TEST(PreparedFiles, AMissingFolderIsNamed) {
  const StepReport report = run_data({data_folder() + "/none", "", true, find_device()});
  EXPECT_EQ(exit_status(report), kExitFailed);
  EXPECT_NE(report.rows[0].first[0].find("/none/casts; make them with gpu_check_prepare"), std::string::npos) << report.rows[0].first[0];
}

}  // namespace
}  // namespace halfulp::gpu
