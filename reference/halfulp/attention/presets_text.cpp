// Specs from text and back, one key per row; see presets.hpp.
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::attention {
namespace {

const Preset& find_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) {
    if (preset.spec.name == name) return preset;
    names.push_back(preset.spec.name);
  }
  const std::string near = nearest_names(name, names);
  throw InputError("attention preset '" + std::string(name) + "'", "no preset has that name",
                   near.empty() ? "`halfulp attention --list` shows all" : "nearest names: " + near);
}

[[noreturn]] void bad_value(std::string_view key, std::string_view value, const std::string& why, const std::string& mend) {
  throw InputError(std::string(key) + "=" + std::string(value), why, mend);
}

std::int64_t integer(std::string_view key, std::string_view value, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < low || number > high) {
    bad_value(key, value, "not an integer in range", "give one from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

float number(std::string_view key, std::string_view value) {
  const char* const kMend = "give a literal, or float32 bits as 0x and 8 digits";
  const bool is_bits = value.substr(0, 2) == "0x" && value.find_first_of("pP.") == std::string_view::npos;
  std::uint32_t bits = 0;
  if (is_bits) {
    const auto [end, error] = std::from_chars(value.data() + 2, value.data() + value.size(), bits, 16);
    if (value.size() != 10 || error != std::errc() || end != value.data() + value.size()) bad_value(key, value, "not float32 bits", kMend);
  } else {
    const Literal literal = parse_literal(value);
    if (literal.error != LiteralError::none) bad_value(key, value, "not a number", kMend);
    bits = static_cast<std::uint32_t>(cast(literal.value, spec_of("f32"), {.overflow = Overflow::overflow}).code);
  }
  const auto x = std::bit_cast<float>(bits);
  if (!std::isfinite(x)) bad_value(key, value, "not finite in float32", kMend);
  return x;
}

std::string text_of(float x) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr};
}

std::optional<float> optional_number(std::string_view key, std::string_view value) {
  if (value == "none") return std::nullopt;
  return number(key, value);
}
std::string text_of(const std::optional<float>& x) { return x ? text_of(*x) : "none"; }

/// `A:B`.
std::pair<std::string_view, std::string_view> pair_of(std::string_view key, std::string_view value, const char* form) {
  const auto colon = value.find(':');
  if (colon == std::string_view::npos) bad_value(key, value, "not two values", std::string("write ") + form + " or none");
  return {value.substr(0, colon), value.substr(colon + 1)};
}

template <std::size_t N>
std::size_t word(std::string_view key, std::string_view value, const std::array<std::string_view, N>& words) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == value) return i;
  }
  std::string all;
  for (const std::string_view each : words) all += (all.empty() ? "" : " or ") + std::string(each);
  bad_value(key, value, "no such word", "choose " + all);
}

constexpr std::array<std::string_view, 2> kOrders = {"ascending", "descending"}, kSums = {"f32", "quantized"}, kPv = {"chained", "two_level"},
                                          kYesNo = {"no", "yes"};
constexpr std::int64_t kMostKeys = std::int64_t{1} << 30;

/// How a member is read and written.
struct Key {
  std::string_view name;
  void (*set)(KernelSpec&, std::string_view key, std::string_view value);
  std::string (*get)(const KernelSpec&);
};

template <auto Member>
constexpr Key text_key(std::string_view name) {
  return {name, [](KernelSpec& s, std::string_view, std::string_view v) { s.*Member = std::string(v); },
          [](const KernelSpec& s) { return s.*Member; }};
}
template <auto Member>
constexpr Key format_key(std::string_view name) {
  return {name, [](KernelSpec& s, std::string_view, std::string_view v) { s.*Member = std::string(require_format(v).name); },
          [](const KernelSpec& s) { return s.*Member; }};
}
template <auto Member, std::int64_t Low, std::int64_t High>
constexpr Key integer_key(std::string_view name) {
  return {name,
          [](KernelSpec& s, std::string_view k, std::string_view v) {
            using Value = std::remove_reference_t<decltype(s.*Member)>;
            s.*Member = static_cast<Value>(integer(k, v, Low, High));
          },
          [](const KernelSpec& s) { return std::to_string(s.*Member); }};
}
template <auto Member, const auto& Words>
constexpr Key word_key(std::string_view name) {
  return {name,
          [](KernelSpec& s, std::string_view k, std::string_view v) {
            using Value = std::remove_reference_t<decltype(s.*Member)>;
            s.*Member = static_cast<Value>(word(k, v, Words));
          },
          [](const KernelSpec& s) { return std::string(Words[static_cast<std::size_t>(s.*Member)]); }};
}
template <auto Member>
constexpr Key optional_key(std::string_view name) {
  return {name, [](KernelSpec& s, std::string_view k, std::string_view v) { s.*Member = optional_number(k, v); },
          [](const KernelSpec& s) { return text_of(s.*Member); }};
}

