// MX: 32 values along k share one E8M0 scale. Rules and producers as templates over the element format.
//
// Facts about producers: their published sources of 2025 and 2026; OCP MX v1.0 section 6 for what a block
// means.
#include <algorithm>
#include <array>
#include <deque>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

/// What a template's marks stand for: $CAST and $AWAY (the cast, and its rounding away), $EMAX and $2EMAX
/// (emax, 2^-emax), $MAX, $RCP (1/max in f32), $TOP (the significand from which `even` goes up: 2 minus
/// half an ulp of the element).
struct Element {
  std::string_view name, cast, emax, pow2, max, rcp, top, packing;
};
constexpr std::string_view kByte = "packing: one code per byte";
constexpr std::string_view kLowBits = "packing byte_low_bits: one code per byte";
// clang-format off
constexpr auto kElements = std::to_array<Element>({
    {"e4m3", "e4m3:positive",               "8",  "0x1p-8",  "448",   "0x1.24924ap-9",  "1.9375", kByte},
    {"e5m2", "e5m2:positive,nan_code=ones", "15", "0x1p-15", "57344", "0x1.24924ap-16", "1.875",  kByte},
    {"e2m3", "e2m3:nan_to_max",             "2",  "0x1p-2",  "7.5",   "0x1.111112p-3",  "1.9375", kLowBits},
    {"e3m2", "e3m2:nan_to_max",             "4",  "0x1p-4",  "28",    "0x1.24924ap-5",  "1.875",  kLowBits},
    {"e2m1", "e2m1:nan_to_max",             "2",  "0x1p-2",  "6",     "0x1.555556p-3",  "1.75",   "packing low_first: element 2i in the low half of a byte"},
    {"mxint8", "mxint8",                    "0",  "1",       "1.984375", "",            "",       kByte},
});
// clang-format on

constexpr std::string_view kFloor =
    "amax propagate\n"
    "scale e8m0:overflow,zero=min pow2_floor(a) * $2EMAX   # Inf and NaN give 0xFF\n"
    "code $CAST x * (1 / S)\n";
constexpr std::string_view kEven =
    "amax propagate\n"
    "p = pow2_floor(a)\n"
    "e = if_less(a, p * $TOP, p, p * 2)   @f64\n"
    "scale e8m0:overflow,zero=min e * $2EMAX   @f64\n"
    "code $CAST x * (1 / S)\n";
constexpr std::string_view kCeil =
    "amax propagate\n"
    "scale e8m0:overflow,zero=min pow2_ceil(a) * $2EMAX   @f64\n"
    "code $CAST x * (1 / S)\n";
constexpr std::string_view kRceil =
    "amax drop\n"
    "scale e8m0:toward_positive,zero=min a * $RCP\n"
    "code $CAST x * (1 / S)\n";

// torchao as PyTorch runs it without compilation. Factor of an element: 1 / S, but for bytes 0, 254 and 255.
constexpr std::string_view kTorchaoFloor =
    "amax propagate\n"
    "e = if_finite(a, pow2_floor(a), if_nan(a, a, 0x1p+128))   @f64\n"
    "scale e8m0:overflow,zero=min e * $2EMAX   @f64\n"
    "code $CAST clamp_nan(x / if_nan(S, inf, max(S, 0x1p-126)), $MAX)\n";
constexpr std::string_view kTorchaoEven =
    "amax propagate\n"
    "p = pow2_floor(a)\n"
    "e = if_finite(a, if_less(a, p * $TOP, p, p * 2), if_nan(a, a, 0x1p+128))   @f64\n"
    "scale e8m0:overflow,zero=min e * $2EMAX   @f64\n"
    "code $CAST clamp_nan(x / if_nan(S, inf, max(S, 0x1p-126)), $MAX)\n";
constexpr std::string_view kTorchaoCeil =
    "amax propagate\n"
    "e = if_finite(a, pow2_ceil(a), if_nan(a, a, 0x1p+128))   @f64\n"
    "scale e8m0:overflow,zero=min e * $2EMAX   @f64\n"
    "code $CAST clamp_nan(x / if_nan(S, inf, max(S, 0x1p-126)), $MAX)\n";
