// Units with another model.
#include "halfulp/cast.hpp"
#include "loose_sum.hpp"
#include "mma_mutants.hpp"

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

}  // namespace

const std::vector<MmaMutant>& model_mutants() {
  static const std::vector<MmaMutant> table = {
      {"one_bit_more", "keeps one bit more below the largest exponent", "mma:hopper_fp8_wgmma",
       [](const MmaSpec& s) {
         return changed(s, is_aligned(s), [](MmaSpec& x) { ++x.model.fraction_bits; });
       }},
      {"one_bit_less", "keeps one bit less below the largest exponent", "mma:ampere_f16",
       [](const MmaSpec& s) {
         return changed(s, is_aligned(s), [](MmaSpec& x) { --x.model.fraction_bits; });
       }},
      {"groups_one_bit_less", "the same for sums of scaled groups: 34 bits for 35",
       "mma:blackwell_mxf4nvf4",
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
             s,
             s.model.f32_fraction_bits == 23 && s.output == Output::f32 && s.model.scheme == Scheme::fused,
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
      {"zero_of_its_format", "a zero operand has the smallest exponent of its format, not -126",
       "mma:hopper_fp8_wgmma",
       [](const MmaSpec& s) { return loose_sum(s, {.zero_of_its_format = true}); }},
      {"c_late", "c is added to the rounded sum of the products", "mma:ampere_tf32",
       [](const MmaSpec& s) { return loose_sum(s, {.c = LooseSum::C::late}); }},
      {"c_whole", "c is not cut with the products", "mma:hopper_fp8_wgmma",
       [](const MmaSpec& s) { return loose_sum(s, {.c = LooseSum::C::whole}); }},
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
      {"keeps_subnormals", "keeps subnormals where the unit flushes", "mma:cdna2_f16",
       [](const MmaSpec& s) {
         return changed(s, s.model.flushes, [](MmaSpec& x) { x.model.flushes = false; });
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
  return table;
}

}  // namespace halfulp::vectors
