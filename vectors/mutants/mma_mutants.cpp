// The zoo of wrong accumulation: each line is a function from a spec to a kernel, empty where it does not
// apply.
#include "halfulp/vectors/mma/mma_kernels.hpp"

#include <algorithm>

#include "halfulp/cast.hpp"
#include "halfulp/unpacked.hpp"
#include "loose_sum.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::MmaSpec;
using accumulation::Output;
using accumulation::ScaleOrder;
using accumulation::Scheme;
using Mutant = std::optional<MmaFunction>;

bool is_aligned(const MmaSpec& spec) {
  return spec.model.fraction_bits != 0 && spec.model.scheme != Scheme::pairwise;
}

/// The same model with other data.
template <class Change>
Mutant changed(MmaSpec spec, bool applies, Change change) {
  if (!applies) return std::nullopt;
  change(spec);
  return function_of(spec);
}

/// The model on another row.
template <class Change>
Mutant on_other_row(const MmaSpec& spec, bool applies, Change change) {
  if (!applies) return std::nullopt;
  return [right = function_of(spec), change](const MmaRow& row) {
    MmaRow other = row;
    change(other);
    return right(other);
  };
}

/// The model's result, changed.
template <class Change>
Mutant with_result(const MmaSpec& spec, bool applies, Change change) {
  if (!applies) return std::nullopt;
  return [right = function_of(spec), change](const MmaRow& row) { return change(row, right(row)); };
}

bool has_nan(const FormatSpec& format) {
  return format.encoding == Encoding::floating && format.non_finite != NonFinite::none;
}
bool is_nan(const FormatSpec& format, std::uint32_t word) {
  return unpack(format, word).number_class == NumberClass::nan;
}
bool is_infinity(const FormatSpec& format, std::uint32_t word) {
  return unpack(format, word).number_class == NumberClass::infinity;
}
void flush(const FormatSpec& format, std::uint32_t& word) {
  if (unpack(format, word).number_class == NumberClass::subnormal) word = 0;
}
const FormatSpec& result_of(const MmaSpec& spec) {
  return accumulation::format_of(spec.output);
}
bool is_float(const MmaSpec& spec) {
  return spec.output != Output::int32;
}

template <class List, class Order>
void reorder(List& list, Order order) {
  const List old = list;
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = old[order(k, list.size())];
}

std::size_t evens_first(std::size_t k, std::size_t count) {
  const std::size_t evens = (count + 1) / 2;
  return k < evens ? 2 * k : 2 * (k - evens) + 1;
}

