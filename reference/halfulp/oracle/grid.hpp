// Grid: the numbers of a format that a cast may produce, in order of magnitude, each with its code.
//
// Decides: which numbers are neighbours. Twin: the significand arithmetic of formats/halfulp/round.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "halfulp/oracle/limits.hpp"

namespace halfulp::oracle {

/// The finite numbers of one sign in ascending magnitude. Index 0 is zero, where the format has one; in a
/// format without -0 the negative side begins with the code of +0. The negative side of an unsigned format
/// is empty.
class Grid {
 public:
  virtual ~Grid() = default;
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  virtual std::uint64_t size(bool negative) const = 0;
  virtual std::uint64_t code(bool negative, std::uint64_t index) const = 0;
  virtual Value value(bool negative, std::uint64_t index) const = 0;
  /// The largest index with |value(index)| <= x; empty when x is below the whole grid.
  virtual std::optional<std::uint64_t> at_or_below(bool negative, const Exact& x) const = 0;

  const Limits& limits() const { return limits_; }
  const FormatSpec& format() const { return format_; }

 protected:
  Grid(const FormatSpec& format, Limits limits) : format_(format), limits_(std::move(limits)) {}

 private:
  FormatSpec format_;
  Limits limits_;
};

/// The grid of a format, made on first use and kept. Safe to call from several threads.
const Grid& grid_of(const FormatSpec& format);

}  // namespace halfulp::oracle
