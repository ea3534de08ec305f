// Exact: a rational number without rounding, the value type of the oracle and of every exact twin.
//
// Decides nothing by itself: every operation is exact, and division by zero is the only one that fails.
// A literal on the command line (docs/guide.md, "Values") is read into it digit for digit. Twin: none; the
// integer engine in formats/ never sees this type.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace halfulp::oracle {

/// An immutable exact rational. Copying shares storage. Zero has no sign.
class Exact {
 public:
  /// Zero.
  Exact() = default;
  Exact(std::int64_t value);  // NOLINT(google-explicit-constructor): integers are exact

  static Exact from_unsigned(std::uint64_t value);
  /// significand * 2^exponent.
  static Exact scaled(std::int64_t significand, int exponent);
  static Exact scaled_unsigned(std::uint64_t significand, int exponent);
  /// 2^exponent.
  static Exact pow2(int exponent);
  /// numerator / denominator; throws std::domain_error when the denominator is 0.
  static Exact ratio(std::int64_t numerator, std::int64_t denominator);
  /// The exact value of a finite double; throws std::domain_error for Inf and NaN.
  static Exact from_double(double value);

  Exact operator-() const;
  friend Exact operator+(const Exact& a, const Exact& b);
  friend Exact operator-(const Exact& a, const Exact& b);
  friend Exact operator*(const Exact& a, const Exact& b);
  /// Throws std::domain_error when `b` is 0.
  friend Exact operator/(const Exact& a, const Exact& b);
  Exact& operator+=(const Exact& b) { return *this = *this + b; }
  Exact& operator-=(const Exact& b) { return *this = *this - b; }
  Exact& operator*=(const Exact& b) { return *this = *this * b; }
  Exact& operator/=(const Exact& b) { return *this = *this / b; }

  friend std::strong_ordering operator<=>(const Exact& a, const Exact& b);
  friend bool operator==(const Exact& a, const Exact& b);

  /// -1, 0 or 1.
  int sign() const;
  bool is_zero() const { return storage_ == nullptr; }
  Exact abs() const { return sign() < 0 ? -*this : *this; }
  /// This times 2^exponent.
  Exact times_pow2(int exponent) const;

  bool is_integer() const;
  /// The denominator is a power of two, so that the number has a finite binary expansion.
  bool is_dyadic() const;
  /// |this| is 2^k for an integer k.
  bool is_power_of_two() const;
  /// The largest k with 2^k <= |this|; throws std::domain_error for 0.
  int floor_log2() const;
  /// The largest integer <= this.
  Exact floor() const;
  /// The value when it is an integer in range; empty otherwise.
  std::optional<std::int64_t> to_int64() const;
  std::optional<std::uint64_t> to_uint64() const;

  /// Numerator of the reduced fraction in decimal, with its sign, and the positive denominator.
  std::string numerator_string() const;
  std::string denominator_string() const;
  /// Hexadecimal digits of the numerator's magnitude, lower case, no prefix.
  std::string numerator_hex() const;

 private:
  struct Storage;
  explicit Exact(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  static Exact normalized(Storage storage);

  std::shared_ptr<const Storage> storage_;  ///< null for zero
};

// ---- text (exact_text.cpp) ----

/// Limits of parse_exact: longer or larger literals are rejected, never clamped.
inline constexpr std::size_t kMaxLiteralDigits = 4096;
inline constexpr int kMaxBinaryExponent = 40000;   ///< of `p` and of `2^`
inline constexpr int kMaxDecimalExponent = 12000;  ///< of `e`; 10^12000 < 2^40000

/// Reads a finite literal exactly: decimal `0.1` `-1e-3`, hex-float `0x1.8p-3` (the `p` is required),
/// fraction `3/32` (two integers), power `2^-9`, integer. A sign `+` or `-` may stand in front. Empty on
/// anything else, with the reason in `why` when that is given. The sign of a zero is lost: parse_value
/// keeps it.
std::optional<Exact> parse_exact(std::string_view text, std::string* why = nullptr);

/// `3/32`, or `3` for an integer.
std::string to_fraction_string(const Exact& x);

/// Every digit, positional, no exponent, no trailing zeros: `0.001953125`. Empty when the decimal expansion
/// does not end (a reduced denominator with a prime factor other than 2 and 5).
std::string to_decimal_string(const Exact& x);

/// The shortest form of C's `%a` with leading digit 1: `0x1.8p-3`, `0x0p+0`. Empty unless is_dyadic().
std::string to_hex_float(const Exact& x);

}  // namespace halfulp::oracle
