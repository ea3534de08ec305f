// `halfulp quantize`: tensors to codes and scales, by a named recipe.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/error_report.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/tensors/raw.hpp"
#include "halfulp/tensors/source.hpp"
#include "interrupt.hpp"
#include "quantize_files.hpp"
#include "quantize_json.hpp"
#include "quantize_options.hpp"
#include "quantize_output.hpp"
#include "quantize_text.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

struct QuantizeOptions {
  RecipeOptions recipe;
  std::string input = "-", output = "-", from;
  std::string shape, packing;
  std::optional<int> axis;  ///< the last where it is not given
  bool values = false, errors = false;
};

constexpr char kExamples[] =
    "Text form: one row of the tensor per line, a blank line ends a tensor. Out: one block per line, SCALE CODE CODE …\n"
    "With --json a line per block of text and one per tensor: recipe, shape, axis, counts, errors, what was written.\n\n"
    "Examples:\n"
    "  printf '0.01 -0.8 3.2\\n2 -45 180\\n' | halfulp quantize --recipe fp8_per_token/vllm_cuda\n"
    "  printf '0.4 -0.2 9 0.1\\n' | halfulp quantize --recipe nvfp4/torchao --tensor-amax 12 --values\n"
    "  printf '2 -45 180\\n' | halfulp quantize --recipe fp8_static/vllm --scale 0x1.124924p-2 --errors";

void print_errors(const recipes::QuantRecipe& recipe, const recipes::ErrorReport& errors) {
  if (recipe.transform_reg >= 0) std::fputs("compared with   x after the recipe's transform, which the values stand for\n", stderr);
  std::fputs(recipes::to_string(errors).c_str(), stderr);
}

/// A static scale that nobody gave is told of: codes made with it look as good as any.
void note_default_scale(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs, const Globals& globals) {
  for (const recipes::Input& input : recipe.inputs) {
    if (globals.quiet || input.name != "scale" || inputs.contains("scale") || input.default_literal.empty()) continue;
    std::fprintf(stderr, "halfulp: note: recipe %s: the scale is %s, as --scale is not given\n", recipe.name.c_str(), input.default_literal.c_str());
  }
}

/// Where a tensor of text or of a file stands, for its summary.
struct TensorPlace {
  std::uint64_t tensor = 0, first_element = 0;
  std::vector<std::uint64_t> shape;
  std::size_t axis = 1;
};

void append_text(const QuantizeOptions& options, const Globals& globals, const recipes::QuantRecipe& recipe, recipes::Inputs inputs,
                 const TextTensor& tensor, const TensorPlace& place, Output& output) {
  add_random(options.recipe, recipe, place.first_element, tensor.values.size(), inputs);
  const recipes::TensorView view{tensor.rows, tensor.columns, tensor.values};
  const recipes::Quantized quantized = recipes::quantize(recipe, view, inputs);
  std::vector<double> values;
  if (options.values || options.errors) values = recipes::dequantize(recipe, quantized, inputs);
  const BlockText form(recipe);
  const std::vector<bool> marked = recipes::lines_that_could_differ(recipe, view, inputs);
  const std::vector<double> shown = options.values ? values : std::vector<double>();
  recipes::ErrorReport errors;
  if (options.errors) errors = recipes::compare(recipes::transformed(recipe, view, inputs), values);
  if (globals.json) {
    append_blocks_json(output.text(), place.tensor, form, quantized, marked, shown);
    TensorSummary summary = summary_of(recipe, quantized);
    summary.tensor = place.tensor;
    summary.shape = place.shape;
    summary.axis = place.axis;
    if (options.errors) summary.errors = &errors;
    append_summary(output.text(), summary);
  } else {
    form.append_head(output.text(), quantized);
    form.append_blocks(output.text(), quantized, marked, shown);
  }
  output.flush();
  if (options.errors && !globals.json) print_errors(recipe, errors);
}

std::vector<std::uint64_t> shape_of(const TextTensor& tensor) {
  return {static_cast<std::uint64_t>(tensor.rows), static_cast<std::uint64_t>(tensor.columns)};
}

int quantize_text(const QuantizeOptions& options, const Globals& globals) {
  if (options.axis) throw InputError("--axis", "blocks of text run along its lines", "leave it out, or give a file");
  const recipes::QuantRecipe recipe = make_recipe(options.recipe);
  const recipes::Inputs inputs = make_inputs(options.recipe, recipe);
  note_default_scale(recipe, inputs, globals);
  const Format from = require_format(options.from.empty() ? "f32" : options.from);
  Output output;
  TensorLines lines;
  TextTensor tensor;
  TensorPlace place;
  for (; read_rows(lines, from, tensor); ++place.tensor) {
    if (place.tensor > 0 && !globals.json) output.text() += '\n';
    place.shape = shape_of(tensor);
    append_text(options, globals, recipe, inputs, tensor, place, output);
    place.first_element += tensor.values.size();
  }
  if (place.tensor > 0) return kPassed;
  if (!globals.quiet) std::fputs("halfulp: no values: give rows of values on standard input\n", stderr);
  return kIncomplete;
}

tensors::TensorSource open_input(const QuantizeOptions& options) {
  tensors::OpenOptions open;
  if (!options.from.empty()) open.dtype = options.from;
  if (!options.shape.empty()) open.shape = tensors::parse_shape(options.shape);
  if (options.input != "-") return tensors::open_tensor(options.input, open);
  TensorLines lines;
  TextTensor tensor, second;
  const Format from = require_format(options.from.empty() ? "f32" : options.from);
  if (read_rows(lines, from, tensor) && read_rows(lines, from, second))
    throw InputError("standard input", "it holds more than one tensor", "write text (`--output -`), or one tensor per file");
  const std::uint64_t shape[] = {static_cast<std::uint64_t>(tensor.rows), static_cast<std::uint64_t>(tensor.columns)};
  return tensors::open_raw(tensors::memory_bytes("-", std::as_bytes(std::span(tensor.values))), "f64", shape);
}

