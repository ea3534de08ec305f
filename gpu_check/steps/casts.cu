// Sweeps of every cast, and the self-test with a cast that is wrong on purpose.
#include <algorithm>

#include "gpu_check/backend.hpp"
#include "gpu_check/cast_table.hpp"
#include "gpu_check/kernels/sweep.cuh"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

#ifdef HALFULP_HEADER_CASTS
constexpr bool kHaveHeaders = true;
#else
constexpr bool kHaveHeaders = false;
#endif

constexpr std::size_t kFirst = 16;

/// The positions that one sweep covers, with the list where there is one.
struct Coverage {
  Runs runs;
  std::vector<std::uint64_t> starts = {0};
  Grid grid;

  std::uint64_t start(std::uint64_t run) const { return runs.listed ? starts[run] : run * runs.stride; }
};

/// All positions; or short runs spread over the domain, `inputs` in all.
Coverage spread(const Domain& domain, std::uint64_t inputs) {
  Coverage cover;
  const bool all = inputs >= domain.size();
  cover.grid = kOnDevice ? Grid{2048, 256} : Grid{2, 32};
  const std::uint64_t threads = static_cast<std::uint64_t>(cover.grid.blocks) * cover.grid.threads;
  cover.runs.length = all ? std::max<std::uint64_t>(1, std::min<std::uint64_t>(8192, domain.size() / threads)) : kOnDevice ? 1024 : 8;
  cover.runs.count = all ? (domain.size() + cover.runs.length - 1) / cover.runs.length : inputs / cover.runs.length;
  cover.runs.stride = all ? cover.runs.length : domain.size() / cover.runs.count;
  return cover;
}

/// Two positions on either side of every threshold of any lane.
Coverage thresholds(const std::vector<CastTable>& lanes) {
  Coverage cover;
  cover.starts.clear();
  for (const CastTable& table : lanes) {
    for (const TableStep& step : table.steps) cover.starts.push_back(step.first < 2 ? 0 : step.first - 2);
  }
  std::sort(cover.starts.begin(), cover.starts.end());
  cover.starts.erase(std::unique(cover.starts.begin(), cover.starts.end()), cover.starts.end());
  cover.runs = {.count = cover.starts.size(), .length = 4, .stride = 0, .listed = true};
  cover.grid = {2, 32};
  return cover;
}

using Counts = std::vector<unsigned long long>;

struct Sweep {
  DeviceCast cast;
  Domain domain;
  std::vector<CastTable> tables;  ///< one per lane

  template <CastMethod Method>
  Counts run(const Coverage& cover, std::uint64_t after, Launched& launched) const {
    std::size_t steps = 0;
    for (const CastTable& table : tables) steps = std::max(steps, table.steps.size());
    std::vector<TableStep> padded;
    for (const CastTable& table : tables) {
      padded.insert(padded.end(), table.steps.begin(), table.steps.end());
      padded.resize(padded.size() + steps - table.steps.size(), {~0ull, table.steps.back().code, 0});
    }
    Counts zero(kCounts, 0);
    zero[kSmallest] = ~0ull;
    const Buffer<std::uint64_t> starts("starts", cover.starts);
    const Buffer<TableStep> table("thresholds", padded);
    Buffer<unsigned long long> counts("counts", zero);
    launched = launch("sweep", sweep<Method>, cover.grid, cast, domain, cover.runs, starts.in(), table.in(), static_cast<unsigned>(steps), after,
                      counts.out());
    return counts.download();
  }
  Counts run(const Coverage& cover, std::uint64_t after, Launched& launched) const {
    switch (cast.method) {
      case CastMethod::engine: return run<CastMethod::engine>(cover, after, launched);
      case CastMethod::header: return run<CastMethod::header>(cover, after, launched);
      case CastMethod::ptx: break;
    }
    return run<CastMethod::ptx>(cover, after, launched);
  }

  std::uint64_t expected_digest(const Coverage& cover) const {
    std::uint64_t digest = 0;
    for (unsigned lane = 0; lane < tables.size(); ++lane) {
      const std::uint64_t contiguous = cover.runs.listed || cover.runs.stride != cover.runs.length ? 0 : cover.runs.count * cover.runs.length;
      if (contiguous != 0) digest += digest_of_run(tables[lane], domain, 0, contiguous, lane);
      for (std::uint64_t run = 0; contiguous == 0 && run < cover.runs.count; ++run) {
        digest += digest_of_run(tables[lane], domain, cover.start(run), cover.runs.length, lane);
      }
    }
    return digest;
  }
  std::uint64_t expected_inputs(const Coverage& cover) const {
    std::uint64_t inputs = 0;
    for (std::uint64_t run = 0; run < cover.runs.count; ++run) inputs += std::min(cover.runs.length, domain.size() - cover.start(run));
    return inputs;
  }
  std::uint32_t right_code(std::uint32_t word, unsigned lane) const {
    const bool negative = domain.sign != 0 && (word & domain.sign) != 0;
    const std::uint64_t magnitude = word & ~domain.sign;
    std::uint64_t position = magnitude + domain.negatives;
    if (negative) position = magnitude < domain.negatives ? domain.negatives - 1 - magnitude : position + domain.positive_nans;
    const auto& steps = tables[lane].steps;
    return (std::upper_bound(steps.begin(), steps.end(), position, [](std::uint64_t p, const TableStep& s) { return p < s.first; }) - 1)->code;
  }
};

