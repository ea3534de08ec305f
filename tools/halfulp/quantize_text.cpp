// Rows and blocks as text; see quantize_text.hpp.
#include "quantize_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iostream>

#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "quantize_options.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using recipes::QuantRecipe;

constexpr std::string_view kTensorScaleWord = "# tensor-scale ", kAmaxWord = "tensor-amax ", kKeptWord = "# kept ";

/// Takes the first word off `line`; empty at its end.
std::string_view next_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

template <class Action>
void at_line(const TensorLines& lines, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    throw std::runtime_error("stdin line " + std::to_string(lines.number()) + ", " + error.what());
  }
}

std::int64_t signed_of(const FormatSpec& spec, std::uint64_t code) {
  const bool negative = spec.is_signed && ((code >> (spec.width - 1)) & 1) != 0;
  return static_cast<std::int64_t>(code) - (negative ? std::int64_t{1} << spec.width : 0);
}

std::uint64_t parse_decimal(std::string_view word, const FormatSpec& spec, const std::string& what) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::int64_t most = (std::int64_t{1} << (spec.width - spec.sign_bits())) - 1, least = spec.is_signed ? -most - 1 : 0;
  if (error != std::errc{} || end != word.data() + word.size() || number < least || number > most) {
    throw InputError(what + " " + quoted(word), "not a number from " + std::to_string(least) + " to " + std::to_string(most),
                     "write it as `halfulp quantize` does");
  }
  return static_cast<std::uint64_t>(number) & low_mask(spec.width);
}

Format named(const recipes::Stored& stored) { return {stored.format_name, stored.format, {}, {}}; }

void append_value(std::string& text, double value) {
  append_hex_float(text, unpack(spec_of("f64"), std::bit_cast<std::uint64_t>(value)));
}

std::uint64_t parse_stored(std::string_view word, const recipes::Stored& stored) { return parse_code(word, named(stored)); }

}  // namespace

bool TensorLines::next(std::string& line) {
  if (!std::getline(std::cin, line)) {
    if (std::cin.bad()) throw InputError("standard input", "it cannot be read", "give a readable file or pipe");
    return false;
  }
  ++number_;
  line = std::string(trimmed(line));
  return true;
}

bool read_rows(TensorLines& lines, const Format& format, TextTensor& tensor) {
  tensor = {};
  for (std::string line; lines.next(line);) {
    if (line.empty() && tensor.rows > 0) return true;
    if (line.empty() || line.front() == '#') continue;
    at_line(lines, [&] {
      std::int64_t columns = 0;
      std::string_view rest = line;
      for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest), ++columns)
        tensor.values.push_back(number_of(word, format));
      if (tensor.rows > 0 && columns != tensor.columns) {
        throw InputError("row " + std::to_string(tensor.rows + 1), vectors::counted(static_cast<std::uint64_t>(columns), "value") + " in a tensor of " +
                         vectors::counted(static_cast<std::uint64_t>(tensor.columns), "column"), "make all rows as long; a blank line ends a tensor");
      }
      tensor.columns = columns;
      ++tensor.rows;
    });
  }
  return tensor.rows > 0;
}

void append_rows(std::string& text, std::int64_t columns, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    append_value(text, values[i]);
    text += (i + 1) % static_cast<std::size_t>(columns) == 0 ? '\n' : ' ';
  }
}

BlockText::BlockText(const QuantRecipe& recipe)
    : recipe_(&recipe),
      decimal_elements_(recipe.code.format.encoding == Encoding::twos_complement),
      decimal_zero_(recipe.zero.format.encoding == Encoding::twos_complement) {
  for (const recipes::Step& step : recipe.value_steps) {
    if (step.op == recipes::Op::entry) decimal_elements_ = false;  // an index into a codebook
  }
}

void BlockText::append_head(std::string& text, const recipes::Quantized& quantized) const {
  if (!quantized.tensor_scale) return;
  text += kTensorScaleWord;
  append_code(text, recipe_->tensor_scale.format, *quantized.tensor_scale);
  if (quantized.tensor_amax && recipes::reads(recipe_->value_steps, recipe_->A)) {
    append_value(text.append(" ").append(kAmaxWord), *quantized.tensor_amax);
  }
  text += '\n';
}

std::string BlockText::scale_text(const recipes::Quantized& quantized, std::size_t block) const {
  return quantized.scales.empty() ? "-" : code_text(recipe_->scale.format, quantized.scales[block]);
}

std::string BlockText::zero_text(const recipes::Quantized& quantized, std::size_t block) const {
  const std::uint64_t zero = quantized.zeros[block];
  return decimal_zero_ ? std::to_string(signed_of(recipe_->zero.format, zero)) : code_text(recipe_->zero.format, zero);
}

