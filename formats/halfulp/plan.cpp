// Builds cast plans from names and options; see plan.hpp.
#include "halfulp/plan.hpp"

#include <algorithm>
#include <charconv>

#include "halfulp/names.hpp"

namespace halfulp {
namespace {

template <class Enum>
std::string choices() {
  std::string all;
  for (const auto& entry : kNames<Enum>) all += (all.empty() ? "" : ", ") + std::string(entry.name);
  return all;
}

/// Sets one enumerated policy field; returns the canonical word.
template <auto Member>
std::string set_field(CastPlan& plan, std::string_view key, std::string_view value) {
  using Enum = std::remove_reference_t<decltype(plan.policy.*Member)>;
  const auto parsed = value_named<Enum>(value);
  if (!parsed) throw InputError(std::string(key) + " " + quoted(value), "unknown value", "use one of " + choices<Enum>());
  plan.policy.*Member = *parsed;
  return std::string(name_of(*parsed));
}

/// `nan` takes the sign rule, or the rule for formats that have no NaN.
std::string set_nan(CastPlan& plan, std::string_view key, std::string_view value) {
  if (value_named<NanSign>(value)) return set_field<&CastPolicy::nan_sign>(plan, key, value);
  if (value_named<NanNone>(value)) return set_field<&CastPolicy::nan_none>(plan, key, value);
  throw InputError("nan " + quoted(value), "unknown value", "use one of " + choices<NanSign>() + ", " + choices<NanNone>());
}

/// Naming the overflow rule also answers for Inf, where a dialect left that open.
std::string set_overflow(CastPlan& plan, std::string_view key, std::string_view value) {
  plan.policy.inf_record = InfRecord::by_overflow;
  return set_field<&CastPolicy::overflow>(plan, key, value);
}

std::uint64_t parse_number(std::string_view key, std::string_view value, int base) {
  if (base == 16 && (value.substr(0, 2) == "0x" || value.substr(0, 2) == "0X")) value.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number, base);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw InputError(std::string(key) + " " + quoted(value), "not a 64-bit number",
                     base == 16 ? "write hexadecimal digits" : "write decimal digits");
  }
  return number;
}

std::string set_sr_bits(CastPlan& plan, std::string_view key, std::string_view value) {
  const std::uint64_t bits = parse_number(key, value, 10);
  if (bits < 1 || bits > 32) throw InputError("sr-bits " + quoted(value), "out of range", "use 1 to 32 random bits");
  plan.policy.sr_bits = static_cast<int>(bits);
  return std::to_string(bits);
}

std::string set_sr_random(CastPlan& plan, std::string_view key, std::string_view value) {
  plan.random = parse_number(key, value, 16);
  return std::string(value);
}

std::string set_seed(CastPlan& plan, std::string_view key, std::string_view value) {
  plan.seed = parse_number(key, value, 10);
  return std::to_string(plan.seed);
}

std::string set_via(CastPlan& plan, std::string_view, std::string_view value) {
  const Format format = require_format(value);
  plan.via = format.spec;
  plan.via_name = format.name;
  return plan.via_name;
}

struct Option {
  std::string_view key;
  std::string (*set)(CastPlan&, std::string_view key, std::string_view value);
};
constexpr auto kOptions = std::to_array<Option>({
    {"rounding", set_field<&CastPolicy::rounding>},
    {"overflow", set_overflow},
    {"nan", set_nan},
    {"nan-code", set_field<&CastPolicy::nan_code>},
    {"inf-none", set_field<&CastPolicy::inf_none>},
    {"negative", set_field<&CastPolicy::negative>},
    {"zero", set_field<&CastPolicy::zero>},
    {"directed-overflow", set_field<&CastPolicy::directed_overflow>},
    {"overflow-test", set_field<&CastPolicy::overflow_test>},
    {"flush", set_field<&CastPolicy::flush>},
    {"fnuz-nan", set_field<&CastPolicy::fnuz_nan>},
    {"low-binade", set_field<&CastPolicy::low_binade>},
    {"via", set_via},
    {"sr-variant", set_field<&CastPolicy::sr_variant>},
    {"sr-bits", set_sr_bits},
    {"sr-random", set_sr_random},
    {"seed", set_seed},
});

bool named(const CastPlan& plan, std::string_view key) {
  return std::any_of(plan.options.begin(), plan.options.end(), [key](const auto& option) { return option.first == key; });
}

