// `halfulp diff` of two recipes: a small telling block, both answers, the step at which they part; with `--search all` one
// block of every kind that was searched.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <sstream>
#include <utility>

#include "diff.hpp"
#include "halfulp/error.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/same_steps.hpp"
#include "halfulp/recipes/witness.hpp"
#include "quantize_text.hpp"
#include "recipe_spec.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;
using recipes::QuantRecipe;

using Side = RecipeSpec;

std::string hex(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string joined(std::span<const double> values) {
  std::string text;
  for (const double x : values) text += (text.empty() ? "" : " ") + hex(x);
  return text;
}

/// As `halfulp quantize --values` prints it, each block's values on its line.
std::vector<std::string> answer_lines(const QuantRecipe& recipe, const recipes::Specimen& specimen, const recipes::RecipeAnswer& answer) {
  if (!answer.refused.empty()) return {"refused: " + answer.refused};
  const BlockText form(recipe);
  std::string text;
  form.append_head(text, answer.quantized);
  const std::vector<bool> marked = recipes::lines_that_could_differ(recipe, specimen.view(), recipes::inputs_of(recipe, specimen));
  form.append_blocks(text, answer.quantized, marked, answer.values);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("= ") && !lines.empty()) lines.back() += " " + line;
    else lines.push_back(line);
  }
  return lines;
}

/// One text per row of the specimen.
std::vector<std::string> row_texts(const recipes::Specimen& specimen) {
  const recipes::TensorView view = specimen.view();
  const auto columns = static_cast<std::size_t>(view.columns);
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(view.rows); ++row)
    rows.push_back(joined(view.values.subspan(row * columns, columns)));
  return rows;
}

std::string command_text(const Side& side, const recipes::Specimen& specimen) {
  std::string text = "printf '%s\\n'";  // the format first: a value may begin with a minus
  for (const std::string& row : row_texts(specimen)) text += " '" + row + "'";
  text += " | halfulp quantize --recipe " + side.name + " --input - --output - --values";
  if (!side.to.empty()) text += " --to " + side.to;
  if (!side.block.empty()) text += " --block " + side.block;
  for (const auto& [name, values] : recipes::inputs_of(side.recipe, specimen)) {
    std::string list;
    for (const double x : values) list += (list.empty() ? "" : ",") + hex(x);
    if (name == recipes::kTensorAmax) text += " --tensor-amax " + list;
    else text += " --set " + name + "=" + list;
  }
  return text;
}

std::string input_text(const recipes::Specimen& specimen) {
  const recipes::TensorView view = specimen.view();
  if (view.rows == 1) return "one row: " + joined(specimen.values);
  if (view.columns == 1) return "one column: " + joined(specimen.values);
  std::string text = std::to_string(view.rows) + " x " + std::to_string(view.columns) + ": ";
  bool first = true;
  for (const std::string& row : row_texts(specimen)) text += (std::exchange(first, false) ? "" : "; ") + row;
  return text;
}