const std::vector<MmaMutant> kZoo = {
    {"one_bit_more", "keeps one bit more below the largest exponent", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) {
       return changed(s, is_aligned(s), [](MmaSpec& x) { ++x.model.fraction_bits; });
     }},
    {"one_bit_less", "keeps one bit less below the largest exponent", "mma:ampere_f16",
     [](const MmaSpec& s) {
       return changed(s, is_aligned(s), [](MmaSpec& x) { --x.model.fraction_bits; });
     }},
    {"groups_one_bit_less", "the same for sums of scaled groups: 34 bits for 35", "mma:blackwell_mxf4nvf4",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::scaled_groups,
                      [](MmaSpec& x) { --x.model.fraction_bits; });
     }},
    {"half_chunk", "sums half as many products at once", "mma:ada_fp8",
     [](const MmaSpec& s) {
       return changed(s, s.model.chunk > 1 && s.model.scheme != Scheme::widened_halves,
                      [](MmaSpec& x) { x.model.chunk /= 2; });
     }},
    {"double_chunk", "sums twice as many products at once", "mma:hopper_f16",
     [](const MmaSpec& s) {
       return changed(s, s.model.chunk > 0 && s.model.scheme != Scheme::widened_halves,
                      [](MmaSpec& x) { x.model.chunk *= 2; });
     }},
    {"whole_result", "the result has 23 bits where the unit has 13", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) {
       return changed(s, s.model.f32_fraction_bits < 23 && s.output == Output::f32,
                      [](MmaSpec& x) { x.model.f32_fraction_bits = 23; });
     }},
    {"short_result", "the result has 13 bits where the unit has 23", "mma:blackwell_f8f6f4",
     [](const MmaSpec& s) {
       return changed(
           s, s.model.f32_fraction_bits == 23 && s.output == Output::f32 && s.model.scheme == Scheme::fused,
           [](MmaSpec& x) { x.model.f32_fraction_bits = 13; });
     }},
    {"f16_accumulator", "chunks are handed on as f16", "mma:hopper_f16",
     [](const MmaSpec& s) -> Mutant {
       if (s.model.outputs.find("f16") == std::string_view::npos || s.output != Output::f32 ||
           s.interval != 0)
         return std::nullopt;
       MmaSpec narrow = s;
       narrow.output = Output::f16;
       return [right = function_of(narrow)](const MmaRow& row) {
         MmaRow other = row;
         static constexpr FormatSpec kF16 = spec_of("f16"), kF32 = spec_of("f32");
         other.c =
             static_cast<std::uint32_t>(cast(kF32, row.c, kF16, {.overflow = Overflow::overflow}).code);
         return static_cast<std::uint32_t>(
             cast(kF16, right(other), kF32, {.overflow = Overflow::overflow}).code);
       };
     }},
    {"nearest_terms", "terms are rounded to the unit, not truncated", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) { return loose_sum(s, {.cut = LooseSum::Cut::nearest}); }},
    {"floored_terms", "terms are cut toward minus infinity", "mma:hopper_f16",
     [](const MmaSpec& s) { return loose_sum(s, {.cut = LooseSum::Cut::floor}); }},
    {"nearest_result", "the result is rounded to nearest even, not cut", "mma:hopper_f16",
     [](const MmaSpec& s) { return loose_sum(s, {.nearest_result = true}); }},
    {"normalised_products", "products are aligned at the exponent of their value", "mma:ampere_f16",
     [](const MmaSpec& s) { return loose_sum(s, {.normalised = true}); }},
    {"c_late", "c is added to the rounded sum of the products", "mma:ampere_tf32",
     [](const MmaSpec& s) { return loose_sum(s, {.c = LooseSum::C::late}); }},
    {"c_whole", "c is not cut with the products", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) { return loose_sum(s, {.c = LooseSum::C::whole}); }},
    {"c_dropped", "c is left out", "mma:hopper_fp8_mma_sync",
     [](const MmaSpec& s) { return on_other_row(s, true, [](MmaRow& row) { row.c = 0; }); }},
    {"signed_zero", "a sum of negative zeros is -0", "mma:hopper_f16",
     [](const MmaSpec& s) { return loose_sum(s, {.signed_zero = true}); }},
    {"fast_accumulation", "one chain where promotion was asked", "mma:hopper_fp8_wgmma,interval=128",
     [](const MmaSpec& s) {
       return changed(s, s.interval != 0 && s.scale_order == ScaleOrder::none,
                      [](MmaSpec& x) { x.interval = 0; });
     }},
    {"promotes_too_often", "promotes twice as often", "mma:hopper_fp8_wgmma,interval=128",
     [](const MmaSpec& s) {
       return changed(s, s.interval > 1 && s.interval % 2 == 0 && s.scale_order == ScaleOrder::none,
                      [](MmaSpec& x) { x.interval /= 2; });
     }},
    {"promotes_too_seldom", "promotes half as often", "mma:hopper_fp8_wgmma,interval=128",
     [](const MmaSpec& s) {
       return changed(s, s.interval != 0 && s.scale_order == ScaleOrder::none,
                      [](MmaSpec& x) { x.interval *= 2; });
     }},
    {"promotes_every_chunk", "adds every chunk to an accumulator", "mma:ada_fp8",
     [](const MmaSpec& s) {
       return changed(s, s.interval == 0 && s.model.chunk != 0 && s.output != Output::int32,
                      [](MmaSpec& x) { x.interval = x.model.chunk; });
     }},
    {"other_scale_order", "(piece * sA) * sB where (sA * sB) * piece was asked, or the other way",
     "mma:hopper_fp8_wgmma,interval=128,scale_order=scales_first",
     [](const MmaSpec& s) {
       return changed(s, s.scale_order != ScaleOrder::none, [](MmaSpec& x) {
         x.scale_order = x.scale_order == ScaleOrder::scales_first ? ScaleOrder::operand_first
                                                                   : ScaleOrder::scales_first;
       });
     }},
    {"contracted", "the last multiply and the add are one fma",
     "mma:blackwell_f8f6f4,interval=128,scale_order=operand_first",
     [](const MmaSpec& s) {
       return changed(s, s.scale_order != ScaleOrder::none && !s.contract,
                      [](MmaSpec& x) { x.contract = true; });
     }},
    {"reversed", "k runs downward", "mma:hopper_f16",
     [](const MmaSpec& s) {
       return on_other_row(s, accumulation::scale_block(s) == 0, [](MmaRow& row) {
         std::reverse(row.a.begin(), row.a.end());
         std::reverse(row.b.begin(), row.b.end());
       });
     }},
    {"evens_first", "the products with even k come first", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) {
       return on_other_row(s, accumulation::scale_block(s) == 0, [](MmaRow& row) {
         reorder(row.a, evens_first);
         reorder(row.b, evens_first);
       });
     }},
    {"halves_in_order", "the two halves of FP8 mma.sync are k below 16 and above",
     "mma:hopper_fp8_mma_sync",
     [](const MmaSpec& s) {
       return on_other_row(s, s.model.scheme == Scheme::widened_halves, [](MmaRow& row) {
         const auto place =
             [](std::size_t k,
                std::size_t count) {  // the first half where the unit takes k mod 4 in {0, 1}
               const std::size_t first = k / 32 * 32;
               if (first + 32 > count) return k;
               const std::size_t in = k - first, half = in % 4 / 2;
               return first + 16 * half + in / 4 * 2 + in % 2;
             };
         reorder(row.a, place);
         reorder(row.b, place);
       });
     }},
    {"short_k", "the last product is left out", "mma:turing_f16",
     [](const MmaSpec& s) {
       return on_other_row(s, true, [](MmaRow& row) { row.a.back() = row.b.back() = 0; });
     }},
    {"shifted_operand", "b is read one place further", "mma:int8_imma",
     [](const MmaSpec& s) {
       return on_other_row(s, true,
                           [](MmaRow& row) { std::rotate(row.b.begin(), row.b.begin() + 1, row.b.end()); });
     }},
    {"flushes_operands", "subnormal operands are zeros", "mma:hopper_f16",
     [](const MmaSpec& s) {
       return on_other_row(s, is_float(s) && !s.model.flushes, [a = s.a, b = s.b](MmaRow& row) {
         for (std::uint32_t& word : row.a) flush(a, word);
         for (std::uint32_t& word : row.b) flush(b, word);
       });
     }},
    {"flushes_results", "subnormal results are zeros", "mma:hopper_f16,from=bf16",
     [](const MmaSpec& s) {
       return with_result(s, is_float(s) && !s.model.flushes,
                          [to = result_of(s)](const MmaRow&, std::uint32_t word) {
                            flush(to, word);
                            return word;
                          });
     }},
    {"keeps_subnormals", "keeps subnormals where the unit flushes", "mma:cdna2_f16",
     [](const MmaSpec& s) {
       return changed(s, s.model.flushes, [](MmaSpec& x) { x.model.flushes = false; });
     }},
    {"nan_is_a_number", "the NaN code of E4M3 is 480", "mma:hopper_fp8_wgmma",
     [](const MmaSpec& s) {
       const bool e4m3 = s.a == spec_of("e4m3") && s.b == spec_of("e4m3");
       return on_other_row(s, e4m3, [](MmaRow& row) {
         for (auto* words : {&row.a, &row.b}) {
           for (std::uint32_t& word : *words) word -= (word & 0x7f) == 0x7f ? 1 : 0;
         }
       });
     }},
    {"nan_is_zero", "NaN operands count as zeros", "mma:ampere_f16,from=bf16",
     [](const MmaSpec& s) {
       return on_other_row(s, has_nan(s.a), [a = s.a, b = s.b](MmaRow& row) {
         for (std::uint32_t& word : row.a) word = is_nan(a, word) ? 0 : word;
         for (std::uint32_t& word : row.b) word = is_nan(b, word) ? 0 : word;
       });
     }},
    {"infinities_win", "opposite infinities give Inf", "mma:hopper_f16",
     [](const MmaSpec& s) {
       return with_result(s, is_float(s), [s](const MmaRow& row, std::uint32_t word) {
         bool nan = is_nan(result_of(s), row.c), infinity = is_infinity(result_of(s), row.c);
         for (std::size_t k = 0; k < row.a.size(); ++k) {
           nan = nan || is_nan(s.a, row.a[k]) || is_nan(s.b, row.b[k]);
           infinity = infinity || is_infinity(s.a, row.a[k]) || is_infinity(s.b, row.b[k]);
         }
         return is_nan(result_of(s), word) && infinity && !nan
                    ? static_cast<std::uint32_t>(result_of(s).infinity_magnitude())
                    : word;
       });
     }},
    {"saturates", "an overflow gives the largest number", "mma:hopper_f16,to=f16",
     [](const MmaSpec& s) {
       return with_result(s, is_float(s), [to = result_of(s)](const MmaRow&, std::uint32_t word) {
         return is_infinity(to, word) ? word - 1 : word;
       });
     }},
    {"wraps", "int32 wraps where it should be clamped", "mma:int8_imma,saturate=yes",
     [](const MmaSpec& s) { return changed(s, s.saturate, [](MmaSpec& x) { x.saturate = false; }); }},
    {"clamps", "int32 is clamped where it should wrap", "mma:int8_imma",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::integer && !s.saturate,
                      [](MmaSpec& x) { x.saturate = true; });
     }},
    {"unsigned_operand", "b is read as unsigned", "mma:int8_imma",
     [](const MmaSpec& s) {
       return changed(s, s.b == spec_of("int8"), [](MmaSpec& x) { x.b = spec_of("uint8"); });
     }},
    {"scale_b_dropped", "the scales of b are left out", "mma:blackwell_mxf8f6f4",
     [](const MmaSpec& s) {
       const bool applies = accumulation::scale_block(s) != 0;
       const std::uint32_t one = !applies                                    ? 0
                                 : accumulation::scale_format(s).width == 32 ? 0x3f800000
                                 : s.model.scale.format == "e8m0"            ? 0x7f
                                                                             : 0x38;
       return on_other_row(s, applies, [one](MmaRow& row) { row.scale_b.assign(row.scale_b.size(), one); });
     }},
    {"scales_rotated", "every block has the scale of the next", "mma:blackwell_mxf4",
     [](const MmaSpec& s) {
       return on_other_row(s, accumulation::scale_block(s) != 0, [](MmaRow& row) {
         std::rotate(row.scale_a.begin(), row.scale_a.begin() + 1, row.scale_a.end());
       });
     }},
    {"pairs_summed", "float32 sums by a tree where one after another was asked", "mma:f32_sequential",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::sequential,
                      [](MmaSpec& x) { x.model.scheme = Scheme::tree; });
     }},
    {"fma_contracted", "multiply and add are one fma", "mma:f32_sequential",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::sequential,
                      [](MmaSpec& x) { x.model.scheme = Scheme::fma_sequential; });
     }},
    {"not_fused", "multiply and add round apart", "mma:f32_fma_sequential",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::fma_sequential,
                      [](MmaSpec& x) { x.model.scheme = Scheme::sequential; });
     }},
    {"neighbours_in_warp", "a tree of neighbours where lanes 16 apart are added", "mma:f32_warp_tree",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::warp_tree,
                      [](MmaSpec& x) { x.model.scheme = Scheme::tree; });
     }},
    {"one_rounding", "a group of CDNA1 is rounded once", "mma:cdna1_f16",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::pairwise && !s.model.flushes,
                      [](MmaSpec& x) { x.model.scheme = Scheme::exact; });
     }},
    {"no_parity", "even and odd products of CDNA3 FP8 are summed together", "mma:cdna3_fp8",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::two_stage_parity,
                      [](MmaSpec& x) { x.model.scheme = Scheme::two_stage; });
     }},
    {"truncating_unit", "a fused truncated sum where CDNA3 floors and rounds to nearest", "mma:cdna3_f16",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::two_stage,
                      [](MmaSpec& x) { x.model.scheme = Scheme::fused; });
     }},
    {"f32_sum", "float32 products and sums where one rounding was asked", "mma:exact,from=f16",
     [](const MmaSpec& s) {
       return changed(s, s.model.scheme == Scheme::exact && s.output == Output::f32 && s.model.chunk == 0,
                      [](MmaSpec& x) { x.model.scheme = Scheme::sequential; });
     }},
};

}  // namespace

const std::vector<MmaMutant>& mma_mutants() {
  return kZoo;
}

}  // namespace halfulp::vectors
