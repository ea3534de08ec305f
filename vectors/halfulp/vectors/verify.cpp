// Verdicts of implementations and of plugged kernels at a level.
#include "halfulp/vectors/verify.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <optional>

#include "halfulp/vectors/decode.hpp"
#include "halfulp/vectors/level_rows.hpp"

namespace halfulp::vectors {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void take(Verdict& verdict, Judged judged) {
  verdict.tally = std::move(judged.tally);
  verdict.completeness = judged.completeness;
  verdict.finished = judged.finished();
  verdict.findings = std::move(judged.findings);
}

/// The answers that the SPEC gives.
void fill_right(const Expected& expected, std::span<const std::byte> in, std::span<std::byte> out) {
  map_storage(*expected.plan().from, expected.plan().to, in, out,
              [&](std::uint64_t word) { return expected.at(word).result.code; });
}

}  // namespace

void add_losses(Verdict& verdict, const Losses& losses) {
  if (losses.rows == 0) return;
  verdict.tally.checked -= losses.rows;
  verdict.findings.insert(verdict.findings.begin(), losses.findings.begin(), losses.findings.end());
  verdict.completeness = Completeness::sampled;
  verdict.finished = false;
}

bool Verdict::failed() const {
  return tally.mismatched > 0 || std::any_of(findings.begin(), findings.end(),
                                             [](const KernelFinding& f) { return is_wrong(f.trouble); });
}

std::string verdict_word(const Verdict& verdict) {
  if (verdict.failed()) return "MISMATCH";
  return verdict.passed() ? "bit-exact" : "incomplete";
}

std::string verify_command(const std::string& subject, const std::string& option, bool of_pack, Level level,
                           std::uint64_t seed) {
  std::string command = "halfulp verify " + shell_quoted(subject) + " " + option;
  if (of_pack) return command;
  command += " --level " + std::string(name_of(level));
  if (seed != 0) command += " --seed " + std::to_string(seed);
  return command;
}

namespace {

/// Rows of a level; nothing where it does not apply.
std::optional<std::uint64_t> rows_of(const Expected& expected, Level level, std::uint64_t seed) {
  constexpr int kCounted = 16;  // all source words of wider formats are not counted for a hint
  if (level == Level::exhaustive && expected.plan().from->width > kCounted) return std::nullopt;
  try {
    return LevelRows(expected, level, seed).count();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Which other level has so many rows, to be put behind a count; empty if none has.
std::string level_of_count(const Expected& expected, std::uint64_t seed, Level asked, std::uint64_t count) {
  for (const auto& level : kNames<Level>) {
    if (level.value != asked && rows_of(expected, level.value, seed) == count)
      return "; as many as --level " + std::string(level.name) + " has";
  }
  return {};
}

}  // namespace

void require_little_endian() {
  if constexpr (std::endian::native != std::endian::little)
    throw InputError("this machine",
                     "its words are big-endian, and those of packs and kernels little-endian",
                     "use another one");
}

CastSpec parse_spec(std::string_view spec) {
  if (spec.starts_with("decode:")) {
    const CastPlan plan = parse_decode_spec(spec);
    return {{plan.from_name, plan.to_name, plan.dialect, plan.options}, decode_spec_text(plan)};
  }
  if (spec.find(':') == std::string_view::npos && spec.find("->") == std::string_view::npos) {
    throw InputError("SPEC '" + printable(spec, 60) + "'",
                     "not a SPEC, and there is no such folder or file that holds a pack",
                     "write a SPEC, e.g. cast:f32:e4m3, or check the path of the pack");
  }
  CastRequest request = parse_cast_spec(spec);
  std::string text = spec_text(make_plan(request));
  return {std::move(request), std::move(text)};
}

Verdict verify(const Implementation& implementation, const CastSpec& spec, const VerifyOptions& options) {
  Verdict verdict = verify(implementation, spec.request, options);
  if (spec.text.starts_with("decode:")) verdict.spec = verdict.subject = spec.text;
  return verdict;
}

Verdict verify(const Implementation& implementation, const CastRequest& request,
               const VerifyOptions& options) {
  Chosen chosen = choose(implementation, request);
  Verdict verdict;
  verdict.plan = chosen.plan;
  verdict.spec = verdict.subject = spec_text(chosen.plan);
  verdict.option = "--impl " + implementation.name;
  verdict.implementation = implementation.name;
  verdict.version = implementation.version;
  verdict.own_dialect = chosen.own_dialect;
  verdict.unclaimed = chosen.unclaimed;
  verdict.level = options.level;
  verdict.seed = options.seed;
  const Expected expected(chosen.plan, options.level == Level::exhaustive);
  const auto start = std::chrono::steady_clock::now();
  take(verdict, judge(expected, chosen.kernel, options));
  verdict.seconds = since(start);
  if (verdict.tally.mismatched > 0)
    verdict.diagnosis =
        diagnose(expected, answers_of(expected, chosen.kernel, verdict.tally, options.seed));
  return verdict;
}

Verdict verify(const Plug& plug, const CastSpec& spec, const VerifyOptions& options) {
  require_little_endian();
  Verdict verdict;
  verdict.plan = make_plan(spec.request);
  verdict.spec = verdict.subject = spec.text;
  verdict.level = options.level;
  verdict.seed = options.seed;
  const Expected expected(verdict.plan, options.level == Level::exhaustive);
  const auto rows = std::make_shared<const LevelRows>(expected, options.level, options.seed);
  const RowShape shape = {
      verdict.spec,
      rows->count(),
      {{"input", verdict.plan.from_name, verdict.plan.from->storage_bytes(), 1}},
      {{"expected", verdict.plan.to_name, verdict.plan.to.storage_bytes(), 1}},
      [&](std::uint64_t count) { return level_of_count(expected, options.seed, options.level, count); }};
  verdict.option = plug.option;
  verdict.implementation = plug.name;
  Plugged plugged;
  try {
    plugged =
        plug.open(shape, [rows](std::uint64_t first, const std::vector<std::span<std::byte>>& columns) {
          rows->fill(first, columns.front());
        });
  } catch (const KernelFailure& failure) {
    verdict.findings.push_back({failure.trouble, failure.what()});
    return verdict;
  }
  verdict.version = plugged.version;
  std::uint64_t next = 0;
  Losses losses;
  const RowKernel rows_kernel = going_on(
      plugged.rows,
      [&](const RowJob& job) { fill_right(expected, job.inputs.front(), job.answers.front()); }, losses);
  const auto from_bytes = static_cast<std::size_t>(verdict.plan.from->storage_bytes());
  const Kernel kernel = [&](std::span<const std::byte> in, std::span<std::byte> out) {
    const RowJob job = {next, in.size() / from_bytes, {in}, {out}};
    next += job.rows;
    rows_kernel(job);
  };
  AnswersSeen seen(expected, rows->count());
  const auto start = std::chrono::steady_clock::now();
  take(verdict, judge(expected, kernel, options, &seen, plugged.reads_inputs));
  if (verdict.finished && plugged.finish) verdict.findings = plugged.finish();
  add_losses(verdict, losses);
  verdict.seconds = since(start);
  if (verdict.tally.mismatched > 0)
    verdict.diagnosis = diagnose(expected, seen.with_mismatches(verdict.tally));
  return verdict;
}

}  // namespace halfulp::vectors
