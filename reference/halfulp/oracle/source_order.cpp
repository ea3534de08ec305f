// The order of the codes of a format. Twin: formats/halfulp/thresholds.hpp.
#include "halfulp/oracle/source_order.hpp"

#include <algorithm>

namespace halfulp::oracle {

namespace {

constexpr std::uint64_t kNan = ~std::uint64_t{0};

/// Position among values: sign and class as a rank, then the number.
bool precedes(const Value& a, const Value& b) {
  const auto rank = [](const Value& v) {
    const int magnitude = v.cls == ValueClass::zero ? 1 : v.cls == ValueClass::finite ? 2 : 3;
    return v.negative ? -magnitude : magnitude;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a.number() < b.number();
}

/// Sign, class and subnormality as one number.
int kind(const Value& v) {
  return (v.negative ? 8 : 0) + (v.subnormal ? 4 : 0) + static_cast<int>(v.cls);
}

}  // namespace

SourceOrder::SourceOrder(const FormatSpec& format) : format_(format) {
  const std::uint64_t sign_bit = std::uint64_t{1} << (format.width - 1);
  const auto at = [&format](std::uint64_t bits) { return value_of(format, bits << format.storage_shift); };
  if (format.encoding == Encoding::codebook || format.encoding == Encoding::hifloat8) {
    for (std::uint64_t code = 0; code < 2 * sign_bit; ++code) {
      if (at(code).cls != ValueClass::nan) table_.push_back(code);
    }
    std::stable_sort(table_.begin(), table_.end(),
                     [&at](std::uint64_t a, std::uint64_t b) { return precedes(at(a), at(b)); });
    positions_.assign(2 * sign_bit, kNan);
    for (std::uint64_t i = 0; i < table_.size(); ++i) positions_[table_[i]] = i;
    positives_ = table_.size();
    return;
  }
  if (format.encoding == Encoding::twos_complement) {
    positives_ = format.is_signed ? sign_bit : 2 * sign_bit;
    negatives_ = format.is_signed ? sign_bit : 0;
    return;
  }
  // In each half of the codes the NaNs come last, except that the code of -0 may be the only NaN of its
  // half.
  const auto count = [&at](std::uint64_t base, std::uint64_t first, std::uint64_t size) {
    std::uint64_t low = first;
    std::uint64_t high = size;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (at(base + middle).cls == ValueClass::nan) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low - first;
  };
  if (!format.is_signed) {
    positives_ = sign_bit + count(sign_bit, 0, sign_bit);
    return;
  }
  positives_ = count(0, 0, sign_bit);
  first_magnitude_ = at(sign_bit).cls == ValueClass::nan ? 1 : 0;
  negatives_ = count(sign_bit, first_magnitude_, sign_bit);
}

std::uint64_t SourceOrder::code_at(std::uint64_t position) const {
  if (is_table()) return table_[position];
  if (position >= negatives_) return (position - negatives_) << format_.storage_shift;
  const std::uint64_t sign_bit = std::uint64_t{1} << (format_.width - 1);
  // Two's complement counts up with its codes; a floating negative counts down with its magnitude.
  if (format_.encoding == Encoding::twos_complement) return sign_bit + position;
  return (sign_bit + first_magnitude_ + (negatives_ - 1 - position)) << format_.storage_shift;
}

std::optional<std::uint64_t> SourceOrder::position_of(std::uint64_t code) const {
  if (is_table()) return positions_[code] == kNan ? std::nullopt : std::optional(positions_[code]);
  const std::uint64_t bits = code >> format_.storage_shift;
  const std::uint64_t sign_bit = std::uint64_t{1} << (format_.width - 1);
  if (!format_.is_signed || bits < sign_bit) {
    if (bits >= positives_) return std::nullopt;
    return negatives_ + bits;
  }
  const std::uint64_t magnitude = bits - sign_bit;
  if (format_.encoding == Encoding::twos_complement) return magnitude;
  if (magnitude < first_magnitude_ || magnitude - first_magnitude_ >= negatives_) return std::nullopt;
  return negatives_ - 1 - (magnitude - first_magnitude_);
}

std::vector<SourceOrder::Segment> SourceOrder::segments() const {
  std::vector<Segment> result;
  for (std::uint64_t begin = 0; begin < size();) {
    // Kinds come in runs, and no kind returns after another: the end of a run is found by bisection.
    const int wanted = kind(value_at(begin));
    std::uint64_t low = begin + 1;
    std::uint64_t high = size();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (kind(value_at(middle)) == wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    result.push_back({begin, low});
    begin = low;
  }
  return result;
}

}  // namespace halfulp::oracle
