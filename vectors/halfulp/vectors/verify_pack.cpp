// Columns are compared in large pieces; single words only where a piece differs. See verify_pack.hpp.
#include "halfulp/vectors/verify_pack.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "halfulp/vectors/pack_facts.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kPiece = 1 << 16;  ///< rows

std::uint64_t load(std::span<const std::byte> words, std::size_t index, int bytes) {
  return with_word_type(bytes, [&](auto word) {
    std::memcpy(&word, words.data() + index * sizeof word, sizeof word);
    return std::uint64_t{word};
  });
}

std::size_t only_column(const Manifest& manifest, Role role, const std::string& path) {
  std::size_t found = manifest.columns.size();
  int count = 0;
  for (std::size_t i = 0; i < manifest.columns.size(); ++i) {
    if (manifest.columns[i].role != role) continue;
    found = i;
    ++count;
  }
  if (count == 1 && manifest.columns[found].words_per_row() == 1) return found;
  throw InputError(
      "pack '" + printable(path, 200) + "'",
      "a " + manifest.kind + " has one " + std::string(name_of(role)) + " column with one word per row",
      "make it with `halfulp gen`");
}

/// The rows of a pack and the judge of those that differ. What the pack says of them has been checked.
class PackJudge {
 public:
  PackJudge(const PackReader& pack, const std::string& path, const CastRequest& request)
      : expected_(expected_of(make_plan(request), pack.manifest())),
        columns_(cast_columns(pack, path)),
        from_bytes_(expected_.plan().from->storage_bytes()),
        to_bytes_(expected_.plan().to.storage_bytes()),
        seen_(expected_, pack.manifest().rows) {
    require_expected(expected_, columns_, path);
    if (pack.manifest().rows > 0) rows_ = require_claims(expected_, pack.manifest(), columns_, path);
    require_facts(expected_, pack, columns_, rows_, path);
  }

  const PackRows& rows() const { return rows_; }

  std::span<const std::byte> inputs(std::uint64_t first, std::uint64_t rows) const {
    return part(columns_.input, first, rows, from_bytes_);
  }

  /// The answers that the pack expects, as many as `answers` holds.
  void fill(std::uint64_t first, std::span<std::byte> answers) const {
    const std::uint64_t rows = answers.size() / static_cast<std::size_t>(to_bytes_);
    std::copy_n(part(columns_.expected, first, rows, to_bytes_).begin(), answers.size(), answers.begin());
  }

  void judge(std::uint64_t first, std::span<const std::byte> got, Verdict& verdict) {
    const std::uint64_t rows = got.size() / static_cast<std::size_t>(to_bytes_);
    const std::span<const std::byte> want = part(columns_.expected, first, rows, to_bytes_);
    seen_.add(inputs(first, rows), got);
    verdict.tally.checked += rows;
    if (rows == 0 || std::memcmp(got.data(), want.data(), got.size()) == 0) return;
    const std::span<const std::byte> other =
        columns_.alternative.empty() ? want : part(columns_.alternative, first, rows, to_bytes_);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint64_t answer = load(got, i, to_bytes_);
      const std::uint64_t packed = load(want, i, to_bytes_);
      if (answer == packed || answer == load(other, i, to_bytes_)) continue;
      differs(load(columns_.input, static_cast<std::size_t>(first) + i, from_bytes_), answer, packed, verdict);
    }
  }

  Diagnosis diagnosis(const Tally& tally) const {
    return diagnose(expected_, seen_.with_mismatches(tally));
  }

 private:
  static std::span<const std::byte> part(std::span<const std::byte> column, std::uint64_t first,
                                         std::uint64_t rows, int bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    return column.subspan(static_cast<std::size_t>(first) * size, static_cast<std::size_t>(rows) * size);
  }

  void differs(std::uint64_t word, std::uint64_t got, std::uint64_t packed, Verdict& verdict) {
    Run run = expected_.at(word);
    if (expected_.accepts(run, got)) return;  // any NaN
    run.result.code = packed;
    verdict.tally.add_mismatch(expected_, run, word, got);
  }

  Expected expected_;
  CastColumns columns_;
  PackRows rows_;
  int from_bytes_;
  int to_bytes_;
  AnswersSeen seen_;
};

}  // namespace

CastColumns cast_columns(const PackReader& pack, const std::string& path) {
  const Manifest& manifest = pack.manifest();
  const std::size_t expected = only_column(manifest, Role::expected, path);
  CastColumns columns = {pack.column(only_column(manifest, Role::input, path)), pack.column(expected), {}};
  for (std::size_t i = 0; i < manifest.columns.size(); ++i) {
    if (manifest.columns[i].role != Role::alternative) continue;
    only_column(manifest, Role::alternative, path);
    if (manifest.columns[i].format != manifest.columns[expected].format) {
      throw InputError("pack '" + printable(path, 200) + "'",
                       "its alternative column is not of the format of the expected one",
                       "make it with `halfulp gen`");
    }
    columns.alternative = pack.column(i);
  }
  return columns;
}

