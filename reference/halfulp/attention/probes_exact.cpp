// A claim against a word once more, in rational numbers; see probes.hpp. Ends are cast by the oracle, not by the engine.
#include "halfulp/attention/probes.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::attention {

bool excluded_exactly(const FormatSpec& format, const Claim& claim, double loose, std::uint32_t word) {
  using oracle::Exact, oracle::Value, oracle::ValueClass;
  if (!oracle::is_code(format, word)) return true;
  const Value value = oracle::value_of(format, word);
  if (value.cls == ValueClass::nan) return true;
  const auto end = [&](double x, const Exact& room) {
    const auto code = oracle::nearest(oracle::value_from(Exact::from_double(x) + room), format, {.overflow = Overflow::overflow}).code;
    return oracle::value_of(format, code);
  };
  // Infinities lie outside all numbers; an end that is NaN excludes nothing.
  const auto is_below = [](const Value& a, const Value& b) {
    if (a.cls == ValueClass::nan || b.cls == ValueClass::nan) return false;
    if (a.is_finite() && b.is_finite()) return a.number() < b.number();
    if (a.is_finite()) return !b.negative;
    return a.negative && (b.is_finite() || !b.negative);
  };
  const Exact room = Exact::from_double(loose);
  return is_below(value, end(claim.low, -room)) || is_below(end(claim.high, room), value);
}

}  // namespace halfulp::attention
