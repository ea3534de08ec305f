// Which wide format holds every value of a narrow one.
#include "halfulp/vectors/decode.hpp"

#include <algorithm>

#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

/// True when a number with so many significand bits and these exponents is a number of `to`, an IEEE
/// format.
bool range_fits(const FormatSpec& from, const FormatSpec& to) {
  if (from.encoding == Encoding::twos_complement) return from.width <= to.fraction_bits + 1;
  const int highest = (1 << from.exponent_bits) - 1 - from.bias,
            lowest = from.min_exponent() - from.fraction_bits;
  return from.fraction_bits <= to.fraction_bits && highest <= to.bias &&
         lowest >= to.min_exponent() - to.fraction_bits;
}

bool holds(const FormatSpec& from, const FormatSpec& to) {
  if (from.width > 16) return from == to || (to.encoding == Encoding::floating && range_fits(from, to));
  for (std::uint64_t code = 0; code <= low_mask(from.width); ++code) {
    const Unpacked x = unpack(from, code << from.storage_shift);
    const CastResult r = cast(x, to, {.overflow = Overflow::overflow});
    if (r.refusal != Refusal::none || (r.flags & kInexact)) return false;
    if ((x.number_class == NumberClass::nan) != (unpack(to, r.code).number_class == NumberClass::nan))
      return false;
  }
  return true;
}

}  // namespace

CastPlan parse_decode_spec(std::string_view spec) {
  constexpr std::string_view prefix = "decode:";
  const std::string mend = "write decode:FORMAT or decode:FORMAT:TO, e.g. decode:e4m3:f32";
  if (!spec.starts_with(prefix))
    throw InputError("SPEC '" + std::string(spec.substr(0, 60)) + "'", "not the SPEC of a decode", mend);
  const std::string_view names = spec.substr(prefix.size());
  const std::size_t colon = names.find(':');
  const Format from = require_format(names.substr(0, colon));
  std::string to;
  if (colon != std::string_view::npos) {
    to = require_format(names.substr(colon + 1)).name;
  } else {
    to = holds(from.spec, spec_of("f32")) ? "f32" : "f64";
  }
  if (!holds(from.spec, require_format(to).spec)) {
    throw InputError("SPEC decode:" + std::string(from.name) + ":" + to,
                     to + " does not hold every value of " + std::string(from.name),
                     colon == std::string_view::npos
                         ? "its values are wider than any target here; choose another format"
                         : "name a wider TO, e.g. f64");
  }
  return make_plan(
      {.from = std::string(from.name), .to = to, .dialect = {}, .options = {{"overflow", "overflow"}}});
}

std::string decode_spec_text(const CastPlan& plan) {
  return "decode:" + plan.from_name + ":" + plan.to_name;
}

}  // namespace halfulp::vectors
