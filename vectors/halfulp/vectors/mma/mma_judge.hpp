// Judges what a kernel made of the rows of an accumulation model: exact totals, kinds of findings, the
// first one.
//
// Decides: what counts as wrong. Bits are compared. Where a NaN is expected every NaN is right, unless the
// SPEC says nan=exact. Rows on which the zero rules part are undecided: counted by what the kernel gave,
// never wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "halfulp/vectors/mma/mma_row.hpp"

namespace halfulp::vectors {

enum class MmaFinding : std::uint8_t {
  nan,       ///< a NaN for a number or Inf, or the other way
  infinity,  ///< Inf for a number, the other way, or the other Inf
  zero_sign,
  order_free,  ///< wrong although no order of the products could change it
  last_place,  ///< the neighbouring result, or one between them that the unit does not have
  value,
};
inline constexpr std::array<std::string_view, 6> kMmaFindingNames = {
    "NaN", "infinity", "zero sign", "order-free row", "last place", "value"};

struct MmaCase {
  MmaFinding kind = MmaFinding::value;
  std::size_t row = 0;
  std::uint32_t got = 0, want = 0;
};

struct MmaGroup {
  std::uint64_t count = 0, off_by_one = 0;
  MmaCase first;
};

struct MmaTally {
  std::uint64_t rows = 0, wrong = 0;
  std::uint64_t undecided = 0, as_expected = 0,
                as_other = 0;  ///< undecided rows, and what was given on them
  std::array<MmaGroup, kMmaFindingNames.size()> groups;
  std::vector<bool> wrong_rows;  ///< one per answer

  bool passed() const { return rows > 0 && wrong == 0; }
  /// The finding of the smallest row. Requires wrong > 0.
  const MmaCase& first() const;
};

/// Answers in the order of rows; an empty one was lost and is not judged. Fewer answers than rows judge the
/// first ones.
using MmaAnswers = std::vector<std::optional<std::uint32_t>>;

MmaTally judge_sums(const MmaPlan& plan, const MmaRows& rows, const MmaAnswers& answers);

/// Equal, or both a NaN where the plan takes every NaN.
bool same_result(const MmaPlan& plan, std::uint32_t got, std::uint32_t want);

/// Steps of the format of the result between two words in value order, 0 for the same and for two zeros;
/// empty where one is NaN.
std::optional<std::uint64_t> steps_apart(const MmaPlan& plan, std::uint32_t a, std::uint32_t b);

/// Steps of the format from one result of the unit to the next: 1024 where a float32 has 13 bits. With
/// promotion 1: the accumulator has all bits.
std::uint64_t steps_per_result(const MmaPlan& plan);

/// The same distance in results of the unit, a part of one counted as one.
std::optional<std::uint64_t> results_apart(const MmaPlan& plan, std::uint32_t a, std::uint32_t b);

}  // namespace halfulp::vectors
