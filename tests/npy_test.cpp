// .npy files read: malformed ones, every type, version and order.
#include "halfulp/tensors/npy.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

/// A file with this header text (padded by nothing) and this data.
std::string npy(const std::string& text, const std::string& data, int major = 1, int minor = 0) {
  return raw("\x93NUMPY") + static_cast<char>(major) + static_cast<char>(minor) +
         le(text.size(), major == 1 ? 2 : 4) + text + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Npy, MalformedFilesAreRefusedWithTheByteThatIsWrong) {
  const std::string good = dictionary("<f4", "(2,)"), data(8, '\0');
  const struct {
    const char* name;
    std::string bytes;
    std::string part;
  } table[] = {
      {"empty", "", "byte 0: it does not start"},
      {"magic only", raw("\x93NUMPY"), "byte 0: it does not start"},
      {"wrong magic", "\x93NUMPX" + npy(good, data).substr(6), "byte 0: it does not start"},
      {"text file", "1.0 2.0 3.0\n", "byte 0: it does not start"},
      {"version 0", npy(good, data, 0), "byte 6: format version 0.0"},
      {"version 4", npy(good, data, 4), "byte 6: format version 4.0"},
      {"version 1.1", npy(good, data, 1, 1), "byte 6: format version 1.1"},
      {"version 2 cut in its length", npy(good, data, 2).substr(0, 11),
       "byte 11: the file ends in its header length"},
      {"lying header length", raw("\x93NUMPY\1\0") + le(60000, 2) + good,
       "byte 8: the header is said to have 60000"},
      {"header length of 4 GiB", raw("\x93NUMPY\2\0") + le(0xffffffff, 4) + good,
       "byte 8: the header is said to have 4294967295"},
      {"header of 2 MiB", npy(good + std::string(2 << 20, ' '), data, 2), "none has more than 1 MiB"},
      {"header cut", npy("{'descr': '<f4', 'fortran_", ""), "byte 27: a string of the header does not end"},
      {"no dictionary", npy("[]", ""), "byte 10: a '{' is missing"},
      {"empty dictionary", npy("{}", ""), "lacks descr"},
      {"no shape", npy("{'descr': '<f4', 'fortran_order': False}", data),
       "lacks descr, fortran_order or shape"},
      {"unknown key", npy("{'descr': '<f4', 'x': 1}", data), "an unknown key 'x'"},
      {"key twice", npy("{'descr': '<f4', 'descr': '<f4'}", data), "a key twice 'descr'"},
      {"call", npy("{'descr': exec('x'), }", data), "byte 20: a string is missing"},
      {"escape", npy("{'descr': '<f\\x34', }", data), "does not end"},
      {"fortran 1", npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", data),
       "neither True nor False"},
      {"trailing text", npy(good + "x", data), "goes on after its dictionary"},
      {"negative shape", npy(dictionary("<f4", "(-2,)"), data), "a dimension is negative"},
      {"float shape", npy(dictionary("<f4", "(2.0,)"), data), "a ')' is missing"},
      {"integer shape", npy(dictionary("<f4", "2"), data), "a '(' is missing"},
      {"parenthesis shape", npy(dictionary("<f4", "(2)"), data), "the shape is not a tuple"},
      {"name in shape", npy(dictionary("<f4", "(n,)"), data), "a dimension is not an integer"},
      {"huge dimension", npy(dictionary("<f4", "(9223372036854775808,)"), data), "larger than 2^63 - 1"},
      {"many digits", npy(dictionary("<f4", "(" + std::string(500, '9') + ",)"), data),
       "larger than 2^63 - 1"},
      {"product overflows", npy(dictionary("<f4", "(4294967296, 4294967296)"), data),
       "more than 2^63 - 1 bytes"},
      {"bytes overflow", npy(dictionary("<f8", "(1152921504606846976,)"), data),
       "more than 2^63 - 1 bytes"},
      {"4 EiB", npy(dictionary("|u1", "(4611686018427387904,)"), data),
       "the array has 4611686018427387904 bytes"},
      {"65 dimensions", npy(dictionary("<f4", "(" + repeated("1,", 65) + ")"), data),
       "more than 64 dimensions"},
      {"short data", npy(good, data.substr(1)), "the array has 8 bytes of which 7 are there"},
      {"no data", npy(good, ""), "the array has 8 bytes of which 0 are there"},
      {"trailing bytes", npy(good, data + "\1\2"), "2 bytes follow the array"},
      {"trailing bytes after nothing", npy(dictionary("<f4", "(0,)"), "x"), "1 bytes follow the array"},
      {"object array", npy(dictionary("|O", "(2,)"), data), "type '|O' cannot be read"},
      {"strings", npy(dictionary("<U2", "(1,)"), data), "type '<U2' cannot be read"},
      {"complex", npy(dictionary("<c8", "(1,)"), data), "type '<c8' cannot be read"},
      {"float of 16 bytes", npy(dictionary("<f16", "(1,)"), std::string(16, '\0')),
       "type '<f16' cannot be read"},
      {"no byte order", npy(dictionary("f4", "(2,)"), data), "type 'f4' cannot be read"},
      {"no order for 4 bytes", npy(dictionary("|f4", "(2,)"), data), "type '|f4' cannot be read"},
      {"empty type", npy(dictionary("", "(2,)"), data), "cannot be read"},
      {"structured", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", data),
       "a structured array"},
      {"void without a format", npy(dictionary("<V1", "(8,)"), data), "does not say which format"},
  };
  for (const auto& row : table) {
    const std::string message = message_of([&] { open_npy(source_of(row.bytes, "x.npy")); });
    EXPECT_TRUE(contains(message, row.part)) << row.name << ": " << message;
    EXPECT_TRUE(contains(message, "file 'x.npy'") && contains(message, "; "))
        << row.name << ": " << message;
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = npy_header_text({"<f4", false, {3, 2}}) + std::string(24, '\1');
  EXPECT_EQ(open_npy(source_of(whole)).size(), 6u);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_TRUE(contains(message_of([&] { open_npy(source_of(whole.substr(0, n))); }), "byte ")) << n;
  }
}

