// Recipes of caches, integers and GGML blocks: engines agree; documented results of special inputs; disagreements.
#include <cmath>
#include <map>

#include "cache_special.hpp"
#include "recipe_corners.hpp"

namespace halfulp::test {
namespace {

using recipes::named_recipe;
using recipes::QuantRecipe;

TEST(RecipesCache, EnginesAgree) {  // with partial blocks, NaN, Inf, subnormal and huge numbers, elements on ties
  std::map<std::string_view, std::vector<Sweep>> sweeps;
  for (const Sweep& sweep : kCacheSweeps) sweeps[sweep.name].push_back(sweep);
  std::vector<std::string_view> names;
  for (const auto& entry : sweeps) names.push_back(entry.first);
  std::vector<Compared> totals(names.size());
  parallel(names.size(), [&](std::size_t i) {
    for (std::uint64_t seed = 1; totals[i].elements < 100'000 || totals[i].blocks < 100; ++seed) {
      for (const Sweep& sweep : sweeps[names[i]]) {
        const Compared added = compare_once(sweep, seed);
        totals[i].elements += added.elements;
        totals[i].blocks += added.blocks;
      }
      if (HasFailure() || seed > 200) return;
    }
  });
  std::map<std::string_view, Compared> done;
  for (std::size_t i = 0; i < names.size(); ++i) done[names[i]] = totals[i];
  for (const auto& [name, total] : done) {
    EXPECT_GE(total.elements, 100'000u) << name;
    EXPECT_GE(total.blocks, 100u) << name;
  }
  for (const recipes::NamedRecipe& recipe : recipes::cache_recipes()) EXPECT_TRUE(done.contains(recipe.name)) << recipe.name;
}

TEST(RecipesCache, Marks) {
  for (const recipes::NamedRecipe& recipe : recipes::cache_recipes()) {
    EXPECT_FALSE(recipe.mark.empty()) << recipe.name;
    EXPECT_FALSE(named_recipe(recipe.name).facts.empty()) << recipe.name;
  }
}

struct Documented {
  const char* name;
  const char* answers[9];  ///< to specials(), in order
};

// Scale and zero point as codes; see answer() in cache_special.hpp.
// clang-format off
const Documented kDocumented[] = {
    {"kv_fp8/vllm", {
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "3f800000 7f 7e b8 0 = nan 0x1.cp+8 -0x1p+0 0x0p+0",  // NaN
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // Inf
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // half's largest
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // largest
        "3f800000 44 44 44 44 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3f800000 44 = 0x1.8p+1",  // one element
    }},
    {"kv_fp8/vllm_packed", {
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "3f800000 7f 7e b8 0 = nan 0x1.cp+8 -0x1p+0 0x0p+0",  // NaN
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // Inf
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // half's largest
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // largest
        "3f800000 44 44 44 44 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3f800000 44 = 0x1.8p+1",  // one element
    }},
    {"kv_fp8/vllm_half", {
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "3f800000 7f 7e b8 0 = nan 0x1.cp+8 -0x1p+0 0x0p+0",  // NaN
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // Inf
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // half's largest
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // largest
        "3f800000 44 44 44 44 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3f800000 44 = 0x1.8p+1",  // one element
    }},
    {"kv_fp8/vllm_per_head", {
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "3f800000 7f 7e b8 0 = nan 0x1.cp+8 -0x1p+0 0x0p+0",  // NaN
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // Inf
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "3f800000 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // half's largest
        "3f800000 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // largest
        "3f800000 44 44 44 44 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3f800000 44 = 0x1.8p+1",  // one element
    }},
    {"kv_fp8/vllm_calculated", {
        "0 7f 7f 7f 7f = nan nan nan nan",  // zeros
        "7fc00000 7f 7f 7f 7f = nan nan nan nan",  // NaN
        "7f800000 7f 7f 0 0 = nan nan nan nan",  // Inf
        "3023d70a 6c f4 0 6c = 0x1.ecp-25 -0x1.ecp-24 0x0p+0 0x1.ecp-25",  // half subnormals
        "a3d 75 80 0 0 = 0x1p-130 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "43a3c28f 74 f4 2 0 = 0x1.ecp+15 -0x1.ecp+15 0x1.48p+0 0x0p+0",  // half's largest
        "7ba3d70a 74 ec 0 0 = 0x1.ecp+127 -0x1.ecp+126 0x0p+0 0x0p+0",  // largest
        "3c75c28f 74 74 74 74 = 0x1.7p+1 0x1.7p+1 0x1.7p+1 0x1.7p+1",  // constant
        "3c75c28f 74 = 0x1.7p+1",  // one element
    }},
    {"kv_fp8/vllm_calculated_v", {
        "0 7f 7f 7f 7f = nan nan nan nan",  // zeros
        "7fc00000 7f 7f 7f 7f = nan nan nan nan",  // NaN
        "7f800000 7f 7f 0 0 = nan nan nan nan",  // Inf
        "30a3d70a 64 ec 0 64 = 0x1.ecp-25 -0x1.ecp-24 0x0p+0 0x1.ecp-25",  // half subnormals
        "147b 6c 80 0 0 = 0x1p-130 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "4423c28f 6c ec 1 0 = 0x1.ecp+15 -0x1.ecp+15 0x1.48p+0 0x0p+0",  // half's largest
        "7c23d70a 6c e4 0 0 = 0x1.ecp+127 -0x1.ecp+126 0x0p+0 0x0p+0",  // largest
        "3cf5c28f 6c 6c 6c 6c = 0x1.7p+1 0x1.7p+1 0x1.7p+1 0x1.7p+1",  // constant
        "3cf5c28f 6c = 0x1.7p+1",  // one element
    }},
    {"kv_fp8/scale_1", {
        "- 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "- 7f 7e b8 0 = nan 0x1.cp+8 -0x1p+0 0x0p+0",  // NaN
        "- 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // Inf
        "- 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "- 0 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "- 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // half's largest
        "- 7e fe 38 0 = 0x1.cp+8 -0x1.cp+8 0x1p+0 0x0p+0",  // largest
        "- 44 44 44 44 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "- 44 = 0x1.8p+1",  // one element
    }},
    {"kivi/k", {
        "0:0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7e00:7e00 0 0 0 0 = nan nan nan nan",  // NaN
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // Inf
        "1:8002 3 0 2 3 = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24",  // half subnormals
        "0:8000 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "7c00:fbff 0 0 0 0 = nan nan nan nan",  // half's largest
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // largest
        "0:4200 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "0:4200 0 = 0x1.8p+1",  // one element
    }},
    {"kivi/v", {
        "0:0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7e00:7e00 0 0 0 0 = nan nan nan nan",  // NaN
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // Inf
        "1:8002 3 0 2 3 = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24",  // half subnormals
        "0:8000 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "7c00:fbff 0 0 0 0 = nan nan nan nan",  // half's largest
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // largest
        "0:4200 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "0:4200 0 = 0x1.8p+1",  // one element
    }},
    {"sage/int8_qk", {
        "30587076 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "4061c387 0 7f 0 0 = 0x0p+0 0x1.cp+8 0x0p+0 0x0p+0",  // NaN
        "7f800000 0 0 0 0 = nan nan nan nan",  // Inf
        "30810204 40 81 0 40 = 0x1.020408p-24 -0x1p-23 0x0p+0 0x1.020408p-24",  // half subnormals
        "30587076 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "4400f1e4 7f 81 0 0 = 0x1.ffcp+15 -0x1.ffcp+15 0x0p+0 0x0p+0",  // half's largest
        "7c010204 7f c0 0 0 = inf -0x1.020408p+127 0x0p+0 0x0p+0",  // largest
        "3cc18306 7f 7f 7f 7f = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3cc18306 7f = 0x1.8p+1",  // one element
    }},
    {"sage/int8_qk_triton", {
        "0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "4061c387 0 7f 0 0 = 0x0p+0 0x1.cp+8 0x0p+0 0x0p+0",  // NaN
        "7f800000 0 0 0 0 = nan nan nan nan",  // Inf
        "30810204 40 81 0 40 = 0x1.020408p-24 -0x1p-23 0x0p+0 0x1.020408p-24",  // half subnormals
        "0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "4400f1e4 7f 81 0 0 = 0x1.ffcp+15 -0x1.ffcp+15 0x0p+0 0x0p+0",  // half's largest
        "7f800000 0 0 0 0 = nan nan nan nan",  // largest
        "3cc18306 7f 7f 7f 7f = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3cc18306 7f = 0x1.8p+1",  // one element
    }},
    {"sage/int8_qk_triton_thread", {
        "33d6bf95 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "4061c387 0 7f 0 0 = 0x0p+0 0x1.cp+8 0x0p+0 0x0p+0",  // NaN
        "7f800000 0 0 0 0 = nan nan nan nan",  // Inf
        "33d8c39d 1 ff 0 1 = 0x1.b1873ap-24 -0x1.b1873ap-24 0x0p+0 0x1.b1873ap-24",  // half subnormals
        "33d6bf95 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "4400f1e4 7f 81 0 0 = 0x1.ffcp+15 -0x1.ffcp+15 0x0p+0 0x0p+0",  // half's largest
        "7f800000 0 0 0 0 = nan nan nan nan",  // largest
        "3cc1833c 7f 7f 7f 7f = 0x1.80006cp+1 0x1.80006cp+1 0x1.80006cp+1 0x1.80006cp+1",  // constant
        "3cc1833c 7f = 0x1.80006cp+1",  // one element
    }},
    {"nvfp4_kv/vllm", {
        "0 0 8 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // zeros
        "69 7 7 8 0 = 0x1.bp+8 0x1.bp+8 -0x0p+0 0x0p+0",  // NaN
        "7e 7 f 0 0 = 0x1.5p+11 -0x1.5p+11 0x0p+0 0x0p+0",  // Inf
        "0 0 8 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "0 0 8 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "7e 7 f 0 0 = 0x1.5p+11 -0x1.5p+11 0x0p+0 0x0p+0",  // half's largest
        "7e 7 f 0 0 = 0x1.5p+11 -0x1.5p+11 0x0p+0 0x0p+0",  // largest
        "30 7 7 7 7 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "30 7 = 0x1.8p+1",  // one element
    }},
    {"int_asym/zero_point", {
        "3c008081:7f 7f 7f 7f 7f = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7fc00000:0 0 0 0 0 = nan nan nan nan",  // NaN
        "7f800000:0 0 0 0 0 = nan nan nan nan",  // Inf
        "3040c0c1:aa ff 0 aa ff = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24",  // half subnormals
        "808:0 ff 0 0 0 = 0x1.fffep-131 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "44007070:80 ff 0 80 80 = 0x1.fdbe3cp+15 -0x1.00e0ep+16 0x0p+0 0x0p+0",  // half's largest
        "7f800000:0 0 0 0 0 = nan nan nan nan",  // largest
        "3c40c0c1:0 ff ff ff ff = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3c40c0c1:0 ff = 0x1.8p+1",  // one element
    }},
    {"int_asym/zero_point_group", {
        "3e088889:7 7 7 7 7 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7fc00000:0 0 0 0 0 = nan nan nan nan",  // NaN
        "7f800000:0 0 0 0 0 = nan nan nan nan",  // Inf
        "324ccccd:a f 0 a f = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24",  // half subnormals
        "8889:0 f 0 0 0 = 0x1.0000ep-130 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "46087777:8 f 0 8 8 = 0x1.dda22p+15 -0x1.10eeeep+16 0x0p+0 0x0p+0",  // half's largest
        "7f800000:0 0 0 0 0 = nan nan nan nan",  // largest
        "0:80000000 f f f f = nan nan nan nan",  // constant
        "0:80000000 f = nan",  // one element
    }},
    {"int_sym/quarot", {
        "3f800000 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7fc00000 0 0 0 0 = nan nan nan nan",  // NaN
        "7f800000 0 0 0 0 = nan nan nan nan",  // Inf
        "32924925 3 9 0 3 = 0x1.b6db7p-25 -0x1p-23 0x0p+0 0x1.b6db7p-25",  // half subnormals
        "12492 7 0 0 0 = 0x1.ffff8p-131 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "461236db 7 9 0 0 = 0x1.ffbffep+15 -0x1.ffbffep+15 0x0p+0 0x0p+0",  // half's largest
        "7e124924 7 c 0 0 = 0x1.fffffep+127 -0x1.249248p+127 0x0p+0 0x0p+0",  // largest
        "3edb6db7 7 7 7 7 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "3edb6db7 7 = 0x1.8p+1",  // one element
    }},
    {"quarot/k", {
        "3e088889:7 7 7 7 7 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7fc00000:0 0 0 0 0 = nan nan nan nan",  // NaN
        "7fc00000:0 0 0 0 0 = nan nan nan nan",  // Inf
        "324ccccd:5 5 a 0 f = 0x0p+0 0x1p-24 -0x1p-24 0x1p-23",  // half subnormals
        "3e088889:7 7 7 7 7 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "458877bc:0 0 f 0 f = 0x0p+0 0x1.ffcp+15 0x0p+0 0x1.ffcp+15",  // half's largest
        "7fc00000:0 0 0 0 0 = nan nan nan nan",  // largest
        "3ecccccd:0 f 0 0 0 = 0x1.8p+2 0x0p+0 0x0p+0 0x0p+0",  // constant
        "3e4ccccd:0 f = 0x1.8p+1",  // one element
    }},
    {"kvquant/k", {
        "4000:0 7 7 7 7 = -0x1p-3 -0x1p-3 -0x1p-3 -0x1p-3",  // zeros
        "4000:0 0 7 3 7 = -0x1.ep+0 0x1.cp+8 -0x1.2p+0 -0x1p-3 kept 1",  // NaN
        "4000:0 7 7 b 7 = inf -inf 0x1.cp-1 -0x1p-3 kept 2",  // Inf
        "4000:0 8 7 7 8 = 0x1p-3 -0x1p-3 -0x1p-3 0x1p-3",  // half subnormals
        "4000:0 7 7 7 7 = -0x1p-3 -0x1p-3 -0x1p-3 -0x1p-3",  // subnormals
        "4000:0 7 7 b 7 = 0x1.ffcp+15 -0x1.ffcp+15 0x1.cp-1 -0x1p-3 kept 2",  // half's largest
        "4000:0 7 7 b 7 = 0x1.fffffep+127 -0x1.fffffep+126 0x1.cp-1 -0x1p-3 kept 2",  // largest
        "4000:0 7 7 7 7 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1 kept 4",  // constant
        "4000:0 7 = 0x1.8p+1 kept 1",  // one element
    }},
    {"kvquant/k_calibrated", {
        "0:0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "7e00:7e00 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // NaN
        "7e00:7e00 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // Inf
        "2:8000 b 0 7 b = 0x1p-24 -0x1p-23 -0x0p+0 0x1p-24",  // half subnormals
        "0:0 0 0 0 0 = 0x1p-130 -0x1p-149 0x0p+0 0x0p+0 kept 2",  // subnormals
        "7c00:0 7 7 7 7 = 0x1.ffcp+15 -0x1.ffcp+15 0x0p+0 0x0p+0 kept 2",  // half's largest
        "7c00:7e00 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // largest
        "0:4200 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "0:4200 0 = 0x1.8p+1",  // one element
    }},
    {"kvquant/v", {
        "0:80000000 0 0 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0 kept 4",  // zeros
        "7fc00000:7fc00000 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // NaN
        "7f800000:7fc00000 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // Inf
        "0:0 0 0 0 0 = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24 kept 3",  // half subnormals
        "0:0 0 0 0 0 = 0x1p-130 -0x1p-149 0x0p+0 0x0p+0 kept 2",  // subnormals
        "3f000000:3f000000 7 7 f 0 = 0x1.ffcp+15 -0x1.ffcp+15 0x1.fp-1 0x1p-5 kept 2",  // half's largest
        "3f000000:3f000000 7 7 f 0 = 0x1.fffffep+127 -0x1.fffffep+126 0x1.fp-1 0x1p-5 kept 2",  // largest
        "0:40400000 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1 kept 4",  // constant
        "0:40400000 0 = 0x1.8p+1 kept 1",  // one element
    }},
    {"ggml/q8_0", {
        "0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "430e 0 7f 0 0 = 0x0p+0 0x1.bff9p+8 0x0p+0 0x0p+0",  // NaN
        "7c00 0 0 0 0 = nan nan nan nan",  // Inf
        "0 40 81 0 40 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "0 7f 80 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "6008 7f 81 0 0 = 0x1.fff8p+15 -0x1.fff8p+15 0x0p+0 0x0p+0",  // half's largest
        "7c00 7f c1 0 0 = inf -inf nan nan",  // largest
        "260c 7f 7f 7f 7f = 0x1.7ffap+1 0x1.7ffap+1 0x1.7ffap+1 0x1.7ffap+1",  // constant
        "260c 7f = 0x1.7ffap+1",  // one element
    }},
    {"ggml/q4_0", {
        "8000 8 8 8 8 = -0x0p+0 -0x0p+0 -0x0p+0 -0x0p+0",  // zeros
        "d300 0 0 8 8 = 0x1.cp+8 0x1.cp+8 -0x0p+0 -0x0p+0",  // NaN
        "fc00 0 0 8 8 = inf inf nan nan",  // Inf
        "0 c 0 8 c = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // half subnormals
        "8000 0 f 0 0 = 0x0p+0 -0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "efff 0 f 8 8 = 0x1.ffcp+15 -0x1.bfc8p+15 -0x0p+0 -0x0p+0",  // half's largest
        "fc00 0 c 8 8 = inf -inf nan nan",  // largest
        "b600 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "b600 0 = 0x1.8p+1",  // one element
    }},
    {"ggml/q4_1", {
        "0:0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "4f7c:bc00 0 f 0 0 = -0x1p+0 0x1.c01p+8 -0x1p+0 -0x1p+0",  // NaN
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // Inf
        "0:8002 f 0 a f = -0x1p-23 -0x1p-23 -0x1p-23 -0x1p-23",  // half subnormals
        "0:8000 f 0 f f = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "7044:fbff f 0 8 8 = 0x1p+16 -0x1.ffcp+15 0x1.12p+12 0x1.12p+12",  // half's largest
        "7c00:fc00 0 0 0 0 = nan nan nan nan",  // largest
        "0:4200 0 0 0 0 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "0:4200 0 = 0x1.8p+1",  // one element
    }},
    {"ggml/mxfp4", {
        "0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // zeros
        "85 0 7 0 0 = 0x0p+0 0x1.8p+8 0x0p+0 0x0p+0",  // NaN
        "fe 7 f 0 0 = inf -inf 0x0p+0 0x0p+0",  // Inf
        "66 4 e 0 4 = 0x1p-24 -0x1p-23 0x0p+0 0x1p-24",  // half subnormals
        "0 0 0 0 0 = 0x0p+0 0x0p+0 0x0p+0 0x0p+0",  // subnormals
        "8c 7 f 0 0 = 0x1.8p+15 -0x1.8p+15 0x0p+0 0x0p+0",  // half's largest
        "fd 6 c 0 0 = inf -0x1p+127 0x0p+0 0x0p+0",  // largest
        "7e 7 7 7 7 = 0x1.8p+1 0x1.8p+1 0x1.8p+1 0x1.8p+1",  // constant
        "7e 7 = 0x1.8p+1",  // one element
    }},
};
// clang-format on

TEST(RecipesCache, DocumentedResults) {
  std::size_t rows = 0;
  for (const Documented& row : kDocumented) {
    for (std::size_t i = 0; i < specials().size(); ++i) {
      EXPECT_EQ(answer(named_recipe(row.name), specials()[i].values), row.answers[i]) << row.name << ", " << specials()[i].name;
    }
    ++rows;
  }
  EXPECT_EQ(rows, recipes::cache_recipes().size());
}

TEST(RecipesCache, EmptyTensorsAndPartialBlocks) {
  for (const recipes::NamedRecipe& entry : recipes::cache_recipes()) {
    const QuantRecipe& recipe = named_recipe(entry.name);
    SCOPED_TRACE(entry.name);
    for (const auto& [rows, columns] : {std::pair{0, 4}, std::pair{4, 0}, std::pair{0, 0}}) {
      recipes::Inputs inputs;
      for (const recipes::Input& input : recipe.inputs) {
        if (input.per == recipes::PerInput::table) inputs[input.name].resize(static_cast<std::size_t>(input.entries));
        else if (input.default_literal.empty()) inputs[input.name] = {1};
      }
      const recipes::TensorView empty{rows, columns, {}};
      const recipes::Quantized q = recipes::quantize(recipe, empty, inputs);
      EXPECT_EQ(q, recipes::quantize_exact(recipe, empty, inputs));
      EXPECT_TRUE(q.codes.empty());
      EXPECT_TRUE(recipes::dequantize(recipe, q, inputs).empty());
    }
    // A partial block is a block of the elements it has: quantized alone it gives the same.
    if (recipe.granularity != recipes::Granularity::group || recipe.A >= 0) continue;
    const auto n = static_cast<std::size_t>(recipe.columns);
    Tensor tensor = stratified(recipe, 1, recipe.columns + 5, 7, kFiniteFillings);
    const recipes::Quantized whole = recipes::quantize(recipe, tensor.view());
    const Tensor part = row_of(std::vector<double>(tensor.values.begin() + recipe.columns, tensor.values.end()));
    const recipes::Quantized alone = recipes::quantize(recipe, part.view());
    EXPECT_EQ(whole.scales.at(1), alone.scales.at(0));
    EXPECT_TRUE(std::equal(alone.codes.begin(), alone.codes.end(), whole.codes.begin() + static_cast<std::ptrdiff_t>(n)));
  }
}

TEST(RecipesCache, Refusals) {
  const std::vector<double> three = {1, 2, 3};
  const recipes::TensorView view{1, 3, three};
  EXPECT_THROW(recipes::quantize(named_recipe("quarot/k"), view), InputError);  // not a power of two: never padded silently
  EXPECT_THROW(recipes::quantize(named_recipe("kvquant/v"), view), InputError);  // no codebook
  EXPECT_THROW(recipes::quantize(named_recipe("kvquant/v"), view, {{"codebook", {1, 2}}}), InputError);
  EXPECT_THROW(named_recipe("kivi/k", "e4m3"), InputError);
  EXPECT_THROW(named_recipe("ggml/q4_0", "uint8"), InputError);
}

// ---- disagreements ----

std::vector<double> read_back(const QuantRecipe& recipe, const Tensor& tensor, const recipes::Inputs& inputs = {}) {
  return recipes::dequantize(recipe, recipes::quantize(recipe, tensor.view(), inputs), inputs);
}

TEST(Disagreements, ReadOfTheCacheThroughHalf) {
  const recipes::Inputs scale = {{"scale", {0x1.8ef606p-3}}};
  recipes::Quantized q = recipes::quantize(named_recipe("kv_fp8/vllm"), row_of({0}).view(), scale);
  q.codes = {0x01};
  EXPECT_EQ(recipes::dequantize(named_recipe("kv_fp8/vllm"), q, scale)[0], 0x1.8ep-12);
  EXPECT_EQ(recipes::dequantize(named_recipe("kv_fp8/vllm_packed"), q, scale)[0], 0x1.9p-12);
}

TEST(Disagreements, ScaleOfTheFirstBatch) {
  const Tensor batch = row_of({200, -1, 0.5});
  const auto scale = [&](std::string_view name) {
    return number_of(spec_of("f32"), recipes::quantize(named_recipe(name), batch.view()).scales.at(0));
  };
  EXPECT_EQ(scale("kv_fp8/vllm_calculated"), 1.0);
  EXPECT_EQ(scale("kv_fp8/vllm_calculated_v"), 2.0);
  EXPECT_EQ(scale("fp8_per_tensor/vllm"), in_format(spec_of("f32"), 200.0 / 448));
}

TEST(Disagreements, RealMinimumOrZeroPoint) {
  const QuantRecipe& real = named_recipe("kivi/v");
  const QuantRecipe& integer = named_recipe("int_asym/zero_point", "uint2");
  const Tensor far = row_of({9, 10, 11, 12}), near = row_of({0.4, -0.3, 0.2, 0.5});
  EXPECT_EQ(read_back(real, far), far.values);
  EXPECT_EQ(read_back(integer, far), (std::vector<double>{8, 8, 12, 12}));
  EXPECT_NEAR(read_back(real, near)[3], 0.5, 0.0005);
  EXPECT_NEAR(read_back(integer, near)[3], 0.53333, 0.00001);
}

TEST(Disagreements, AxisOfTheKeys) {  // a key group runs down a channel; along the token it sees other extremes
  const Tensor k{2, 2, {1, 100, 2, 300}};
  EXPECT_EQ(recipes::quantize(named_recipe("kivi/k"), k.view()).codes, (std::vector<std::uint64_t>{0, 0, 3, 3}));
  EXPECT_EQ(recipes::quantize(named_recipe("kivi/v"), k.view()).codes, (std::vector<std::uint64_t>{0, 3, 0, 3}));
}

TEST(Disagreements, ValueEqualToAThreshold) {
  recipes::Inputs inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {-1}}, {"outlier_upper", {2}}};
  const QuantRecipe& strict = named_recipe("kvquant/k", "uint2");
  const Tensor channel{5, 1, {-1, 0, 0.5, 2, 16}};
  const recipes::Quantized q = recipes::quantize(strict, channel.view(), inputs);
  ASSERT_EQ(q.kept.size(), 1u);
  EXPECT_EQ(q.kept[0].index, 4);
  // Inclusive, at run time: quantile 1/2 on either side of [-1, 0, 1] is the element 0 itself.
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"dense", {0}}};
  EXPECT_EQ(recipes::quantize(named_recipe("kvquant/v", "uint2"), row_of({-1, 0, 1}).view(), inputs).kept.size(), 3u);
  // A channel of one value between equal thresholds has no strict outlier, and eight inclusive ones.
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {1}}, {"outlier_upper", {1}}};
  EXPECT_TRUE(recipes::quantize(strict, filled(8, 1, 1).view(), inputs).kept.empty());
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}};
  EXPECT_EQ(recipes::quantize(named_recipe("kvquant/v", "uint2"), filled(1, 8, 1).view(), inputs).kept.size(), 8u);
}

