// The registry of accumulation models, and how a run is made from names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation {

/// Every model and software order, in the order in which they are listed.
std::span<const AccumulationModel> models();

/// The model of that name. Throws InputError with the nearest names.
const AccumulationModel& find_model(std::string_view name);

/// The parts of a run by name. Empty formats and output mean the model's defaults.
struct SpecRequest {
  std::string model = {};
  std::string format_a = {}, format_b = {};
  std::string output = {};
  ZeroRule zero_rule = ZeroRule::a;
  int interval = 0;
  ScaleOrder scale_order = ScaleOrder::none;
  bool contract = false;
  bool saturate = false;
};

/// Throws InputError where the parts do not fit the model.
MmaSpec make_spec(const SpecRequest& request);

std::string_view name_of(Output output);
/// The format of a result and of c.
const FormatSpec& format_of(Output output);
/// True when the zero rule can change an answer of the model.
bool has_zero_rule(const AccumulationModel& model);
/// Products that share one scale of either side: of the model's block scales, or of scaled promotion; 0 without scales.
int scale_block(const MmaSpec& spec);
/// The format of those scales; only where scale_block() is not 0.
const FormatSpec& scale_format(const MmaSpec& spec);

}  // namespace halfulp::accumulation
