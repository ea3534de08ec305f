// Runs a kernel over the rows of an attention plan, judges it, and names what would explain it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "halfulp/vectors/attention/judge.hpp"
#include "halfulp/vectors/attention/kernels.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {

/// A named kernel beside the answers: rows whose O is the same.
struct AttentionFit {
  std::string behaviour;  ///< attention:PRESET… or mutant:NAME
  std::uint64_t rows = 0;
};

struct AttentionRun {
  AttentionPlan plan;
  Level level = Level::stratified;
  std::uint64_t seed = 0;
  AttentionRows rows;
  std::vector<AttentionAnswer> expected, answers;
  AttentionTally tally;
  std::vector<KernelFinding> findings;
  std::vector<AttentionFit> fits;  ///< best first; filled when rows differ
  std::uint64_t tried = 0;         ///< kernels compared for `fits`
  std::string implementation, version;
  std::string option;   ///< how the command line names the kernel
  std::string subject;  ///< SPEC or path of a pack
  bool of_pack = false;
  double seconds = 0;  ///< of the kernel alone

  bool failed() const;
  /// Complete, nothing wrong; with the order unknown also something forced and nothing undecided.
  bool passed() const;
};

/// A kernel of this project.
AttentionRun verify_attention(const AttentionPlan& plan, AttentionRows rows, const AttentionKernel& kernel,
                              int threads = 1, const AttentionProgress& progress = {});

/// A kernel of a user: all rows in one job.
AttentionRun verify_attention(const AttentionPlan& plan, AttentionRows rows, const Plug& plug,
                              int threads = 1, const AttentionProgress& progress = {});

/// What another kernel makes of the rows of a plan: O alone.
struct AttentionSuspect {
  std::string name;  ///< attention:PRESET… or mutant:NAME
  std::vector<AttentionAnswer> answers;
};
/// Presets of the same formats, with the masks and the output of the plan, and the mutants of such specs.
/// `screen`: a kernel that is asked for all rows must give these answers, by row, at one of them at least;
/// those that do not are left out. Empty, or with a cache that sequences may share: every kernel is asked.
/// `tried`: all of them.
std::vector<AttentionSuspect> attention_suspects(const AttentionPlan& plan, const AttentionRows& rows,
                                                 const std::map<std::size_t, AttentionAnswer>& screen = {},
                                                 std::uint64_t* tried = nullptr,
                                                 const AttentionProgress& progress = {});

/// Suspects by how many rows of O they explain, best first: a handful, and all that explain every row.
/// Those that explain no more rows than `by_spec`, which the plan explains itself, are left out.
std::vector<AttentionFit> explain_answers(const AttentionPlan& plan,
                                          const std::vector<AttentionSuspect>& suspects,
                                          const std::vector<AttentionAnswer>& answers,
                                          std::uint64_t by_spec);

Report report_of(const AttentionRun& run);
/// One object and a line end.
std::string attention_json(const AttentionRun& run);

}  // namespace halfulp::vectors