TEST(Disagreements, HalfAwayBySumAndTruncation) {  // the largest float below 1/2: its sum with 1/2 rounds to 1
  const Tensor x = row_of({127, 0x1.fffffep-2, 2.5, -2.5});
  const auto codes = [&](std::string_view name) { return recipes::quantize(named_recipe(name), x.view()).codes; };
  EXPECT_EQ(codes("sage/int8_qk"), (std::vector<std::uint64_t>{127, 0, 2, 0xfe}));
  EXPECT_EQ(codes("sage/int8_qk_triton"), (std::vector<std::uint64_t>{127, 1, 3, 0xfd}));
}

TEST(Disagreements, CacheOfNvfp4IsTheRecipe) {  // G = 1/k_scale
  Random random(11);
  const Tensor x = stratified(named_recipe("nvfp4_kv/vllm"), 10, 64, 5, kFiniteFillings);
  for (const double k_scale : {1.0, 0.25, 0x1.8p-7}) {
    const recipes::Quantized cache = recipes::quantize(named_recipe("nvfp4_kv/vllm"), x.view(), {{"k_scale", {k_scale}}});
    const double g = in_format(spec_of("f32"), 1 / k_scale);
    const recipes::Quantized plain = recipes::quantize(named_recipe("nvfp4/vllm"), x.view(), {{recipes::kTensorScale, {g}}});
    EXPECT_EQ(cache.codes, plain.codes);
    EXPECT_EQ(cache.scales, plain.scales);
  }
}

