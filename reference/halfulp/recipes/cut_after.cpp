// See cut_after.hpp.
#include "halfulp/recipes/cut_after.hpp"

#include "halfulp/formats.hpp"

namespace halfulp::recipes {

QuantRecipe cut_after(const QuantRecipe& recipe, std::size_t step) {
  QuantRecipe cut = recipe;
  cut.steps.resize(step + 1);
  Step keep;
  keep.op = Op::cast;
  keep.scope = cut.steps.back().scope;
  keep.operands = {cut.steps.back().result};
  keep.target = spec_of("f64");
  keep.policy.overflow = Overflow::overflow;
  keep.policy.nan_sign = NanSign::positive;
  keep.result = cut.registers++;
  if (keep.scope == Scope::tensor) cut.tensor_scale.reg = -1;
  cut.scale.reg = cut.zero.reg = cut.code.reg = cut.keep_reg = -1;
  Stored& stored = keep.scope == Scope::tensor  ? cut.tensor_scale
                   : keep.scope == Scope::block ? cut.scale
                                                : cut.code;
  stored.reg = keep.result;
  stored.format = keep.target;
  stored.policy = keep.policy;
  cut.steps.push_back(keep);
  return cut;
}

}  // namespace halfulp::recipes
