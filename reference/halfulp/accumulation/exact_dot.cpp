// Exact dot products; see exact_dot.hpp.
#include "halfulp/accumulation/exact_dot.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "halfulp/accumulation/detail/exact_kernel.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::accumulation {
namespace {

constexpr std::size_t kStretch = std::size_t{1} << 20;  ///< products whose sum one narrow integer must hold

/// What the vector kernel needs to read a format; floating formats of at most 8 bits with a sign.
detail::NarrowFloat narrow_float(const FormatSpec& format) {
  const auto mask = static_cast<std::uint32_t>(format.magnitude_mask());
  detail::NarrowFloat f = {mask, static_cast<std::uint32_t>(format.sign_mask()), 23 - format.fraction_bits, 127 - format.bias, mask + 1, mask + 1 + mask};
  switch (format.non_finite) {
    case NonFinite::ieee: f.first_special = static_cast<std::uint32_t>(format.infinity_magnitude()); break;
    case NonFinite::nan_all_ones: f.first_special = mask; break;
    case NonFinite::nan_minus_zero: f.special_code = static_cast<std::uint32_t>(format.sign_mask()); break;
    default: break;
  }
  return f;
}

bool is_narrow_float(const FormatSpec& format) {
  const bool known = format.non_finite == NonFinite::ieee || format.non_finite == NonFinite::nan_all_ones ||
                     format.non_finite == NonFinite::nan_minus_zero || format.non_finite == NonFinite::none;
  return format.encoding == Encoding::floating && format.width <= 8 && format.is_signed && known && format.subnormals == Subnormals::gradual;
}

/// A sum that is an integer of units, without going through the wide fixed point. Written where it stays: a copy of fields just
/// written one by one costs more than a short dot.
void put_integer(ExactUnpacked& x, std::int64_t units, int unit) {
  const bool none = units == 0;
  x.number_class = none ? NumberClass::zero : NumberClass::normal;
  x.negative = units < 0;
  x.significand = units < 0 ? 0 - static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
  x.exponent = none ? 0 : unit;
  x.sticky = false;
  x.payload = 0;
}

ExactUnpacked of_integer(std::int64_t units, int unit) {
  ExactUnpacked x;
  put_integer(x, units, unit);
  return x;
}

}  // namespace

void WideSum::add(int128 value, int exponent) {
  const auto place = static_cast<unsigned>(exponent - kLow);
  const unsigned bit = place % 64;
  const auto low = static_cast<std::uint64_t>(value), high = static_cast<std::uint64_t>(value >> 64);
  const std::uint64_t extension = value < 0 ? ~std::uint64_t{0} : 0;
  const std::uint64_t pieces[3] = {low << bit, bit == 0 ? high : (high << bit) | (low >> (64 - bit)),
                                   bit == 0 ? extension : (extension << bit) | (high >> (64 - bit))};
  std::uint64_t carry = 0;
  for (std::size_t i = place / 64, piece = 0; i < kLimbs; ++i, ++piece) {
    const std::uint64_t term = piece < 3 ? pieces[piece] : extension;
    if (piece >= 3 && term + carry == 0) return;  // nothing more to add, or -1 and a carry
    const uint128 total = uint128{limbs_[i]} + term + carry;
    limbs_[i] = static_cast<std::uint64_t>(total);
    carry = static_cast<std::uint64_t>(total >> 64);
  }
}

ExactUnpacked WideSum::value() const {
  std::array<std::uint64_t, kLimbs> magnitude = limbs_;
  ExactUnpacked x;
  x.negative = (limbs_.back() >> 63) != 0;
  if (x.negative) {
    std::uint64_t carry = 1;
    for (std::uint64_t& limb : magnitude) {
      limb = ~limb + carry;
      carry = carry != 0 && limb == 0 ? 1 : 0;
    }
  }
  std::size_t top = kLimbs;
  while (top > 0 && magnitude[top - 1] == 0) --top;
  if (top == 0) return {};
  x.number_class = NumberClass::normal;
  const std::size_t first = top >= 2 ? top - 2 : 0;
  x.significand = (uint128{top >= 2 ? magnitude[top - 1] : 0} << 64) | magnitude[first];
  x.exponent = kLow + 64 * static_cast<int>(first);
  for (std::size_t i = 0; i < first; ++i) x.sticky = x.sticky || magnitude[i] != 0;
  return x;
}

