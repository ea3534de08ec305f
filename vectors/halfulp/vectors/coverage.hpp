// Coverage: what a list of source words of a cast really reaches.
//
// Decides: when `complete_for_monotone` may be said. Everything is counted from the words themselves;
// levels.hpp only claims.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {

/// So many of so many.
struct Share {
  std::uint64_t reached = 0;
  std::uint64_t all = 0;
  bool full() const { return reached == all; }
};

struct Coverage {
  std::uint64_t words = 0;    ///< looked at, repetitions included
  std::uint64_t refused = 0;  ///< of these, the policy refuses
  Share codes;                ///< target codes given; `all` is 0 where the cast has no table
  Share thresholds;           ///< places where the answer changes, with the words on both sides; the same
  Share ends;     ///< first and last words of the classes of sources: zeros, numbers, Inf, NaN, by sign
  Share ties;     ///< sources half way between target numbers (tie_words)
  Share binades;  ///< signs and exponent fields of the source
  std::array<std::uint64_t, 5> flags{};    ///< words with each Flag, in their order
  std::array<std::uint64_t, 5> classes{};  ///< words of each NumberClass, in their order
  std::optional<bool>
      every_word;  ///< every source word that is not refused; empty where that was not counted (wide sources
                   ///< out of order)

  /// `exhaustive`; `complete_for_monotone` only when thresholds and ends are full and there is a table;
  /// else `sampled`.
  Completeness completeness() const;
};

/// Counts words as they come.
class CoverageCounter {
 public:
  explicit CoverageCounter(const Expected& expected);
  /// Source container words, in any order.
  void add(std::span<const std::uint64_t> words);
  Coverage result() const;

 private:
  /// Words that must be seen, ascending, and which were.
  struct Wanted {
    std::vector<std::uint64_t> bits;
    std::vector<bool> seen;
    void want(std::vector<std::uint64_t> list);
    void see(std::uint64_t bits_of_word);
    bool has(std::uint64_t bits_of_word) const;
    std::uint64_t count() const;
  };

  const Expected& expected_;
  Coverage counted_;
  Wanted sides_;
  Wanted ends_;
  Wanted ties_;
  std::vector<bool> binades_;
  std::unordered_set<std::uint64_t> codes_;
  std::vector<bool> every_;  ///< sources of up to 20 bits: one per word
  bool ascends_ = true;      ///< so far no word came twice
  std::uint64_t last_ = 0;   ///< bits of the word before
};

/// The same in one call.
Coverage coverage(const Expected& expected, std::span<const std::uint64_t> words);

/// `LABEL         3 of 16 WHAT` with a line end; how many there are is left open where `all` is 0.
std::string share_text(const char* label, const Share& share, const std::string& what);

/// A line per count, each with a line end.
std::string coverage_text(const Coverage& coverage);

}  // namespace halfulp::vectors
