// The lists of behaviours; see recipe_behaviours.hpp.
#include "halfulp/vectors/blocks/recipe_behaviours.hpp"

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_departures.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/row_changes.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

using recipes::QuantRecipe;

/// Memory and order: the same for every recipe.
std::vector<Handling> handlings_of(const RecipePlan& plan) {
  std::vector<Handling> list;
  const auto behind = [&](std::string label, auto change) {
    if (plan.task == Task::dequantize) {
      list.push_back({std::move(label),
                      [change](const RecipePlan& p, RecipeRow row) {
                        if (auto stored = change(p, row, row.stored)) row.stored = std::move(*stored);
                        return row;
                      },
                      {},
                      {}});
    } else {
      list.push_back({std::move(label), {}, change, {}});
    }
  };
  const int width = plan.recipe.code.format.width;
  for (const PackingName& one : kPackings) {
    const Packing own = plan.packing.value_or(Packing::low_first), packing = one.packing;
    if (packing == own || !packs(packing, width) || width > 4 || packing == Packing::byte_low_bits)
      continue;
    behind("codes packed " + std::string(one.name),
           [packing](const RecipePlan& p, const RecipeRow&, RowAnswer a) {
             return with_codes_packed(p, std::move(a), packing);
           });
  }
  for (const ScaleLayoutName& one : kScaleLayouts) {
    if (plan.recipe.scale.reg < 0 || one.layout == plan.layout.value_or(ScaleLayout::linear)) continue;
    behind("scales laid out " + std::string(one.name),
           [layout = one.layout](const RecipePlan& p, const RecipeRow&, RowAnswer a) {
             return with_scales_laid_out(p, std::move(a), layout);
           });
  }
  for (const int by : {1, -1}) {
    const std::string sign = by > 0 ? "next" : "previous";
    behind("every scale at the " + sign + " block", [by](const RecipePlan&, const RecipeRow&, RowAnswer a) {
      return with_scales_rotated(std::move(a), by);
    });
    behind(std::string("scale codes one too ") + (by > 0 ? "large" : "small"),
           [by](const RecipePlan& p, const RecipeRow&, RowAnswer a) {
             return with_scales_moved(p, std::move(a), by);
           });
  }
  behind("tensor scale inverted", [](const RecipePlan& p, const RecipeRow&, RowAnswer a) {
    return with_tensor_scale_inverted(p, std::move(a));
  });
  if (plan.task != Task::quantize) return list;
  behind("zero blocks keep the scale of the block before",
         [](const RecipePlan& p, const RecipeRow& r, RowAnswer a) {
           return with_stale_scale(p, r, std::move(a));
         });
  if (plan.recipe.scale.reg >= 0) {
    const FormatSpec& format = plan.recipe.scale.format;
    for (const auto& [text, code] :
         {std::pair<std::string, std::uint64_t>{"0x00", 0}, {"1.0", blocks::code_of(format, 1)}}) {
      behind("zero blocks store scale " + text,
             [code = code](const RecipePlan& p, const RecipeRow& r, RowAnswer a) {
               return with_zero_block_scale(p, r, std::move(a), code);
             });
    }
  }
  const FormatSpec& code = plan.recipe.code.format;
  if (code.zeros == Zeros::plus_and_minus)
    behind("-0 becomes +0", [mask = code.sign_mask()](const RecipePlan&, const RecipeRow&, RowAnswer a) {
      return std::optional(with_codes_replaced(std::move(a), mask, 0));
    });
  if (code.encoding == Encoding::twos_complement && code.is_signed)
    behind("most negative code never used",
           [mask = code.sign_mask()](const RecipePlan&, const RecipeRow&, RowAnswer a) {
             return std::optional(with_codes_replaced(std::move(a), mask, mask + 1));
           });
  return list;
}

/// What replaces the handling of the plan's own rows.
std::vector<Handling> own_handlings() {
  return {{"subnormal inputs count as zeros", subnormals_flushed, {}, {}},
          {"inputs through bf16",
           [](const RecipePlan&, RecipeRow r) { return rounded_to(std::move(r), spec_of("bf16")); },
           {},
           {}},
          {"inputs through f16",
           [](const RecipePlan&, RecipeRow r) { return rounded_to(std::move(r), spec_of("f16")); },
           {},
           {}},
          {"blocks along the other axis", {}, {}, along_other_axis},
          {"a partial block reads on in the block before", {}, {}, with_stale_tail},
          {"amax not reset between blocks", {}, {}, with_running_amax}};
}

