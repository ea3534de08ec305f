// `halfulp diff` of two casts.
#include <nlohmann/json.hpp>

#include "diff.hpp"
#include "halfulp/recipes/cast_difference.hpp"
#include "halfulp/text.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

struct Side {
  std::string spec;
  CastPlan plan;
  CastResult result;
};

std::string value_text(const FormatSpec& spec, std::uint64_t word) {
  std::string text;
  append_decimal(text, unpack(spec, word));
  return text;
}
std::string hex_text(const FormatSpec& spec, std::uint64_t word) {
  std::string text;
  append_hex_float(text, unpack(spec, word));
  return text;
}
std::string answer_text(const Side& side) {
  if (side.result.refusal != Refusal::none) return "refused: " + std::string(refusal_text(side.result.refusal).first);
  return code_text(side.plan.to, side.result.code) + " = " + value_text(side.plan.to, side.result.code);
}

/// The command that gives this side's answer.
std::string command_text(const Side& side, std::uint64_t word) {
  std::string text = "halfulp cast --from " + side.plan.from_name + " --to " + side.plan.to_name;
  if (!side.plan.dialect.empty()) text += " --dialect " + side.plan.dialect;
  for (const auto& [key, value] : side.plan.options) text += " --" + key + " " + value;
  return text + " " + code_text(*side.plan.from, word);
}

std::string_view how_text(const recipes::CastDifference& d) {
  switch (d.how) {
    case recipes::CastSearch::all: return "every source code";
    case recipes::CastSearch::walk: return "walk of both step functions, monotone on each side of zero";
    case recipes::CastSearch::sampled: break;
  }
  return "random source codes";
}

std::string counts_text(const recipes::CastDifference& d) {
  return std::to_string(d.differing) + " of " + std::to_string(d.compared) + " numbers and " + std::to_string(d.differing_nan) +
         " of " + std::to_string(d.compared_nan) + " NaN codes";
}

Json to_json(const recipes::CastDifference& d, const Side& a, const Side& b) {
  Json json = {{"a", a.spec}, {"b", b.spec}, {"found", d.found}, {"complete", d.complete}, {"search", how_text(d)},
               {"compared", d.compared}, {"differing", d.differing}, {"compared_nan", d.compared_nan},
               {"differing_nan", d.differing_nan}};
  if (!d.found) return json;
  json["input"] = code_text(*a.plan.from, d.word);
  json["value"] = hex_text(*a.plan.from, d.word);
  for (const auto& [key, side] : {std::pair{"answer_a", &a}, std::pair{"answer_b", &b}}) {
    if (side->result.refusal != Refusal::none) {
      json[key] = {{"refused", refusal_text(side->result.refusal).first}};
    } else {
      json[key] = {{"code", code_text(side->plan.to, side->result.code)}, {"value", value_text(side->plan.to, side->result.code)}};
    }
    json[key]["command"] = command_text(*side, d.word);
  }
  return json;
}

}  // namespace

int diff_casts(const DiffOptions& options, const Globals& globals) {
  if (options.search == "all" && options.most != 0)
    throw InputError("--max " + std::to_string(options.most), "--search all tries every source code of casts", "leave out one of the two");
  Side a{options.a, make_plan(parse_cast_spec(options.a)), {}}, b{options.b, make_plan(parse_cast_spec(options.b)), {}};
  a.spec = spec_text(a.plan);
  b.spec = spec_text(b.plan);
  using recipes::CastSearch;
  const CastSearch how = options.search == "random" ? CastSearch::sampled
                         : options.search == "all"  ? CastSearch::all
                                                    : CastSearch::walk;
  const recipes::CastDifference d =
      recipes::compare_casts(a.plan, b.plan, how, options.most != 0 ? options.most : std::uint64_t{1} << 22, globals.thread_count());
  a.result = d.a;
  b.result = d.b;

  Output output;
  std::string& text = output.text();
  if (globals.json) {
    text += to_json(d, a, b).dump() + "\n";
  } else {
    text += "A  " + a.spec + "\nB  " + b.spec + "\n";
    if (d.found) {
      text += "input  " + code_text(*a.plan.from, d.word) + " = " + hex_text(*a.plan.from, d.word) + " (smallest that differs" +
              (d.complete ? "" : " of those compared") + ")\n";
      text += "A  " + answer_text(a) + "\nB  " + answer_text(b) + "\n";
      text += "differ  " + counts_text(d) + "\n";
    } else {
      text += std::string(d.complete ? "equal  " : "none found  ") + std::to_string(d.compared) + " numbers and " +
              std::to_string(d.compared_nan) + " NaN codes compared\n";
    }
    text += "search  " + std::string(how_text(d)) + (d.complete ? "\n" : "; not every code\n");
    if (d.found) text += "$ " + command_text(a, d.word) + "\n$ " + command_text(b, d.word) + "\n";
  }
  output.flush();
  return d.found ? kMismatch : d.complete && d.compared > 0 ? kPassed : kIncomplete;
}

}  // namespace halfulp::tool
