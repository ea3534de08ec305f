// `halfulp attention`: the reference kernel on tensors from files.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "attention_files.hpp"
#include "attention_json.hpp"
#include "attention_problem.hpp"
#include "commands.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "interrupt.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr char kExamples[] =
    "--json prints an object per query, one per line: every stage and the output as codes, its value, the exact\n"
    "result for the same codes, and the error; beside the files of --output and --stages, where those are given.\n\n"
    "Examples:\n"
    "  halfulp attention --list\n"
    "  printf '1 0.5\\n0.25 -1\\n' | halfulp quantize --recipe fp8_static/vllm --scale 1 -o x.npz\n"
    "  halfulp attention --q x.npz:codes --k x.npz:codes --v x.npz:codes --kernel fa3_like,out=bf16 "
    "--causal";

struct AttentionOptions {
  AttentionProblemOptions problem;
  std::string output = "-", stages;
  bool list = false;
};

int list_presets(const Globals& globals) {
  Output output;
  for (const attention::Preset& preset : attention::presets()) {
    if (globals.json)
      output.text() +=
          nlohmann::ordered_json{
              {"name", preset.spec.name}, {"source", preset.source}, {"scales", preset.scales}}
              .dump() +
          "\n";
    else
      output.text() += preset.spec.name +
                       std::string(preset.spec.name.size() < 27 ? 27 - preset.spec.name.size() : 1, ' ') +
                       std::string(preset.source) + "\n";
  }
  output.flush();
  return kPassed;
}

/// Codes of a query per line.
void append_rows(const attention::KernelSpec& spec, const attention::Shape& shape,
                 const attention::Stages& stages, Output& output) {
  const FormatSpec& format = attention::format_named(spec.out);
  for (std::size_t i = 0; i < stages.O.size(); ++i) {
    append_code(output.text(), format, stages.O[i]);
    output.text() += (i + 1) % shape.value_dim == 0 ? '\n' : ' ';
    output.line_done();
  }
}

int run_attention(const AttentionOptions& options, const Globals& globals) {
  if (options.list) return list_presets(globals);
  attention::KernelSpec spec = kernel_of(options.problem);
  if (options.output != "-" && !options.output.ends_with(".npy"))
    throw InputError("output " + quoted(options.output), "no kind of file that attention writes",
                     "name a .npy file, or -");
  const LoadedProblem x = load_problem(options.problem, spec);
  if (x.q.tokens == 0 || x.q.heads == 0 || x.v.width == 0) {
    if (!globals.quiet) std::fputs("halfulp: no query: nothing was computed\n", stderr);
    return kIncomplete;
  }
  const auto keep = options.stages.empty() && !globals.json ? attention::Keep::output : attention::Keep::all;
  const auto threads = static_cast<unsigned>(globals.thread_count());
  const attention::Stages stages = attention::run(spec, x.problem(), keep, threads);
  throw_if_interrupted();
  if (!options.stages.empty()) write_stages(options.stages, spec, x.shape, stages);
  if (options.output != "-")
    write_npy(options.output, stages.O, spec.out,
              {x.shape.query_heads, x.shape.queries, x.shape.value_dim});
  Output output;
  if (globals.json)
    print_attention_rows(spec, x.problem(), stages, threads, output);
  else if (options.output == "-")
    append_rows(spec, x.shape, stages, output);
  output.flush();
  return kPassed;
}

}  // namespace

void add_attention(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand(
      "attention", "Quantized attention by the reference kernel, bit for bit, every stage on request");
  const auto options = std::make_shared<AttentionOptions>();
  command->add_flag("--list", options->list, "The presets");
  add_attention_problem_options(*command, options->problem);
  command->add_option("--stages", options->stages, "A new folder for every stage as .npy")
      ->type_name("DIR");
  command->add_option("--output,-o", options->output, ".npy; - (default): rows of codes")
      ->type_name("FILE");
  command->footer(std::string(kAttentionProblemHelp) + kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] {
      return run_interruptible([&] { return run_attention(*options, globals); });
    };
  });
}

}  // namespace halfulp::tool
