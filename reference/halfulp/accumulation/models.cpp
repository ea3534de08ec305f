// The accumulation models, one per row; sources and marks are explained in docs/accumulation.md.
#include "halfulp/accumulation/models.hpp"

#include <array>
#include <vector>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/words.hpp"

namespace halfulp::accumulation {
namespace {

constexpr std::string_view kAnyFloat = "f32 e4m3 e5m2 e4m3fnuz e5m2fnuz e3m2 e2m3 e2m1 f16 bf16 tf32 int8 uint8";
constexpr std::string_view kFp8 = "e4m3 e5m2";
constexpr std::string_view kNarrow = "e4m3 e5m2 e3m2 e2m3 e2m1";

// clang-format off
constexpr auto kModels = std::to_array<AccumulationModel>({
    {"volta_f16",           Scheme::fused, "f16",      false, "f32 f16", 4,  23, 23, {}, false, "hw"},
    {"turing_f16",          Scheme::fused, "f16",      false, "f32 f16", 8,  24, 23, {}, false, "claim"},
    {"ampere_f16",          Scheme::fused, "f16 bf16", false, "f32 f16", 8,  24, 23, {}, false, "hw", "also Ada"},
    {"ampere_tf32",         Scheme::fused, "tf32",     false, "f32",     4,  24, 23, {}, false, "hw", "also Ada"},
    {"ada_fp8",             Scheme::fused, kFp8,       true,  "f32 f16", 16, 13, 13, {}, false, "hw", "mma.sync; k32 is two chunks"},
    {"hopper_f16",          Scheme::fused, "f16 bf16", false, "f32 f16", 16, 25, 23, {}, false, "hw", "mma.sync, wgmma"},
    {"hopper_tf32",         Scheme::fused, "tf32",     false, "f32",     8,  25, 23, {}, false, "hw", "hw for 4 products, chunk of 8: claim"},
    {"hopper_fp8_wgmma",    Scheme::fused, kFp8,       true,  "f32 f16", 32, 13, 13, {}, false, "hw", "hw for f32 with c = 0; c != 0 and f16: claim"},
    {"hopper_fp8_mma_sync", Scheme::widened_halves, kFp8, true, "f32 f16", 32, 25, 23, {}, false, "hw", "hw and sass; also sm_100 mma.sync"},
    {"blackwell_f16",       Scheme::fused, "f16 bf16", false, "f32 f16", 16, 25, 23, {}, false, "hw"},
    {"blackwell_tf32",      Scheme::fused, "tf32",     false, "f32",     8,  25, 23, {}, false, "hw", "hw for 4 products, chunk of 8: claim"},
    {"blackwell_f8f6f4",    Scheme::fused, kNarrow,    true,  "f32 f16", 32, 25, 23, {}, false, "claim", "tcgen05; also sm_120 mma.sync"},
    {"blackwell_mxf8f6f4",  Scheme::fused, kNarrow,    true,  "f32",     32, 25, 23, {"e8m0", 32}, false, "claim"},
    {"blackwell_mxf4",      Scheme::scaled_groups, "e2m1", false, "f32", 64, 35, 23, {"e8m0", 32}, false, "claim", "a public thread could not decide between F = 34 and 37"},
    {"blackwell_mxf4nvf4",  Scheme::scaled_groups, "e2m1", false, "f32", 64, 35, 23, {"ue4m3", 16}, false, "claim", "a public thread could not decide between F = 34 and 37"},
    {"int8_imma",           Scheme::integer, "int8 uint8", true, "int32", 32, 0, 0, {}, false, "doc", "wraps; --saturate clamps once a chunk"},
    {"cdna1_f16",           Scheme::pairwise, "f16",   false, "f32",     4,  23, 23, {}, false, "claim"},
    {"cdna1_bf16",          Scheme::pairwise, "bf16",  false, "f32",     2,  23, 23, {}, false, "claim"},
    {"cdna1_bf16_1k",       Scheme::pairwise, "bf16",  false, "f32",     4,  23, 23, {}, false, "claim"},
    {"cdna1_f16_exact",     Scheme::exact,    "f16",   false, "f32",     4,  0,  23, {}, false, "model", "the other public reading: one rounding per group"},
    {"cdna1_bf16_exact",    Scheme::exact,    "bf16",  false, "f32",     2,  0,  23, {}, false, "model", "the other public reading: one rounding per group"},
    {"cdna1_bf16_1k_exact", Scheme::exact,    "bf16",  false, "f32",     4,  0,  23, {}, false, "model", "the other public reading: one rounding per group"},
    {"cdna2_f16",           Scheme::pairwise, "f16",   false, "f32",     4,  23, 23, {}, true,  "claim", "flushes subnormals"},
    {"cdna2_bf16",          Scheme::pairwise, "bf16",  false, "f32",     2,  23, 23, {}, true,  "claim", "flushes subnormals"},
    {"cdna2_bf16_1k",       Scheme::pairwise, "bf16",  false, "f32",     4,  23, 23, {}, true,  "claim", "flushes subnormals"},
    {"cdna3_f16",           Scheme::two_stage, "f16 bf16", false, "f32", 8,  24, 23, {}, false, "claim"},
    {"cdna3_xf32",          Scheme::two_stage, "tf32", false, "f32",     4,  24, 23, {}, false, "claim"},
    {"cdna3_fp8",           Scheme::two_stage_parity, "e4m3fnuz e5m2fnuz", true, "f32", 16, 24, 23, {}, false, "claim"},
    {"exact",               Scheme::exact,          kAnyFloat, true, "f32 f16", 0, 0, 23, {}, false, "exact", "one rounding at the end"},
    {"f32_sequential",      Scheme::sequential,     kAnyFloat, true, "f32", 0, 0, 23, {}, false, "exact", "multiply, round, add, round"},
    {"f32_fma_sequential",  Scheme::fma_sequential, kAnyFloat, true, "f32", 0, 0, 23, {}, false, "exact", "one fma per product"},
    {"f32_tree",            Scheme::tree,           kAnyFloat, true, "f32", 0, 0, 23, {}, false, "exact", "rounded products, adjacent pairs, then + c"},
    {"f32_warp_tree",       Scheme::warp_tree,      kAnyFloat, true, "f32", 0, 0, 23, {}, false, "exact", "32 lanes k mod 32, then lane + 16, 8, 4, 2, 1, then + c"},
});
// clang-format on

constexpr FormatSpec kOutputs[] = {spec_of("f32"), spec_of("f16"), spec_of("int32")};
constexpr std::string_view kOutputNames[] = {"f32", "f16", "int32"};
constexpr FormatSpec kE8m0 = spec_of("e8m0"), kUe4m3 = spec_of("ue4m3"), kF32 = spec_of("f32");

std::string joined(std::string_view text) {
  std::string list;
  for (const std::string_view word : words_of(text)) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

bool has_word(std::string_view text, std::string_view word) {
  for (const std::string_view each : words_of(text)) {
    if (each == word) return true;
  }
  return false;
}

InputError does_not_fit(const AccumulationModel& model, const std::string& what, const std::string& why, const std::string& mend) {
  return InputError(what + " with model " + std::string(model.name), why, mend);
}

/// The canonical name of an operand format of the model.
std::string_view operand_format(const AccumulationModel& model, const std::string& name) {
  if (name.empty()) return words_of(model.inputs).front();
  const Format format = require_format(name);
  for (const std::string_view word : words_of(model.inputs)) {
    if (word == format.name) return word;
  }
  throw does_not_fit(model, "format '" + name + "'", "the model does not take it", "choose from " + joined(model.inputs));
}

Output output_named(const AccumulationModel& model, const std::string& name) {
  const std::string_view chosen = name.empty() ? words_of(model.outputs).front() : std::string_view(name);
  for (std::size_t i = 0; i < std::size(kOutputNames); ++i) {
    if (chosen == kOutputNames[i] && has_word(model.outputs, chosen)) return static_cast<Output>(i);
  }
  throw does_not_fit(model, "output format '" + name + "'", "the model does not give it", "choose from " + joined(model.outputs));
}

}  // namespace

std::span<const AccumulationModel> models() { return kModels; }

const AccumulationModel& find_model(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AccumulationModel& model : kModels) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const std::string near = nearest_names(name, names);
  throw InputError("model '" + std::string(name) + "'", "no model has that name",
                   near.empty() ? "`halfulp mma --list` shows all" : "nearest names: " + near);
}

bool has_zero_rule(const AccumulationModel& model) {
  return model.scheme == Scheme::fused || model.scheme == Scheme::widened_halves || model.scheme == Scheme::scaled_groups;
}

MmaSpec make_spec(const SpecRequest& request) {
  const AccumulationModel& model = find_model(request.model);
  MmaSpec spec;
  spec.model = model;
  const std::string_view a = operand_format(model, request.format_a), b = operand_format(model, request.format_b);
  spec.a = find_format(a)->spec;
  spec.b = find_format(b)->spec;
  if (a != b && !model.mixed_inputs) {
    throw does_not_fit(model, "formats " + std::string(a) + " and " + std::string(b), "the model takes one format for both",
                       "name one with --format");
  }
  spec.output = output_named(model, request.output);
  spec.zero_rule = request.zero_rule;
  if (spec.zero_rule == ZeroRule::b && !has_zero_rule(model)) {
    throw does_not_fit(model, "zero rule b", "the model has one reading only", "leave --zero-rule out");
  }
  spec.interval = request.interval;
  if (spec.interval < 0) throw does_not_fit(model, "interval " + std::to_string(spec.interval), "it is negative", "give a number of products");
  if (spec.interval > 0 && !model.scale.format.empty() && spec.interval % model.scale.block != 0) {
    throw does_not_fit(model, "interval " + std::to_string(spec.interval), "a block would be cut in two",
                       "give a multiple of " + std::to_string(model.scale.block));
  }
  spec.scale_order = request.scale_order;
  spec.contract = request.contract;
  if (spec.scale_order != ScaleOrder::none && (spec.interval == 0 || spec.output != Output::f32 || !model.scale.format.empty())) {
    throw does_not_fit(model, "a scale order", "scales enter where float32 pieces are promoted, and the model may have none of its own",
                       "give --interval N and an f32 output");
  }
  if (spec.contract && spec.scale_order == ScaleOrder::none) {
    throw does_not_fit(model, "contraction", "there is no multiply to contract", "give --scale-order too");
  }
  spec.saturate = request.saturate;
  if (spec.saturate && model.scheme != Scheme::integer) {
    throw does_not_fit(model, "saturation", "only integer models have it", "leave --saturate out");
  }
  return spec;
}

std::string_view name_of(Output output) { return kOutputNames[static_cast<std::size_t>(output)]; }
const FormatSpec& format_of(Output output) { return kOutputs[static_cast<std::size_t>(output)]; }

int scale_block(const MmaSpec& spec) {
  if (spec.scale_order != ScaleOrder::none) return spec.interval;
  return spec.model.scale.block;
}

const FormatSpec& scale_format(const MmaSpec& spec) {
  if (spec.scale_order != ScaleOrder::none) return kF32;
  return spec.model.scale.format == "e8m0" ? kE8m0 : kUe4m3;
}

}  // namespace halfulp::accumulation
