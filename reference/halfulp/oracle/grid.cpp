// The order of the numbers of a format: a sorted table for small formats and unordered encodings, the order
// of the codes for the rest. Twin: the significand arithmetic of formats/halfulp/round.hpp.
#include "halfulp/oracle/grid.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace halfulp::oracle {

namespace {

/// Every number of the format with its code, sorted.
class TableGrid final : public Grid {
 public:
  explicit TableGrid(const FormatSpec& format) : Grid(format, enumerate_limits(format)) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << format.width; ++bits) {
      const std::uint64_t code = bits << format.storage_shift;
      const Value value = value_of(format, code);
      if (!may_produce(format, code, value)) continue;
      sides_[value.negative ? 1 : 0].push_back({value, code});
      const bool only_zero = value.cls == ValueClass::zero && !limits().minus_zero;
      if (only_zero && format.is_signed) sides_[1].push_back({value, code});
    }
    for (auto& side : sides_) {
      std::sort(side.begin(), side.end(),
                [](const Step& a, const Step& b) { return a.value.magnitude < b.value.magnitude; });
    }
  }

  std::uint64_t size(bool negative) const override { return side(negative).size(); }
  std::uint64_t code(bool negative, std::uint64_t index) const override {
    return side(negative)[index].code;
  }
  Value value(bool negative, std::uint64_t index) const override { return side(negative)[index].value; }
  std::optional<std::uint64_t> at_or_below(bool negative, const Exact& x) const override {
    const auto& steps = side(negative);
    const auto above = std::upper_bound(
        steps.begin(), steps.end(), x, [](const Exact& a, const Step& b) { return a < b.value.magnitude; });
    if (above == steps.begin()) return std::nullopt;
    return static_cast<std::uint64_t>(above - steps.begin()) - 1;
  }

 private:
  struct Step {
    Value value;
    std::uint64_t code;
  };
  const std::vector<Step>& side(bool negative) const { return sides_[negative ? 1 : 0]; }
  std::array<std::vector<Step>, 2> sides_;
};

/// Floating and two's complement formats: the n-th magnitude is the code n (or its negative), so no table
/// is needed.
class CodeGrid final : public Grid {
 public:
  explicit CodeGrid(const FormatSpec& format)
      : Grid(format, format.width <= 16 ? enumerate_limits(format) : bisect_limits(format)) {
    sizes_[0] = magnitude_bits(limits().largest.code) + 1;
    sizes_[1] = limits().lowest ? magnitude_bits(limits().lowest->code) + 1 : 0;
  }

  std::uint64_t size(bool negative) const override { return sizes_[negative ? 1 : 0]; }
  std::uint64_t code(bool negative, std::uint64_t index) const override {
    if (index == 0 && limits().zero)
      return negative && limits().minus_zero ? *limits().minus_zero : *limits().zero;
    const std::uint64_t sign_bit = std::uint64_t{1} << (format().width - 1);
    std::uint64_t bits = index;
    if (negative)
      bits = format().encoding == Encoding::floating ? sign_bit | index : (sign_bit - index) | sign_bit;
    return bits << format().storage_shift;
  }
  Value value(bool negative, std::uint64_t index) const override {
    return value_of(format(), code(negative, index));
  }

  std::optional<std::uint64_t> at_or_below(bool negative, const Exact& x) const override {
    if (x < value(negative, 0).magnitude) return std::nullopt;
    // The position is proposed by a formula and believed only when the two codes around it say so.
    const std::uint64_t last = size(negative) - 1;
    const std::uint64_t guess = std::min(propose(x), last);
    const auto at_most_x = [&](std::uint64_t index) { return value(negative, index).magnitude <= x; };
    if (at_most_x(guess) && (guess == last || !at_most_x(guess + 1))) return guess;
    std::uint64_t low = 0;
    std::uint64_t high = last;
    while (low < high) {
      const std::uint64_t middle = low + (high - low + 1) / 2;
      if (at_most_x(middle)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

 private:
  /// The code without its sign: the distance from the code of zero.
  std::uint64_t magnitude_bits(std::uint64_t code) const {
    const std::uint64_t bits = code >> format().storage_shift;
    const std::uint64_t sign_bit = std::uint64_t{1} << (format().width - 1);
    if (!format().is_signed || (bits & sign_bit) == 0) return bits;
    return format().encoding == Encoding::floating ? bits - sign_bit : 2 * sign_bit - bits;
  }

  std::uint64_t propose(const Exact& x) const {
    const FormatSpec& f = format();
    const auto whole = [](const Exact& y) { return y.floor().to_uint64().value_or(~std::uint64_t{0}); };
    if (f.encoding == Encoding::twos_complement) return whole(x.times_pow2(f.fraction_bits));
    if (x.is_zero()) return 0;
    const int lowest_field = f.subnormals == Subnormals::gradual ? 1 : 0;
    const int field = std::max(x.floor_log2() + f.bias, lowest_field);
    if (field >> f.exponent_bits != 0) return ~std::uint64_t{0};
    const std::uint64_t hidden = std::uint64_t{1} << f.fraction_bits;
    return static_cast<std::uint64_t>(field) * hidden +
           whole(x.times_pow2(f.fraction_bits + f.bias - field)) - hidden;
  }

  std::array<std::uint64_t, 2> sizes_;
};

constexpr int kTableWidth = 10;

std::unique_ptr<const Grid> make_grid(const FormatSpec& format) {
  const bool ordered =
      format.encoding == Encoding::floating || format.encoding == Encoding::twos_complement;
  if (ordered && format.width > kTableWidth) return std::make_unique<const CodeGrid>(format);
  return std::make_unique<const TableGrid>(format);
}

}  // namespace

const Grid& grid_of(const FormatSpec& format) {
  thread_local const Grid* recent = nullptr;
  if (recent != nullptr && recent->format() == format) return *recent;
  static std::mutex mutex;
  static std::vector<std::unique_ptr<const Grid>> grids;
  const std::lock_guard lock(mutex);
  for (const auto& grid : grids) {
    if (grid->format() == format) return *(recent = grid.get());
  }
  grids.push_back(make_grid(format));
  return *(recent = grids.back().get());
}

const Limits& limits_of(const FormatSpec& format) {
  return grid_of(format).limits();
}

}  // namespace halfulp::oracle