std::string BlockText::element_text(std::uint64_t code) const {
  return decimal_elements_ ? std::to_string(signed_of(recipe_->code.format, code)) : code_text(recipe_->code.format, code);
}

void BlockText::append_blocks(std::string& text, const recipes::Quantized& quantized, const std::vector<bool>& marked,
                              const std::vector<double>& values) const {
  const recipes::Blocks& blocks = quantized.blocks;
  const auto each = [&](const recipes::Blocks::Range& range, const auto& action) { for_each_element(blocks, range, action); };
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const auto block = static_cast<std::size_t>(i);
    text += scale_text(quantized, block);
    if (!quantized.zeros.empty()) text += ":" + zero_text(quantized, block);
    each(blocks[i], [&](std::size_t element) { text += " " + element_text(quantized.codes[element]); });
    if (!marked.empty() && marked[block]) text += " ~";
    text += '\n';
    if (values.empty()) continue;
    text += '=';
    each(blocks[i], [&](std::size_t element) { append_value(text += ' ', values[element]); });
    text += '\n';
  }
  for (const recipes::Kept& kept : quantized.kept) {
    append_value(text.append(kKeptWord).append(std::to_string(kept.index)) += ' ', kept.value);
    text += '\n';
  }
}

std::uint64_t BlockText::parse_element(std::string_view word) const {
  return decimal_elements_ ? parse_decimal(word, recipe_->code.format, "element") : parse_code(word, named(recipe_->code));
}

BlockText::Block BlockText::parse_block(std::string_view line) const {
  Block block;
  std::string_view scale = next_word(line), zero;
  if (const auto colon = scale.find(':'); colon != std::string_view::npos) {
    zero = scale.substr(colon + 1);
    scale = scale.substr(0, colon);
  }
  const auto refuse = [&](const std::string& why) {
    throw InputError("scale " + quoted(scale), why, "give lines as `halfulp quantize` writes them with the same recipe");
  };
  if ((recipe_->scale.reg < 0) != (scale == "-")) refuse(recipe_->scale.reg < 0 ? "the recipe stores no scale" : "the recipe stores one");
  if ((recipe_->zero.reg < 0) != zero.empty()) refuse(zero.empty() ? "no zero point behind a colon" : "the recipe stores no zero point");
  if (recipe_->scale.reg >= 0) block.scale = parse_stored(scale, recipe_->scale);
  if (recipe_->zero.reg >= 0)
    block.zero = decimal_zero_ ? parse_decimal(zero, recipe_->zero.format, "zero point") : parse_stored(zero, recipe_->zero);
  for (std::string_view word = next_word(line); !word.empty() && word != "~"; word = next_word(line))
    block.codes.push_back(parse_element(word));
  if (block.codes.empty()) throw InputError("block", "it has no elements", "write SCALE CODE CODE …");
  return block;
}

void BlockText::parse_comment(std::string_view line, Tensor& tensor) const {
  const Format f64 = require_format("f64");
  if (line.starts_with(kTensorScaleWord)) {
    const auto refuse = [&](const char* why, const char* mend) { throw InputError(quoted(line), why, mend); };
    if (recipe_->tensor_scale.reg < 0) refuse("the recipe stores no tensor scale", "name the recipe that wrote the line");
    if (tensor.scale) refuse("a second one for this tensor", "keep one; a blank line ends a tensor");
    if (!tensor.blocks.empty()) refuse("it stands behind blocks", "put it before the tensor's first block");
    line.remove_prefix(kTensorScaleWord.size());
    tensor.scale = parse_stored(next_word(line), recipe_->tensor_scale);
    const std::string_view more = next_word(line);
    if (more == trimmed(kAmaxWord)) tensor.amax = number_of(next_word(line), f64);
    if ((!more.empty() && !tensor.amax) || !next_word(line).empty())
      throw InputError("tensor-scale line", "more than a code and a tensor-amax", "write it as `halfulp quantize` does");
  } else if (line.starts_with(kKeptWord) && recipe_->keep_reg >= 0) {
    line.remove_prefix(kKeptWord.size());
    const auto index = parse_decimal(next_word(line), spec_of("int32"), "index");
    tensor.kept.push_back({static_cast<std::int64_t>(index), number_of(next_word(line), f64)});
  }
}

bool BlockText::read(TensorLines& lines, Tensor& tensor) const {
  tensor = {};
  for (std::string line; lines.next(line);) {
    if (line.empty() && !tensor.blocks.empty()) return true;
    if (line.empty() || line.front() == '=') continue;
    at_line(lines, [&] {
      if (line.front() == '#') parse_comment(line, tensor);
      else tensor.blocks.push_back(parse_block(line));
    });
  }
  return !tensor.blocks.empty();
}

}  // namespace halfulp::tool
