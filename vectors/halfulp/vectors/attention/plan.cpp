#include "halfulp/vectors/attention/plan.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"

namespace halfulp::vectors {
namespace {

using attention::Frame;
using attention::Shape;

constexpr std::string_view kPrefix = "attention:", kAny = "any";

/// What `attention:any` leaves open.
constexpr std::string_view kOrderKeys[] = {"tile",  "order",    "split", "qk_model", "offset",    "threshold", "prescale",
                                           "sum_of", "lanes", "pv_model", "pv_output", "pv", "interval"};
constexpr std::size_t kMostSize = 1 << 16;

InputError refused(std::string_view key, std::string_view value, const char* form) {
  return InputError("attention rows, " + std::string(key) + "=" + std::string(value.substr(0, 40)),
                    "no such value", std::string("write ") + form);
}

std::size_t number(std::string_view key, std::string_view value, const char* form, std::size_t least) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < least || n > kMostSize)
    throw refused(key, value, form);
  return n;
}

void pair(std::string_view key, std::string_view value, const char* form, std::size_t& first,
          std::size_t& second) {
  const auto colon = value.find(':');
  if (colon == std::string_view::npos) throw refused(key, value, form);
  first = number(key, value.substr(0, colon), form, 1);
  second = number(key, value.substr(colon + 1), form, 1);
}

bool flag(std::string_view key, std::string_view value) {
  if (value != "yes" && value != "no") throw refused(key, value, "yes or no");
  return value == "yes";
}

/// Sets what belongs to the rows; false for keys of kernels.
bool set_row_key(AttentionPlan& plan, std::string_view key, std::string_view value) {
  Frame& frame = plan.frame;
  Shape& shape = frame.shape;
  if (key == "heads")
    pair(key, value, "heads=Q:KV", shape.query_heads, shape.kv_heads);
  else if (key == "queries")
    shape.queries = number(key, value, "queries=N", 1);
  else if (key == "keys")
    shape.keys = number(key, value, "keys=N", 1);
  else if (key == "dim")
    pair(key, value, "dim=D:DV", shape.head_dim, shape.value_dim);
  else if (key == "page")
    frame.page_size = number(key, value, "page=N", 0);
  else if (key == "sinks")
    frame.sinks = flag(key, value);
  else if (key == "rows")
    plan.random_rows = number(key, value, "rows=N", 0);
  else if (key == "order" && value == "unknown")
    plan.order_unknown = true;
  else if (key == "probes")
    plan.probes = flag(key, value);
  else if (key == "stages")
    plan.stages = flag(key, value);
  else if (key == "cache" && value == "kivi_k")
    plan.cache = AttentionCache::kivi_k;
  else if (key == "cache" && value == "codes")
    plan.cache = AttentionCache::codes;
  else if (key == "cache")
    throw refused(key, value, "cache=codes or cache=kivi_k");
  else
    return false;
  return true;
}

void check(const AttentionPlan& plan) {
  const Shape& shape = plan.frame.shape;
  if (shape.query_heads % shape.kv_heads != 0)
    throw InputError("attention rows, heads", "query heads are no multiple of the KV heads",
                     "write e.g. heads=4:2");
  if (plan.frame.page_size != 0 && shape.keys % plan.frame.page_size != 0)
    throw InputError("attention rows, page", "keys are no whole pages", "write e.g. keys=320,page=16");
  if (plan.cache == AttentionCache::kivi_k && (plan.kernel.k_format != "f16" || plan.frame.page_size != 0))
    throw InputError("attention rows, cache=kivi_k", "it makes float16 keys of whole sequences",
                     "write k_format=f16, a model of float16, and no page");
  if (plan.anything && !plan.probes)
    throw InputError("attention:any", "without probes nothing can be judged",
                     "leave out probes=no, or name a preset");
  if (!plan.probes && plan.random_rows == 0)
    throw InputError("attention rows", "there are none", "leave out probes=no or rows=0");
}

}  // namespace

