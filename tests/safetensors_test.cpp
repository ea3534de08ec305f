// safetensors files: malformed headers, every dtype, checkpoint names, and the bytes of the reference
// implementation.
#include "halfulp/tensors/safetensors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halfulp/tensors/checkpoint_names.hpp"
#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
  return le(header.size(), 8) + header + data;
}

/// One tensor `a`.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data) {
  return file_of(
      R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
      data);
}

std::string message(const std::string& bytes) {
  return message_of([&] { SafetensorsFile(source_of(bytes, "x.safetensors")); });
}

TEST(Safetensors, MalformedFilesAreRefusedWithTheByteThatIsWrong) {
  const std::string four(4, '\0');
  const auto header = [](const std::string& inside) { return file_of("{" + inside + "}"); };
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})",
                    b = R"("b":{"dtype":"U8","shape":[2],"data_offsets":[)";
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  const struct {
    const char* name;
    std::string bytes;
    std::string part;
  } table[] = {
      {"empty", "", "byte 0: the file ends in its header length"},
      {"seven bytes", std::string(7, '\0'), "byte 7: the file ends in its header length"},
      {"header of 0 bytes", le(0, 8), "byte 8: the header does not start with '{'"},
      {"header beyond the file", le(100, 8) + "{}",
       "byte 0: the header is said to have 100 bytes, and the file has 2"},
      {"header of 100000001 bytes", le(100'000'001, 8) + "{}", "100000000 is the most"},
      {"header of 2^64 - 1 bytes", le(~0ull, 8) + "{}", "100000000 is the most"},
      {"leading blank", file_of(" {}"), "byte 8: the header does not start with '{'"},
      {"a list", file_of("[]"), "does not start with '{'"},
      {"no JSON", file_of("{oops}"), "byte 10: the header is no valid JSON"},
      {"cut JSON", file_of(R"({"a":{"dtype")"), "the header is no valid JSON"},
      {"two values", file_of("{}{}"), "the header is no valid JSON"},
      {"NUL padding", file_of(raw("{}\0\0")), "byte 10: the header has a NUL byte"},
      {"not UTF-8", header("\"\xff\":1"), "the header is no valid JSON"},
      {"lone surrogate", header(R"("\ud800":1)"), "the header is no valid JSON"},
      {"deep lists", header("\"a\":" + deep), "byte 14: a list where none belongs"},
      {"NaN", header(R"("a":NaN)"), "the header is no valid JSON"},
      {"a number", header(R"("a":1)"), "a number where none belongs"},
      {"a string", header(R"("a":"b")"), "a string where none belongs"},
      {"null", header(R"("a":null)"), "null where none belongs"},
      {"an object in a tensor", header(R"("a":{"shape":{}})"), "an object where none belongs"},
      {"a list in a list", header(R"("a":{"shape":[[1]]})"), "a list where none belongs"},
      {"true as dimension", header(R"("a":{"shape":[true]})"), "true or false where none belongs"},
      {"metadata number", header(R"("__metadata__":{"k":1})"), "a number where none belongs"},
      {"metadata twice", header(R"("__metadata__":{"k":"1","k":"2"})"), "metadata 'k' are there twice"},
      {"metadata object twice", header(R"("__metadata__":{},"__metadata__":{})"),
       "'__metadata__' is there twice"},
      {"unknown key", header(R"("a":{"dtype":"U8","strides":[1]})"), "unknown key 'strides'"},
      {"key twice", header(R"("a":{"dtype":"U8","dtype":"U8"})"), "has 'dtype' twice"},
      {"no offsets", header(R"("a":{"dtype":"U8","shape":[0]})"), "lacks dtype, shape or data_offsets"},
      {"name twice", file_of("{" + a + "," + a + "}", "xy"), "'a' is there twice"},
      {"name twice, one escaped", file_of("{" + a + R"(,"\u0061":{}})", "xy"), "'a' is there twice"},
      {"one offset", one("U8", "[1]", "[0]", "x"), "are not two numbers"},
      {"three offsets", one("U8", "[1]", "[0,1,1]", "x"), "are not two numbers"},
      {"negative shape", one("U8", "[-1]", "[0,0]", ""), "a negative number"},
      {"negative offset", one("U8", "[1]", "[-1,0]", ""), "a negative number"},
      {"fraction", one("U8", "[1.0]", "[0,1]", "x"), "a number that is no integer"},
      {"2^63", one("U8", "[9223372036854775808]", "[0,1]", "x"), "exceeds 2^63 - 1"},
      {"10^30", one("U8", "[1000000000000000000000000000000]", "[0,1]", "x"),
       "a number that is no integer"},
      {"shape overflows", one("U8", "[4294967296,4294967296]", "[0,1]", "x"), "more than 2^63 - 1 bits"},
      {"shape of an unknown dtype overflows", one("X9", "[4294967296,4294967296]", "[0,1]", "x"),
       "more than 2^63 - 1 elements"},
      {"2^60 float64", one("F64", "[1152921504606846976]", "[0,8]", four + four),
       "more than 2^63 - 1 bits"},
      {"bytes too few", one("F32", "[2]", "[0,4]", four),
       "F32 of shape 2 takes 8 bytes, and data_offsets 0 to 4 are 4"},
      {"bytes too many", one("F16", "[1]", "[0,4]", four), "F16 of shape 1 takes 2 bytes"},
      {"scalar", one("U8", "[]", "[0,2]", "xy"), "U8 of shape scalar takes 1 bytes"},
      {"half a byte", one("F4", "[3]", "[0,2]", "xy"), "do not fill whole bytes"},
      {"backwards", one("U8", "[0]", "[1,0]", "x"), "run backwards"},
      {"gap at the start", one("U8", "[1]", "[1,2]", "xy"), "leave a gap after 0"},
      {"beyond", one("U8", "[3]", "[0,3]", "xy"), "lie beyond the 2 bytes of data"},
      {"trailing bytes", one("U8", "[1]", "[0,1]", "xyz"), "2 bytes belong to no tensor"},
      {"bytes without tensors", file_of("{}", "x"), "1 bytes belong to no tensor"},
      {"gap", file_of("{" + a + "," + b + "3,5]}}", "abcde"), "leave a gap after 2"},
      {"overlap", file_of("{" + a + "," + b + "1,3]}}", "abc"),
       "data_offsets 1 to 3 overlap the tensor before, which ends at 2"},
      {"the same bytes", file_of("{" + a + "," + b + "0,2]}}", "ab"), "overlap the tensor before"},
  };
  for (const auto& row : table) {
    const std::string text = message(row.bytes);
    EXPECT_TRUE(contains(text, row.part)) << row.name << ": " << text;
    EXPECT_TRUE(contains(text, "file 'x.safetensors', byte ")) << row.name << ": " << text;
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = one("F32", "[2,1]", "[0,8]", std::string(8, '\1'));
  EXPECT_EQ(message(whole), "accepted");
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(message(whole.substr(0, n)), "accepted") << n;
}