Sweep sweep_of(const StepContext& context, const CastCase& cast, std::uint32_t random) {
  Sweep sweep{device_cast(cast, random), domain_of(format_spec(cast.from)), {}};
  for (int lane = 0; lane < cast.lanes; ++lane) {
    sweep.tables.push_back(read_cast_table(context.data, table_name(cast, random_of_lane(cast, random, lane)), sweep.domain.size()));
  }
  return sweep;
}

/// Runs a sweep and fills the row; on mismatches up to `most` further launches find the smallest inputs.
void judge(const Sweep& sweep, const Coverage& cover, ResultRow& row, std::size_t most = kFirst) {
  Launched launched;
  const Counts counts = sweep.run(cover, ~0ull, launched);
  row.seconds += launched.seconds;
  if (launched.no_image) {
    row.note = "no kernel image for this device";
    return;
  }
  row.inputs += counts[kInputs];
  row.mismatches += counts[kMismatches];
  row.has_digest = true;
  row.digest += counts[kDigest];
  row.expected_digest += sweep.expected_digest(cover);
  for (const std::string& fault : launched.faults) row.first.push_back(fault);
  if (counts[kInputs] != sweep.expected_inputs(cover)) row.first.push_back("the kernel tried " + std::to_string(counts[kInputs]) + " inputs");
  std::uint64_t smallest = counts[kSmallest];
  while (smallest != ~0ull && row.first.size() < most) {
    std::string text = "input " + hex(smallest, sweep.cast.from.width / 4) + ": right";
    for (unsigned lane = 0; lane < sweep.tables.size(); ++lane) text += " " + hex(sweep.right_code(static_cast<std::uint32_t>(smallest), lane), 2);
    row.first.push_back(text);
    smallest = sweep.run(cover, smallest, launched)[kSmallest];
  }
}

std::uint64_t sample_size(const StepContext& context, const Domain& domain) {
  if (domain.size() <= 65536 || (kOnDevice && !context.quick)) return domain.size();
  return kOnDevice ? 1u << 26 : 8192;
}

}  // namespace

StepReport run_self_test(const StepContext& context) {
  StepReport report{"self_test"};
  for (const CastCase& cast : kCastCases) {
    if (cast.method != CastMethod::engine || policy_of(cast).rounding != Rounding::ties_to_even || format_spec(cast.from).width < 16) continue;
    run_case(report, "ties away: " + name_of(cast), [&] {
      ResultRow row = row_named("ties away: " + name_of(cast));
      Sweep sweep = sweep_of(context, cast, 0);
      sweep.cast.policy.rounding = Rounding::ties_to_away;
      const bool all = sample_size(context, sweep.domain) == sweep.domain.size();
      judge(sweep, all ? spread(sweep.domain, sweep.domain.size()) : thresholds(sweep.tables), row, 2);
      const std::uint64_t known = sweep.tables[0].away_mismatches;
      const bool caught = row.mismatches == known && row.digest != row.expected_digest && known != 0;
      row.status = caught ? Status::passed : Status::failed;
      row.note = "must be exactly " + std::to_string(known);
      report.rows.push_back(row);
    });
  }
  return report;
}

void conclude_sweep(ResultRow& row) {
  if (row.mismatches == 0 && row.digest != row.expected_digest) {
    row.first.push_back("every code compared is right, but the digest is " + hex(row.digest, 16) + " and must be " + hex(row.expected_digest, 16) +
                        ": inputs were left out or taken twice, or the comparison or the digest is broken");
  }
  row.status = row.mismatches == 0 && row.inputs != 0 && row.first.empty() ? Status::passed : Status::failed;
}

StepReport run_casts(const StepContext& context) {
  StepReport report{"casts"};
  for (const CastCase& cast : kCastCases) {
    ResultRow row = row_named(name_of(cast));
    // On the host the engine stands in for every instruction.
    const bool available = !kOnDevice || is_available(cast.available, context.device.architecture);
    if (!available) row.note = "sm_" + std::to_string(context.device.architecture) + " has no such instruction";
    if (cast.method == CastMethod::header && !kHaveHeaders) row.note = "the CUDA headers were not found when this was built";
    if (!row.note.empty()) {
      row.status = Status::skipped;
      report.rows.push_back(row);
      continue;
    }
    run_case(report, name_of(cast), [&] {
      for (std::uint32_t i = 0; i < random_words(cast); ++i) {
        const Sweep sweep = sweep_of(context, cast, cast.random_bits == 0 ? 0 : kRandomWords[i]);
        const std::uint64_t inputs = sample_size(context, sweep.domain);
        judge(sweep, spread(sweep.domain, inputs), row);
        if (inputs != sweep.domain.size()) judge(sweep, thresholds(sweep.tables), row);
      }
      conclude_sweep(row);
      report.rows.push_back(row);
    });
  }
  return report;
}

}  // namespace halfulp::gpu