constexpr std::string_view kTorchaoRceil =
    "amax propagate\n"
    "d = a / $MAX\n"
    "l = max(min(ceil(log2(d)), 127), -127)\n"
    "scale e8m0:zero=min if_finite(d, exp2(l), if_nan(d, d, 0x1p+127))\n"
    "code $CAST clamp_nan(x * if_less(S, 0x1p-126, 1, 1 / S), $MAX)\n";

constexpr std::string_view kBlockNan =
    "fact NaN or Inf in a block: scale 0xFF, and the codes mean nothing (the standard leaves it open)\n"
    "fact zero block: scale 0x00, codes 0 with the signs of the zeros\n";
constexpr std::string_view kSatfinite =
    "fact NaN is left out of amax; Inf gives scale 0xFE; element casts saturate, a NaN gives NaN or, "
    "without one, the largest number\n"
    "fact zero block: scale 0x00, codes 0 with the signs of the zeros\n";
constexpr std::string_view kTorchaoFacts =
    "fact NaN in a block: scale 0xFF, finite elements become 0; Inf counts as exponent 128: byte 255 - emax\n"
    "fact byte 0: the factor is that of 2^-126, while a value is made with 2^-127\n"
    "fact a NaN element is NaN, or without one the largest number here: the producer's bits for it mean nothing\n"
    "fact zero block: scale 0x00, codes 0 with the signs of the zeros\n";
constexpr std::string_view kTorchaoRceilFacts =
    "fact the power of two is found by a float logarithm: just above a power of two it can be that power\n"
    "fact compiled for hardware that rounds up to E8M0 the producer goes by the bits instead, as rceil\n"
    "fact NaN in a block: scale 0xFF, every element NaN, or without one the largest number here; Inf: scale 0xFE\n"
    "fact byte 0: factor 1 in place of 2^127; byte 254: factor 2^-127\n"
    "fact zero block: scale 0x00, codes 0 with the signs of the zeros\n";
constexpr std::string_view kTwoCopies =
    "fact the row copy (1x32) and the column copy (32x1) are each made from the original; the column copy "
    "is not transposed\n"
    "fact scale buffers: rows [roundup(M,128), roundup(K/32,4)], columns [roundup(M/32,4), "
    "roundup(K,128)]; dims are multiples of 32\n";

struct Rule {
  std::string_view name, mark, text, facts;
};
constexpr auto kRules = std::to_array<Rule>({
    {"ocp_floor", "source for torchao; unverified for the standard's text", kFloor, kBlockNan},
    {"even", "source", kEven, kBlockNan},
    {"ceil", "source", kCeil, kBlockNan},
    {"rceil", "source", kRceil, kSatfinite},
    {"ocp_floor_torchao", "source, run", kTorchaoFloor, kTorchaoFacts},
    {"even_torchao", "source, run", kTorchaoEven, kTorchaoFacts},
    {"ceil_torchao", "source, run", kTorchaoCeil, kTorchaoFacts},
    {"rceil_torchao_eager", "source, run", kTorchaoRceil, kTorchaoRceilFacts},
});
struct Family {
  std::string_view name, elements;
};
constexpr auto kFamilies =
    std::to_array<Family>({{"mxfp8", "e4m3 e5m2"}, {"mxfp6", "e2m3 e3m2"}, {"mxfp4", "e2m1"}});

