// The casts that gpu_check judges, one per row: how it is done, between which formats, by which dialect's rules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "halfulp/dialects.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/policy.hpp"

namespace halfulp::gpu {

/// Who computes the cast.
enum class CastMethod : std::uint8_t {
  engine,  ///< formats/halfulp/cast.hpp compiled for the device
  header,  ///< NVIDIA's cuda_fp8.h, cuda_fp6.h, cuda_fp4.h; an instruction where the header uses one
  ptx,     ///< the instruction itself; on the host the engine stands in
};

/// Instructions of CastMethod::ptx.
enum class Cvt : std::uint8_t {
  none,
  e4m3x2_f32,
  e5m2x2_f32,
  e4m3x2_f16x2,
  e5m2x2_f16x2,
  f16x2_e4m3x2,
  f16x2_e5m2x2,
  e2m1x2_f32,
  e2m3x2_f32,
  e3m2x2_f32,
  f16x2_e2m1x2,
  f16x2_e2m3x2,
  f16x2_e3m2x2,
  ue8m0x2_rz_f32,
  ue8m0x2_rp_f32,
  ue8m0x2_rz_sat_f32,
  ue8m0x2_rp_sat_f32,
  ue8m0x2_rz_bf16x2,
  ue8m0x2_rp_bf16x2,
  bf16x2_ue8m0x2,
  e4m3x4_rs_f32,
  e5m2x4_rs_f32,
  e2m3x4_rs_f32,
  e3m2x4_rs_f32,
  e2m1x4_rs_f32,
};

/// Groups of architectures that have an instruction (docs/gpu_check.md).
enum class Available : std::uint8_t {
  everywhere,
  from_sm_89,
  blackwell_a,  ///< sm_100a, 103a, 110a, 120a, 121a
  datacentre_a  ///< sm_100a, 103a
};

struct CastCase {
  CastMethod method;
  Cvt cvt;
  std::string_view from, to, dialect;
  Rounding rounding;  ///< used where the dialect leaves it open, and for stochastic
  int lanes;
  int code_bits;  ///< of one result in the packed word
  Available available;
  int random_bits = 0;  ///< stochastic: bits that a lane takes from the random word
};

constexpr bool is_available(Available group, int architecture) {
  switch (group) {
    case Available::everywhere: return true;
    case Available::from_sm_89: return architecture >= 89;
    case Available::blackwell_a: return architecture >= 100;
    case Available::datacentre_a: return architecture == 100 || architecture == 103;
  }
  return false;
}

inline constexpr auto kCastCases = [] {
  using enum CastMethod;
  using enum Available;
  constexpr auto kNear = Rounding::ties_to_even, kZero = Rounding::toward_zero, kUp = Rounding::toward_positive, kRandom = Rounding::stochastic;
  constexpr std::string_view kSat = "cuda_satfinite", kNoSat = "cuda_nosat";
  constexpr Cvt kNone = Cvt::none;
  return std::to_array<CastCase>({
      {engine, kNone, "f32", "e4m3", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e4m3", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e5m2", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e5m2", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e2m1", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e2m3", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e3m2", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f32", "e8m0", kSat, kZero, 1, 32, everywhere},
      {engine, kNone, "f32", "e8m0", kSat, kUp, 1, 32, everywhere},
      {engine, kNone, "f16", "e4m3", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f16", "e4m3", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f16", "e5m2", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "f16", "e5m2", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "bf16", "e4m3", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "bf16", "e4m3", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "bf16", "e5m2", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "bf16", "e5m2", kNoSat, kNear, 1, 32, everywhere},
      {engine, kNone, "bf16", "e8m0", kSat, kUp, 1, 32, everywhere},
      {engine, kNone, "e4m3", "f16", kSat, kNear, 1, 32, everywhere},
      {engine, kNone, "e5m2", "f16", kSat, kNear, 1, 32, everywhere},

      {header, kNone, "f32", "e4m3", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "f32", "e4m3", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "f32", "e5m2", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "f32", "e5m2", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "f32", "e2m1", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "f32", "e2m3", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "f32", "e3m2", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "f32", "e8m0", kSat, kZero, 1, 32, everywhere},
      {header, kNone, "f32", "e8m0", kSat, kUp, 1, 32, everywhere},
      {header, kNone, "f16", "e4m3", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "f16", "e4m3", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "f16", "e5m2", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "f16", "e5m2", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "f16", "e2m1", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "bf16", "e4m3", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "bf16", "e4m3", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "bf16", "e5m2", kSat, kNear, 2, 8, everywhere},
      {header, kNone, "bf16", "e5m2", kNoSat, kNear, 2, 8, everywhere},
      {header, kNone, "bf16", "e8m0", kSat, kUp, 1, 32, everywhere},
      {header, kNone, "e4m3", "f16", kSat, kNear, 2, 16, everywhere},
      {header, kNone, "e5m2", "f16", kSat, kNear, 2, 16, everywhere},
      {header, kNone, "e2m1", "f16", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "e2m3", "f16", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "e3m2", "f16", kSat, kNear, 1, 32, everywhere},
      {header, kNone, "e8m0", "bf16", kSat, kNear, 1, 32, everywhere},

      {ptx, Cvt::e4m3x2_f32, "f32", "e4m3", kSat, kNear, 2, 8, from_sm_89},
      {ptx, Cvt::e5m2x2_f32, "f32", "e5m2", kSat, kNear, 2, 8, from_sm_89},
      {ptx, Cvt::e4m3x2_f16x2, "f16", "e4m3", kSat, kNear, 2, 8, from_sm_89},
      {ptx, Cvt::e5m2x2_f16x2, "f16", "e5m2", kSat, kNear, 2, 8, from_sm_89},
      {ptx, Cvt::f16x2_e4m3x2, "e4m3", "f16", kSat, kNear, 2, 16, from_sm_89},
      {ptx, Cvt::f16x2_e5m2x2, "e5m2", "f16", kSat, kNear, 2, 16, from_sm_89},
      {ptx, Cvt::e2m1x2_f32, "f32", "e2m1", kSat, kNear, 2, 4, blackwell_a},
      {ptx, Cvt::e2m3x2_f32, "f32", "e2m3", kSat, kNear, 2, 8, blackwell_a},
      {ptx, Cvt::e3m2x2_f32, "f32", "e3m2", kSat, kNear, 2, 8, blackwell_a},
      {ptx, Cvt::f16x2_e2m1x2, "e2m1", "f16", kSat, kNear, 2, 16, blackwell_a},
      {ptx, Cvt::f16x2_e2m3x2, "e2m3", "f16", kSat, kNear, 2, 16, blackwell_a},
      {ptx, Cvt::f16x2_e3m2x2, "e3m2", "f16", kSat, kNear, 2, 16, blackwell_a},
      {ptx, Cvt::ue8m0x2_rz_f32, "f32", "e8m0", kNoSat, kZero, 2, 8, blackwell_a},
      {ptx, Cvt::ue8m0x2_rp_f32, "f32", "e8m0", kNoSat, kUp, 2, 8, blackwell_a},
      {ptx, Cvt::ue8m0x2_rz_sat_f32, "f32", "e8m0", kSat, kZero, 2, 8, blackwell_a},
      {ptx, Cvt::ue8m0x2_rp_sat_f32, "f32", "e8m0", kSat, kUp, 2, 8, blackwell_a},
      {ptx, Cvt::ue8m0x2_rz_bf16x2, "bf16", "e8m0", kNoSat, kZero, 2, 8, blackwell_a},
      {ptx, Cvt::ue8m0x2_rp_bf16x2, "bf16", "e8m0", kNoSat, kUp, 2, 8, blackwell_a},
      {ptx, Cvt::bf16x2_ue8m0x2, "e8m0", "bf16", kSat, kNear, 2, 16, blackwell_a},
      {ptx, Cvt::e4m3x4_rs_f32, "f32", "e4m3", kSat, kRandom, 4, 8, datacentre_a, 16},
      {ptx, Cvt::e5m2x4_rs_f32, "f32", "e5m2", kSat, kRandom, 4, 8, datacentre_a, 16},
      {ptx, Cvt::e2m3x4_rs_f32, "f32", "e2m3", kSat, kRandom, 4, 8, datacentre_a, 16},
      {ptx, Cvt::e3m2x4_rs_f32, "f32", "e3m2", kSat, kRandom, 4, 8, datacentre_a, 16},
      {ptx, Cvt::e2m1x4_rs_f32, "f32", "e2m1", kSat, kRandom, 4, 4, datacentre_a, 8},
  });
}();

inline constexpr std::string_view kMethodNames[] = {"engine", "header", "ptx"};
inline constexpr std::string_view kCvtNames[] = {
    "",
    "cvt.rn.satfinite.e4m3x2.f32",
    "cvt.rn.satfinite.e5m2x2.f32",
    "cvt.rn.satfinite.e4m3x2.f16x2",
    "cvt.rn.satfinite.e5m2x2.f16x2",
    "cvt.rn.f16x2.e4m3x2",
    "cvt.rn.f16x2.e5m2x2",
    "cvt.rn.satfinite.e2m1x2.f32",
    "cvt.rn.satfinite.e2m3x2.f32",
    "cvt.rn.satfinite.e3m2x2.f32",
    "cvt.rn.f16x2.e2m1x2",
    "cvt.rn.f16x2.e2m3x2",
    "cvt.rn.f16x2.e3m2x2",
    "cvt.rz.ue8m0x2.f32",
    "cvt.rp.ue8m0x2.f32",
    "cvt.rz.satfinite.ue8m0x2.f32",
    "cvt.rp.satfinite.ue8m0x2.f32",
    "cvt.rz.ue8m0x2.bf16x2",
    "cvt.rp.ue8m0x2.bf16x2",
    "cvt.rn.bf16x2.ue8m0x2",
    "cvt.rs.satfinite.e4m3x4.f32",
    "cvt.rs.satfinite.e5m2x4.f32",
    "cvt.rs.satfinite.e2m3x4.f32",
    "cvt.rs.satfinite.e3m2x4.f32",
    "cvt.rs.satfinite.e2m1x4.f32",
};
constexpr std::string_view name_of(Cvt cvt) { return kCvtNames[static_cast<std::size_t>(cvt)]; }

/// The random words under which stochastic casts are swept.
inline constexpr std::uint32_t kRandomWords[] = {0x00000000, 0xffffffff, 0x80008000, 0x00010001, 0x7fff7fff, 0x1234fedc};

constexpr std::uint32_t random_words(const CastCase& cast) { return cast.random_bits == 0 ? 1 : static_cast<std::uint32_t>(std::size(kRandomWords)); }

/// The part of a random word that a lane uses: PTX ISA, cvt.rs. The upper of the packed results take the upper field. The
/// order inside e2m1x4 is not documented: lane i takes byte i here.
constexpr std::uint32_t random_of_lane(const CastCase& cast, std::uint32_t word, int lane) {
  if (cast.random_bits == 8) return word >> (8 * lane) & 0xff;
  return lane >= 2 ? word >> 16 : word & 0xffff;
}

constexpr FormatSpec format_spec(std::string_view name) { return find_format(name)->spec; }

/// The rules of a case: its dialect's, with the rounding filled in.
constexpr CastPolicy policy_of(const CastCase& cast) {
  const std::size_t row = dialect_row(cast.dialect, format_class(*find_format(cast.from)), format_class(*find_format(cast.to)));
  CastPolicy policy = kDialectRows[row].policy;
  if (policy.rounding == Rounding::unrecorded || cast.rounding == Rounding::stochastic) policy.rounding = cast.rounding;
  if (cast.rounding == Rounding::stochastic) policy.sr_bits = cast.random_bits;
  return policy;
}

inline std::string rounding_name(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero: return " toward_zero";
    case Rounding::toward_positive: return " toward_positive";
    case Rounding::stochastic: return " stochastic";
    default: return "";
  }
}

/// E.g. "header f32->e4m3 cuda_satfinite", "ptx cvt.rn.satfinite.e4m3x2.f32".
inline std::string name_of(const CastCase& cast) {
  if (cast.method == CastMethod::ptx) return "ptx " + std::string(name_of(cast.cvt));
  return std::string(kMethodNames[static_cast<std::size_t>(cast.method)]) + " " + std::string(cast.from) + "->" + std::string(cast.to) + " " +
         std::string(cast.dialect) + rounding_name(cast.rounding);
}

/// Name of the threshold table of a case and, when stochastic, of the random bits of one lane.
inline std::string table_name(const CastCase& cast, std::uint32_t lane_random) {
  std::string name = std::string(cast.from) + "_" + std::string(cast.to) + "_" + std::string(cast.dialect) + rounding_name(cast.rounding);
  for (char& c : name) c = c == ' ' ? '_' : c;
  if (cast.random_bits != 0) name += "_" + std::to_string(cast.random_bits) + "_" + std::to_string(lane_random);
  return name;
}

}  // namespace halfulp::gpu
