// Operations on binary64 numbers, each rounded once to its precision.
#include "halfulp/recipes/operations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/literal.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF64 = spec_of("f64");
constexpr FormatSpec kF16 = spec_of("f16");
constexpr FormatSpec kBf16 = spec_of("bf16");
constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

double rounded(double value, Precision precision) {
  switch (precision) {
    case Precision::f64: return value;
    case Precision::f32: return static_cast<double>(static_cast<float>(value));
    case Precision::f16: return decode(kF16, cast(kF64, std::bit_cast<std::uint64_t>(value), kF16, kIeee).code);
    case Precision::bf16: return decode(kBf16, cast(kF64, std::bit_cast<std::uint64_t>(value), kBf16, kIeee).code);
  }
  return value;
}

/// The result of an approximate step: the correctly rounded one, or its neighbour `step.ulps` floats away where that is
/// within one ulp of the exact result. `exact` has at least 52 right bits.
double admissible(const Step& step, double exact) {
  const double nearest = rounded(exact, step.precision);
  if (step.ulps == 0 || step.precision != Precision::f32 || !std::isfinite(nearest) || nearest == 0) return nearest;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const double candidate = std::nextafter(static_cast<float>(nearest), step.ulps > 0 ? inf : -inf);
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::fabs(candidate - exact) <= ulp ? candidate : nearest;
}

/// A reciprocal that takes and gives no binary32 subnormals: zeros of their sign instead.
double reciprocal_approx(const Step& step, double p) {
  constexpr double smallest = 0x1p-126;
  const bool f32 = step.precision == Precision::f32;
  if (f32 && std::fabs(p) < smallest) p = std::copysign(0.0, p);
  const double result = admissible(step, 1.0 / p);
  return f32 && std::fabs(result) < smallest ? std::copysign(0.0, result) : result;
}

double pow2_floor(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return std::copysign(std::ldexp(1.0, std::ilogb(value)), value);
}

double bits_add(double value, const std::string& amount) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<double>(std::bit_cast<float>(bits + static_cast<std::uint32_t>(literal_value(amount))));
}

/// Of 256 elements, see check_block_sizes().
double tree_sum(const std::vector<double>& tile, Precision precision) {
  double sums[16] = {};
  for (std::size_t i = 0; i < 256; ++i) sums[i / 16] = rounded(sums[i / 16] + tile[i], precision);
  for (std::size_t half = 8; half >= 1; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = rounded(sums[i] + sums[i + half], precision);
  }
  return sums[0];
}

/// Walsh-Hadamard transform without the factor 1/sqrt(n): a butterfly is one rounded sum and one rounded difference. The length is
/// a power of two, see check_block_sizes().
std::vector<double> hadamard(std::vector<double> values, Precision precision) {
  for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i & stride) != 0) continue;
      const double p = values[i], q = values[i + stride];
      values[i] = rounded(p + q, precision);
      values[i + stride] = rounded(p - q, precision);
    }
  }
  return values;
}

/// At position fraction * (n - 1) of the values in order, equal ones (+0 and -0) as they stand: below + weight * (above - below), and from weight 1/2 upward
/// above - (above - below) * (1 - weight), every operation rounded. NaN when any value is.
double quantile(std::vector<double> values, double fraction, Precision precision) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  for (const double value : values) {
    if (std::isnan(value)) return value;
  }
  std::stable_sort(values.begin(), values.end());
  const double position = rounded(fraction * rounded(static_cast<double>(values.size() - 1), precision), precision);
  const double floor = std::floor(position), last = static_cast<double>(values.size() - 1);
  const double below = values[static_cast<std::size_t>(std::clamp(floor, 0.0, last))];
  const double above = values[static_cast<std::size_t>(std::clamp(std::ceil(position), 0.0, last))];
  const double weight = rounded(position - floor, precision);
  const double gap = rounded(above - below, precision);
  if (weight < 0.5) return rounded(below + rounded(weight * gap, precision), precision);
  return rounded(above - rounded(gap * rounded(1 - weight, precision), precision), precision);
}

