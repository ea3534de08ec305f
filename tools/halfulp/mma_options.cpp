// Options of `mma` and `gemm`; see mma_options.hpp.
#include "mma_options.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using accumulation::AccumulationModel;
using accumulation::ScaleOrder;
using accumulation::ZeroRule;

constexpr FormatSpec kF32 = spec_of("f32");

std::string number_or_dash(int value) { return value == 0 ? "-" : std::to_string(value); }

std::string scale_text(const AccumulationModel& model) {
  return model.scale.format.empty() ? "-" : std::string(model.scale.format) + "/" + std::to_string(model.scale.block);
}

std::string model_line(const AccumulationModel& model) {
  const auto cell = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 1, width), ' ');
    return text;
  };
  std::string inputs(model.inputs);
  if (inputs.size() > 30) inputs = "any float, int8, uint8";
  std::string line = cell(std::string(model.name), 21) + cell(inputs, 27) + cell(number_or_dash(model.chunk), 4) +
                     cell(number_or_dash(model.fraction_bits), 4) + cell(std::string(model.outputs), 9) + cell(scale_text(model), 10) +
                     cell(std::string(model.evidence), 6) + std::string(model.note);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

void add_mma_options(CLI::App& command, MmaOptions& options) {
  command.add_option("--model,-m", options.request.model, "Accumulation model or software order; --list shows them")->type_name("MODEL");
  command.add_option("--format,-f", options.format, "Format of a and b; the model's first if not given")->type_name("FORMAT");
  command.add_option("--format-a", options.format_a, "Format of a")->type_name("FORMAT");
  command.add_option("--format-b", options.format_b, "Format of b")->type_name("FORMAT");
  command.add_option("--output-format", options.request.output, "f32, f16 or int32: of c and of the result")->type_name("FORMAT");
  command
      .add_option("--interval", options.request.interval, "Promotion: sum every N products from zero, then add to an accumulator")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 30));
  command.add_option("--scale-order", options.scale_order, "Float32 scales of promoted pieces: scales_first or operand_first")
      ->type_name("ORDER")
      ->check(CLI::IsMember(std::vector<std::string>{"scales_first", "operand_first"}));
  command.add_flag("--contract", options.request.contract, "The last multiply and the add of a scaled piece are one fma");
  command.add_option("--zero-rule", options.zero_rule, "How zeros take part in the largest exponent: a (default) or b")
      ->type_name("RULE")
      ->check(CLI::IsMember(std::vector<std::string>{"a", "b"}));
  command.add_flag("--saturate", options.request.saturate, "int32: clamp after every chunk instead of wrapping");
  command.add_flag("--list", options.list, "List the models");
}

accumulation::MmaSpec spec_of_options(const MmaOptions& options) {
  if (options.request.model.empty()) {
    throw InputError("--model", "no model is named", "name one; `halfulp mma --list` shows them");
  }
  if (!options.format.empty() && (!options.format_a.empty() || !options.format_b.empty())) {
    throw InputError("--format", "it names both formats, beside --format-a or --format-b", "give one or the other");
  }
  accumulation::SpecRequest request = options.request;
  request.format_a = options.format.empty() ? options.format_a : options.format;
  request.format_b = options.format.empty() ? options.format_b : options.format;
  if (request.format_b.empty()) request.format_b = request.format_a;
  if (request.format_a.empty()) request.format_a = request.format_b;
  request.zero_rule = options.zero_rule == "b" ? ZeroRule::b : ZeroRule::a;
  if (!options.scale_order.empty()) {
    request.scale_order = options.scale_order == "scales_first" ? ScaleOrder::scales_first : ScaleOrder::operand_first;
  }
  return accumulation::make_spec(request);
}

int list_models(bool json) {
  Output output;
  if (!json) output.text() += "model                inputs                     n   F   outputs  scale     mark  note\n";
  for (const AccumulationModel& model : accumulation::models()) {
    if (!json) {
      output.text() += model_line(model);
      continue;
    }
    const nlohmann::ordered_json object = {{"name", model.name}, {"inputs", model.inputs}, {"outputs", model.outputs},
                                           {"chunk", model.chunk}, {"fraction_bits", model.fraction_bits},
                                           {"f32_fraction_bits", model.f32_fraction_bits}, {"scale_format", model.scale.format},
                                           {"scale_block", model.scale.block}, {"evidence", model.evidence}, {"note", model.note}};
    output.text() += object.dump() + "\n";
  }
  output.flush();
  return kPassed;
}

std::string hex8(std::uint32_t word) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

std::optional<std::uint32_t> exact_code(std::uint32_t f32_word, const FormatSpec& format) {
  const CastResult result = cast(kF32, f32_word, format, {.overflow = Overflow::overflow});
  const bool infinity = (f32_word & 0x7fffffff) == 0x7f800000;
  if (result.refusal != Refusal::none || (result.flags & (kInexact | kOverflow)) != 0 || (infinity && !format.has_infinity())) return std::nullopt;
  return static_cast<std::uint32_t>(result.code);
}

std::uint32_t c_word(std::uint32_t f32_word, accumulation::Output output) {
  using accumulation::Output;
  if (output == Output::f32) return f32_word;
  const FormatSpec& format = accumulation::format_of(output);
  const CastResult result = cast(kF32, f32_word, format, {.overflow = Overflow::overflow});
  const bool special = (f32_word & 0x7f800000) == 0x7f800000;
  if (output == Output::int32 && (result.refusal != Refusal::none || special || (result.flags & kOverflow) != 0)) {
    throw InputError("c", hex8(f32_word) + " is outside int32", "give float32 bits of an integer that fits");
  }
  return static_cast<std::uint32_t>(result.code);
}

}  // namespace halfulp::tool