void apply_dialect(CastPlan& plan, const CastRequest& request, const Format& to) {
  Rounding suffix = Rounding::unrecorded;
  plan.dialect = request.dialect;
  for (const DialectAlias& alias : kDialectAliases) {
    if (alias.alias != request.dialect) continue;
    plan.dialect = alias.dialect;
    suffix = alias.rounding;
  }
  if (!is_dialect(plan.dialect)) {
    std::vector<std::string_view> names;
    for (const DialectRow& row : kDialectRows) names.push_back(row.dialect);
    const std::string near = nearest_names(request.dialect, names);
    throw InputError("dialect " + quoted(request.dialect), "unknown",
                     near.empty() ? "`halfulp cast --help` lists the dialects" : "nearest names: " + near);
  }
  const std::uint32_t from = plan.from ? format_class(require_format(plan.from_name)) : std::uint32_t{kExact};
  const std::size_t index = dialect_row(plan.dialect, from, format_class(to));
  if (index == kDialectRows.size()) {
    throw InputError("dialect " + plan.dialect, "nothing is recorded for " + plan.from_name + " to " + plan.to_name,
                     "name the policy with --rounding, --overflow, --nan instead");
  }
  const DialectRow& row = kDialectRows[index];
  plan.policy = row.policy;
  if (suffix != Rounding::unrecorded) plan.policy.rounding = suffix;
  if (!row.via.empty()) set_via(plan, "via", row.via);
}

void check(const CastPlan& plan, const Format& to) {
  const CastPolicy& policy = plan.policy;
  if (policy.rounding == Rounding::unrecorded) {
    throw InputError("dialect " + plan.dialect, "it has no default rounding for " + plan.to_name,
                     "add --rounding, e.g. toward_zero or toward_positive");
  }
  const bool nearest_away_or_zero = policy.rounding == Rounding::ties_to_away || policy.rounding == Rounding::toward_zero;
  if (to.spec.encoding == Encoding::hifloat8 && !nearest_away_or_zero) {
    throw InputError("rounding " + std::string(name_of(policy.rounding)), "hif8 is defined for two roundings only",
                     "add --rounding ties_to_away or --rounding toward_zero");
  }
  if (policy.rounding == Rounding::stochastic) {
    if (policy.sr_bits == 0) {
      throw InputError("rounding stochastic", "the number of random bits is not named", "add --sr-bits N, 1 to 32");
    }
    if (plan.random && *plan.random > low_mask(policy.sr_bits)) {
      throw InputError("sr-random", "the word has more than " + std::to_string(policy.sr_bits) + " bits",
                       "give a word that fits --sr-bits");
    }
    if (plan.random && named(plan, "seed")) {
      throw InputError("seed", "--sr-random fixes every random word", "give one of the two");
    }
    return;
  }
  for (const std::string_view key : {"sr-variant", "sr-bits", "sr-random", "seed"}) {
    if (named(plan, key)) {
      throw InputError(std::string(key), "rounding is " + std::string(name_of(policy.rounding)),
                       "add --rounding stochastic or leave the option out");
    }
  }
}

constexpr CastPolicy kIntermediate = {.overflow = Overflow::overflow, .nan_code = NanCode::payload};

/// Casts through an intermediate format. The flags describe the whole way: what the first step lost or made too large
/// counts, a tie is one of the last step.
template <class Word>
CastResult cast_through(const BasicUnpacked<Word>& x, const FormatSpec& via, const FormatSpec& to, const CastPolicy& policy,
                        std::uint64_t random) {
  const CastResult step = cast(x, via, kIntermediate);
  if (step.refusal != Refusal::none) return step;
  CastResult result = cast(unpack(via, step.code), to, policy, random);
  if (result.refusal != Refusal::none) return result;
  result.flags = static_cast<std::uint8_t>(result.flags | (step.flags & (kInexact | kOverflow)));
  const NumberClass reached = unpack(to, result.code).number_class;
  const bool tiny = reached == NumberClass::zero || reached == NumberClass::subnormal;
  const bool number = x.number_class == NumberClass::subnormal || x.number_class == NumberClass::normal;
  if (number && tiny && (step.flags & kInexact)) result.flags |= kUnderflow;
  return result;
}

}  // namespace

CastPlan make_plan(const CastRequest& request) {
  CastPlan plan;
  const Format to = require_format(request.to);
  plan.to = to.spec;
  plan.to_name = to.name;
  plan.from_name = request.from;
  if (request.from != "exact") {
    const Format from = require_format(request.from);
    plan.from = from.spec;
    plan.from_name = from.name;
  }
  if (!request.dialect.empty()) apply_dialect(plan, request, to);
  for (const auto& field : request.options) {
    const std::string& key = field.first;
    const auto option = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& o) { return o.key == key; });
    if (option == kOptions.end()) {
      std::vector<std::string_view> keys;
      for (const Option& o : kOptions) keys.push_back(o.key);
      const std::string near = nearest_names(key, keys);
      throw InputError("option " + quoted(key), "unknown",
                       near.empty() ? "`halfulp cast --help` lists the options" : "nearest names: " + near);
    }
    plan.options.emplace_back(key, option->set(plan, key, field.second));
  }
  check(plan, to);
  return plan;
}