TEST(Safetensors, ReadsEveryDtype) {
  const struct {
    const char *dtype, *shape, *offsets;
    std::string data;
    const char* type;
    std::vector<std::uint64_t> words;
  } table[] = {
      {"F64", "[1]", "[0,8]", le(0x3ff0000000000000, 8), "f64", {0x3ff0000000000000}},
      {"F32", "[1,1]", "[0,4]", le(0x3f800000, 4), "f32", {0x3f800000}},
      {"F16", "[]", "[0,2]", le(0x3c00, 2), "f16", {0x3c00}},
      {"BF16", "[1]", "[0,2]", le(0x3f80, 2), "bf16", {0x3f80}},
      {"F8_E4M3", "[2]", "[0,2]", "\x38\x7f", "e4m3", {0x38, 0x7f}},
      {"F8_E5M2", "[1]", "[0,1]", "\x3c", "e5m2", {0x3c}},
      {"F8_E8M0", "[1]", "[0,1]", "\x7f", "e8m0", {0x7f}},
      {"F8_E4M3FNUZ", "[1]", "[0,1]", "\x40", "e4m3fnuz", {0x40}},
      {"F8_E5M2FNUZ", "[1]", "[0,1]", "\x40", "e5m2fnuz", {0x40}},
      {"F4", "[4]", "[0,2]", "\x21\x43", "e2m1", {1, 2, 3, 4}},
      {"F6_E2M3", "[4]", "[0,3]", "\x81\x30\xfc", "e2m3", {1, 2, 3, 0x3f}},
      {"F6_E3M2", "[2,4]", "[0,6]", "\x81\x30\xfc\x81\x30\xfc", "e3m2", {1, 2, 3, 0x3f, 1, 2, 3, 0x3f}},
      {"I8", "[1]", "[0,1]", "\xff", "int8", {0xff}},
      {"U8", "[0,3]", "[0,0]", "", "uint8", {}},
      {"I16", "[1]", "[0,2]", le(0xfffe, 2), "int16", {0xfffe}},
      {"U16", "[1]", "[0,2]", le(7, 2), "uint16", {7}},
      {"I32", "[1]", "[0,4]", le(7, 4), "int32", {7}},
      {"U32", "[1]", "[0,4]", le(7, 4), "uint32", {7}},
      {"I64", "[1]", "[0,8]", le(7, 8), "int64", {7}},
      {"U64", "[1]", "[0,8]", le(7, 8), "uint64", {7}},
      {"BOOL", "[2]", "[0,2]", raw("\1\0"), "bool", {1, 0}},
  };
  std::vector<std::string> seen;
  for (const auto& row : table) {
    const SafetensorsFile file(source_of(one(row.dtype, row.shape, row.offsets, row.data)));
    EXPECT_EQ(file.tensors().at(0).dtype, row.dtype);
    const TensorSource source = file.open("a");
    EXPECT_EQ(source.type().name, row.type);
    EXPECT_EQ(all(source), row.words) << row.dtype;
    for (std::uint64_t first = 0; row.words.size() > 1 && first < source.size();
         ++first) {  // packed codes start inside bytes
      std::vector<std::uint8_t> rest(source.size() - first);
      source.read<std::uint8_t>(first, rest);
      for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i], row.words[first + i]);
    }
    seen.push_back(row.dtype);
  }
  EXPECT_EQ(seen.size(), kFileTypes.size()) << "a row of kFileTypes has no test";
}

