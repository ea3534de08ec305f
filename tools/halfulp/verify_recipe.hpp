// `halfulp verify` on recipes: SPECs `recipe:…` and packs of them.
#pragma once

#include <string>

#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "halfulp/vectors/reports/report_recipe.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::tool {

/// Judges a kernel on a recipe's rows of a level. Throws InputError.
vectors::RecipeRun verify_recipe_spec(const vectors::Plug& plug, const std::string& spec,
                                      const vectors::VerifyOptions& options);

/// The same on the rows of a pack of kind recipe.
vectors::RecipeRun verify_recipe_pack(const vectors::Plug& plug, const vectors::PackReader& pack,
                                      const std::string& path, const vectors::VerifyOptions& options);

/// `halfulp`, `recipe:NAME` or `mutant:NAME` as a kernel for a recipe. Throws InputError.
vectors::Plug recipe_plug(const std::string& spec, const std::string& implementation);

/// One object and a line end.
std::string recipe_json(const vectors::RecipeRun& run);

}  // namespace halfulp::tool
