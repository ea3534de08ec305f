#include "attention_problem.hpp"

#include <cmath>

#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/error.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

/// One value per head.
std::vector<float> per_head(std::vector<float> values, std::size_t heads, const char* option) {
  if (values.size() == 1) values.assign(heads, values[0]);
  if (values.size() != heads)
    throw InputError(option,
                     std::to_string(values.size()) + " numbers for " + std::to_string(heads) + " heads",
                     "give one, or one per head");
  return values;
}

/// Scores are scaled inside tanh: `scales` become a factor of the cap's scale, and 1.
void fold_into_cap(attention::SoftCap& cap, std::vector<float>& scales, const char* option) {
  for (const float scale : scales) {
    if (scale != scales.front())
      throw InputError(option, "scales that differ between heads, and a soft cap has one scale", "give one for all heads, or run the heads one by one");
  }
  if (scales.empty()) return;
  cap.scale *= scales.front();
  if (!(cap.scale > 0) || std::isinf(cap.scale)) throw InputError(option, "with the cap's scale no positive float32 number", "give another scale");
  scales.assign(scales.size(), 1);
}

}  // namespace

const char kAttentionProblemHelp[] =
    "Q is heads x queries x channels, K and V KV heads x tokens x channels, each a .npy, .npz:NAME or "
    ".safetensors:NAME; two axes are one\n"
    "head. Codes of floating formats may stand in unsigned words of their size. Numbers (f32, f16, bf16; f64, rounded to f32 "
    "first) are "
    "divided by their scale and cast, to nearest even\n"
    "and saturating. Scales are numbers separated by commas or files: one, or one per head; V also one per "
    "head and channel.\n"
    "L = softmax scale * log2 e, rounded once, times the scale of Q, times that of K, each product rounded "
    "to float32.\n"
    "With softcap=CAP:SCALE, SCALE is softmax scale / cap; the scales of Q and of K, one for all heads, are multiplied into it in "
    "float32, and\n"
    "L = log2 e.\n\n";

attention::KernelSpec kernel_of(const AttentionProblemOptions& options) {
  std::string text = options.kernel;
  if (text.starts_with("attention:")) text.erase(0, 10);
  if (options.causal) text += ",causal=yes";
  if (!options.window.empty()) text += ",window=" + options.window;
  if (options.visible_prefix > 0) text += ",visible_prefix=" + std::to_string(options.visible_prefix);
  return attention::parse_spec(text);
}

LoadedProblem load_problem(const AttentionProblemOptions& options, attention::KernelSpec& spec) {
  for (const auto& [name, value] :
       {std::pair("--q", &options.q), std::pair("--k", &options.k), std::pair("--v", &options.v)}) {
    if (value->empty())
      throw InputError("attention", std::string(name) + " is missing",
                       "give --q FILE, --k FILE and --v FILE");
  }
  LoadedProblem x;
  const std::vector<float> q_scale = read_floats(options.q_scale, "--q-scale"),
                           k_scale = read_floats(options.k_scale, "--k-scale");
  x.v_scale = read_floats(options.v_scale, "--v-scale");
  x.q = load_heads(options.q, spec.q_format, q_scale);
  x.k = load_heads(options.k, spec.k_format, k_scale);
  const bool by_channel = x.v_scale.size() > 1 && x.v_scale.size() != x.k.heads;
  x.v = load_heads(options.v, spec.v_format, by_channel ? std::vector<float>{} : x.v_scale);
  if (x.q.width != x.k.width)
    throw InputError("--k",
                     "it has " + std::to_string(x.k.width) + " channels, Q " + std::to_string(x.q.width),
                     "give the same head size");
  if (x.k.heads != x.v.heads || x.k.tokens != x.v.tokens)
    throw InputError("--v", "its heads and tokens are not those of K", "give one row of V per row of K");
  if (x.k.heads == 0 || x.q.heads % x.k.heads != 0)
    throw InputError("--q",
                     std::to_string(x.q.heads) + " heads for " + std::to_string(x.k.heads) + " KV heads",
                     "give a multiple of the KV heads");
  if (by_channel && x.v_scale.size() != x.k.heads * x.v.width)
    throw InputError("--v-scale", std::to_string(x.v_scale.size()) + " numbers",
                     "give one, one per KV head, or one per KV head and channel");
  x.shape = {x.q.heads, x.k.heads, x.q.tokens, x.k.tokens, x.q.width, x.v.width};
  attention::Case scales;
  scales.shape = {x.q.heads, x.k.heads, 0, 0, 0, 0};
  constexpr double kLog2E = 1.4426950408889634;
  const std::string& given = options.softmax_scale;
  const std::vector<float> softmax_scale =
      given.empty() ? std::vector<float>{} : read_floats(given, "--softmax-scale");
  if (softmax_scale.size() > 1)
    throw InputError("--softmax-scale", std::to_string(softmax_scale.size()) + " numbers", "give one");
  const double softmax = spec.softcap    ? 1
                         : given.empty() ? 1 / std::sqrt(static_cast<double>(x.q.width))
                                         : static_cast<double>(softmax_scale.front());
  scales.score_scale = static_cast<float>(softmax * kLog2E);
  if (!(scales.score_scale > 0) || std::isinf(scales.score_scale))
    throw InputError("--softmax-scale " + quoted(given), "times log2 e it is no positive float32 number", "give one between 2^-149 and 2^127");
  scales.q_scale = per_head(q_scale, x.q.heads, "--q-scale");
  scales.k_scale = per_head(k_scale, x.k.heads, "--k-scale");
  if (spec.softcap) {
    if (!given.empty())
      throw InputError("--softmax-scale " + quoted(given), "with a soft cap it is part of the cap's scale", "write it into softcap=CAP:SCALE, SCALE = softmax scale / cap");
    fold_into_cap(*spec.softcap, scales.q_scale, "--q-scale");
    fold_into_cap(*spec.softcap, scales.k_scale, "--k-scale");
  }
  scales.v_scale = x.v_scale;
  attention::Gathered folded = gathered(spec, scales);
  x.L = std::move(folded.logit_scale);
  x.v_scale = std::move(folded.v_scale);
  if (!options.sink.empty()) x.sink = per_head(read_floats(options.sink, "--sink"), x.q.heads, "--sink");
  return x;
}

void add_attention_problem_options(CLI::App& command, AttentionProblemOptions& options) {
  command.add_option("--kernel", options.kernel, "PRESET[,key=value]…; reference if not given")
      ->type_name("SPEC");
  command.add_option("--q", options.q, "Queries")->type_name("FILE");
  command.add_option("--k", options.k, "Keys")->type_name("FILE");
  command.add_option("--v", options.v, "Values")->type_name("FILE");
  command.add_option("--q-scale", options.q_scale, "Scale of Q; 1 if not given")->type_name("F32");
  command.add_option("--k-scale", options.k_scale, "Scale of K")->type_name("F32");
  command
      .add_option("--v-scale", options.v_scale,
                   "Scale of V; a prescale of the kernel is divided out of it")
      ->type_name("F32");
  command.add_option("--softmax-scale", options.softmax_scale, "1/sqrt(head size) if not given")
      ->type_name("F32");
  command.add_option("--sink", options.sink, "Raw score of an extra key without V, per query head")
      ->type_name("F32");
  command.add_flag("--causal", options.causal, "A query sees no key behind it, aligned at the last");
  command.add_option("--window", options.window, "Keys before and after that a query sees, A:B")
      ->type_name("A:B");
  command
      .add_option("--visible-prefix", options.visible_prefix,
                   "First keys that are seen whatever the window says")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
}

}  // namespace halfulp::tool
