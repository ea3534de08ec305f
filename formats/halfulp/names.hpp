// The words of the command line and of files for every policy value: one table per enumeration.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "halfulp/policy.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp {

template <class Enum>
struct Name {
  Enum value;
  std::string_view name;
  std::string_view short_form = {};
};

/// kNames<Enum>: every value that a user may write, canonical name first.
template <class Enum>
inline constexpr auto kNames = nullptr;

template <>
inline constexpr auto kNames<Rounding> = std::to_array<Name<Rounding>>({{Rounding::ties_to_even, "ties_to_even", "rne"},
                                                                       {Rounding::ties_to_away, "ties_to_away", "rna"},
                                                                       {Rounding::toward_zero, "toward_zero", "rtz"},
                                                                       {Rounding::toward_positive, "toward_positive", "ru"},
                                                                       {Rounding::toward_negative, "toward_negative", "rd"},
                                                                       {Rounding::to_odd, "to_odd", "rto"},
                                                                       {Rounding::stochastic, "stochastic", "sr"}});
template <>
inline constexpr auto kNames<Overflow> =
    std::to_array<Name<Overflow>>({{Overflow::saturate, "saturate", "sat"},
                                   {Overflow::saturate_keep_inf, "saturate_keep_inf"},
                                   {Overflow::overflow, "overflow", "ovf"}});
template <>
inline constexpr auto kNames<OverflowTest> = std::to_array<Name<OverflowTest>>(
    {{OverflowTest::after_rounding, "after"}, {OverflowTest::before_rounding, "before"}});
template <>
inline constexpr auto kNames<DirectedOverflow> = std::to_array<Name<DirectedOverflow>>(
    {{DirectedOverflow::clamp, "clamp"}, {DirectedOverflow::literal, "literal"}});
template <>
inline constexpr auto kNames<NanSign> =
    std::to_array<Name<NanSign>>({{NanSign::keep_sign, "keep_sign"}, {NanSign::positive, "positive"}});
template <>
inline constexpr auto kNames<NanCode> = std::to_array<Name<NanCode>>({{NanCode::any, "any"},
                                                                     {NanCode::quiet, "quiet"},
                                                                     {NanCode::ones, "ones"},
                                                                     {NanCode::payload, "payload"}});
template <>
inline constexpr auto kNames<NanNone> =
    std::to_array<Name<NanNone>>({{NanNone::error, "error"},
                                  {NanNone::nan_to_max, "nan_to_max"},
                                  {NanNone::nan_to_signed_max, "nan_to_signed_max"},
                                  {NanNone::nan_to_zero, "nan_to_zero"},
                                  {NanNone::nan_to_signed_zero, "nan_to_signed_zero"},
                                  {NanNone::nan_to_negative_zero_flip, "nan_to_negative_zero_flip"}});
template <>
inline constexpr auto kNames<InfNone> = std::to_array<Name<InfNone>>(
    {{InfNone::max, "max"}, {InfNone::zero, "zero"}, {InfNone::error, "error"}});
template <>
inline constexpr auto kNames<Negative> = std::to_array<Name<Negative>>(
    {{Negative::error, "error"}, {Negative::abs, "abs"}, {Negative::zero, "zero"}, {Negative::nan, "nan"}});
template <>
inline constexpr auto kNames<ZeroInto> =
    std::to_array<Name<ZeroInto>>({{ZeroInto::error, "error"}, {ZeroInto::min, "min"}, {ZeroInto::nan, "nan"}});
template <>
inline constexpr auto kNames<Flush> = std::to_array<Name<Flush>>(
    {{Flush::none, "none"}, {Flush::in, "in"}, {Flush::out, "out"}, {Flush::both, "both"}});
template <>
inline constexpr auto kNames<Stochastic> =
    std::to_array<Name<Stochastic>>({{Stochastic::A, "A", "a"}, {Stochastic::B, "B", "b"}, {Stochastic::C, "C", "c"}});
template <>
inline constexpr auto kNames<LowBinade> =
    std::to_array<Name<LowBinade>>({{LowBinade::by_rounding, "by_rounding"},
                                    {LowBinade::upward, "upward"},
                                    {LowBinade::never_min, "never_min"}});
template <>
inline constexpr auto kNames<FnuzNan> =
    std::to_array<Name<FnuzNan>>({{FnuzNan::nan, "nan"}, {FnuzNan::signed_max, "signed_max"}});
template <>
inline constexpr auto kNames<NumberClass> = std::to_array<Name<NumberClass>>({{NumberClass::zero, "zero"},
                                                                             {NumberClass::subnormal, "subnormal"},
                                                                             {NumberClass::normal, "normal"},
                                                                             {NumberClass::infinity, "infinity"},
                                                                             {NumberClass::nan, "nan"}});
template <>
inline constexpr auto kNames<Flag> = std::to_array<Name<Flag>>({{kInexact, "inexact"},
                                                               {kOverflow, "overflow"},
                                                               {kUnderflow, "underflow"},
                                                               {kTie, "tie"},
                                                               {kSubnormal, "subnormal"}});

/// Canonical name of a value; "unrecorded" for values that no user may write.
template <class Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& entry : kNames<Enum>) {
    if (entry.value == value) return entry.name;
  }
  return "unrecorded";
}

/// Value with that name or short form; empty if there is none.
template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
  for (const auto& entry : kNames<Enum>) {
    if (entry.name == name || (!entry.short_form.empty() && entry.short_form == name)) return entry.value;
  }
  return std::nullopt;
}

}  // namespace halfulp