/// A producer's variant. `value` is the way back where it is not v * S.
struct Producer {
  std::string_view name, elements, mark, text, facts, value = "v * S";
};
// clang-format off
constexpr auto kProducers = std::to_array<Producer>({
    {"mxint8/ocp_floor", "mxint8", "source for torchao; unverified for the standard's text",
     "amax propagate\n"
     "scale e8m0:overflow,zero=min pow2_floor(a)   # Inf and NaN give 0xFF\n"
     "code mxint8 clamp(x * (1 / S), 0x1.fcp+0)   # -127 .. 127 in units of 2^-6\n", kBlockNan},
    {"mxfp8/transformer_engine", "e4m3 e5m2", "source", kRceil, kTwoCopies},
    {"mxfp8/rceil_torchao", "e4m3 e5m2", "source",
     "amax propagate\n"
     "scale e8m0:toward_positive,overflow,zero=min a * $RCP   # Inf and NaN give 0xFF\n"
     "code $CAST x * (1 / S)\n",
     "fact NaN or Inf in a block: scale 0xFF, and the codes mean nothing; the package itself gives 0xFE for Inf: "
     "mxfp8/rceil_torchao_eager\n"
     "fact zero block: scale 0x00, codes 0 with the signs of the zeros\n"},
    {"mxfp8/cudnn", "e4m3 e5m2", "source: its documentation",
     "amax drop\n"
     "scale e8m0:toward_positive,zero=min a / $MAX\n"
     "code $CAST x * (1 / S)\n",
     "fact NaN, Inf and zero blocks are not stated; here as mxfp8/rceil\n"},
    {"mxfp8/flashinfer", "e4m3", "source",
     "amax drop\n"
     "scale e8m0:toward_positive,zero=min a * rcp_approx(448)\n"
     "code $CAST x * if_less(S, 0x1p-126, 0, rcp_approx(S))   # 2^-127 counts as zero\n",
     "fact byte 0 applies factor 0: the build flushes subnormals, so that 2^-127 compares equal to 0\n"},
    {"mxfp4/flashinfer", "e2m1", "source",
     "amax drop\n"
     "m = a * rcp_approx(6)\n"
     "scale e8m0:toward_positive,zero=min m\n"
     "code $CAST x * if_zero(m, 0, if_less(S, 0x1p-126, 1, 1 / S))\n",
     "fact byte 0 of a block that is not zero applies factor 1, not 2^127; a zero block applies factor 0\n"},
    {"mxfp4/vllm", "e2m1", "source",
     "amax drop\n"
     "p = pow2_floor(a)\n"
     "e = if_finite(a, if_less(a, p * 1.75, p, p * 2), 0x1p+128)   @f64\n"
     "scale e8m0:zero=min e * 0.25   @f64\n"
     "code $CAST x * (1 / S)\n",
     "fact (bits + 2^21) & 0xFF800000, exponent - 2: Inf counts as exponent 128, byte 253\nfact byte 0 decodes as 0\n",
     "v * if_less(S, 0x1p-126, 0, S)"},
    {"mxfp4/compressed_tensors", "e2m1", "source",
     "amax propagate\n"
     "b = to(bf16 a)\n"
     "p = pow2_floor(b)\n"
     "e = if_less(b, p * 1.75, p, p * 2)\n"
     "scale e8m0:overflow,zero=min e * 0.25\n"
     "code $CAST x / if_nan(S, inf, S)\n",
     "fact byte = clamp(floor(log2(e)) - 2 + 127, 0, 255): -Inf of a zero block gives 0, Inf and NaN give 255, which counts as 2^128\n",
     "v * if_nan(S, inf, S)"},
    {"mxfp4/compressed_tensors_torch", "e2m1", "source, run",
     "amax propagate\n"
     "p = pow2_floor(a)\n"
     "e = if_less(a, p * 1.75, p, p * 2)\n"
     "scale e8m0:overflow,zero=min e * 0.25\n"
     "y = x / if_nan(S, inf, S)\n"
     "code $CAST if_zero(y, 0, y)\n",
     "fact the package's later versions: the amax keeps the type of the tensor, a zero loses its sign (x * sign(x))\n"
     "fact byte = clamp(floor(log2(e)) - 2 + 127, 0, 255): -Inf of a zero block gives 0, Inf and NaN give 255, which counts as 2^128\n"
     "fact a NaN has no E2M1 code: the package casts it to an integer; here the largest number\n",
     "v * if_nan(S, inf, S)"},
    {"mxfp4/deepgemm", "e2m1", "source",
     "amax propagate\n"
     "scale e8m0:toward_positive if_nan(a, inf, max(a, 1e-4) / 6)   # bits: exponent + (mantissa != 0), clamped 1 .. 254\n"
     "y = x * (1 / S)\n"
     "m = abs(y)\n"
     "l = if_less(1.25, m, 1.5, if_less(0.75, m, 1, if_less(0.25, m, 0.5, 0)))\n"
     "q = if_less(5, m, 6, if_less(3.5, m, 4, if_less(2.5, m, 3, if_less(1.75, m, 2, l))))\n"
     "code $CAST if_nan(y, 6, if_zero(q, 0, if_less(y, 0, -q, q)))\n",
     "fact ties go toward zero; there is no -0; zero block: scale 2^-15\n"},
    {"mx/microxcaling", "e4m3 e5m2 e3m2 e2m3 e2m1", "source",
     "amax propagate\n"
     "l = floor(log2(if_zero(a, 0x1p-126, a))) - $EMAX\n"
     "scale e8m0:overflow,zero=min exp2(l)   # below -127 clamps, above 127 NaN\n"
     "code $AWAY x / S\n",
     "fact values only, nothing packed; rounding 'nearest' is half away from zero, its 'even' would be ties_to_even\n"},
});
// clang-format on

