#include "halfulp/vectors/attention/columns.hpp"

#include <algorithm>
#include <bit>

#include "halfulp/error.hpp"
#include "halfulp/tensors/element_type.hpp"

namespace halfulp::vectors {
namespace {

using attention::Case;
using attention::Stages;

/// Little-endian words of that size.
void put(std::vector<std::byte>& bytes, std::uint32_t word, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
}

std::vector<std::uint32_t> float_words(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  return words;
}

std::vector<float> floats_of(const std::vector<std::uint32_t>& words) {
  std::vector<float> values;
  for (const std::uint32_t word : words) values.push_back(std::bit_cast<float>(word));
  return values;
}

/// `per_row` words of every row, `have` of them from the stage and zeros behind.
std::vector<std::uint32_t> padded(const std::vector<std::uint32_t>& stage, std::size_t rows, std::size_t have, std::size_t per_row) {
  std::vector<std::uint32_t> words(rows * per_row, 0);
  if (stage.size() != rows * have) return words;
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(stage.begin() + static_cast<std::ptrdiff_t>(row * have), std::min(have, per_row), words.begin() + static_cast<std::ptrdiff_t>(row * per_row));
  }
  return words;
}

}  // namespace

std::size_t AttentionColumn::words() const {
  std::size_t count = 1;
  for (const std::uint64_t d : shape) count *= static_cast<std::size_t>(d);
  return count;
}

std::size_t AttentionColumn::word_bytes() const { return static_cast<std::size_t>(tensors::element_type(format).word_bytes); }

std::vector<AttentionColumn> attention_inputs(const AttentionPlan& plan) {
  const attention::Shape& s = plan.frame.shape;
  std::vector<AttentionColumn> columns = {{"q", plan.kernel.q_format, {s.query_heads, s.queries, s.head_dim}},
                                          {"k", plan.kernel.k_format, {s.kv_heads, s.keys, s.head_dim}},
                                          {"v", plan.kernel.v_format, {s.kv_heads, s.keys, s.value_dim}},
                                          {"live", "uint32", {}},
                                          {"score_scale", "f32", {}},
                                          {"q_scale", "f32", {s.query_heads}},
                                          {"k_scale", "f32", {s.kv_heads}},
                                          {"v_scale", "f32", {s.kv_heads}},
                                          {"logit_scale", "f32", {s.query_heads}}};
  if (plan.frame.sinks) columns.push_back({"sink", "f32", {s.query_heads}});
  if (plan.frame.page_size != 0) columns.push_back({"page_table", "uint32", {s.keys / plan.frame.page_size}});
  return columns;
}

std::vector<AttentionColumn> attention_outputs(const AttentionPlan& plan) {
  const attention::Shape& s = plan.frame.shape;
  const std::uint64_t h = s.query_heads, q = s.queries, tiles = plan.tiles();
  std::vector<AttentionColumn> columns;
  if (plan.stages) {
    columns = {{"s", "f32", {h, q, s.keys}},
               {"m", "f32", {h, q, tiles}},
               {"t", "f32", {h, q, s.keys}},
               {"p", "f32", {h, q, s.keys}},
               {"p_code", plan.kernel.p_format, {h, q, s.keys}},
               {"alpha", "f32", {h, q, tiles}},
               {"l", "f32", {h, q, tiles, static_cast<std::uint64_t>(plan.kernel.lanes)}},
               {"row_sum", "f32", {h, q}},
               {"o_tile", "f32", {h, q, tiles, s.value_dim}}};
  }
  columns.push_back({"o", plan.kernel.out, {h, q, s.value_dim}});
  return columns;
}

std::vector<std::vector<std::byte>> input_bytes(const AttentionPlan& plan, const Case& c) {
  const attention::Gathered folded = attention::gathered(plan.kernel, c);
  std::vector<std::vector<std::uint32_t>> words = {c.q, c.k, c.v, {static_cast<std::uint32_t>(c.live)}, float_words({c.score_scale}), float_words(c.q_scale),
                                                   float_words(c.k_scale), float_words(c.v_scale), float_words(folded.logit_scale)};
  if (plan.frame.sinks) words.push_back(float_words(c.sink));
  if (plan.frame.page_size != 0) words.push_back(c.page_table);
  std::vector<std::vector<std::byte>> row;
  const auto columns = attention_inputs(plan);
  for (std::size_t i = 0; i < columns.size(); ++i) row.push_back(bytes_of(columns[i], words[i]));
  return row;
}

Case input_case(const AttentionPlan& plan, const std::vector<std::span<const std::byte>>& row) {
  const auto columns = attention_inputs(plan);
  std::vector<std::vector<std::uint32_t>> words;
  for (std::size_t i = 0; i < columns.size(); ++i) words.push_back(words_of(columns[i], row[i]));
  Case c = plan.empty_case();
  c.q = words[0];
  c.k = words[1];
  c.v = words[2];
  c.live = words[3][0];
  c.score_scale = std::bit_cast<float>(words[4][0]);
  c.q_scale = floats_of(words[5]);
  c.k_scale = floats_of(words[6]);
  c.v_scale = floats_of(words[7]);
  std::size_t next = 9;
  if (plan.frame.sinks) c.sink = floats_of(words[next++]);
  if (plan.frame.page_size != 0) c.page_table = words[next];
  const auto fail = [&](const char* what) { throw InputError("pack of " + spec_text(plan), std::string(what) + " is out of range", "write it again with `halfulp gen`"); };
  if (c.live > c.shape.keys) fail("a number of live tokens");
  for (const std::uint32_t page : c.page_table) {
    if (page >= c.page_table.size()) fail("a page");
  }
  return c;
}

AttentionAnswer answer_of(const AttentionPlan& plan, const Stages& stages) {
  AttentionAnswer answer;
  const std::size_t rows = plan.frame.shape.query_heads * plan.frame.shape.queries;
  const auto columns = attention_outputs(plan);
  const auto take = [&](const std::vector<std::uint32_t>& stage, std::size_t have) {
    answer.push_back(padded(stage, rows, have, columns[answer.size()].words() / rows));
  };
  if (plan.stages) {
    take(stages.S, stages.keys);
    take(stages.m, stages.tiles);
    take(stages.t, stages.keys);
    take(stages.P, stages.keys);
    take(stages.P_code, stages.keys);
    take(stages.alpha, stages.tiles);
    take(stages.l, stages.tiles * stages.lanes);
    take(stages.row_sum, 1);
    take(stages.O_tile, stages.tiles * stages.value_dim);
  }
  take(stages.O, stages.value_dim);
  return answer;
}

std::vector<std::byte> bytes_of(const AttentionColumn& column, std::span<const std::uint32_t> words) {
  std::vector<std::byte> bytes;
  for (const std::uint32_t word : words) put(bytes, word, column.word_bytes());
  return bytes;
}

std::vector<std::uint32_t> words_of(const AttentionColumn& column, std::span<const std::byte> bytes) {
  const std::size_t size = column.word_bytes();
  std::vector<std::uint32_t> words(bytes.size() / size, 0);
  for (std::size_t i = 0; i < words.size() * size; ++i) words[i / size] |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * (i % size));
  return words;
}

}  // namespace halfulp::vectors
