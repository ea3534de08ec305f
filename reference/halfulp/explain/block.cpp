// Explanations of recipes on a tensor; see block.hpp.
#include "halfulp/explain/block.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>

#include "halfulp/error.hpp"
#include "halfulp/explain/code_text.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/packing.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "halfulp/recipes/step_text.hpp"

namespace halfulp::explain {
namespace {

using oracle::Exact;
using oracle::Value;
using oracle::ValueClass;
using recipes::Op;
using recipes::QuantRecipe;
using recipes::Step;
using recipes::StepTrace;

double double_of(const Value& value) {
  return std::bit_cast<double>(
      oracle::nearest(value, spec_of("f64"), {.overflow = Overflow::overflow}).code);
}

/// `0x1.8p+3 = 12`, `0x1.99999ap-2 ≈ 0.4`; Inf, NaN and zeros as words.
std::string number_text(const Value& value) {
  if (value.cls == ValueClass::nan) return "nan";
  if (value.cls == ValueClass::infinity) return value.negative ? "-inf" : "inf";
  if (value.cls == ValueClass::zero) return value.negative ? "-0" : "0";
  const Exact number = value.number();
  const std::string decimal = oracle::to_decimal_string(number);
  const std::string hex = oracle::to_hex_float(number);
  if (!decimal.empty() && decimal.size() <= 12) return hex + " = " + decimal;
  char text[40];
  std::snprintf(text, sizeof text, "%.7g", double_of(value));
  return hex + " ≈ " + text;
}

/// An exact result: a fraction where that is short.
std::string exact_text(const Exact& number) {
  const Shown forms = shown(number);
  if (!forms.fraction.empty() && forms.fraction.size() <= 24) return forms.fraction;
  if (!forms.hex_float.empty() && forms.hex_float.size() <= 24) return forms.hex_float;
  return forms.decimal;
}

/// The result before its rounding, of operations on numbers.
std::optional<Exact> unrounded(const Step& step, const std::vector<Value>& in) {
  if (!std::all_of(in.begin(), in.end(), [](const Value& v) { return v.is_finite(); })) return std::nullopt;
  const auto x = [&](std::size_t i) { return in[i].number(); };
  switch (step.op) {
    case Op::add: return x(0) + x(1);
    case Op::subtract: return x(0) - x(1);
    case Op::multiply: return x(0) * x(1);
    case Op::divide: return in[1].cls == ValueClass::zero ? std::nullopt : std::optional(x(0) / x(1));
    case Op::fma: return x(0) * x(1) + x(2);
    case Op::reciprocal_approx:
      return in[0].cls == ValueClass::zero ? std::nullopt : std::optional(Exact(1) / x(0));
    case Op::cast: return x(0);
    default: return std::nullopt;
  }
}

std::string admissible_text(const Step& step, const std::vector<Value>& in, const Value& result) {
  if (!recipes::is_approximate(step.op)) return {};
  std::string text;
  for (const double other : recipes::admissible_results(step, double_of(in.at(0)))) {
    if (other == double_of(result) || other != other) continue;
    char word[40];
    std::snprintf(word, sizeof word, "%a", other);
    text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

class Explainer {
 public:
  explicit Explainer(const QuantRecipe& recipe) : recipe_(recipe) {
    given_ = {{recipe.A, "A"}, {recipe.LO, "LO"}, {recipe.HI, "HI"},
              {recipe.a, "a"}, {recipe.lo, "lo"}, {recipe.hi, "hi"}};
    for (const recipes::Input& input : recipe.inputs) {
      if (input.per != recipes::PerInput::table) given_[input.reg] = input.name;
    }
    if (recipe.transform_reg >= 0) given_[recipe.x] = "x";
    given_.erase(-1);
  }

  /// One step for element `i` (0 for tensor and block steps).
  ExplainedStep step(const StepTrace& trace, std::size_t i) const {
    const recipes::StepText text = recipes::step_text(recipe_, *trace.step);
    std::vector<Value> in;
    for (const auto& operand : trace.operands) in.push_back(at(operand, i));
    const Value& result = at(trace.results, i);
    ExplainedStep out{text.result, text.operation, "", number_text(result), "", ""};
    const std::optional<Exact> before =
        recipes::is_collective(trace.step->op) ? std::nullopt : unrounded(*trace.step, in);
    if (before && (!result.is_finite() || *before != result.number())) out.exact = exact_text(*before);
    if (!out.exact.empty())
      out.rounded_to = (text.precision.empty() ? trace.step->target_name : text.precision) +
                       (text.rounding.empty() ? "" : ", " + text.rounding);
    if (!recipes::is_collective(trace.step->op)) out.admissible = admissible_text(*trace.step, in, result);
    return out;
  }

  /// Given values that this step reads for the first time in its block: one for all, or one per element.
  void add_given(const StepTrace& trace, std::vector<ExplainedStep>& shared,
                 std::vector<ExplainedElement>& elements) {
    for (std::size_t i = 0; i < trace.operands.size(); ++i) {
      const int reg = trace.step->operands[i];
      const auto name = given_.find(reg);
      if (name == given_.end() || seen_[reg]) continue;
      seen_[reg] = true;
      const std::string made = reg == recipe_.x ? recipe_.transform_steps.back().text : "";
      const auto given = [&](const Value& value) {
        return ExplainedStep{name->second, made, "", number_text(value), "", ""};
      };
      const bool each = trace.operands[i].size() != 1 || reg == recipe_.x;
      for (std::size_t n = 0; each && n < elements.size(); ++n)
        elements[n].steps.push_back(given(at(trace.operands[i], n)));
      if (!each) shared.push_back(given(trace.operands[i][0]));
    }
  }
  void next_block() { seen_.clear(); }

 private:
  static const Value& at(const std::vector<Value>& values, std::size_t i) {
    return values.size() == 1 ? values[0] : values.at(i);
  }

  const QuantRecipe& recipe_;
  std::map<int, std::string> given_;
  std::map<int, bool> seen_;
};

/// A stored code in the text form of `halfulp quantize`: integers in decimal, all else in hexadecimal.
std::string stored_text(const QuantRecipe& recipe, const recipes::Stored& stored, std::uint64_t code) {
  const bool is_index = &stored == &recipe.code && std::any_of(recipe.value_steps.begin(), recipe.value_steps.end(), [](const recipes::Step& step) {
    return step.op == recipes::Op::entry;
  });
  if (stored.format.encoding != Encoding::twos_complement || is_index) return code_text(stored.format, code);
  const int width = stored.format.width;
  const bool negative = stored.format.is_signed && (code >> (width - 1) & 1) != 0;
  return std::to_string(static_cast<std::int64_t>(code) - (negative ? std::int64_t{1} << width : 0));
}

/// The order in which the recipe packs its codes, from what its facts say; empty for codes of whole words.
std::optional<Packing> packing_of(const QuantRecipe& recipe) {
  const auto says = [&](const char* words) {
    return std::any_of(recipe.facts.begin(), recipe.facts.end(),
                       [&](const std::string& fact) { return fact.find(words) != std::string::npos; });
  };
  const int width = recipe.code.format.width;
  if (width > 8) return std::nullopt;
  if (says("ggml_half") && packs(Packing::ggml_half, width)) return Packing::ggml_half;
  if (says("packed in int32")) return Packing::int32_little;
  return width < 8 && packs(Packing::low_first, width) ? Packing::low_first : Packing::byte_low_bits;
}

void add_packed(const QuantRecipe& recipe, const std::vector<std::uint64_t>& codes, ExplainedBlock& block) {
  const std::optional<Packing> packing = packing_of(recipe);
  if (!packing) return;
  block.packing = packing_name(*packing);
  std::vector<std::uint8_t> bytes(packed_bytes(*packing, recipe.code.format.width, codes.size()));
  pack<std::uint64_t>(*packing, recipe.code.format.width, codes, bytes);
  for (const std::uint8_t byte : bytes) {
    char text[4];
    std::snprintf(text, sizeof text, "%02x", byte);
    block.packed += (block.packed.empty() ? "" : " ") + std::string(text);
  }
}

void add_error(const Value& input, const Value& value, ExplainedElement& element) {
  if (!input.is_finite() || !value.is_finite()) return;
  const Exact error = value.number() - input.number();
  element.error = exact_text(error);
  if (input.cls == ValueClass::zero) return;
  char text[40];
  std::snprintf(text, sizeof text, "%+.3g %%",
                100 * double_of(oracle::value_from(error / input.number().abs())));
  element.relative = text;
}

std::string range_text(const char* what, std::int64_t first, std::int64_t count) {
  return std::string(what) + (count == 1 ? " " : "s ") + std::to_string(first) +
         (count == 1 ? "" : ".." + std::to_string(first + count - 1));
}

}  // namespace

BlockExplanation explain_block(const QuantRecipe& recipe, const recipes::TensorView& tensor,
                               const recipes::Inputs& inputs) {
  const auto count = static_cast<std::int64_t>(tensor.values.size());
  if (count == 0) throw InputError("tensor", "it is empty", "give at least one value");
  if (count > kMostExplained)
    throw InputError("tensor", std::to_string(count) + " values are too many to explain one by one",
                     "give at most " + std::to_string(kMostExplained));
  BlockExplanation out;
  out.recipe = recipe.name;
  out.granularity = recipes::granularity_text(recipe);
  out.rows = tensor.rows;
  out.columns = tensor.columns;
  if (!recipe.value_steps.empty()) out.value_rule = recipe.value_steps.back().text;
  out.facts = recipe.facts;
  const recipes::Blocks blocks = recipes::blocks_of(recipe, tensor.rows, tensor.columns);
  out.blocks.resize(static_cast<std::size_t>(blocks.count()));
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const auto range = blocks[i];
    ExplainedBlock& block = out.blocks[static_cast<std::size_t>(i)];
    block.index = static_cast<std::size_t>(i);
    block.place =
        range_text("row", range.row, range.rows) + ", " + range_text("column", range.column, range.columns);
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        ExplainedElement& element = block.elements.emplace_back();
        element.row = r;
        element.column = c;
      }
    }
  }

