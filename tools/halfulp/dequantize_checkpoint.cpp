// One quantized weight of a checkpoint, from the names that producers give its parts.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dequantize_files.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/packing.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/tensors/checkpoint_names.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::tool {
namespace {

using recipes::QuantRecipe;
using recipes::Stored;
using tensors::LayerParts;
using tensors::PartRole;

constexpr FormatSpec kF64 = spec_of("f64");
constexpr const char* kKnown = "the columns of `halfulp quantize` (codes, scales …), or a weight in a checkpoint's names (weight or weight_packed "
                               "with weight_scale, weight_scale_inv …) as FILE.safetensors:LAYER";

std::uint64_t code_of(double value, const Stored& stored) {
  return cast(kF64, std::bit_cast<std::uint64_t>(value), stored.format, stored.policy).code;
}

/// Whether a value grows with its tensor scale: 1 with it, -1 against it, 0 not at all.
int direction(const QuantRecipe& recipe) {
  recipes::Quantized q;
  q.blocks = recipes::blocks_of(recipe, 1, 1);
  q.codes = {code_of(1, recipe.code)};
  if (recipe.scale.reg >= 0) q.scales = {code_of(1, recipe.scale)};
  if (recipe.zero.reg >= 0) q.zeros = {code_of(0, recipe.zero)};
  q.tensor_amax = 1;
  recipes::Inputs inputs;
  for (const recipes::Input& input : recipe.inputs) {
    if (input.default_literal.empty())
      inputs[input.name] = std::vector<double>(input.per == recipes::PerInput::table ? static_cast<std::size_t>(input.entries) : 1, 1.0);
  }
  const auto value = [&](double scale) {
    q.tensor_scale = code_of(scale, recipe.tensor_scale);
    return std::fabs(recipes::dequantize(recipe, q, inputs)[0]);
  };
  const double one = value(1), two = value(2);
  return two > one ? 1 : two < one ? -1 : 0;
}

class Checkpoint {
 public:
  Checkpoint(const std::string& input, const QuantRecipe& recipe)
      : name_(tensors::parse_tensor_name(input)), file_(tensors::open_file(name_.path)), recipe_(recipe), layer_(find_layer()) {}

  QuantizedColumns read() const {
    refuse_unread();
    QuantizedColumns out;
    out.is_checkpoint = true;
    recipes::Quantized& q = out.quantized;
    read_codes(out);
    if (recipe_.scale.reg >= 0) q.scales = numbers(need(PartRole::block_scale, "block scale"), recipe_.scale, q.blocks.count());
    if (recipe_.zero.reg >= 0) q.zeros = numbers(need(PartRole::zero_point, "zero point"), recipe_.zero, q.blocks.count());
    if (const auto* part = layer_.find(PartRole::tensor_scale)) {
      const int grows = direction(recipe_);
      const bool divides = part->name->direction == tensors::Direction::divisor;
      if (grows != 0 && divides != (grows < 0)) {
        refuse(part, std::string("it ") + (divides ? "divides" : "multiplies") + ", and the tensor scale of " + recipe_.name + " does not",
               "name a recipe of the producer that wrote it");
      }
      q.tensor_scale = numbers(*part, recipe_.tensor_scale, 1)[0];
    }
    return out;
  }

 private:
  LayerParts find_layer() const {
    if (name_.member) return tensors::find_quantized_weight(file_.tensors(), *name_.member);
    std::vector<LayerParts> found;
    for (LayerParts& parts : tensors::group_checkpoint(file_.tensors())) {
      if (parts.is_quantized_weight()) found.push_back(std::move(parts));
    }
    if (found.size() == 1) return std::move(found[0]);
    if (found.empty()) throw InputError("file '" + name_.path + "'", "it holds no quantized tensor of known names", std::string("give ") + kKnown);
    throw InputError("file '" + name_.path + "'", "it holds " + std::to_string(found.size()) + " quantized weights",
                     "name one, e.g. " + name_.path + ":" + found[0].layer);
  }

  [[noreturn]] void refuse(const LayerParts::Part* part, const std::string& why, const std::string& how) const {
    throw InputError("tensor '" + file_.tensors()[part->tensor].name + "' of '" + name_.path + "'", why, how);
  }

  const LayerParts::Part& need(PartRole role, const std::string& what) const {
    if (const auto* part = layer_.find(role)) return *part;
    throw InputError("weight '" + layer_.layer + "' of '" + name_.path + "'", "it has no " + what + ", which recipe " + recipe_.name + " stores",
                     "name the recipe that made it");
  }

  /// Parts that the recipe would not read, though values depend on them.
  void refuse_unread() const {
    const std::pair<PartRole, bool> parts[] = {{PartRole::block_scale, recipe_.scale.reg >= 0},
                                               {PartRole::tensor_scale, recipe_.tensor_scale.reg >= 0},
                                               {PartRole::zero_point, recipe_.zero.reg >= 0}};
    for (const auto& [role, stored] : parts) {
      if (const auto* part = layer_.find(role); part != nullptr && !stored)
        refuse(part, "recipe " + recipe_.name + " stores no such part", "name the recipe that made the weight");
    }
    if (const auto* part = layer_.find(PartRole::group_index))
      refuse(part, "its groups are not of neighbouring columns", "put the columns in the order of their groups first");
  }

