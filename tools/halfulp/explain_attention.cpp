// `halfulp explain attention`: one output element of the reference kernel, tile after tile.
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "attention_problem.hpp"
#include "explain.hpp"
#include "halfulp/attention/trace.hpp"
#include "streams.hpp"

namespace halfulp::tool {
namespace {

struct ExplainAttentionOptions {
  AttentionProblemOptions problem;
  std::uint64_t head = 0, query = 0, channel = 0, keys = 4;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  printf '1 0.5\\n0.25 -1\\n' | halfulp quantize --recipe fp8_static/vllm --scale 1 -o y.npz\n"
    "  halfulp explain attention --q y.npz:codes --k y.npz:codes --v y.npz:codes --kernel fa3_like,out=bf16 --query 1";

int run_explain_attention(const ExplainAttentionOptions& options, const Globals& globals) {
  attention::KernelSpec spec = kernel_of(options.problem);
  const LoadedProblem loaded = load_problem(options.problem, spec);
  const std::vector<attention::TraceStep> steps =
      attention::trace(spec, loaded.problem(), options.head, options.query, options.channel, options.keys);
  Output output;
  if (globals.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const attention::TraceStep& step : steps)
      list.push_back({{"place", step.place}, {"name", step.name}, {"text", step.text}});
    output.text() += list.dump() + "\n";
  } else {
    std::string place;
    for (const attention::TraceStep& step : steps) {
      if (step.place != place) output.text() += step.place + "\n";
      place = step.place;
      output.text() += "  " + step.name + std::string(step.name.size() < 9 ? 9 - step.name.size() : 0, ' ') + " " +
                       step.text + "\n";
    }
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_explain_attention(CLI::App& explain, const Globals& globals, Runner& runner) {
  CLI::App* command =
      explain.add_subcommand("attention", "One output element of attention by the reference kernel, tile after tile");
  const auto options = std::make_shared<ExplainAttentionOptions>();
  add_attention_problem_options(*command, options->problem);
  digits_only(command->add_option("--head", options->head, "Query head, from 0")->type_name("N"));
  digits_only(command->add_option("--query", options->query, "Query, from 0")->type_name("N"));
  digits_only(command->add_option("--channel", options->channel, "Channel of V and of the output, from 0")->type_name("N"));
  digits_only(command->add_option("--keys", options->keys, "Keys of a tile that are shown; 4 if not given")->type_name("N"));
  command->footer(std::string(kAttentionProblemHelp) + kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_explain_attention(*options, globals); };
  });
}

}  // namespace halfulp::tool
