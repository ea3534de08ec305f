// `halfulp dequantize`: what codes and scales stand for, by the recipe that made them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "dequantize_files.hpp"
#include "dequantize_scale.hpp"
#include "halfulp/error.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "quantize_json.hpp"
#include "quantize_options.hpp"
#include "quantize_text.hpp"
#include "stored_recipe.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using recipes::Granularity;
using recipes::QuantRecipe;
using recipes::Quantized;

struct DequantizeOptions {
  RecipeOptions recipe;
  std::string input = "-", output = "-", shape;
};

/// One tensor's values as text, or as JSON lines with a summary.
void append_values(const Globals& globals, TensorSummary summary, std::span<const double> values, std::string& text) {
  const auto columns = static_cast<std::int64_t>(summary.shape.empty() ? 1 : summary.shape.back());
  if (!globals.json) return append_rows(text, columns, values);
  if (summary.written.empty()) append_rows_json(text, summary.tensor, columns, values);
  append_summary(text, summary);
}

constexpr char kExamples[] =
    "Reads what `halfulp quantize` writes and prints the rows as hex-floats. A pack says its recipe, element, blocks and axis;\n"
    "text and files without a manifest need --recipe. Rows of text are implied where a block is a row, a column or a whole tensor\n"
    "(taken as one row); blocks of other sizes give one line each unless --shape names the tensor's shape. Checkpoints:\n"
    "FILE.safetensors, or FILE.safetensors:LAYER where it holds several, with the names weight, weight_packed (two 4-bit codes\n"
    "per byte, low first), weight_scale, weight_scale_inv, weight_global_scale and the like. With --json a line per row and one\n"
    "per tensor.\n\n"
    "Examples:\n"
    "  printf '0x3bea0ea1 0x3b 0xee 0x7e\\n' | halfulp dequantize --recipe fp8_per_token/vllm_cuda\n"
    "  printf '1 2 3\\n-4 5 6\\n' | halfulp quantize --recipe mxfp8/ocp_floor --block 2 | "
    "halfulp dequantize --recipe mxfp8/ocp_floor --block 2 --shape 2x3";

[[noreturn]] void blocks_do_not_fit(std::size_t blocks, const std::string& why) {
  throw InputError("tensor of " + vectors::counted(blocks, "block"), why, "name its shape with --shape ROWSxCOLUMNS");
}

struct Shape {
  std::int64_t rows, columns;
};

Shape parse_rows_and_columns(const std::string& text) {
  const auto shape = tensors::parse_shape(text);
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  const std::uint64_t columns = shape.empty() ? 1 : shape.back();
  if (rows == 0 || columns == 0 || rows > (std::uint64_t{1} << 40) / columns)
    throw InputError("shape '" + text + "'", "no shape of such a tensor", "write rows and columns, e.g. 4096x128");
  return {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
}

/// Puts blocks in their places.
Quantized assemble(const QuantRecipe& recipe, Shape shape, std::span<const BlockText::Block> blocks) {
  Quantized out;
  out.blocks = recipes::blocks_of(recipe, shape.rows, shape.columns);
  if (out.blocks.count() != static_cast<std::int64_t>(blocks.size())) {
    blocks_do_not_fit(blocks.size(), std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " has " +
                      std::to_string(out.blocks.count()));
  }
  out.codes.resize(static_cast<std::size_t>(shape.rows * shape.columns));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto range = out.blocks[static_cast<std::int64_t>(i)];
    if (static_cast<std::int64_t>(blocks[i].codes.size()) != range.rows * range.columns) {
      blocks_do_not_fit(blocks.size(), "block " + std::to_string(i + 1) + " has " + std::to_string(blocks[i].codes.size()) +
                        " elements, not " + std::to_string(range.rows * range.columns));
    }
    if (recipe.scale.reg >= 0) out.scales.push_back(blocks[i].scale);
    if (recipe.zero.reg >= 0) out.zeros.push_back(blocks[i].zero);
    std::size_t next = 0;
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      for (std::int64_t column = range.column; column < range.column + range.columns; ++column, ++next)
        out.codes[static_cast<std::size_t>(row * shape.columns + column)] = blocks[i].codes[next];
    }
  }
  return out;
}

class Dequantizer {
 public:
  Dequantizer(const DequantizeOptions& options, const Globals& globals)
      : globals_(globals), recipe_(make_recipe(options.recipe)), inputs_(make_inputs(options.recipe, recipe_, Direction::back)), form_(recipe_) {
    if (!options.shape.empty()) shape_ = parse_rows_and_columns(options.shape);
  }

  bool next(std::string& text) {
    BlockText::Tensor tensor;
    if (!form_.read(lines_, tensor)) return false;
    if (count_ > 0 && !globals_.json) text += '\n';
    ++count_;
    const std::span<const BlockText::Block> blocks(tensor.blocks);
    if (const auto shape = shape_of(blocks)) {
      append(text, tensor, *shape, blocks);
    } else {
      if (has_places(recipe_, inputs_)) blocks_do_not_fit(blocks.size(), "inputs with one value per place need its shape");
      for (const BlockText::Block& block : blocks)
        append(text, tensor, {1, static_cast<std::int64_t>(block.codes.size())}, {&block, 1});
    }
    return true;
  }