void merge(recipes::ErrorReport& all, const recipes::ErrorReport& later, std::int64_t first) {
  all.compared += later.compared;
  all.not_finite += later.not_finite;
  if (later.largest > all.largest) {
    all.largest = later.largest;
    all.largest_at = later.largest_at + static_cast<std::uint64_t>(first);
  }
  all.squared_error += later.squared_error;
  all.squared_norm += later.squared_norm;
}

std::optional<Packing> packing_of(const QuantizeOptions& options) {
  if (options.packing.empty()) return std::nullopt;
  if (options.output == "-") throw InputError("--packing", "text has a word per code", "leave it out, or write a file");
  const auto packing = find_packing(options.packing);
  if (packing) return packing;
  std::string names;
  for (const PackingName& row : kPackings) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw InputError("packing " + quoted(options.packing), "unknown", "use one of " + names);
}

/// One tensor of a file, or into a file.
int quantize_tensor(const QuantizeOptions& options, const Globals& globals) {
  const recipes::QuantRecipe recipe = make_recipe(options.recipe);
  const recipes::Inputs inputs = make_inputs(options.recipe, recipe);
  note_default_scale(recipe, inputs, globals);
  const bool to_files = is_column_file(options.output);
  const std::optional<Packing> packing = packing_of(options);
  if (to_files && options.values) throw InputError("--values", "files hold codes and scales alone", "leave it out, or write text");
  const TensorRows tensor(open_input(options), options.axis.value_or(-1));
  if (tensor.rows() * tensor.columns() == 0) {
    if (!globals.quiet) std::fputs("halfulp: no values: the tensor is empty\n", stderr);
    return kIncomplete;
  }
  Output output;
  recipes::ErrorReport errors;
  const StreamOptions stream{.threads = globals.thread_count(), .read_back = options.values || options.errors};
  const auto count_errors = [&](const Strip& strip) {
    if (options.errors) merge(errors, recipes::compare(strip.compared, strip.read_back), strip.first);
  };
  TensorPlace place;
  place.axis = tensor.axis();
  place.shape = tensor.shape();  // with the axis behind the others
  std::rotate(place.shape.begin() + static_cast<std::ptrdiff_t>(place.axis), place.shape.end() - 1, place.shape.end());
  if (to_files) {
    StripFiles files(recipe, tensor, options.output, packing);
    TensorSummary summary;
    quantize_strips(recipe, inputs, options.recipe, tensor, stream, [&](const Strip& strip) {
      files.take(strip);
      count_errors(strip);
      const std::uint64_t kept = summary.kept;
      if (summary.recipe == nullptr) summary = summary_of(recipe, strip.quantized);
      else summary.kept = kept + strip.quantized.kept.size();
    });
    files.commit();
    if (globals.json) {
      summary.shape = place.shape;
      summary.axis = place.axis;
      summary.elements = static_cast<std::uint64_t>(tensor.rows() * tensor.columns());
      summary.blocks = static_cast<std::uint64_t>(recipes::blocks_of(recipe, tensor.rows(), tensor.columns()).count());
      if (options.errors) summary.errors = &errors;
      summary.written = options.output;
      append_summary(output.text(), summary);
      output.flush();
    }
  } else {
    TextTensor all{tensor.rows(), tensor.columns(), tensor.read(0, tensor.rows() * tensor.columns())};
    append_text(options, globals, recipe, inputs, all, place, output);
  }
  if (to_files && options.errors && !globals.json) print_errors(recipe, errors);
  return kPassed;
}

int run_quantize(const QuantizeOptions& options, const Globals& globals) {
  if (options.input == "-" && !options.shape.empty())
    throw InputError("--shape", "lines of text say the shape", "leave it out: one row per line, a blank line ends a tensor");
  if (options.input == "-" && options.output == "-") {
    packing_of(options);  // refused
    return quantize_text(options, globals);
  }
  return run_interruptible([&] { return quantize_tensor(options, globals); });
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
  command->add_option("--from,-f", options->from, "Format of codes and literals (text: f32), or of a file's words")->type_name("FORMAT");
  command->add_option("--dtype", options->from, "The same, for raw .bin files")->type_name("FORMAT")->excludes("--from");
  command->add_option("--shape", options->shape, "Shape of a raw .bin file; not of text")->type_name("RxC…");
  command->add_option("--axis", options->axis, "The axis that blocks run along, moved to the end of the shape of\n"
                      "the codes; -1, the last, if not given. Not for text, whose blocks run along its lines")
      ->type_name("A");
  command->add_option("--packing", options->packing, "In files: codes packed along the last axis, as low_first, high_first, ggml_half,\n"
                      "byte_low_bits, dense or int32_little; one word per code if not given")
      ->type_name("P");
  command->add_flag("--values", options->values, "Add a line `= v v …` with the values that each block reads back");
  command->add_flag("--errors", options->errors, "Report the errors of the values on stderr (with --json in the summary): largest, root mean\n"
                    "square, relative (norm of the error / norm of x), SQNR = 10 log10 of their squares' ratio. x is\n"
                    "what the recipe's transform makes of the tensor");
  add_recipe_options(*command, options->recipe);
  command->footer(kExamples);
  command->callback([options, &globals, &runner] { runner = [options, &globals] { return run_quantize(*options, globals); }; });
}

}  // namespace halfulp::tool
