#include "gpu_check/attention/limits.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "halfulp/formats.hpp"

namespace halfulp::gpu {
namespace {

constexpr std::int64_t kMostKeys = 1 << 16, kMostHeads = 1 << 10, kFar = std::int64_t{1} << 40;

void require(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw std::runtime_error(std::string(name) + " is " + std::to_string(value) + ", not from " + std::to_string(least) + " to " + std::to_string(most));
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// The other numbers are switches (0 or 1) or float32 bits.
struct Range {
  const char* name;
  std::int64_t least, most;
};
constexpr Range kRanges[] = {
    {"query_heads", 1, kMostHeads}, {"kv_heads", 1, kMostHeads},   {"queries", 1, kMostKeys},     {"keys", 0, kMostKeys},
    {"head_dim", 1, kMaxDim},       {"value_dim", 1, kMaxDim},     {"tile", 1, kMaxTile},         {"split", 0, kMostKeys},
    {"qk_scheme", 0, 2},            {"qk_chunk", 1, 32},           {"qk_fraction_bits", 0, 40},   {"qk_f32_fraction_bits", 0, 23},
    {"pv_scheme", 0, 2},            {"pv_chunk", 1, 32},           {"pv_fraction_bits", 0, 40},   {"pv_f32_fraction_bits", 0, 23},
    {"lanes", 1, 4},                {"interval", 0, kMostKeys},    {"page_size", 0, kMostKeys},   {"quantized_keys", 0, kMostKeys},
    {"before", -kFar, kFar},        {"after", -kFar, kFar},        {"prefix", -kFar, kFar},       {"quantized_values", 0, kMostKeys},
    {"code_bits", 0, 8},            {"group", 0, kMostKeys},       {"residual", 0, kMostKeys},
};

void check_numbers(const AttentionPlan& plan) {
  for_each_member(plan, [](const char* name, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) {
      const auto* const range = std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& each) { return std::string_view(each.name) == name; });
      if (range == std::end(kRanges)) require(name, value, 0, 1);
      else require(name, value, range->least, range->most);
    }
  });
}

void check_formats(const AttentionPlan& p) {
  const int widest = p.code_bits != 0 ? 16 : 8;
  for (const FormatSpec& format : {p.qk.a, p.qk.b, p.pv.a, p.pv.b}) require(format.width >= 1 && format.width <= widest, "an operand is wider than the codes of the cache");
  constexpr std::array kOutputs = {spec_of("f32"), spec_of("f16"), spec_of("bf16"), spec_of("e4m3"), spec_of("e5m2")};
  require(std::find(kOutputs.begin(), kOutputs.end(), p.out) != kOutputs.end(), "out is no format that the kernels write");
}

/// What the numbers must be to each other.
void check_relations(const AttentionPlan& p) {
  require(p.query_heads % p.kv_heads == 0, "query_heads is no multiple of kv_heads");
  require(p.lanes == 1 || p.lanes == 4, "lanes is neither 1 nor 4");
  require(p.split % p.tile == 0, "split is no multiple of tile");
  require(p.page_size == 0 || p.code_bits == 0, "page_size and code_bits exclude each other");
  if (p.code_bits == 0) return;
  require(p.code_bits == 1 || p.code_bits == 2 || p.code_bits == 4 || p.code_bits == 8, "code_bits divides no word");
  const std::uint32_t per_word = 32 / p.code_bits;
  require("group", p.group, 1, kMostKeys);
  require(p.quantized_keys % p.group == 0 && p.quantized_keys % per_word == 0, "quantized_keys is no whole number of groups and words");
  require(p.value_dim % p.group == 0 && p.value_dim % per_word == 0, "value_dim is no whole number of groups and words");
  for (const std::uint32_t quantized : {p.quantized_keys, p.quantized_values}) {
    require(quantized <= p.keys && p.keys - quantized <= p.residual, "the recent tokens are more than residual, or fewer than none");
  }
}

void require_size(const AttentionFile& file, const char* name, std::size_t size) {
  const auto found = file.inputs.find(name);
  if (found == file.inputs.end()) throw std::runtime_error(std::string("input ") + name + " is missing");
  if (found->second.size() != size) {
    throw std::runtime_error(std::string("input ") + name + " has " + std::to_string(found->second.size()) + " words, not " + std::to_string(size));
  }
}

void check_pages(const AttentionFile& file) {
  const AttentionPlan& p = file.plan;
  const std::size_t blocks = (std::size_t{p.keys} + p.page_size - 1) / p.page_size, pages = blocks + 2, slots = pages * p.page_size * p.kv_heads;
  require_size(file, "k", slots * p.head_dim);
  require_size(file, "v", slots * p.value_dim);
  require_size(file, "pages", blocks + 1);
  const auto& table = file.input("pages");
  for (std::size_t i = 0; i < blocks; ++i) require("an entry of pages", table[i], 0, static_cast<std::int64_t>(pages) - 1);
}

void check_kivi(const AttentionFile& file) {
  const AttentionPlan& p = file.plan;
  const std::size_t heads = p.kv_heads, keys = heads * p.quantized_keys * p.head_dim, values = heads * p.quantized_values * p.value_dim;
  require_size(file, "k_codes", keys * p.code_bits / 32);
  require_size(file, "v_codes", values * p.code_bits / 32);
  for (const char* name : {"k_step", "k_minimum"}) require_size(file, name, keys / p.group);
  for (const char* name : {"v_step", "v_minimum"}) require_size(file, name, values / p.group);
  require_size(file, "k_recent", heads * p.residual * p.head_dim);
  require_size(file, "v_recent", heads * p.residual * p.value_dim);
}

}  // namespace

void check_limits(const AttentionFile& file) {
  const AttentionPlan& p = file.plan;
  check_numbers(p);
  check_formats(p);
  check_relations(p);
  require_size(file, "q", std::size_t{p.rows()} * p.head_dim);
  require_size(file, "logit_scale", p.query_heads);
  require_size(file, "sink", p.query_heads);
  require_size(file, "v_scale", std::size_t{p.kv_heads} * p.value_dim);
  if (p.page_size != 0) return check_pages(file);
  if (p.code_bits != 0) return check_kivi(file);
  require_size(file, "k", std::size_t{p.kv_heads} * p.keys * p.head_dim);
  require_size(file, "v", std::size_t{p.kv_heads} * p.keys * p.value_dim);
}

void check_case(const AttentionFile& file, const AttentionCase& each) {
  const AttentionPlan& p = file.plan;
  const auto same = [](const char* name, std::uint32_t got, std::uint32_t right) { require(name, got, right, right); };
  same("query_heads", p.query_heads, each.query_heads), same("kv_heads", p.kv_heads, each.kv_heads), same("queries", p.queries, each.queries);
  same("keys", p.keys, each.keys), same("head_dim", p.head_dim, each.head_dim), same("value_dim", p.value_dim, each.value_dim);
  same("page_size", p.page_size, each.page_size), same("code_bits", p.code_bits, each.code_bits);
}

}  // namespace halfulp::gpu
