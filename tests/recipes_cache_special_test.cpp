// Documented results of every cache recipe for zeros, NaN, Inf, subnormal, huge and constant inputs.
#include "cache_special.hpp"

namespace halfulp::test {
namespace {

using recipes::named_recipe;

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
      EXPECT_EQ(answer(named_recipe(row.name), specials()[i].values), row.answers[i])
          << row.name << ", " << specials()[i].name;
    }
    ++rows;
  }
  EXPECT_EQ(rows, recipes::cache_recipes().size());
}

}  // namespace
}  // namespace halfulp::test
