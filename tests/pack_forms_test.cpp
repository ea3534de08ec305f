// Derived forms: read back they hold the rows of the pack, other tools read them, and damage is refused.
#include <gtest/gtest.h>

#include <cstdlib>

#include "halfulp/vectors/pack/forms.hpp"
#include "halfulp/vectors/pack/rows.hpp"
#include "tensor_files.hpp"

namespace halfulp::vectors {
namespace {

using tensors::contains;
using tensors::message_of;
using tensors::python;
using tensors::read_bytes;
using tensors::run_python;
using tensors::TemporaryFolder;
using tensors::write_bytes;

constexpr Form kTextForms[] = {Form::memh, Form::c, Form::txt, Form::json};

std::unique_ptr<PackReader> pack_of(const TemporaryFolder& folder, const std::string& spec, Level level,
                                    const std::string& name = "pack") {
  const auto rows = rows_of_spec(spec, level, 0);
  const auto writer = write_pack(folder / name, rows->manifest());
  write_rows(*rows, *writer);
  writer->commit();
  return read_pack(folder / name);
}

/// Two rows of a block: several words in a row, sub-byte codes, all word sizes.
std::unique_ptr<PackReader> block_pack(const TemporaryFolder& folder) {
  Manifest m;
  m.generator = "halfulp test";
  m.kind = "recipe";
  m.spec = "recipe:some/thing,block=3";
  m.rows = 2;
  m.columns = {{"input", Role::input, "f32", {2, 3}},
               {"codes", Role::expected, "e2m1", {2, 3}},
               {"scale", Role::expected, "f16", {2}},
               {"wide", Role::expected, "int64", {2}},
               {"small", Role::expected, "int4", {2, 2}}};
  const auto writer = write_pack(folder / "block", m);
  const std::uint32_t input[] = {0x3f800000, 0x40000000, 0xc0400000, 1, 2, 0xffffffff};
  const std::uint8_t codes[] = {1, 2, 15, 0, 7, 8}, small[] = {1, 15, 8, 0};
  const std::uint16_t scale[] = {0x3c00, 0xfc00};
  const std::uint64_t wide[] = {~0ull, 42};
  writer->write(0, std::as_bytes(std::span(input)));
  writer->write(1, std::as_bytes(std::span(codes)));
  writer->write(2, std::as_bytes(std::span(scale)));
  writer->write(3, std::as_bytes(std::span(wide)));
  writer->write(4, std::as_bytes(std::span(small)));
  writer->commit();
  return read_pack(folder / "block");
}

std::string written(const TemporaryFolder& folder, Form form, const PackReader& pack, int threads = 1) {
  const std::string path = folder / ("x." + form_file(form));
  write_form(form, pack, path, threads);
  return read_bytes(path);
}

TEST(PackForms, EachFormReadBackHoldsTheRows) {
  for (const char* spec :
       {"cast:f32:e4m3", "cast:bf16:e2m1,nan=nan_to_zero", "cast:f64:tf32", "cast:f16:binary11p4se",
        "cast:e5m2:e3m2,nan=nan_to_max", "cast:f32:e5m2,rounding=to_odd,overflow=overflow", "decode:e2m1",
        "decode:int4:f16"}) {
    const TemporaryFolder folder;
    const auto pack = pack_of(folder, spec, Level::specials);
    for (const Form form : kTextForms) {
      const FormRows want = form_rows(form, *pack);
      EXPECT_EQ(want.rows, pack->manifest().rows);
      EXPECT_EQ(read_form(form, written(folder, form, *pack), "x"), want) << spec << " " << name_of(form);
    }
  }
}

TEST(PackForms, BlocksAndEveryWordSize) {
  const TemporaryFolder folder;
  const auto pack = block_pack(folder);
  for (const Form form : kTextForms) {
    const FormRows rows = read_form(form, written(folder, form, *pack), "x");
    EXPECT_EQ(rows, form_rows(form, *pack)) << name_of(form);
    EXPECT_EQ(rows.columns[0].words,
              (std::vector<std::uint64_t>{0x3f800000, 0x40000000, 0xc0400000, 1, 2, 0xffffffff}));
    EXPECT_EQ(rows.columns[3].words, (std::vector<std::uint64_t>{~0ull, 42}));
  }
  EXPECT_EQ(written(folder, Form::memh, *pack),
            "// [195:100] input:f32[3] [99:88] codes:e2m1[3] [87:72] scale:f16 [71:8] wide:int64 [7:0] "
            "small:int4[2]; "
            "recipe:some/thing,block=3; 2 rows; halfulp test\n"
            "3f80000040000000c040000012f3c00ffffffffffffffff1f\n"
            "0000000100000002ffffffff078fc00000000000000002a80\n");
  EXPECT_EQ(written(folder, Form::txt, *pack),
            "# input:f32[3] codes:e2m1[3] scale:f16 wide:int64 small:int4[2]; recipe:some/thing,block=3; 2 "
            "rows; halfulp test\n"
            "3f800000,40000000,c0400000 1,2,f 3c00 ffffffffffffffff 1,f\n"
            "00000001,00000002,ffffffff 0,7,8 fc00 000000000000002a 8,0\n");
}

TEST(PackForms, TheBytesOfSmallForms) {
  const TemporaryFolder folder;
  const auto pack = pack_of(folder, "decode:e2m1", Level::stratified);
  const std::string memh = written(folder, Form::memh, *pack);
  EXPECT_EQ(
      memh.substr(0, memh.find('\n')),
      "// [35:32] input:e2m1 [31:0] expected:f32; decode:e2m1:f32; 16 rows; " + pack->manifest().generator);
  EXPECT_TRUE(contains(memh, "\n000000000\n13f000000\n23f800000\n"));
  EXPECT_TRUE(contains(memh,
                       "\ne"
                       "c0800000\nfc0c00000\n"));
  EXPECT_TRUE(contains(written(folder, Form::txt, *pack), "\n1 3f000000\n"));
  EXPECT_TRUE(
      contains(written(folder, Form::c, *pack),
               "static const uint32_t decode_e2m1_f32_expected[16] = {\n    0x00000000, 0x3f000000,"));
  EXPECT_TRUE(
      contains(written(folder, Form::json, *pack),
               "{\"input\": \"0x1\", \"expected\": \"0x3f000000\", \"flags\": [\"subnormal_source\", "));
}

TEST(PackForms, TheSameBytesOnEveryNumberOfThreads) {
  const TemporaryFolder folder;
  const auto pack = pack_of(folder, "cast:f32:f16", Level::thresholds);
  for (const Form form : {Form::memh, Form::txt}) {
    const std::string one = written(folder, form, *pack, 1);
    EXPECT_GT(one.size(), std::size_t{3} << 20);
    EXPECT_TRUE(one == written(folder, form, *pack, 3));
    EXPECT_EQ(read_form(form, one, "x"), form_rows(form, *pack));
  }
}

TEST(PackForms, ArchivesAreThePackAgain) {
  const TemporaryFolder folder;
  const auto pack = block_pack(folder);
  for (const Form form : {Form::npz, Form::safetensors}) {
    written(folder, form, *pack);
    const auto again = read_pack(folder / ("x." + form_file(form)));
    EXPECT_EQ(form_rows(Form::json, *again), form_rows(Form::json, *pack));
  }
}

TEST(PackForms, LargePacksAreRefusedWhereAFormIsSmall) {
  const TemporaryFolder folder;
  const auto refused = [](Form form, std::uint64_t rows) {
    Manifest m;
    m.kind = "cast";
    m.rows = rows;
    return message_of([&] { check_form(form, m); });
  };
  EXPECT_EQ(refused(Form::json, kMostJsonRows), "accepted");
  EXPECT_TRUE(contains(refused(Form::json, kMostJsonRows + 1), "65537 rows, and it takes at most 65536"));
  EXPECT_EQ(refused(Form::c, kMostCRows), "accepted");
  EXPECT_TRUE(contains(refused(Form::c, kMostCRows + 1), "at most"));
  EXPECT_EQ(refused(Form::txt, 1ull << 32), "accepted");
  const auto pack = pack_of(folder, "cast:f16:e4m3", Level::exhaustive);  // exactly 65536 rows
  EXPECT_EQ(read_form(Form::json, written(folder, Form::json, *pack), "x"), form_rows(Form::json, *pack));
}

TEST(PackForms, DamagedFormsAreRefused) {
  const TemporaryFolder folder;
  const auto pack = block_pack(folder);
  for (const Form form : kTextForms) {
    const std::string good = written(folder, form, *pack);
    const FormRows rows = form_rows(form, *pack);
    const auto outcome = [&](const std::string& text) {
      FormRows got;
      const std::string message = message_of([&] { got = read_form(form, text, "x"); });
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      return message == "accepted" && got == rows ? "the same rows" : message;
    };
    const std::size_t step = form == Form::json ? 7 : 1;  // it is long
    for (std::size_t length = 0; length < good.size(); length += step)
      EXPECT_NE(outcome(good.substr(0, length)), "accepted") << name_of(form) << " cut to " << length;
    EXPECT_NE(outcome(good + "0\n"), "the same rows");
    std::size_t changed = 0;
    for (std::size_t i = 0; i < good.size(); i += step) {
      std::string bad = good;
      bad[i] = '?';
      changed +=
          outcome(bad) == "accepted";  // the text of notes and SPEC may hold it, words and counts may not
    }
    // Of a header everything before the arrays is said to people, not to the reader.
    const std::size_t prose = form == Form::c ? good.find("\n/* input") : pack->manifest().spec.size();
    EXPECT_LE(changed, prose) << name_of(form);
  }
  EXPECT_TRUE(contains(
      message_of([] { read_form(Form::txt, "# input:f32[1048577]; s; 1 rows; g\n0\n", "x"); }), "line 1"));
  EXPECT_TRUE(contains(
      message_of([] { read_form(Form::txt, "# a:f32[1048576] b:f32[1048576]; s; 1 rows; g\n0\n", "x"); }),
      "so many digits"));
  EXPECT_TRUE(contains(message_of([] {
                         read_form(Form::memh, "// [3:0] a:e2m1; s; 9223372036854775807 rows; g\n0\n", "x");
                       }),
                       "line 3"));
  EXPECT_TRUE(
      contains(message_of([] { read_form(Form::txt, "# a:e3m2; s; 1 rows; g\nff\n", "x"); }), "line 2"));
  EXPECT_TRUE(contains(message_of([] { read_form(Form::c, "/* s; 9223372036854775807 rows; g\n", "x"); }),
                       "at most"));
  EXPECT_TRUE(contains(message_of([] { read_form(Form::json, "{\"manifest\": 1, \"rows\": []}", "x"); }),
                       "'manifest' is not an object"));
}

TEST(PackForms, ACompilerTakesTheHeader) {
  if (std::system("cc --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no cc here: the header is not compiled";
  const TemporaryFolder folder;
  const auto pack = pack_of(folder, "cast:f32:e4m3", Level::specials);
  write_form(Form::c, *pack, folder / "vectors.h", 1);
  write_bytes(folder / "main.c",
              "#include \"vectors.h\"\n#include \"vectors.h\"\n"
              "int main(void) {\n  uint64_t sum = 0;\n  for (int i = 0; i < CAST_F32_E4M3_ROWS; ++i)\n"
              "    sum += cast_f32_e4m3_input[i] + 3u * (uint64_t)cast_f32_e4m3_expected[i] + 5u * "
              "(uint64_t)cast_f32_e4m3_flags[i] + cast_f32_e4m3_status[i];\n"
              "  return sum == WANTED ? 0 : 1;\n}\n");
  std::uint64_t sum = 0;
  const FormRows rows = form_rows(Form::c, *pack);
  const std::uint64_t factors[] = {1, 3, 5, 1};
  for (std::size_t c = 0; c < 4; ++c) {
    for (const std::uint64_t word : rows.columns[c].words) sum += factors[c] * word;
  }
  const std::string compile =
      "cc -std=c99 -Wall -Wextra -pedantic -Werror -DWANTED=" + std::to_string(sum) + "u " +
      folder / "main.c" + " -o " + folder / "main";
  EXPECT_EQ(std::system(compile.c_str()), 0);
  EXPECT_EQ(std::system((folder / "main").c_str()), 0);
}

}  // namespace
}  // namespace halfulp::vectors
