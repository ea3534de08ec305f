// Wrong attention kernels, a few lines each: edits of the kernel's spec, of what it is given, or switches inside it.
#include <algorithm>

#include "attention_kernel.hpp"
#include "halfulp/error.hpp"
#include "halfulp/vectors/attention/kernels.hpp"
#include "halfulp/vectors/attention/rows.hpp"

namespace halfulp::vectors {
namespace {

using attention::Case;
using attention::KernelSpec;

struct Line {
  const char* name;
  const char* about;
  const char* spec;
  const char* bug = "";
  void (*spec_edit)(KernelSpec&, const Case&) = nullptr;
  void (*case_edit)(Case&, const KernelSpec&) = nullptr;
  KernelFaults faults = {};
  bool groups_across = false;
};

constexpr const char* kFa3 = "attention:fa3_like,out=bf16,page=16,sinks=yes";
constexpr const char* kFa4 = "attention:fa4_like,out=bf16,page=16,sinks=yes";
constexpr const char* kFlashinfer = "attention:flashinfer_like,out=bf16,page=16,sinks=yes";
constexpr const char* kSage = "attention:sage_like,out=bf16,page=16,sinks=yes";
constexpr const char* kTwoLevel = "attention:fa3_like_two_level,interval=32";
constexpr const char* kSplit = "attention:fa3_like,split=128,out=bf16";
constexpr const char* kCausal = "attention:fa3_like,out=bf16,causal=yes";
constexpr const char* kWindow = "attention:fa3_like,out=bf16,window=20:0,visible_prefix=4";
constexpr const char* kCap = "attention:fa3_like,out=bf16,softcap=50:0.02";
constexpr const char* kKivi =
    "attention:reference,qk_model=hopper_f16,pv_model=hopper_f16,q_format=f16,k_format=f16,p_format=f16,v_format=f16,offset=0,out=f16,rows=0,cache=kivi_k";
constexpr std::int64_t kFar = std::int64_t{1} << 40;

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }
std::size_t padded_live(const Case& c, const KernelSpec& spec) { return std::min(c.shape.keys, rounded_up(c.live, static_cast<std::size_t>(spec.tile))); }
void square(std::vector<float>& scales) {
  for (float& scale : scales) scale *= scale;
}
void fill_with_first(std::vector<float>& scales) {
  if (!scales.empty()) std::fill(scales.begin(), scales.end(), scales[0]);
}
/// Mutants of a window need one.
attention::Window& window_of(KernelSpec& spec) {
  if (!spec.window) throw InputError("mutant of a window", "the SPEC has none", "write window=BEFORE:AFTER");
  return *spec.window;
}

/// A KV head of its own for every query head.
void spread_heads(Case& c, std::size_t (*kv_head)(std::size_t query_head, const attention::Shape&)) {
  const attention::Shape old = c.shape;
  const auto spread = [&](std::vector<std::uint32_t>& words, std::size_t per_head) {
    std::vector<std::uint32_t> all;
    for (std::size_t h = 0; h < old.query_heads; ++h) {
      const auto at = words.begin() + static_cast<std::ptrdiff_t>(kv_head(h, old) * per_head);
      all.insert(all.end(), at, at + static_cast<std::ptrdiff_t>(per_head));
    }
    words = std::move(all);
  };
  spread(c.k, old.keys * old.head_dim);
  spread(c.v, old.keys * old.value_dim);
  for (auto* scales : {&c.k_scale, &c.v_scale}) {
    std::vector<float> all;
    for (std::size_t h = 0; h < old.query_heads; ++h) all.push_back((*scales)[kv_head(h, old)]);
    *scales = std::move(all);
  }
  c.shape.kv_heads = old.query_heads;
}

const Line kLines[] = {
    // Weights.
    {"stale_maximum", "keeps the maximum until it moves by more than 4: P saturates", kFa4, "",
     [](KernelSpec& s, const Case&) { s.threshold = 4; }},
    {"quantized_row_sum", "sums the codes of P instead of the float32 P", kFa3, "", [](KernelSpec& s, const Case&) { s.sum_of = attention::SumOf::quantized; }},
    {"no_prescale", "casts P without offset and prescale", kFa3, "weights do not sum to one",
     [](KernelSpec& s, const Case&) {
       s.offset = 0;
       s.prescale.reset();
     }},
    {"prescale_not_undone", "leaves the prescale in the output", kFlashinfer, "V = ones must give 1", nullptr,
     [](Case& c, const KernelSpec& spec) {
       for (float& scale : c.v_scale) scale *= spec.prescale.value_or(1);
     }},
    {"truncated_P", "casts P toward zero", kFa3, "", nullptr, nullptr, {.truncates_P = true}},
    {"offset_too_large", "offset 9: the largest P is cut to 448", kFa3, "", [](KernelSpec& s, const Case&) { s.offset = 9; }},
    {"sum_not_rescaled", "a new maximum rescales O and not l", kFa3, "", nullptr, nullptr, {.no_rescale_of_sum = true}},
    {"output_not_rescaled", "a new maximum rescales l and not O", kFa3, "", nullptr, nullptr, {.no_rescale_of_output = true}},
    {"lost_lane", "leaves a lane out of the row sum", kFa3, "", nullptr, nullptr, {.forgets_last_lane = true}},
    // Scales.
    {"q_scale_dropped", "does not apply the scale of Q", kFa3, "q_descale missing", nullptr, [](Case& c, const KernelSpec&) { std::ranges::fill(c.q_scale, 1.0f); }},
    {"k_scale_dropped", "does not apply the scale of K", kFa3, "cache scales ignored", nullptr,
     [](Case& c, const KernelSpec&) { std::ranges::fill(c.k_scale, 1.0f); }},
    {"v_scale_dropped", "does not apply the scale of V", kFa3, "result scale ignored", nullptr,
     [](Case& c, const KernelSpec&) { std::ranges::fill(c.v_scale, 1.0f); }},
    {"cache_scales_ignored", "reads the cache with scales of 1", kFa3, "loaded scale not used on read", nullptr,
     [](Case& c, const KernelSpec&) {
       std::ranges::fill(c.k_scale, 1.0f);
       std::ranges::fill(c.v_scale, 1.0f);
     }},
    {"q_scale_twice", "applies the scale of Q twice", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { square(c.q_scale); }},
    {"v_scale_twice", "applies the scale of V twice", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { square(c.v_scale); }},
    {"k_and_v_scales_swapped", "takes each for the other", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { std::swap(c.k_scale, c.v_scale); }},
    {"q_and_k_scales_swapped", "indexes each as the other", kFa3, "", nullptr,
     [](Case& c, const KernelSpec&) {
       const std::vector<float> q = c.q_scale;
       for (std::size_t h = 0; h < c.q_scale.size(); ++h) c.q_scale[h] = c.k_scale[h % c.k_scale.size()];
       for (std::size_t h = 0; h < c.k_scale.size(); ++h) c.k_scale[h] = q[h];
     }},
    {"q_scale_of_head_0", "takes the Q scale of the first head for all", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { fill_with_first(c.q_scale); }},
    {"k_scale_of_head_0", "takes the K scale of the first head for all", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { fill_with_first(c.k_scale); }},
    {"v_scale_of_head_0", "takes the V scale of the first head for all", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { fill_with_first(c.v_scale); }},
    {"softmax_scale_dropped", "forgets the softmax scale in L", kFa3, "a factor of the logit scale is missing", nullptr,
     [](Case& c, const KernelSpec&) { c.score_scale = 1; }},
    {"output_through_f16", "rounds O to float16 before the V scale", kFa3, "result cast to f16 before the scale", nullptr, nullptr, {.rounds_output_to_f16 = true}},
    // What is read.
    {"padding_read", "reads dead slots up to the end of a tile", kFa3, "", nullptr, [](Case& c, const KernelSpec& spec) { c.live = padded_live(c, spec); }},
    {"padding_multiplied", "hides dead slots and multiplies their V by 0", kFa3, "", nullptr,
     [](Case& c, const KernelSpec& spec) { c.live = padded_live(c, spec); }, {.multiplies_hidden_V = true}},
    {"last_token_lost", "stops one token early", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { c.live -= c.live > 0 ? 1 : 0; }},
    {"pages_in_order", "ignores the page table", kFa3, "", nullptr,
     [](Case& c, const KernelSpec&) {
       for (std::size_t i = 0; i < c.page_table.size(); ++i) c.page_table[i] = static_cast<std::uint32_t>(i);
     }},
    {"kv_head_by_modulo", "KV head = query head mod KV heads", kFa3, "", nullptr,
     [](Case& c, const KernelSpec&) { spread_heads(c, [](std::size_t h, const attention::Shape& s) { return h % s.kv_heads; }); }},
    {"value_stride_of_keys", "steps through V by the head size of K", kFa3, "head sizes of K and V differ", nullptr,
     [](Case& c, const KernelSpec&) {
       const std::vector<std::uint32_t> v = c.v;
       const std::size_t width = c.shape.value_dim;
       for (std::size_t i = 0; i < v.size(); ++i) c.v[i] = v[(i / width * c.shape.head_dim + i % width) % v.size()];
     }},
    {"sink_ignored", "leaves the sink out", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { c.sink.clear(); }},
    {"sink_of_head_0", "takes the sink of the first head for all", kFa3, "", nullptr, [](Case& c, const KernelSpec&) { fill_with_first(c.sink); }},
    {"kivi_groups_across", "groups keys across the sequences of a batch", kKivi, "", nullptr, nullptr, {}, true},
    // Masks.
    {"causal_one_more", "sees one key past the diagonal", kCausal, "", [](KernelSpec& s, const Case&) { s.causal = false, s.window = {kFar, 1}; }},
    {"causal_one_less", "stops one key before the diagonal", kCausal, "", [](KernelSpec& s, const Case&) { s.causal = false, s.window = {kFar, -1}; }},
    {"causal_top_left", "aligns the diagonal at the top left", kCausal, "",
     [](KernelSpec& s, const Case& c) {
       s.causal = false;
       s.window = {kFar, static_cast<std::int64_t>(c.shape.queries) - static_cast<std::int64_t>(c.live)};
     }},
    {"causal_ignored", "sees every key", kCausal, "", [](KernelSpec& s, const Case&) { s.causal = false; }},
    {"window_one_more", "sees one key before the window", kWindow, "", [](KernelSpec& s, const Case&) { ++window_of(s).before; }},
    {"window_one_less", "leaves out the first key of the window", kWindow, "", [](KernelSpec& s, const Case&) { --window_of(s).before; }},
    {"window_end_one_more", "sees one key behind the window", kWindow, "", [](KernelSpec& s, const Case&) { ++window_of(s).after; }},
    {"prefix_one_more", "keeps one key more of the prefix", kWindow, "", [](KernelSpec& s, const Case&) { ++s.visible_prefix; }},
    {"prefix_ignored", "keeps no prefix", kWindow, "", [](KernelSpec& s, const Case&) { s.visible_prefix = 0; }},
    // The soft cap.
    {"cap_by_exponentials", "soft cap as (e^2x - 1)/(e^2x + 1)", kCap, "soft cap by a ratio of exponentials overflows", nullptr, nullptr,
     {.ratio_of_exponentials = true}},
    {"cap_left_out", "applies no soft cap", kCap, "", [](KernelSpec& s, const Case&) { s.softcap.reset(); }},
    // Parts.
    {"parts_not_rescaled", "adds the parts of split KV as they are", kSplit, "", nullptr, nullptr, {.no_rescale_of_parts = true}},
    // Legitimate elsewhere; wrong for the spec, whose bits they change.
    {"split_ignored", "one part instead of two or three", "attention:fa3_like,split=128", "split count changes the bits", [](KernelSpec& s, const Case&) { s.split = 0; }},
    {"tile_of_64", "tiles of half the size", "attention:fa3_like", "tile size changes the bits", [](KernelSpec& s, const Case&) { s.tile = 64; }},
    {"ascending_tiles", "takes the tiles in the other order", "attention:fa3_like", "",
     [](KernelSpec& s, const Case&) { s.order = attention::TileOrder::ascending; }},
    {"one_lane", "one running sum instead of four", "attention:fa3_like", "", [](KernelSpec& s, const Case&) { s.lanes = 1; }},
    {"chained_instead_of_promoted", "keeps O in the unit where every tile was to be added in float32", kTwoLevel,
     "fast accumulation where promotion was meant",
     [](KernelSpec& s, const Case&) {
       s.pv = attention::PvMode::chained;
       s.interval = 0;
     }},
    {"interval_ignored", "promotes once per tile instead of every 32 keys", kTwoLevel, "promotion interval shorter than the K tile is ignored",
     [](KernelSpec& s, const Case&) { s.interval = 0; }},
    {"f16_sums", "sums P V in float16", kSage, "f16 accumulator drops small terms", [](KernelSpec& s, const Case&) { s.pv_output = "f16"; }},
    {"scores_through_f16", "keeps scores in float16", "attention:sage_like", "", nullptr, nullptr, {.scores_through_f16 = true}},
    {"other_unit", "FP8 by mma.sync instead of the FP8 unit", "attention:fa3_like", "mma.sync taken for the FP8 unit",
     [](KernelSpec& s, const Case&) { s.qk_model = s.pv_model = "hopper_fp8_mma_sync"; }},
};

AttentionAnswer answer_by(const Line& line, const AttentionPlan& plan, Case c) {
  KernelSpec spec = plan.kernel;
  KernelFaults faults = line.faults;
  if (faults.multiplies_hidden_V) faults.hidden_from = c.live;
  if (line.case_edit != nullptr) line.case_edit(c, spec);
  if (line.spec_edit != nullptr) line.spec_edit(spec, c);
  const attention::Gathered given = gathered(spec, c);
  return answer_of(plan, run_with(spec, given.problem(), faults));
}

AttentionMutant mutant_of(const Line& line) {
  AttentionMutant mutant{line.name, line.about, line.spec, line.bug, {}};
  mutant.kernel = [&line](const AttentionPlan& plan, const std::vector<Case>& cases) {
    std::vector<AttentionAnswer> answers;
    for (const Case& c : through_cache(plan, cases, line.groups_across)) answers.push_back(answer_by(line, plan, c));
    return answers;
  };
  return mutant;
}

}  // namespace

const std::vector<AttentionMutant>& attention_mutants() {
  static const std::vector<AttentionMutant> zoo = [] {
    std::vector<AttentionMutant> list;
    for (const Line& line : kLines) list.push_back(mutant_of(line));
    return list;
  }();
  return zoo;
}

}  // namespace halfulp::vectors
