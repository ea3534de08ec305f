// A law: a statement about one cast that holds for every generated case, and the words to state it.
//
// RapidCheck stays behind this header (law.cpp, generators.cpp): a law file compiles without it. Runs are
// reproducible: the seed and the number of cases are fixed in law.cpp; RC_PARAMS in the environment
// overrides both.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::laws {

/// One generated cast. Shown in full when a law fails.
struct CastCase {
  Format from;
  std::uint64_t word = 0;   ///< container word of `from`
  std::uint64_t other = 0;  ///< a second one, near the first as often as not
  Format to;
  CastPolicy policy;
  std::uint64_t random = 0;  ///< a word of random bits
};

std::ostream& operator<<(std::ostream& out, const CastCase& c);

enum class Sources {
  wide,  ///< f16, bf16, tf32, f32, f64
  any    ///< every named format and IEEE P3109
};
enum class Policies {
  plain,  ///< defaults, with an answer named for every input
  total,  ///< every field drawn, but no refusal
  any     ///< every field drawn
};

inline const std::vector<Rounding> kAllRoundings = {
    Rounding::ties_to_even,    Rounding::ties_to_away, Rounding::toward_zero, Rounding::toward_positive,
    Rounding::toward_negative, Rounding::to_odd,       Rounding::stochastic};
inline const std::vector<Rounding> kDeterministicRoundings(kAllRoundings.begin(), kAllRoundings.end() - 1);
inline const std::vector<Rounding> kNearestRoundings(kAllRoundings.begin(), kAllRoundings.begin() + 2);

/// Where most sources stand.
enum class Focus {
  everywhere,
  tops,        ///< around and above the largest number of the target
  bottoms,     ///< around and below the smallest numbers of the target
  subnormals,  ///< subnormal codes of the source format
  specials     ///< zeros, Inf, NaN and the ends of the source format
};

/// From where the parts of a case are drawn. Targets: every named format and IEEE P3109, K = 3..16, all P.
struct Space {
  Sources sources = Sources::wide;
  bool (*target)(const FormatSpec&) = [](const FormatSpec&) { return true; };
  Policies policies = Policies::plain;
  Focus focus = Focus::everywhere;
  std::vector<Rounding> roundings = kAllRoundings;
  std::vector<Overflow> overflows = {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow};
};

/// Checks `law` on generated cases; the running GoogleTest test fails with the smallest case found that
/// breaks it.
void for_all(const Space& space, const std::function<void(const CastCase&)>& law);

/// The law says nothing about this case: another one is drawn. A test fails when ten times as many cases
/// are skipped as are judged.
[[noreturn]] void skip();

/// Breaks the law unless `holds`; the words are printed in hexadecimal behind `sentence`.
void require(bool holds, std::string_view sentence, std::initializer_list<std::uint64_t> words = {});

// ---- what laws speak about ----

inline CastResult result_of(const CastCase& c) {
  return cast(c.from.spec, c.word, c.to.spec, c.policy, c.random);
}
inline oracle::Value source_value(const CastCase& c) {
  return oracle::value_of(c.from.spec, c.word);
}
inline oracle::Value target_value(const CastCase& c, const CastResult& r) {
  return oracle::value_of(c.to.spec, r.code);
}

inline bool is_floating(const FormatSpec& spec) {
  return spec.encoding == Encoding::floating;
}
inline bool is_signed_floating(const FormatSpec& spec) {
  return is_floating(spec) && spec.is_signed;
}

/// The same precision and smallest number with room above: the grid "continued past the largest finite".
inline FormatSpec with_more_exponents(FormatSpec spec) {
  if (spec.encoding == Encoding::twos_complement) {
    spec.width = 32;
    return spec;
  }
  spec.exponent_bits += 2;
  spec.width += 2;
  return spec;
}

/// Order on the extended real line. A NaN stands where overflow left it: beyond all numbers of its sign.
std::strong_ordering compare_places(const oracle::Value& a, const oracle::Value& b);

}  // namespace halfulp::laws
