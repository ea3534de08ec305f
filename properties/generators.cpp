// RapidCheck generators: see generators.hpp. Sizes do not matter here: every draw is made at full size.
#include "generators.hpp"

#include <algorithm>

#include "halfulp/names.hpp"

namespace halfulp::laws {
namespace {

rc::Gen<std::uint64_t> any_word() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
}

template <class T>
rc::Gen<T> one_of(const std::vector<T>& values) {
  return rc::gen::elementOf(values);
}

/// Every value that has a name, without those listed.
template <class Enum>
rc::Gen<Enum> named_value(std::vector<Enum> without = {}) {
  std::vector<Enum> values;
  for (const auto& entry : kNames<Enum>) {
    if (std::find(without.begin(), without.end(), entry.value) == without.end())
      values.push_back(entry.value);
  }
  return one_of(values);
}

int whole(std::uint64_t word, int first, int last) {
  return first + static_cast<int>(word % static_cast<std::uint64_t>(last - first + 1));
}

rc::Gen<int> in_range(int first, int last) {
  return rc::gen::map(any_word(), [first, last](std::uint64_t word) { return whole(word, first, last); });
}

rc::Gen<int> random_bits() {
  return rc::gen::weightedOneOf<int>(
      {{4, in_range(1, 4)}, {3, rc::gen::element(8, 13, 16, 32)}, {3, in_range(1, 32)}});
}

CastPolicy plain_policy(Rounding rounding, Overflow overflow, Stochastic variant, int bits) {
  return {.rounding = rounding,
          .overflow = overflow,
          .nan_none = NanNone::nan_to_signed_max,
          .negative = Negative::abs,
          .zero = ZeroInto::min,
          .sr_variant = variant,
          .sr_bits = bits};
}

}  // namespace

rc::Gen<Format> any_format(bool (*accepts)(const FormatSpec&)) {
  const auto accepted = [accepts](const auto& formats) {
    std::vector<Format> chosen;
    std::copy_if(formats.begin(), formats.end(), std::back_inserter(chosen),
                 [accepts](const Format& format) { return accepts(format.spec); });
    return chosen;
  };
  const std::vector<Format> named = accepted(kFormats);
  const auto family = [&](const std::vector<Format>& formats) {
    const std::vector<Format> chosen = accepted(formats);
    return one_of(chosen.empty() ? named : chosen);
  };
  return rc::gen::weightedOneOf<Format>({{62, one_of(named)},
                                         {4, family(made_up_formats())},
                                         {33, family(p3109_formats(3, 10))},
                                         {1, family(p3109_formats(11, 16))}});
}

rc::Gen<Format> wide_format() {
  std::vector<Format> formats;
  for (const char* name : {"f32", "f64", "f32", "f64", "bf16", "f16", "tf32"})
    formats.push_back(*find_format(name));
  return one_of(formats);
}

rc::Gen<CastPolicy> any_policy(const Space& space) {
  const auto plain = rc::gen::apply(plain_policy, one_of(space.roundings), one_of(space.overflows),
                                    named_value<Stochastic>(), random_bits());
  if (space.policies == Policies::plain) return plain;
  const bool total = space.policies == Policies::total;
  const auto fields = rc::gen::build<CastPolicy>(
      rc::gen::set(&CastPolicy::overflow_test, named_value<OverflowTest>()),
      rc::gen::set(&CastPolicy::directed_overflow, named_value<DirectedOverflow>()),
      rc::gen::set(&CastPolicy::nan_sign, named_value<NanSign>()),
      rc::gen::set(&CastPolicy::nan_code, named_value<NanCode>()),
      rc::gen::set(&CastPolicy::nan_none,
                   total ? named_value<NanNone>({NanNone::error}) : named_value<NanNone>()),
      rc::gen::set(&CastPolicy::inf_none,
                   total ? named_value<InfNone>({InfNone::error}) : named_value<InfNone>()),
      rc::gen::set(&CastPolicy::negative,
                   total ? named_value<Negative>({Negative::error}) : named_value<Negative>()),
      rc::gen::set(&CastPolicy::zero,
                   total ? named_value<ZeroInto>({ZeroInto::error}) : named_value<ZeroInto>()),
      rc::gen::set(&CastPolicy::flush, named_value<Flush>()),
      rc::gen::set(&CastPolicy::fnuz_nan, named_value<FnuzNan>()),
      rc::gen::set(&CastPolicy::low_binade, named_value<LowBinade>()));
  return rc::gen::apply(
      [](CastPolicy policy, const CastPolicy& rounding) {
        policy.rounding = rounding.rounding;
        policy.overflow = rounding.overflow;
        policy.sr_variant = rounding.sr_variant;
        policy.sr_bits = rounding.sr_bits;
        return policy;
      },
      fields, plain);
}

rc::Gen<Aim> any_aim(Focus focus) {
  constexpr std::size_t kMost = 60;  // against 24 for all other places together
  const auto weight = [focus](Focus here, std::size_t otherwise) {
    return focus == here ? kMost : otherwise;
  };
  const auto place =
      rc::gen::weightedElement<Place>({{8, Place::anywhere},
                                       {weight(Focus::bottoms, 3), Place::bottom},
                                       {3, Place::hinge},
                                       {weight(Focus::tops, 4), Place::top},
                                       {weight(Focus::subnormals, 1), Place::source_subnormal},
                                       {weight(Focus::specials, 2), Place::source_special},
                                       {3, Place::source_uniform}});
  const auto part = rc::gen::weightedOneOf<int>({{4, rc::gen::just(32)},
                                                 {3, rc::gen::just(0)},
                                                 {3, rc::gen::element(16, 48, 63, 1, 96, 160)},
                                                 {2, in_range(0, 191)}});
  const auto offset = rc::gen::weightedElement<int>({{6, 0}, {3, 1}, {3, -1}, {1, 2}, {1, -2}});
  return rc::gen::apply(
      [](Place where, bool negative, std::uint64_t rank, int sixty_fourths, int steps) {
        return Aim{where, negative, rank, sixty_fourths, steps};
      },
      place, rc::gen::arbitrary<bool>(), any_word(), part, offset);
}

rc::Gen<std::uint64_t> random_word() {
  return rc::gen::weightedOneOf<std::uint64_t>(
      {{1, rc::gen::just<std::uint64_t>(0)}, {1, rc::gen::just(~std::uint64_t{0})}, {4, any_word()}});
}

rc::Gen<CastCase> any_case(const Space& space) {
  const auto from =
      space.sources == Sources::wide
          ? wide_format()
          : rc::gen::weightedOneOf<Format>(
                {{1, wide_format()}, {1, any_format([](const FormatSpec&) { return true; })}});
  return rc::gen::apply(
      [](const Format& source, const Format& to, const CastPolicy& policy, const Aim& aim, Aim beside,
         bool near, std::uint64_t random) {
        if (near) {  // the same gap, another point of it
          beside.place = aim.place;
          beside.negative = aim.negative;
          beside.rank = aim.rank;
        }
        return CastCase{.from = source,
                        .word = aimed_word(source.spec, to.spec, aim),
                        .other = aimed_word(source.spec, to.spec, beside),
                        .to = to,
                        .policy = policy,
                        .random = random};
      },
      from, any_format(space.target), any_policy(space), any_aim(space.focus), any_aim(space.focus),
      rc::gen::arbitrary<bool>(), random_word());
}

}  // namespace halfulp::laws
