// The text of `--impl list`.
#include "halfulp/vectors/listing.hpp"

#include <algorithm>

#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/mma/mma_kernels.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string state_text(const Implementation& one) {
  if (!one.missing.empty()) return "not found: " + one.missing;
  const std::size_t count = one.claims.size();
  return one.about + " (" + one.version + "), " +
         (one.open_plan ? "any cast" : std::to_string(count) + (count == 1 ? " cast" : " casts"));
}

std::string claims_of(const Implementation& one) {
  std::string text = padded(one.name, 18) + state_text(one) + "\n";
  for (const Claim& claim : one.claims) text += "  " + claim.spec + "\n";
  return text;
}

}  // namespace

std::string list_text() {
  std::string text;
  for (const Implementation* one : implementations())
    text += padded(one->name, 18) + state_text(*one) + "\n";
  text += "\n`halfulp verify --impl list NAME` shows the casts of one, `--impl list SPEC` who has a cast\n";
  text += "\nwrong on purpose, each with the SPEC that shows it:\n";
  for (const Implementation& one : mutants())
    text += padded(one.name, 32) + padded(one.claims.front().spec, 58) + one.about + "\n";
  text += "\nfor recipes: halfulp, recipe:NAME (another recipe with the same columns), and wrong on purpose:\n";
  for (const BlockMutant& one : block_mutants())
    text += padded("mutant:" + one.name, 32) + padded(one.spec, 58) + one.about + "\n";
  text += "\nfor accumulation models: halfulp, halfulp-exact, mma:MODEL (another model with the same columns), and wrong on purpose:\n";
  for (const MmaMutant& one : mma_mutants())
    text += padded("mutant:" + one.name, 32) + padded(one.spec, 58) + one.about + "\n";
  return text;
}

std::vector<std::string> claims_on(const Implementation& one, std::string_view spec) {
  const CastRequest wanted = parse_cast_spec(spec);
  const std::string from = wanted.from == "exact" ? "exact" : std::string(require_format(wanted.from).name);
  const std::string to(require_format(wanted.to).name);
  std::vector<std::string> claims;
  for (const Claim& claim : one.claims) {
    const CastRequest claimed = parse_cast_spec(claim.spec);
    if (claimed.from == from && claimed.to == to) claims.push_back(claim.spec);
  }
  return claims;
}

std::string claims_text(std::string_view name_or_spec) {
  if (!name_or_spec.starts_with("cast:")) return claims_of(require_implementation(name_or_spec));
  std::string text;
  for (const Implementation* one : implementations()) {
    if (!one->missing.empty()) text += padded(one->name, 18) + state_text(*one) + "\n";
    if (one->open_plan && one->missing.empty()) text += padded(one->name, 18) + "any cast\n";
    for (const std::string& claim : claims_on(*one, name_or_spec)) text += padded(one->name, 18) + claim + "\n";
  }
  return text;
}

}  // namespace halfulp::vectors