CastRequest request_of(const Manifest& manifest, const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return InputError("pack '" + printable(path, 200) + "'", why, "make it with `halfulp gen`");
  };
  if (manifest.kind != "cast" && manifest.kind != "decode")
    throw wrong("it is a pack of kind " + manifest.kind + ", which is not judged as a cast");
  CastSpec spec = parse_spec(manifest.spec);
  if (!spec.text.starts_with(manifest.kind))
    throw wrong("its kind is " + manifest.kind + ", and its SPEC is " + printable(manifest.spec));
  const CastPlan plan = make_plan(spec.request);
  const std::string& input = manifest.columns[only_column(manifest, Role::input, path)].format;
  const std::string& output = manifest.columns[only_column(manifest, Role::expected, path)].format;
  if (plan.from_name != input || plan.to_name != output)
    throw wrong("its columns are " + input + " and " + output + ", and its SPEC is " + manifest.spec);
  return spec.request;
}

RowShape shape_of(const Manifest& manifest) {
  RowShape shape;
  shape.spec = manifest.spec;
  shape.rows = manifest.rows;
  for (const ColumnInfo& column : manifest.columns) {
    const KernelColumn one = {column.name, column.format, column.word_bytes(), column.words_per_row()};
    if (column.role == Role::input) shape.inputs.push_back(one);
    if (column.role == Role::expected) shape.outputs.push_back(one);
  }
  return shape;
}

InputRows source_of(const PackReader& pack) {
  struct Column {
    std::span<const std::byte> bytes;
    std::size_t row;
  };
  std::vector<Column> inputs;
  for (std::size_t i = 0; i < pack.manifest().columns.size(); ++i) {
    const ColumnInfo& column = pack.manifest().columns[i];
    if (column.role == Role::input)
      inputs.push_back({pack.column(i), static_cast<std::size_t>(column.row_bytes())});
  }
  return [inputs](std::uint64_t first, const std::vector<std::span<std::byte>>& columns) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto rows =
          inputs[i].bytes.subspan(static_cast<std::size_t>(first) * inputs[i].row, columns[i].size());
      std::copy(rows.begin(), rows.end(), columns[i].begin());
    }
  };
}

Plug implementation_plug(const Implementation& implementation, const CastRequest& request) {
  const Chosen chosen = choose(implementation, request);
  return {implementation.name, "--impl " + implementation.name,
          [kernel = chosen.kernel, version = implementation.version](const RowShape&,
                                                                     const InputRows&) -> Plugged {
            return {[kernel](const RowJob& job) { kernel(job.inputs.front(), job.answers.front()); },
                    {},
                    version};
          }};
}

Verdict verify_pack(const Plug& plug, const PackReader& pack, const std::string& path,
                    const VerifyOptions& options) {
  require_little_endian();
  const Manifest& manifest = pack.manifest();
  const CastRequest request = request_of(manifest, path);
  Verdict verdict;
  verdict.plan = make_plan(request);
  verdict.spec = manifest.spec;
  verdict.subject = path;
  verdict.of_pack = true;
  verdict.level = manifest.level;
  verdict.seed = manifest.seed;
  verdict.completeness = manifest.completeness;
  verdict.option = plug.option;
  verdict.implementation = plug.name;
  PackJudge judge(pack, path, request);
  verdict.own_rows = !judge.rows().of_level;
  verdict.tally.refused = judge.rows().refused;
  std::vector<std::byte> answers(static_cast<std::size_t>(kPiece) *
                                 static_cast<std::size_t>(verdict.plan.to.storage_bytes()));
  Losses losses;
  const auto start = std::chrono::steady_clock::now();
  try {
    const Plugged plugged = plug.open(shape_of(manifest), source_of(pack));
    verdict.version = plugged.version;
    const RowKernel kernel = going_on(
        plugged.rows, [&](const RowJob& job) { judge.fill(job.first, job.answers.front()); }, losses);
    for (std::uint64_t first = 0; first < manifest.rows; first += kPiece) {
      const std::uint64_t rows = std::min(kPiece, manifest.rows - first);
      const auto bytes = static_cast<std::size_t>(verdict.plan.to.storage_bytes());
      const std::span<std::byte> got = std::span(answers).first(static_cast<std::size_t>(rows) * bytes);
      try {
        kernel({first, rows, {judge.inputs(first, rows)}, {got}});
      } catch (const KernelFailure& failure) {
        judge.judge(first, got.first(static_cast<std::size_t>(std::min(rows, failure.answered)) * bytes),
                    verdict);
        throw;
      }
      judge.judge(first, got, verdict);
      if (options.progress) options.progress(first + rows, manifest.rows);
    }
    verdict.finished = true;
    if (plugged.finish) verdict.findings = plugged.finish();
  } catch (const KernelFailure& failure) {
    verdict.findings.push_back({failure.trouble, failure.what()});
    verdict.completeness = Completeness::sampled;
  }
  add_losses(verdict, losses);
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (verdict.tally.mismatched > 0) verdict.diagnosis = judge.diagnosis(verdict.tally);
  return verdict;
}

}  // namespace halfulp::vectors
