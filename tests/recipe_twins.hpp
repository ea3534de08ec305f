// The recipe engine against its exact twin on one tensor: codes, scales, zeros, and values, as bits.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>

#include "halfulp/error.hpp"
#include "halfulp/oracle/value.hpp"
#include "halfulp/recipes/cut_after.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "recipe_data.hpp"

namespace halfulp::test {

/// The same number, or both NaN; zeros with their signs.
inline bool same_number(double engine, const oracle::Value& truth) {
  if (truth.cls == oracle::ValueClass::nan || std::isnan(engine)) {
    return truth.cls == oracle::ValueClass::nan && std::isnan(engine);
  }
  const oracle::Value value = oracle::value_of(spec_of("f64"), std::bit_cast<std::uint64_t>(engine));
  return value.cls == truth.cls && value.negative == truth.negative && value.magnitude == truth.magnitude;
}

/// The first statement at which the engines part on this tensor.
inline std::string first_differing_step(const recipes::QuantRecipe& recipe, const Tensor& tensor,
                                        const recipes::Inputs& inputs) {
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const recipes::QuantRecipe cut = recipes::cut_after(recipe, i);
    if (recipes::quantize(cut, tensor.view(), inputs) ==
        recipes::quantize_exact(cut, tensor.view(), inputs))
      continue;
    return "step " + std::to_string(i + 1) + " of " + std::to_string(recipe.steps.size()) + " in '" +
           recipe.steps[i].text + "'";
  }
  return "no step alone: the storing of results";
}

inline std::string shown_block(const recipes::Blocks& blocks, std::int64_t block, const Tensor& tensor) {
  std::string text = "block " + std::to_string(block) + ":";
  std::size_t shown = 0;
  for_each_place(blocks, block, [&](std::size_t place) {
    char word[40];
    std::snprintf(word, sizeof word, " %a", tensor.values[place]);
    if (shown++ < 40) text += word;
  });
  return text;
}

/// Compares quantization and dequantization; returns the number of elements that agree. Reports the first
/// difference.
inline std::uint64_t compare_with_twin(const recipes::QuantRecipe& recipe, const Tensor& tensor,
                                       const recipes::Inputs& inputs = {}) {
  const auto run = [&](auto quantizer) -> std::optional<recipes::Quantized> {
    try {
      return quantizer(recipe, tensor.view(), inputs);
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
  const auto got = run(recipes::quantize), truth = run(recipes::quantize_exact);
  if (!got || !truth) {
    if (got.has_value() != truth.has_value())
      ADD_FAILURE() << recipe.name << ": one engine refuses the tensor, the other does not";
    return 0;
  }
  const recipes::Blocks& blocks = got->blocks;
  const auto fail = [&](std::int64_t block, const std::string& what) {
    ADD_FAILURE() << recipe.name << ", " << tensor.rows << " x " << tensor.columns << ": " << what
                  << "\nfirst difference at " << first_differing_step(recipe, tensor, inputs) << "\n"
                  << shown_block(blocks, block, tensor);
    return std::uint64_t{0};
  };
  if (got->tensor_scale != truth->tensor_scale) return fail(0, "tensor scales differ");
  if (got->scales.size() != truth->scales.size() || got->zeros.size() != truth->zeros.size())
    return fail(0, "numbers of scales differ");
  if (got->kept != truth->kept) return fail(0, "kept elements differ");
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    const auto i = static_cast<std::size_t>(block);
    if (i < got->scales.size() && got->scales[i] != truth->scales[i]) return fail(block, "scales differ");
    if (i < got->zeros.size() && got->zeros[i] != truth->zeros[i]) return fail(block, "zero points differ");
    std::optional<std::size_t> wrong;
    for_each_place(blocks, block, [&](std::size_t place) {
      if (!wrong && got->codes[place] != truth->codes[place]) wrong = place;
    });
    if (wrong) {
      char text[96];
      std::snprintf(text, sizeof text, "element %zu (%a): engine 0x%llx, twin 0x%llx", *wrong,
                    tensor.values[*wrong], static_cast<unsigned long long>(got->codes[*wrong]),
                    static_cast<unsigned long long>(truth->codes[*wrong]));
      return fail(block, text);
    }
  }
  const std::vector<double> values = recipes::dequantize(recipe, *got, inputs);
  const std::vector<oracle::Value> exact = recipes::dequantize_exact(recipe, *got, inputs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < exact.size() && same_number(values[i], exact[i])) continue;
    ADD_FAILURE() << recipe.name << ": code 0x" << std::hex << got->codes[i] << " of element " << std::dec
                  << i << " dequantizes to " << values[i] << ", exactly to "
                  << oracle::to_hex_string(exact.at(i));
    return i;
  }
  return values.size();
}

}  // namespace halfulp::test
