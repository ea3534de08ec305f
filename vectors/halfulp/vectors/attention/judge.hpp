// Judges what a kernel made of the rows of an attention plan.
//
// Decides: what counts as wrong. With a spec, bits of every stage that was given; a NaN matches every NaN.
// With the order unknown, the claims of probes that hold for every kernel; what only some kernels promise
// is reported as a property.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/attention/columns.hpp"
#include "halfulp/vectors/attention/rows.hpp"

namespace halfulp::vectors {

struct StageTally {
  std::string name;
  std::uint64_t compared = 0, wrong = 0;
  std::size_t row = 0, word = 0;  ///< of the first wrong one
  std::uint32_t got = 0, want = 0;
};

/// How the elements of O fared against what can be proved of them.
struct ClaimTally {
  std::uint64_t violated = 0;    ///< outside the admitted codes: a proof
  std::uint64_t forced = 0;      ///< one admitted code, and it is this one
  std::uint64_t admissible = 0;  ///< among several
  std::uint64_t undecided = 0;   ///< nothing bounds it
  std::uint64_t enclosed = 0;    ///< of the violated ones: on random data, by an enclosure
  std::uint64_t rechecked = 0;   ///< of the violated ones: all; in rational numbers, or enclosed again in 256 bits
  std::string first;             ///< the first violation in words
  void add(const ClaimTally& other);
};

/// One probe, or one random row.
struct AttentionProperty {
  std::string text;  ///< e.g. `far_keys: 128 keys 10 below the maximum, first or last`
  bool holds = false;
};

struct AttentionTally {
  std::uint64_t rows = 0, rows_wrong = 0;
  std::vector<bool> wrong_rows;
  std::vector<StageTally> stages;  ///< in the order in which a kernel comes to them
  ClaimTally claims;
  std::optional<std::size_t> violated_row;  ///< the row of claims.first
  std::vector<AttentionProperty> properties;

  std::uint64_t compared() const;
  std::uint64_t wrong() const;
  /// The first stage that differs in the first wrong row; nullptr when none does.
  const StageTally* first() const;
};

/// Told of rows, or kernels, that are done, and what is being done; may be empty.
using AttentionProgress = std::function<void(const char* what, std::size_t done, std::size_t total)>;

/// `answers[i]` belongs to row i; empty ones were not given, an empty column neither. `expected` may be
/// empty where the order is unknown. No violation is counted before it is found a second time, in exact or wide
/// arithmetic; throws std::logic_error where that contradicts. `threads` (0: all cores) changes nothing.
AttentionTally judge_attention(const AttentionPlan& plan, const AttentionRows& rows,
                               const std::vector<AttentionAnswer>& expected,
                               const std::vector<AttentionAnswer>& answers,
                               const AttentionProgress& progress = {}, unsigned threads = 1);

/// Claims of one probe against its answer. `twin`: the answer that it must repeat, where it must. Violations are
/// checked again in rational numbers; throws std::logic_error where those contradict.
ClaimTally judge_probe(const AttentionPlan& plan, const attention::Probe& probe,
                       const AttentionAnswer& answer, const AttentionAnswer* twin);

/// Words of O that are wrong.
std::uint64_t wrong_outputs(const AttentionPlan& plan, const AttentionAnswer& want,
                            const AttentionAnswer& got);

}  // namespace halfulp::vectors
