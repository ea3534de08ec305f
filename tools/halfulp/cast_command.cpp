// `halfulp cast`: one code per value, streaming.
#include <memory>

#include "commands.hpp"
#include "halfulp/names.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"
#include "policy_options.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

struct CastOptions {
  CastRequest request;
  bool values = false;
  bool flags = false;
  std::vector<std::string> inputs;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp cast --to e4m3 0.1 -0.5 2^-9 inf\n"
    "  halfulp cast --from f32 --to e5m2 --overflow overflow --values --flags 0x477fffff\n"
    "  printf '1.3\\n-3/32\\n' | halfulp cast --to e2m1 --rounding toward_zero --json";

/// The cast of values as they are written.
class TextCast {
 public:
  explicit TextCast(const CastRequest& request) : plan_(make_plan(request)) {
    if (plan_.from) source_ = require_format(plan_.from_name);
  }

  const FormatSpec& to() const { return plan_.to; }

  /// Throws InputError where `text` is not a value or the policy has no answer for it.
  CastResult operator()(std::string_view text, std::uint64_t index) const {
    const CastResult result = cast_text(text, index);
    if (result.refusal != Refusal::none) {
      const auto [why, mend] = refusal_text(result.refusal);
      throw InputError("value " + quoted(text) + " into " + plan_.to_name, std::string(why),
                       std::string(mend));
    }
    return result;
  }

 private:
  CastResult cast_text(std::string_view text, std::uint64_t index) const {
    if (is_code(text)) {
      if (!source_)
        throw InputError("code " + quoted(text), "its format is not named",
                         "add --from FORMAT, e.g. --from f32");
      return plan_(parse_code(text, *source_), index);
    }
    const ExactUnpacked value = read_literal(text);
    return source_ ? plan_(read_literal_as(value, *source_, text), index) : plan_(value, index);
  }

  CastPlan plan_;
  std::optional<Format> source_;  ///< empty: exact literals
};

void append_flags(std::string& text, std::uint8_t flags) {
  bool any = false;
  for (const auto& entry : kNames<Flag>) {
    if ((flags & entry.value) == 0) continue;
    text.append(any ? "," : "").append(entry.name);
    any = true;
  }
  if (!any) text += '-';
}

void append_json(std::string& text, std::string_view input, const CastResult& result, const FormatSpec& to,
                 ValueTexts& value_texts) {
  text += "{\"input\":";
  append_json_string(text, input);
  text += ",\"code\":\"";
  append_code(text, to, result.code);
  text.append("\",\"value\":\"").append(value_texts(result.code)).append("\",\"flags\":[");
  bool any = false;
  for (const auto& entry : kNames<Flag>) {
    if ((result.flags & entry.value) == 0) continue;
    text.append(any ? ",\"" : "\"").append(entry.name).append("\"");
    any = true;
  }
  text += "]}";
}

int run_cast(const CastOptions& options, const Globals& globals) {
  const TextCast cast_text(options.request);
  ValueTexts value_texts(cast_text.to(), append_decimal);
  Output output;
  return for_each_value(options.inputs, output, globals.quiet,
                        [&](std::string_view input, std::uint64_t index) {
                          const CastResult result = cast_text(input, index);
                          std::string& text = output.text();
                          if (globals.json) {
                            append_json(text, input, result, cast_text.to(), value_texts);
                          } else {
                            append_code(text, cast_text.to(), result.code);
                            if (options.values) text.append(" ").append(value_texts(result.code));
                            if (options.flags) append_flags(text += ' ', result.flags);
                          }
                          text += '\n';
                          output.line_done();
                        });
}

}  // namespace

void add_cast(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("cast", "Cast values to a format, one code per line");
  const auto options = std::make_shared<CastOptions>();
  command->add_option("--to,-t", options->request.to, "Target format")->type_name("FORMAT")->required();
  command
      ->add_option("--from,-f", options->request.from,
                   "Source format, or exact: literals rounded once (default)")
      ->type_name("FORMAT");
  command->add_flag("--values", options->values, "Add the exact decimal value");
  command->add_flag("--flags", options->flags,
                    "Add inexact, overflow, underflow, tie, subnormal, or - for none");
  add_policy_options(*command, options->request);
  add_values(*command, options->inputs, "VALUE",
             "Codes (0x…, with --from) or literals: 0.1, 0x1.8p-3, 3/32, 2^-9, inf, nan. None: one per "
             "line on stdin");
  command->footer([] { return dialect_list() + "\n\n" + kExamples; });
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_cast(*options, globals); };
  });
}

}  // namespace halfulp::tool
