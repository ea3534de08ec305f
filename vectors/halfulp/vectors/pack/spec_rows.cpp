// Which kinds of SPEC packs are made of: one row each.
#include <algorithm>
#include <thread>

#include "halfulp/error.hpp"
#include "halfulp/vectors/attention/pack.hpp"
#include "halfulp/vectors/blocks/recipe_pack.hpp"
#include "halfulp/vectors/decode.hpp"
#include "halfulp/vectors/mma/mma_pack.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {
namespace {

struct SpecKind {
  std::string_view prefix;
  Level level;  ///< if none is named
  std::unique_ptr<RowSource> (*open)(std::string_view spec, Level level, std::uint64_t seed);
};

constexpr SpecKind kSpecKinds[] = {
    {"cast:", Level::thresholds,
     [](std::string_view spec, Level level, std::uint64_t seed) {
       return cast_rows(make_plan(parse_cast_spec(spec)), level, seed);
     }},
    {"decode:", Level::stratified,
     [](std::string_view spec, Level level, std::uint64_t seed) {
       return decode_rows(parse_decode_spec(spec), level, seed);
     }},
    {"recipe:", Level::stratified,
     [](std::string_view spec, Level level, std::uint64_t seed) {
       const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
       return recipe_rows(parse_recipe_spec(spec), level, seed, cores);
     }},
    {"mma:", Level::stratified,
     [](std::string_view spec, Level level, std::uint64_t seed) {
       return mma_rows(parse_mma_spec(spec), level, seed, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
     }},
    {"attention:", Level::stratified,
     [](std::string_view spec, Level level, std::uint64_t seed) {
       const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
       return attention_row_source(parse_attention_spec(spec), level, seed, cores);
     }},
};

}  // namespace

std::unique_ptr<RowSource> rows_of_spec(std::string_view spec, std::optional<Level> level,
                                        std::uint64_t seed) {
  for (const SpecKind& kind : kSpecKinds) {
    if (spec.starts_with(kind.prefix)) return kind.open(spec, level.value_or(kind.level), seed);
  }
  if (spec.find("->") != std::string_view::npos)
    return kSpecKinds[0].open(spec, level.value_or(kSpecKinds[0].level), seed);
  throw InputError("SPEC '" + std::string(spec.substr(0, 60)) + "'", "packs are not made of it",
                   "write cast:FROM:TO[@DIALECT][,key=value]…, decode:FORMAT[:TO], recipe:NAME[,key=value]…, mma:MODEL[,key=value]… or attention:PRESET[,key=value]…");
}

}  // namespace halfulp::vectors
