// .npz files written: whole or not at all, the same bytes each time, and those of numpy; large members in
// pieces.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halfulp/tensors/npz.hpp"
#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

NpyHeader bytes_header(std::uint64_t count) {
  return {"|u1", false, {count}};
}

TEST(NpzWriter, WhatIsWrittenIsReadAndTheSameArraysGiveTheSameBytes) {
  const TemporaryFolder folder;
  const std::string data = "hello tensor";
  std::string first[2];
  for (const ZipMethod method : {ZipMethod::stored, ZipMethod::deflate}) {
    for (int again = 0; again < 2; ++again) {
      const std::string path = folder / "x.npz";
      NpzWriter writer(path, method);
      for (const std::string name : {"w", "s\xc3\xa9"}) {
        writer.begin(name, bytes_header(data.size()));
        writer.write(std::as_bytes(std::span(data)).first(5));
        writer.write(std::as_bytes(std::span(data)).subspan(5));
      }
      writer.begin("none", bytes_header(0));
      writer.commit();
      const std::string bytes = read_bytes(path);
      std::string& before = first[method == ZipMethod::deflate];
      if (again == 0) before = bytes;
      EXPECT_EQ(bytes, before);
      const NpzFile file(open_file(path));
      EXPECT_EQ(file.names(), (std::vector<std::string>{"w", "s\xc3\xa9", "none"}));
      EXPECT_EQ(text_of(file.open("w")), data);
      EXPECT_EQ(text_of(file.open("s\xc3\xa9")), data);
      EXPECT_EQ(file.open("none").size(), 0u);
    }
  }
}

TEST(NpzWriter, AFileAppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string data = "abc";
  const auto bytes = std::as_bytes(std::span(data));
  for (const ZipMethod method : {ZipMethod::stored, ZipMethod::deflate}) {
    NpzWriter writer(folder / "x.npz", method);
    EXPECT_TRUE(contains(message_of([&] { writer.write(bytes); }), "more elements come"));
    writer.begin("a", bytes_header(4));
    writer.write(bytes);
    EXPECT_TRUE(
        contains(message_of([&] { writer.begin("b", bytes_header(1)); }), "1 bytes of it are missing"));
    EXPECT_TRUE(contains(message_of([&] { writer.commit(); }), "1 bytes of it are missing"));
    writer.write(bytes.first(1));
    EXPECT_TRUE(contains(message_of([&] { writer.begin("a", bytes_header(1)); }), "it is there already"));
    EXPECT_TRUE(contains(message_of([&] { writer.begin("c", {"|O", false, {1}}); }), "cannot be written"));
    EXPECT_TRUE(contains(message_of([&] { writer.begin("", bytes_header(1)); }), "cannot be written"));
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Npz, ADeflatedMemberTooLargeToHoldIsReadInPieces) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  constexpr std::uint64_t count = 300'000;
  std::vector<std::byte> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<std::byte>(i * i >> 9);
  NpzWriter writer(path, ZipMethod::deflate);
  for (const std::string name : {"c", "fortran"}) {
    writer.begin(name, {"|u1", name != "c", {count / 8, 8}});
    writer.write(data);
  }
  writer.commit();
  const Bytes archive = open_file(path);
  const std::vector<ZipEntry> entries = read_zip(*archive);
  const auto unheld = [&](const ZipEntry& entry) {
    return open_npy(open_zip_member(archive, entry, 100'000));
  };
  const TensorSource source = unheld(entries.at(0));
  std::vector<std::byte> words(5000);
  for (const std::uint64_t first :
       {std::uint64_t{0}, count - 5000, std::uint64_t{4000}, std::uint64_t{200'000}}) {
    source.read_words(first, words);
    for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], data[first + i]);
  }
  EXPECT_TRUE(
      contains(message_of([&] { unheld(entries.at(1)); }), "in Fortran order cannot be read in pieces"));
  EXPECT_EQ(NpzFile(archive).open("fortran").size(), count);
}

TEST(NpzWriter, GivesTheBytesOfNumpy) {
  const TemporaryFolder folder;
  HALFULP_PYTHON_OR_SKIP(folder, "numpy", R"(
import numpy, sys
a = numpy.arange(1000, dtype='<f4').reshape(10, 100)
numpy.savez(sys.argv[1] + 'stored.npz', a=a, b=numpy.array(7, dtype='u1'))
numpy.savez_compressed(sys.argv[1] + 'deflated.npz', a=a, b=numpy.asfortranarray(a))
)");
  const auto words_of = [](const TensorSource& source) {
    std::vector<std::byte> words(source.size() * static_cast<std::size_t>(source.type().word_bytes));
    source.read_words(0, words);
    return words;
  };
  const NpzFile stored(open_file(folder / "stored.npz")), deflated_file(open_file(folder / "deflated.npz"));
  const auto a = words_of(stored.open("a"));
  EXPECT_EQ(words_of(deflated_file.open("a")), a);
  EXPECT_EQ(words_of(deflated_file.open("b")), a);
  NpzWriter ours(folder / "ours.npz");
  ours.begin("a", {"<f4", false, {10, 100}});
  ours.write(a);
  ours.begin("b", {"|u1", false, {}});
  ours.write(words_of(stored.open("b")));
  ours.commit();
  EXPECT_EQ(read_bytes(folder / "ours.npz"), read_bytes(folder / "stored.npz"));
  run_python(folder, "numpy", R"(
import numpy, sys
file = numpy.load(sys.argv[1] + 'ours.npz')
assert sorted(file) == ['a', 'b'] and file['a'].shape == (10, 100) and file['a'][9, 99] == 999 and file['b'] == 7
)");
}

}  // namespace
}  // namespace halfulp::tensors
