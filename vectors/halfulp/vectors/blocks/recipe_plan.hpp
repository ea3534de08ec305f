// RecipePlan: what `recipe:NAME[,key=value]…` asks of a kernel - the recipe, the direction, shapes and
// words.
//
// Decides: which columns a kernel for a recipe reads and writes. A row of a pack is one tensor of `rows` x
// `columns` elements that holds several blocks.
//
//   to=ELEMENT  block=N|RxC|row|column|tensor   as `halfulp quantize`
//   from=FORMAT          f32 (default), bf16, f16: of the words of `input`
//   task=TASK            quantize (default), dequantize, fake_quantize (values in, values out)
//   shape=RxC            of a row's tensor; several blocks where none is named
//   rows=N               at most N rows of the level, some of every kind
//   packing=P            codes packed along each row of the tensor (packing.hpp); one word each otherwise
//   layout=L multiple=M  block scales in a layout (scale_layout.hpp); row-major block order otherwise
//   nan=any|exact        where a NaN is expected every NaN is right (any, default), or its code alone
//   INPUT=VALUE          an input of the recipe, the same for all rows; `varied`: a column. Required inputs
//                        and those per block, column or element vary where nothing is named; others keep
//                        their default. tensor_amax and tensor_scale count as inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"
#include "halfulp/packing.hpp"
#include "halfulp/recipes/tensor.hpp"
#include "halfulp/scale_layout.hpp"

namespace halfulp::vectors {

enum class Task : std::uint8_t { quantize, dequantize, fake_quantize };

/// Which answers are right where a NaN is expected.
enum class NanAnswers : std::uint8_t {
  any,    ///< every NaN of the format: IEEE 754 leaves open the sign and payload that arithmetic gives
  exact,  ///< in formats of at most 8 bits the code that the recipe's cast gives
};

/// An input of the recipe that has a column of its own.
struct VariedInput {
  std::string name;
  recipes::PerInput per = recipes::PerInput::tensor;
  std::int64_t entries = 0;  ///< of a table
  std::string format;        ///< f32, f64 where a step reads it in binary64, uint8 for random bytes
};

struct RecipePlan {
  std::string name;     ///< canonical, `scheme/producer`
  std::string element;  ///< canonical
  std::string block;    ///< as written; empty: the recipe's own
  recipes::QuantRecipe recipe;
  Task task = Task::quantize;
  std::string from_name = "f32";
  FormatSpec from;
  std::int64_t rows = 0, columns = 0;
  std::optional<std::uint64_t> most_rows;
  std::optional<Packing> packing;
  std::optional<ScaleLayout> layout;
  std::uint32_t multiple = 1;
  NanAnswers nan = NanAnswers::any;
  std::map<std::string, double> fixed;                          ///< inputs with one value for all rows
  std::vector<std::pair<std::string, std::string>> fixed_text;  ///< as written, in the order of the recipe
  std::vector<VariedInput> varied;         ///< inputs with a column, in the order of the recipe
  std::vector<std::string> asked_to_vary;  ///< those of them that the SPEC names

  recipes::Blocks blocks() const { return recipes::blocks_of(recipe, rows, columns); }
  std::size_t elements() const { return static_cast<std::size_t>(rows * columns); }
  /// The grid of the block scales in their layout: linear where none is named.
  ScaleGrid scale_grid() const;
  /// Format of `value` columns: f32, or f64 where the recipe's last step is binary64.
  std::string value_format() const;
  bool is_varied(std::string_view input) const;
};

/// True for SPECs that begin with `recipe:`.
bool is_recipe_spec(std::string_view spec);

/// Parses a SPEC. Throws InputError, with the nearest names where a name is unknown.
RecipePlan parse_recipe_spec(std::string_view spec);

/// The SPEC in canonical words, nothing left to defaults: parse_recipe_spec() gives the same plan.
std::string spec_text(const RecipePlan& plan);

}  // namespace halfulp::vectors

namespace halfulp {
template <>
inline constexpr auto kNames<vectors::Task> =
    std::to_array<Name<vectors::Task>>({{vectors::Task::quantize, "quantize"},
                                        {vectors::Task::dequantize, "dequantize"},
                                        {vectors::Task::fake_quantize, "fake_quantize"}});
template <>
inline constexpr auto kNames<vectors::NanAnswers> = std::to_array<Name<vectors::NanAnswers>>(
    {{vectors::NanAnswers::any, "any"}, {vectors::NanAnswers::exact, "exact"}});
}  // namespace halfulp
