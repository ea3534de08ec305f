// The options that name a recipe and give its inputs, shared by `quantize` and `dequantize`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace CLI {
class App;
}

namespace halfulp::tool {

struct RecipeOptions {
  std::string recipe, to, block;
  std::string tensor_amax, tensor_scale;
  std::string scale, smooth, outlier_thresholds, codebook;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;  ///< NAME=VALUE, NAME=V,V,… or NAME=FILE
};

void add_recipe_options(CLI::App& app, RecipeOptions& options);

/// The recipe with its element and blocks. Throws InputError with the nearest names.
recipes::QuantRecipe make_recipe(const RecipeOptions& options);

/// Quantization, or the way back, where inputs that no value is made from need not be given.
enum class Direction { forth, back };

/// The inputs that the options give, but for random words. Literals are rounded to binary32, or to binary64
/// where a step of that precision reads them. Throws InputError, also for a required input that is not given.
recipes::Inputs make_inputs(const RecipeOptions& options, const recipes::QuantRecipe& recipe,
                            Direction direction = Direction::forth);

/// Adds the random bytes of elements `first` … to the inputs of a recipe that takes them.
void add_random(const RecipeOptions& options, const recipes::QuantRecipe& recipe, std::uint64_t first,
                std::size_t count, recipes::Inputs& inputs);

/// True when an input has several values, each for a place of the tensor.
bool has_places(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs);

/// A code (`0x…`) or literal of a format, as the number it stands for. Throws InputError.
double number_of(std::string_view text, const Format& format);

}  // namespace halfulp::tool