CastRequest parse_cast_spec(std::string_view spec) {
  const std::string mend = "write cast:FROM:TO[@DIALECT][,key=value], e.g. cast:f32:e4m3,overflow=overflow";
  const std::string shown = "SPEC " + quoted(spec);
  CastRequest request;
  constexpr std::string_view prefix = "cast:";
  if (spec.substr(0, prefix.size()) == prefix) spec.remove_prefix(prefix.size());
  else if (spec.find("->") == std::string_view::npos) throw InputError(shown, "not the SPEC of a cast", mend);

  std::string_view head = spec.substr(0, spec.find(','));
  std::string_view tail = spec.size() > head.size() ? spec.substr(head.size() + 1) : std::string_view{};
  if (tail.empty() && spec.size() > head.size()) throw InputError(shown, "it ends with a comma", mend);
  if (const auto at = head.find('@'); at != std::string_view::npos) {
    request.dialect = head.substr(at + 1);
    if (request.dialect.empty()) throw InputError(shown, "no dialect after '@'", mend);
    head = head.substr(0, at);
  }
  const auto arrow = head.find("->");
  const auto split = arrow != std::string_view::npos ? arrow : head.find(':');
  if (split == std::string_view::npos) throw InputError(shown, "no target format", mend);
  request.from = head.substr(0, split);
  request.to = head.substr(split + (arrow != std::string_view::npos ? 2 : 1));
  while (!tail.empty()) {
    const std::string_view field = tail.substr(0, tail.find(','));
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) throw InputError(shown, quoted(field) + " has no '='", mend);
    const std::string_view key = field.substr(0, equals);
    const auto same_key = [key](const auto& option) { return option.first == key; };
    if (std::any_of(request.options.begin(), request.options.end(), same_key))
      throw InputError(shown, quoted(key) + " is named twice", "name it once");
    request.options.emplace_back(key, field.substr(equals + 1));
    if (field.size() + 1 == tail.size()) throw InputError(shown, "it ends with a comma", mend);
    tail = field.size() == tail.size() ? std::string_view{} : tail.substr(field.size() + 1);
  }
  return request;
}

std::string spec_text(const CastPlan& plan) {
  std::string text = "cast:" + plan.from_name + ":" + plan.to_name + (plan.dialect.empty() ? "" : "@" + plan.dialect);
  for (const auto& [key, value] : plan.options) text += "," + key + "=" + value;
  return text;
}

std::uint64_t CastPlan::random_word(std::uint64_t index) const {
  if (policy.rounding != Rounding::stochastic) return 0;
  return (random ? *random : counter_random(seed, index)) & low_mask(policy.sr_bits);
}

CastResult CastPlan::operator()(std::uint64_t word, std::uint64_t index) const {
  const Unpacked x = unpack(*from, word);
  const std::uint64_t bits = random_word(index);
  return via ? cast_through(x, *via, to, policy, bits) : cast(x, to, policy, bits);
}

CastResult CastPlan::operator()(const ExactUnpacked& value, std::uint64_t index) const {
  const std::uint64_t bits = random_word(index);
  if (!from) return via ? cast_through(value, *via, to, policy, bits) : cast(value, to, policy, bits);
  const CastResult read = cast(value, *from, kIntermediate);
  return read.refusal != Refusal::none ? read : (*this)(read.code, index);
}

std::uint64_t read_literal_as(const ExactUnpacked& value, const Format& format, std::string_view text) {
  const CastResult result = cast(value, format.spec, kIntermediate);
  if (result.refusal != Refusal::none) {
    throw InputError("value " + quoted(text), std::string(format.name) + " cannot hold it",
                     "give a value of that format, or name another with --from");
  }
  return result.code;
}

std::pair<std::string_view, std::string_view> refusal_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::none: break;
    case Refusal::nan: return {"the format has no NaN and no rule is named", "add --nan, e.g. nan_to_max"};
    case Refusal::infinity: return {"the format has no Inf and --inf-none is error", "add --inf-none max or zero"};
    case Refusal::negative: return {"the format has no sign and no rule is named", "add --negative abs, zero or nan"};
    case Refusal::zero: return {"the format has no zero and no rule is named", "add --zero min or nan"};
    case Refusal::nan_unrecorded: return {"what this dialect gives for NaN is not recorded", "add --nan and --nan-code"};
    case Refusal::infinity_unrecorded: return {"what this dialect gives for Inf is not recorded", "add --overflow"};
    case Refusal::rounding_unrecorded: return {"the dialect has no default rounding", "add --rounding"};
  }
  return {"", ""};
}

}  // namespace halfulp
