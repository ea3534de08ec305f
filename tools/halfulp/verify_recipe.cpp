// Recipes: rows into the kernel that was plugged in, answers to the judge of blocks.
#include "verify_recipe.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/names.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_pack.hpp"
#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

std::vector<KernelColumn> kernel_columns(const RecipePlan& plan, const std::vector<RecipeColumn>& columns) {
  std::vector<KernelColumn> all;
  for (const RecipeColumn& column : columns) {
    const bool packed = plan.packing && column.part == Part::code;
    all.push_back({column.name, column.format, static_cast<int>(column.row_bytes() / column.words()),
                   column.words(), packed ? plan.elements() : 0});
  }
  return all;
}

/// Rows in memory as a kernel asks for them.
InputRows input_rows(const RecipePlan& plan, const RecipeRows& rows) {
  return [&plan, &rows](std::uint64_t first, const std::vector<std::span<std::byte>>& columns) {
    const std::vector<RecipeColumn> inputs = input_columns(plan);
    const std::size_t count = columns.empty() ? 0 : columns[0].size() / inputs[0].row_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::span<std::byte>> row;
      for (std::size_t c = 0; c < inputs.size(); ++c)
        row.push_back(columns[c].subspan(i * inputs[c].row_bytes(), inputs[c].row_bytes()));
      put_inputs(plan, rows.rows[static_cast<std::size_t>(first) + i], row);
    }
  };
}

RecipeRun judge(const Plug& plug, const RecipePlan& plan, RecipeRows rows, RecipeVerifyOptions options) {
  RecipeRun run;
  run.option = plug.option;
  options.implementation = plug.name;
  const RowShape shape = {spec_text(plan), rows.rows.size(), kernel_columns(plan, input_columns(plan)),
                          kernel_columns(plan, expected_columns(plan))};
  const RecipeRows fed = rows;  // a filter reads ahead of the rows that are judged
  Plugged plugged;
  try {
    plugged = plug.open(shape, input_rows(plan, fed));
  } catch (const KernelFailure& failure) {
    run.findings.push_back({failure.trouble, failure.what()});
    plugged.rows = [](const RowJob&) { throw KernelFailure("it did not start"); };
    plugged.finish = nullptr;
  }
  options.version = plugged.version;
  bool failed = false;
  const RowKernel watched = [&](const RowJob& job) {
    try {
      plugged.rows(job);
    } catch (const LostRows& gap) {
      if (*gap.what() != 0) run.findings.push_back({gap.trouble, gap.what()});
      throw;
    } catch (const KernelFailure& failure) {
      if (run.findings.empty()) run.findings.push_back({failure.trouble, failure.what()});
      failed = true;
      throw;
    }
  };
  run.verdict = verify_rows(plan, std::move(rows), watched, options);
  if (!failed && plugged.finish) {
    for (KernelFinding& finding : plugged.finish()) run.findings.push_back(std::move(finding));
  }
  if (run.verdict.tally.words_wrong > 0)
    run.diagnosis = diagnose_blocks(plan, run.verdict.rows, run.verdict.answers.rows);
  return run;
}

}  // namespace

RecipeRun verify_recipe_spec(const Plug& plug, const std::string& spec, const VerifyOptions& options) {
  require_little_endian();
  const RecipePlan plan = parse_recipe_spec(spec);
  RecipeRun run = judge(plug, plan, level_rows(plan, options.level, options.seed, options.threads),
                        {.level = options.level,
                         .seed = options.seed,
                         .threads = options.threads,
                         .progress = options.progress});
  run.subject = spec_text(plan);
  return run;
}

RecipeRun verify_recipe_pack(const Plug& plug, const PackReader& pack, const std::string& path,
                             const VerifyOptions& options) {
  require_little_endian();
  RecipePack read = read_recipe_pack(pack, options.threads);
  const Manifest& manifest = pack.manifest();
  RecipeRun run = judge(plug, read.plan, std::move(read.rows),
                        {.level = manifest.level,
                         .seed = manifest.seed,
                         .threads = options.threads,
                         .progress = options.progress});
  run.subject = path;
  run.of_pack = true;
  return run;
}

Plug recipe_plug(const std::string& spec, const std::string& implementation) {
  const RowKernel kernel = recipe_kernel(parse_recipe_spec(spec), implementation);
  return {implementation, "--impl " + implementation,
          [kernel](const RowShape&, const InputRows&) -> Plugged {
            return {kernel, {}, HALFULP_VERSION};
          }};
}

std::string recipe_json(const RecipeRun& run) {
  nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(recipe_verdict_json(run.verdict, run.diagnosis));
  const Report report = report_of(run);
  json["verdict"] = report.verdict;
  json["subject"] = run.subject;
  json["reproduce"] = report.reproduce;
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const KernelFinding& one : run.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  json["findings"] = findings;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace halfulp::tool
