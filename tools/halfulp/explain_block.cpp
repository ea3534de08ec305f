// `halfulp explain block`: each step of a recipe with exact and rounded values, codes, errors, packed
// bytes.
#include <memory>
#include <optional>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "explain.hpp"
#include "files.hpp"
#include "halfulp/error.hpp"
#include "halfulp/explain/block.hpp"
#include "halfulp/tensors/raw.hpp"
#include "halfulp/tensors/source.hpp"
#include "quantize_options.hpp"
#include "quantize_stream.hpp"
#include "quantize_text.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainBlockOptions {
  RecipeOptions recipe;
  std::string input, from, shape, html;
  int axis = -1;
  std::optional<std::uint64_t> block_index;  ///< all blocks where it is not given
  std::vector<std::string> values;
};

constexpr char kExamples[] =
    "VALUES are one row, or one column for recipes whose blocks are columns; --input takes a tensor, - "
    "rows on standard\n"
    "input. Recipes with a tensor scale take its amax over these values unless --tensor-amax gives it.\n\n"
    "Examples:\n"
    "  halfulp explain block --recipe nvfp4/torchao 6 0.4 -0.02\n"
    "  halfulp explain block --recipe fp8_static/vllm --scale 0x1.124924p-2 0.01 -45 180\n"
    "  halfulp explain block --recipe mxfp8/rceil --to e5m2 --json 1 2 1000";

bool along_a_column(const recipes::QuantRecipe& recipe) {
  return recipe.granularity == recipes::Granularity::column ||
         (recipe.granularity == recipes::Granularity::tile && recipe.columns == 1);
}

TextTensor read_tensor(const ExplainBlockOptions& options, const recipes::QuantRecipe& recipe) {
  const Format from = require_format(options.from.empty() ? "f32" : options.from);
  TextTensor tensor;
  if (!options.values.empty()) {
    if (!options.input.empty())
      throw InputError("--input", "values are given as well", "give VALUES or --input");
    for (const std::string& text : options.values) tensor.values.push_back(number_of(text, from));
    const auto count = static_cast<std::int64_t>(tensor.values.size());
    tensor.rows = along_a_column(recipe) ? count : 1;
    tensor.columns = along_a_column(recipe) ? 1 : count;
    return tensor;
  }
  if (options.input.empty())
    throw InputError("values", "none are given",
                     "write e.g. halfulp explain block --recipe nvfp4/torchao 6 0.4, or --input FILE");
  if (options.input == "-") {
    TensorLines lines;
    read_rows(lines, from, tensor);
    return tensor;
  }
  tensors::OpenOptions open;
  if (!options.from.empty()) open.dtype = options.from;
  if (!options.shape.empty()) open.shape = tensors::parse_shape(options.shape);
  const TensorRows rows(tensors::open_tensor(options.input, open), options.axis);
  if (rows.rows() > explain::kMostExplained || rows.columns() > explain::kMostExplained ||
      rows.rows() * rows.columns() > explain::kMostExplained) {
    throw InputError(
        "tensor " + quoted(options.input), "it is too large to explain value by value",
        "cut out at most " + std::to_string(explain::kMostExplained) + " values and give --tensor-amax");
  }
  return {rows.rows(), rows.columns(), rows.read(0, rows.rows() * rows.columns())};
}

Json steps_json(const std::vector<explain::ExplainedStep>& steps) {
  Json list = Json::array();
  for (const explain::ExplainedStep& s : steps) {
    Json step = {{"result", s.result}, {"operation", s.operation}, {"value", s.value}};
    if (!s.exact.empty()) step.update({{"exact", s.exact}, {"rounded_to", s.rounded_to}});
    if (!s.admissible.empty()) step["also_right"] = s.admissible;
    list.push_back(std::move(step));
  }
  return list;
}

