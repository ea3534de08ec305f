#include "halfulp/tensors/element_type.hpp"

#include <string>

#include "halfulp/plan.hpp"

namespace halfulp::tensors {
namespace {

struct PlainInteger {
  std::string_view name, alias;
  int width;
  bool is_signed;
};

/// Integers of tensor files that are no registered halfulp formats.
constexpr PlainInteger kPlainIntegers[] = {
    {"int16", "I16", 16, true},   {"uint16", "U16", 16, false}, {"int32", "I32", 32, true},
    {"uint32", "U32", 32, false}, {"int64", "I64", 64, true},   {"uint64", "U64", 64, false},
};

}  // namespace

ElementType element_type(std::string_view name) {
  if (name == "bool" || name == "BOOL") return {.name = "bool", .spec = {}, .width = 1};
  for (const PlainInteger& row : kPlainIntegers) {
    if (name != row.name && name != row.alias) continue;
    ElementType type{
        .name = std::string(row.name), .spec = {}, .width = row.width, .word_bytes = row.width / 8};
    if (row.width <= 32) type.spec = integer(row.width, row.is_signed);
    return type;
  }
  if (name == "F4") name = "e2m1";
  if (name == "F8_E4M3FNUZ") name = "e4m3fnuz";
  if (name == "F8_E5M2FNUZ") name = "e5m2fnuz";
  const Format format = require_format(name);
  const FormatSpec& spec = format.spec;
  return {.name = std::string(format.name),
          .spec = spec,
          .width = spec.width,
          .shift = spec.storage_shift,
          .sign_copies = spec.encoding == Encoding::twos_complement && spec.is_signed,
          .word_bytes = spec.storage_bytes()};
}

ElementType word_type(int bytes) {
  return element_type(bytes == 1 ? "uint8" : bytes == 2 ? "uint16" : bytes == 4 ? "uint32" : "uint64");
}

}  // namespace halfulp::tensors
