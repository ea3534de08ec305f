// The card of a wrong block, and commands that compute it again.
#include "halfulp/vectors/blocks/recipe_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "halfulp/recipes/quantize.hpp"
#include "halfulp/vectors/blocks/step_values.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

using blocks::for_each_place;

constexpr std::size_t kShownElements = 16;        ///< of a block on a card
constexpr std::size_t kReproducedElements = 300;  ///< of a block on a command line

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return std::isinf(x) ? (x < 0 ? "-inf" : "inf") : text;
}

/// The number of a word, or why it is none.
std::string worth(const FormatSpec& format, std::uint64_t word) {
  if (word > low_mask(format.storage_bits())) return "no code";
  return number_text(blocks::number_of(format, word));
}

std::string word_and_number(const recipes::Stored& stored, std::uint64_t word) {
  return stored_text(stored, word) + " (" + worth(stored.format, word) + ")";
}

/// The words of a block, the one at `element` between brackets, a window around it where there are many.
template <class Text>
std::string block_line(const RecipePlan& plan, std::int64_t block, std::int64_t element, Text text_of) {
  std::vector<std::size_t> places;
  for_each_place(plan.blocks(), block, [&](std::size_t i) { places.push_back(i); });
  std::size_t at = 0;
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (static_cast<std::int64_t>(places[n]) == element) at = n;
  }
  const std::size_t first = at < kShownElements ? 0 : at - kShownElements / 2;
  const std::size_t last = std::min(places.size(), first + kShownElements);
  std::string text = first > 0 ? "… " : "";
  for (std::size_t n = first; n < last; ++n) {
    const std::string word = text_of(places[n]);
    text += (n > first ? " " : "") +
            (static_cast<std::int64_t>(places[n]) == element ? "[" + word + "]" : word);
  }
  return text + (last < places.size() ? " …" : "");
}

std::string input_text(const RecipePlan& plan, double x) {
  return word_text(plan.from, blocks::code_of(plan.from, x));
}

std::string place_text(const RecipePlan& plan, const BlockCase& one) {
  const recipes::Blocks::Range range = plan.blocks()[one.block];
  std::string text = "row " + std::to_string(one.row) + ", block " + std::to_string(one.block) + " (rows " +
                     std::to_string(range.row) + ".." + std::to_string(range.row + range.rows - 1) +
                     ", columns " + std::to_string(range.column) + ".." +
                     std::to_string(range.column + range.columns - 1) + ")";
  if (one.element >= 0)
    text += ", element (" + std::to_string(one.element / plan.columns) + ", " +
            std::to_string(one.element % plan.columns) + ")";
  return text;
}

std::string flags_text(std::uint32_t flags) {
  std::string text;
  for (std::size_t i = 0; i < row_flags().size(); ++i) {
    if ((flags >> i & 1) != 0) text += (text.empty() ? "" : ", ") + row_flags()[i].name;
  }
  return text.empty() ? "none" : text;
}

/// The format and policy of what went wrong.
recipes::Stored stored_of(const RecipePlan& plan, const BlockCase& one) {
  const recipes::QuantRecipe& recipe = plan.recipe;
  recipes::Stored values{.reg = 0,
                         .format_name = plan.value_format(),
                         .format = find_format(plan.value_format())->spec,
                         .policy = {}};
  switch (one.kind) {
    case BlockFinding::tensor_scale: return recipe.tensor_scale;
    case BlockFinding::scale:
    case BlockFinding::order: return recipe.scale;
    case BlockFinding::zero_point: return recipe.zero;
    case BlockFinding::value: return values;
    case BlockFinding::kept:
      return {.reg = 0, .format_name = "uint8", .format = spec_of("uint8"), .policy = {}};
    default: return recipe.code;
  }
}

void add_stored(const RecipePlan& plan, const RowAnswer& answer, std::int64_t block, std::int64_t element,
                const std::string& who, std::vector<CardLine>& lines) {
  const auto b = static_cast<std::size_t>(block);
  std::string scales;
  if (answer.tensor_scale)
    scales += "tensor scale " + word_and_number(plan.recipe.tensor_scale, *answer.tensor_scale) + "  ";
  if (b < answer.scales.size())
    scales += "scale " + word_and_number(plan.recipe.scale, answer.scales[b]) + "  ";
  if (b < answer.zeros.size()) scales += "zero point " + word_and_number(plan.recipe.zero, answer.zeros[b]);
  while (!scales.empty() && scales.back() == ' ') scales.pop_back();
  if (!scales.empty()) lines.push_back({who, scales});
  const FormatSpec value = find_format(plan.value_format())->spec;
  if (!answer.codes.empty())
    lines.push_back({who + " codes", block_line(plan, block, element, [&](std::size_t i) {
                       return stored_text(plan.recipe.code, answer.codes[i]);
                     })});
  if (!answer.values.empty())
    lines.push_back({who + " values", block_line(plan, block, element, [&](std::size_t i) {
                       return worth(value, answer.values[i]);
                     })});
}

std::string command_of(const RecipePlan& plan, const char* verb) {
  std::string text = std::string("halfulp ") + verb + " --recipe " + plan.name + " --to " + plan.element;
  if (!plan.block.empty()) text += " --block " + plan.block;
  return text;
}

