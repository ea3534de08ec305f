#include "halfulp/vectors/attention/verify.hpp"

#include <algorithm>
#include <chrono>

#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kShownFits = 5;
/// Wrong rows of which a kernel must explain one to be asked for all rows.
constexpr std::size_t kScreenRows = 4;

std::vector<KernelColumn> kernel_columns(const std::vector<AttentionColumn>& columns) {
  std::vector<KernelColumn> all;
  for (const AttentionColumn& column : columns)
    all.push_back({column.name, column.format, static_cast<int>(column.word_bytes()), column.words(), 0});
  return all;
}

/// Whole columns of rows.
std::vector<std::vector<std::byte>> columns_of(const AttentionPlan& plan,
                                               const std::vector<attention::Case>& cases, std::size_t first,
                                               std::size_t count) {
  std::vector<std::vector<std::byte>> columns(attention_inputs(plan).size());
  for (std::size_t row = first; row < first + count; ++row) {
    const auto cells = input_bytes(plan, cases[row]);
    for (std::size_t c = 0; c < cells.size(); ++c)
      columns[c].insert(columns[c].end(), cells[c].begin(), cells[c].end());
  }
  return columns;
}

AttentionRun started(const AttentionPlan& plan, AttentionRows rows, int threads) {
  AttentionRun run;
  run.plan = plan;
  run.rows = std::move(rows);
  for (const attention::Stages& stages :
       reference_answers(plan, run.rows.cases, static_cast<unsigned>(threads)))
    run.expected.push_back(answer_of(plan, stages));
  return run;
}

void judge(AttentionRun& run, const AttentionProgress& progress, int threads) {
  run.tally = judge_attention(run.plan, run.rows, run.expected, run.answers, progress,
                              static_cast<unsigned>(threads));
  if (run.tally.rows_wrong == 0) return;
  std::uint64_t by_spec = 0;
  for (std::size_t row = 0; row < run.answers.size(); ++row)
    by_spec +=
        !run.answers[row].empty() && wrong_outputs(run.plan, run.expected[row], run.answers[row]) == 0 ? 1
                                                                                                       : 0;
  std::map<std::size_t, AttentionAnswer> screen;
  for (std::size_t row = 0; row < run.answers.size() && screen.size() < kScreenRows; ++row) {
    if (run.tally.wrong_rows[row]) screen[row] = run.answers[row];
  }
  const std::vector<AttentionSuspect> suspects =
      attention_suspects(run.plan, run.rows, screen, &run.tried, progress);
  run.fits = explain_answers(run.plan, suspects, run.answers, by_spec);
}

}  // namespace

bool AttentionRun::failed() const {
  return tally.rows_wrong > 0 || std::ranges::any_of(findings, [](const KernelFinding& finding) {
           return is_wrong(finding.trouble);
         });
}

bool AttentionRun::passed() const {
  return !failed() && findings.empty() && tally.rows == rows.cases.size() && tally.rows > 0 &&
         (!plan.order_unknown || (tally.claims.forced > 0 && tally.claims.undecided == 0));
}

AttentionRun verify_attention(const AttentionPlan& plan, AttentionRows rows, const AttentionKernel& kernel,
                              int threads, const AttentionProgress& progress) {
  AttentionRun run = started(plan, std::move(rows), threads);
  const auto start = std::chrono::steady_clock::now();
  run.answers = kernel(plan, run.rows.cases);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  judge(run, progress, threads);
  return run;
}

AttentionRun verify_attention(const AttentionPlan& plan, AttentionRows rows, const Plug& plug,
                              int threads, const AttentionProgress& progress) {
  AttentionRun run = started(plan, std::move(rows), threads);
  run.implementation = plug.name;
  run.option = plug.option;
  const auto& cases = run.rows.cases;
  const auto outputs = attention_outputs(plan);
  const RowShape shape = {spec_text(plan), cases.size(), kernel_columns(attention_inputs(plan)),
                          kernel_columns(outputs)};
  const InputRows source = [&](std::uint64_t first, const std::vector<std::span<std::byte>>& columns) {
    const std::size_t row_bytes = attention_inputs(plan)[0].row_bytes();
    const auto bytes = columns_of(plan, cases, static_cast<std::size_t>(first),
                                  columns.empty() ? 0 : columns[0].size() / row_bytes);
    for (std::size_t c = 0; c < columns.size(); ++c) std::ranges::copy(bytes[c], columns[c].begin());
  };
  const auto in = columns_of(plan, cases, 0, cases.size());
  std::vector<std::vector<std::byte>> out;
  for (const AttentionColumn& column : outputs) out.emplace_back(column.row_bytes() * cases.size());
  std::size_t answered = cases.size();
  std::vector<bool> lost(cases.size(), false);
  const auto start = std::chrono::steady_clock::now();
  try {
    const Plugged plugged = plug.open(shape, source);
    run.version = plugged.version;
    Losses losses;
    const RowKernel going = going_on(
        plugged.rows,
        [&](const RowJob& job) {
          for (std::uint64_t i = 0; i < job.rows; ++i) lost[static_cast<std::size_t>(job.first + i)] = true;
        },
        losses);
    RowJob job{0, cases.size(), {}, {}};
    for (const auto& column : in) job.inputs.emplace_back(column);
    for (auto& column : out) job.answers.emplace_back(column);
    going(job);
    run.findings = losses.findings;
    if (plugged.finish) {
      for (KernelFinding& finding : plugged.finish()) run.findings.push_back(std::move(finding));
    }
  } catch (const KernelFailure& failure) {
    run.findings.push_back({failure.trouble, failure.what()});
    answered = static_cast<std::size_t>(std::min<std::uint64_t>(cases.size(), failure.answered));
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t row = 0; row < answered; ++row) {
    AttentionAnswer answer;
    for (std::size_t c = 0; c < outputs.size() && !lost[row]; ++c)
      answer.push_back(words_of(outputs[c], std::span<const std::byte>(out[c]).subspan(
                                                row * outputs[c].row_bytes(), outputs[c].row_bytes())));
    run.answers.push_back(std::move(answer));
  }
  judge(run, progress, threads);
  return run;
}

