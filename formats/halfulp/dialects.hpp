// Dialects: named policies that reproduce one version of one library, as data.
//
// A dialect has a row per class of source and target; the first that fits decides. Where no row fits, or a row says
// `unrecorded`, the dialect has no answer and the cast is refused: nothing here is guessed. Sources of each row: see
// `evidence` and docs/evidence.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "halfulp/formats.hpp"
#include "halfulp/policy.hpp"

namespace halfulp {

/// Classes of formats that dialects tell apart, as bits.
enum FormatClass : std::uint32_t {
  kE4m3 = 1u << 0,
  kE5m2 = 1u << 1,
  kFnuz8 = 1u << 2,
  kIeee8 = 1u << 3,
  kFp6 = 1u << 4,
  kFp4 = 1u << 5,
  kE8m0 = 1u << 6,
  kUe4m3 = 1u << 7,
  kF16 = 1u << 8,
  kBf16 = 1u << 9,
  kTf32 = 1u << 10,
  kF32 = 1u << 11,
  kF64 = 1u << 12,
  kP3109 = 1u << 13,
  kMxInt8 = 1u << 14,
  kExact = 1u << 15,  ///< sources only: an exact literal
  kOther = 1u << 16,
  kFp8 = kE4m3 | kE5m2,
  kFp64 = kFp6 | kFp4,
  kNarrow = kFp8 | kFnuz8 | kIeee8 | kFp64 | kE8m0 | kUe4m3,
  kSingle = kF32 | kTf32 | kF16 | kBf16 | kExact,  ///< what libraries take as float or less
  kAnySource = 0xffffffffu
};

/// The class of a format.
constexpr std::uint32_t format_class(const Format& format) {
  struct Entry {
    std::string_view name;
    std::uint32_t value;
  };
  constexpr auto table = std::to_array<Entry>({{"e4m3", kE4m3},
                                              {"e5m2", kE5m2},
                                              {"e4m3fnuz", kFnuz8},
                                              {"e5m2fnuz", kFnuz8},
                                              {"e4m3b11fnuz", kFnuz8},
                                              {"e4m3_ieee", kIeee8},
                                              {"e3m4_ieee", kIeee8},
                                              {"e3m2", kFp6},
                                              {"e2m3", kFp6},
                                              {"e2m1", kFp4},
                                              {"e8m0", kE8m0},
                                              {"ue4m3", kUe4m3},
                                              {"f16", kF16},
                                              {"bf16", kBf16},
                                              {"tf32", kTf32},
                                              {"f32", kF32},
                                              {"f64", kF64},
                                              {"mxint8", kMxInt8}});
  for (const Entry& entry : table) {
    if (entry.name == format.name) return entry.value;
  }
  const NonFinite rule = format.spec.non_finite;
  return rule == NonFinite::p3109_extended || rule == NonFinite::p3109_finite ? kP3109 : kOther;
}

/// How a row is known.
enum class Evidence : std::uint8_t { run, source, secondary, derived };

struct DialectRow {
  std::string_view dialect;
  std::uint32_t from;  ///< FormatClass bits
  std::uint32_t to;
  CastPolicy policy;
  Evidence evidence;
  std::string_view via = {};  ///< intermediate format, ties_to_even with `overflow`; empty: direct
  std::string_view note = {};
};

namespace detail {

// Shorthands for the rows below.
inline constexpr CastPolicy kSat = {.overflow = Overflow::saturate};
inline constexpr CastPolicy kOvf = {.overflow = Overflow::overflow};
inline constexpr CastPolicy kKeepInf = {.overflow = Overflow::saturate_keep_inf};

constexpr CastPolicy with(CastPolicy policy, NanCode code, NanSign sign = NanSign::keep_sign) {
  policy.nan_code = code;
  policy.nan_sign = sign;
  return policy;
}
constexpr CastPolicy with(CastPolicy policy, NanNone nan, InfNone inf = InfNone::max) {
  policy.nan_none = nan;
  policy.inf_none = inf;
  return policy;
}
constexpr CastPolicy without_inf(CastPolicy policy) {
  policy.inf_record = InfRecord::unrecorded;
  return policy;
}
constexpr CastPolicy early(CastPolicy policy) {
  policy.overflow_test = OverflowTest::before_rounding;
  return policy;
}
constexpr CastPolicy fnuz_max(CastPolicy policy) {
  policy.fnuz_nan = FnuzNan::signed_max;
  return policy;
}
constexpr CastPolicy flush_in(CastPolicy policy) {
  policy.flush = Flush::in;
  return policy;
}
constexpr CastPolicy scale(Rounding rounding, Overflow overflow, Negative negative, ZeroInto zero,
                           LowBinade low_binade = LowBinade::by_rounding) {
  return {.rounding = rounding, .overflow = overflow, .negative = negative, .zero = zero, .low_binade = low_binade};
}
constexpr CastPolicy p3109_policy(Overflow overflow, Negative negative) {
  return {.overflow = overflow, .negative = negative};
}
constexpr CastPolicy literal(CastPolicy policy) {
  policy.directed_overflow = DirectedOverflow::literal;
  return policy;
}

inline constexpr NanSign kPositive = NanSign::positive;
inline constexpr NanSign kNanUnknown = NanSign::unrecorded;

}  // namespace detail

// clang-format off
inline constexpr auto kDialectRows = [] {
  using namespace detail;
  using enum Evidence;
  using R = Rounding; using O = Overflow; using N = Negative; using Z = ZeroInto; using L = LowBinade; using NN = NanNone; using C = NanCode;
  return std::to_array<DialectRow>({
    // dialect, from, to, policy, evidence, via, note
    {"ocp_sat", kAnySource, kFp8, kSat, secondary},
    {"ocp_sat", kAnySource, kFp64 | kMxInt8, with(kSat, NN::error, InfNone::error), secondary, {}, "MX leaves NaN and Inf into elements open"},
    {"ocp_sat", kAnySource, kE8m0, scale(R::toward_zero, O::saturate, N::error, Z::error), derived, {}, "MX defines floor(log2) only"},
    {"ocp_ovf", kAnySource, kFp8, kOvf, secondary},
    {"ocp_ovf", kAnySource, kE8m0, scale(R::toward_zero, O::overflow, N::error, Z::error), derived, {}, "MX defines floor(log2) only"},
    {"ocp_ovf_literal", kAnySource, kFp8, literal(kOvf), secondary, {}, "one reading of the OFP8 table under directed rounding"},

    {"cuda_satfinite", kF64, kFp8, with(kSat, C::payload), run},
    {"cuda_satfinite", kSingle, kFp8, with(kSat, C::ones, kPositive), run},
    {"cuda_satfinite", kF64 | kSingle, kFp64, with(kSat, NN::nan_to_max), run},
    {"cuda_satfinite", kF64 | kSingle, kE8m0, scale(R::unrecorded, O::saturate, N::abs, Z::min), run, {}, "toward_zero or toward_positive"},
    {"cuda_satfinite", kF64 | kF32 | kExact | kNarrow, kF16 | kBf16, with(kOvf, C::ones, kPositive), run},
    {"cuda_nosat", kF64, kFp8, with(kOvf, C::payload), run},
    {"cuda_nosat", kSingle, kFp8, with(kOvf, C::ones, kPositive), run},
    {"cuda_nosat", kF64 | kSingle, kE8m0, scale(R::unrecorded, O::overflow, N::abs, Z::min), run, {}, "toward_zero or toward_positive"},
    {"cuda_nosat", kF64 | kF32 | kExact | kNarrow, kF16 | kBf16, with(kOvf, C::ones, kPositive), run},

    {"ml_dtypes", kF64, kFp8 | kFnuz8 | kIeee8, with(kOvf, C::quiet), run, "f32", "NumPy casts of f64 arrays"},
    {"ml_dtypes", kSingle, kFp8 | kFnuz8 | kIeee8, with(kOvf, C::quiet), run, {}, "f16 arrays lose the payload too (0.6.0)"},
    {"ml_dtypes", kF64, kBf16, with(kOvf, C::quiet), run, "f32"},
    {"ml_dtypes", kF32 | kF16, kBf16, with(kOvf, C::quiet), run},
    {"ml_dtypes", kFp8 | kIeee8 | kFp64 | kE8m0, kF32, with(kOvf, C::quiet), run},
    {"ml_dtypes", kFnuz8 | kBf16, kF32, kOvf, run, {}, "FNUZ NaN gives FFC00000; bf16 keeps signalling NaNs"},
    {"ml_dtypes", kF64, kFp64, with(kOvf, NN::nan_to_negative_zero_flip), run, "f32"},
    {"ml_dtypes", kSingle, kFp64, with(kOvf, NN::nan_to_negative_zero_flip), run},
    {"ml_dtypes", kF64, kE8m0, scale(R::ties_to_away, O::overflow, N::nan, Z::nan, L::upward), run, "f32"},
    {"ml_dtypes", kSingle, kE8m0, scale(R::ties_to_away, O::overflow, N::nan, Z::nan, L::upward), run},
    {"ml_dtypes_saturate", kF16, kFp8 | kFnuz8 | kIeee8, with(kKeepInf, C::payload), run},
    {"ml_dtypes_saturate", kF64 | kSingle, kFp8 | kFnuz8 | kIeee8, with(kKeepInf, C::quiet), run, {}, "C++ ConvertFrom<kSaturate>"},
    {"ml_dtypes_saturate", kSingle, kFp64, with(kKeepInf, NN::nan_to_negative_zero_flip), run},
    {"ml_dtypes_saturate", kSingle, kE8m0, scale(R::ties_to_away, O::saturate_keep_inf, N::zero, Z::min, L::upward), run},

    {"torch_2_11", kF64, kFp8 | kFnuz8, with(kOvf, C::ones), run, "f32"},
    {"torch_2_11", kSingle, kFp8 | kFnuz8, with(kOvf, C::ones), run},
    {"torch_2_11", kF64, kE8m0, scale(R::ties_to_away, O::overflow, N::abs, Z::min, L::upward), run, "f32"},
    {"torch_2_11", kSingle, kE8m0, scale(R::ties_to_away, O::overflow, N::abs, Z::min, L::upward), run},
    {"torch_2_12", kF64, kE4m3, kSat, run, "f32"},
    {"torch_2_12", kSingle, kE4m3, kSat, run},
    {"torch_2_12", kF64, kE5m2 | kFnuz8, with(kOvf, C::ones), run, "f32"},
    {"torch_2_12", kSingle, kE5m2 | kFnuz8, with(kOvf, C::ones), run, {}, "e4m3 alone saturates"},
    {"torch_2_12", kF64, kE8m0, scale(R::ties_to_away, O::overflow, N::abs, Z::min, L::upward), run, "f32"},
    {"torch_2_12", kSingle, kE8m0, scale(R::ties_to_away, O::overflow, N::abs, Z::min, L::upward), run},

    {"onnx_saturate", kSingle, kFp8 | kFnuz8, kSat, source, {}, "Cast operator text; the float8 text says NaN for Inf into FNUZ"},
    {"onnx_saturate", kSingle, kFp4, with(kSat, NN::nan_to_max), source},
    {"onnx_saturate", kSingle, kE8m0, scale(R::toward_positive, O::saturate, N::abs, Z::min), source, {}, "round_mode up, the default"},
    {"onnx_nosaturate", kSingle, kFp8 | kFnuz8, kOvf, source},
    {"onnx_nosaturate", kSingle, kE8m0, scale(R::toward_positive, O::overflow, N::abs, Z::nan), source, {}, "round_mode up, the default"},
    {"onnxruntime_1_21_sat", kSingle, kFp8, without_inf(with(kSat, C::any, kNanUnknown)), run},
    {"onnxruntime_1_21_nosat", kSingle, kFp8, without_inf(with(kOvf, C::any, kNanUnknown)), run, {}, "the defects of formats near 480 are not replayed"},

    {"apfloat", kAnySource, kFp8 | kFnuz8 | kIeee8 | kF16 | kBf16 | kTf32 | kF32 | kF64, with(kOvf, C::payload), run},
    {"apfloat", kAnySource, kFp64, with(kOvf, NN::nan_to_signed_zero, InfNone::zero), run},

    {"hip_6_4_satfinite", kSingle, kFp8 | kFnuz8, fnuz_max(with(kSat, C::ones)), run},
    {"hip_6_4_nosat", kSingle, kFp8 | kFnuz8, early(with(kOvf, C::ones)), run},
    {"hip_2026_satfinite", kSingle, kFp8 | kFnuz8, with(kKeepInf, C::ones), run},
    {"hip_2026_satfinite", kSingle, kFp64, with(kSat, NN::nan_to_signed_max), source},
    {"hip_2026_nosat", kSingle, kFp8 | kFnuz8, early(with(kOvf, C::ones)), run},

    {"cutlass_host", kSingle, kE4m3, with(kSat, C::any, kPositive), run},
    {"cutlass_host", kSingle, kE5m2, with(kSat, C::any, kNanUnknown), run},
    {"cutlass_host", kSingle, kFp64, with(kSat, NN::nan_to_signed_max), run},
    {"cutlass_host", kSingle, kE8m0, scale(R::toward_positive, O::saturate_keep_inf, N::abs, Z::min), run},
    {"cutlass_host", kSingle, kUe4m3, {.overflow = O::saturate, .negative = N::abs}, run},

    {"onednn", kF32, kFp8, without_inf(with(kOvf, C::payload)), run, "f16"},
    {"onednn", kF16 | kExact, kFp8, without_inf(with(kOvf, C::payload)), run},
    {"onednn", kSingle, kFp64, with(kSat, NN::nan_to_signed_max), source},
    {"onednn", kSingle, kE8m0, scale(R::toward_zero, O::saturate_keep_inf, N::abs, Z::error), run},

    {"arm_fp8_sat", kSingle, kFp8, with(kSat, C::quiet), run},
    {"arm_fp8_nosat", kSingle, kFp8, with(kOvf, C::quiet), run},
    {"ynnpack", kSingle, kE4m3, with(kSat, C::ones), run},
    {"ynnpack", kSingle, kE5m2, with(kOvf, C::ones), run},
    {"te_sr", kSingle, kFp4, with(CastPolicy{.rounding = R::unrecorded}, NN::nan_to_max), source, {}, "software stochastic rounding, 8 bits"},

    {"x86_f16c", kF32 | kExact, kF16, with(kOvf, C::payload), run},
    {"x86_f16c", kF16, kF32, with(kOvf, C::payload), run},
    {"x86_avx512_bf16", kF32 | kExact, kBf16, flush_in(with(kOvf, C::payload)), run},
    {"arm_fcvt", kF32 | kF64 | kExact, kF16, with(kOvf, C::payload), source},
    {"arm_fcvt", kF32 | kExact, kBf16, with(kOvf, C::payload), source},
    {"numpy", kF32 | kF64 | kExact, kF16, kOvf, run, {}, "the top payload bits are kept and signalling NaNs stay so: 7F800001 gives 7C01"},
    {"numpy", kF16, kF32 | kF64, kOvf, run, {}, "signalling NaNs stay so"},
    {"numpy", kF32 | kF64, kF32 | kF64, with(kOvf, C::payload), run},
    {"gfloat", kAnySource, kFp8 | kFnuz8 | kIeee8 | kF16 | kBf16 | kTf32 | kF32 | kF64 | kP3109, kOvf, source},
    {"gfloat", kAnySource, kFp64 | kMxInt8, with(kOvf, NN::error, InfNone::error), source},

    {"p3109_satfinite", kAnySource, kP3109, p3109_policy(O::saturate, N::zero), source, {}, "negative into unsigned: 0 is assumed"},
    {"p3109_satpropagate", kAnySource, kP3109, p3109_policy(O::saturate_keep_inf, N::zero), source, {}, "negative into unsigned: 0 is assumed"},
    {"p3109_ovfinf", kAnySource, kP3109, p3109_policy(O::overflow, N::nan), source},
  });
}();

/// Other names under which a dialect is known.
struct DialectAlias {
  std::string_view alias;
  std::string_view dialect;
  Rounding rounding = Rounding::unrecorded;  ///< what the suffix says of the rounding, if anything
};
inline constexpr auto kDialectAliases = std::to_array<DialectAlias>({
    {"cuda_double_satfinite", "cuda_satfinite"},
    {"cuda_double_nosat", "cuda_nosat"},
    {"cuda_e8m0_rz_sat", "cuda_satfinite", Rounding::toward_zero},
    {"cuda_e8m0_rz_nosat", "cuda_nosat", Rounding::toward_zero},
    {"cuda_e8m0_rp_sat", "cuda_satfinite", Rounding::toward_positive},
    {"cuda_e8m0_rp_nosat", "cuda_nosat", Rounding::toward_positive},
    {"onednn_f8", "onednn"},
    {"onednn_e8m0", "onednn"},
    {"hip_2026_ocp", "hip_2026_satfinite"},
    {"ml_dtypes_e8m0", "ml_dtypes"},
    {"torch_e8m0", "torch_2_11"},
    {"cutlass_e8m0_host", "cutlass_host"},
    {"onnx_e8m0_up_sat", "onnx_saturate", Rounding::toward_positive},
    {"onnx_e8m0_nearest_nosat", "onnx_nosaturate", Rounding::ties_to_away},
});
// clang-format on

/// True when `name` is a dialect (not an alias).
constexpr bool is_dialect(std::string_view name) {
  for (const DialectRow& row : kDialectRows) {
    if (row.dialect == name) return true;
  }
  return false;
}

/// Position in kDialectRows of the row for a source class and target class; kDialectRows.size() if none fits.
constexpr std::size_t dialect_row(std::string_view dialect, std::uint32_t from, std::uint32_t to) {
  std::size_t index = 0;
  for (; index < kDialectRows.size(); ++index) {
    const DialectRow& row = kDialectRows[index];
    if (row.dialect == dialect && (row.from & from) != 0 && (row.to & to) != 0) break;
  }
  return index;
}

}  // namespace halfulp
