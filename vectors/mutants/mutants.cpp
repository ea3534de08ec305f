// The zoo: casts and decodes that are wrong in ways seen in real code. Each must be killed by the level
// `thresholds` of its SPEC, and named by the diagnosis.
//
// A mutant is a behaviour (diagnose_behaviour.hpp) with one or a few fields spoilt. Decodes are casts from
// a narrow format to a wide one.
#include "halfulp/vectors/diagnose_behaviour.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

struct Mutant {
  const char* name;
  const char* about;
  const char* spec;  ///< what it pretends to follow
  void (*spoil)(Behaviour&);
};

template <auto Member, auto Value>
void set(Behaviour& b) {
  b.policy.*Member = Value;
}

/// Text as a template argument.
template <std::size_t Size>
struct Text {
  char letters[Size];
  constexpr Text(const char (&text)[Size]) { std::copy_n(text, Size, letters); }
  constexpr operator std::string_view() const { return {letters, Size - 1}; }
};

template <Text Name>
void rounding(Behaviour& b) {
  b.rounding = &rounding_fault(Name);
}
template <Text Name>
void reading(Behaviour& b) {
  b.read = &read_fault(Name);
}
template <Text Name>
void output(Behaviour& b) {
  b.output = &output_fault(Name);
}
template <Text Name>
void nan(Behaviour& b) {
  b.nan = &nan_fault(Name);
}
template <Text Name>
void via(Behaviour& b) {
  b.via = spec_of(Name);
}
template <Text Name>
void target(Behaviour& b) {
  b.to = spec_of(Name);
}
template <Text Name>
void source(Behaviour& b) {
  b.from = spec_of(Name);
}

/// NVIDIA and AMD libraries differ in more than one field: a mutant that is another dialect.
void hip_nosat(Behaviour& b) {
  b.policy = kDialectRows[dialect_row("hip_6_4_nosat", kF32, kE5m2)].policy;
}

constexpr const char* kE8m0Floor = "cast:f32:e8m0,rounding=toward_zero,zero=min,negative=abs";
constexpr const char* kE8m0Up = "cast:f32:e8m0,rounding=ties_to_away,zero=min,negative=abs";

using enum Rounding;