TEST(Npy, TypesVersionsAndSpellings) {
  const struct {
    std::string bytes, dtype, type;
    std::vector<std::uint64_t> words;
  } table[] = {
      {npy(dictionary("<f4", "(2,)"), le(0x3f800000, 4) + le(0xbf800000, 4)),
       "",
       "f32",
       {0x3f800000, 0xbf800000}},
      {npy(dictionary(">f4", "(1,)"), raw("\x3f\x80\x00\x00")), "", "f32", {0x3f800000}},
      {npy(dictionary(">i2", "(2L,)", true), raw("\xff\xfe\x01\x00")), "", "int16", {0xfffe, 0x100}},
      {npy("{\"shape\":(1,1,),\"fortran_order\":True,\"descr\":\"<f2\"}\n", le(0x3c00, 2), 2),
       "",
       "f16",
       {0x3c00}},
      {npy(dictionary("<f8", "()"), le(0x3ff0000000000000, 8), 3), "", "f64", {0x3ff0000000000000}},
      {npy(dictionary("=u4", "(0, 7)"), ""), "", "uint32", {}},
      {npy(dictionary("|b1", "(2,)"), raw("\0\1")), "", "bool", {0, 1}},
      {npy(dictionary("<i8", "(1,)"), le(~0ull, 8)), "", "int64", {~0ull}},
      {npy(dictionary("<V2", "(1,)"), le(0x3f80, 2)), "bf16", "bf16", {0x3f80}},
      {npy(dictionary("|V1", "(2,)"), raw("\x38\x7f")), "float8_e4m3fn", "e4m3", {0x38, 0x7f}},
      {npy(dictionary("<f1", "(1,)"), raw("\x3c")), "e5m2", "e5m2", {0x3c}},
      {npy(dictionary("|u1", "(2,)"), raw("\x0f\x00")), "e2m1", "e2m1", {0xf, 0}},
      {npy(dictionary("|i1", "(3,)"), raw("\xff\x07\x08")), "int4", "int4", {0xf, 7, 8}},
      {npy(dictionary("<f4", "(1,)"), le(0x3f802000, 4)), "tf32", "tf32", {0x3f802000}},
      {npy(dictionary("<u2", "(1,)"), le(0x1ff, 2)), "binary9p4se", "binary9p4se", {0x1ff}},
  };
  for (const auto& row : table) {
    const auto source =
        row.dtype.empty() ? open_npy(source_of(row.bytes)) : open_npy(source_of(row.bytes), row.dtype);
    EXPECT_EQ(source.type().name, row.type);
    EXPECT_EQ(source.tensor().dtype, row.type);
    EXPECT_EQ(all(source), row.words) << row.type;
  }
}

