// Walks kFormats, kDialectRows, kNames and the tables of faults.
#include "halfulp/vectors/diagnose_space.hpp"

#include "halfulp/names.hpp"

namespace halfulp::vectors {
namespace {

/// Order in which a diagnosis names fields.
enum Dimension : int {
  kRounding,
  kNegatives,
  kOverflow,
  kOverflowTest,
  kDirected,
  kInfinity,
  kFlush,
  kNegative,
  kZero,
  kLowBinade,
  kVia,
  kNanSign,
  kNanCode,
  kNan
};

/// A move for every other value of a policy field that gives an answer.
template <auto Member>
void add_field(std::vector<Move>& moves, int dimension, const char* key, const Behaviour& base) {
  using Enum = std::remove_cvref_t<decltype(base.policy.*Member)>;
  for (const auto& entry : kNames<Enum>) {
    const Enum value = entry.value;
    if (base.policy.*Member == value || entry.name == "error" || entry.name == "any") continue;
    moves.push_back({dimension, std::string(key) + "=" + std::string(entry.name),
                     [value](Behaviour& b) { b.policy.*Member = value; }});
  }
}

void add_roundings(std::vector<Move>& moves, const Behaviour& base) {
  for (const auto& entry : kNames<Rounding>) {
    const Rounding value = entry.value;
    if (value == base.policy.rounding || value == Rounding::stochastic) continue;
    moves.push_back({kRounding, "rounding=" + std::string(entry.name),
                     [value](Behaviour& b) { b.policy.rounding = value; }});
  }
  if (base.policy.rounding == Rounding::stochastic)
    add_field<&CastPolicy::sr_variant>(moves, kRounding, "sr-variant", base);
  for (const RoundingFault& fault : rounding_faults()) {
    if (!fault.applies(base.to)) continue;
    moves.push_back({kRounding, "rounding=" + std::string(fault.name),
                     [&fault](Behaviour& b) { b.rounding = &fault; }});
  }
  if (!base.to.is_signed || !base.from.is_signed) return;
  for (const auto& entry : kNames<Rounding>) {
    const Rounding value = entry.value;
    if (value == base.policy.rounding || value == Rounding::stochastic) continue;
    moves.push_back({kNegatives, "rounding-of-negatives=" + std::string(entry.name),
                     [value](Behaviour& b) { b.negatives = value; }});
  }
}

bool is_signed_float(const Format& format) {
  return format.spec.encoding == Encoding::floating && format.spec.is_signed;
}

/// Every number of `from` is one of `format`.
bool holds(const FormatSpec& format, const FormatSpec& from) {
  if (from.encoding != Encoding::floating) return false;
  const auto top = [](const FormatSpec& f) {
    return static_cast<int>(f.largest_magnitude() >> f.fraction_bits) - f.bias;
  };
  return format.fraction_bits >= from.fraction_bits &&
         format.min_exponent() - format.fraction_bits <= from.min_exponent() - from.fraction_bits &&
         top(format) > top(from);
}

void add_intermediates(std::vector<Move>& moves, const CastPlan& spec, const Behaviour& base) {
  if (base.via) moves.push_back({kVia, "via=none", [](Behaviour& b) { b.via.reset(); }});
  for (const Format& format : kFormats) {
    if (!is_signed_float(format) || format.name == spec.from_name || format.name == spec.to_name ||
        (base.via && *base.via == format.spec) || holds(format.spec, base.from))
      continue;
    const FormatSpec via = format.spec;
    const std::string text = "via=" + std::string(format.name);
    moves.push_back({kVia, text, [via](Behaviour& b) { b.via = via; }});
    moves.push_back({kVia, text + " (truncated)", [via](Behaviour& b) {
                       b.via = via;
                       b.via_rounding = Rounding::toward_zero;
                     }});
  }
}

void add_dialects(std::vector<Base>& list, const CastPlan& spec) {
  std::string_view last;
  for (const DialectRow& row : kDialectRows) {
    if (row.dialect == last || row.dialect == spec.dialect) continue;
    last = row.dialect;
    CastRequest request{spec.from_name, spec.to_name, std::string(row.dialect), {}};
    const std::size_t index = dialect_row(row.dialect, format_class(require_format(spec.from_name)),
                                          format_class(require_format(spec.to_name)));
    if (index == kDialectRows.size()) continue;
    const std::string text = "@" + std::string(row.dialect);
    if (kDialectRows[index].policy.rounding != Rounding::unrecorded) {
      list.push_back({text, Behaviour(make_plan(request)), true});
      continue;
    }
    for (const auto& entry : kNames<Rounding>) {  // the dialect leaves the rounding to its caller
      if (entry.value == Rounding::stochastic) continue;
      request.options = {{"rounding", std::string(entry.name)}};
      list.push_back({text + ",rounding=" + std::string(entry.name), Behaviour(make_plan(request)), true});
    }
  }
}

/// The same behaviour with one of its formats taken for another.
template <FormatSpec Behaviour::*Side>
void add_siblings(std::vector<Base>& list, const CastPlan& spec, const std::string& name,
                  const std::string& prefix, const std::string& bias) {
  const Behaviour start(spec);
  const FormatSpec own = start.*Side;
  if (own.encoding != Encoding::floating) return;
  const auto add = [&](std::string text, const FormatSpec& other) {
    Base base{std::move(text), start};
    base.behaviour.*Side = other;
    if (valid(other)) list.push_back(std::move(base));
  };
  for (const Format& format : kFormats) {
    if (format.spec.encoding == Encoding::floating && format.spec.storage_bits() == own.storage_bits() &&
        format.name != name)
      add(prefix + "=" + std::string(format.name), format.spec);
  }
  for (const int step : {-2, -1, 1, 2}) {
    FormatSpec shifted = own;
    shifted.bias += step;
    add(bias + "=" + std::to_string(shifted.bias), shifted);
  }
}

}  // namespace

std::vector<Base> bases(const CastPlan& spec) {
  const Behaviour start(spec);
  std::vector<Base> list = {{"", start}};
  add_dialects(list, spec);
  add_siblings<&Behaviour::to>(list, spec, spec.to_name, "to", "bias");
  add_siblings<&Behaviour::from>(list, spec, spec.from_name, "from", "source-bias");
  for (const ReadFault& fault : read_faults()) {
    if (!fault.applies(start.from)) continue;
    list.push_back({std::string(fault.name), start});
    list.back().behaviour.read = &fault;
  }
  for (const OutputFault& fault : output_faults()) {
    if (!fault.applies(start.to)) continue;
    list.push_back({std::string(fault.name), start});
    list.back().behaviour.output = &fault;
  }
  return list;
}

std::vector<Move> number_moves(const CastPlan& spec, const Behaviour& base) {
  std::vector<Move> moves;
  const FormatSpec& to = base.to;
  add_roundings(moves, base);
  add_field<&CastPolicy::overflow>(moves, kOverflow, "overflow", base);
  add_field<&CastPolicy::overflow_test>(moves, kOverflowTest, "overflow-test", base);
  add_field<&CastPolicy::directed_overflow>(moves, kDirected, "directed-overflow", base);
  if (!to.has_nan()) add_field<&CastPolicy::inf_none>(moves, kInfinity, "inf-none", base);
  for (const SpecialFault& fault : infinity_faults()) {
    if (!fault.applies(to)) continue;
    moves.push_back(
        {kInfinity, "inf=" + std::string(fault.name), [&fault](Behaviour& b) { b.infinity = &fault; }});
  }
  add_field<&CastPolicy::flush>(moves, kFlush, "flush", base);
  if (!to.is_signed) add_field<&CastPolicy::negative>(moves, kNegative, "negative", base);
  if (to.zeros == Zeros::absent) {
    add_field<&CastPolicy::zero>(moves, kZero, "zero", base);
    add_field<&CastPolicy::low_binade>(moves, kLowBinade, "low-binade", base);
  }
  add_intermediates(moves, spec, base);
  return moves;
}

std::vector<Move> nan_moves(const Behaviour& base) {
  std::vector<Move> moves;
  if (base.to.has_nan()) {
    add_field<&CastPolicy::nan_sign>(moves, kNanSign, "nan", base);
    add_field<&CastPolicy::nan_code>(moves, kNanCode, "nan-code", base);
    if (base.to.non_finite == NonFinite::nan_minus_zero)
      add_field<&CastPolicy::fnuz_nan>(moves, kNan, "fnuz-nan", base);
    for (const SpecialFault& fault : nan_faults()) {
      if (!fault.applies(base.to)) continue;
      moves.push_back({kNan, "nan=" + std::string(fault.name), [&fault](Behaviour& b) { b.nan = &fault; }});
    }
  } else {
    add_field<&CastPolicy::nan_none>(moves, kNan, "nan", base);
  }
  return moves;
}

}  // namespace halfulp::vectors
