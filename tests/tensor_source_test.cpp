// One way into every tensor file: names, extensions, types, shapes, and memory that does not grow with the
// file.
#include "halfulp/tensors/source.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <thread>
#include <vector>

#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

using Shape = std::vector<std::uint64_t>;

TEST(TensorName, TheMemberStandsBehindTheExtension) {
  const struct {
    const char *text, *path, *member;
  } table[] = {
      {"a.npy", "a.npy", nullptr},
      {"a.npz:w", "a.npz", "w"},
      {"a.npz", "a.npz", nullptr},
      {"a.npz:", "a.npz", ""},
      {"d:1/a.safetensors:model.layers.0:w", "d:1/a.safetensors", "model.layers.0:w"},
      {"a.npz:b.safetensors:c", "a.npz", "b.safetensors:c"},
      {"a.safetensors:x.npz:c", "a.safetensors", "x.npz:c"},
      {"a:b.bin", "a:b.bin", nullptr},
  };
  for (const auto& row : table) {
    const TensorName name = parse_tensor_name(row.text);
    EXPECT_EQ(name.path, row.path);
    EXPECT_EQ(name.member, row.member == nullptr ? std::nullopt : std::optional<std::string>(row.member))
        << row.text;
  }
}

TEST(Shape, IsReadFromText) {
  EXPECT_EQ(parse_shape("4096"), (Shape{4096}));
  EXPECT_EQ(parse_shape("2x3,4"), (Shape{2, 3, 4}));
  EXPECT_EQ(parse_shape("()"), Shape{});
  for (const char* text :
       {"", "x", "2x", ",2", "-1", "2 x 3", "9223372036854775808", "99999999999999999999", "2x3)", "1e3"}) {
    EXPECT_TRUE(contains(message_of([&] { parse_shape(text); }), "no list of dimensions")) << text;
  }
  EXPECT_EQ(element_count(Shape{1ull << 32, 1ull << 31}), std::nullopt);
  EXPECT_EQ(element_count(Shape{1ull << 32, (1ull << 31) - 1}), (1ull << 32) * ((1ull << 31) - 1));
  EXPECT_EQ(element_count(Shape{1ull << 62, 1ull << 62, 0}), 0u);
  EXPECT_EQ(element_count(Shape{}), 1u);
}

