// Recipe packs on disk: what is written is read back; what lies under a true hash is refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "halfulp/error.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_pack.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"
#include "temporary_folder.hpp"

namespace halfulp::vectors {
namespace {

using halfulp::test::TemporaryFolder;

void write(const RowSource& source, const std::string& path) {
  const auto writer = write_pack(path, source.manifest());
  write_rows(source, *writer);
  writer->commit();
}

TEST(RecipePacks, WrittenAndReadBack) {
  const TemporaryFolder folder;
  for (const char* spec : {"recipe:nvfp4/torchao,rows=20,packing=low_first",
                           "recipe:mxfp8/rceil,rows=20,task=dequantize,layout=128x4"}) {
    const RecipePlan plan = parse_recipe_spec(spec);
    const std::string path = folder / std::string(name_of(plan.task));
    write(*recipe_rows(plan, Level::stratified, 3, 2), path);
    const RecipePack pack = read_recipe_pack(*read_pack(path));
    EXPECT_EQ(spec_text(pack.plan), spec_text(plan));
    EXPECT_EQ(pack.rows.rows.size(), 20u);
    EXPECT_TRUE(verify_rows(pack.plan, pack.rows, recipe_kernel(pack.plan, "halfulp")).passed());
    const RecipeRows level = level_rows(plan, Level::stratified, 3);
    for (std::size_t i = 0; i < level.rows.size(); ++i)
      EXPECT_EQ(pack.rows.rows[i].flags, level.rows[i].flags) << i;
  }
}

using Columns = std::vector<std::vector<std::byte>>;

/// A pack that says one thing and holds another, and the error of reading it.
struct Lie {
  const char* what;
  void (*tell)(Manifest& manifest, Columns& columns);
  const char* message;
};

/// The error of reading what `source` gives after `tell` changed it; hashes are right.
std::string error_of_lie(const RowSource& source, const Lie& lie) {
  const TemporaryFolder folder;
  Manifest manifest = source.manifest();
  Columns bytes;
  std::vector<std::span<std::byte>> spans;
  for (const ColumnInfo& info : manifest.columns) bytes.emplace_back(info.row_bytes() * manifest.rows);
  for (auto& one : bytes) spans.emplace_back(one);
  source.fill(0, manifest.rows, spans);
  lie.tell(manifest, bytes);
  const auto writer = write_pack(folder / "a", manifest);
  for (std::size_t i = 0; i < bytes.size(); ++i) writer->write(i, bytes[i]);
  writer->commit();
  try {
    read_recipe_pack(*read_pack(folder / "a"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// Takes the rows from `first` on away, as many as `count`.
void drop_rows(Manifest& m, Columns& columns, std::uint64_t first, std::uint64_t count) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto bytes = static_cast<std::ptrdiff_t>(m.columns[i].row_bytes());
    const auto begin = columns[i].begin() + static_cast<std::ptrdiff_t>(first) * bytes;
    columns[i].erase(begin, begin + static_cast<std::ptrdiff_t>(count) * bytes);
    m.columns[i].shape[0] -= count;
  }
  m.rows -= count;
}

// Columns: scale, code, value (expected), flags.
const Lie kLies[] = {
    {"nothing", [](Manifest&, Columns&) {}, "accepted"},
    {"expected", [](Manifest&, Columns& c) { c[2][1] ^= std::byte{4}; }, "not what this version computes"},
    {"a wide code", [](Manifest&, Columns& c) { c[1][1] ^= std::byte{0x40}; }, "has bits that its format has not"},
    {"shape",
     [](Manifest& m, Columns&) { m.spec = "recipe:mxfp4/ocp_floor,task=dequantize,shape=4x64"; },
     "shape and format"},
    {"recipe", [](Manifest& m, Columns&) { m.spec = "recipe:mxfp4/ocp_flor"; }, "nearest names"},
    {"exhaustive rows", [](Manifest& m, Columns&) { m.completeness = Completeness::exhaustive; },
     "claims to be exhaustive, and rows of a recipe are no more than sampled"},
    {"complete rows", [](Manifest& m, Columns&) { m.completeness = Completeness::complete_for_monotone; },
     "claims to be complete_for_monotone"},
    {"the level exhaustive", [](Manifest& m, Columns&) { m.level = Level::exhaustive; },
     "cannot be enumerated"},
    {"another level", [](Manifest& m, Columns&) { m.level = Level::specials; },
     "claims to be of level specials with seed 0"},
    {"refused rows", [](Manifest& m, Columns&) { m.refused = 3; },
     "refuses 3 rows of its level, and it refuses 0"},
    {"a row less", [](Manifest& m, Columns& c) { drop_rows(m, c, 2, 1); }, "its row 2 is not the one there"},
    {"the last rows less", [](Manifest& m, Columns& c) { drop_rows(m, c, 4, 2); },
     "its row 4 is not the one there"},
    {"flags", [](Manifest&, Columns& c) { c[3][4] ^= std::byte{1}; }, "row 1: its flags"},
};

TEST(RecipePacks, LiesAreRefused) {
  const auto source =
      recipe_rows(parse_recipe_spec("recipe:mxfp4/ocp_floor,rows=6,task=dequantize"), Level::stratified, 0, 1);
  for (const Lie& lie : kLies) {
    const std::string error = error_of_lie(*source, lie);
    EXPECT_NE(error.find(lie.message), std::string::npos) << lie.what << ": " << error;
  }
  // Tensors are drawn by the seed.
  const auto drawn = recipe_rows(parse_recipe_spec("recipe:mxfp4/ocp_floor,rows=6"), Level::stratified, 0, 1);
  const std::string error = error_of_lie(*drawn, {"", [](Manifest& m, Columns&) { m.seed = 1; }, ""});
  EXPECT_NE(error.find("seed 1, and its row"), std::string::npos) << error;
}

}  // namespace
}  // namespace halfulp::vectors
