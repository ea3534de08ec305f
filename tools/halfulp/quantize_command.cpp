// `halfulp quantize`: tensors to codes and scales, by a named recipe.
#include <cstdio>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/error_report.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "quantize_options.hpp"
#include "quantize_text.hpp"
#include "streams.hpp"

namespace halfulp::tool {
namespace {

struct QuantizeOptions {
  RecipeOptions recipe;
  std::string input = "-", output = "-", from;
  bool values = false, errors = false;
};

constexpr char kExamples[] =
    "Text form: one row of the tensor per line, a blank line ends a tensor. Out: one block per line, SCALE CODE CODE …\n\n"
    "Examples:\n"
    "  printf '0.01 -0.8 3.2\\n2 -45 180\\n' | halfulp quantize --recipe fp8_per_token/vllm_cuda\n"
    "  printf '0.4 -0.2 9 0.1\\n' | halfulp quantize --recipe nvfp4/torchao --tensor-amax 12 --values\n"
    "  printf '2 -45 180\\n' | halfulp quantize --recipe fp8_static/vllm --scale 0x1.124924p-2 --errors";

int quantize_text(const QuantizeOptions& options, const Globals& globals) {
  const recipes::QuantRecipe recipe = make_recipe(options.recipe);
  const recipes::Inputs given = make_inputs(options.recipe, recipe);
  const Format from = require_format(options.from.empty() ? "f32" : options.from);
  const BlockText form(recipe);
  Output output;
  TensorLines lines;
  TextTensor tensor;
  std::uint64_t count = 0, elements = 0;
  for (; read_rows(lines, from, tensor); ++count) {
    recipes::Inputs inputs = given;
    add_random(options.recipe, recipe, elements, tensor.values.size(), inputs);
    elements += tensor.values.size();
    const recipes::TensorView view{tensor.rows, tensor.columns, tensor.values};
    const recipes::Quantized quantized = recipes::quantize(recipe, view, inputs);
    std::vector<double> values;
    if (options.values || options.errors) values = recipes::dequantize(recipe, quantized, inputs);
    if (count > 0) output.text() += '\n';
    form.append_head(output.text(), quantized);
    form.append_blocks(output.text(), quantized, recipes::lines_that_could_differ(recipe, view, inputs),
                       options.values ? values : std::vector<double>());
    output.flush();
    if (options.errors) std::fputs(recipes::to_string(recipes::compare(tensor.values, values)).c_str(), stderr);
  }
  if (count > 0) return kPassed;
  if (!globals.quiet) std::fputs("halfulp: no values: give rows of values on standard input\n", stderr);
  return kIncomplete;
}

int run_quantize(const QuantizeOptions& options, const Globals& globals) {
  return quantize_text(options, globals);
}

}  // namespace

void add_quantize(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("quantize", "Quantize tensors by a recipe");
  const auto options = std::make_shared<QuantizeOptions>();
  command->add_option("--recipe,-r", options->recipe.recipe, "Its name, scheme/producer; `halfulp recipes` lists them")
      ->type_name("R")
      ->required();
  command->add_option("--input,-i", options->input, "A tensor file, or - for rows of text (default)")->type_name("X");
  command->add_option("--output,-o", options->output, "A pack folder, .safetensors, .npz, or - for text (default)")->type_name("Y");
  command->add_option("--from,-f", options->from, "Format of codes and literals; f32 if not given")->type_name("FORMAT");
  command->add_flag("--values", options->values, "Add a line `= v v …` with the values that each block reads back");
  command->add_flag("--errors", options->errors, "Report the errors of the values on stderr");
  add_recipe_options(*command, options->recipe);
  command->footer(kExamples);
  command->callback([options, &globals, &runner] { runner = [options, &globals] { return run_quantize(*options, globals); }; });
}

}  // namespace halfulp::tool