// clang-format off
const Mutant kMutants[] = {
    // rounding
    {"truncate", "rounds toward zero", "cast:f32:e4m3", set<&CastPolicy::rounding, toward_zero>},
    {"ties_away", "ties away from zero", "cast:f32:e4m3", set<&CastPolicy::rounding, ties_to_away>},
    {"ties_up", "ties toward +Inf", "cast:f32:e5m2", rounding<"ties_up">},
    {"ties_down", "ties toward -Inf", "cast:f32:e5m2", rounding<"ties_down">},
    {"ties_toward_zero", "ties toward zero", "cast:f16:e4m3", rounding<"ties_toward_zero">},
    {"ties_to_odd", "ties to the odd code", "cast:f32:e2m1,nan=nan_to_max", rounding<"ties_to_odd">},
    {"away_from_zero", "every inexact magnitude goes up", "cast:f32:e4m3", rounding<"away_from_zero">},
    {"direction_of_magnitude", "up means away from zero", "cast:f32:e4m3,rounding=toward_positive", rounding<"away_from_zero">},
    {"negative_truncated", "negative numbers are truncated", "cast:bf16:e4m3", [](Behaviour& b) { b.negatives = toward_zero; }},
    {"sticky_lost", "the source is cut to one guard bit", "cast:f32:e4m3", rounding<"significand_cut_1">},
    {"guard_bit_only", "one bit below the result decides", "cast:f32:e4m3", rounding<"guard_bits_1">},
    {"two_guard_bits", "two bits below the result decide", "cast:f16:e5m2", rounding<"guard_bits_2">},
    {"no_carry", "a carry out of the significand is lost", "cast:f32:e4m3", rounding<"carry_lost">},
    {"shift_modulo_64", "shift counts wrap at 64 for tiny inputs", "cast:f32:e4m3", rounding<"shift_modulo_64">},
    {"shift_modulo_32", "shift counts wrap at 32 for small inputs", "cast:f32:e5m2", rounding<"shift_modulo_32">},
    {"double_f16", "rounds through f16", "cast:f32:e4m3", via<"f16">},
    {"double_bf16", "rounds through bf16", "cast:f32:e4m3", via<"bf16">},
    {"double_f32", "rounds through f32", "cast:f64:bf16,overflow=overflow", via<"f32">},
    {"bf16_cut", "drops the low half of the word, then rounds", "cast:f32:e5m2", [](Behaviour& b) { b.via = spec_of("bf16"); b.via_rounding = toward_zero; }},
    // range
    {"flush_in", "subnormal sources count as zero", "cast:f16:e5m2", set<&CastPolicy::flush, Flush::in>},
    {"flush_out", "subnormal results become zero", "cast:f32:e4m3", set<&CastPolicy::flush, Flush::out>},
    {"clamp_before_rounding", "compares with the largest finite before rounding", "cast:f32:e4m3,overflow=overflow", set<&CastPolicy::overflow_test, OverflowTest::before_rounding>},
    {"hip_nosat", "overflow before rounding, every NaN all ones", "cast:f32:e5m2,overflow=overflow,nan-code=quiet", hip_nosat},
    {"saturates", "largest finite where Inf was asked for", "cast:f32:e5m2,overflow=overflow", set<&CastPolicy::overflow, Overflow::saturate>},
    {"inf_kept", "Inf stays Inf under saturate", "cast:f32:e5m2", set<&CastPolicy::overflow, Overflow::saturate_keep_inf>},
    {"inf_to_zero", "Inf becomes zero", "cast:f32:e2m3,nan=nan_to_max", set<&CastPolicy::inf_none, InfNone::zero>},
    {"lost_top_binade", "nothing above 240", "cast:f32:e4m3", output<"top-binade=lost">},
    {"not_monotone", "480..496 come back as 448", "cast:f32:e4m3,overflow=overflow", output<"defect=above_480_is_largest">},
    // NaN and zero
    {"nan_sign", "the sign of a NaN is dropped", "cast:f32:e5m2,nan-code=quiet", set<&CastPolicy::nan_sign, NanSign::positive>},
    {"nan_payload", "every NaN is all ones", "cast:f32:e5m2,overflow=overflow,nan-code=payload", set<&CastPolicy::nan_code, NanCode::ones>},
    {"nan_to_max", "NaN becomes the largest finite", "cast:f32:e4m3", nan<"nan_to_max">},
    {"nan_to_zero", "NaN becomes zero", "cast:f32:e5m2", nan<"nan_to_zero">},
    {"nan_to_inf", "a NaN whose payload is cut off becomes Inf", "cast:f32:e5m2,overflow=overflow", nan<"payload_cut">},
    {"nan_carries", "a NaN is rounded like a number", "cast:f32:e5m2,overflow=overflow", nan<"payload_rounded">},
    {"fnuz_nan_max", "NaN becomes the largest finite of its sign", "cast:f32:e4m3fnuz", set<&CastPolicy::fnuz_nan, FnuzNan::signed_max>},
    {"zero_sign_lost", "-0 becomes +0", "cast:f32:e3m2,nan=nan_to_max", output<"minus-zero=lost">},
    // formats and layout
    {"fnuz_bias", "bias one too large", "cast:f32:e4m3", [](Behaviour& b) { b.to.bias += 1; }},
    {"fnuz_for_ocp", "the FNUZ format of the same name", "cast:f32:e5m2", target<"e5m2fnuz">},
    {"ieee_for_ocp", "the IEEE-like format of the same name", "cast:f32:e4m3", target<"e4m3_ieee">},
    {"sign_extended", "bits above the code are set", "cast:f32:e2m1,nan=nan_to_max", output<"output=sign_extended">},
    {"high_bits", "the code stands in the high bits of its byte", "cast:f16:e3m2,nan=nan_to_max", output<"output=high_bits">},
    {"bytes_swapped", "the result's bytes are in the other order", "cast:e5m2:f16", output<"output=bytes_swapped">},
    {"code_plus_1", "every code is one too large", "cast:bf16:e4m3", output<"output=code_plus_1">},
    // scales
    {"ggml_ue4m3", "top codes never produced, ties away, NaN to 0", "cast:f32:ue4m3,negative=zero", [](Behaviour& b) { b.policy.rounding = ties_to_away; b.output = &output_fault("defect=top_codes_skipped"); }},
    {"e8m0_low_binade", "2^-127 .. 2^-126 goes up", kE8m0Floor, set<&CastPolicy::low_binade, LowBinade::upward>},
    {"e8m0_never_min", "code 00 is never produced", kE8m0Up, set<&CastPolicy::low_binade, LowBinade::never_min>},
    {"e8m0_ceil", "rounds scales up", kE8m0Floor, set<&CastPolicy::rounding, toward_positive>},
    {"e8m0_nearest", "rounds scales to nearest", kE8m0Floor, set<&CastPolicy::rounding, ties_to_even>},
    {"e8m0_zero_nan", "zero gives NaN", kE8m0Floor, set<&CastPolicy::zero, ZeroInto::nan>},
    {"e8m0_negative_nan", "negative numbers give NaN", kE8m0Floor, set<&CastPolicy::negative, Negative::nan>},
    // decodes
    {"decode_hidden_bit", "subnormals get a hidden bit", "decode:e4m3", reading<"source-subnormals=hidden_bit">},
    {"decode_half", "subnormals come out one binade too low", "decode:e5m2", reading<"source-subnormals=halved">},
    {"decode_flush", "subnormals come out as zero", "decode:e4m3:f16", set<&CastPolicy::flush, Flush::in>},
    {"decode_nan_480", "7F comes out as 480", "decode:e4m3:bf16", reading<"source-specials=numbers">},
    {"decode_inf_number", "Inf and NaN come out as numbers", "decode:e5m2", reading<"source-specials=numbers">},
    {"decode_fnuz", "read as FNUZ", "decode:e4m3", source<"e4m3fnuz">},
    {"decode_ocp", "FNUZ read as OCP", "decode:e5m2fnuz", source<"e5m2">},
    {"decode_ieee", "Inf and NaN in the whole top binade", "decode:e4m3", source<"e4m3_ieee">},
    {"decode_bias", "one binade too high", "decode:e3m2:f16", [](Behaviour& b) { b.from.bias -= 1; }},
    {"decode_sign", "the sign is lost", "decode:e2m1", reading<"source=sign_dropped">},
    {"decode_minus_zero", "-0 comes out as +0", "decode:e2m3:bf16", output<"minus-zero=lost">},
    {"decode_nibbles", "nibbles in the other order", "decode:e4m3", reading<"source=nibbles_swapped">},
    {"decode_e8m0_shift", "00 gives 0, FF gives Inf", "decode:e8m0", reading<"source=exponent_field">},
};
// clang-format on

