// A changed byte of any prepared file, a missing, foreign or exchanged one, and numbers that no kernel can take: an error that names the file,
// and the cases beside it are still judged.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/file_list.hpp"
#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/report.hpp"
#include "gpu_check/steps/steps.hpp"
#include "gpu_check/words_file.hpp"

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
    write_file_list(path);
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

/// Puts a file back as it was when this ends.
class Restored {
 public:
  explicit Restored(const std::string& path) : path_(path), before_(read_text(path)) {}
  ~Restored() {
    fs::remove(path_);
    write_whole_file(path_, before_);
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  const std::string& before() const { return before_; }

 private:
  std::string path_, before_;
};

/// Changes one byte of a file for as long as it lives.
class Damage : Restored {
 public:
  Damage(const std::string& path, std::size_t at, int bits) : Restored(path) {
    std::string changed = before();
    changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ bits);
    write_whole_file(path, changed);
  }
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

StepContext context() { return {data_folder(), "", true, find_device()}; }
StepReport judge() { return run_data(context()); }

std::vector<std::string> firsts(const StepReport& report) {
  std::vector<std::string> texts;
  for (const ResultRow& row : report.rows) texts.insert(texts.end(), row.first.begin(), row.first.end());
  return texts;
}

std::size_t count(const StepReport& report, Status status) {
  std::size_t rows = 0;
  for (const ResultRow& row : report.rows) rows += row.status == status ? 1 : 0;
  return rows;
}

void read_attention(const char* name) { read_attention_file(attention_path(data_folder(), name)); }

TEST(PreparedFiles, UndamagedOnesPassAndAllAreCounted) {
  const StepReport report = judge();
  std::uint64_t files = 0;
  for (const ResultRow& row : report.rows) {
    EXPECT_EQ(row.status, Status::passed) << text_of(report);
    files += row.test == "list of files" ? 1 : row.inputs;
  }
  EXPECT_EQ(files, all_files().size());
  EXPECT_EQ(report.rows[0].inputs + 1, files);
  EXPECT_GE(files, 90u);
}

TEST(PreparedFiles, AChangedByteOfAnyFileIsNamed) {
  std::uint64_t random = 1;
  for (const std::string& path : all_files()) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const Damage damage(path, static_cast<std::size_t>(random >> 32) % fs::file_size(path), 1 << (random >> 29 & 7));
    const StepReport report = judge();
    EXPECT_EQ(exit_status(report), kExitFailed) << path;
    const std::vector<std::string> named = firsts(report);
    ASSERT_FALSE(named.empty()) << path;
    EXPECT_TRUE(named.size() == 1 || path.find("/list/") != std::string::npos) << path;
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
  const Kind kinds[] = {{data_folder() + "/casts/" + table + ".txt", [&] { read_cast_table(data_folder(), table, std::uint64_t{1} << 32); }},
                        {tiles + ".txt", [&] { read_tiles(tiles, kind); }},
                        {tiles + ".bin", [&] { read_tiles(tiles, kind); }},
                        {data_folder() + "/mufu/exp2_table.bin", [&] { read_words(data_folder() + "/mufu/exp2_table.bin"); }},
                        {data_folder() + "/libraries/problems.txt", [&] { count_gemm_problems(data_folder()); }},
                        {data_folder() + "/libraries/gemm_1.txt", [&] { read_gemm_problem(data_folder(), 1); }},
                        {data_folder() + "/libraries/gemm_5.bin", [&] { read_gemm_problem(data_folder(), 5); }},
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
  EXPECT_EQ(report.rows[0].first[0], "cannot read " + data_folder() + "/none/list/files.txt");
  EXPECT_NE(report.rows[1].first[0].find("/none/casts; make them with gpu_check_prepare"), std::string::npos) << report.rows[1].first[0];
}

/// Every file with a sibling's bytes in its place: the step `data` says which file it is.
TEST(PreparedFiles, AFileInThePlaceOfAnotherIsNamed) {
  const std::vector<std::string> paths = all_files();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string &path = paths[i], &other = paths[(i + 1) % paths.size()];
    if (path.find("/list/") != std::string::npos) continue;
    const Restored restored(path);
    fs::copy_file(other, path, fs::copy_options::overwrite_existing);
    const std::vector<std::string> named = firsts(judge());
    ASSERT_EQ(named.size(), 1u) << path;
    EXPECT_EQ(named[0].find(path + " is not what it is called: it is the file " + prepared_name(other) + ";"), 0u) << named[0];
  }
}

TEST(PreparedFiles, NoReaderTakesAnExchangedFile) {
  const MmaKind& kind = kind_of(MmaInstruction::e4m3_f32);
  const std::string libraries = data_folder() + "/libraries/gemm_";
  struct Exchange {
    std::string from, to;
    std::function<void()> read;
  };
  const Exchange exchanges[] = {
      {attention_path(data_folder(), "reference"), attention_path(data_folder(), "causal"), [] { read_attention("causal"); }},
      {attention_path(data_folder(), "reference"), attention_path(data_folder(), "sage_like"), [] { read_attention("sage_like"); }},
      {tiles_path(data_folder(), kind, 2) + ".bin", tiles_path(data_folder(), kind, 1) + ".bin", [&] { read_tiles(tiles_path(data_folder(), kind, 1), kind); }},
      {tiles_path(data_folder(), kind, 2) + ".txt", tiles_path(data_folder(), kind, 1) + ".txt", [&] { read_tiles(tiles_path(data_folder(), kind, 1), kind); }},
      {libraries + "1.txt", libraries + "2.txt", [] { read_gemm_problem(data_folder(), 2); }},
      {libraries + "1.bin", libraries + "2.bin", [] { read_gemm_problem(data_folder(), 2); }},
  };
  for (const Exchange& each : exchanges) {
    const Restored restored(each.to);
    fs::copy_file(each.from, each.to, fs::copy_options::overwrite_existing);
    EXPECT_EQ(error_of(each.read), each.to + " is not what it is called: it is the file " + prepared_name(each.from) + "; make the data again with gpu_check_prepare");
  }
}

TEST(PreparedFiles, AFileWithoutANameIsOfAnotherProgram) {
  const std::string path = data_folder() + "/libraries/problems.txt";
  const Restored restored(path);
  std::uint64_t state = 0xcbf29ce484222325;
  for (const char c : std::string("7\n")) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  write_whole_file(path, "7\nchecksum " + hex(state, 16) + "\n");
  EXPECT_NE(error_of([] { count_gemm_problems(data_folder()); }).find(path + " has no name in it: another gpu_check_prepare made it"), std::string::npos);
}

TEST(PreparedFiles, MissingForeignAndDanglingOnesAreNamed) {
  const std::string path = attention_path(data_folder(), "causal"), foreign = data_folder() + "/mma/foreign.bin";
  {
    const Restored restored(path);
    fs::remove(path);
    EXPECT_EQ(firsts(judge()), std::vector<std::string>{"cannot read " + path});
    fs::create_symlink("nowhere", path);
    EXPECT_EQ(firsts(judge()), std::vector<std::string>{"cannot read " + path});
  }
  fs::create_symlink("nowhere", foreign);
  EXPECT_EQ(firsts(judge()), std::vector<std::string>{"cannot read " + foreign});
  fs::remove(foreign);
  write_prepared(foreign, "x");
  EXPECT_EQ(firsts(judge()), std::vector<std::string>{foreign + " is not in the list of files; remove it, or make the data again with gpu_check_prepare"});
  write_whole_file(foreign, "x");
  EXPECT_NE(error_of([] { write_file_list(data_folder()); }).find(foreign + " is none of the files"), std::string::npos);
  fs::remove(foreign);
  {
    const Restored restored(path);
    AttentionFile file = read_attention_file(path);
    file.inputs["q"][0] ^= 1;
    write_attention_file(path, file);
    EXPECT_EQ(firsts(judge()), std::vector<std::string>{path + " is of another run of gpu_check_prepare than the list of files; make the data again"});
  }
  {
    const Restored restored(data_folder() + "/list/files.txt");
    fs::remove(data_folder() + "/list/files.txt");
    EXPECT_EQ(exit_status(judge()), kExitFailed);
  }
  EXPECT_EQ(exit_status(judge()), kExitPassed);
}

/// One bad file of a step: its row fails and says why, every other row is as before.
TEST(PreparedFiles, OneBadFileHidesNoOtherCase) {
  set_modelled_architecture(90);
  struct Step {
    StepReport (*run)(const StepContext&);
    std::string path;
  };
  const Step steps[] = {{run_attention, attention_path(data_folder(), "causal")},
                        {run_mma, tiles_path(data_folder(), kind_of(MmaInstruction::s8_s32), 1) + ".bin"},
                        {run_self_test, data_folder() + "/casts/f32_e4m3_cuda_satfinite.txt"},
                        {run_libraries, data_folder() + "/libraries/gemm_2.bin"}};
  for (const Step& step : steps) {
    const StepReport whole = step.run(context());
    EXPECT_EQ(count(whole, Status::failed), 0u) << text_of(whole);
    const Damage damage(step.path, 40, 1);
    const StepReport report = step.run(context());
    ASSERT_EQ(count(report, Status::failed), 1u) << text_of(report);
    EXPECT_GE(count(report, Status::passed) + count(report, Status::skipped), 1u);
    EXPECT_EQ(firsts(report)[0].find(step.path + " is damaged or cut off"), 0u) << firsts(report)[0];
    EXPECT_NE(json_of(report, find_device(), "host shim").find(step.path + " is damaged or cut off"), std::string::npos);
    EXPECT_EQ(exit_status(report), kExitFailed);
  }
  const StepReport whole = run_attention(context());
  const Damage damage(attention_path(data_folder(), "causal"), 40, 1);
  EXPECT_EQ(count(run_attention(context()), Status::passed) + 1, count(whole, Status::passed));
}

/// Right checksums and names around numbers that would divide by zero, never end, or leave an array.
TEST(PreparedFiles, NumbersThatNoKernelTakesAreRefused) {
  using Change = void (*)(AttentionFile&);
  struct Forged {
    const char *name, *text;
    Change change;
  };
  const Forged all[] = {
      {"reference", "tile is 0", [](AttentionFile& f) { f.plan.tile = 0; }},
      {"reference", "tile is 129", [](AttentionFile& f) { f.plan.tile = 129; }},
      {"reference", "qk_chunk is 0", [](AttentionFile& f) { f.plan.qk.chunk = 0; }},
      {"reference", "pv_chunk is 33", [](AttentionFile& f) { f.plan.pv.chunk = 33; }},
      {"reference", "kv_heads is 0", [](AttentionFile& f) { f.plan.kv_heads = 0; }},
      {"reference", "value_dim is 65", [](AttentionFile& f) { f.plan.value_dim = 65; }},
      {"reference", "interval is 4294967295", [](AttentionFile& f) { f.plan.interval = ~0u; }},
      {"reference", "causal is 2", [](AttentionFile& f) { f.plan.causal = 2; }},
      {"reference", "lanes is neither", [](AttentionFile& f) { f.plan.lanes = 3; }},
      {"reference", "split is no multiple", [](AttentionFile& f) { f.plan.split = f.plan.tile + 1; }},
      {"reference", "input k has 1 words, not", [](AttentionFile& f) { f.inputs["k"].resize(1); }},
      {"reference", "input sink is missing", [](AttentionFile& f) { f.inputs.erase("sink"); }},
      {"reference", "stage O has another size", [](AttentionFile& f) { f.stages["O"].pop_back(); }},
      {"paged", "an entry of pages is 4294967295", [](AttentionFile& f) { f.inputs["pages"][1] = ~0u; }},
      {"kivi 2 bits", "code_bits is 33", [](AttentionFile& f) { f.plan.code_bits = 33; }},
      {"kivi 2 bits", "code_bits divides no word", [](AttentionFile& f) { f.plan.code_bits = 3; }},
      {"kivi 2 bits", "group is 0", [](AttentionFile& f) { f.plan.group = 0; }},
      {"kivi 2 bits", "recent tokens", [](AttentionFile& f) { f.plan.residual = 1; }},
      {"kivi 2 bits", "", [](AttentionFile& f) { f.plan.code_bits = 0; }},
  };
  for (const Forged& each : all) {
    const std::string path = attention_path(data_folder(), each.name);
    const Restored restored(path);
    AttentionFile file = read_attention_file(path);
    each.change(file);
    write_attention_file(path, file);
    const std::string error = error_of([&] { read_attention(each.name); });
    EXPECT_EQ(error.find(path + ": "), 0u) << error;
    EXPECT_NE(error.find(each.text), std::string::npos) << error << ", not " << each.text;
  }
}

TEST(PreparedFiles, TablesTilesAndProductsThatCannotBeAreRefused) {
  const MmaKind& kind = kind_of(MmaInstruction::e4m3_f32);
  const std::string tiles = tiles_path(data_folder(), kind, 1), table = table_name(kCastCases[0], 0), casts = data_folder() + "/casts/" + table + ".txt",
                    index = data_folder() + "/libraries/problems.txt", product = data_folder() + "/libraries/gemm_0.txt";
  const auto cast = [&] { read_cast_table(data_folder(), table, 1000); };
  struct Forged {
    std::string path, content;
    std::function<void()> read;
  };
  const Forged all[] = {
      {casts, "halfulp-cast-table-1 999999999999 0\n0 0\n", cast},
      {casts, "halfulp-cast-table-1 3 0\n0 0\n7 1\n7 2\n", cast},
      {casts, "halfulp-cast-table-1 2 0\n0 0\n1000 1\n", cast},
      {tiles + ".txt", "halfulp-mma-tiles-1\n4294967295 0 a\n2 0 b\n", [&] { read_tiles(tiles, kind); }},
      {tiles + ".txt", "halfulp-mma-tiles-1\n1 9 a\n", [&] { read_tiles(tiles, kind); }},
      {tiles + ".txt", "halfulp-mma-tiles-1\nx\n", [&] { read_tiles(tiles, kind); }},
      {index, "4000000000\n", [] { count_gemm_problems(data_folder()); }},
      {index, "0\n", [] { count_gemm_problems(data_folder()); }},
      {product, "halfulp-gemm-1\nx\n4294967295 4294967295 4294967292 0 0\nexact\n", [] { read_gemm_problem(data_folder(), 0); }},
  };
  for (const Forged& each : all) {
    const Restored restored(each.path);
    write_prepared(each.path, each.content);
    const std::string error = error_of(each.read), base = each.path.substr(0, each.path.size() - 4);
    EXPECT_NE(error.find(base), std::string::npos) << error << " for " << each.content;
    EXPECT_EQ(error.find("damaged"), std::string::npos) << error;
  }
  EXPECT_EQ(error_of([&] { read_cast_table(data_folder(), table, std::uint64_t{1} << 32); }), "none");
}

}  // namespace
}  // namespace halfulp::gpu
