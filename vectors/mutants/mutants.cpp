// The zoo: casts that are wrong in ways seen in real code. Each must be killed by the level `thresholds` of
// its SPEC.
//
// A mutant twists the plan (a wrong policy) or computes a wrong word; either way it is a few lines.
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

struct Mutant {
  const char* name;
  const char* about;
  const char* spec;                                                       ///< what it pretends to follow
  void (*twist)(CastPlan&) = nullptr;                                     ///< the wrong plan, or
  std::uint64_t (*wrong)(const CastPlan&, std::uint64_t word) = nullptr;  ///< the wrong word
};

std::uint64_t with_rounding(const CastPlan& plan, std::uint64_t word, Rounding rounding) {
  CastPolicy policy = plan.policy;
  policy.rounding = rounding;
  return cast(*plan.from, word, plan.to, policy).code;
}

bool is_nan(const CastPlan& plan, std::uint64_t word) {
  return unpack(*plan.from, word).number_class == NumberClass::nan;
}

std::uint64_t magnitude_of(const CastPlan& plan, std::uint64_t code) {
  return code & plan.to.magnitude_mask();
}

std::uint64_t ties_up(const CastPlan& plan, std::uint64_t word) {
  const CastResult right = plan(word);
  return (right.flags & kTie) ? with_rounding(plan, word, Rounding::toward_positive) : right.code;
}

std::uint64_t ties_to_odd(const CastPlan& plan, std::uint64_t word) {
  const CastResult right = plan(word);
  return (right.flags & kTie) ? with_rounding(plan, word, Rounding::to_odd) : right.code;
}

std::uint64_t no_carry(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t right = plan(word).code;
  const std::uint64_t truncated = with_rounding(plan, word, Rounding::toward_zero);
  const bool carried = right >> plan.to.fraction_bits != truncated >> plan.to.fraction_bits;
  return carried && !is_nan(plan, word) ? truncated & ~low_mask(plan.to.fraction_bits) : right;
}

std::uint64_t nan_to_max(const CastPlan& plan, std::uint64_t word) {
  return is_nan(plan, word) ? plan.to.largest_magnitude() : plan(word).code;
}

/// E4M3 with the top exponent kept for Inf and NaN, as in IEEE 754: nothing above 240.
std::uint64_t lost_top_binade(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t right = plan(word).code;
  const std::uint64_t top = (low_mask(plan.to.exponent_bits) << plan.to.fraction_bits) - 1;
  return is_nan(plan, word) || magnitude_of(plan, right) <= top ? right
                                                                : (right & plan.to.sign_mask()) | top;
}

/// Right shift of the significand with the count taken modulo 64, as x86 does, on the way to a subnormal
/// result.
std::uint64_t shift_modulo_64(const CastPlan& plan, std::uint64_t word) {
  const Unpacked x = unpack(*plan.from, word);
  const int shift = plan.to.min_exponent() - plan.to.fraction_bits - x.exponent;
  if (x.number_class != NumberClass::normal || shift < 64) return plan(word).code;
  const std::uint64_t kept = shift % 64 == 0 ? x.significand : x.significand >> (shift % 64);
  const std::uint64_t half = std::uint64_t{1} << ((shift + 63) % 64);
  const std::uint64_t rest = x.significand & low_mask(shift % 64);
  const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  return (rounded & plan.to.magnitude_mask()) | (x.negative ? plan.to.sign_mask() : 0);
}

/// 480 .. 496 come back as 448 although 465 .. 480 overflow (onnxruntime 1.21, saturate = 0).
std::uint64_t not_monotone(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t magnitude = word & 0x7fffffff;
  const bool odd_range = magnitude >= 0x43f00000 && magnitude <= 0x43f7ffff;
  return odd_range ? plan.to.largest_magnitude() | (word >> 31 << 7) : plan(word).code;
}

/// ggml's UE4M3: 78 .. 7D are never produced, ties go away from zero, NaN gives 00.
std::uint64_t ggml_ue4m3(const CastPlan& plan, std::uint64_t word) {
  if (is_nan(plan, word)) return 0;
  const std::uint64_t code = with_rounding(plan, word, Rounding::ties_to_away);
  return code >= 0x78 ? 0x7e : code;
}

std::uint64_t zero_sign_lost(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t right = plan(word).code;
  return magnitude_of(plan, right) == 0 ? 0 : right;
}

/// Only one bit below the last kept one is looked at: a little above a tie counts as the tie.
std::uint64_t sticky_lost(const CastPlan& plan, std::uint64_t word) {
  const int dropped = plan.from->fraction_bits - plan.to.fraction_bits - 1;
  return is_nan(plan, word) ? plan(word).code : plan(word & ~low_mask(dropped)).code;
}

/// Directed rounding done on the magnitude: up means away from zero for negative values too.
std::uint64_t direction_of_magnitude(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t sign = word & plan.from->sign_mask();
  return plan(word & ~plan.from->sign_mask()).code |
         (sign && !is_nan(plan, word) ? plan.to.sign_mask() : 0);
}

std::uint64_t sign_extended(const CastPlan& plan, std::uint64_t word) {
  const std::uint64_t right = plan(word).code;
  return (right & plan.to.sign_mask()) ? right | (0xff & ~low_mask(plan.to.width)) : right;
}

std::uint64_t fnuz_bias(const CastPlan& plan, std::uint64_t word) {
  FormatSpec fnuz = plan.to;
  fnuz.bias += 1;
  return cast(*plan.from, word, fnuz, plan.policy).code;
}

