// verify(): runs a kernel over a level, or over the rows of a pack, and judges every answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/judge.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

struct Verdict {
  CastPlan plan;
  std::string spec;            ///< of the rows, in canonical names
  std::string subject;         ///< what the command was given: a SPEC or the path of a pack
  std::string option;          ///< how it named the kernel: `--impl NAME`, `--exec '…'`
  std::string implementation;  ///< shown as what is under test
  std::string version;
  bool own_dialect = false;  ///< Chosen::own_dialect
  std::string unclaimed;     ///< Chosen::unclaimed
  bool of_pack = false;
  bool own_rows = false;  ///< of a pack: its rows are not those of its level and seed
  Level level = Level::thresholds;
  std::uint64_t seed = 0;
  Completeness completeness = Completeness::sampled;
  Tally tally;
  Diagnosis diagnosis;  ///< filled when there are mismatches
  std::vector<KernelFinding>
      findings;           ///< beside wrong codes; the tally holds what was judged before a failure
  bool finished = false;  ///< every row was answered
  double seconds = 0;  ///< of running and judging, without the oracle's table

  bool passed() const { return findings.empty() && tally.checked > 0 && tally.mismatched == 0; }
  /// Wrong, not only incomplete: a wrong code, or a finding that is_wrong().
  bool failed() const;
};

/// MISMATCH, bit-exact or incomplete.
std::string verdict_word(const Verdict& verdict);

/// The command that gives a verdict again; a pack has its level and seed in itself.
std::string verify_command(const std::string& subject, const std::string& option, bool of_pack, Level level,
                           std::uint64_t seed);

/// The SPEC of a cast or a decode: the cast that it is, and its canonical text.
struct CastSpec {
  CastRequest request;
  std::string text;
};
/// Throws InputError.
CastSpec parse_spec(std::string_view spec);

/// Takes rows that were passed over out of the count and names them.
void add_losses(Verdict& verdict, const Losses& losses);

/// Throws InputError on a machine whose words are not as those of packs.
void require_little_endian();

/// Judges an implementation at a level. Throws InputError where the level does not apply, Disagreement
/// where the judge is at fault.
Verdict verify(const Implementation& implementation, const CastRequest& request,
               const VerifyOptions& options);
Verdict verify(const Implementation& implementation, const CastSpec& spec, const VerifyOptions& options);

/// Judges a kernel of the user at a level: its rows are those that `gen SPEC` writes. Throws as above.
Verdict verify(const Plug& plug, const CastSpec& spec, const VerifyOptions& options);

}  // namespace halfulp::vectors