TEST(TensorSource, EveryKindOfFileGivesTheSameElements) {
  const TemporaryFolder folder;
  const std::string data = le(0x3f800000, 4) + le(0x40000000, 4);
  const auto bytes = std::as_bytes(std::span(data));
  const NpyHeader header{"<f4", false, {2, 1}};
  write_bytes(folder / "x.bin", data);
  NpyWriter npy(folder / "x.npy", header);
  npy.write(bytes);
  npy.commit();
  NpzWriter npz(folder / "x.npz");
  for (const char* name : {"w", "v"}) {
    npz.begin(name, header);
    npz.write(bytes);
  }
  npz.commit();
  SafetensorsWriter safetensors(folder / "x.safetensors", std::vector<TensorPlan>{{"a.w", "F32", {2, 1}}});
  safetensors.write("a.w", bytes);
  safetensors.commit();
  for (const char* name : {"x.npy", "x.npz:w", "x.safetensors:a.w", "x.safetensors"}) {
    const TensorSource source = open_tensor(folder / name);
    EXPECT_EQ(source.type().name, "f32") << name;
    EXPECT_EQ(source.tensor().shape, (Shape{2, 1})) << name;
    EXPECT_EQ(all(source), (std::vector<std::uint64_t>{0x3f800000, 0x40000000})) << name;
    EXPECT_EQ(open_tensor(folder / name, {.dtype = "tf32", .shape = Shape{2, 1}}).type().name, "tf32");
    EXPECT_TRUE(contains(message_of([&] { open_tensor(folder / name, {.dtype = {}, .shape = Shape{2}}); }),
                         "its shape is 2 x 1, not 2"));
  }
  EXPECT_EQ(all(open_tensor(folder / "x.bin", {.dtype = "f32", .shape = Shape{2}})),
            (std::vector<std::uint64_t>{0x3f800000, 0x40000000}));
  EXPECT_EQ(all(open_tensor(folder / "x.bin", {.dtype = "fp64", .shape = Shape{}})).size(), 1u);
  EXPECT_EQ(list_tensors(folder / "x.npz").size(), 2u);
  EXPECT_EQ(list_tensors(folder / "x.npz")[1].name, "v");
  EXPECT_EQ(list_tensors(folder / "x.npy").at(0).shape, (Shape{2, 1}));
  EXPECT_EQ(list_tensors(folder / "x.safetensors").at(0).name, "a.w");

  const struct {
    const char* name;
    OpenOptions options;
    const char* part;
  } wrong[] = {
      {"x.npz", {}, "it holds 2 tensors; name one as"},
      {"x.npz:u", {}, "has none of that name"},
      {"x.safetensors:a.v", {}, "the nearest is a.w"},
      {"x.bin", {}, "a raw file says neither type nor shape"},
      {"x.bin",
       {.dtype = "f32", .shape = Shape{3}},
       "byte 8: the file ends here, and 3 elements of f32 take 12 bytes"},
      {"x.bin", {.dtype = "f32", .shape = Shape{1}}, "take 4 bytes"},
      {"x.bin", {.dtype = "f32", .shape = Shape{1ull << 40, 1ull << 40}}, "more than 2^63 - 1 bytes"},
      {"x.bin", {.dtype = "f33", .shape = Shape{2}}, "f32"},
      {"x.pt", {}, "its extension says no tensor format"},
      {"no.npy", {}, "it cannot be read (No such file or directory)"},
      {"x.npy", {.dtype = "e4m3", .shape = {}}, "name a type of that size"},
  };
  for (const auto& row : wrong) {
    const std::string text = message_of([&] { open_tensor(folder / row.name, row.options); });
    EXPECT_TRUE(contains(text, row.part)) << row.name << ": " << text;
  }
  std::filesystem::create_directory(folder / "d.npy");
  EXPECT_TRUE(contains(message_of([&] { open_tensor(folder / "d.npy"); }), "it is a folder"));
}

TEST(TensorSource, AFileThatIsCutWhileItIsReadGivesAnError) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.bin";
  write_bytes(path, std::string(100'000, '\0'));
  const TensorSource source = open_tensor(path, {.dtype = "uint8", .shape = Shape{100'000}});
  std::filesystem::resize_file(path, 10);
  EXPECT_TRUE(contains(message_of([&] { all(source); }), "became shorter while it was read"));
}

TEST(TensorSource, ManyThreadsReadOneFile) {
  const TemporaryFolder folder;
  std::string data;
  for (std::uint64_t i = 0; i < 40'000; ++i) data += le(i, 2);
  write_bytes(folder / "x.bin", data);
  const TensorSource source = open_tensor(folder / "x.bin", {.dtype = "uint16", .shape = Shape{40'000}});
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::uint16_t> words(100);
      for (std::uint64_t first = t * 100; first < source.size(); first += 400) {
        source.read<std::uint16_t>(first, words);
        for (std::size_t i = 0; i < words.size(); ++i) wrong[t] += words[i] != first + i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(TensorSource, AGibibyteIsReadInAFewMebibytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  constexpr std::uint64_t rows = 1 << 14, columns = 1 << 15;
  const std::string header = npy_header_text({"<u2", false, {rows, columns}});
  write_bytes(path, header);
  std::filesystem::resize_file(path, header.size() + rows * columns * 2);  // sparse: no space is used
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const TensorSource source = open_tensor(path);
  EXPECT_EQ(source.tensor().length, 1u << 30);
  std::vector<std::uint16_t> words(1 << 20);
  for (std::uint64_t first = 0; first < source.size(); first += 16 * words.size())
    source.read<std::uint16_t>(first, words);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

}  // namespace
}  // namespace halfulp::tensors
