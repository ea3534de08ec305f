// Codes are counted as the rows hold them; see recipe_coverage.hpp.
#include "halfulp/vectors/blocks/recipe_coverage.hpp"

#include <set>

#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/blocks/strata.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kCountedBits = 16;  ///< formats this wide have so few codes that "of how many" says something

std::uint64_t codes_of(const FormatSpec& format) {
  return format.width <= kCountedBits ? std::uint64_t{1} << format.width : 0;
}

/// The format of a stored column; empty where the rows have no such list.
template <class Stored>
std::string format_name(const RecipePlan& plan, Part part, const Stored& columns) {
  for (const RecipeColumn& column : columns) {
    if (column.part == part) return part == Part::code ? plan.element : column.format;
  }
  return {};
}

}  // namespace

RecipeCoverage recipe_coverage(const RecipePlan& plan, const RecipeRows& rows) {
  RecipeCoverage found;
  found.rows = rows.rows.size();
  found.blocks = found.rows * static_cast<std::uint64_t>(plan.blocks().count());
  found.elements = found.rows * plan.elements();
  found.refused = rows.refused;
  found.flags.assign(row_flags().size(), 0);
  std::set<std::uint64_t> codes, scales, zeros;
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    for (std::size_t bit = 0; bit < found.flags.size(); ++bit) found.flags[bit] += rows.rows[i].flags >> bit & 1;
    const RowAnswer& stored = plan.task == Task::dequantize ? rows.rows[i].stored : rows.expected[i];
    codes.insert(stored.codes.begin(), stored.codes.end());
    scales.insert(stored.scales.begin(), stored.scales.end());
    zeros.insert(stored.zeros.begin(), stored.zeros.end());
    for (std::size_t b = 0; b < stored.scales.size() && !stored.codes.empty(); ++b) {
      blocks::for_each_place(plan.blocks(), static_cast<std::int64_t>(b),
                             [&](std::size_t place) { pairs.insert({stored.scales[b], stored.codes[place]}); });
    }
  }
  const auto columns = plan.task == Task::dequantize ? input_columns(plan) : expected_columns(plan);
  found.code_format = format_name(plan, Part::code, columns);
  found.scale_format = format_name(plan, Part::scale, columns);
  found.zero_format = format_name(plan, Part::zero, columns);
  found.codes = {codes.size(), codes_of(plan.recipe.code.format)};
  if (!found.scale_format.empty()) found.scales = {scales.size(), codes_of(plan.recipe.scale.format)};
  if (!found.zero_format.empty()) found.zeros = {zeros.size(), codes_of(plan.recipe.zero.format)};
  found.pairs = {pairs.size(), found.scales.all == 0 ? 0 : scales.size() * found.codes.all};
  return found;
}

std::string coverage_text(const RecipeCoverage& coverage) {
  std::string text = "rows          " + grouped_digits(coverage.rows) + ", of " + counted(coverage.blocks, "block") +
                     " and " + counted(coverage.elements, "element");
  if (coverage.refused > 0) text += "; the recipe refuses " + grouped_digits(coverage.refused) + " more";
  text += "\n";
  if (!coverage.code_format.empty()) text += share_text("elements", coverage.codes, "codes of " + coverage.code_format);
  if (!coverage.scale_format.empty()) text += share_text("scales", coverage.scales, "codes of " + coverage.scale_format);
  if (!coverage.zero_format.empty())
    text += share_text("zero points", coverage.zeros, "codes of " + coverage.zero_format);
  if (!coverage.code_format.empty() && !coverage.scale_format.empty())
    text += share_text("pairs", coverage.pairs, "of a scale given and an element code");
  text += "flags         ";
  for (std::size_t i = 0; i < coverage.flags.size(); ++i)
    text += (i ? ", " : "") + row_flags()[i].name + " " + grouped_digits(coverage.flags[i]);
  return text + "\nproves        " + std::string(name_of(Completeness::sampled)) + "\n";
}

}  // namespace halfulp::vectors
