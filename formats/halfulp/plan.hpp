// CastPlan: a cast as a user names it - formats, dialect, options, intermediate format - made ready to run.
//
// The option names are those of `halfulp cast --help` and of the SPEC grammar `cast:FROM:TO[@DIALECT][,key=value]…`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/dialects.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/literal.hpp"
#include "halfulp/lookup.hpp"

namespace halfulp {

/// What a user wrote. `options` holds (key, value) pairs in the order given; keys are option names without dashes:
/// rounding, overflow, nan, nan-code, inf-none, negative, zero, directed-overflow, overflow-test, flush, fnuz-nan,
/// low-binade, via, sr-variant, sr-bits, sr-random, seed.
struct CastRequest {
  std::string from = "exact";
  std::string to;
  std::string dialect;
  std::vector<std::pair<std::string, std::string>> options;
};

struct CastPlan {
  std::string to_name;                         ///< canonical
  std::string from_name;                       ///< canonical, or "exact"
  std::string dialect;                         ///< canonical, or empty
  std::optional<FormatSpec> from;              ///< empty: exact literals
  FormatSpec to;
  std::string via_name;                        ///< canonical, or empty
  std::optional<FormatSpec> via;               ///< intermediate format: ties_to_even, overflow, payload kept
  CastPolicy policy;
  std::optional<std::uint64_t> random;         ///< the word for every value (--sr-random)
  std::uint64_t seed = 0;                      ///< counter-based words otherwise
  std::vector<std::pair<std::string, std::string>> options;  ///< what the user named, in canonical words

  /// Random word of the value with that position in the stream.
  std::uint64_t random_word(std::uint64_t index) const;
  /// Casts a container word of `from`. Requires from.
  CastResult operator()(std::uint64_t word, std::uint64_t index = 0) const;
  /// Casts an exact value; with `from` set it is rounded to that format first.
  CastResult operator()(const ExactUnpacked& value, std::uint64_t index = 0) const;
};

/// Makes a plan. Throws InputError for unknown names, options that do not fit together, or a dialect that has no row
/// for these formats.
CastPlan make_plan(const CastRequest& request);

/// Parses the SPEC of a cast: `cast:FROM:TO[@DIALECT][,key=value]…` (also FROM->TO). Throws InputError.
CastRequest parse_cast_spec(std::string_view spec);

/// The SPEC of a plan in canonical names: what `make_plan(parse_cast_spec(text))` turns into the same plan.
std::string spec_text(const CastPlan& plan);

/// Rounds an exact value to a source format as a literal is read: ties_to_even, overflow, NaN payload kept.
/// Throws InputError where the format cannot hold the value (NaN, a negative …).
std::uint64_t read_literal_as(const ExactUnpacked& value, const Format& format, std::string_view text);

/// Counter-based random words: SplitMix64 of seed and index, the same on every machine.
constexpr std::uint64_t counter_random(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Why a refused value was refused and what the user can name: the WHY and HOW TO MEND of the error line.
std::pair<std::string_view, std::string_view> refusal_text(Refusal refusal);

}  // namespace halfulp
