// `halfulp thresholds`: the step function of a cast, one run of source codes per line, streaming.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"
#include "halfulp/thresholds.hpp"
#include "policy_options.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp thresholds --from f32 --to e2m1\n"
    "  halfulp thresholds --from bf16 --to e4m3 --rounding toward_zero --overflow overflow --json";

/// Prints runs; counts those that the policy refuses.
class StepPrinter {
 public:
  StepPrinter(const CastPlan& plan, bool json)
      : plan_(plan), json_(json), value_texts_(plan.to, append_decimal) {}

  void operator()(const Step& step) {
    if (step.result.refusal != Refusal::none) {
      ++refused_;
      refusal_ = step.result.refusal;
      return;
    }
    ++printed_;
    std::string& text = output_.text();
    append_code(text += json_ ? "{\"code\":\"" : "", plan_.to, step.result.code);
    text.append(json_ ? "\",\"value\":\"" : " ").append(value_texts_(step.result.code));
    append_code(text += json_ ? "\",\"first\":\"" : " ", *plan_.from, step.first);
    append_code(text += json_ ? "\",\"last\":\"" : " ", *plan_.from, step.last);
    if (json_)
      text.append("\",\"tie\":").append(step.upper_tie ? "true}\n" : "false}\n");
    else
      text.append(step.upper_tie ? " yes\n" : " no\n");
    output_.line_done();
  }

  int finish(bool quiet) {
    output_.flush();
    if (refused_ > 0 && !quiet) {
      const auto [why, mend] = refusal_text(refusal_);
      std::fprintf(stderr, "halfulp: %" PRIu64 " run%s of refused values left out: %.*s; %.*s\n", refused_,
                   refused_ == 1 ? "" : "s", static_cast<int>(why.size()), why.data(),
                   static_cast<int>(mend.size()), mend.data());
    }
    return printed_ > 0 ? kPassed : kIncomplete;
  }

 private:
  const CastPlan& plan_;
  bool json_;
  ValueTexts value_texts_;
  Output output_;
  std::uint64_t printed_ = 0;
  std::uint64_t refused_ = 0;
  Refusal refusal_ = Refusal::none;
};

int run_thresholds(const CastRequest& request, const Globals& globals) {
  const CastPlan plan = make_plan(request);
  if (!plan.from)
    throw InputError("--from exact", "thresholds are codes of a source format",
                     "name one, e.g. --from f32");
  if (plan.policy.rounding == Rounding::stochastic && !plan.random) {
    throw InputError("rounding stochastic", "each random word has thresholds of its own",
                     "add --sr-random HEX");
  }
  StepPrinter print(plan, globals.json);
  for_each_step(
      OrderedCodes(*plan.from), [&plan](std::uint64_t word) { return plan(word); },
      [&print](const Step& step) { print(step); });
  return print.finish(globals.quiet);
}

}  // namespace

void add_thresholds(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command =
      app.add_subcommand("thresholds", "Print a cast as a step function: CODE VALUE FIRST LAST TIE");
  const auto request = std::make_shared<CastRequest>();
  command->add_option("--from,-f", request->from, "Source format")->type_name("FORMAT")->required();
  command->add_option("--to,-t", request->to, "Target format")->type_name("FORMAT")->required();
  add_policy_options(*command, *request);
  command->footer([] { return dialect_list() + "\n\n" + kExamples; });
  command->callback([request, &globals, &runner] {
    runner = [request, &globals] { return run_thresholds(*request, globals); };
  });
}

}  // namespace halfulp::tool
