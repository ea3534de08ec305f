// The golden packs of vectors/golden: written again from list.txt they have the bytes that are committed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "halfulp/attention/presets.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/vectors/pack/rows.hpp"
#include "halfulp/vectors/sha256.hpp"
#include "tensor_files.hpp"

namespace halfulp::vectors {
namespace {

namespace fs = std::filesystem;
using tensors::read_bytes;
using tensors::TemporaryFolder;

const std::string kGolden = std::string(HALFULP_SOURCE_DIR) + "/vectors/golden/";

struct Entry {
  std::string name, spec, level;
  std::uint64_t seed = 0;
};

std::vector<Entry> entries() {
  std::vector<Entry> list;
  std::ifstream file(kGolden + "list.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Entry entry;
    std::string more;
    EXPECT_TRUE(words >> entry.name >> entry.spec >> entry.level >> entry.seed && !(words >> more)) << line;
    list.push_back(entry);
  }
  return list;
}

std::string sha256(const std::string& bytes) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.hex();
}

/// Writes the pack of an entry into the folder and compares it with the one that is kept.
void expect_written_again(const Entry& entry, const TemporaryFolder& folder, const std::string& how) {
  const auto level = value_named<Level>(entry.level);
  ASSERT_TRUE(level.has_value()) << entry.name << " " << entry.level;
  const auto rows = rows_of_spec(entry.spec, level, entry.seed);
  const std::string made = folder / (entry.name + ".npz"), kept = kGolden + entry.name + ".npz";
  const auto writer = write_pack(made, rows->manifest());
  write_rows(*rows, *writer);
  writer->commit();
  EXPECT_EQ(sha256(read_bytes(made)), sha256(read_bytes(kept)))
      << kept << " differs from what `halfulp gen " << entry.spec << " --level " << entry.level << " --seed "
      << entry.seed << "` writes" << how;
  fs::remove(made);
}

TEST(Golden, EveryListedPackIsWrittenAgainBitForBit) {
  const std::vector<Entry> list = entries();
  ASSERT_GE(list.size(), 40u);
  const TemporaryFolder folder;
  for (const Entry& entry : list) {
    expect_written_again(entry, folder, "");
    const std::string kept = kGolden + entry.name + ".npz";
    EXPECT_EQ(tensors::message_of([&] { read_pack(kept, Hashes::checked); }), "accepted") << kept;
  }
}

TEST(Golden, AttentionPacksAreTheSameAtEverySimdLevel) {
  const TemporaryFolder folder;
  const std::string own(simd_level());
  std::size_t packs = 0;
  for (const std::string_view level : simd_targets()) {
    ASSERT_TRUE(set_simd_level(level));
    for (const Entry& entry : entries()) {
      if (!entry.spec.starts_with("attention:")) continue;
      expect_written_again(entry, folder, " at " + std::string(level));
      ++packs;
    }
  }
  EXPECT_TRUE(set_simd_level(own));
  EXPECT_EQ(packs, attention::presets().size() * simd_targets().size());
}

TEST(Golden, TheListNamesEveryPackOnceAndNothingElseLiesThere) {
  std::set<std::string> names = {"list.txt"};
  for (const Entry& entry : entries()) EXPECT_TRUE(names.insert(entry.name + ".npz").second) << entry.name;
  std::set<std::string> files;
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(kGolden)) {
    files.insert(file.path().filename().string());
    bytes += file.file_size();
  }
  EXPECT_EQ(files, names);
  EXPECT_LT(bytes, std::uintmax_t{5} << 20);
}

}  // namespace
}  // namespace halfulp::vectors
