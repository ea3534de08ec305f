// The bits of a code with their meaning. Reads the raw fields of a spec and the oracle's value of the code.
#include "halfulp/explain/code_text.hpp"

#include <cstdio>

namespace halfulp::explain {
namespace {

std::string bits_text(std::uint64_t code, int from, int count) {
  std::string text;
  for (int bit = from + count - 1; bit >= from; --bit) text += (code >> bit) & 1 ? '1' : '0';
  return text;
}

std::uint64_t bits(std::uint64_t code, int from, int count) {
  return count == 0 ? 0 : (code >> from) & ((std::uint64_t{1} << count) - 1);
}

std::string power(int exponent) { return "2^" + std::to_string(exponent); }

bool hidden_bit_absent(const FormatSpec& spec, std::uint64_t exponent_field) {
  return exponent_field == 0 && spec.subnormals == Subnormals::gradual;
}

}  // namespace

std::string code_text(const FormatSpec& spec, std::uint64_t code) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", (spec.width + spec.storage_shift + 3) / 4,
                static_cast<unsigned long long>(code));
  return text;
}

std::string class_of(const FormatSpec& spec, std::uint64_t code) {
  const oracle::Value value = oracle::value_of(spec, code);
  switch (value.cls) {
    case oracle::ValueClass::zero: return "zero";
    case oracle::ValueClass::infinity: return "infinity";
    case oracle::ValueClass::nan: return "NaN";
    case oracle::ValueClass::finite: break;
  }
  return value.subnormal ? "subnormal" : "normal";
}

std::vector<Field> fields_of(const FormatSpec& spec, std::uint64_t code) {
  const std::uint64_t raw = code >> spec.storage_shift;
  const int sign_bit = spec.is_signed ? 1 : 0;
  const Field sign{"sign", bits_text(raw, spec.width - 1, 1), bits(raw, spec.width - 1, 1) ? "negative" : "positive"};
  if (spec.encoding == Encoding::codebook) return {{"index", bits_text(raw, 0, spec.width), std::to_string(raw)}};
  if (spec.encoding == Encoding::twos_complement) {
    const Field rest{"two's complement", bits_text(raw, 0, spec.width - sign_bit),
                     spec.fraction_bits == 0 ? "integer" : "integer × " + power(-spec.fraction_bits)};
    return sign_bit ? std::vector<Field>{sign, rest} : std::vector<Field>{{"integer", rest.bits, std::to_string(raw)}};
  }
  if (spec.encoding == Encoding::hifloat8) return {sign, {"prefix, exponent, fraction", bits_text(raw, 0, 7), "prefix code"}};

  std::vector<Field> fields;
  if (spec.is_signed) fields.push_back(sign);
  const std::uint64_t exponent = bits(raw, spec.fraction_bits, spec.exponent_bits);
  const bool subnormal = hidden_bit_absent(spec, exponent);
  const std::string scale = subnormal ? power(1 - spec.bias) + " (subnormal: as field 1)"
                                      : power(static_cast<int>(exponent) - spec.bias) + " (field " + std::to_string(exponent) +
                                            " - bias " + std::to_string(spec.bias) + ")";
  fields.push_back({"exponent", bits_text(raw, spec.fraction_bits, spec.exponent_bits), scale});
  if (spec.fraction_bits > 0) {
    fields.push_back({"fraction", bits_text(raw, 0, spec.fraction_bits),
                      std::to_string(bits(raw, 0, spec.fraction_bits)) + "/" +
                          std::to_string(std::uint64_t{1} << spec.fraction_bits)});
  }
  return fields;
}

std::string formula_of(const FormatSpec& spec, std::uint64_t code) {
  const oracle::Value value = oracle::value_of(spec, code);
  if (value.cls == oracle::ValueClass::infinity || value.cls == oracle::ValueClass::nan) return {};
  const std::uint64_t raw = code >> spec.storage_shift;
  if (spec.encoding == Encoding::twos_complement) {
    const std::string units = oracle::to_fraction_string(value.number().times_pow2(spec.fraction_bits));
    return spec.fraction_bits == 0 ? units : units + " × " + power(-spec.fraction_bits);
  }
  if (spec.encoding != Encoding::floating) return {};
  const std::uint64_t exponent = bits(raw, spec.fraction_bits, spec.exponent_bits);
  const std::uint64_t fraction = bits(raw, 0, spec.fraction_bits);
  const bool subnormal = hidden_bit_absent(spec, exponent);
  const std::string sign = spec.is_signed ? "(-1)^" + std::to_string(bits(raw, spec.width - 1, 1)) + " × " : "";
  const int field = subnormal ? 1 : static_cast<int>(exponent);
  std::string text = sign + "2^(" + std::to_string(field) + " - " + std::to_string(spec.bias) + ")";
  if (spec.fraction_bits == 0) return subnormal ? text + " × 0" : text;
  const std::string quotient = std::to_string(fraction) + "/" + std::to_string(std::uint64_t{1} << spec.fraction_bits);
  return text + " × " + (subnormal ? quotient : "(1 + " + quotient + ")");
}

}  // namespace halfulp::explain