attention::Case AttentionPlan::empty_case() const {
  attention::Case c;
  c.shape = frame.shape;
  const Shape& s = frame.shape;
  c.q.resize(s.query_heads * s.queries * s.head_dim);
  c.k.resize(s.kv_heads * s.keys * s.head_dim);
  c.v.resize(s.kv_heads * s.keys * s.value_dim);
  c.q_scale.assign(s.query_heads, 1);
  c.k_scale.assign(s.kv_heads, 1);
  c.v_scale.assign(s.kv_heads, 1);
  if (frame.sinks) c.sink.assign(s.query_heads, 0);
  c.page_size = frame.page_size;
  if (frame.page_size != 0) c.page_table.resize(s.keys / frame.page_size);
  return c;
}

std::size_t AttentionPlan::tiles() const {
  const auto tile = static_cast<std::size_t>(kernel.tile);
  return (frame.shape.keys + tile - 1) / tile;
}

bool is_attention_spec(std::string_view text) {
  return text.starts_with(kPrefix);
}

AttentionPlan parse_attention_spec(std::string_view text) {
  if (!is_attention_spec(text))
    throw InputError("SPEC '" + std::string(text.substr(0, 60)) + "'", "no attention",
                     "write attention:PRESET[,key=value]…");
  text.remove_prefix(kPrefix.size());
  if (text.ends_with(','))
    throw InputError("SPEC 'attention:" + std::string(text.substr(0, 60)) + "'", "nothing follows its last comma", "leave the comma out");
  AttentionPlan plan;
  std::string kernel;
  std::set<std::string_view> seen;
  for (bool first = true; first || !text.empty(); first = false) {
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (!first && !seen.insert(key).second)
      throw InputError("attention option '" + std::string(key) + "'", "it is given twice", "give it once");
    if (!first && plan.anything && std::find(std::begin(kOrderKeys), std::end(kOrderKeys), key) != std::end(kOrderKeys))
      throw InputError("attention option '" + std::string(key) + "'", "attention:any judges kernels of every " + std::string(key),
                       "name a preset, or leave it out");
    if (first) {
      plan.anything = plan.order_unknown = word == kAny;
      kernel = plan.anything ? "reference" : std::string(word);
    } else if (equals == std::string_view::npos ||
               !set_row_key(plan, word.substr(0, equals), word.substr(equals + 1))) {
      kernel += "," + std::string(word);
    }
  }
  plan.kernel = attention::parse_spec(kernel);
  if (plan.anything) plan.random_rows = 0;  // no enclosure holds for every kernel
  check(plan);
  return plan;
}

std::string spec_text(const AttentionPlan& plan) {
  std::string kernel = attention::text_of(plan.kernel);
  if (plan.anything) kernel.replace(0, std::min(kernel.find(','), kernel.size()), kAny);
  std::string text = std::string(kPrefix) + kernel;
  const AttentionPlan usual;
  const Shape &s = plan.frame.shape, &u = usual.frame.shape;
  const auto add = [&](const char* key, std::size_t value, std::size_t by_default) {
    if (value != by_default) text += "," + std::string(key) + "=" + std::to_string(value);
  };
  const auto add_pair = [&](const char* key, std::size_t a, std::size_t b, std::size_t by_default_a,
                            std::size_t by_default_b) {
    if (a != by_default_a || b != by_default_b)
      text += "," + std::string(key) + "=" + std::to_string(a) + ":" + std::to_string(b);
  };
  if (plan.order_unknown && !plan.anything) text += ",order=unknown";
  add_pair("heads", s.query_heads, s.kv_heads, u.query_heads, u.kv_heads);
  add("queries", s.queries, u.queries);
  add("keys", s.keys, u.keys);
  add_pair("dim", s.head_dim, s.value_dim, u.head_dim, u.value_dim);
  add("page", plan.frame.page_size, 0);
  if (plan.frame.sinks) text += ",sinks=yes";
  if (!plan.anything) add("rows", plan.random_rows, usual.random_rows);
  if (!plan.probes) text += ",probes=no";
  if (plan.stages) text += ",stages=yes";
  if (plan.cache == AttentionCache::kivi_k) text += ",cache=kivi_k";
  return text;
}

}  // namespace halfulp::vectors
