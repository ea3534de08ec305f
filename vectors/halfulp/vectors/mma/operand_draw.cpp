// Draws words; see operand_draw.hpp.
#include "halfulp/vectors/mma/operand_draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

NumberClass class_of(const FormatSpec& format, std::uint32_t word) {
  return unpack(format, word).number_class;
}

}  // namespace

OperandDraw::OperandDraw(const FormatSpec& format) : format_(format) {
  if (is_integer()) {
    highest_ = format.width - (format.is_signed ? 2 : 1);
    return;
  }
  lowest_ = format.min_exponent();
  highest_ =
      std::ilogb(value(static_cast<std::uint32_t>(format.largest_magnitude() << format.storage_shift)));
  constexpr double kInf = std::numeric_limits<double>::infinity(),
                   kNan = std::numeric_limits<double>::quiet_NaN();
  const auto add = [&](std::vector<std::uint32_t>& list, std::uint32_t word, NumberClass wanted) {
    if (class_of(format, word) == wanted && std::find(list.begin(), list.end(), word) == list.end())
      list.push_back(word);
  };
  const std::uint32_t sign =
      format.is_signed ? std::uint32_t{1} << (format.width - 1 + format.storage_shift) : 0;
  if (format.non_finite != NonFinite::none) {
    for (const double x : {kInf, -kInf}) add(infinities_, word(x), NumberClass::infinity);
    const std::uint32_t nan = word(kNan);
    for (const std::uint32_t one : {nan, nan ^ sign}) add(nans_, one, NumberClass::nan);
    const std::uint32_t last_bit = std::uint32_t{1} << format.storage_shift;
    for (const std::uint32_t infinity : std::vector<std::uint32_t>(infinities_))
      add(nans_, infinity + last_bit, NumberClass::nan);
  }
  if (sign != 0 && class_of(format, sign) == NumberClass::zero) minus_zero_ = sign;
}

std::uint32_t OperandDraw::word(double value) const {
  if (!format_.is_signed) value = std::fabs(value);
  return static_cast<std::uint32_t>(blocks::code_of(format_, value));
}

bool OperandDraw::is_finite(std::uint32_t word) const {
  const NumberClass is = class_of(format_, word);
  return is != NumberClass::nan && is != NumberClass::infinity;
}

std::uint32_t OperandDraw::negated(std::uint32_t word) const {
  return this->word(-value(word));
}

std::uint32_t OperandDraw::with_exponent(int exponent, bool negative, blocks::Random& random) const {
  exponent = std::clamp(exponent, lowest_, highest_);
  const std::uint64_t fraction = random.word() & low_mask(is_integer() ? highest_ : format_.fraction_bits);
  const double significand =
      1 + std::ldexp(static_cast<double>(fraction), -(is_integer() ? highest_ : format_.fraction_bits));
  const double magnitude = std::ldexp(significand, exponent);
  return word(negative ? -magnitude : magnitude);
}

std::uint32_t OperandDraw::subnormal(blocks::Random& random) const {
  const double unit = std::ldexp(1.0, is_integer() ? 0 : lowest_ - format_.fraction_bits);
  const auto steps =
      static_cast<double>(1 + random.below(std::max<std::uint64_t>(1, low_mask(format_.fraction_bits))));
  return word((random.below(2) == 0 ? 1 : -1) * steps * unit);
}

std::uint32_t OperandDraw::extreme(blocks::Random& random) const {
  const double sign = random.below(2) == 0 ? 1 : -1;
  if (is_integer())
    return word(sign *
                static_cast<double>(random.below(2) == 0 ? low_mask(format_.width) : random.below(2)));
  switch (random.below(4)) {
    case 0:
      return word(sign *
                  value(static_cast<std::uint32_t>(format_.largest_magnitude() << format_.storage_shift)));
    case 1: return word(sign * std::ldexp(1.0, lowest_));
    case 2: return word(sign * std::ldexp(1.0, lowest_ - format_.fraction_bits));
    default: return word(sign * 0.0);
  }
}

std::uint32_t OperandDraw::bits(blocks::Random& random, std::uint64_t rarely) const {
  for (;;) {
    const auto word =
        static_cast<std::uint32_t>((random.word() & low_mask(format_.width)) << format_.storage_shift);
    if (is_finite(word) || (rarely != 0 && random.below(rarely) == 0)) return word;
  }
}

}  // namespace halfulp::vectors
