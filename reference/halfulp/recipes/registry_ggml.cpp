// GGML blocks of 32, after the reference quantizers of ggml and the gguf package.
#include <array>

#include "halfulp/recipes/registry_parts.hpp"

namespace halfulp::recipes {
namespace {

constexpr auto kTable = std::to_array<NamedRecipe>({
    {"ggml/q8_0",
     "granularity group 32\n"
     "d = a / 127\n"
     "scale f16 d\n"
     "f = if_zero(d, 0, 1 / d)\n"
     "code int8:nan_to_zero rha(x * f)\n"
     "value v * S\n"
     "fact codes are made with the binary32 d; what is stored is d rounded to half\n"
     "fact a block is the half d, then 32 bytes\n"
     "fact NaN is left out of the maximum and gives 0; 1/d overflows for d below 2^-128: such codes "
     "saturate\n",
     "source"},
    {"ggml/q4_0",
     "granularity group 32\n"
     "d = peak(x) / -8\n"
     "scale f16 d\n"
     "f = if_zero(d, 0, 1 / d)\n"
     "code uint4 min(max(trunc(x * f + 8.5), 0), 15)\n"
     "value (v - 8) * S\n"
     "fact the element of largest magnitude, the first of equal ones, gets code 0 and reads back -8·d\n"
     "fact a zero block stores d = -0 (0x8000), codes 8\n"
     "fact a block is the half d, then 16 bytes: element j in the low, j + 16 in the high nibble of byte j "
     "(ggml_half)\n"
     "fact NaN is left out of the maximum and gives 0\n",
     "source"},
    {"ggml/q4_1",
     "granularity group 32\n"
     "d = (hi - lo) / 15\n"
     "scale f16 d\n"
     "zero f16 lo\n"
     "f = if_zero(d, 0, 1 / d)\n"
     "code uint4 min(max(trunc((x - lo) * f + 0.5), 0), 15)\n"
     "value v * S + Z\n"
     "fact multiplies by 1/d; codes are made with the binary32 d and minimum, stored rounded to half\n"
     "fact a block is the halves d and minimum, then 16 bytes in ggml_half order\n"
     "fact NaN is left out of minimum and maximum and gives 0\n",
     "source"},
    {"ggml/mxfp4",
     "granularity group 32\n"
     "scale e8m0:zero=min exp2(floor(log2(a)) - 2)\n"
     "y = abs(x / S)\n"
     "g = if_less(y, 2, 0.5, if_less(y, 4, 1, 2))\n"
     "t = ceil(y / g - 0.5) * g\n"
     "code e2m1:nan_to_zero if_zero(t, 0, if_less(x, 0, -t, t))\n"
     "value v * S\n"
     "fact ties toward zero: the first of two equally near entries of 0 .5 1 1.5 2 3 4 6; never -0\n"
     "fact the floor of a float logarithm: an amax just below a power of two far from 1 may count as that "
     "power\n"
     "fact a block is the E8M0 byte, then 16 bytes in ggml_half order; a zero block has byte 0x00\n"
     "fact amax below 2^-125 gives byte 0x00 (the original wraps the negative exponent)\n",
     "source"},
});

}  // namespace

std::span<const NamedRecipe> ggml_recipes() {
  return kTable;
}

}  // namespace halfulp::recipes
