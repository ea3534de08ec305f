// Completes tensor scales; see dequantize_scale.hpp.
#include "dequantize_scale.hpp"

#include <bit>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/quantize.hpp"

namespace halfulp::tool {
namespace {

using recipes::QuantRecipe;

/// The tensor scale that the recipe makes of an amax.
std::uint64_t scale_of_amax(const QuantRecipe& recipe, double amax, const recipes::Inputs& inputs) {
  recipes::Inputs own = inputs;
  own.erase(recipes::kTensorScale);
  for (const recipes::Input& input : recipe.inputs) {
    if (input.per != recipes::PerInput::table && own.contains(input.name)) own[input.name].resize(1);
  }
  const double element[] = {amax};
  return recipes::quantize(recipe, {1, 1, element}, own).tensor_scale.value();
}

}  // namespace

void complete_tensor_scale(const QuantRecipe& recipe, const recipes::Inputs& inputs, const std::string& what, recipes::Quantized& quantized) {
  const auto scale = recipes::given_value(inputs, recipes::kTensorScale), amax = recipes::given_value(inputs, recipes::kTensorAmax);
  const bool stores = recipe.tensor_scale.reg >= 0, needs_amax = recipes::reads(recipe.value_steps, recipe.A);
  const auto refuse = [&](const char* option, const char* why) {
    throw InputError(option, what + " " + why, "leave it out");
  };
  if (scale && quantized.tensor_scale) refuse("--tensor-scale", "stores the tensor scale");
  if (amax && needs_amax && quantized.tensor_amax) refuse("--tensor-amax", "stores the tensor's amax");
  if (amax && !needs_amax && quantized.tensor_scale) refuse("--tensor-amax", "stores the tensor scale, and no value is made from the amax");
  if (amax && !needs_amax && !stores) refuse("--tensor-amax", "is of a recipe whose values are not made from it");
  if (stores && !quantized.tensor_scale && scale) {
    quantized.tensor_scale =
        cast(spec_of("f64"), std::bit_cast<std::uint64_t>(*scale), recipe.tensor_scale.format, recipe.tensor_scale.policy).code;
  }
  if (stores && !quantized.tensor_scale && amax) quantized.tensor_scale = scale_of_amax(recipe, *amax, inputs);
  if (stores && !quantized.tensor_scale) {
    throw InputError(what, "the tensor scale is missing (in text, the line `# tensor-scale 0x…`)",
                     "give it as `halfulp quantize` writes it, or --tensor-scale or --tensor-amax");
  }
  if (amax && needs_amax) quantized.tensor_amax = *amax;
}

}  // namespace halfulp::tool