namespace {

struct Candidate {
  std::string name;
  AttentionKernel kernel;
};

std::vector<Candidate> candidates(const AttentionPlan& plan) {
  const attention::KernelSpec& own = plan.kernel;
  std::vector<Candidate> list;
  for (const attention::Preset& preset : attention::presets()) {
    attention::KernelSpec spec = preset.spec;
    if (spec.q_format != own.q_format || spec.k_format != own.k_format || spec.v_format != own.v_format ||
        spec.name == own.name)
      continue;
    spec.out = own.out;
    spec.causal = own.causal;
    spec.window = own.window;
    spec.visible_prefix = own.visible_prefix;
    spec.softcap = own.softcap;
    spec.split = 0;
    const std::string name = "attention:" + attention::text_of(spec);
    list.push_back({name, attention_kernel(name)});
  }
  for (const AttentionMutant& mutant : attention_mutants()) {
    const AttentionPlan theirs = parse_attention_spec(mutant.spec);
    const attention::KernelSpec& k = theirs.kernel;
    const bool masks = k.causal == own.causal && k.window.has_value() == own.window.has_value() &&
                       k.softcap.has_value() == own.softcap.has_value();
    if (k.q_format == own.q_format && k.k_format == own.k_format && masks && theirs.cache == plan.cache)
      list.push_back({"mutant:" + mutant.name, mutant.kernel});
  }
  return list;
}

}  // namespace

std::vector<AttentionSuspect> attention_suspects(const AttentionPlan& plan, const AttentionRows& rows,
                                                 const std::map<std::size_t, AttentionAnswer>& screen,
                                                 std::uint64_t* tried, const AttentionProgress& progress) {
  AttentionPlan outputs_only = plan;
  outputs_only.stages = false;
  std::vector<attention::Case> few;
  for (const auto& [row, answer] : screen) few.push_back(rows.cases[row]);
  const bool screened = !few.empty() && plan.cache == AttentionCache::codes;
  const auto may_explain = [&](const AttentionKernel& kernel) {
    const std::vector<AttentionAnswer> theirs = kernel(outputs_only, few);
    std::size_t i = 0;
    return std::ranges::any_of(
        screen, [&](const auto& one) { return wrong_outputs(plan, theirs[i++], one.second) == 0; });
  };
  const std::vector<Candidate> all = candidates(plan);
  if (tried != nullptr) *tried = all.size();
  std::vector<AttentionSuspect> suspects;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (progress) progress("kernels tried as an explanation", i, all.size());
    if (!screened || may_explain(all[i].kernel))
      suspects.push_back({all[i].name, all[i].kernel(outputs_only, rows.cases)});
  }
  return suspects;
}

std::vector<AttentionFit> explain_answers(const AttentionPlan& plan,
                                          const std::vector<AttentionSuspect>& suspects,
                                          const std::vector<AttentionAnswer>& answers,
                                          std::uint64_t by_spec) {
  std::vector<AttentionFit> fits;
  for (const AttentionSuspect& suspect : suspects) {
    AttentionFit fit{suspect.name, 0};
    for (std::size_t row = 0; row < answers.size(); ++row)
      fit.rows +=
          !answers[row].empty() && wrong_outputs(plan, suspect.answers[row], answers[row]) == 0 ? 1 : 0;
    if (fit.rows > by_spec) fits.push_back(fit);
  }
  std::ranges::stable_sort(fits,
                           [](const AttentionFit& a, const AttentionFit& b) { return a.rows > b.rows; });
  if (fits.size() > kShownFits) {
    // All that explain every row stay.
    std::size_t keep = kShownFits;
    while (keep < fits.size() && fits[keep].rows == fits[0].rows) ++keep;
    fits.resize(keep);
  }
  return fits;
}

}  // namespace halfulp::vectors
