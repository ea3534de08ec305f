// SourceOrder: the codes of a format in ascending order of value: -Inf .. -0, +0 .. +Inf. NaN codes are
// left out.
//
// Decides: what "the next source value" is in thresholds and sweeps. IEEE 754-2019 5.10 (totalOrder without
// NaN). Twin: formats/halfulp/thresholds.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halfulp/oracle/value.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

class SourceOrder {
 public:
  explicit SourceOrder(const FormatSpec& format);

  const FormatSpec& format() const { return format_; }
  /// Number of codes that are not NaN.
  std::uint64_t size() const { return negatives_ + positives_; }
  std::uint64_t code_at(std::uint64_t position) const;
  /// Empty for a NaN. Requires is_code().
  std::optional<std::uint64_t> position_of(std::uint64_t code) const;
  Value value_at(std::uint64_t position) const { return value_of(format_, code_at(position)); }

  /// Half-open ranges of positions inside which sign, class and subnormality do not change, in ascending
  /// order.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Segment> segments() const;

 private:
  bool is_table() const { return !table_.empty(); }

  FormatSpec format_;
  std::uint64_t negatives_ = 0;  ///< codes with the sign bit set that are not NaN
  std::uint64_t positives_ = 0;  ///< the others
  std::uint64_t first_magnitude_ =
      0;  ///< smallest magnitude of a negative floating code: 0 with -0, 1 without
  std::vector<std::uint64_t> table_;  ///< codes in order, where the encoding has no order of its own
  std::vector<std::uint64_t> positions_;
};

}  // namespace halfulp::oracle