TEST(Safetensors, UnknownDtypesAreListedAndNotRead) {
  const SafetensorsFile file(
      source_of(one("C64", "[2]", "[0,16]", std::string(16, '\0')), "x.safetensors"));
  EXPECT_EQ(file.tensors().at(0).dtype, "C64");
  EXPECT_EQ(message_of([&] { file.open("a"); }),
            "tensor 'a' of 'x.safetensors': its dtype C64 is not one that halfulp reads; convert it, for "
            "example to F32");
}

TEST(Safetensors, UnalignedFilesAreReadAndCodesInBytesKeepTheirFormat) {
  const SafetensorsFile file(source_of(file_of(
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"data_offsets":[1,5],"shape":[1],"dtype":"F32"}}  )",
      "\x3f" + le(0x3f800000, 4))));
  EXPECT_EQ(all(file.open("a")), std::vector<std::uint64_t>{0x3f800000});
  EXPECT_EQ(file.open("b", "e3m2").type().name, "e3m2");
  EXPECT_TRUE(contains(message_of([&] { all(file.open("b", "e2m1")); }), "bits beyond the 4 of e2m1"));
  EXPECT_TRUE(contains(message_of([&] { file.open("c"); }), "tensor 'c'"));
}

TEST(SafetensorsWriter, TensorsInAnyOrderAndPiecesGiveTheSameBytes) {
  const TemporaryFolder folder;
  const std::vector<TensorPlan> plans = {
      {"z", "U8", {3}}, {"a", "F32", {1}}, {"b", "F32", {}}, {"e", "F4", {0}}};
  const std::string path = folder / "x.safetensors", data = "abcdefgh";
  const auto bytes = std::as_bytes(std::span(data));
  std::string first;
  for (const bool backwards : {false, true}) {
    SafetensorsWriter writer(path, plans, {{"k", "v\xc3\xa9\""}});
    if (backwards) writer.write("z", bytes.first(3));
    writer.write("a", bytes.first(4));
    writer.write("b", bytes.first(1));
    writer.write("b", bytes.subspan(1, 3));
    EXPECT_TRUE(contains(message_of([&] { writer.write("b", bytes); }), "more bytes come"));
    EXPECT_TRUE(contains(message_of([&] { writer.write("y", bytes); }), "not planned"));
    if (!backwards) {
      EXPECT_TRUE(contains(message_of([&] { writer.commit(); }), "tensor 'z': 3 bytes of it are missing"));
      writer.write("z", bytes.first(3));
    }
    writer.commit();
    if (!backwards) first = read_bytes(path);
  }
  EXPECT_EQ(read_bytes(path), first);
  EXPECT_EQ(first.substr(8, 52), R"({"__metadata__":{"k":"v)"
                                 "\xc3\xa9"
                                 R"(\""},"a":{"dtype":"F32","sh)");
  const SafetensorsFile file(open_file(path));
  EXPECT_EQ(file.metadata(), (Metadata{{"k", "v\xc3\xa9\""}}));
  EXPECT_EQ(all(file.open("z")), (std::vector<std::uint64_t>{'a', 'b', 'c'}));
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_TRUE(contains(message_of([&] {
                         lay_out_safetensors(std::vector<TensorPlan>{{"a", "U8", {1}}, {"a", "F32", {1}}});
                       }),
                       "twice"));
  EXPECT_TRUE(contains(message_of([&] {
                         lay_out_safetensors(std::vector<TensorPlan>{{"a", "F4", {3}}});
                       }),
                       "whole bytes"));
  EXPECT_TRUE(contains(message_of([&] {
                         lay_out_safetensors(std::vector<TensorPlan>{{"a", "X", {3}}});
                       }),
                       "cannot be written"));
  EXPECT_TRUE(contains(message_of([&] {
                         lay_out_safetensors(std::vector<TensorPlan>{{"\xff", "U8", {3}}});
                       }),
                       "not UTF-8"));
}