ExactDot::Table::Table(const FormatSpec& spec) : format(spec) {
  unit = spec.encoding == Encoding::floating ? 1 - spec.bias - spec.fraction_bits : -spec.fraction_bits;
  const bool integer = spec.encoding == Encoding::twos_complement;
  const Unpacked largest = integer ? Unpacked{} : unpack(spec, spec.largest_magnitude() << spec.storage_shift);
  bits = integer ? spec.width : bit_width(largest.significand) + largest.exponent - unit;
  if (spec.storage_bits() > 16) return;
  std::vector<Factor> all(std::size_t{1} << spec.storage_bits());
  for (std::size_t word = 0; word < all.size(); ++word) all[word] = factor(static_cast<std::uint32_t>(word));
  factors = std::move(all);
}

ExactDot::Factor ExactDot::Table::factor(std::uint32_t word) const {
  const Unpacked x = unpack(format, word);
  if (x.number_class == NumberClass::nan) return {.kind = 4};
  if (x.number_class == NumberClass::infinity) return {.kind = static_cast<std::uint8_t>(x.negative ? 2 : 1)};
  Factor f;
  const auto significand = static_cast<std::int64_t>(x.significand);
  f.significand = static_cast<std::int32_t>(x.negative ? -significand : significand);
  f.exponent = static_cast<std::int16_t>(x.exponent);
  if (bits <= 62 && f.significand != 0) f.units = std::int64_t{f.significand} * (std::int64_t{1} << (x.exponent - unit));
  return f;
}

ExactDot::ExactDot(const FormatSpec& a, const FormatSpec& b) : a_(a), b_(b) {
  const int bits = a_.bits + b_.bits + 20;  // with kStretch terms
  if (a_.bits <= 62 && b_.bits <= 62) width_ = bits <= 62 ? Width::bits64 : bits <= 126 ? Width::bits128 : Width::wide;
  in_lanes_ = is_narrow_float(a) && is_narrow_float(b) && a_.bits + b_.bits + 16 <= 53;
  if (in_lanes_) lift_ = std::ldexp(1.0, -(a_.unit + b_.unit));
}

ExactDot::Decoded ExactDot::decoded(const Table& table, std::span<const std::uint32_t> words) {
  Decoded row;
  row.words.assign(words.begin(), words.end());
  const std::size_t padded = (words.size() + detail::kHalvesBlock - 1) / detail::kHalvesBlock * detail::kHalvesBlock;
  row.high.reserve(padded);
  row.low.reserve(padded);
  for (const std::uint32_t word : words) {
    const Factor x = table(word);
    row.finite = row.finite && x.kind == 0;
    row.high.push_back(static_cast<std::int16_t>(x.units >> 9));
    row.low.push_back(static_cast<std::int16_t>(x.units & 511));
  }
  row.high.resize(padded);
  row.low.resize(padded);
  return row;
}

ExactDot::Decoded ExactDot::decoded_a(std::span<const std::uint32_t> words) const { return decoded(a_, words); }
ExactDot::Decoded ExactDot::decoded_b(std::span<const std::uint32_t> words) const { return decoded(b_, words); }

ExactUnpacked ExactDot::value(const Decoded& a, const Decoded& b) const {
  ExactUnpacked x;
  if (a.finite && b.finite) {
    put_integer(x, detail::halves_dot({a.high.data(), a.low.data()}, {b.high.data(), b.low.data()}, a.high.size()), a_.unit + b_.unit);
  } else {
    x = value(std::span(a.words), std::span(b.words));
  }
  return x;
}

void ExactDot::values(std::span<const Decoded> a, std::span<const Decoded> b, std::span<ExactUnpacked> out) const {
  if (out.size() != a.size() * b.size()) throw std::invalid_argument("halfulp: not one result for every pair of rows");
  if (a.empty() || b.empty()) return;
  const std::size_t count = a.front().words.size();
  const auto of_count = [=](const Decoded& row) { return row.words.size() == count; };
  if (!std::ranges::all_of(a, of_count) || !std::ranges::all_of(b, of_count)) throw std::invalid_argument("halfulp: rows have different lengths");
  std::vector<detail::HalvesRow> columns;
  for (const Decoded& row : b) columns.push_back({row.high.data(), row.low.data()});
  constexpr std::size_t kColumns = 16;  // rows of b that stay in the first cache
  std::array<std::int64_t, kColumns> sums;
  const int unit = a_.unit + b_.unit;
  for (std::size_t first = 0; first < b.size(); first += kColumns) {
    const std::size_t width = std::min(kColumns, b.size() - first);
    for (std::size_t i = 0; i < a.size(); ++i) {
      detail::halves_dots({a[i].high.data(), a[i].low.data()}, columns.data() + first, width, a[i].high.size(), sums.data());
      ExactUnpacked* row = &out[i * b.size() + first];
      for (std::size_t j = 0; j < width; ++j) {
        if (a[i].finite && b[first + j].finite) put_integer(row[j], sums[j], unit);
        else row[j] = value(a[i], b[first + j]);
      }
    }
  }
}

