// Products of a library against bounds that hold for any order, and the named models that they equal.
#include "gpu_check/backend.hpp"
#include "gpu_check/libraries/cublas_lt.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

constexpr int kAlgorithms = 4;
constexpr std::size_t kWorkspaceBytes = kOnDevice ? 32u << 20 : 4096;

ResultRow skipped(std::string test, std::string why) {
  ResultRow row = row_named(std::move(test));
  row.status = Status::skipped;
  row.note = std::move(why);
  return row;
}

ResultRow judged(const std::string& test, const GemmProblem& problem, const Launched& launched, const std::vector<std::uint32_t>& got) {
  ResultRow row = row_named(test);
  const GemmVerdict verdict = judge_gemm(problem, got);
  row.inputs = got.size();
  row.mismatches = verdict.outside;
  row.seconds = launched.seconds;
  row.first = launched.faults;
  row.first.insert(row.first.end(), verdict.first.begin(), verdict.first.end());
  for (std::size_t i = 0; i < problem.models.size(); ++i) row.counts.emplace_back(problem.models[i], verdict.equal[i]);
  for (const std::string& model : verdict.models) row.note += (row.note.empty() ? "equals " : "; ") + model;
  if (row.note.empty()) row.note = verdict.outside == 0 ? "no named model; within the bounds of any order" : "outside the bounds of any order";
  row.status = launched.ok() && verdict.outside == 0 && row.inputs != 0 ? Status::passed : Status::failed;
  return row;
}

std::string name_of(const GemmProblem& problem, bool fast) { return "cuBLASLt e4m3, " + problem.name + (fast ? ", fast accumulation" : ""); }

/// One row for each algorithm that the library offers for the product.
void judge_product(const CublasLt& library, const GemmProblem& problem, bool fast, StepReport& report) {
  const std::string name = name_of(problem, fast);
  const Buffer<std::uint32_t> a("a", problem.a), b("b", problem.b);
  const Buffer<float> scale_a("scale of a", std::vector<float>{problem.scale_a}), scale_b("scale of b", std::vector<float>{problem.scale_b});
  Buffer<std::uint8_t> workspace("workspace", kWorkspaceBytes);
  const CublasLtProduct product(library, problem, fast, scale_a.address(), scale_b.address());
  const auto algorithms = product.algorithms(kAlgorithms, kWorkspaceBytes);
  if (algorithms.empty()) report.rows.push_back(skipped(name, "the library has no algorithm for it on this device"));
  for (const cublas_lt::Heuristic& algorithm : algorithms) {
    const std::string test = name + " (" + product.text_of(algorithm.algorithm) + ")";
    if (algorithm.workspace > kWorkspaceBytes) {
      ResultRow row = row_named(test);
      row.first.push_back("the library offers an algorithm with a workspace of " + std::to_string(algorithm.workspace) + " bytes where at most " +
                          std::to_string(kWorkspaceBytes) + " were allowed; it was not run");
      report.rows.push_back(row);
      continue;
    }
    Buffer<std::uint32_t> d("d", std::vector<std::uint32_t>(problem.outputs(), 0x7fffffff));
    std::uint32_t* const output = d.output_address();
    std::uint8_t* const scratch = workspace.scratch_address();
    const Launched launched = call_library("cublasLtMatmul", [&] { return product.start(algorithm, a.address(), b.address(), output, scratch); });
    report.rows.push_back(judged(test, problem, launched, d.download()));
  }
}

}  // namespace

StepReport run_libraries(const StepContext& context) {
  StepReport report{"libraries", {}, true};
  std::vector<GemmProblem> problems;
  run_case(report, "cuBLASLt", [&] {
    for (std::size_t i = 0, count = count_gemm_problems(context.data); i < count; ++i) {
      run_case(report, "cuBLASLt, product " + std::to_string(i), [&] { problems.push_back(read_gemm_problem(context.data, i)); });
    }
  });
  // The shim's memory is the CPU's: only a stand-in that was named may have it.
  if (!kOnDevice && context.libraries.empty()) {
    report.rows.push_back(skipped("cuBLASLt", "no device, and --libraries names no stand-in"));
    return report;
  }
  const CublasLt library(context.libraries);
  if (!library.why_not().empty()) {
    report.rows.push_back(skipped("cuBLASLt", library.why_not()));
    return report;
  }
  for (const GemmProblem& problem : problems) {
    for (const bool fast : {false, true}) {
      run_case(report, name_of(problem, fast), [&] { judge_product(library, problem, fast, report); });
    }
  }
  for (ResultRow& row : report.rows) {
    if (row.status != Status::skipped) row.note += " [cuBLASLt " + std::to_string(library.functions().cublasLtGetVersion()) + "]";
  }
  return report;
}

}  // namespace halfulp::gpu
