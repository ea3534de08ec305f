// Behaviour: a cast that may be wrong in ways that have a name.
//
// Decides: what the diagnosis can name beyond a CastPolicy. Faults are a table each (diagnose_faults.cpp)
// and compose with every policy and with each other; mutants are made of the same faults. Nothing here
// serves a right answer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halfulp/plan.hpp"

namespace halfulp::vectors {

/// A wrong way to round: the cast of a finite number. Called for subnormal and normal numbers only.
struct RoundingFault {
  std::string_view name;  ///< value of `rounding=`
  std::string_view about;
  bool (*applies)(const FormatSpec& to);
  CastResult (*cast)(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy);
};

/// A wrong way to read the source word.
struct ReadFault {
  std::string_view name;  ///< `key=value`
  std::string_view about;
  bool (*applies)(const FormatSpec& from);
  Unpacked (*read)(const FormatSpec& from, std::uint64_t word);
};

/// A code spoilt on its way out. `x` is the source value.
struct OutputFault {
  std::string_view name;  ///< `key=value`
  std::string_view about;
  bool (*applies)(const FormatSpec& to);
  std::uint64_t (*change)(const Unpacked& x, std::uint64_t code, const FormatSpec& to);
};

/// A wrong answer for NaN sources, or for infinite ones.
struct SpecialFault {
  std::string_view name;  ///< value of `nan=` or `inf=`
  bool (*applies)(const FormatSpec& to);
  std::uint64_t (*code)(const Unpacked& x, const FormatSpec& to);
};

std::span<const RoundingFault> rounding_faults();
std::span<const ReadFault> read_faults();
std::span<const OutputFault> output_faults();
std::span<const SpecialFault> nan_faults();
std::span<const SpecialFault> infinity_faults();

/// The entry of that name; throws InputError when there is none.
template <class Fault>
const Fault& fault_named(std::span<const Fault> table, std::string_view name) {
  for (const Fault& fault : table) {
    if (fault.name == name) return fault;
  }
  throw InputError("fault " + std::string(name), "unknown", "see the tables of faults");
}

const RoundingFault& rounding_fault(std::string_view name);
const ReadFault& read_fault(std::string_view name);
const OutputFault& output_fault(std::string_view name);
const SpecialFault& nan_fault(std::string_view name);

struct Behaviour {
  /// Codes for positive and negative sources.
  using Codes = std::array<std::uint64_t, 2>;

  FormatSpec from;
  FormatSpec to;
  CastPolicy policy;
  std::uint64_t random = 0;
  std::optional<FormatSpec> via = {};
  Rounding via_rounding = Rounding::ties_to_even;
  std::optional<Rounding> negatives = {};  ///< rounding of negative numbers, where it differs
  const RoundingFault* rounding = nullptr;
  const ReadFault* read = nullptr;
  const OutputFault* output = nullptr;
  const SpecialFault* nan = nullptr;
  const SpecialFault* infinity = nullptr;
  std::optional<Codes> nan_codes = {};
  std::optional<Codes> infinity_codes = {};

  /// The behaviour of a plan. Requires plan.from.
  explicit Behaviour(const CastPlan& plan);

  /// The container word that it gives, or a refusal.
  CastResult operator()(std::uint64_t word) const;
  /// True when `got` is an answer of this behaviour: its code, any NaN where its policy leaves the NaN
  /// open, or Inf/NaN besides the largest finite for to_odd past the largest finite.
  bool gives(std::uint64_t word, std::uint64_t got) const;

 private:
  CastResult number(Unpacked x) const;
};

}  // namespace halfulp::vectors
