// A problem with its expected stages as a file: made by prepare from the reference kernel, read where kernels run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_check/attention/cases.hpp"
#include "gpu_check/attention/plan.hpp"

namespace halfulp::gpu {

/// The stages in the order in which they arise; a comparison names the first that differs.
inline constexpr const char* kStageNames[] = {"L", "S", "m", "alpha", "t", "P", "P_code", "l", "O_tile", "row_sum", "m_last", "O"};

struct AttentionFile {
  AttentionPlan plan;
  /// q; k, v (contiguous, paged) or the arrays of KiviCache; pages; logit_scale, sink, v_scale as float32 bits. One word per element.
  std::map<std::string, std::vector<std::uint32_t>> inputs;
  std::map<std::string, std::vector<std::uint32_t>> stages;  ///< by kStageNames

  const std::vector<std::uint32_t>& input(const std::string& name) const { return inputs.at(name); }
};

/// Words of a stage of a plan.
std::size_t stage_size(const AttentionPlan& plan, std::string_view stage);
/// "O_tile[row 3, tile 1, channel 5]".
std::string stage_place(const AttentionPlan& plan, std::string_view stage, std::size_t index);

/// Both throw std::runtime_error. What is read is within the limits of the kernels, and has the sizes of `expected` where that is given.
void write_attention_file(const std::string& path, const AttentionFile& file);
AttentionFile read_attention_file(const std::string& path, const AttentionCase* expected = nullptr);

/// The file of a case under DATA: letters, digits and '_' of its name.
std::string attention_path(const std::string& data, std::string_view case_name);

}  // namespace halfulp::gpu
