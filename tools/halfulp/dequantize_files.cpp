// Columns back into a quantized tensor.
#include "dequantize_files.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <set>

#include "halfulp/error.hpp"
#include "halfulp/tensors/npy.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "interrupt.hpp"
#include "row_packer.hpp"

namespace halfulp::tool {
namespace {

bool is_archive(const std::string& path) { return path.ends_with(".npz") || path.ends_with(".safetensors"); }

/// Columns by name, of an archive (with or without a manifest) or a pack folder.
class Columns {
 public:
  explicit Columns(const std::string& path) : path_(path) {
    if (!is_archive(path)) manifest_ = vectors::read_pack(path, vectors::Hashes::trusted)->manifest();
    else for (const tensors::Tensor& tensor : tensors::list_tensors(path)) names_.insert(tensor.name);
  }
  bool has(const std::string& name) const { return is_archive(path_) ? names_.contains(name) : manifest_.find(name) != nullptr; }
  tensors::TensorSource open(const std::string& name, const std::string& format) const {
    if (is_archive(path_)) return tensors::open_tensor(path_ + ":" + name, {.dtype = format, .shape = {}});
    const vectors::ColumnInfo* column = manifest_.find(name);
    if (column == nullptr) throw InputError("pack '" + path_ + "'", "it has no column '" + name + "'", "name the recipe that made it");
    return tensors::open_tensor(path_ + "/" + column->file, {.dtype = format, .shape = column->shape});
  }
  /// All words; `count` of them, where it is not negative.
  std::vector<std::uint64_t> words(const std::string& name, const std::string& format, std::int64_t count) const;

 private:
  std::string path_;
  vectors::Manifest manifest_;
  std::set<std::string> names_;
};

std::vector<std::uint64_t> words_of(const tensors::TensorSource& source) {
  std::vector<std::uint64_t> words(source.size());
  source.read(0, std::span<std::uint64_t>(words));
  return words;
}

std::vector<std::uint64_t> Columns::words(const std::string& name, const std::string& format, std::int64_t count) const {
  std::vector<std::uint64_t> words = words_of(open(name, format));
  if (count >= 0 && static_cast<std::int64_t>(words.size()) != count) {
    throw InputError("column '" + name + "' of '" + path_ + "'",
                     std::to_string(words.size()) + " entries where the recipe has " + std::to_string(count),
                     "name the recipe and the blocks that made it");
  }
  return words;
}

std::int64_t elements_of(const std::vector<std::uint64_t>& shape) {
  return static_cast<std::int64_t>(std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
}

/// The shape of the tensor whose packed codes have the shape `bytes`.
std::vector<std::uint64_t> unpacked_shape(const std::string& path, const recipes::QuantRecipe& recipe, const StoredRecipe& stored,
                                          const std::vector<std::uint64_t>& bytes) {
  std::vector<std::uint64_t> wanted = stored.shape;
  const bool held = packs(*stored.packing, recipe.code.format.width) && !wanted.empty() && wanted.back() < (std::uint64_t{1} << 40);
  if (held) wanted.back() = packed_bytes(*stored.packing, recipe.code.format.width, wanted.back());
  if (!held || wanted != bytes) {
    throw InputError("pack '" + path + "'", "its column of codes is not of the shape that its packing " +
                     std::string(packing_name(*stored.packing)) + " and the tensor's shape give", "quantize the tensor again");
  }
  return stored.shape;
}

std::vector<std::uint64_t> unpacked_words(const tensors::TensorSource& source, Packing packing, int width, std::uint64_t columns) {
  const std::vector<std::uint64_t> words = words_of(source);
  const std::vector<std::uint8_t> bytes(words.begin(), words.end());
  return unpacked_rows(packing, width, columns, bytes);
}

}  // namespace

QuantizedColumns read_columns(const std::string& path, const recipes::QuantRecipe& recipe, const std::optional<StoredRecipe>& stored) {
  const Columns files(path);
  QuantizedColumns out;
  const bool packed = stored && stored->packing;
  const tensors::TensorSource codes = files.open("codes", packed ? "uint8" : recipe.code.format_name);
  out.shape = codes.tensor().shape;
  if (packed) out.shape = unpacked_shape(path, recipe, *stored, out.shape);
  const auto columns = static_cast<std::int64_t>(out.shape.empty() ? 1 : out.shape.back());
  recipes::Quantized& q = out.quantized;
  q.blocks = recipes::blocks_of(recipe, columns == 0 ? 0 : elements_of(out.shape) / columns, columns);
  q.codes = packed ? unpacked_words(codes, *stored->packing, recipe.code.format.width, static_cast<std::uint64_t>(columns)) : words_of(codes);
  if (recipe.scale.reg >= 0) q.scales = files.words("scales", recipe.scale.format_name, q.blocks.count());
  if (recipe.zero.reg >= 0) q.zeros = files.words("zeros", recipe.zero.format_name, q.blocks.count());
  if (recipe.tensor_scale.reg >= 0 && files.has("tensor_scale")) q.tensor_scale = files.words("tensor_scale", recipe.tensor_scale.format_name, 1)[0];
  if (recipes::reads(recipe.value_steps, recipe.A) && files.has("tensor_amax")) q.tensor_amax = std::bit_cast<double>(files.words("tensor_amax", "f64", 1)[0]);
  if (recipe.keep_reg < 0) return out;
  const auto indices = files.words("kept_index", "int64", -1);
  const auto values = files.words("kept_value", "f64", static_cast<std::int64_t>(indices.size()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= q.codes.size()) throw InputError("column 'kept_index' of '" + path + "'", "an index outside the tensor", "give what `halfulp quantize` wrote");
    q.kept.push_back({static_cast<std::int64_t>(indices[i]), std::bit_cast<double>(values[i])});
  }
  return out;
}

std::vector<double> with_axis_at(std::size_t axis, std::vector<std::uint64_t>& shape, std::vector<double> values) {
  if (shape.empty() || axis + 1 == shape.size() || values.empty()) return values;
  std::rotate(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end() - 1, shape.end());
  const std::size_t columns = shape[axis];
  const std::size_t inner = std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(), std::size_t{1}, std::multiplies<>());
  std::vector<double> moved(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / columns, k = i % columns;
    moved[(row / inner * columns + k) * inner + row % inner] = values[i];
  }
  return moved;
}

void write_values(const std::string& path, const std::vector<std::uint64_t>& shape, const std::vector<double>& values) {
  if (!path.ends_with(".npy")) throw InputError("output '" + path + "'", "values are written as one array", "name a .npy file, or - for text");
  tensors::NpyHeader header;
  header.descr = "<f4";
  header.shape = shape;
  std::vector<float> floats(values.size());
  std::transform(values.begin(), values.end(), floats.begin(), [](double value) { return static_cast<float>(value); });
  const HeldSignals held;
  tensors::NpyWriter writer(path, header);
  writer.write(std::as_bytes(std::span(floats)));
  writer.commit();
}

}  // namespace halfulp::tool
