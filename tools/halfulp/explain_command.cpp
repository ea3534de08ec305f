// `halfulp explain` and `explain value`: why a value gets its code. The explanation is the oracle's; the integer engine must agree.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "explain.hpp"
#include "files.hpp"
#include "halfulp/explain/render.hpp"
#include "halfulp/explain/value.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"
#include "policy_options.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

struct ExplainOptions {
  CastRequest request;
  std::string scale;
  std::string html;
  std::vector<std::string> inputs;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp explain value --to e4m3 0.01\n"
    "  halfulp explain value --to e4m3 --scale 15/56 -45 --color always\n"
    "  halfulp explain value --from f32 --to e5m2 --overflow overflow 0x476fffff --json";
constexpr char kAllExamples[] =
    "Examples:\n"
    "  halfulp explain value --to e4m3 0.01\n"
    "  halfulp explain block --recipe nvfp4/torchao 6 0.4 -0.02\n"
    "  halfulp explain lesson kivi";

oracle::Exact read_exact(const std::string& text) {
  std::string why;
  const auto number = oracle::parse_exact(trimmed(text), &why);
  if (!number) throw InputError("scale " + quoted(text), why, "write e.g. 0.1, 0x1.8p-3, 3/32 or 2^-9");
  return *number;
}

/// The value that is cast, where it comes from, and the scale.
struct Subject {
  oracle::Value value;
  std::string source = "exact";
  std::optional<oracle::Exact> scale;
};

Subject read_subject(const std::string& input, const CastPlan& plan, const std::string& scale) {
  Subject subject;
  if (plan.from) {
    const Format source = require_format(plan.from_name);
    const std::uint64_t word =
        is_code(input) ? parse_code(input, source) : read_literal_as(read_literal(input), source, input);
    subject.value = oracle::value_of(source.spec, word);
    subject.source = plan.from_name + " " + code_text(source.spec, word);
  } else {
    if (is_code(input)) throw InputError("code " + quoted(input), "its format is not named", "add --from FORMAT, e.g. --from f32");
    std::string why;
    const auto value = oracle::parse_value(input, &why);
    if (!value) throw InputError("value " + quoted(input), why, "write e.g. 0.1, 0x1.8p-3, 3/32, 2^-9, inf or nan");
    subject.value = *value;
  }
  if (!scale.empty()) {
    subject.scale = read_exact(scale);
    if (subject.scale->sign() <= 0) throw InputError("scale " + quoted(scale), "not positive", "give the scale that x is divided by");
  }
  return subject;
}

/// The two engines must agree on what is explained; otherwise nothing is printed.
void check_twin(const Subject& subject, const CastPlan& plan, const std::string& input, std::uint64_t index,
                const std::string& code) {
  if (subject.scale) return;  // the quotient is a rational number that the integer engine does not read
  const CastResult engine =
      plan.from && is_code(input) ? plan(parse_code(input, require_format(plan.from_name)), index)
      : plan.from ? plan(read_literal_as(read_literal(input), require_format(plan.from_name), input), index)
                  : plan(read_literal(input), index);
  const std::string answer = engine.refusal == Refusal::none ? code_text(plan.to, engine.code) : "";
  if (answer != code) {
    throw std::logic_error("internal: the integer engine gives " + (answer.empty() ? "a refusal" : answer) + " and the oracle " +
                           (code.empty() ? "a refusal" : code) + " for " + quoted(input) + "; please report this");
  }
}

nlohmann::ordered_json shown_json(const explain::Shown& s) {
  return {{"fraction", s.fraction}, {"decimal", s.decimal}, {"hex_float", s.hex_float}};
}

nlohmann::ordered_json to_json(const explain::ValueExplanation& e) {
  nlohmann::ordered_json j = {{"input", e.input}, {"source", e.source}, {"format", e.format}, {"standard", e.standard},
                              {"policy", e.policy}, {"x", shown_json(e.x)}, {"code", e.code}, {"class", e.value_class},
                              {"value", shown_json(e.value)}, {"formula", e.formula}, {"error", e.error},
                              {"flags", nlohmann::ordered_json::array()}, {"rule", e.rule}};
  for (std::size_t at = 0; e.flags != "-" && at < e.flags.size();) {
    const std::size_t comma = std::min(e.flags.find(',', at), e.flags.size());
    j["flags"].push_back(e.flags.substr(at, comma - at));
    at = comma + 1;
  }
  if (e.scale) j["scale"] = shown_json(*e.scale);
  if (e.unscaled) j["unscaled"] = shown_json(*e.unscaled);
  if (e.rescaled) j["rescaled"] = shown_json(*e.rescaled);
  for (const explain::Field& f : e.fields) j["fields"].push_back({{"name", f.name}, {"bits", f.bits}, {"meaning", f.meaning}});
  const auto neighbour = [](const explain::Neighbour& n) {
    return nlohmann::ordered_json{{"code", n.code.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(n.code)}, {"value", shown_json(n.value)}, {"distance_in_gaps", n.distance}};
  };
  if (e.near) j["neighbour_toward_zero"] = neighbour(*e.near);
  if (e.far) j["neighbour_away_from_zero"] = neighbour(*e.far);
  if (e.interval) {
    j["same_code_for"] = {{"low", e.interval->low}, {"low_closed", e.interval->low_closed}, {"high", e.interval->high},
                          {"high_closed", e.interval->high_closed}};
  }
  for (const explain::Alternative& a : e.alternatives) {
    j["alternatives"].push_back({{"rounding", a.rounding}, {"overflow", a.overflow}, {"code", a.code}, {"value", a.value}});
  }
  for (const explain::Reading& r : e.siblings) j["siblings"].push_back({{"format", r.format}, {"value", r.value}});
  return j;
}

int run_explain_value(const ExplainOptions& options, const Globals& globals) {
  const CastPlan plan = make_plan(options.request);
  if (plan.via) throw InputError("via", "an intermediate format is not explained in one step", "explain the two casts one after the other");
  if (options.inputs.empty()) throw InputError("value", "none is given", "write e.g. halfulp explain value --to e4m3 0.01");
  if (!options.html.empty() && options.inputs.size() > 1) {
    throw InputError("html", "a page holds one value", "give one value with --html");
  }
  Output output;
  for (std::uint64_t index = 0; index < options.inputs.size(); ++index) {
    const std::string& input = options.inputs[index];
    const Subject subject = read_subject(input, plan, options.scale);
    const Format to = require_format(plan.to_name);
    explain::ValueExplanation e =
        explain::explain_value(input, subject.source, subject.value, subject.scale, to, plan.policy, plan.random_word(index));
    if (!plan.dialect.empty()) e.policy = "@" + plan.dialect + ": " + e.policy;
    check_twin(subject, plan, input, index, e.code);
    if (e.refusal != Refusal::none) {
      output.flush();
      const auto [why, mend] = refusal_text(e.refusal);
      throw InputError("value " + quoted(input) + " into " + plan.to_name, std::string(why), std::string(mend));
    }
    if (!options.html.empty()) write_file(options.html, explain::to_html(e));
    if (globals.json) output.text() += to_json(e).dump() + "\n";
    else if (options.html.empty()) output.text() += explain::to_text(e, globals.use_color(STDOUT_FILENO));
    output.line_done();
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_explain(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* explain = app.add_subcommand("explain", "Explain a value (its code, its neighbours, the rule that decided), a block of a recipe, or an element of attention");
  explain->require_subcommand(1);
  CLI::App* command = explain->add_subcommand("value", "One value cast to a format");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("--to,-t", options->request.to, "Target format")->type_name("FORMAT")->required();
  command->add_option("--from,-f", options->request.from, "Source format, or exact (default)")->type_name("FORMAT");
  command->add_option("--scale", options->scale, "Divide by this first, exactly; the code's value is multiplied back")
      ->type_name("S");
  command->add_option("--html", options->html, "Write one self-contained page instead of text")->type_name("FILE");
  add_policy_options(*command, options->request);
  add_values(*command, options->inputs, "VALUE", "Codes (0x…, with --from) or literals");
  command->footer(kExamples);
  add_explain_block(*explain, globals, runner);
  add_explain_attention(*explain, globals, runner);
  add_explain_lesson(*explain, globals, runner);
  explain->footer(kAllExamples);
  command->callback([options, &globals, &runner] { runner = [options, &globals] { return run_explain_value(*options, globals); }; });
}

}  // namespace halfulp::tool
