// Rows of specials; see special_sums.hpp.
#include "halfulp/vectors/mma/special_sums.hpp"

#include <cmath>
#include <functional>

namespace halfulp::vectors {
namespace {

using accumulation::Output;

class Specials {
 public:
  explicit Specials(SumBuilder& builder) : builder_(builder), k_(builder.plan().k) {
    for (const std::size_t place : {std::size_t{0}, k_ / 2, k_ - 1}) {
      if (places_.empty() || places_.back() != place) places_.push_back(place);
    }
  }

  std::vector<MmaRow> all() {
    nans();
    infinities();
    zeros();
    cancelling();
    ends_of_the_result();
    subnormals();
    scales();
    return std::move(rows_);
  }

 private:
  /// An ordinary row with one thing changed; or an empty one.
  void add(MmaFlag flag, const std::function<void(MmaRow&)>& change, bool ordinary = true) {
    MmaRow row = ordinary ? builder_.filled(false) : builder_.empty(true);
    row.flags = bit(flag);
    change(row);
    rows_.push_back(std::move(row));
  }

  void nans() {
    for (const std::uint32_t nan : builder_.a().nans()) {
      for (const std::size_t k : places_) add(MmaFlag::special, [&](MmaRow& row) { row.a[k] = nan; });
    }
    for (const std::uint32_t nan : builder_.b().nans()) {
      for (const std::size_t k : places_) add(MmaFlag::special, [&](MmaRow& row) { row.b[k] = nan; });
      add(
          MmaFlag::special, [&](MmaRow& row) { row.b[places_.back()] = nan; }, false);  // NaN times zero
    }
    for (const std::uint32_t nan : builder_.c().nans())
      add(MmaFlag::special, [&](MmaRow& row) { row.c = nan; });
    if (!builder_.a().nans().empty() && !builder_.a().infinities().empty()) {
      add(MmaFlag::special, [&](MmaRow& row) {
        row.a[0] = builder_.a().infinities().front();
        row.a[k_ - 1] = builder_.a().nans().front();
      });
    }
  }

  void infinities() {
    const auto& of_a = builder_.a().infinities();
    const auto& of_b = builder_.b().infinities();
    const auto& of_c = builder_.c().infinities();
    for (const std::uint32_t infinity : of_a) {
      for (const std::size_t k : places_) {
        add(MmaFlag::special, [&](MmaRow& row) { row.a[k] = infinity; });
        add(MmaFlag::special, [&](MmaRow& row) { row.a[k] = infinity, row.b[k] = builder_.b().word(0); });
        if (!of_b.empty())
          add(MmaFlag::special, [&](MmaRow& row) { row.a[k] = infinity, row.b[k] = of_b.back(); });
      }
      add(MmaFlag::special, [&](MmaRow& row) {
        row.a[0] = infinity, row.b[0] = builder_.b().word(1),
        row.a[k_ - 1] = builder_.a().negated(infinity), row.b[k_ - 1] = builder_.b().word(1);
      });
      for (const std::uint32_t c : of_c)
        add(MmaFlag::special,
            [&](MmaRow& row) { row.a[0] = infinity, row.b[0] = builder_.b().word(1), row.c = c; });
    }
    for (const std::uint32_t infinity : of_b)
      add(MmaFlag::special,
          [&](MmaRow& row) { row.a[k_ - 1] = builder_.a().word(0), row.b[k_ - 1] = infinity; });
    for (const std::uint32_t c : of_c) {
      add(MmaFlag::special, [&](MmaRow& row) { row.c = c; });
      add(
          MmaFlag::special, [&](MmaRow& row) { row.c = c; }, false);
    }
  }

  void zeros() {
    const auto minus = [](const OperandDraw& draw) { return draw.minus_zero().value_or(draw.word(0)); };
    for (int signs = 0; signs < 8; ++signs) {
      add(
          MmaFlag::zero,
          [&](MmaRow& row) {
            if (signs & 1) row.a.assign(k_, minus(builder_.a()));
            if (signs & 2) row.b.assign(k_, minus(builder_.b()));
            if (signs & 4) row.c = minus(builder_.c());
          },
          false);
    }
    add(MmaFlag::zero, [&](MmaRow& row) { row.c = minus(builder_.c()); });
  }