// ---- rows of block.json that name these recipes ----

TEST(CacheCases, ConstantGroup) {  // block-C15-3
  const double x = 0x1.47ae14p-7;
  const recipes::Quantized q = recipes::quantize(named_recipe("int_asym/zero_point"), filled(1, 32, x).view());
  EXPECT_EQ(q.scales.at(0), 0x38247b86u);
  EXPECT_EQ(q.codes, std::vector<std::uint64_t>(32, 255));
  EXPECT_EQ(read_back(named_recipe("int_asym/zero_point"), filled(1, 32, x)), std::vector<double>(32, x));
}

TEST(CacheCases, GroupOf96) {  // block-E9-1: no padding enters minimum and maximum
  Tensor x = filled(1, 96, 0);
  for (std::size_t i = 0; i < 96; ++i) x.values[i] = in_format(spec_of("f32"), 5 + 3.0 * static_cast<double>(i) / 95);
  const QuantRecipe recipe = recipes::with_block(named_recipe("int_asym/zero_point_group"), "96");
  const recipes::Quantized q = recipes::quantize(recipe, x.view());
  EXPECT_EQ(q.scales.at(0), 0x3e4ccccdu);
  EXPECT_EQ(q.codes.front(), 0u);
  EXPECT_EQ(q.codes.back(), 15u);
}