TEST(SafetensorsWriter, GivesTheBytesOfTheReferenceImplementation) {
  const TemporaryFolder folder;
  HALFULP_PYTHON_OR_SKIP(folder, "safetensors.numpy, ml_dtypes", R"(
import numpy as n, ml_dtypes as m, sys
from safetensors.numpy import save_file
t = {d: n.zeros(3, d) for d in 'float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool'.split()}
t |= {d: n.zeros(3, getattr(m, d)) for d in ['bfloat16', 'float8_e4m3fn', 'float8_e5m2']}
t |= {'b.weight': n.zeros((2, 3), 'f4'), 'B"\t\x7f\\\u00e9': n.zeros((0, 2), 'f4')}
save_file(t, sys.argv[1] + 'theirs.safetensors', {'key': 'value / \u00e9 \n'})
)");
  const std::string theirs = read_bytes(folder / "theirs.safetensors");
  const SafetensorsFile file(open_file(folder / "theirs.safetensors"));
  std::vector<TensorPlan> plans;
  for (const Tensor& tensor : file.tensors())
    plans.insert(plans.begin(), {tensor.name, tensor.dtype, tensor.shape});
  EXPECT_EQ(plans.size(), 17u);
  const SafetensorsLayout layout = lay_out_safetensors(plans, file.metadata());
  EXPECT_EQ(theirs.substr(0, layout.bytes.size()), layout.bytes);
  EXPECT_EQ(theirs.size(), layout.file_size);
}

TEST(CheckpointNames, PartsOfOneWeightAreFoundTogether) {
  std::vector<Tensor> tensors;
  for (const char* name :
       {"l.0.up.weight_packed", "l.0.up.weight_scale", "l.0.up.weight_global_scale",
        "l.0.up.input_global_scale", "l.0.down.weight", "l.0.down.weight_scale", "l.0.down.weight_scale_2",
        "l.1.q.weight", "l.1.q.weight_scale_inv", "l.0.norm.weight", "l.0.attn.k_scale", "l.0.attn.v_scale",
        "other", "l.0.down.bias", "weight"}) {
    tensors.push_back({.name = name, .dtype = "F32", .shape = {1}});
  }
  EXPECT_EQ(group_checkpoint(tensors).size(), 6u);
  const LayerParts up = find_quantized_weight(tensors, "l.0.up");
  EXPECT_EQ(up.parts.size(), 4u);
  EXPECT_EQ(up.producer(), "compressed-tensors");
  EXPECT_EQ(up.find(PartRole::tensor_scale)->name->direction, Direction::divisor);
  EXPECT_EQ(up.find(PartRole::packed_weight)->tensor, 0u);
  const LayerParts down = find_quantized_weight(tensors, "l.0.down.weight");
  EXPECT_EQ(down.producer(), "ModelOpt");
  EXPECT_EQ(down.find(PartRole::tensor_scale)->name->direction, Direction::multiplier);
  EXPECT_EQ(down.find(PartRole::zero_point), nullptr);
  const LayerParts q = find_quantized_weight(tensors, "l.1.q.weight_scale_inv");
  EXPECT_EQ(q.find(PartRole::block_scale)->name->direction, Direction::multiplier)
      << "in spite of its name";
  EXPECT_EQ(q.producer(), "DeepSeek");
  EXPECT_TRUE(
      contains(message_of([&] { find_quantized_weight(tensors, "l.0.norm"); }), "no weight with a scale"));
  EXPECT_TRUE(
      contains(message_of([&] { find_quantized_weight(tensors, "l.0.u"); }), "the nearest is l.0.up"));
  EXPECT_EQ(checkpoint_name("a.weight_scale_inverse"), nullptr);
  EXPECT_EQ(checkpoint_name("q_weight"), nullptr);
}

}  // namespace
}  // namespace halfulp::tensors
