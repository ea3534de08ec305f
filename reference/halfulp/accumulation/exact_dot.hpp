// Exact dot products in fixed-width integers, rounded once into any format. Twin: Scheme::exact of sum_exact.cpp.
//
// Products of E4M3, FP6, FP4 and integers fit 64 bits, those of E5M2 and f16 128 bits; every other pair, and sums scaled
// by powers of two, go through a fixed point wide enough for all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halfulp/literal.hpp"
#include "halfulp/policy.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::accumulation {

__extension__ typedef __int128 int128;

/// A sum in fixed point: bit 0 weighs 2^kLow. Holds 2^60 terms of float32 products times two E8M0 scales.
class WideSum {
 public:
  static constexpr int kLow = -704;
  static constexpr std::size_t kLimbs = 22;
  /// Adds value * 2^exponent, kLow <= exponent <= 560 and |value| < 2^96, or a value that ends below 2^640.
  void add(int128 value, int exponent);
  /// The sum: its top 65 to 128 bits, and whether something lies below them.
  ExactUnpacked value() const;

 private:
  std::array<std::uint64_t, kLimbs> limbs_ = {};  ///< two's complement
};

class ExactDot {
 public:
  /// Which integers hold the sum of one stretch.
  enum class Width : std::uint8_t { bits64, bits128, wide };

  ExactDot(const FormatSpec& a, const FormatSpec& b);
  Width width() const { return width_; }

  /// The exact sum of products, plus c when c_format is given. NaN, or an infinity, as IEEE 754 has it for the sum of all
  /// terms. A zero is +0. Words are container words; a and b have one length.
  ExactUnpacked value(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::uint32_t c = 0,
                      const FormatSpec* c_format = nullptr) const;

  /// Words decoded once for many dots: units of the format's smallest number as high * 2^9 + low, then zeros.
  struct Decoded {
    std::vector<std::int16_t> high, low;
    std::vector<std::uint32_t> words;
    bool finite = true;
  };
  /// True for pairs of floating formats of at most 8 bits and 18 bits of units (E4M3, FP6, FP4).
  bool decodes() const { return in_lanes_ && a_.bits <= 18 && b_.bits <= 18; }
  Decoded decoded_a(std::span<const std::uint32_t> words) const;
  Decoded decoded_b(std::span<const std::uint32_t> words) const;
  /// value(a, b) of decoded words. Requires decodes(), one length and at most 2^16 products.
  ExactUnpacked value(const Decoded& a, const Decoded& b) const;
  /// All dots of rows of a with rows of b: out[i * b.size() + j] is value(a[i], b[j]). Requires decodes(), one length of all
  /// rows and at most 2^16 products; std::invalid_argument where out or a row has another size.
  void values(std::span<const Decoded> a, std::span<const Decoded> b, std::span<ExactUnpacked> out) const;

  /// The same with powers of two: block i of `block` products is scaled by 2^(exponents[i]), -254 <= exponent <= 254.
  ExactUnpacked scaled_value(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::span<const int> exponents,
                             std::size_t block) const;

 private:
  struct Factor {
    std::int64_t units = 0;         ///< in units of the format's smallest number, where that fits 64 bits
    std::int32_t significand = 0;   ///< else significand * 2^exponent
    std::int16_t exponent = 0;
    std::uint8_t kind = 0;          ///< 0 finite, 1 Inf, 2 -Inf, 4 NaN
  };
  struct Specials {
    std::uint8_t seen = 0;
    void add(const Factor& a, const Factor& b);
  };
  /// One format's words as factors.
  struct Table {
    explicit Table(const FormatSpec& format);
    Factor operator()(std::uint32_t word) const { return factors.empty() ? factor(word) : factors[word]; }
    Factor factor(std::uint32_t word) const;
    FormatSpec format;
    int unit = 0;  ///< weight of one unit
    int bits = 0;  ///< |units| < 2^bits
    std::vector<Factor> factors;
  };

  static Decoded decoded(const Table& table, std::span<const std::uint32_t> words);
  void add_stretch(WideSum& sum, Specials& specials, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, int exponent) const;
  static ExactUnpacked result(const WideSum& sum, const Specials& specials);

  Table a_, b_;
  Width width_ = Width::wide;
  double lift_ = 1;        ///< units per 1
  bool in_lanes_ = false;  ///< both formats are floating, at most 8 bits, with sums of 2^16 products exact in a double
};

/// Rounds an exact sum: the correctly rounded result in any format, under any policy.
CastResult rounded_dot(const ExactUnpacked& value, const FormatSpec& to, const CastPolicy& policy);

}  // namespace halfulp::accumulation