 private:
  std::optional<Shape> shape_of(std::span<const BlockText::Block> blocks) const {
    const auto count = static_cast<std::int64_t>(blocks.size()), length = static_cast<std::int64_t>(blocks[0].codes.size());
    if (shape_) return shape_;
    switch (recipe_.granularity) {
      case Granularity::tensor: return Shape{1, length};
      case Granularity::row: return Shape{count, length};
      case Granularity::column: return Shape{length, count};
      case Granularity::group:
      case Granularity::tile: break;
    }
    return std::nullopt;
  }

  void append(std::string& text, const BlockText::Tensor& tensor, Shape shape, std::span<const BlockText::Block> blocks) const {
    QuantRecipe recipe = recipe_;
    if (!shape_ && recipe.granularity == Granularity::tile) {
      recipe.granularity = Granularity::row;  // one line of values for a tile of unknown place
      recipe.rows = recipe.columns = 0;
    }
    Quantized quantized = assemble(recipe, shape, blocks);
    quantized.tensor_scale = tensor.scale;
    quantized.tensor_amax = tensor.amax;
    quantized.kept = tensor.kept;
    complete_tensor_scale(recipe, inputs_, "tensor of " + vectors::counted(blocks.size(), "block"), quantized);
    for (const recipes::Kept& kept : tensor.kept) {
      if (kept.index < 0 || kept.index >= shape.rows * shape.columns) blocks_do_not_fit(blocks.size(), "a kept element lies outside");
    }
    TensorSummary summary = summary_of(recipe, quantized);
    summary.tensor = count_ - 1;
    summary.shape = {static_cast<std::uint64_t>(shape.rows), static_cast<std::uint64_t>(shape.columns)};
    summary.axis = 1;
    append_values(globals_, std::move(summary), recipes::dequantize(recipe, quantized, inputs_), text);
  }

  const Globals& globals_;
  QuantRecipe recipe_;
  recipes::Inputs inputs_;
  BlockText form_;
  TensorLines lines_;
  std::optional<Shape> shape_;
  std::uint64_t count_ = 0;  ///< tensors
};

int dequantize_file(const DequantizeOptions& options, const Globals& globals) {
  if (!options.shape.empty()) throw InputError("--shape", "the file says the shape", "leave it out");
  const bool checkpoint = names_checkpoint(options.input);
  const std::optional<StoredRecipe> stored = checkpoint ? std::nullopt : stored_recipe(options.input);
  const QuantRecipe recipe = recipe_to_read(options.recipe, stored, options.input);
  const recipes::Inputs inputs = make_inputs(options.recipe, recipe, Direction::back);
  QuantizedColumns columns = checkpoint ? read_checkpoint(options.input, recipe) : read_columns(options.input, recipe, stored);
  complete_tensor_scale(recipe, inputs, "input " + quoted(options.input), columns.quantized);
  if (columns.shape.empty()) columns.shape = {1};
  const std::size_t axis = stored ? stored->axis : columns.shape.size() - 1;
  const std::vector<double> values = with_axis_at(axis, columns.shape, recipes::dequantize(recipe, columns.quantized, inputs));
  TensorSummary summary = summary_of(recipe, columns.quantized);
  summary.shape = columns.shape;
  summary.axis = axis;
  if (options.output != "-") {
    write_values(options.output, columns.shape, values);
    summary.written = options.output;
  }
  Output output;
  if (options.output == "-" || globals.json) append_values(globals, std::move(summary), values, output.text());
  output.flush();
  return kPassed;
}

int run_dequantize(const DequantizeOptions& options, const Globals& globals) {
  if (options.input != "-") return dequantize_file(options, globals);
  if (options.output != "-") throw InputError("output '" + options.output + "'", "text in gives text out", "leave --output out, or read a file");
  if (options.recipe.recipe.empty()) throw InputError("standard input", "text does not say its recipe", "name it with --recipe");
  Dequantizer dequantizer(options, globals);
  Output output;
  bool any = false;
  for (; dequantizer.next(output.text()); output.flush()) any = true;
  if (any) return kPassed;
  if (!globals.quiet) std::fputs("halfulp: no blocks: give what `halfulp quantize` writes on standard input\n", stderr);
  return kIncomplete;
}

}  // namespace

void add_dequantize(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("dequantize", "The values of a quantized tensor");
  const auto options = std::make_shared<DequantizeOptions>();
  command->add_option("--recipe,-r", options->recipe.recipe, "The recipe that made the codes; a pack with a manifest says it")->type_name("R");
  command->add_option("--input,-i", options->input, "A pack folder, .npz, .safetensors[:LAYER], or - for text (default)")->type_name("Y");
  command->add_option("--output,-o", options->output, "An .npy, or - for rows of text (default)")->type_name("X");
  command->add_option("--shape", options->shape, "Shape of the tensor of text: rows and columns")->type_name("RxC");
  add_recipe_options(*command, options->recipe);
  command->footer(kExamples);
  command->callback(
      [options, &globals, &runner] { runner = [options, &globals] { return run_dequantize(*options, globals); }; });
}

}  // namespace halfulp::tool
