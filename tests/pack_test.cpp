// Packs: written and read in every container, the same bytes each time.
#include <gtest/gtest.h>

#include <filesystem>

#include "small_pack.hpp"

namespace halfulp::vectors {
namespace {

using tensors::python;
using tensors::run_python;
namespace fs = std::filesystem;

TEST(Pack, WhatIsWrittenIsReadBackInEveryContainer) {
  const TemporaryFolder folder;
  for (const char* name : {"folder", "a.npz", "a.safetensors"}) {
    const std::string path = write_cast(folder / name);
    EXPECT_TRUE(is_pack(path));
    for (const Hashes hashes : {Hashes::trusted, Hashes::checked}) {
      const auto pack = read_pack(path, hashes);
      const Manifest &got = pack->manifest(), want = cast_manifest();
      EXPECT_EQ(got.generator, want.generator);
      EXPECT_EQ(got.kind, want.kind);
      EXPECT_EQ(got.spec, want.spec);
      EXPECT_EQ(got.details, want.details);
      EXPECT_EQ(got.seed, want.seed);
      EXPECT_EQ(got.level, want.level);
      EXPECT_EQ(got.completeness, want.completeness);
      EXPECT_EQ(got.rows, want.rows);
      EXPECT_EQ(got.refused, want.refused);
      ASSERT_EQ(got.columns.size(), want.columns.size());
      for (std::size_t i = 0; i < want.columns.size(); ++i) {
        EXPECT_EQ(got.columns[i].name, want.columns[i].name);
        EXPECT_EQ(got.columns[i].role, want.columns[i].role);
        EXPECT_EQ(got.columns[i].format, want.columns[i].format);
        EXPECT_EQ(got.columns[i].shape, want.columns[i].shape);
        EXPECT_EQ(text(pack->column(i)), *kColumns[i]) << name << " " << got.columns[i].name;
      }
      ASSERT_EQ(got.flags.size(), 2u);
      EXPECT_EQ(got.flags[0].goes_wrong, "rounds \"away\"\n");
      EXPECT_EQ(got.find("status"), &got.columns[4]);
      EXPECT_EQ(got.find("nothing"), nullptr);
    }
  }
  EXPECT_EQ(folder.files(), 3u);
  EXPECT_FALSE(is_pack("cast:f32:e4m3"));
  EXPECT_FALSE(is_pack(folder / "none"));
}

TEST(Pack, TheManifestIsTheSameTextAfterReading) {
  const TemporaryFolder folder;
  write_cast(folder / "a");
  const std::string text = read_bytes(folder / "a/manifest.json");
  EXPECT_EQ(manifest_text(parse_manifest(text, "a")), text);
  EXPECT_TRUE(contains(text, "\"seed\": 18446744073709551615"));
}

TEST(Pack, TheSamePackHasTheSameBytes) {
  const TemporaryFolder folder;
  for (const char* file : {"manifest.json", "input.bin", "flags.bin"}) {
    const std::string one = write_cast(folder / (std::string("one") + file)),
                      two = write_cast(folder / (std::string("two") + file));
    EXPECT_EQ(read_bytes(one + "/" + file), read_bytes(two + "/" + file));
  }
  for (const char* ending : {".npz", ".safetensors"}) {
    EXPECT_EQ(read_bytes(write_cast(folder / (std::string("one") + ending))),
              read_bytes(write_cast(folder / (std::string("two") + ending))));
  }
}

TEST(Pack, ItAppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  for (const char* name : {"folder", "a.npz", "a.safetensors"}) {
    {
      const auto writer = write_pack(folder / name, cast_manifest());
      writer->write(0, std::as_bytes(std::span(kInput)));
      EXPECT_TRUE(contains(message_of([&] { writer->write(0, std::as_bytes(std::span(kInput))); }),
                           "more bytes come"));
    }
    const auto writer = write_pack(folder / name, cast_manifest());
    writer->write(0, std::as_bytes(std::span(kInput)));
    writer->write(1, std::as_bytes(std::span(kExpected)).first(2));
    EXPECT_TRUE(contains(message_of([&] { writer->commit(); }), "bytes of it are missing")) << name;
    EXPECT_FALSE(fs::exists(folder / name));
  }
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_TRUE(contains(message_of([&] { write_pack(folder / "no/such/folder", cast_manifest()); }),
                       "cannot be made"));
  write_bytes(folder / "file", "x");
  EXPECT_TRUE(contains(message_of([&] { write_pack(folder / "file", cast_manifest()); }), "exists"));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Pack, AFileBesideTheColumnsComesAlong) {
  const TemporaryFolder folder;
  const auto writer = write_pack(folder / "a/", cast_manifest());
  write_columns(*writer);
  const std::string staged = writer->stage();
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_EQ(read_pack(staged)->manifest().rows, 3u);
  write_bytes(staged + "/more.txt", "more");
  writer->commit();
  EXPECT_EQ(read_bytes(folder / "a/more.txt"), "more");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Pack, AWriterRefusesAManifestThatNoReaderWouldTake) {
  const TemporaryFolder folder;
  const auto refused = [&](auto change) {
    Manifest m = cast_manifest();
    change(m);
    return message_of([&] { write_pack(folder / "a", m); });
  };
  EXPECT_TRUE(contains(refused([](Manifest& m) { m.columns[0].name = "../x"; }), "a name is"));
  EXPECT_TRUE(contains(refused([](Manifest& m) { m.columns[1].shape = {4}; }), "4 rows"));
  EXPECT_TRUE(contains(refused([](Manifest& m) {
                         m.flags.resize(33, {"x", "", "", ""});
                       }),
                       "more than 32 flags"));
  EXPECT_TRUE(contains(refused([](Manifest& m) { m.columns.pop_back(), m.columns.pop_back(); }),
                       "flags and their column"));
  EXPECT_TRUE(contains(refused([](Manifest& m) {
                         m.columns[2].shape = {3, 2};
                       }),
                       "expected column of its name"));
  EXPECT_TRUE(
      contains(refused([](Manifest& m) { m.columns[0].role = Role::expected; }), "a column of inputs"));
  EXPECT_TRUE(contains(refused([](Manifest& m) {
                         m.columns[3].format = "uint8", m.flags.resize(9, {"x", "", "", ""});
                       }),
                       "twice"));
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Pack, NumpyReadsAnArchiveAndADeflatedOneIsReadBack) {
  const TemporaryFolder folder;
  write_cast(folder / "a.npz");
  HALFULP_PYTHON_OR_SKIP(folder, "numpy", R"(
import numpy, json
f = sys.argv[1]
a = numpy.load(f + 'a.npz')
m = json.loads(a['manifest'].tobytes())
assert m['spec'] == 'cast:f32:e4m3' and m['rows'] == 3, m
assert a['input'].dtype == numpy.dtype('<u4') and a['expected'].tolist() == [16, 32, 48]
numpy.savez_compressed(f + 'deflated.npz', **a)
numpy.savez(f + 'other.npz', x=a['input'])
numpy.savez(f + 'signed.npz', **{**a, 'expected': a['expected'].astype('i1')})
)");
  const auto pack = read_pack(folder / "deflated.npz");
  EXPECT_EQ(text(pack->column(0)), kInput);
  EXPECT_EQ(text(pack->column(4)), kStatus);
  EXPECT_TRUE(contains(error_of_reading(folder / "other.npz"), "it has no array 'manifest'"));
  EXPECT_TRUE(contains(error_of_reading(folder / "signed.npz"), "little-endian unsigned words"));
}

}  // namespace
}  // namespace halfulp::vectors
