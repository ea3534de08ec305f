// `halfulp decode`: the exact value of each code, streaming.
#include <memory>

#include "commands.hpp"
#include "halfulp/names.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

struct DecodeOptions {
  std::string format;
  bool hex_float = false;
  std::vector<std::string> codes;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp decode e4m3 0x01 0x7e 0x7f\n"
    "  halfulp decode f32 --hex-float 0x3dcccccd\n"
    "  printf '0x38\\n0xb8\\n' | halfulp decode e4m3 --json";

int run_decode(const DecodeOptions& options, const Globals& globals) {
  const Format format = require_format(options.format);
  ValueTexts decimals(format.spec, append_decimal);
  ValueTexts hex_floats(format.spec, append_hex_float);
  Output output;
  return for_each_value(options.codes, output, globals.quiet, [&](std::string_view input, std::uint64_t) {
    const std::uint64_t word = parse_code(input, format);
    std::string& text = output.text();
    if (globals.json) {
      append_code(text += "{\"code\":\"", format.spec, word);
      text.append("\",\"value\":\"").append(decimals(word));
      text.append("\",\"hex_float\":\"").append(hex_floats(word));
      text.append("\",\"class\":\"").append(name_of(unpack(format.spec, word).number_class)).append("\"}");
    } else {
      text += (options.hex_float ? hex_floats : decimals)(word);
    }
    text += '\n';
    output.line_done();
  });
}

}  // namespace

void add_decode(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("decode", "Print the exact value of codes");
  const auto options = std::make_shared<DecodeOptions>();
  command->add_option("FORMAT", options->format, "Format of the codes")->type_name("")->required();
  command->add_flag("--hex-float", options->hex_float, "Print 0x1p-9 instead of 0.001953125");
  add_values(*command, options->codes, "CODE", "Codes as 0x…. None: one per line on stdin");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_decode(*options, globals); };
  });
}

}  // namespace halfulp::tool