Json to_json(const explain::BlockExplanation& e) {
  Json json = {{"recipe", e.recipe},
               {"rows", e.rows},
               {"columns", e.columns},
               {"one_scale_per", e.granularity},
               {"tensor", steps_json(e.tensor_steps)}};
  if (!e.tensor_scale.empty()) json["tensor_scale"] = e.tensor_scale;
  for (const explain::ExplainedBlock& block : e.blocks) {
    Json b = {{"block", block.index}, {"place", block.place}, {"steps", steps_json(block.steps)}, {"scale", block.scale},
              {"zero", block.zero},   {"stored", block.stored}, {"packed", block.packed},           {"packing", block.packing}};
    for (const explain::ExplainedElement& element : block.elements) {
      b["elements"].push_back({{"row", element.row},
                               {"column", element.column},
                               {"input", element.input},
                               {"steps", steps_json(element.steps)},
                               {"code", element.code},
                               {"value", element.value},
                               {"error", element.error},
                               {"relative", element.relative},
                               {"kept", element.kept}});
    }
    json["blocks"].push_back(std::move(b));
  }
  json["value_rule"] = e.value_rule;
  json["facts"] = e.facts;
  return json;
}

/// Leaves one block of those explained.
void keep_block(std::uint64_t index, explain::BlockExplanation& e) {
  if (index >= e.blocks.size()) {
    throw InputError("--block-index " + std::to_string(index),
                     "there " + std::string(e.blocks.size() == 1 ? "is one block" : "are " + std::to_string(e.blocks.size()) + " blocks"),
                     "count from 0, in row-major order of blocks");
  }
  explain::ExplainedBlock block = std::move(e.blocks[static_cast<std::size_t>(index)]);
  e.blocks.clear();
  e.blocks.push_back(std::move(block));
}

int run_explain_block(const ExplainBlockOptions& options, const Globals& globals) {
  const recipes::QuantRecipe recipe = make_recipe(options.recipe);
  recipes::Inputs inputs = make_inputs(options.recipe, recipe);
  const TextTensor tensor = read_tensor(options, recipe);
  add_random(options.recipe, recipe, 0, tensor.values.size(), inputs);
  explain::BlockExplanation e =
      explain::explain_block(recipe, {tensor.rows, tensor.columns, tensor.values}, inputs);
  if (options.block_index) keep_block(*options.block_index, e);
  if (!options.html.empty()) write_file(options.html, explain::to_html(e));
  Output output;
  if (globals.json)
    output.text() += to_json(e).dump() + "\n";
  else if (options.html.empty())
    output.text() += explain::to_text(e);
  output.flush();
  return kPassed;
}

}  // namespace

void add_explain_block(CLI::App& explain, const Globals& globals, Runner& runner) {
  CLI::App* command = explain.add_subcommand("block", "A recipe on a few values, step by step");
  const auto options = std::make_shared<ExplainBlockOptions>();
  command
      ->add_option("--recipe,-r", options->recipe.recipe,
                   "Its name, scheme/producer; `halfulp recipes` lists them")
      ->type_name("R")
      ->required();
  command->add_option("--input,-i", options->input, "A tensor file, or - for rows of text")->type_name("X");
  command
      ->add_option("--from,-f", options->from, "Format of codes and literals (f32), or of a file's words")
      ->type_name("FORMAT");
  command->add_option("--shape", options->shape, "Shape of a raw .bin file")->type_name("RxC…");
  command
      ->add_option("--axis", options->axis,
                   "The axis of a file that blocks run along; -1, the last, if not given")
      ->type_name("A");
  digits_only(command->add_option("--block-index", options->block_index,
                                  "Only this block, counted from 0 in row-major order; the tensor scale is that of all")
                  ->type_name("N"));
  command->add_option("--html", options->html, "Write one self-contained page instead of text")
      ->type_name("FILE");
  add_recipe_options(*command, options->recipe);
  add_values(*command, options->values, "VALUE", "Codes (0x…) or literals");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_explain_block(*options, globals); };
  });
}

}  // namespace halfulp::tool
