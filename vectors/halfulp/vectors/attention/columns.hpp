// Rows of attention as the columns of a pack, and back.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halfulp/attention/problem.hpp"
#include "halfulp/vectors/attention/plan.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

struct AttentionColumn {
  std::string name, format;
  std::vector<std::uint64_t> shape;  ///< of a row
  std::size_t words() const;
  std::size_t word_bytes() const;
  std::size_t row_bytes() const { return words() * word_bytes(); }
};

/// q, k, v by slot; live; score_scale, q_scale, k_scale, v_scale, and logit_scale, their product as the reference forms it;
/// sink and page_table where the plan has them.
std::vector<AttentionColumn> attention_inputs(const AttentionPlan& plan);

/// Stages in the order in which a kernel comes to them, O last; O alone without plan.stages. Places of keys or tiles that
/// a row does not have hold 0.
std::vector<AttentionColumn> attention_outputs(const AttentionPlan& plan);

/// A row of every input column, little-endian.
std::vector<std::vector<std::byte>> input_bytes(const AttentionPlan& plan, const attention::Case& c);
/// Throws InputError where a number of tokens or a page is out of range.
attention::Case input_case(const AttentionPlan& plan, const std::vector<std::span<const std::byte>>& row);

/// Words of every output column of a row.
using AttentionAnswer = std::vector<std::vector<std::uint32_t>>;
AttentionAnswer answer_of(const AttentionPlan& plan, const attention::Stages& stages);

std::vector<std::byte> bytes_of(const AttentionColumn& column, std::span<const std::uint32_t> words);
std::vector<std::uint32_t> words_of(const AttentionColumn& column, std::span<const std::byte> bytes);

}  // namespace halfulp::vectors