/// Every named recipe and element whose columns are those of the plan; scales of another size are
/// re-expressed.
std::vector<Behaviour> named_behaviours(const RecipePlan& plan) {
  std::vector<Behaviour> list;
  for (const std::string_view name : recipes::recipe_names()) {
    for (const std::string& element : recipes::recipe_elements(name)) {
      if (name == plan.name && element == plan.element) continue;
      auto other = comparable_recipe(plan, name, element);
      if (!other && plan.task == Task::quantize) {  // scales in words of another size
        QuantRecipe same = recipes::named_recipe(name, element);
        const recipes::Stored scale = same.scale;
        same.scale.format = plan.recipe.scale.format;
        const bool fits = (scale.reg >= 0) == (plan.recipe.scale.reg >= 0) &&
                          (same.zero.reg >= 0) == (plan.recipe.zero.reg >= 0) &&
                          same.code.format.width == plan.recipe.code.format.width &&
                          (same.tensor_scale.reg >= 0 || plan.recipe.tensor_scale.reg < 0);
        if (!fits) continue;
        same.scale = scale;
        other = recipes::with_granularity(std::move(same), plan.recipe.granularity, plan.recipe.rows,
                                          plan.recipe.columns);
      }
      if (!other) continue;
      const bool several = recipes::recipe_elements(name).size() > 1;
      list.push_back({"recipe:" + std::string(name) + (several ? ",to=" + element : ""),
                      true,
                      1,
                      std::move(*other),
                      {}});
    }
  }
  return list;
}

/// Scales of a recipe that stores them in words of another size, as the plan's codes.
RowAnswer reexpressed(const RecipePlan& plan, const QuantRecipe& recipe, RowAnswer answer) {
  if (recipe.scale.reg < 0 || plan.recipe.scale.reg < 0) return answer;
  const FormatSpec &from = recipe.scale.format, &to = plan.recipe.scale.format;
  if (from.storage_bytes() == to.storage_bytes()) return answer;
  for (std::uint64_t& code : answer.scales) {
    const double x = blocks::number_of(from, code);
    code = !to.is_signed && x < 0                ? ~std::uint64_t{0}
           : x == 0 && to.zeros == Zeros::absent ? 0
                                                 : blocks::code_of(to, x);
  }
  return answer;
}

}  // namespace

std::vector<Behaviour> simple_behaviours(const RecipePlan& plan) {
  std::vector<Behaviour> list = named_behaviours(plan);
  for (Departure& departure : departures_of(plan))
    list.push_back({departure.label, false, departure.fields, std::move(departure.recipe), {}});
  for (const Handling& handling : handlings_of(plan))
    list.push_back({handling.label, false, 1, plan.recipe, handling});
  for (const Handling& handling : own_handlings()) {
    if (plan.task != Task::dequantize) list.push_back({handling.label, false, 1, plan.recipe, handling});
  }
  return list;
}

std::vector<Behaviour> combined_behaviours(const RecipePlan& plan) {
  std::vector<Behaviour> list;
  const std::vector<Handling> handlings = handlings_of(plan);
  for (const Behaviour& one : named_behaviours(plan)) {
    for (const Handling& handling : handlings)
      list.push_back({one.label + ", " + handling.label, false, 2, one.recipe, handling});
  }
  return list;
}

std::optional<RowAnswer> answer_of(const RecipePlan& plan, const Behaviour& behaviour,
                                   const RecipeRow& row) {
  const Handling& handling = behaviour.handling;
  try {
    if (handling.instead) return handling.instead(plan, row);
    const RecipeRow* in = &row;
    RecipeRow changed;
    if (handling.before) {
      changed = handling.before(plan, row);
      in = &changed;
    }
    RowAnswer given = reexpressed(plan, behaviour.recipe, answer_by(plan, behaviour.recipe, *in));
    return handling.behind ? handling.behind(plan, row, std::move(given)) : std::optional(std::move(given));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<RowAnswer> admissible_answers_of(const RecipePlan& plan, const Behaviour& behaviour,
                                             const RecipeRow& row) {
  RecipePlan other = plan;
  other.recipe = behaviour.recipe;
  std::vector<RowAnswer> choices = admissible_answers(other, row);
  for (RowAnswer& choice : choices) choice = reexpressed(plan, behaviour.recipe, std::move(choice));
  return choices;
}

}  // namespace halfulp::vectors