constexpr Key kKeys[] = {
    integer_key<&KernelSpec::tile, 1, kMostKeys>("tile"),
    word_key<&KernelSpec::order, kOrders>("order"),
    integer_key<&KernelSpec::split, 0, kMostKeys>("split"),
    text_key<&KernelSpec::qk_model>("qk_model"),
    format_key<&KernelSpec::q_format>("q_format"),
    format_key<&KernelSpec::k_format>("k_format"),
    {"softcap",
     [](KernelSpec& s, std::string_view k, std::string_view v) {
       s.softcap.reset();
       if (v == "none") return;
       const auto [cap, scale] = pair_of(k, v, "softcap=CAP:SCALE");
       s.softcap = SoftCap{number(k, cap), number(k, scale)};
     },
     [](const KernelSpec& s) { return s.softcap ? text_of(s.softcap->cap) + ":" + text_of(s.softcap->scale) : std::string("none"); }},
    {"offset", [](KernelSpec& s, std::string_view k, std::string_view v) { s.offset = number(k, v); },
     [](const KernelSpec& s) { return text_of(s.offset); }},
    optional_key<&KernelSpec::threshold>("threshold"),
    optional_key<&KernelSpec::prescale>("prescale"),
    word_key<&KernelSpec::sum_of, kSums>("sum_of"),
    integer_key<&KernelSpec::lanes, 1, 4>("lanes"),
    text_key<&KernelSpec::pv_model>("pv_model"),
    format_key<&KernelSpec::p_format>("p_format"),
    format_key<&KernelSpec::v_format>("v_format"),
    format_key<&KernelSpec::pv_output>("pv_output"),
    word_key<&KernelSpec::pv, kPv>("pv"),
    integer_key<&KernelSpec::interval, 0, kMostKeys>("interval"),
    format_key<&KernelSpec::out>("out"),
    word_key<&KernelSpec::causal, kYesNo>("causal"),
    {"window",
     [](KernelSpec& s, std::string_view k, std::string_view v) {
       s.window.reset();
       if (v == "none") return;
       const auto [before, after] = pair_of(k, v, "window=BEFORE:AFTER");
       s.window = Window{integer(k, before, -kFarthestKey, kFarthestKey), integer(k, after, -kFarthestKey, kFarthestKey)};
     },
     [](const KernelSpec& s) { return s.window ? std::to_string(s.window->before) + ":" + std::to_string(s.window->after) : std::string("none"); }},
    integer_key<&KernelSpec::visible_prefix, 0, kFarthestKey>("visible_prefix"),
};

}  // namespace

KernelSpec parse_spec(std::string_view text) {
  const auto comma = text.find(',');
  KernelSpec spec = find_preset(text.substr(0, comma)).spec;
  std::set<std::string_view> seen;
  for (std::string_view rest = comma == std::string_view::npos ? "" : text.substr(comma + 1); !rest.empty();) {
    const auto end = rest.find(',');
    const std::string_view option = rest.substr(0, end);
    const auto equals = option.find('=');
    const std::string_view key = option.substr(0, equals);
    const Key* found = nullptr;
    std::vector<std::string_view> names;
    for (const Key& each : kKeys) {
      if (each.name == key) found = &each;
      names.push_back(each.name);
    }
    if (found == nullptr) {
      const std::string near = nearest_names(key, names);
      std::string all;
      for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
      throw InputError("attention option '" + std::string(key) + "'", "no option has that name",
                       near.empty() ? "options are " + all : "nearest names: " + near);
    }
    if (equals == std::string_view::npos)
      throw InputError("attention option '" + std::string(key) + "'", "it has no value",
                       "write " + std::string(key) + "=VALUE");
    if (!seen.insert(key).second) throw InputError("attention option '" + std::string(key) + "'", "it is given twice", "give it once");
    found->set(spec, key, option.substr(equals + 1));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  check(spec);
  return spec;
}

std::string text_of(const KernelSpec& spec) {
  const KernelSpec& base = find_preset(spec.name.empty() ? "reference" : spec.name).spec;
  std::string text = base.name;
  for (const Key& key : kKeys) {
    const std::string value = key.get(spec);
    if (value != key.get(base)) text += "," + std::string(key.name) + "=" + value;
  }
  return text;
}

}  // namespace halfulp::attention
