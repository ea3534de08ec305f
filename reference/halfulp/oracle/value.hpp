// Value: what a code means, by the definition of its format. IEEE 754-2019 3.4, OCP OFP8 v1.0 section 5,
// OCP MX v1.0 section 5, IEEE P3109, two's complement, NF4, HiFloat8.
//
// Decides: the value of every code. Reads only the raw fields of FormatSpec.
// Twin: formats/halfulp/unpacked.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "halfulp/oracle/exact.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

enum class ValueClass : std::uint8_t { zero, finite, infinity, nan };

struct Value {
  ValueClass cls = ValueClass::zero;
  bool negative = false;   ///< also of zeros, infinities and NaNs
  bool subnormal = false;  ///< a nonzero number in the subnormal range of the format it was read from
  Exact magnitude = {};    ///< > 0 for `finite`, else 0
  std::uint64_t payload =
      0;  ///< NaN: fraction field shifted to the top of 64 bits; 0 where a sign has a single NaN

  /// Zero or finite with its sign, for arithmetic. Meaningless for Inf and NaN.
  Exact number() const { return negative ? -magnitude : magnitude; }
  bool is_finite() const { return cls == ValueClass::zero || cls == ValueClass::finite; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// A finite value (no subnormal mark, no sign of zero).
Value value_from(const Exact& number);
Value zero_value(bool negative);
Value infinity_value(bool negative);
Value nan_value(bool negative, std::uint64_t payload = 0);

/// `code` is a word of the format's container: no bit above the format, none below storage_shift.
bool is_code(const FormatSpec& format, std::uint64_t code);

/// The value of a code. Throws std::invalid_argument unless is_code().
Value value_of(const FormatSpec& format, std::uint64_t code);

/// A literal: what parse_exact reads (with the sign of a zero kept), `inf` and `nan` with an optional sign.
std::optional<Value> parse_value(std::string_view text, std::string* why = nullptr);

/// As `halfulp decode` prints it: exact decimal, `-0`, `inf`, `-inf`, and `nan` without sign.
std::string to_string(const Value& value);
/// The same with to_hex_float for finite values.
std::string to_hex_string(const Value& value);

}  // namespace halfulp::oracle
