// The kernel families, one per row, and specs from text; see presets.hpp. Evidence by cell: docs/attention.md.
#include "halfulp/attention/presets.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::attention {
namespace {

constexpr float kSageOffset = std::bit_cast<float>(0x410ce979u);  // 8.807, just below log2 448

KernelSpec named(const char* name, KernelSpec spec) {
  spec.name = name;
  return spec;
}

KernelSpec fa3(KernelSpec s) {
  s.tile = 128;
  s.order = TileOrder::descending;
  s.lanes = 4;
  return s;
}

KernelSpec fa4(float threshold) {
  KernelSpec s;
  s.tile = 128;
  s.qk_model = s.pv_model = "blackwell_f8f6f4";
  s.threshold = threshold;
  return s;
}

KernelSpec flashinfer(const char* format, float prescale) {
  KernelSpec s = fa3({});
  s.q_format = s.k_format = s.p_format = s.v_format = format;
  s.offset = 0;
  s.prescale = prescale;
  return s;
}

KernelSpec sage(const char* pv_output) {
  KernelSpec s;
  s.qk_model = "int8_imma";
  s.q_format = s.k_format = "int8";
  s.pv_model = "ada_fp8";
  s.pv_output = pv_output;
  s.offset = kSageOffset;
  s.lanes = 4;
  s.pv = PvMode::two_level;
  return s;
}

KernelSpec no_prescale() {
  KernelSpec s;
  s.offset = 0;
  return s;
}

KernelSpec two_level(KernelSpec s) {
  s.pv = PvMode::two_level;
  return s;
}

constexpr std::string_view kPerKvHead = "Q, K and V: one per (batch, KV head)";
constexpr std::string_view kPerHead = "Q: one per query head; K and V: one per KV head";
constexpr std::string_view kSageScales = "Q, K: per block or thread, K minus its token mean; V: per channel, amax / 448";

const std::vector<Preset>& table() {
  static const std::vector<Preset> kTable = {
      {named("reference", {}), "the defaults of KernelSpec; no kernel", "any"},
      {named("fa3_like", fa3({})), "FlashAttention-3 FP8 forward, 2025: offset, descending tiles, four lanes", kPerKvHead},
      {named("fa3_like_two_level", two_level(fa3({}))), "forks of FlashAttention-3 that add every tile to float32", kPerKvHead},
      {named("fa4_like", fa4(0)), "FlashAttention-4 forward after the fix of the lazy rescale: threshold 0", kPerKvHead},
      {named("fa4_like_faulty", fa4(4)), "the same as first released: threshold 4 lets P pass 448", kPerKvHead},
      {named("flashinfer_like", flashinfer("e4m3", 448)), "FlashInfer Hopper FP8 prefill, 2025: P times 448", kPerHead},
      {named("flashinfer_like_e5m2", flashinfer("e5m2", 57344)), "the same in e5m2: P times 57344", kPerHead},
      {named("flashinfer_like_two_level", two_level(flashinfer("e4m3", 448))), "the same, every tile added to float32", kPerHead},
      {named("sage_like", sage("f32")), "SageAttention2, INT8 scores and FP8 PV: \"fp32+fp32\"", kSageScales},
      {named("sage_like_f16", sage("f16")), "SageAttention2++: FP8 PV in float16, every tile added to float32",
       "Q, K: per block or thread, K minus its token mean; V: per channel, amax / 2.25"},
      {named("no_prescale", no_prescale()), "kernels that cast P as it is; the sum keeps what the cast loses", "any"},
  };
  return kTable;
}

const Preset& find_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : table()) {
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
constexpr std::int64_t kMostKeys = std::int64_t{1} << 30, kFarthest = std::int64_t{1} << 40;

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
       s.window = Window{integer(k, before, -kFarthest, kFarthest), integer(k, after, -kFarthest, kFarthest)};
     },
     [](const KernelSpec& s) { return s.window ? std::to_string(s.window->before) + ":" + std::to_string(s.window->after) : std::string("none"); }},
    integer_key<&KernelSpec::visible_prefix, 0, kFarthest>("visible_prefix"),
};