  tensors::TensorSource open(const LayerParts::Part& part, std::optional<std::string_view> type = {}) const {
    return file_.open(file_.tensors()[part.tensor].name, type);
  }

  void read_codes(QuantizedColumns& out) const {
    const auto* packed = layer_.find(PartRole::packed_weight);
    const LayerParts::Part& part = packed != nullptr ? *packed : need(PartRole::weight, "weight");
    const tensors::Tensor& tensor = file_.tensors()[part.tensor];
    const int width = recipe_.code.format.width;
    out.shape = tensor.shape.empty() ? std::vector<std::uint64_t>{1} : tensor.shape;
    recipes::Quantized& q = out.quantized;
    if (tensor.dtype == "U8" && width == 4 && (packed != nullptr || fits_packed(out.shape))) {
      std::vector<std::uint8_t> bytes(tensor.count());
      open(part).read_words(0, std::as_writable_bytes(std::span(bytes)));
      q.codes.resize(2 * bytes.size());
      unpack(Packing::low_first, width, std::span<const std::uint8_t>(bytes), std::span(q.codes));
      out.shape.back() *= 2;
    } else if (packed != nullptr && width < 8) {
      refuse(&part, "elements of " + std::to_string(width) + " bits in " + tensor.dtype + " are not unpacked", "give two 4-bit codes per U8, low nibble first");
    } else {
      const tensors::TensorSource codes = open(part, recipe_.code.format_name);
      q.codes.resize(codes.size());
      codes.read(0, std::span<std::uint64_t>(q.codes));
    }
    q.blocks = blocks(out.shape);
  }

  recipes::Blocks blocks(const std::vector<std::uint64_t>& shape) const {
    std::uint64_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return recipes::blocks_of(recipe_, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(shape.back()));
  }

  /// A `weight` of bytes with two codes each: as many scales as blocks then.
  bool fits_packed(std::vector<std::uint64_t> shape) const {
    shape.back() *= 2;
    const auto* scales = layer_.find(PartRole::block_scale);
    return scales == nullptr || file_.tensors()[scales->tensor].count() == static_cast<std::uint64_t>(blocks(shape).count());
  }

  /// Stored codes with the numbers of a part; bytes without a format are codes already.
  std::vector<std::uint64_t> numbers(const LayerParts::Part& part, const Stored& stored, std::int64_t count) const {
    const tensors::Tensor& tensor = file_.tensors()[part.tensor];
    const bool bytes = tensor.dtype == "U8" && stored.format.width == 8;
    const tensors::TensorSource source = bytes ? open(part, stored.format_name) : open(part);
    if (static_cast<std::int64_t>(source.size()) != count) {
      refuse(&part, std::to_string(source.size()) + " entries for " + vectors::counted(static_cast<std::uint64_t>(count), "block") + " of " + recipes::block_words(recipe_),
             "name the blocks with --block, e.g. 128x128, row or tensor");
    }
    std::vector<std::uint64_t> words(source.size());
    source.read(0, std::span<std::uint64_t>(words));
    const auto& spec = source.type().spec;
    if (!spec) refuse(&part, "its elements are of no format", "give numbers");
    if (*spec == stored.format) return words;
    for (std::uint64_t& word : words) {
      const double value = recipes::decode(*spec, word);
      word = code_of(value, stored);
      const double kept = recipes::decode(stored.format, word);
      if (kept != value && !(std::isnan(kept) && std::isnan(value)))
        refuse(&part, "a number of it is none of " + stored.format_name + ", in which " + recipe_.name + " stores it", "name the recipe that made the weight");
    }
    return words;
  }

  tensors::TensorName name_;
  tensors::SafetensorsFile file_;
  const QuantRecipe& recipe_;
  LayerParts layer_;
};

}  // namespace

bool names_checkpoint(const std::string& input) {
  const tensors::TensorName name = tensors::parse_tensor_name(input);
  if (!name.path.ends_with(".safetensors")) {
    if (name.member) throw InputError("input '" + input + "'", "one column is no quantized tensor", "give the whole file " + name.path);
    return false;
  }
  const tensors::SafetensorsFile file(tensors::open_file(name.path));
  const auto& all = file.tensors();
  const bool columns = std::any_of(all.begin(), all.end(), [](const tensors::Tensor& tensor) { return tensor.name == "codes"; });
  if (columns && name.member) throw InputError("input '" + input + "'", "one column is no quantized tensor", "give the whole file " + name.path);
  return !columns;
}

QuantizedColumns read_checkpoint(const std::string& input, const QuantRecipe& recipe) { return Checkpoint(input, recipe).read(); }

}  // namespace halfulp::tool
