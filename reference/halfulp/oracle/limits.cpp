// The ends of a format, by enumeration and by bisection. Twin: the derived functions of
// formats/halfulp/spec.hpp.
#include "halfulp/oracle/limits.hpp"

#include <stdexcept>

namespace halfulp::oracle {

namespace {

/// Enters one code into the limits; codes may come in any order that keeps NaN codes ascending.
void enter(const FormatSpec& format, std::uint64_t code, const Value& value, Limits& limits) {
  const std::uint64_t step = std::uint64_t{1} << format.storage_shift;
  switch (value.cls) {
    case ValueClass::nan:
      if (!limits.nans.empty() && limits.nans.back().last + step == code) {
        limits.nans.back().last = code;
      } else {
        limits.nans.push_back({code, code});
      }
      return;
    case ValueClass::infinity: (value.negative ? limits.minus_infinity : limits.infinity) = code; return;
    case ValueClass::zero: (value.negative ? limits.minus_zero : limits.zero) = code; return;
    case ValueClass::finite: break;
  }
  if (!may_produce(format, code, value)) return;
  const Limits::Number number{value.magnitude, code};
  if (value.negative) {
    if (!limits.lowest || limits.lowest->value < number.value) limits.lowest = number;
    return;
  }
  const auto keep_smaller = [&number](std::optional<Limits::Number>& slot) {
    if (!slot || number.value < slot->value) slot = number;
  };
  if (limits.largest.value < number.value) limits.largest = number;
  if (limits.smallest_positive.value.is_zero() || number.value < limits.smallest_positive.value) {
    limits.smallest_positive = number;
  }
  if (value.subnormal) keep_smaller(limits.smallest_subnormal);
  if (!value.subnormal && format.encoding == Encoding::floating) keep_smaller(limits.smallest_normal);
}

/// The smallest n in [first, end) for which `holds`, or `end`; `holds` must stay true once it is.
template <typename Predicate>
std::uint64_t first_where(std::uint64_t first, std::uint64_t end, Predicate holds) {
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (holds(middle)) {
      end = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

}  // namespace

bool may_produce(const FormatSpec& format, std::uint64_t code, const Value& value) {
  if (!value.is_finite()) return false;
  const bool most_negative = format.encoding == Encoding::twos_complement && format.is_signed &&
                             code == std::uint64_t{1} << (format.width - 1);
  return !(most_negative && format.range == IntegerRange::restricted);
}

Limits enumerate_limits(const FormatSpec& format) {
  if (format.width > 16)
    throw std::invalid_argument("halfulp::oracle::enumerate_limits: more than 16 bits");
  Limits limits;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << format.width; ++bits) {
    const std::uint64_t code = bits << format.storage_shift;
    enter(format, code, value_of(format, code), limits);
  }
  return limits;
}

Limits bisect_limits(const FormatSpec& format) {
  const bool floating = format.encoding == Encoding::floating;
  if (!floating && format.encoding != Encoding::twos_complement) {
    throw std::invalid_argument("halfulp::oracle::bisect_limits: codes of this encoding are not in order");
  }
  Limits limits;
  const std::uint64_t half = std::uint64_t{1} << (format.width - 1);
  const auto at = [&format](std::uint64_t bits) { return value_of(format, bits << format.storage_shift); };
  const auto enter_bits = [&](std::uint64_t bits) {
    enter(format, bits << format.storage_shift, at(bits), limits);
  };

  // One half of the codes at a time: in each, from its second code on, numbers come first, then Inf, then
  // NaN.
  for (std::uint64_t base : {std::uint64_t{0}, half}) {
    const std::uint64_t infinity =
        first_where(1, half, [&](std::uint64_t i) { return !at(base + i).is_finite(); });
    const std::uint64_t nan =
        first_where(infinity, half, [&](std::uint64_t i) { return at(base + i).cls == ValueClass::nan; });
    enter_bits(base);
    if (infinity > 1) {
      enter_bits(base + 1);
      enter_bits(base + infinity - 1);
      // The subnormals are the first numbers of their half.
      const std::uint64_t normal =
          first_where(1, infinity, [&](std::uint64_t i) { return !at(base + i).subnormal; });
      if (normal < infinity) enter_bits(base + normal);
    }
    if (infinity < nan) enter_bits(base + infinity);
    if (nan < half) {
      enter_bits(base + nan);
      limits.nans.back().last = (base + half - 1) << format.storage_shift;
    }
  }
  return limits;
}

}  // namespace halfulp::oracle
