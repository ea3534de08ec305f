// Rows into kernels, answers to the judge; see mma_verify.hpp.
#include "halfulp/vectors/mma/mma_verify.hpp"

#include <algorithm>
#include <chrono>

#include "halfulp/vectors/kernels/lost_rows.hpp"
#include "halfulp/vectors/mma/mma_columns.hpp"
#include "halfulp/vectors/mma/mma_kernels.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kStretchBytes = std::size_t{1} << 18;  ///< of inputs per call

InputRows input_rows(const MmaPlan& plan, const std::vector<MmaRow>& rows) {
  return [&plan, &rows](std::uint64_t first, const std::vector<std::span<std::byte>>& columns) {
    const std::size_t count = columns[0].size() / mma_inputs(plan)[0].row_bytes();
    for (std::size_t i = 0; i < count; ++i)
      put_inputs(plan, rows[static_cast<std::size_t>(first) + i], cells_of(columns, i, count));
  };
}

/// Calls the kernel in stretches; what is wrong with it beside wrong results ends up in run.findings.
void call(const Plugged& plugged, const RowShape& shape, const InputRows& source,
          const VerifyOptions& options, MmaRun& run) {
  const std::size_t total = run.rows.rows.size(),
                    stretch = std::max<std::size_t>(
                        1, kStretchBytes / std::max<std::size_t>(1, shape.input_bytes()));
  const std::size_t word = shape.output_bytes();
  std::vector<bool> lost(total, false);
  Losses losses;
  const RowKernel going = going_on(
      plugged.rows,
      [&](const RowJob& job) {
        for (std::uint64_t i = 0; i < job.rows; ++i) lost[static_cast<std::size_t>(job.first + i)] = true;
      },
      losses);
  bool failed = false;
  for (std::size_t first = 0; first < total && !failed; first += stretch) {
    const std::size_t count = std::min(stretch, total - first);
    std::vector<std::vector<std::byte>> in;
    std::vector<std::span<std::byte>> columns;
    for (const KernelColumn& column : shape.inputs) in.emplace_back(column.row_bytes() * count);
    for (auto& column : in) columns.emplace_back(column);
    source(first, columns);
    std::vector<std::byte> out(word * count);
    std::size_t answered = count;
    try {
      going({first, count, {columns.begin(), columns.end()}, {out}});
    } catch (const KernelFailure& failure) {
      run.findings.push_back({failure.trouble, failure.what()});
      answered = static_cast<std::size_t>(std::min<std::uint64_t>(count, failure.answered));
      failed = true;
    }
    for (std::size_t i = 0; i < answered; ++i) {
      run.answers.push_back(
          lost[first + i] ? std::nullopt : std::optional(get_word(std::span(out).subspan(i * word, word))));
    }
    if (!failed && options.progress) options.progress(first + count, total);
  }
  for (KernelFinding& finding : losses.findings) run.findings.push_back(std::move(finding));
  if (failed || !plugged.finish) return;
  for (KernelFinding& finding : plugged.finish()) run.findings.push_back(std::move(finding));
}

}  // namespace

bool MmaRun::failed() const {
  return tally.wrong > 0 || std::any_of(findings.begin(), findings.end(),
                                        [](const KernelFinding& f) { return is_wrong(f.trouble); });
}

MmaRun verify_mma_rows(const Plug& plug, const MmaPlan& plan, MmaRows rows, const VerifyOptions& options) {
  MmaRun run;
  run.plan = plan;
  run.implementation = plug.name;
  run.option = plug.option;
  run.subject = spec_text(plan);
  run.level = options.level;
  run.seed = options.seed;
  run.rows = std::move(rows);
  const RowShape shape = {spec_text(plan), run.rows.rows.size(), mma_inputs(plan), {mma_output(plan)}};
  const std::vector<MmaRow> fed = run.rows.rows;  // a filter reads ahead of the rows that are judged
  const InputRows source = input_rows(run.plan, fed);
  const auto start = std::chrono::steady_clock::now();
  try {
    const Plugged plugged = plug.open(shape, source);
    run.version = plugged.version;
    call(plugged, shape, source, options, run);
  } catch (const KernelFailure& failure) {
    run.findings.push_back({failure.trouble, failure.what()});
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.tally = judge_sums(run.plan, run.rows, run.answers);
  run.diagnosis = diagnose_sums(run.plan, run.rows, run.answers, run.tally);
  return run;
}

MmaRun verify_mma_spec(const Plug& plug, const std::string& spec, const VerifyOptions& options) {
  require_little_endian();
  const MmaPlan plan = parse_mma_spec(spec);
  return verify_mma_rows(plug, plan, mma_level_rows(plan, options.level, options.seed, options.threads),
                         options);
}

MmaRun verify_mma_pack(const Plug& plug, const PackReader& pack, const std::string& path,
                       const VerifyOptions& options) {
  require_little_endian();
  MmaPack read = read_mma_pack(pack, options.threads);
  VerifyOptions with = options;
  with.level = pack.manifest().level;
  with.seed = pack.manifest().seed;
  MmaRun run = verify_mma_rows(plug, read.plan, std::move(read.rows), with);
  run.subject = path;
  run.of_pack = true;
  return run;
}

Plug mma_plug(const std::string& spec, const std::string& implementation) {
  const MmaPlan plan = parse_mma_spec(spec);
  const RowKernel kernel = mma_kernel(plan, mma_function(plan, implementation));
  return {implementation, "--impl " + implementation,
          [kernel](const RowShape&, const InputRows&) -> Plugged {
            return {kernel, {}, HALFULP_VERSION};
          }};
}

}  // namespace halfulp::vectors
