#include "halfulp/vectors/attention/kernels.hpp"

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/vectors/attention/rows.hpp"

namespace halfulp::vectors {
namespace {

std::vector<AttentionAnswer> answers_of(const AttentionPlan& plan, const std::vector<attention::Stages>& stages) {
  std::vector<AttentionAnswer> answers;
  for (const attention::Stages& one : stages) answers.push_back(answer_of(plan, one));
  return answers;
}

}  // namespace

AttentionKernel attention_kernel(std::string_view implementation, unsigned threads) {
  if (implementation == "halfulp") {
    return [threads](const AttentionPlan& plan, const std::vector<attention::Case>& cases) { return answers_of(plan, reference_answers(plan, cases, threads)); };
  }
  if (is_attention_spec(implementation)) {
    const attention::KernelSpec spec = parse_attention_spec(implementation).kernel;
    return [spec, threads](const AttentionPlan& plan, const std::vector<attention::Case>& cases) {
      AttentionPlan own = plan;
      own.kernel = spec;
      const attention::KernelSpec& p = plan.kernel;
      if (spec.q_format != p.q_format || spec.k_format != p.k_format || spec.v_format != p.v_format || spec.out != p.out)
        throw InputError("--impl attention:" + attention::text_of(spec), "its formats are not those of the SPEC", "name a kernel of the same formats");
      return answers_of(plan, reference_answers(own, cases, threads));
    };
  }
  std::vector<std::string_view> names = {"halfulp"};
  std::vector<std::string> kept;
  for (const AttentionMutant& mutant : attention_mutants()) kept.push_back("mutant:" + mutant.name);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == implementation) return attention_mutants()[i].kernel;
    names.push_back(kept[i]);
  }
  const std::string near = nearest_names(implementation, names);
  throw InputError("implementation '" + std::string(implementation.substr(0, 60)) + "'", "no kernel of attention has that name",
                   near.empty() ? "use halfulp, attention:PRESET or mutant:NAME" : "nearest names: " + near);
}

}  // namespace halfulp::vectors