TEST(Npy, WordsThatAreNoCodesOfTheirFormatAreRefused) {
  const auto message = [](const char* descr, const std::string& data, const char* dtype) {
    return message_of(
        [&] { all(open_npy(source_of(npy(dictionary(descr, "(2,)"), data), "x.npy"), dtype)); });
  };
  EXPECT_TRUE(contains(message("|u1", raw("\x0f\x10"), "e2m1"),
                       "element 1 is 16, which has bits beyond the 4 of e2m1"));
  EXPECT_TRUE(contains(message("|u1", raw("\x0f\x10"), "e2m1"), "byte 68"));
  EXPECT_TRUE(contains(message("|b1", raw("\1\2"), "bool"), "bits beyond the 1 of bool"));
  EXPECT_TRUE(
      contains(message("|u1", raw("\xf7\x00"), "int4"), "element 0 is 247"));  // no copies of the sign 0
  EXPECT_TRUE(contains(message("<f4", le(1, 4) + le(0, 4), "tf32"), "element 0 is 1"));
  EXPECT_TRUE(contains(message("|u1", raw("\0\0"), "bf16"), "its words have 2 bytes"));
  EXPECT_TRUE(contains(message("|u1", raw("\0\0"), "e4m4"), "e4m3"));
}

TEST(Npy, EveryChunkOfEveryOrderEqualsTheRowMajorArray) {
  const std::vector<std::uint64_t> shapes[] = {{7}, {3, 5}, {5, 1, 3}, {2, 3, 4}, {1, 9}, {4, 3, 2, 3}};
  for (const auto& shape : shapes) {
    const std::uint64_t count = *element_count(shape);
    for (const bool fortran : {false, true}) {
      std::string data(count * 2, '\0');
      for (std::uint64_t i = 0; i < count; ++i) {  // the element of row-major index i has the value i
        std::uint64_t at = i;
        if (fortran) {
          std::uint64_t rest = i, stride = count;
          at = 0;
          for (std::size_t k = shape.size(); k-- > 0;) {
            stride /= shape[k];
            at += rest % shape[k] * stride;
            rest /= shape[k];
          }
        }
        data.replace(at * 2, 2, le(i, 2));
      }
      const TensorSource source = open_npy(source_of(npy_header_text({"<u2", fortran, shape}) + data));
      for (std::uint64_t first = 0; first <= count; ++first) {
        for (std::uint64_t n = 0; n <= count - first; ++n) {
          std::vector<std::uint16_t> words(n);
          source.read<std::uint16_t>(first, words);
          for (std::uint64_t i = 0; i < n; ++i)
            ASSERT_EQ(words[i], first + i) << shape_text(shape) << ' ' << fortran;
        }
      }
      std::vector<std::uint16_t> beyond(2);
      EXPECT_TRUE(
          contains(message_of([&] { source.read<std::uint16_t>(count - 1, beyond); }), "the tensor has"));
      std::vector<std::uint8_t> narrow(1);
      EXPECT_TRUE(
          contains(message_of([&] { source.read<std::uint8_t>(0, narrow); }), "read into wider words"));
    }
  }
}

TEST(Npy, LargeFortranOrderIsGatheredInPieces) {
  const std::vector<std::uint64_t> shapes[] = {{3, 40000}, {40000, 3}, {300, 200}};
  for (const auto& shape : shapes) {
    std::string data;
    for (std::uint64_t c = 0; c < shape[1]; ++c) {
      for (std::uint64_t r = 0; r < shape[0]; ++r) data += le(r * shape[1] + c, 4);
    }
    const TensorSource source = open_npy(source_of(npy_header_text({"<u4", true, shape}) + data));
    for (const std::uint64_t chunk : {1000u, 50000u, 120000u}) {
      for (std::uint64_t first = 0; first < source.size(); first += chunk) {
        std::vector<std::uint32_t> words(std::min(chunk, source.size() - first));
        source.read<std::uint32_t>(first, words);
        for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], first + i);
      }
    }
  }
}

TEST(Npy, ReadsTheVoidTypesOfMlDtypes) {
  const TemporaryFolder folder;
  HALFULP_PYTHON_OR_SKIP(folder, "ml_dtypes, numpy", R"(
import numpy, sys, ml_dtypes as m
for name in ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e8m0fnu', 'float4_e2m1fn', 'float6_e2m3fn']:
    numpy.save(sys.argv[1] + name + '.npy', numpy.array([1, 2], dtype=getattr(m, name)))
numpy.save(sys.argv[1] + 'int4.npy', numpy.array([-1, 1], dtype=m.int4))
)");
  const struct {
    const char* name;
    std::vector<std::uint64_t> words;
  } table[] = {{"bfloat16", {0x3f80, 0x4000}},
               {"float8_e4m3fn", {0x38, 0x40}},
               {"float8_e5m2", {0x3c, 0x40}},
               {"float8_e8m0fnu", {0x7f, 0x80}},
               {"float4_e2m1fn", {2, 4}},
               {"float6_e2m3fn", {8, 16}},
               {"int4", {15, 1}}};
  for (const auto& row : table)
    EXPECT_EQ(all(open_npy(open_file(folder / (std::string(row.name) + ".npy")), row.name)), row.words)
        << row.name;
}

}  // namespace
}  // namespace halfulp::tensors
