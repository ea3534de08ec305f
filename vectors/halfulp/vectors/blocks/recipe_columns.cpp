// Rows as bytes; see recipe_columns.hpp.
#include "halfulp/vectors/blocks/recipe_columns.hpp"

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors {
namespace {

using recipes::PerInput;

FormatSpec format_of(const RecipeColumn& column) { return find_format(column.format)->spec; }

void put_words(std::span<const std::uint64_t> words, int bytes, std::span<std::byte> out) {
  std::size_t at = 0;
  for (const std::uint64_t word : words) {
    for (int b = 0; b < bytes; ++b) out[at++] = static_cast<std::byte>(word >> (8 * b));
  }
}

std::vector<std::uint64_t> get_words(std::span<const std::byte> bytes, int word_bytes) {
  std::vector<std::uint64_t> words(bytes.size() / static_cast<std::size_t>(word_bytes));
  std::size_t at = 0;
  for (std::uint64_t& word : words) {
    for (int b = 0; b < word_bytes; ++b) word |= std::to_integer<std::uint64_t>(bytes[at++]) << (8 * b);
  }
  return words;
}

std::vector<std::uint64_t> codes_of(const FormatSpec& format, const std::vector<double>& values) {
  std::vector<std::uint64_t> codes;
  for (const double x : values) codes.push_back(blocks::code_of(format, x));
  return codes;
}

std::vector<double> numbers_of(const FormatSpec& format, const std::vector<std::uint64_t>& codes) {
  std::vector<double> values;
  for (const std::uint64_t code : codes) values.push_back(blocks::number_of(format, code));
  return values;
}

/// Codes packed row by row of the tensor.
std::vector<std::uint64_t> packed(const RecipePlan& plan, const std::vector<std::uint64_t>& codes) {
  const int width = plan.recipe.code.format.width;
  const auto columns = static_cast<std::size_t>(plan.columns);
  std::vector<std::uint64_t> bytes;
  for (std::size_t row = 0; row < codes.size(); row += columns) {
    std::vector<std::uint8_t> line(packed_bytes(*plan.packing, width, columns));
    pack<std::uint64_t>(*plan.packing, width, std::span(codes).subspan(row, columns), line);
    bytes.insert(bytes.end(), line.begin(), line.end());
  }
  return bytes;
}

std::vector<std::uint64_t> unpacked(const RecipePlan& plan, const std::vector<std::uint64_t>& bytes) {
  const int width = plan.recipe.code.format.width;
  const auto columns = static_cast<std::size_t>(plan.columns);
  const std::size_t line_bytes = packed_bytes(*plan.packing, width, columns);
  std::vector<std::uint64_t> codes(plan.elements());
  for (std::size_t row = 0; row < static_cast<std::size_t>(plan.rows); ++row) {
    std::vector<std::uint8_t> line;
    for (std::size_t i = 0; i < line_bytes; ++i) line.push_back(static_cast<std::uint8_t>(bytes[row * line_bytes + i]));
    unpack<std::uint64_t>(*plan.packing, width, line, std::span(codes).subspan(row * columns, columns));
  }
  return codes;
}

std::vector<std::uint64_t> laid_out(const RecipePlan& plan, const std::vector<std::uint64_t>& scales) {
  if (!plan.layout) return scales;
  const ScaleGrid grid = plan.scale_grid();
  std::vector<std::uint64_t> buffer(grid.stored(), 0);
  for (std::size_t i = 0; i < scales.size(); ++i) buffer[grid.offset(i / grid.columns, i % grid.columns)] = scales[i];
  return buffer;
}

std::vector<std::uint64_t> gathered(const RecipePlan& plan, const std::vector<std::uint64_t>& buffer) {
  if (!plan.layout) return buffer;
  const ScaleGrid grid = plan.scale_grid();
  std::vector<std::uint64_t> scales(grid.rows * grid.columns);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = buffer[grid.offset(i / grid.columns, i % grid.columns)];
  return scales;
}

/// Tensor scale, block scales, zero points, codes: what a quantizer stores.
std::vector<RecipeColumn> stored_columns(const RecipePlan& plan) {
  std::vector<RecipeColumn> columns;
  const auto count = static_cast<std::uint64_t>(plan.blocks().count());
  const auto rows = static_cast<std::uint64_t>(plan.rows), wide = static_cast<std::uint64_t>(plan.columns);
  const recipes::QuantRecipe& recipe = plan.recipe;
  if (recipe.tensor_scale.reg >= 0 && !plan.is_varied(recipes::kTensorScale))
    columns.push_back({"tensor_scale", Part::tensor_scale, recipe.tensor_scale.format_name, {}});
  if (recipe.scale.reg >= 0)
    columns.push_back({"scale", Part::scale, recipe.scale.format_name, {plan.layout ? plan.scale_grid().stored() : count}});
  if (recipe.zero.reg >= 0) columns.push_back({"zero", Part::zero, recipe.zero.format_name, {count}});
  if (plan.packing) {
    columns.push_back({"code", Part::code, "uint8", {rows, packed_bytes(*plan.packing, recipe.code.format.width, wide)}});
  } else {
    columns.push_back({"code", Part::code, recipe.code.format_name, {rows, wide}});
  }
  return columns;
}

const std::vector<std::uint64_t>& list_of(const RowAnswer& answer, Part part) {
  return part == Part::scale  ? answer.scales
         : part == Part::zero ? answer.zeros
         : part == Part::code ? answer.codes
         : part == Part::kept ? answer.kept
                              : answer.values;
}

void put_part(const RecipePlan& plan, const RecipeColumn& column, const RowAnswer& answer, std::span<std::byte> out) {
  const int bytes = format_of(column).storage_bytes();
  if (column.part == Part::tensor_scale) {
    const std::uint64_t word = answer.tensor_scale.value_or(0);
    return put_words({&word, 1}, bytes, out);
  }
  const std::vector<std::uint64_t>& list = list_of(answer, column.part);
  if (column.part == Part::scale) return put_words(laid_out(plan, list), bytes, out);
  if (column.part == Part::code && plan.packing) return put_words(packed(plan, list), bytes, out);
  put_words(list, bytes, out);
}

void get_part(const RecipePlan& plan, const RecipeColumn& column, std::span<const std::byte> in, RowAnswer& answer) {
  if (in.empty()) return;
  std::vector<std::uint64_t> words = get_words(in, format_of(column).storage_bytes());
  switch (column.part) {
    case Part::tensor_scale: answer.tensor_scale = words[0]; break;
    case Part::scale: answer.scales = gathered(plan, words); break;
    case Part::zero: answer.zeros = std::move(words); break;
    case Part::code: answer.codes = plan.packing ? unpacked(plan, words) : std::move(words); break;
    case Part::kept: answer.kept = std::move(words); break;
    case Part::value: answer.values = std::move(words); break;
    case Part::elements:
    case Part::input: break;
  }
}

const FormatSpec& stored_format(const RecipePlan& plan, Part part) {
  const recipes::QuantRecipe& recipe = plan.recipe;
  return part == Part::tensor_scale ? recipe.tensor_scale.format
         : part == Part::scale      ? recipe.scale.format
         : part == Part::zero       ? recipe.zero.format
                                    : recipe.code.format;
}

/// A file may hold words that are no codes; the engines must not see them.
void check_codes(const RecipeColumn& column, const FormatSpec& format, const RowAnswer& stored) {
  const auto check = [&](std::uint64_t word) {
    if (word <= low_mask(format.storage_bits())) return;
    throw InputError("column " + column.name + ", word " + std::to_string(word),
                     "it does not fit the " + std::to_string(format.width) + " bits of its format",
                     "give codes in the low bits of their words");
  };
  if (column.part == Part::tensor_scale) return check(stored.tensor_scale.value_or(0));
  for (const std::uint64_t word : list_of(stored, column.part)) check(word);
}

}  // namespace

std::size_t RecipeColumn::words() const {
  std::uint64_t count = 1;
  for (const std::uint64_t n : shape) count *= n;
  return count;
}

std::size_t RecipeColumn::row_bytes() const {
  return words() * static_cast<std::size_t>(format_of(*this).storage_bytes());
}

std::vector<RecipeColumn> input_columns(const RecipePlan& plan) {
  const auto rows = static_cast<std::uint64_t>(plan.rows), wide = static_cast<std::uint64_t>(plan.columns);
  std::vector<RecipeColumn> columns;
  if (plan.task == Task::dequantize)
    columns = stored_columns(plan);
  else
    columns.push_back({"input", Part::elements, plan.from_name, {rows, wide}});
  for (std::size_t i = 0; i < plan.varied.size(); ++i) {
    const VariedInput& input = plan.varied[i];
    RecipeColumn column{input.name, Part::input, input.format, {}, i};
    switch (input.per) {
      case PerInput::tensor: break;
      case PerInput::block: column.shape = {static_cast<std::uint64_t>(plan.blocks().count())}; break;
      case PerInput::column: column.shape = {wide}; break;
      case PerInput::element: column.shape = {rows, wide}; break;
      case PerInput::table: column.shape = {static_cast<std::uint64_t>(input.entries)}; break;
    }
    for (const RecipeColumn& other : columns) {
      if (other.name == column.name) column.name += "_input";
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<RecipeColumn> expected_columns(const RecipePlan& plan) {
  const auto rows = static_cast<std::uint64_t>(plan.rows), wide = static_cast<std::uint64_t>(plan.columns);
  if (plan.task != Task::quantize) return {{"value", Part::value, plan.value_format(), {rows, wide}}};
  std::vector<RecipeColumn> columns = stored_columns(plan);
  if (plan.recipe.keep_reg >= 0) columns.push_back({"kept", Part::kept, "uint8", {rows, wide}});
  for (RecipeColumn& column : columns) {
    for (const VariedInput& input : plan.varied) {
      if (input.name == column.name) column.name = "stored_" + column.name;
    }
  }
  return columns;
}

void put_inputs(const RecipePlan& plan, const RecipeRow& row, std::span<const std::span<std::byte>> columns) {
  const std::vector<RecipeColumn> all = input_columns(plan);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RecipeColumn& column = all[i];
    if (column.part == Part::elements || column.part == Part::input) {
      const std::vector<double>& values =
          column.part == Part::elements ? row.values : row.inputs.at(plan.varied[column.input].name);
      put_words(codes_of(format_of(column), values), format_of(column).storage_bytes(), columns[i]);
    } else {
      put_part(plan, column, row.stored, columns[i]);
    }
  }
}

RecipeRow get_inputs(const RecipePlan& plan, std::span<const std::span<const std::byte>> columns) {
  RecipeRow row;
  const std::vector<RecipeColumn> all = input_columns(plan);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RecipeColumn& column = all[i];
    if (column.part != Part::elements && column.part != Part::input) {
      get_part(plan, column, columns[i], row.stored);
      check_codes(column, stored_format(plan, column.part), row.stored);
      continue;
    }
    const FormatSpec format = format_of(column);
    std::vector<double> values = numbers_of(format, get_words(columns[i], format.storage_bytes()));
    (column.part == Part::elements ? row.values : row.inputs[plan.varied[column.input].name]) = std::move(values);
  }
  return row;
}

void put_answer(const RecipePlan& plan, const RowAnswer& answer, std::span<const std::span<std::byte>> columns) {
  const std::vector<RecipeColumn> all = expected_columns(plan);
  for (std::size_t i = 0; i < all.size(); ++i) put_part(plan, all[i], answer, columns[i]);
}

RowAnswer get_answer(const RecipePlan& plan, std::span<const std::span<const std::byte>> columns) {
  RowAnswer answer;
  const std::vector<RecipeColumn> all = expected_columns(plan);
  for (std::size_t i = 0; i < all.size(); ++i) get_part(plan, all[i], columns[i], answer);
  return answer;
}

std::vector<ColumnInfo> manifest_columns(const RecipePlan& plan, std::uint64_t rows) {
  std::vector<ColumnInfo> list;
  const auto add = [&](const std::vector<RecipeColumn>& columns, Role role) {
    for (const RecipeColumn& column : columns) {
      ColumnInfo info{.name = column.name, .role = role, .format = column.format, .shape = {rows}};
      info.shape.insert(info.shape.end(), column.shape.begin(), column.shape.end());
      list.push_back(std::move(info));
    }
  };
  add(input_columns(plan), Role::input);
  add(expected_columns(plan), Role::expected);
  list.push_back({.name = "flags", .role = Role::flags, .format = "uint32", .shape = {rows}});
  return list;
}

}  // namespace halfulp::vectors
