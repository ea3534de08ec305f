// What the twin tests share: the policies of a sweep and the comparison of the two engines on one cast.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/thresholds.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp::test {

inline constexpr Rounding kDeterministic[] = {Rounding::ties_to_even,    Rounding::ties_to_away,
                                              Rounding::toward_zero,     Rounding::toward_positive,
                                              Rounding::toward_negative, Rounding::to_odd};
inline constexpr Overflow kOverflows[] = {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow};

/// A policy that answers every input: rules for negatives, zero and NaN are named.
inline CastPolicy total_policy(Rounding rounding, Overflow overflow) {
  return {.rounding = rounding, .overflow = overflow, .nan_none = NanNone::nan_to_signed_max, .negative = Negative::abs,
          .zero = ZeroInto::min};
}

inline std::string describe(const Format& from, const Format& to, const CastPolicy& policy) {
  return std::string(from.name) + " -> " + std::string(to.name) + " " + std::string(name_of(policy.rounding)) + " " +
         std::string(name_of(policy.overflow));
}

/// Number of source codes on which both engines gave the same code, by the oracle's interval table, NaN sources by
/// `nearest`. Reports the first difference as a failure.
inline std::uint64_t compare_by_intervals(const Format& from, const Format& to, const CastPolicy& policy,
                                          std::uint64_t random = 0) {
  const oracle::ThresholdTable table(from.spec, to.spec, policy, random);
  std::uint64_t agreed = 0;
  const std::uint64_t codes = std::uint64_t{1} << from.spec.width;
  const auto check = [&](std::uint64_t word, std::uint64_t code, Refusal refusal) {
    const CastResult got = cast(from.spec, word, to.spec, policy, random);
    if (got.code == code && got.refusal == refusal) {
      ++agreed;
      return true;
    }
    ADD_FAILURE() << describe(from, to, policy) << std::hex << " source 0x" << word << ": engine 0x" << got.code
                  << " refusal " << int(got.refusal) << ", oracle 0x" << code << " refusal " << int(refusal);
    return false;
  };
  const OrderedCodes order(from.spec);
  if (order.size() != table.order().size()) {
    ADD_FAILURE() << from.name << ": the engines order " << order.size() << " and " << table.order().size() << " codes";
    return 0;
  }
  std::size_t interval = 0;
  for (std::uint64_t position = 0; position < order.size(); ++position) {
    while (position >= table.start(interval + 1)) ++interval;
    const oracle::Interval& expected = table.intervals()[interval];
    if (!check(order[position], expected.code, expected.refusal)) return agreed;
  }
  for (std::uint64_t code = 0; code < codes; ++code) {
    const std::uint64_t word = code << from.spec.storage_shift;
    const oracle::Value value = oracle::value_of(from.spec, word);
    if (value.cls != oracle::ValueClass::nan) continue;
    const CastResult expected = oracle::nearest(value, to.spec, policy, random);
    if (!check(word, expected.code, expected.refusal)) return agreed;
  }
  return agreed;
}

/// The same value by value through the oracle's `nearest`, flags and refusals included.
inline std::uint64_t compare_by_value(const Format& from, const std::vector<std::uint64_t>& words, const Format& to,
                                      const CastPolicy& policy, std::uint64_t random = 0) {
  std::uint64_t agreed = 0;
  for (const std::uint64_t word : words) {
    const CastResult got = cast(from.spec, word, to.spec, policy, random);
    const CastResult expected = oracle::cast(from.spec, word, to.spec, policy, random);
    if (got == expected) {
      ++agreed;
      continue;
    }
    ADD_FAILURE() << describe(from, to, policy) << std::hex << " source 0x" << word << ": engine 0x" << got.code
                  << " flags " << int(got.flags) << " refusal " << int(got.refusal) << ", oracle 0x" << expected.code
                  << " flags " << int(expected.flags) << " refusal " << int(expected.refusal);
    return agreed;
  }
  return agreed;
}

inline std::vector<std::uint64_t> all_codes(const FormatSpec& spec) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t code = 0; code < (std::uint64_t{1} << spec.width); ++code) words.push_back(code << spec.storage_shift);
  return words;
}

}  // namespace halfulp::test
