// Strips into columns.
#include "quantize_output.hpp"

#include <bit>

#include "halfulp/tensors/element_type.hpp"
#include "quantize_files.hpp"

namespace halfulp::tool {
namespace {

void append_word(std::vector<std::byte>& bytes, std::uint64_t word, int count) {
  for (int i = 0; i < count; ++i, word >>= 8) bytes.push_back(static_cast<std::byte>(word & 0xff));
}

void append_words(std::vector<std::byte>& bytes, const std::vector<std::uint64_t>& words, const std::string& format) {
  const int each = tensors::element_type(format).word_bytes;
  for (const std::uint64_t word : words) append_word(bytes, word, each);
}

}  // namespace

StripFiles::StripFiles(const recipes::QuantRecipe& recipe, const TensorRows& tensor, std::string path, std::optional<Packing> packing)
    : recipe_(&recipe), path_(std::move(path)), manifest_(quantize_manifest(recipe, tensor.shape(), tensor.axis(), packing)),
      repeats_(recipe.granularity == recipes::Granularity::tensor || recipe.granularity == recipes::Granularity::column),
      shape_(tensor.shape()) {
  const recipes::Blocks blocks = recipes::blocks_of(recipe, tensor.rows(), tensor.columns());
  scales_shape_ = {static_cast<std::uint64_t>(blocks.down()), static_cast<std::uint64_t>(blocks.across())};
  if (packing) {
    packer_.emplace(*packing, recipe.code.format.width, shape_.back());
    shape_.back() = packer_->row_bytes();
    manifest_.rows = shape_.front();
  }
  if (recipe.keep_reg < 0) open();  // else the number of kept elements is known at the end
}

void StripFiles::plan(const std::string& name, const std::string& format, std::vector<std::uint64_t> shape, std::vector<std::byte>* bytes) {
  manifest_.columns.push_back({name, vectors::Role::expected, format, std::move(shape)});
  later_.push_back(bytes);
}

void StripFiles::open() {
  plan("codes", packer_ ? "uint8" : recipe_->code.format_name, shape_, nullptr);
  if (recipe_->scale.reg >= 0) plan("scales", recipe_->scale.format_name, scales_shape_, &scales_);
  if (recipe_->zero.reg >= 0) plan("zeros", recipe_->zero.format_name, scales_shape_, &zeros_);
  if (recipe_->tensor_scale.reg >= 0) plan("tensor_scale", recipe_->tensor_scale.format_name, {1}, &tensor_scale_);
  if (recipes::reads(recipe_->value_steps, recipe_->A)) plan("tensor_amax", "f64", {1}, &tensor_amax_);
  if (recipe_->keep_reg >= 0) {
    plan("kept_index", "int64", {kept_index_.size() / 8}, &kept_index_);
    plan("kept_value", "f64", {kept_value_.size() / 8}, &kept_value_);
  }
  files_ = vectors::write_pack(path_, manifest_);
}

void StripFiles::take(const Strip& strip) {
  const recipes::Quantized& quantized = strip.quantized;
  if (files_) codes_.clear();
  if (packer_) packer_->append(quantized.codes, codes_);
  else append_words(codes_, quantized.codes, recipe_->code.format_name);
  if (files_) files_->write(0, codes_);
  if (first_ || !repeats_) {
    if (recipe_->scale.reg >= 0) append_words(scales_, quantized.scales, recipe_->scale.format_name);
    if (recipe_->zero.reg >= 0) append_words(zeros_, quantized.zeros, recipe_->zero.format_name);
  }
  if (first_ && quantized.tensor_scale) append_words(tensor_scale_, {*quantized.tensor_scale}, recipe_->tensor_scale.format_name);
  if (first_ && quantized.tensor_amax) append_word(tensor_amax_, std::bit_cast<std::uint64_t>(*quantized.tensor_amax), 8);
  for (const recipes::Kept& kept : quantized.kept) {
    append_word(kept_index_, static_cast<std::uint64_t>(kept.index + strip.first), 8);
    append_word(kept_value_, std::bit_cast<std::uint64_t>(kept.value), 8);
  }
  first_ = false;
}

void StripFiles::commit() {
  if (!files_) {
    open();
    files_->write(0, codes_);
  }
  for (std::size_t i = 1; i < manifest_.columns.size(); ++i) files_->write(i, *later_[i]);
  files_->commit();
}

}  // namespace halfulp::tool
