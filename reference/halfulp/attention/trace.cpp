// One output element in words; see trace.hpp.
#include "halfulp/attention/trace.hpp"

#include <bit>
#include <cstdio>
#include <stdexcept>

#include "halfulp/attention/detail/row_block.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/detail/float_modes.hpp"
#include "halfulp/error.hpp"

namespace halfulp::attention {
namespace {

std::string shown(const char* format_name, std::uint32_t word) {
  const FormatSpec& format = format_named(format_name);
  char text[64];
  std::snprintf(text, sizeof text, "0x%0*x (%.9g)", format.storage_bytes() * 2, static_cast<unsigned>(word),
                static_cast<double>(value_of(format, word)));
  return text;
}
std::string shown(std::uint32_t word) { return shown("f32", word); }
float f32(std::uint32_t word) { return std::bit_cast<float>(word); }
std::string shown(float x) { return shown(detail::word(x)); }
std::string range(std::size_t begin, std::size_t end) {
  return end - begin == 1 ? "key " + std::to_string(begin) : "keys " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

class Tracer {
 public:
  Tracer(const KernelSpec& spec, const Problem& problem, std::size_t head, std::size_t query, std::size_t channel, std::size_t keys)
      : spec_(spec), problem_(problem), shape_(problem.shape), plan_(spec, problem), stages_(run(spec, problem, Keep::all)), head_(head),
        kv_head_(head / (shape_.query_heads / shape_.kv_heads)), row_(head * shape_.queries + query), channel_(channel), keys_(keys),
        visible_(detail::visible_keys(spec, shape_, query)) {}

  std::vector<TraceStep> steps() {
    const halfulp::detail::DefaultFloatModes modes;
    place_ = "kernel";
    say("spec", text_of(spec_));
    say("element", "query head " + std::to_string(head_) + ", query " + std::to_string(row_ % shape_.queries) + ", channel " +
                       std::to_string(channel_) + "; KV head " + std::to_string(kv_head_) + "; " +
                       std::to_string(visible_.among(0, shape_.keys).count()) + " of " + std::to_string(shape_.keys) + " keys are seen");
    say("L", shown(stages_.L[row_]));
    std::size_t tile = 0;
    for (std::size_t part = 0; part < plan_.parts(); ++part) {
      // The sink opens the first part; every other one starts empty.
      before_ = part == 0 && !problem_.sink.empty() ? problem_.sink[head_] : detail::kMinusInfinity;
      for (const detail::Tile& keys : plan_.part_tiles[part]) {
        place_ = (plan_.parts() > 1 ? "part " + std::to_string(part + 1) + ", tile " : "tile ") + std::to_string(tile + 1) + ": " +
                 range(keys.begin, keys.end);
        one_tile(keys, tile++);
      }
    }
    finish(tile);
    return std::move(steps_);
  }

 private:
  void say(const char* name, std::string text) { steps_.push_back({place_, name, std::move(text)}); }
  std::uint32_t at_key(const std::vector<std::uint32_t>& stage, std::size_t key) const { return stage[row_ * stages_.keys + key]; }

  void one_tile(const detail::Tile& keys, std::size_t tile) {
    const std::size_t at = row_ * stages_.tiles + tile;
    std::size_t seen = 0;
    for (std::size_t key = keys.begin; key < keys.end; ++key) {
      if (!visible_(key) || seen++ >= keys_) continue;
      const std::string name = "key " + std::to_string(key);
      const std::uint32_t S = at_key(stages_.S, key), V = problem_.v[(kv_head_ * shape_.keys + key) * shape_.value_dim + channel_];
      std::string capped;
      if (const auto& cap = spec_.softcap) capped = ", capped " + shown(cap->cap * tanh_fma(f32(S) * cap->scale));
      say(name.c_str(), "S " + shown(S) + capped + ", t " + shown(at_key(stages_.t, key)) + ", P " + shown(at_key(stages_.P, key)) +
                            ", code " + shown(spec_.p_format.c_str(), at_key(stages_.P_code, key)) + ", V " + shown(spec_.v_format.c_str(), V));
    }
    if (seen == 0) say("keys", "none is seen");
    else if (seen > keys_) say("keys", std::to_string(seen - keys_) + " more");
    const std::uint32_t m = stages_.m[at];
    say("m", shown(m) + (m == std::bit_cast<std::uint32_t>(before_) ? ", as before" : ", before " + shown(before_)));
    before_ = f32(m);
    say("alpha", shown(stages_.alpha[at]));
    std::string lanes;
    for (std::size_t j = 0; j < stages_.lanes; ++j) lanes += (j == 0 ? "" : ", ") + shown(stages_.l[at * stages_.lanes + j]);
    say("l", lanes);
    say("O", shown(stages_.O_tile[at * stages_.value_dim + channel_]));
  }

  /// Step 11. With several parts the sum that they are joined to is no stage.
  void finish(std::size_t tiles) {
    place_ = "end";
    const auto sum = f32(stages_.row_sum[row_]);
    const float inverse = sum == 0 ? 0.0f : 1.0f / sum, v_scale = plan_.value_scale(kv_head_, channel_), factor = inverse * v_scale;
    say("m", shown(stages_.m_last[row_]));
    say("row sum", shown(sum));
    say("factor", "rn(1 / row sum) = " + shown(inverse) + ", times V scale " + shown(v_scale) + " = " + shown(factor));
    const std::uint32_t code = stages_.O[row_ * stages_.value_dim + channel_];
    if (plan_.parts() <= 1) {
      const float O = tiles == 0 ? 0.0f : f32(stages_.O_tile[(row_ * stages_.tiles + tiles - 1) * stages_.value_dim + channel_]),
                  result = detail::value(O * factor);
      std::uint32_t again = 0;
      plan_.cast_output({&result, 1}, &again);
      if (again != code) throw std::logic_error("internal: the steps of a trace come to another code than the run; please report this");
      say("O", "rn(O factor) = " + shown(result));
    }
    say(spec_.out.c_str(), shown(spec_.out.c_str(), code));
  }

  const KernelSpec& spec_;
  const Problem& problem_;
  const Shape& shape_;
  detail::KernelPlan plan_;
  Stages stages_;
  std::size_t head_, kv_head_, row_, channel_, keys_;
  detail::Visible visible_;
  float before_ = 0;
  std::string place_;
  std::vector<TraceStep> steps_;
};

}  // namespace

std::vector<TraceStep> trace(const KernelSpec& spec, const Problem& problem, std::size_t head, std::size_t query, std::size_t channel,
                             std::size_t keys) {
  const Shape& shape = problem.shape;
  if (head >= shape.query_heads || query >= shape.queries || channel >= shape.value_dim) {
    throw InputError("attention trace",
                     "there is no query head " + std::to_string(head) + ", query " + std::to_string(query) + ", channel " + std::to_string(channel),
                     "the output has " + std::to_string(shape.query_heads) + " heads x " + std::to_string(shape.queries) + " queries x " +
                         std::to_string(shape.value_dim) + " channels, counted from 0");
  }
  return Tracer(spec, problem, head, query, channel, keys).steps();
}

}  // namespace halfulp::attention