/// All negative numbers come out one code too close to zero: |x| truncated, x > 0 rounded.
std::uint64_t negative_truncated(const CastPlan& plan, std::uint64_t word) {
  const bool negative = unpack(*plan.from, word).negative && !is_nan(plan, word);
  return negative ? with_rounding(plan, word, Rounding::toward_zero) : plan(word).code;
}

template <auto Member, auto Value>
void set(CastPlan& plan) {
  plan.policy.*Member = Value;
}

void via(CastPlan& plan, const char* name) {
  plan.via = require_format(name).spec;
  plan.via_name = name;
}

constexpr const char* kE8m0Floor = "cast:f32:e8m0,rounding=toward_zero,zero=min,negative=abs";
constexpr const char* kE8m0Up = "cast:f32:e8m0,rounding=ties_to_away,zero=min,negative=abs";

// clang-format off
const Mutant kMutants[] = {
    {"truncate", "rounds toward zero", "cast:f32:e4m3", set<&CastPolicy::rounding, Rounding::toward_zero>},
    {"ties_away", "ties away from zero", "cast:f32:e4m3", set<&CastPolicy::rounding, Rounding::ties_to_away>},
    {"ties_up", "ties toward +Inf", "cast:f32:e5m2", nullptr, ties_up},
    {"ties_to_odd", "ties to the odd code", "cast:f32:e2m1,nan=nan_to_max", nullptr, ties_to_odd},
    {"sticky_lost", "one guard bit, nothing below it", "cast:f32:e4m3", nullptr, sticky_lost},
    {"flush_in", "subnormal sources count as zero", "cast:f16:e5m2", set<&CastPolicy::flush, Flush::in>},
    {"flush_out", "subnormal results become zero", "cast:f32:e4m3", set<&CastPolicy::flush, Flush::out>},
    {"clamp_before_rounding", "compares with the largest finite before rounding", "cast:f32:e4m3,overflow=overflow", set<&CastPolicy::overflow_test, OverflowTest::before_rounding>},
    {"no_carry", "a carry out of the significand is lost", "cast:f32:e4m3", nullptr, no_carry},
    {"nan_sign", "the sign of a NaN is dropped", "cast:f32:e5m2,nan-code=quiet", set<&CastPolicy::nan_sign, NanSign::positive>},
    {"nan_payload", "every NaN is all ones", "cast:f32:f16,overflow=overflow,nan-code=payload", set<&CastPolicy::nan_code, NanCode::ones>},
    {"nan_to_max", "NaN becomes the largest finite", "cast:f32:e4m3", nullptr, nan_to_max},
    {"inf_kept", "Inf stays Inf under saturate", "cast:f32:e5m2", set<&CastPolicy::overflow, Overflow::saturate_keep_inf>},
    {"inf_to_zero", "Inf becomes zero", "cast:f32:e2m3,nan=nan_to_max", set<&CastPolicy::inf_none, InfNone::zero>},
    {"saturates", "largest finite where Inf was asked for", "cast:f32:e5m2,overflow=overflow", set<&CastPolicy::overflow, Overflow::saturate>},
    {"double_f16", "rounds through f16", "cast:f32:e4m3", [](CastPlan& plan) { via(plan, "f16"); }},
    {"double_bf16", "rounds through bf16", "cast:f32:e4m3", [](CastPlan& plan) { via(plan, "bf16"); }},
    {"double_f32", "rounds through f32", "cast:f64:bf16,overflow=overflow", [](CastPlan& plan) { via(plan, "f32"); }},
    {"fnuz_bias", "bias one too large", "cast:f32:e4m3", nullptr, fnuz_bias},
    {"lost_top_binade", "nothing above 240", "cast:f32:e4m3", nullptr, lost_top_binade},
    {"zero_sign_lost", "-0 becomes +0", "cast:f32:e3m2,nan=nan_to_max", nullptr, zero_sign_lost},
    {"shift_modulo_64", "shift counts wrap at 64 for tiny inputs", "cast:f32:e4m3", nullptr, shift_modulo_64},
    {"not_monotone", "480..496 come back as 448", "cast:f32:e4m3,overflow=overflow", nullptr, not_monotone},
    {"ggml_ue4m3", "top codes never produced, ties away, NaN to 0", "cast:f32:ue4m3,negative=zero", nullptr, ggml_ue4m3},
    {"e8m0_low_binade", "2^-127 .. 2^-126 goes up", kE8m0Floor, set<&CastPolicy::low_binade, LowBinade::upward>},
    {"e8m0_never_min", "code 00 is never produced", kE8m0Up, set<&CastPolicy::low_binade, LowBinade::never_min>},
    {"e8m0_ceil", "rounds scales up", kE8m0Floor, set<&CastPolicy::rounding, Rounding::toward_positive>},
    {"direction_of_magnitude", "up means away from zero", "cast:f32:e4m3,rounding=toward_positive", nullptr, direction_of_magnitude},
    {"negative_truncated", "negative numbers are truncated", "cast:bf16:e4m3", nullptr, negative_truncated},
    {"sign_extended", "bits above the code are set", "cast:f32:e2m1,nan=nan_to_max", nullptr, sign_extended},
};
// clang-format on

Implementation implementation_of(const Mutant& mutant) {
  Implementation wrong;
  wrong.name = std::string("mutant:") + mutant.name;
  wrong.about = mutant.about;
  wrong.version = HALFULP_VERSION;
  wrong.open_plan = [&mutant](CastPlan plan) -> Kernel {
    if (mutant.twist) mutant.twist(plan);
    return [plan = std::move(plan), compute = mutant.wrong](std::span<const std::byte> in,
                                                            std::span<std::byte> out) {
      map_storage(*plan.from, plan.to, in, out,
                  [&](std::uint64_t word) { return compute ? compute(plan, word) : plan(word).code; });
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
