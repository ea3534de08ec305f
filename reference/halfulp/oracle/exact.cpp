// Exact: storage and arithmetic. Decides nothing; see exact.hpp.
//
// A number is numerator * 2^exponent / denominator with both integers odd and without a common factor, so
// that equal numbers have equal storage and dyadic numbers (every value of every floating format) never
// meet a gcd.
#include "halfulp/oracle/exact.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace halfulp::oracle {

namespace {
using boost::multiprecision::cpp_int;

int top_bit(const cpp_int& positive) {
  return static_cast<int>(boost::multiprecision::msb(positive));
}

/// Shifts the factors of two of a positive integer into `exponent`.
void make_odd(cpp_int& positive, int& exponent, int direction) {
  const auto zeros = boost::multiprecision::lsb(positive);
  positive >>= zeros;
  exponent += direction * static_cast<int>(zeros);
}
}  // namespace

struct Exact::Storage {
  bool negative = false;
  cpp_int numerator;        ///< positive and odd
  cpp_int denominator = 1;  ///< positive and odd
  int exponent = 0;
};

Exact Exact::normalized(Storage s) {
  if (s.numerator == 0) return {};
  if (s.numerator < 0) {
    s.numerator = -s.numerator;
    s.negative = !s.negative;
  }
  make_odd(s.numerator, s.exponent, 1);
  if (s.denominator != 1) {
    make_odd(s.denominator, s.exponent, -1);
    const cpp_int common = gcd(s.numerator, s.denominator);
    if (common != 1) {
      s.numerator /= common;
      s.denominator /= common;
    }
  }
  return Exact(std::make_shared<const Storage>(std::move(s)));
}

Exact::Exact(std::int64_t value) : Exact(scaled(value, 0)) {}
Exact Exact::from_unsigned(std::uint64_t value) {
  return scaled_unsigned(value, 0);
}
Exact Exact::scaled(std::int64_t significand, int exponent) {
  return normalized({false, cpp_int(significand), 1, exponent});
}
Exact Exact::scaled_unsigned(std::uint64_t significand, int exponent) {
  return normalized({false, cpp_int(significand), 1, exponent});
}
Exact Exact::pow2(int exponent) {
  return scaled(1, exponent);
}
Exact Exact::ratio(std::int64_t numerator, std::int64_t denominator) {
  return Exact(numerator) / Exact(denominator);
}
Exact Exact::from_double(double value) {
  if (!std::isfinite(value)) throw std::domain_error("halfulp::oracle::Exact: not a finite number");
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // |fraction| in [1/2, 1): 53 bits make an integer
  return scaled(static_cast<std::int64_t>(std::ldexp(fraction, 53)), exponent - 53);
}

Exact Exact::operator-() const {
  if (is_zero()) return {};
  Storage s = *storage_;
  s.negative = !s.negative;
  return Exact(std::make_shared<const Storage>(std::move(s)));
}

Exact operator+(const Exact& a, const Exact& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const auto& p = *a.storage_;
  const auto& q = *b.storage_;
  const int exponent = std::min(p.exponent, q.exponent);
  cpp_int left = p.numerator << static_cast<unsigned>(p.exponent - exponent);
  cpp_int right = q.numerator << static_cast<unsigned>(q.exponent - exponent);
  if (q.denominator != 1) left *= q.denominator;
  if (p.denominator != 1) right *= p.denominator;
  if (p.negative) left = -left;
  if (q.negative) right = -right;
  return Exact::normalized({false, left + right, p.denominator * q.denominator, exponent});
}

Exact operator-(const Exact& a, const Exact& b) {
  return a + -b;
}

Exact operator*(const Exact& a, const Exact& b) {
  if (a.is_zero() || b.is_zero()) return {};
  const auto& p = *a.storage_;
  const auto& q = *b.storage_;
  return Exact::normalized({p.negative != q.negative, p.numerator * q.numerator,
                            p.denominator * q.denominator, p.exponent + q.exponent});
}

Exact operator/(const Exact& a, const Exact& b) {
  if (b.is_zero()) throw std::domain_error("halfulp::oracle::Exact: division by zero");
  if (a.is_zero()) return {};
  const auto& p = *a.storage_;
  const auto& q = *b.storage_;
  return Exact::normalized({p.negative != q.negative, p.numerator * q.denominator,
                            p.denominator * q.numerator, p.exponent - q.exponent});
}