  Explainer explainer(recipe);
  std::int64_t current = -1;
  const recipes::Quantized q = recipes::observe_exact(recipe, tensor, inputs, [&](const StepTrace& trace) {
    if (trace.step->op == Op::constant) return;
    if (trace.block != current) explainer.next_block();
    current = trace.block;
    std::vector<ExplainedElement> none;
    const auto block = static_cast<std::size_t>(trace.block);
    std::vector<ExplainedStep>& shared = trace.block < 0 ? out.tensor_steps : out.blocks[block].steps;
    std::vector<ExplainedElement>& elements = trace.block < 0 ? none : out.blocks[block].elements;
    explainer.add_given(trace, shared, elements);
    if (trace.step->scope != recipes::Scope::element) {
      shared.push_back(explainer.step(trace, 0));
      return;
    }
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i].steps.push_back(explainer.step(trace, i));
  });
  if (q != recipes::quantize(recipe, tensor, inputs))
    throw std::logic_error("internal: the engine and its exact twin differ; please report this");

  const std::vector<Value> values = recipes::dequantize_exact(recipe, q, inputs);
  if (q.tensor_scale) out.tensor_scale = code_text(recipe.tensor_scale.format, *q.tensor_scale);
  for (std::size_t b = 0; b < out.blocks.size(); ++b) {
    ExplainedBlock& block = out.blocks[b];
    if (!q.scales.empty()) block.scale = code_text(recipe.scale.format, q.scales[b]);
    if (!q.zeros.empty()) block.zero = code_text(recipe.zero.format, q.zeros[b]);
    std::vector<std::uint64_t> codes;
    for (ExplainedElement& element : block.elements) {
      const auto i = static_cast<std::size_t>(element.row * tensor.columns + element.column);
      const Value input = oracle::value_of(spec_of("f64"), std::bit_cast<std::uint64_t>(tensor.values[i]));
      element.input = number_text(input);
      element.code = code_text(recipe.code.format, q.codes[i]);
      element.value = number_text(values[i]);
      element.kept = std::any_of(q.kept.begin(), q.kept.end(), [&](const recipes::Kept& k) {
        return k.index == static_cast<std::int64_t>(i);
      });
      if (recipe.transform_reg < 0)
        add_error(input, values[i], element);  // else values are those of the transformed elements
      codes.push_back(q.codes[i]);
    }
    add_packed(recipe, codes, block);
    block.stored = q.scales.empty() ? "-" : block.scale;
    if (!q.zeros.empty()) block.stored += ":" + stored_text(recipe, recipe.zero, q.zeros[b]);
    for (const std::uint64_t code : codes) block.stored += " " + stored_text(recipe, recipe.code, code);
  }
  return out;
}

}  // namespace halfulp::explain