/// What the elements of a block give together.
double one_of_all(const Step& step, const std::vector<double>& in, double fraction) {
  if (step.op == Op::quantile) return quantile(in, fraction, step.precision);
  if (step.op == Op::count) return rounded(static_cast<double>(in.size()), step.precision);
  if (step.op == Op::median) {
    std::vector<double> sorted = in;
    for (const double value : in) {
      if (std::isnan(value)) return value;
    }
    std::stable_sort(sorted.begin(), sorted.end());
    return sorted.empty() ? std::numeric_limits<double>::quiet_NaN() : sorted[(sorted.size() - 1) / 2];
  }
  double result = step.op == Op::lowest || step.op == Op::highest ? std::numeric_limits<double>::infinity() : 0;
  if (step.op == Op::highest) result = -result;
  for (const double value : in) {
    const bool nan = std::isnan(value) || std::isnan(result);
    switch (step.op) {
      case Op::sum: result = rounded(result + value, step.precision); break;
      case Op::peak: result = std::fabs(value) > std::fabs(result) ? value : result; break;
      case Op::lowest: result = nan ? value + result : value < result ? value : result; break;
      case Op::highest: result = nan ? value + result : value > result ? value : result; break;
      default: result = maximum(result, std::fabs(value)); break;
    }
  }
  return result;
}

}  // namespace

double decode(const FormatSpec& format, std::uint64_t code) {
  return std::bit_cast<double>(cast(format, code, kF64, kIeee).code);
}

double literal_value(const std::string& literal) {
  const Literal parsed = parse_literal(literal);
  if (parsed.error != LiteralError::none) throw InputError("literal " + literal, "not a number", "write a decimal or a hex-float");
  return std::bit_cast<double>(cast(parsed.value, kF64, kIeee).code);
}

double minimum(double p, double q) {
  if (p == 0 && q == 0) return std::signbit(p) ? p : q;
  return std::fmin(p, q);
}
double maximum(double p, double q) { return -minimum(-p, -q); }

double apply(const Step& step, double p, double q, double r, double s) {
  switch (step.op) {
    case Op::constant: return rounded(literal_value(step.literal), step.precision);
    case Op::copy: return p;
    case Op::add: return rounded(p + q, step.precision);
    case Op::subtract: return rounded(p - q, step.precision);
    case Op::multiply: return rounded(p * q, step.precision);
    case Op::divide: return rounded(p / q, step.precision);
    case Op::negate: return -p;
    case Op::absolute: return std::fabs(p);
    case Op::copy_sign: return std::copysign(p, q);
    case Op::square_root: return rounded(std::sqrt(p), step.precision);
    case Op::minimum: return minimum(p, q);
    case Op::maximum: return maximum(p, q);
    case Op::fma:
      if (step.precision == Precision::f32) {
        return static_cast<double>(std::fma(static_cast<float>(p), static_cast<float>(q), static_cast<float>(r)));
      }
      return rounded(std::fma(p, q, r), step.precision);
    case Op::reciprocal_approx: return reciprocal_approx(step, p);
    case Op::log2: return admissible(step, std::log2(p));
    case Op::exp2: return admissible(step, std::exp2(p));
    case Op::ceiling: return std::ceil(p);
    case Op::floor: return std::floor(p);
    case Op::truncate: return std::trunc(p);
    case Op::round_even: return std::nearbyint(p);
    case Op::round_away: return std::round(p);
    case Op::pow2_floor: return pow2_floor(p);
    case Op::pow2_ceil: return rounded(pow2_floor(p) == p ? p : 2 * pow2_floor(p), step.precision);
    case Op::bits_add: return bits_add(p, step.literal);
    case Op::select_zero: return p == 0 ? q : r;
    case Op::select_finite: return std::isfinite(p) ? q : r;
    case Op::select_nan: return std::isnan(p) ? q : r;
    case Op::select_less: return p < q ? r : s;
    default: break;
  }
  throw std::logic_error("not an operation on single numbers");
}

std::vector<double> apply_collective(const Step& step, const std::vector<double>& elements, double fraction) {
  if (step.op == Op::hadamard) return hadamard(elements, step.precision);
  if (step.op == Op::flip_signs) {
    std::vector<double> flipped = elements;
    const auto mask = static_cast<std::uint32_t>(literal_value(step.literal));
    for (std::size_t i = 0; i < flipped.size(); ++i) {
      if ((mask >> (i % 16) & 1) != 0) flipped[i] = -flipped[i];
    }
    return flipped;
  }
  if (step.op == Op::tree_sum) return {tree_sum(elements, step.precision)};
  return {one_of_all(step, elements, fraction)};
}

double nearest_entry(const Step& step, double value, const std::vector<double>& entries) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double distance = std::fabs(rounded(value - entries[i], step.precision));
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return static_cast<double>(best);
}

}  // namespace halfulp::recipes