bool operator==(const Exact& a, const Exact& b) {
  if (a.storage_ == b.storage_) return true;
  if (a.is_zero() || b.is_zero()) return false;
  const auto& p = *a.storage_;
  const auto& q = *b.storage_;
  return p.negative == q.negative && p.exponent == q.exponent && p.numerator == q.numerator &&
         p.denominator == q.denominator;
}

std::strong_ordering operator<=>(const Exact& a, const Exact& b) {
  if (a.sign() != b.sign()) return a.sign() <=> b.sign();
  if (a.is_zero()) return std::strong_ordering::equal;
  const auto& p = *a.storage_;
  const auto& q = *b.storage_;
  // Distinct binades decide at once; within one, the shift is at most the width of the numerators.
  if (const int left = a.floor_log2(), right = b.floor_log2(); left != right) {
    return p.negative ? right <=> left : left <=> right;
  }
  const int exponent = std::min(p.exponent, q.exponent);
  cpp_int left = p.numerator << static_cast<unsigned>(p.exponent - exponent);
  cpp_int right = q.numerator << static_cast<unsigned>(q.exponent - exponent);
  if (q.denominator != 1) left *= q.denominator;
  if (p.denominator != 1) right *= p.denominator;
  const int order = left.compare(right);
  return (p.negative ? -order : order) <=> 0;
}

int Exact::sign() const {
  return is_zero() ? 0 : storage_->negative ? -1 : 1;
}

Exact Exact::times_pow2(int exponent) const {
  if (is_zero()) return {};
  Storage s = *storage_;
  s.exponent += exponent;
  return Exact(std::make_shared<const Storage>(std::move(s)));
}

bool Exact::is_integer() const {
  return is_zero() || (storage_->denominator == 1 && storage_->exponent >= 0);
}
bool Exact::is_dyadic() const {
  return is_zero() || storage_->denominator == 1;
}
bool Exact::is_power_of_two() const {
  return !is_zero() && storage_->denominator == 1 && storage_->numerator == 1;
}

int Exact::floor_log2() const {
  if (is_zero()) throw std::domain_error("halfulp::oracle::Exact: logarithm of zero");
  const Storage& s = *storage_;
  if (s.denominator == 1) return top_bit(s.numerator) + s.exponent;
  // n/d lies in (2^(k-1), 2^(k+1)) with k = top(n) - top(d): below 2^k when the aligned n is below the
  // aligned d.
  const int k = top_bit(s.numerator) - top_bit(s.denominator);
  const bool below = k >= 0 ? s.numerator < (s.denominator << static_cast<unsigned>(k))
                            : (s.numerator << static_cast<unsigned>(-k)) < s.denominator;
  return k + s.exponent - (below ? 1 : 0);
}

Exact Exact::floor() const {
  if (is_integer()) return *this;
  const Storage& s = *storage_;
  cpp_int numerator = s.numerator;
  cpp_int denominator = s.denominator;
  if (s.exponent >= 0) {
    numerator <<= static_cast<unsigned>(s.exponent);
  } else {
    denominator <<= static_cast<unsigned>(-s.exponent);
  }
  const cpp_int quotient =
      numerator / denominator;  // not an integer: truncation is the floor of the magnitude
  return normalized({s.negative, s.negative ? cpp_int(quotient + 1) : quotient, 1, 0});
}

std::optional<std::uint64_t> Exact::to_uint64() const {
  if (is_zero()) return 0;
  if (!is_integer() || storage_->negative || floor_log2() >= 64) return std::nullopt;
  return static_cast<std::uint64_t>(storage_->numerator) << storage_->exponent;
}

std::optional<std::int64_t> Exact::to_int64() const {
  const auto magnitude = abs().to_uint64();
  if (!magnitude) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (sign() < 0) {
    if (*magnitude > kMax + 1) return std::nullopt;
    return static_cast<std::int64_t>(0 - *magnitude);
  }
  if (*magnitude > kMax) return std::nullopt;
  return static_cast<std::int64_t>(*magnitude);
}

std::string Exact::numerator_string() const {
  if (is_zero()) return "0";
  const cpp_int whole = storage_->numerator << static_cast<unsigned>(std::max(storage_->exponent, 0));
  return (storage_->negative ? "-" : "") + whole.str();
}

std::string Exact::denominator_string() const {
  if (is_zero()) return "1";
  return cpp_int(storage_->denominator << static_cast<unsigned>(std::max(-storage_->exponent, 0))).str();
}

std::string Exact::numerator_hex() const {
  if (is_zero()) return "0";
  const cpp_int whole = storage_->numerator << static_cast<unsigned>(std::max(storage_->exponent, 0));
  return whole.str(0, std::ios_base::hex);
}

}  // namespace halfulp::oracle