TEST(CacheCases, GroupOfFourTokens) {  // block-F11-1
  const Tensor x{4, 1, {1, 0x1.4ccp+0, 2, 0x1.668p-1}};
  const recipes::Quantized q = recipes::quantize(named_recipe("kivi/k"), x.view());
  EXPECT_EQ(number_of(spec_of("f16"), q.scales.at(0)), 0x1.bbcp-2);
  EXPECT_EQ(q.codes, (std::vector<std::uint64_t>{1, 1, 3, 0}));
  EXPECT_EQ(read_back(named_recipe("kivi/k"), x), (std::vector<double>{0x1.224p+0, 0x1.224p+0, 2, 0x1.668p-1}));
}

TEST(CacheCases, RotationKeepsTheNorm) {  // block-F15-1: 1/sqrt of the padded length; 2^-k and 2^-k/sqrt(2)
  for (const std::int64_t d : {1, 2, 4, 8, 64, 128, 256}) {
    QuantRecipe recipe = named_recipe("quarot/k");
    recipe.steps.clear();  // keep the rotation alone
    recipes::Step keep;
    keep.op = recipes::Op::cast;
    keep.scope = recipes::Scope::element;
    keep.result = recipe.code.reg;
    keep.operands = {recipe.x};
    recipe.code.format = keep.target = spec_of("f32");
    keep.policy.overflow = Overflow::overflow;
    recipe.steps.push_back(keep);
    recipe.scale.reg = recipe.zero.reg = -1;
    Tensor x = filled(1, d, 0);
    x.values[0] = 1;
    double norm = 0;
    for (const std::uint64_t code : recipes::quantize(recipe, x.view()).codes) norm += std::pow(number_of(spec_of("f32"), code), 2);
    EXPECT_NEAR(norm, 1, 0.001) << d;
  }
}

}  // namespace
}  // namespace halfulp::test
