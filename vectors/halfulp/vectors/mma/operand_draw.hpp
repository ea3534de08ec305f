// OperandDraw: words of one operand format by what they are worth. The same words for the same seed on
// every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors {

class OperandDraw {
 public:
  explicit OperandDraw(const FormatSpec& format);

  const FormatSpec& format() const { return format_; }
  bool is_integer() const { return format_.encoding == Encoding::twos_complement; }
  int lowest() const { return lowest_; }    ///< exponent of the smallest normal number
  int highest() const { return highest_; }  ///< of the largest

  /// The nearest word; finite values stay finite. Integers and unsigned formats take what they have.
  std::uint32_t word(double value) const;
  double value(std::uint32_t word) const { return blocks::number_of(format_, word); }
  bool is_finite(std::uint32_t word) const;
  std::uint32_t negated(std::uint32_t word) const;

  /// +-m * 2^exponent, m in [1, 2) with all fraction bits random. Exponents beyond the format are brought
  /// into it.
  std::uint32_t with_exponent(int exponent, bool negative, blocks::Random& random) const;
  std::uint32_t subnormal(blocks::Random& random) const;
  /// One of the numbers at either end: largest, smallest normal, smallest, zero.
  std::uint32_t extreme(blocks::Random& random) const;
  /// Any bits; `rarely` of them a NaN or Inf: one in that many where they are drawn at all, 0: never.
  std::uint32_t bits(blocks::Random& random, std::uint64_t rarely) const;

  /// NaNs and infinities of either sign that the format has, quiet and signalling, and -0.
  const std::vector<std::uint32_t>& nans() const { return nans_; }
  const std::vector<std::uint32_t>& infinities() const { return infinities_; }
  std::optional<std::uint32_t> minus_zero() const { return minus_zero_; }

 private:
  FormatSpec format_;
  int lowest_ = 0, highest_ = 0;
  std::vector<std::uint32_t> nans_, infinities_;
  std::optional<std::uint32_t> minus_zero_;
};

}  // namespace halfulp::vectors
