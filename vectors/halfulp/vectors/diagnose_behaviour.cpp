// How a behaviour answers: read, intermediate format, special values, rounding, output.
#include "halfulp/vectors/diagnose_behaviour.hpp"

namespace halfulp::vectors {

Behaviour::Behaviour(const CastPlan& plan)
    : from(*plan.from), to(plan.to), policy(plan.policy), random(plan.random_word(0)), via(plan.via) {}

CastResult Behaviour::number(Unpacked x) const {
  if (via) {
    const CastPolicy step = {
        .rounding = via_rounding, .overflow = Overflow::overflow, .nan_code = NanCode::payload};
    const CastResult middle = cast(x, *via, step);
    if (middle.refusal != Refusal::none) return middle;
    x = unpack(*via, middle.code);
  }
  const bool finite = x.number_class == NumberClass::subnormal || x.number_class == NumberClass::normal;
  if (finite && negatives && x.negative) {
    CastPolicy other = policy;
    other.rounding = *negatives;
    return cast(x, to, other, random);
  }
  return finite && rounding ? rounding->cast(x, to, policy) : cast(x, to, policy, random);
}

CastResult Behaviour::operator()(std::uint64_t word) const {
  const Unpacked x = read ? read->read(from, word) : unpack(from, word);
  const std::size_t side = x.negative ? 1 : 0;
  CastResult result;
  if (x.number_class == NumberClass::nan && nan_codes) {
    result.code = (*nan_codes)[side];
  } else if (x.number_class == NumberClass::nan && nan) {
    result.code = nan->code(x, to);
  } else if (x.number_class == NumberClass::infinity && infinity_codes) {
    result.code = (*infinity_codes)[side];
  } else if (x.number_class == NumberClass::infinity && infinity) {
    result.code = infinity->code(x, to);
  } else {
    result = number(x);
  }
  if (output && result.refusal == Refusal::none) result.code = output->change(x, result.code, to);
  return result;
}

bool Behaviour::gives(std::uint64_t word, std::uint64_t got) const {
  const CastResult result = (*this)(word);
  if (result.refusal != Refusal::none) return false;
  if (result.code == got) return true;
  if (policy.nan_code == NanCode::any && to.storage_bits() < 64 && got >> to.storage_bits() == 0 &&
      unpack(to, result.code).number_class == NumberClass::nan &&
      unpack(to, got).number_class == NumberClass::nan) {
    return true;
  }
  const bool either = policy.rounding == Rounding::to_odd && policy.overflow == Overflow::overflow &&
                      policy.directed_overflow == DirectedOverflow::clamp && (result.flags & kOverflow);
  if (!either) return false;
  Behaviour literal = *this;
  literal.policy.directed_overflow = DirectedOverflow::literal;
  return literal.gives(word, got);
}

}  // namespace halfulp::vectors
