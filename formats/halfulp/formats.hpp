// The registry: one line per format, and the parametric names of IEEE P3109.
//
// Adding a format: one line in kFormats here and one row in tests/format_table_test.cpp.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "halfulp/spec.hpp"

namespace halfulp {

struct Format {
  std::string_view name;
  FormatSpec spec;
  std::string_view aliases;   ///< separated by blanks
  std::string_view standard;  ///< document and section
  std::string_view note = {};
};

/// A floating format with a sign and gradual underflow; zeros follow from the non-finite rule.
constexpr FormatSpec signed_float(int exponent_bits, int fraction_bits, int bias, NonFinite rule, int storage_shift = 0) {
  const bool plus_only = rule == NonFinite::nan_minus_zero || rule == NonFinite::p3109_extended || rule == NonFinite::p3109_finite;
  return {.width = 1 + exponent_bits + fraction_bits, .exponent_bits = exponent_bits, .fraction_bits = fraction_bits,
          .bias = bias, .non_finite = rule, .zeros = plus_only ? Zeros::plus_only : Zeros::plus_and_minus,
          .storage_shift = storage_shift};
}

/// A floating format without a sign. E8M0 has neither zero nor subnormals.
constexpr FormatSpec unsigned_float(int exponent_bits, int fraction_bits, int bias, NonFinite rule,
                                    Zeros zeros = Zeros::plus_only) {
  return {.width = exponent_bits + fraction_bits, .exponent_bits = exponent_bits, .fraction_bits = fraction_bits,
          .bias = bias, .is_signed = false, .non_finite = rule, .zeros = zeros,
          .subnormals = zeros == Zeros::absent ? Subnormals::absent : Subnormals::gradual};
}

/// A two's complement (or unsigned) integer times 2^-binary_places.
constexpr FormatSpec integer(int width, bool is_signed, IntegerRange range = IntegerRange::full, int binary_places = 0) {
  return {.encoding = Encoding::twos_complement, .width = width, .fraction_bits = binary_places, .is_signed = is_signed,
          .zeros = Zeros::plus_only, .range = range};
}

constexpr FormatSpec codebook4(Codebook table) {
  return {.encoding = Encoding::codebook, .width = 4, .zeros = Zeros::plus_only, .codebook = table};
}

inline constexpr FormatSpec kHifloat8 = {.encoding = Encoding::hifloat8, .width = 8, .non_finite = NonFinite::hifloat8,
                                         .zeros = Zeros::plus_only};

// clang-format off
inline constexpr auto kFormats = std::to_array<Format>({
    // name           spec                                                     aliases                       standard
    {"e4m3",          signed_float(4, 3, 7, NonFinite::nan_all_ones),          "e4m3fn float8_e4m3fn F8_E4M3 fp8_e4m3 __NV_E4M3 kDLFloat8_e4m3fn", "OCP OFP8 v1.0, 5"},
    {"e5m2",          signed_float(5, 2, 15, NonFinite::ieee),                 "float8_e5m2 F8_E5M2 fp8_e5m2 __NV_E5M2 kDLFloat8_e5m2", "OCP OFP8 v1.0, 5"},
    {"e4m3fnuz",      signed_float(4, 3, 8, NonFinite::nan_minus_zero),        "float8_e4m3fnuz",            "arXiv:2206.02915"},
    {"e5m2fnuz",      signed_float(5, 2, 16, NonFinite::nan_minus_zero),       "float8_e5m2fnuz",            "arXiv:2206.02915"},
    {"e4m3b11fnuz",   signed_float(4, 3, 11, NonFinite::nan_minus_zero),       "float8_e4m3b11fnuz",         "ml_dtypes 0.5"},
    {"e4m3_ieee",     signed_float(4, 3, 7, NonFinite::ieee),                  "float8_e4m3",                "IEEE 754-2019 3.4 (scheme)"},
    {"e3m4_ieee",     signed_float(3, 4, 3, NonFinite::ieee),                  "float8_e3m4",                "IEEE 754-2019 3.4 (scheme)"},
    {"e3m4fn",        signed_float(3, 4, 3, NonFinite::nan_all_ones),          "intel_e3m4",                 "Intel FP8 emulation toolkit"},
    {"e3m2",          signed_float(3, 2, 3, NonFinite::none),                  "float6_e3m2fn fp6_e3m2 F6_E3M2 __NV_E3M2", "OCP MX v1.0, 5.3.2"},
    {"e2m3",          signed_float(2, 3, 1, NonFinite::none),                  "float6_e2m3fn fp6_e2m3 F6_E2M3 __NV_E2M3", "OCP MX v1.0, 5.3.2"},
    {"e2m1",          signed_float(2, 1, 1, NonFinite::none),                  "float4_e2m1fn fp4 fp4_e2m1 F4_E2M1 __NV_E2M1", "OCP MX v1.0, 5.3.3"},
    {"e8m0",          unsigned_float(8, 0, 127, NonFinite::nan_all_ones, Zeros::absent), "ue8m0 float8_e8m0fnu F8_E8M0", "OCP MX v1.0, 5.4.1"},
    {"ue4m3",         unsigned_float(4, 3, 7, NonFinite::nan_all_ones),        "float8_ue4m3",               "PTX ISA 8.7, ue4m3"},
    {"ue5m3",         unsigned_float(5, 3, 15, NonFinite::nan_all_ones),       "float8_ue5m3",               "secondary"},
    {"f16",           signed_float(5, 10, 15, NonFinite::ieee),                "fp16 half binary16 float16 F16", "IEEE 754-2019 3.6"},
    {"bf16",          signed_float(8, 7, 127, NonFinite::ieee),                "bfloat16 BF16",              "bfloat16 (binary32 truncated)"},
    {"tf32",          signed_float(8, 10, 127, NonFinite::ieee, 13),           "tensorfloat32",              "PTX ISA, tf32"},
    {"f32",           signed_float(8, 23, 127, NonFinite::ieee),               "fp32 float32 float binary32 F32", "IEEE 754-2019 3.6"},
    {"f64",           signed_float(11, 52, 1023, NonFinite::ieee),             "fp64 float64 double binary64 F64", "IEEE 754-2019 3.6"},
    {"mxint8",        integer(8, true, IntegerRange::full, 6),                 "int8_mx s2f6",               "OCP MX v1.0, 5.3.4"},
    {"int32",         integer(32, true),                                       "s32 I32",                    "two's complement"},
    {"int8",          integer(8, true),                                        "s8 I8",                      "two's complement"},
    {"int4",          integer(4, true),                                        "s4",                         "two's complement"},
    {"int2",          integer(2, true),                                        "s2",                         "two's complement"},
    {"uint8",         integer(8, false),                                       "u8 U8",                      "binary"},
    {"uint4",         integer(4, false),                                       "u4",                         "binary"},
    {"uint2",         integer(2, false),                                       "u2",                         "binary"},
    {"int8_restricted", integer(8, true, IntegerRange::restricted),            "",                           "two's complement, symmetric"},
    {"int4_restricted", integer(4, true, IntegerRange::restricted),            "",                           "two's complement, symmetric"},
    {"int2_restricted", integer(2, true, IntegerRange::restricted),            "",                           "two's complement, symmetric"},
    {"nf4",           codebook4(Codebook::nf4),                                "normalfloat4",               "arXiv:2305.14314, appendix E"},
    {"hif8",          kHifloat8,                                               "hifloat8",                   "arXiv:2409.16626", "unverified"},
});
// clang-format on

/// Position in kFormats of the format with that name or alias; kFormats.size() if there is none. Case-sensitive.
constexpr std::size_t named_format_index(std::string_view name) {
  std::size_t index = 0;
  for (; index < kFormats.size(); ++index) {
    if (kFormats[index].name == name) break;
    bool found = false;
    for (std::string_view rest = kFormats[index].aliases; !rest.empty() && !found;) {
      const auto blank = rest.find(' ');
      found = rest.substr(0, blank) == name;
      rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
    }
    if (found) break;
  }
  return index;
}

/// The P3109 format with width `k`, precision `p` (hidden bit included), signed or not, extended or finite.
/// Requires 3 <= k <= 16 and 1 <= p <= k - 1 (signed) or k (unsigned). IEEE P3109 interim report (format parameters).
constexpr FormatSpec p3109(int k, int p, bool is_signed, bool extended) {
  const NonFinite rule = extended ? NonFinite::p3109_extended : NonFinite::p3109_finite;
  return is_signed ? signed_float(k - p, p - 1, 1 << (k - p - 1), rule)
                   : unsigned_float(k - p + 1, p - 1, 1 << (k - p), rule);
}

/// Parses `binary{K}p{P}{s|u}{e|f}`; empty when the name is not of that form or K, P are out of range.
constexpr std::optional<FormatSpec> parse_p3109(std::string_view name) {
  constexpr std::string_view prefix = "binary";
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  name.remove_prefix(prefix.size());
  const auto number = [&name] {
    int value = 0;
    if (name.empty() || name[0] == '0') return -1;
    int digits = 0;
    while (digits < 3 && !name.empty() && name[0] >= '0' && name[0] <= '9') {
      value = value * 10 + (name[0] - '0');
      name.remove_prefix(1);
      ++digits;
    }
    return value;
  };
  const int k = number();
  if (k < 3 || k > 16 || name.empty() || name[0] != 'p') return std::nullopt;
  name.remove_prefix(1);
  const int p = number();
  if (name.size() != 2 || (name[0] != 's' && name[0] != 'u') || (name[1] != 'e' && name[1] != 'f')) return std::nullopt;
  const bool is_signed = name[0] == 's';
  if (p < 1 || p > (is_signed ? k - 1 : k)) return std::nullopt;
  return p3109(k, p, is_signed, name[1] == 'e');
}

/// A format by name, alias or P3109 name. The returned `name` is canonical and lives as long as `name` does for P3109.
constexpr std::optional<Format> find_format(std::string_view name) {
  if (const std::size_t index = named_format_index(name); index < kFormats.size()) return kFormats[index];
  if (const auto spec = parse_p3109(name)) return Format{name, *spec, "", "IEEE P3109"};
  return std::nullopt;
}

/// The spec of a format known at compile time: `constexpr FormatSpec k = spec_of("e4m3")`. A wrong name does not compile.
consteval FormatSpec spec_of(std::string_view name) { return find_format(name).value().spec; }

namespace detail {
constexpr bool registry_is_valid() {
  for (const Format& format : kFormats) {
    if (!valid(format.spec)) return false;
  }
  return true;
}
static_assert(registry_is_valid());
}  // namespace detail

}  // namespace halfulp