  /// x - x, with and without c of either zero; c - x.
  void cancelling() {
    for (const bool minus_c : {false, true}) {
      add(
          MmaFlag::cancellation,
          [&](MmaRow& row) {
            for (std::size_t k = 0; k + 1 < k_; k += 2) {
              builder_.set_product(row, k, builder_.centre(), false);
              row.a[k + 1] = builder_.a().negated(row.a[k]);
              row.b[k + 1] = row.b[k];
            }
            if (minus_c) row.c = builder_.c().minus_zero().value_or(0);
          },
          false);
    }
    for (const double sign : {1.0, -1.0}) {
      add(
          MmaFlag::cancellation,
          [&](MmaRow& row) {
            row.a[0] = builder_.a().word(sign), row.b[0] = builder_.b().word(1);
            row.c = builder_.c().word(-sign);
          },
          false);
    }
  }

  /// The largest numbers, and c beside the overflow threshold.
  void ends_of_the_result() {
    const auto top = [](const OperandDraw& draw) { return draw.word(kBeyond); };
    for (const double sign : {1.0, -1.0}) {
      add(
          MmaFlag::extreme,
          [&](MmaRow& row) {
            row.a.assign(k_, builder_.a().word(sign * kBeyond));
            row.b.assign(k_, top(builder_.b()));
          },
          false);
      const OperandDraw& c = builder_.c();
      const std::uint32_t largest = c.word(sign * kBeyond);
      add(
          MmaFlag::extreme, [&](MmaRow& row) { row.c = largest; }, false);
      add(MmaFlag::extreme, [&](MmaRow& row) { row.c = largest; });
      // Products of up to two last places of the largest result, in steps of a quarter of one.
      const int place = c.is_integer() ? 0 : c.highest() - c.format().fraction_bits;
      for (int quarters = 1; quarters <= 8; ++quarters) {
        add(
            MmaFlag::extreme,
            [&](MmaRow& row) {
              row.c = largest;
              const double step = std::ldexp(sign, place - 2);
              const int of_a = std::min(builder_.a().highest(), place / 2);
              for (int i = 0; i < quarters && static_cast<std::size_t>(i) < k_; ++i) {
                const auto k = static_cast<std::size_t>(i);
                row.a[k] = builder_.a().word(std::ldexp(1.0, of_a));
                row.b[k] = builder_.b().word(std::ldexp(step, -of_a));
              }
            },
            false);
      }
    }
  }

  void subnormals() {
    for (int i = 0; i < 8; ++i) rows_.push_back(builder_.subnormal());
    for (const double sign : {1.0, -1.0}) {
      add(
          MmaFlag::subnormal,
          [&](MmaRow& row) {
            const OperandDraw& c = builder_.c();
            row.c = c.is_integer() ? c.word(sign)
                                   : c.word(sign * std::ldexp(1.0, c.lowest() - c.format().fraction_bits));
          },
          false);
    }
  }

  void scales() {
    if (builder_.plan().scales() == 0) return;
    const OperandDraw& scale = builder_.scales();
    for (const std::uint32_t nan : scale.nans()) {
      add(MmaFlag::scale_end, [&](MmaRow& row) { row.scale_a.back() = nan; });
      add(
          MmaFlag::scale_end, [&](MmaRow& row) { row.scale_b.front() = nan; }, false);  // over zeros
    }
    for (int i = 0; i < 8; ++i) rows_.push_back(builder_.scale_ends());
  }

  static constexpr double kBeyond = 0x1p1000;  ///< brought to the largest number of any format

  SumBuilder& builder_;
  std::size_t k_;
  std::vector<std::size_t> places_;
  std::vector<MmaRow> rows_;
};

}  // namespace

std::vector<MmaRow> special_sums(SumBuilder& builder) {
  return Specials(builder).all();
}

}  // namespace halfulp::vectors
