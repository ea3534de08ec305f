// Rows through kernels; see mma_kernels.hpp.
#include "halfulp/vectors/mma/mma_kernels.hpp"

#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/vectors/mma/mma_columns.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::MmaSpec;

constexpr std::string_view kMutant = "mutant:", kEngine = "halfulp", kTwin = "halfulp-exact";

/// The same words in and out.
bool same_columns(const MmaPlan& plan, const MmaSpec& other) {
  const MmaSpec& own = plan.spec;
  return own.a == other.a && own.b == other.b && own.output == other.output &&
         accumulation::scale_block(own) == accumulation::scale_block(other) &&
         (accumulation::scale_block(own) == 0 ||
          accumulation::scale_format(own) == accumulation::scale_format(other));
}

}  // namespace

RowKernel mma_kernel(const MmaPlan& plan, MmaFunction function) {
  return [plan, function = std::move(function)](const RowJob& job) {
    for (std::uint64_t i = 0; i < job.rows; ++i) {
      const MmaRow row = get_inputs(plan, cells_of(job.inputs, i, job.rows));
      put_word(function(row), cells_of(job.answers, i, job.rows).front());
    }
  };
}

std::optional<MmaSpec> comparable_model(const MmaPlan& plan, std::string_view model) {
  const MmaSpec& own = plan.spec;
  accumulation::SpecRequest request{.model = std::string(model),
                                    .format_a = plan.from_a,
                                    .format_b = plan.from_b,
                                    .output = std::string(plan.to()),
                                    .interval = own.interval,
                                    .scale_order = own.scale_order,
                                    .contract = own.contract};
  if (accumulation::has_zero_rule(accumulation::find_model(model))) request.zero_rule = own.zero_rule;
  try {
    const MmaSpec spec = accumulation::make_spec(request);
    if (same_columns(plan, spec)) return spec;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

MmaFunction mma_function(const MmaPlan& plan, std::string_view implementation) {
  if (implementation == kEngine) return function_of(plan.spec);
  if (implementation == kTwin)
    return [spec = plan.spec](const MmaRow& row) { return accumulation::dot_exact(spec, row.view()); };
  if (is_mma_spec(implementation)) {
    if (implementation.find(',') == std::string_view::npos) {
      const std::string_view name = implementation.substr(implementation.find(':') + 1);
      accumulation::find_model(name);
      if (const auto spec = comparable_model(plan, name)) return function_of(*spec);
    } else if (const MmaPlan other = parse_mma_spec(implementation); same_columns(plan, other.spec)) {
      return function_of(other.spec);
    }
    throw InputError("implementation " + std::string(implementation.substr(0, 60)),
                     "its operands, scales or results are not those of " + spec_text(plan),
                     "name a model with the same formats and blocks");
  }
  std::vector<std::string> names = {std::string(kEngine), std::string(kTwin)};
  for (const MmaMutant& mutant : mma_mutants()) {
    names.push_back(std::string(kMutant) + mutant.name);
    if (implementation != names.back()) continue;
    if (auto function = mutant.open(plan.spec)) return *std::move(function);
    throw InputError("implementation " + names.back(), "it does not apply to " + spec_text(plan),
                     "try it on " + mutant.spec);
  }
  const std::string near =
      nearest_names(implementation, std::vector<std::string_view>(names.begin(), names.end()));
  throw InputError(
      "implementation '" + std::string(implementation.substr(0, 60)) + "'",
      "not one for accumulation models",
      near.empty() ? "use halfulp, halfulp-exact, mma:MODEL or mutant:NAME" : "nearest names: " + near);
}

}  // namespace halfulp::vectors
