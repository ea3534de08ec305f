// Parses SPECs of accumulation models; see mma_plan.hpp.
#include "halfulp/vectors/mma/mma_plan.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::MmaSpec;
using accumulation::ScaleOrder;
using accumulation::Scheme;
using accumulation::SpecRequest;
using accumulation::ZeroRule;

constexpr std::string_view kPrefix = "mma:";
constexpr std::string_view kKeys[] = {"from",     "from_a",    "from_b",   "to", "interval", "scale_order",
                                      "contract", "zero_rule", "saturate", "k",  "order",    "nan"};
constexpr std::size_t kMostProducts = 1 << 16;

int count_of(std::string_view key, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 ||
      value > static_cast<int>(kMostProducts)) {
    throw InputError(std::string(key) + " " + quoted(text), "not a number of products", "write 1 to 65536");
  }
  return value;
}

/// The place of `text` among the words that a key takes.
std::size_t choice_of(std::string_view key, std::string_view text,
                      const std::vector<std::string_view>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string_view word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  throw InputError(std::string(key) + " " + quoted(text), "unknown", "choose from: " + list);
}

/// Several chunks, several promoted pieces, whole blocks of scales.
std::size_t usual_products(const MmaSpec& spec) {
  constexpr std::size_t kOfSoftwareOrders = 64, kChunks = 4, kPieces = 3;
  const std::size_t chunked =
      spec.model.chunk == 0 ? kOfSoftwareOrders : kChunks * static_cast<std::size_t>(spec.model.chunk);
  return std::max(chunked, kPieces * static_cast<std::size_t>(spec.interval));
}

std::string_view operand_name(const MmaSpec& spec, const std::string& asked) {
  if (!asked.empty()) return require_format(asked).name;
  return spec.model.inputs.substr(0, spec.model.inputs.find(' '));
}

}  // namespace

std::size_t MmaPlan::scales() const {
  const auto block = static_cast<std::size_t>(accumulation::scale_block(spec));
  return block == 0 ? 0 : (k + block - 1) / block;
}

std::string MmaPlan::scale_name() const {
  return spec.scale_order != ScaleOrder::none ? "f32" : std::string(spec.model.scale.format);
}

bool is_mma_spec(std::string_view spec) {
  return spec.starts_with(kPrefix);
}

MmaPlan parse_mma_spec(std::string_view text) {
  if (!is_mma_spec(text))
    throw InputError("SPEC " + quoted(text), "not that of an accumulation model",
                     "write mma:MODEL[,key=value]…");
  std::string_view rest = text.substr(kPrefix.size());
  SpecRequest request;
  MmaPlan plan;
  std::vector<std::string_view> seen;
  for (bool first = true; first || !rest.empty(); first = false) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (first) {
      request.model = part;
      continue;
    }
    const auto equals = part.find('=');
    const std::string_view key = part.substr(0, equals),
                           value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (value.empty())
      throw InputError("SPEC " + quoted(text) + ", " + quoted(part), "not key=value",
                       "write e.g. from=e5m2");
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw InputError("SPEC " + quoted(text) + ", key " + quoted(key), "given twice", "leave one out");
    seen.push_back(key);
    if (key == "from")
      request.format_a = request.format_b = value;
    else if (key == "from_a")
      request.format_a = value;
    else if (key == "from_b")
      request.format_b = value;
    else if (key == "to")
      request.output = value;
    else if (key == "interval")
      request.interval = count_of(key, value);
    else if (key == "scale_order")
      request.scale_order =
          static_cast<ScaleOrder>(1 + choice_of(key, value, {"scales_first", "operand_first"}));
    else if (key == "contract")
      request.contract = choice_of(key, value, {"no", "yes"}) == 1;
    else if (key == "zero_rule")
      request.zero_rule = choice_of(key, value, {"a", "b"}) == 1 ? ZeroRule::b : ZeroRule::a;
    else if (key == "saturate")
      request.saturate = choice_of(key, value, {"no", "yes"}) == 1;
    else if (key == "k")
      plan.k = static_cast<std::size_t>(count_of(key, value));
    else if (key == "order")
      plan.any_order = choice_of(key, value, {"model", "any"}) == 1;
    else if (key == "nan")
      plan.exact_nan = choice_of(key, value, {"any", "exact"}) == 1;
    else {
      const std::string near =
          nearest_names(key, std::vector<std::string_view>(std::begin(kKeys), std::end(kKeys)));
      throw InputError("SPEC " + quoted(text) + ", key " + quoted(key),
                       "not one of an accumulation model's",
                       near.empty() ? "see docs/plug-in.md" : "nearest names: " + near);
    }
  }
  if (request.format_b.empty()) request.format_b = request.format_a;
  if (request.format_a.empty()) request.format_a = request.format_b;
  plan.spec = accumulation::make_spec(request);
  plan.from_a = operand_name(plan.spec, request.format_a);
  plan.from_b = operand_name(plan.spec, request.format_b);
  if (plan.k == 0) plan.k = usual_products(plan.spec);
  return plan;
}

std::string spec_text(const MmaPlan& plan) {
  const MmaSpec& spec = plan.spec;
  std::string text = std::string(kPrefix) + std::string(spec.model.name);
  text += plan.from_a == plan.from_b ? ",from=" + plan.from_a
                                     : ",from_a=" + plan.from_a + ",from_b=" + plan.from_b;
  text += ",to=" + std::string(plan.to());
  if (spec.interval != 0) text += ",interval=" + std::to_string(spec.interval);
  if (spec.scale_order != ScaleOrder::none)
    text += spec.scale_order == ScaleOrder::scales_first ? ",scale_order=scales_first"
                                                         : ",scale_order=operand_first";
  if (spec.contract) text += ",contract=yes";
  if (spec.zero_rule == ZeroRule::b) text += ",zero_rule=b";
  if (spec.saturate) text += ",saturate=yes";
  text += ",k=" + std::to_string(plan.k);
  if (plan.any_order) text += ",order=any";
  if (plan.exact_nan) text += ",nan=exact";
  return text;
}

std::string command_options(const MmaPlan& plan) {
  const MmaSpec& spec = plan.spec;
  std::string text = "--model " + std::string(spec.model.name);
  text += plan.from_a == plan.from_b ? " --format " + plan.from_a
                                     : " --format-a " + plan.from_a + " --format-b " + plan.from_b;
  text += " --output-format " + std::string(plan.to());
  if (spec.interval != 0) text += " --interval " + std::to_string(spec.interval);
  if (spec.scale_order != ScaleOrder::none)
    text += spec.scale_order == ScaleOrder::scales_first ? " --scale-order scales_first"
                                                         : " --scale-order operand_first";
  if (spec.contract) text += " --contract";
  if (spec.zero_rule == ZeroRule::b) text += " --zero-rule b";
  if (spec.saturate) text += " --saturate";
  return text;
}

}  // namespace halfulp::vectors