InputError does_not_fit(const std::string& what, const std::string& why, const std::string& mend) {
  return InputError("attention spec, " + what, why, mend);
}

/// A product that attention can use: no block scales.
accumulation::MmaSpec product(const char* key, const accumulation::SpecRequest& request) {
  accumulation::MmaSpec spec = accumulation::make_spec(request);
  if (spec.model.scale.block != 0) {
    throw does_not_fit(std::string(key) + "=" + request.model,
                       "the model needs block scales, which attention has not",
                       "choose a model without them");
  }
  return spec;
}

/// Formats that P and O are cast to: a NaN must have a code, and codes are words of 32 bits.
void check_target(const char* key, const std::string& name) {
  const FormatSpec format = require_format(name).spec;
  if (format.encoding != Encoding::floating || !format.is_signed || !format.has_nan() || format.storage_bytes() > 4) {
    throw does_not_fit(std::string(key) + "=" + name, "a NaN row has no code in it",
                       "choose a signed float format of at most 32 bits with NaN, such as e4m3 or bf16");
  }
}

void check_finite(const char* key, float x) {
  if (!std::isfinite(x)) throw does_not_fit(key, "not finite", "give a number");
}

void check_positive(const char* key, float x) {
  check_finite(key, x);
  if (x <= 0) throw does_not_fit(key, "not positive", "give a positive number, or none to leave it out");
}

}  // namespace

std::span<const Preset> presets() { return table(); }

KernelSpec parse_spec(std::string_view text) {
  const auto comma = text.find(',');
  KernelSpec spec = find_preset(text.substr(0, comma)).spec;
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

void check(const KernelSpec& spec) {
  if (spec.tile < 1) throw does_not_fit("tile=" + std::to_string(spec.tile), "a tile holds at least one key", "give a positive count");
  if (spec.split < 0 || spec.split % spec.tile != 0) {
    throw does_not_fit("split=" + std::to_string(spec.split), "a part would cut a tile in two",
                       "give a multiple of tile=" + std::to_string(spec.tile));
  }
  if (spec.lanes != 1 && spec.lanes != 4)
    throw does_not_fit("lanes=" + std::to_string(spec.lanes), "sums of a row have 1 or 4 lanes",
                       "choose 1 or 4");
  if (spec.interval < 0) throw does_not_fit("interval=" + std::to_string(spec.interval), "it is negative", "give a number of keys");
  if (spec.interval > 0 && spec.pv != PvMode::two_level) {
    throw does_not_fit("interval=" + std::to_string(spec.interval), "pieces exist in two levels only", "add pv=two_level");
  }
  if (spec.pv_output != "f32" && spec.pv_output != "f16")
    throw does_not_fit("pv_output=" + spec.pv_output, "PV sums are f32 or f16", "choose one of them");
  if (spec.pv_output == "f16" && spec.pv != PvMode::two_level) {
    throw does_not_fit("pv_output=f16", "O is float32 and cannot be c of an f16 sum", "add pv=two_level");
  }
  product("qk_model", {.model = spec.qk_model, .format_a = spec.q_format, .format_b = spec.k_format});
  product("pv_model", {.model = spec.pv_model, .format_a = spec.p_format, .format_b = spec.v_format, .output = spec.pv_output});
  check_target("p_format", spec.p_format);
  check_target("out", spec.out);
  check_finite("offset", spec.offset);
  if (spec.threshold) check_finite("threshold", *spec.threshold);
  if (spec.prescale) check_positive("prescale", *spec.prescale);
  if (spec.softcap) {
    check_positive("softcap", spec.softcap->cap);
    check_positive("softcap", spec.softcap->scale);
  }
  const auto far = [](std::int64_t x) { return x < -kFarthest || x > kFarthest; };
  if (spec.window && (far(spec.window->before) || far(spec.window->after))) {
    throw does_not_fit("window", "an end lies beyond 2^40 keys", "give ends within 2^40");
  }
  if (spec.visible_prefix < 0) throw does_not_fit("visible_prefix=" + std::to_string(spec.visible_prefix), "it is negative", "give a count of keys");
}

}  // namespace halfulp::attention