std::string tried_text(const recipes::WitnessSearch& search) {
  std::string text;
  for (std::size_t i = 0; i < search.tried.size(); ++i) {
    if (search.tried[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(search.tried[i]) + " " + recipes::kWitnessKinds[i];
  }
  return text;
}

Json witness_json(const recipes::Witness& w, const Side& a, const Side& b) {
  Json json = {{"found_among", recipes::kWitnessKinds[static_cast<std::size_t>(w.kind)]}};
  for (const double x : w.specimen.values) json["input"].push_back(hex(x));
  json["column"] = w.specimen.width == 1;
  json["shape"] = {w.specimen.view().rows, w.specimen.view().columns};
  if (w.specimen.tensor_amax) json["tensor_amax"] = hex(*w.specimen.tensor_amax);
  json["step"] = {{"role", w.parting.role}, {"a", w.parting.step_a}, {"b", w.parting.step_b},
                  {"result_a", hex(w.parting.result_a)}, {"result_b", hex(w.parting.result_b)}};
  json["answer_a"] = answer_lines(a.recipe, w.specimen, w.a);
  json["answer_b"] = answer_lines(b.recipe, w.specimen, w.b);
  json["command_a"] = command_text(a, w.specimen);
  json["command_b"] = command_text(b, w.specimen);
  return json;
}

std::string witness_text(const recipes::Witness& w, const Side& a, const Side& b) {
  std::string text = "input  " + input_text(w.specimen) + "\n";
  if (w.specimen.tensor_amax) text += "tensor amax  " + hex(*w.specimen.tensor_amax) + "\n";
  for (const auto& [name, values] : w.specimen.inputs) text += name + "  " + joined(values) + "\n";
  for (const std::string& line : answer_lines(a.recipe, w.specimen, w.a)) text += "A  " + line + "\n";
  for (const std::string& line : answer_lines(b.recipe, w.specimen, w.b)) text += "B  " + line + "\n";
  text += "part at  " + w.parting.role + ": " + hex(w.parting.result_a) + " and " + hex(w.parting.result_b) + "\n";
  text += "  A  " + w.parting.step_a + "\n  B  " + w.parting.step_b + "\n";
  text += std::string("found among  ") + recipes::kWitnessKinds[static_cast<std::size_t>(w.kind)] + "\n";
  return text + "$ " + command_text(a, w.specimen) + "\n$ " + command_text(b, w.specimen) + "\n";
}

/// What was tried, and the witnesses in the order of the search.
struct Found {
  recipes::WitnessSearch search;
  std::vector<recipes::Witness> witnesses;
};

Found search_once(const Side& a, const Side& b, const recipes::WitnessOptions& options) {
  Found found{recipes::find_witness(a.recipe, b.recipe, options), {}};
  if (found.search.witness) found.witnesses.push_back(*found.search.witness);
  return found;
}

Found search_every_kind(const Side& a, const Side& b, recipes::WitnessOptions options) {
  Found found;
  for (std::size_t kind = 0; kind < recipes::kWitnessKinds.size(); ++kind) {
    options.only = static_cast<recipes::WitnessKind>(kind);
    const Found one = search_once(a, b, options);
    found.search.tried[kind] = one.search.tried[kind];
    options.limit -= one.search.tried[kind];
    for (const recipes::Witness& witness : one.witnesses) {
      const auto same = [&](const recipes::Witness& known) { return known.specimen == witness.specimen; };
      if (std::none_of(found.witnesses.begin(), found.witnesses.end(), same)) found.witnesses.push_back(witness);
    }
  }
  const auto refused = [](const recipes::Witness& w) { return recipes::any_refused(w.a, w.b); };
  if (!std::all_of(found.witnesses.begin(), found.witnesses.end(), refused)) std::erase_if(found.witnesses, refused);
  return found;
}

Json to_json(const Found& found, const Side& a, const Side& b) {
  Json json = {{"a", a.label()}, {"b", b.label()}, {"found", !found.witnesses.empty()}, {"complete", false}};
  for (std::size_t i = 0; i < found.search.tried.size(); ++i) json["tried"][recipes::kWitnessKinds[i]] = found.search.tried[i];
  if (found.witnesses.empty()) return json;
  json.update(witness_json(found.witnesses[0], a, b));
  for (std::size_t i = 1; i < found.witnesses.size(); ++i) json["more"].push_back(witness_json(found.witnesses[i], a, b));
  return json;
}

std::string to_text(const Found& found, const Side& a, const Side& b) {
  std::string text = "A  " + a.label() + "\nB  " + b.label() + "\n";
  if (found.witnesses.empty()) return text + "none found  " + tried_text(found.search) + "\n";
  for (const recipes::Witness& witness : found.witnesses) text += witness_text(witness, a, b) + (found.witnesses.size() > 1 ? "\n" : "");
  if (!a.recipe.exact_steps() || !b.recipe.exact_steps()) {
    text += "note  a step with several admissible results takes part; the correctly rounded one was taken\n";
  }
  return text + "search  " + tried_text(found.search) + "\n";
}

}  // namespace

int diff_recipes(const DiffOptions& options, const Globals& globals) {
  const Side a = read_recipe_spec(options.a), b = read_recipe_spec(options.b);
  Output output;
  if (recipes::same_steps(a.recipe, b.recipe)) {
    const Json json = {{"a", a.label()}, {"b", b.label()}, {"found", false}, {"complete", true}, {"proof", "the same steps over the same blocks"}};
    output.text() += globals.json ? json.dump() + "\n"
                                  : "A  " + a.label() + "\nB  " + b.label() + "\nequal  the same steps over the same blocks\n";
    output.flush();
    return kPassed;
  }
  recipes::WitnessOptions search;
  if (options.most != 0) search.most = search.limit = options.most;
  if (options.search == "random") search.simple = search.thresholds = search.documented = false;
  const Found found = options.search == "all" ? search_every_kind(a, b, search) : search_once(a, b, search);
  output.text() += globals.json ? to_json(found, a, b).dump() + "\n" : to_text(found, a, b);
  output.flush();
  return found.witnesses.empty() ? kIncomplete : kMismatch;
}

}  // namespace halfulp::tool
