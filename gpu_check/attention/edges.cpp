#include "gpu_check/attention/edges.hpp"

#include <algorithm>
#include <bit>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::gpu {
namespace {

/// Writes numbers and codes at [row, channel] of q and [KV head, key, channel] of k and v.
class Editor {
 public:
  explicit Editor(AttentionFile& file) : file_(file), p_(file.plan) {}

  const AttentionPlan& plan() const { return p_; }
  void clear_scores() {
    for (const char* name : {"q", "k"}) std::fill(file_.inputs[name].begin(), file_.inputs[name].end(), 0u);
  }
  void q(std::uint32_t row, std::uint32_t channel, double number) { q_code(row, channel, code(p_.qk.a, number)); }
  void q_code(std::uint32_t row, std::uint32_t channel, std::uint32_t code) { file_.inputs["q"][row * p_.head_dim + channel] = code; }
  /// Of the first KV head.
  void k(std::uint32_t key, std::uint32_t channel, double number) { k_code(key, channel, code(p_.qk.b, number)); }
  void k_code(std::uint32_t key, std::uint32_t channel, std::uint32_t code) { file_.inputs["k"][key * p_.head_dim + channel] = code; }
  void v_code(std::uint32_t head, std::uint32_t key, std::uint32_t channel, std::uint32_t code) {
    file_.inputs["v"][(head * p_.keys + key) * p_.value_dim + channel] = code;
  }
  void logit_scale(std::uint32_t head, float L) { file_.inputs["logit_scale"][head] = std::bit_cast<std::uint32_t>(L); }

 private:
  static std::uint32_t code(const FormatSpec& to, double number) {
    return static_cast<std::uint32_t>(cast(spec_of("f64"), std::bit_cast<std::uint64_t>(number), to, CastPolicy{}).code);
  }

  AttentionFile& file_;
  const AttentionPlan& p_;
};

/// The last key: a causal row before the last does not see it, and reads nothing of it.
void hidden_nan(Editor& edit) {
  const AttentionPlan& p = edit.plan();
  for (std::uint32_t head = 0; head < p.kv_heads; ++head) {
    for (std::uint32_t d = 0; d < p.value_dim; d += 3) edit.v_code(head, p.keys - 1, d, 0x7f);
  }
}

/// One channel each of the first row and of a key that the last two queries see; NaN of both signs.
void nan_scores(Editor& edit) {
  edit.q_code(0, 1, 0x7f);
  edit.k_code(edit.plan().keys - 2, 5, 0xff);
}

/// Inf in the same places; the last two queries of the first head have +Inf there, those of the second -Inf.
void infinite_scores(Editor& edit) {
  const AttentionPlan& p = edit.plan();
  constexpr std::uint32_t kInfinity = 0x7c;  // E5M2
  edit.q_code(0, 1, kInfinity);
  edit.k_code(p.keys - 2, 5, kInfinity);
  for (std::uint32_t row = 0; row < p.rows(); ++row) edit.q(row, 5, row < p.queries ? 1 : -1);
}

/// Every score is -4 but those of a few keys, whose products vanish under the scale of the soft cap and leave their sign: of the
/// largest scores of a tile the first is +0 in one row and -0 in the other. The first key of lane 0 is not the first of all.
void equal_zeros(Editor& edit) {
  const AttentionPlan& p = edit.plan();
  edit.clear_scores();
  for (std::uint32_t row = 0; row < p.rows(); ++row) edit.q(row, 0, row % 2 == 0 ? 1 : -1), edit.q(row, 1, 1);
  for (std::uint32_t key = 0; key < p.keys; ++key) {
    if (key % p.tile % 5 == 3) edit.k(key, 0, key % 2 == 0 ? 0.25 : -0.25);
    else edit.k(key, 1, -4);
  }
}

/// After a first tile, one key of the second raises the maximum of every head by rn(rn(candidate - m) * L) = threshold = 2, or by
/// the number above it; one of the third raises it by more.
void at_threshold(Editor& edit) {
  struct Step {
    double before, score;  ///< before: of all keys but one
    float L;
  };
  constexpr Step kSteps[] = {
      {0, 8, 0x1p-2f},               // exact
      {0, 8, 0x1.000002p-2f},        // the float32 above
      {0, 3, 0x1.555556p-1f},        // 2 + 2^-25 before it is rounded
      {-0x1p-18, 256, 0x1p-7f},      // 256 + 2^-18 before it is rounded
      {0, 8, 0x1.fffffep-3f},        // the float32 below
  };
  const AttentionPlan& p = edit.plan();
  edit.clear_scores();
  for (std::uint32_t head = 0; head < p.query_heads; ++head) {
    const Step& step = kSteps[head];
    const std::uint32_t channel = 2 * head;  // before at the first, score at the second
    edit.logit_scale(head, step.L);
    for (std::uint32_t query = 0; query < p.queries; ++query) {
      const std::uint32_t row = head * p.queries + query;
      edit.q(row, channel, step.before == 0 ? 0 : 0x1p-9);
      edit.q(row, channel + 1, step.score > 16 ? 16 : 1);
    }
    const double factor = step.score > 16 ? 16 : 1;
    for (std::uint32_t key = 0; key < p.keys; ++key) edit.k(key, channel, step.before * 0x1p9);
    for (const std::uint32_t key : {p.tile + 5, 2 * p.tile + 1}) {
      edit.k(key, channel, 0);
      edit.k(key, channel + 1, step.score / factor * (key < 2 * p.tile ? 1 : 1.5));
    }
  }
}

}  // namespace

void set_edge(AttentionFile& file, Edge edge) {
  Editor edit(file);
  switch (edge) {
    case Edge::none: break;
    case Edge::hidden_nan: hidden_nan(edit); break;
    case Edge::nan_scores: nan_scores(edit); break;
    case Edge::infinite_scores: infinite_scores(edit); break;
    case Edge::equal_zeros: equal_zeros(edit); break;
    case Edge::at_threshold: at_threshold(edit); break;
  }
}

}  // namespace halfulp::gpu
