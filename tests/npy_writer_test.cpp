// .npy files written: whole or not at all, and with the bytes of numpy.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halfulp/tensors/npy.hpp"
#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

TEST(NpyWriter, AFileAppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy", data(8, '\1');
  const auto bytes = std::as_bytes(std::span(data));
  {
    NpyWriter writer(path, {"<u4", false, {2}});
    writer.write(bytes.first(5));
    EXPECT_TRUE(contains(message_of([&] { writer.commit(); }), "3 bytes of the array are missing"));
    EXPECT_TRUE(contains(message_of([&] { writer.write(bytes.first(4)); }), "more elements come"));
  }
  EXPECT_EQ(folder.files(), 0u);
  NpyWriter writer(path, {"<u4", false, {2}});
  writer.write(bytes.first(5));
  writer.write(bytes.subspan(5));
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.commit();
  EXPECT_EQ(all(open_npy(open_file(path))), (std::vector<std::uint64_t>{0x01010101, 0x01010101}));
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_TRUE(contains(message_of([&] {
                         NpyWriter(folder / "no/x.npy", {"<u4", false, {2}});
                       }),
                       "cannot be written"));
  EXPECT_TRUE(contains(message_of([&] {
                         NpyWriter(folder / "y.npy", {">u4", false, {2}});
                       }),
                       "are not written"));
  EXPECT_TRUE(contains(message_of([&] {
                         NpyWriter(folder / "y.npy", {"<u4", false, {1ull << 40, 1ull << 40}});
                       }),
                       "overflows"));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(NpyWriter, GivesTheBytesOfNumpy) {
  const TemporaryFolder folder;
  HALFULP_PYTHON_OR_SKIP(folder, "numpy", R"(
import numpy, sys
def save(name, a): numpy.save(sys.argv[1] + name, a)
save('a.npy', numpy.arange(6, dtype='<f4').reshape(2, 3))
save('b.npy', numpy.arange(6, dtype='<f8').reshape(3, 2).T)
save('c.npy', numpy.array(7, dtype='u1'))
save('d.npy', numpy.zeros((0, 12345), dtype='i8'))
save('e.npy', numpy.arange(100, dtype='u2'))
save('f.npy', numpy.zeros([1] * 64, dtype='i1'))
save('g.npy', numpy.array([True, False]))
save('h.npy', numpy.arange(24, dtype='>i4').reshape(2, 3, 4, order='F'))
)");
  const auto written = [&](const char* like, const NpyHeader& header) {
    const std::string theirs = read_bytes(folder / like);
    const NpyHeader read = read_npy_header(*source_of(theirs));
    EXPECT_EQ(read.shape, header.shape);
    EXPECT_EQ(theirs.substr(0, read.data_offset), npy_header_text(header)) << like;
  };
  written("a.npy", {"<f4", false, {2, 3}});
  written("b.npy", {"<f8", true, {2, 3}});
  written("c.npy", {"|u1", false, {}});
  written("d.npy", {"<i8", false, {0, 12345}});
  written("e.npy", {"<u2", false, {100}});
  written("f.npy", {"|i1", false, std::vector<std::uint64_t>(64, 1)});
  written("g.npy", {"|b1", false, {2}});
  const TensorSource swapped = open_npy(open_file(folder / "h.npy"));
  std::vector<std::uint64_t> numbers(24);
  swapped.read<std::uint64_t>(0,
                              numbers);  // numpy reshaped in Fortran order: index (i, j, k) is i + 2j + 6k
  EXPECT_EQ(numbers[1], 6u);
  EXPECT_EQ(numbers[12], 1u);
}

TEST(NpyWriter, NamesTypesAsNumpyAndMlDtypesDo) {
  EXPECT_EQ(npy_descr(element_type("f32")), "<f4");
  EXPECT_EQ(npy_descr(element_type("bool")), "|b1");
  EXPECT_EQ(npy_descr(element_type("e4m3")), "|u1");
  EXPECT_EQ(npy_descr(element_type("bf16")), "<u2");
  EXPECT_EQ(npy_descr(element_type("tf32")), "<u4");
  EXPECT_EQ(npy_descr(element_type("e4m3"), true), "<V1");
  EXPECT_EQ(npy_descr(element_type("e5m2"), true), "<f1");
  EXPECT_EQ(npy_descr(element_type("bf16"), true), "<V2");
  EXPECT_EQ(npy_descr(element_type("int64"), true), "<i8");
}

}  // namespace
}  // namespace halfulp::tensors