void ExactDot::Specials::add(const Factor& a, const Factor& b) {
  if (a.kind == 0 && b.kind == 0) return;
  const bool zero = (a.kind == 0 && a.significand == 0) || (b.kind == 0 && b.significand == 0);
  if (((a.kind | b.kind) & 4) != 0 || zero) {
    seen |= 4;
  } else {
    const bool negative = (a.kind == 2 || a.significand < 0) != (b.kind == 2 || b.significand < 0);
    seen |= static_cast<std::uint8_t>(negative ? 2 : 1);
  }
}

void ExactDot::add_stretch(WideSum& sum, Specials& specials, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                           int exponent) const {
  const int unit = a_.unit + b_.unit + exponent;
  std::uint8_t kinds = 0;
  std::int64_t narrow = 0;
  int128 middle = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Factor x = a_(a[k]), y = b_(b[k]);
    kinds |= x.kind | y.kind;
    if (width_ == Width::bits64) narrow += x.units * y.units;
    else if (width_ == Width::bits128) middle += int128{x.units} * y.units;
    else if (x.significand != 0 && y.significand != 0) sum.add(int128{x.significand} * y.significand, x.exponent + y.exponent + exponent);
  }
  if (width_ == Width::bits64) middle = narrow;
  if (width_ != Width::wide) sum.add(middle, unit);
  if (kinds == 0) return;
  for (std::size_t k = 0; k < a.size(); ++k) specials.add(a_(a[k]), b_(b[k]));
}

ExactUnpacked ExactDot::result(const WideSum& sum, const Specials& specials) {
  if ((specials.seen & 4) != 0 || (specials.seen & 3) == 3) return {.number_class = NumberClass::nan};
  if (specials.seen != 0) return {.number_class = NumberClass::infinity, .negative = specials.seen == 2};
  return sum.value();
}

ExactUnpacked ExactDot::value(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::uint32_t c,
                              const FormatSpec* c_format) const {
  if (in_lanes_ && c_format == nullptr && a.size() <= std::size_t{1} << 16) {
    double units = 0;
    if (detail::narrow_dot(narrow_float(a_.format), narrow_float(b_.format), a.data(), b.data(), a.size(), lift_, units)) {
      return of_integer(static_cast<std::int64_t>(units), a_.unit + b_.unit);
    }
  }
  WideSum sum;
  Specials specials;
  for (std::size_t first = 0; first < a.size(); first += kStretch) {
    const std::size_t count = std::min(kStretch, a.size() - first);
    add_stretch(sum, specials, a.subspan(first, count), b.subspan(first, count), 0);
  }
  if (c_format != nullptr) {
    const Unpacked x = unpack(*c_format, c);
    if (x.number_class == NumberClass::nan) specials.seen |= 4;
    if (x.number_class == NumberClass::infinity) specials.seen |= static_cast<std::uint8_t>(x.negative ? 2 : 1);
    if (x.significand != 0) sum.add(x.negative ? -int128{x.significand} : int128{x.significand}, x.exponent);
  }
  return result(sum, specials);
}

ExactUnpacked ExactDot::scaled_value(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::span<const int> exponents,
                                     std::size_t block) const {
  WideSum sum;
  Specials specials;
  for (std::size_t first = 0, i = 0; first < a.size(); first += block, ++i) {
    const std::size_t count = std::min(block, a.size() - first);
    add_stretch(sum, specials, a.subspan(first, count), b.subspan(first, count), exponents[i]);
  }
  return result(sum, specials);
}

CastResult rounded_dot(const ExactUnpacked& value, const FormatSpec& to, const CastPolicy& policy) { return cast(value, to, policy); }

}  // namespace halfulp::accumulation