std::string options_of(const RecipePlan& plan, const RecipeRow& row, std::int64_t block) {
  std::string text;
  for (const auto& input : inputs_for(plan, plan.recipe, row)) {
    const std::string& name = input.first;
    const std::vector<double>& values = input.second;
    std::string list;
    const auto found = std::find_if(plan.varied.begin(), plan.varied.end(),
                                    [&](const VariedInput& v) { return v.name == name; });
    const auto add = [&](std::size_t i) {
      list += (list.empty() ? "" : ",") + number_text(values[values.size() == 1 ? 0 : i]);
    };
    const auto per = found == plan.varied.end() ? recipes::PerInput::tensor : found->per;
    if (values.size() == 1) {
      add(0);
    } else if (per == recipes::PerInput::block) {
      add(static_cast<std::size_t>(block));
    } else if (per == recipes::PerInput::table) {
      for (std::size_t i = 0; i < values.size(); ++i) add(i);
    } else {
      const recipes::Blocks::Range range = plan.blocks()[block];
      if (per == recipes::PerInput::column) {
        for (std::int64_t c = 0; c < range.columns; ++c) add(static_cast<std::size_t>(range.column + c));
      } else {
        for_each_place(plan.blocks(), block, add);
      }
    }
    if (name == recipes::kTensorAmax)
      text += " --tensor-amax " + list;
    else if (name == recipes::kTensorScale)
      text += " --tensor-scale " + list;
    else
      text += " --set " + name + "=" + list;
  }
  return text;
}

}  // namespace

std::string stored_text(const recipes::Stored& stored, std::uint64_t word) {
  const bool integer =
      stored.format.encoding == Encoding::twos_complement && stored.format_name != "mxint8";
  if (!integer || word > low_mask(stored.format.storage_bits())) return word_text(stored.format, word);
  const int unused = 64 - stored.format.width;
  return stored.format.is_signed ? std::to_string(static_cast<std::int64_t>(word << unused) >> unused)
                                 : std::to_string(word);
}

std::string reproduce_block(const RecipePlan& plan, const RecipeRow& row, std::int64_t block, Level level,
                            std::uint64_t seed) {
  const recipes::Blocks::Range range = plan.blocks()[block];
  const std::string whole = "halfulp gen '" + spec_text(plan) + "' --level " + std::string(name_of(level)) +
                            " --seed " + std::to_string(seed) + " -o pack";
  if (static_cast<std::size_t>(range.rows * range.columns) > kReproducedElements) return whole;
  if (plan.task == Task::dequantize) {
    if (plan.recipe.zero.reg >= 0 || range.rows > 1) return whole;
    std::string line;
    if (row.stored.tensor_scale)
      line +=
          "# tensor-scale " + word_text(plan.recipe.tensor_scale.format, *row.stored.tensor_scale) + "\\n";
    line += row.stored.scales.empty()
                ? "-"
                : word_text(plan.recipe.scale.format, row.stored.scales[static_cast<std::size_t>(block)]);
    for_each_place(plan.blocks(), block, [&](std::size_t i) {
      line += " " + stored_text(plan.recipe.code, row.stored.codes[i]);
    });
    return "printf '" + line + "\\n' | " + command_of(plan, "dequantize") + options_of(plan, row, block) +
           " --input -";
  }
  std::string text = "printf '";
  for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
    for (std::int64_t c = range.column; c < range.column + range.columns; ++c)
      text += (c == range.column ? "" : " ") +
              input_text(plan, row.values[static_cast<std::size_t>(r * plan.columns + c)]);
    text += "\\n";
  }
  text +=
      "' | " + command_of(plan, "quantize") + " --from " + plan.from_name + options_of(plan, row, block);
  if (plan.recipe.A >= 0 && !plan.is_varied(recipes::kTensorAmax)) {
    const auto q = recipes::quantize(plan.recipe, {plan.rows, plan.columns, row.values},
                                     inputs_for(plan, plan.recipe, row));
    if (q.tensor_amax && !inputs_for(plan, plan.recipe, row).contains(recipes::kTensorScale))
      text += " --tensor-amax " + number_text(*q.tensor_amax);
  }
  return text + (plan.task == Task::fake_quantize ? " --values" : "") + " --input - --output -";
}

std::vector<CardLine> block_card(const RecipePlan& plan, const RecipeRow& row, const RowAnswer& want,
                                 const RowAnswer& got, const BlockCase& one) {
  std::vector<CardLine> lines;
  const recipes::Stored stored = stored_of(plan, one);
  lines.push_back({"where", place_text(plan, one)});
  lines.push_back({"row tests", flags_text(row.flags)});
  lines.push_back({"wrong", std::string(kBlockFindingNames[static_cast<std::size_t>(one.kind)]) + ": got " +
                                word_and_number(stored, one.got) + ", expected " +
                                word_and_number(stored, one.want)});
  if (!row.values.empty()) {
    lines.push_back({"input", block_line(plan, one.block, one.element,
                                         [&](std::size_t i) { return input_text(plan, row.values[i]); })});
    lines.push_back({"", block_line(plan, one.block, one.element,
                                    [&](std::size_t i) { return number_text(row.values[i]); })});
    for (const auto& [name, values] : row.inputs) {
      if (values.size() == 1) lines.push_back({name, number_text(values[0])});
    }
    for (const StepValue& step : step_values(plan, row, one.block, one.element)) {
      const std::string rounding = step.text.precision +
                                   (step.text.precision.empty() || step.text.rounding.empty() ? "" : " ") +
                                   step.text.rounding;
      std::string text = step.text.result + " = " + step.text.operation + " = " + number_text(step.value);
      if (!rounding.empty()) text += "  (" + rounding + ")";
      if (!step.text.exact) text += "  any result within one ulp is admissible";
      lines.push_back({step.text.per, text});
    }
  } else {
    add_stored(plan, row.stored, one.block, one.element, "stored", lines);
  }
  add_stored(plan, want, one.block, one.element, "expected", lines);
  add_stored(plan, got, one.block, one.element, "got", lines);
  return lines;
}

}  // namespace halfulp::vectors