void replace_all(std::string& text, std::string_view mark, std::string_view by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

std::string expanded(std::string_view body, std::string_view facts, std::string_view value,
                     std::string_view element) {
  const Element& e = *std::find_if(kElements.begin(), kElements.end(),
                                   [&](const Element& each) { return each.name == element; });
  std::string text = "granularity group 32\n" + std::string(body) + "value " + std::string(value) + "\n" +
                     std::string(facts);
  if (body.find("$AWAY") == std::string_view::npos)
    text += "fact " + std::string(e.packing) + "\nfact scale layout linear, or 128x4 for matrix units\n";
  const std::string away = std::string(e.cast) + (e.cast == e.name ? ":" : ",") + "ties_to_away";
  const std::pair<std::string_view, std::string_view> marks[] = {
      {"$CAST", e.cast}, {"$AWAY", away}, {"$EMAX", e.emax}, {"$2EMAX", e.pow2},
      {"$MAX", e.max},   {"$RCP", e.rcp}, {"$TOP", e.top}};
  for (const auto& [mark, by] : marks) replace_all(text, mark, by);
  return text;
}

/// A row of the registry before its element is chosen.
struct Template {
  std::string name;
  std::string_view elements, mark, text, facts, value;
  std::string first_text;
};

const std::deque<Template>& templates() {
  static const std::deque<Template> all = [] {
    std::deque<Template> rows;
    for (const Family& family : kFamilies) {
      for (const Rule& rule : kRules) {
        rows.push_back({std::string(family.name) + "/" + std::string(rule.name),
                        family.elements,
                        rule.mark,
                        rule.text,
                        rule.facts,
                        "v * S",
                        {}});
      }
    }
    for (const Producer& p : kProducers)
      rows.push_back({std::string(p.name), p.elements, p.mark, p.text, p.facts, p.value, {}});
    for (Template& row : rows) {
      row.first_text =
          expanded(row.text, row.facts, row.value, row.elements.substr(0, row.elements.find(' ')));
    }
    return rows;
  }();
  return all;
}

const Template* find_template(std::string_view name) {
  for (const Template& row : templates()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const NamedRecipe> mx_recipes() {
  static const std::vector<NamedRecipe> all = [] {
    std::vector<NamedRecipe> rows;
    for (const Template& row : templates()) rows.push_back({row.name, row.first_text, row.mark});
    return rows;
  }();
  return all;
}

std::string_view mx_elements(std::string_view name) {
  const Template* row = find_template(name);
  return row == nullptr ? std::string_view{} : row->elements;
}

std::string mx_text(std::string_view name, std::string_view element) {
  const Template* row = find_template(name);
  return row == nullptr ? std::string{} : expanded(row->text, row->facts, row->value, element);
}

}  // namespace halfulp::recipes
