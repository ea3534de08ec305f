// LLVM's APFloat: all five IEEE roundings between its formats.
#include "halfulp/vectors/implementation.hpp"

#ifdef HALFULP_HAVE_APFLOAT
#include <llvm/ADT/APFloat.h>
#include <llvm/Config/llvm-config.h>
#endif

namespace halfulp::vectors {

#ifdef HALFULP_HAVE_APFLOAT
namespace {

using llvm::APFloat;

struct Semantics {
  const char* name;
  const llvm::fltSemantics& (*get)();
};
constexpr Semantics kSources[] = {{"f32", APFloat::IEEEsingle},
                                  {"f64", APFloat::IEEEdouble},
                                  {"f16", APFloat::IEEEhalf},
                                  {"bf16", APFloat::BFloat}};
constexpr Semantics kTargets[] = {{"e4m3", APFloat::Float8E4M3FN},
                                  {"e5m2", APFloat::Float8E5M2},
                                  {"e4m3fnuz", APFloat::Float8E4M3FNUZ},
                                  {"e5m2fnuz", APFloat::Float8E5M2FNUZ},
                                  {"e4m3b11fnuz", APFloat::Float8E4M3B11FNUZ},
                                  {"e4m3_ieee", APFloat::Float8E4M3},
                                  {"e3m2", APFloat::Float6E3M2FN},
                                  {"e2m3", APFloat::Float6E2M3FN},
                                  {"e2m1", APFloat::Float4E2M1FN},
                                  {"f16", APFloat::IEEEhalf},
                                  {"bf16", APFloat::BFloat},
                                  {"tf32", APFloat::FloatTF32},
                                  {"f32", APFloat::IEEEsingle},
                                  {"f64", APFloat::IEEEdouble}};

struct Direction {
  const char* options;
  llvm::RoundingMode mode;
};
constexpr Direction kDirections[] = {{"", llvm::RoundingMode::NearestTiesToEven},
                                     {",rounding=ties_to_away", llvm::RoundingMode::NearestTiesToAway},
                                     {",rounding=toward_zero", llvm::RoundingMode::TowardZero},
                                     {",rounding=toward_positive", llvm::RoundingMode::TowardPositive},
                                     {",rounding=toward_negative", llvm::RoundingMode::TowardNegative}};

Kernel convert(const Semantics& from, const Semantics& to, llvm::RoundingMode mode) {
  const FormatSpec source = require_format(from.name).spec;
  const FormatSpec target = require_format(to.name).spec;
  const llvm::fltSemantics& source_semantics = from.get();
  const llvm::fltSemantics& target_semantics = to.get();
  return
      [=, &source_semantics, &target_semantics](std::span<const std::byte> in, std::span<std::byte> out) {
        map_storage(source, target, in, out, [&](std::uint64_t word) {
          APFloat x(source_semantics, llvm::APInt(static_cast<unsigned>(source.width), word));
          bool loses_information = false;
          x.convert(target_semantics, mode, &loses_information);
          return x.bitcastToAPInt().getZExtValue() << target.storage_shift;
        });
      };
}

}  // namespace
#endif

Implementation apfloat() {
  Implementation library;
  library.name = "apfloat";
  library.about = "LLVM APFloat::convert, five IEEE roundings";
#ifdef HALFULP_HAVE_APFLOAT
  library.version = "LLVM " LLVM_VERSION_STRING;
  for (const Semantics& from : kSources) {
    for (const Semantics& to : kTargets) {
      if (from.get == to.get) continue;
      for (const Direction& direction : kDirections) {
        library.claims.push_back(
            {"cast:" + std::string(from.name) + ":" + to.name + "@apfloat" + direction.options,
             [&from, &to, mode = direction.mode] { return convert(from, to, mode); }});
      }
    }
  }
#else
  library.missing = "LLVM 19 was not found when this was built";
#endif
  return library;
}

}  // namespace halfulp::vectors