/// Faults are defined for the formats of their own SPEC and their like only.
void require_meaning(const Mutant& mutant, const Behaviour& b) {
  const bool meant = (!b.rounding || b.rounding->applies(b.to)) && (!b.read || b.read->applies(b.from)) &&
                     (!b.output || b.output->applies(b.to)) && (!b.nan || b.nan->applies(b.to));
  if (meant) return;
  throw InputError(std::string("mutant:") + mutant.name, "it has no meaning for these formats",
                   std::string("use its own SPEC, ") + mutant.spec);
}

Implementation implementation_of(const Mutant& mutant) {
  Implementation wrong;
  wrong.name = std::string("mutant:") + mutant.name;
  wrong.about = mutant.about;
  wrong.version = HALFULP_VERSION;
  wrong.open_plan = [&mutant](const CastPlan& plan) -> Kernel {
    Behaviour behaviour(plan);
    mutant.spoil(behaviour);
    require_meaning(mutant, behaviour);
    return [behaviour, from = *plan.from, to = plan.to](std::span<const std::byte> in,
                                                        std::span<std::byte> out) {
      map_storage(from, to, in, out, [&](std::uint64_t word) { return behaviour(word).code; });
    };
  };
  wrong.claims = {{mutant.spec, {}}};
  return wrong;
}

}  // namespace

const std::vector<Implementation>& mutants() {
  static const std::vector<Implementation> zoo = [] {
    std::vector<Implementation> list;
    for (const Mutant& mutant : kMutants) list.push_back(implementation_of(mutant));
    return list;
  }();
  return zoo;
}

}  // namespace halfulp::vectors
