// From arguments to a verdict, by the kind of SPEC or pack.
#include "verify_subject.hpp"

#include <cstdio>
#include <memory>

#include "halfulp/names.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_plan.hpp"
#include "halfulp/vectors/mma/mma_report.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "attention_verify.hpp"
#include "values.hpp"
#include "verify_json.hpp"
#include "verify_recipe.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

Shown shown(const Verdict& verdict) {
  return {report_of(verdict), verdict_json(verdict)};
}
Shown shown(const RecipeRun& run) {
  return {report_of(run), recipe_json(run)};
}
Shown shown(const AttentionRun& run) {
  return {report_of(run), attention_json(run)};
}

Shown shown(const MmaRun& run) {
  return {report_of(run), verdict_json(run)};
}

VerifyOptions options_of(const VerifyArguments& arguments) {
  VerifyOptions options;
  const bool of_cast =
      arguments.subject.starts_with("cast:") || arguments.subject.find("->") != std::string::npos;
  const std::string usual = of_cast ? "thresholds" : "stratified";
  const auto level = value_named<Level>(arguments.level.empty() ? usual : arguments.level);
  if (!level) {
    throw InputError("level " + quoted(arguments.level), "unknown",
                     "use specials, thresholds, stratified or exhaustive");
  }
  options.level = *level;
  options.seed = arguments.seed;
  options.threads = arguments.threads;
  options.progress = arguments.progress;
  return options;
}

/// The implementation of casts called so; nullptr, with a line on standard error, when it is not here.
const Implementation* find_implementation(const std::string& name) {
  const Implementation& implementation = require_implementation(name);
  if (implementation.missing.empty()) return &implementation;
  std::fprintf(
      stderr,
      "halfulp: error: implementation %s: not found: %s; `halfulp verify --impl list` shows what there is\n",
      implementation.name.c_str(), implementation.missing.c_str());
  return nullptr;
}

/// The kernel for a recipe.
Plug recipe_kernel_of(const VerifyArguments& arguments, const std::string& spec) {
  return arguments.implementation.empty() ? make_plug(arguments.plug)
                                          : recipe_plug(spec, arguments.implementation);
}

/// The kernel for an accumulation model.
Plug mma_kernel_of(const VerifyArguments& arguments, const std::string& spec) {
  return arguments.implementation.empty() ? make_plug(arguments.plug) : mma_plug(spec, arguments.implementation);
}

std::optional<Shown> judge_pack(const VerifyArguments& arguments) {
  const std::string& path = arguments.subject;
  if (!arguments.level.empty() || arguments.seeded)
    throw InputError("pack " + quoted(path), "it has its rows already", "leave out --level and --seed");
  const std::unique_ptr<PackReader> pack = read_pack(path);
  const VerifyOptions options = options_of(arguments);
  const Manifest& manifest = pack->manifest();
  if (manifest.kind == "recipe")
    return shown(verify_recipe_pack(recipe_kernel_of(arguments, manifest.spec), *pack, path, options));
  if (manifest.kind == "mma") return shown(verify_mma_pack(mma_kernel_of(arguments, manifest.spec), *pack, path, options));
  if (manifest.kind == "attention")
    return shown(verify_attention_pack({arguments.implementation, arguments.plug}, *pack, path, options));
  if (arguments.implementation.empty())
    return shown(verify_pack(make_plug(arguments.plug), *pack, path, options));
  const Implementation* implementation = find_implementation(arguments.implementation);
  if (!implementation) return {};
  const Plug plug = implementation_plug(*implementation, request_of(manifest, path));
  return shown(verify_pack(plug, *pack, path, options));
}

}  // namespace

std::optional<Shown> judge_subject(const VerifyArguments& arguments) {
  const std::string& subject = arguments.subject;
  if (is_pack(subject)) return judge_pack(arguments);
  const VerifyOptions options = options_of(arguments);
  if (is_attention_spec(subject))
    return shown(verify_attention_spec({arguments.implementation, arguments.plug}, subject, options));
  if (is_recipe_spec(subject))
    return shown(verify_recipe_spec(recipe_kernel_of(arguments, subject), subject, options));
  if (is_mma_spec(subject)) return shown(verify_mma_spec(mma_kernel_of(arguments, subject), subject, options));
  if (arguments.implementation.empty())
    return shown(verify(make_plug(arguments.plug), parse_spec(subject), options));
  const Implementation* implementation = find_implementation(arguments.implementation);
  if (!implementation) return {};
  return shown(verify(*implementation, parse_spec(subject), options));
}

}  // namespace halfulp::tool
