#include "halfulp/vectors/attention/pack.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "halfulp/attention/presets.hpp"
#include "halfulp/error.hpp"

namespace halfulp::vectors {
namespace {

/// The kernel with every parameter spelled out, and the shape of a row.
std::string details_of(const AttentionPlan& plan, const AttentionRows& rows) {
  using Json = nlohmann::ordered_json;
  const attention::KernelSpec& k = plan.kernel;
  const attention::Shape& s = plan.frame.shape;
  const auto optional = [](const std::optional<float>& x) {
    return x ? Json(static_cast<double>(*x)) : Json(nullptr);
  };
  Json json = {
      {"preset", k.name},
      {"order_unknown", plan.order_unknown},
      {"shape",
       {{"query_heads", s.query_heads},
        {"kv_heads", s.kv_heads},
        {"queries", s.queries},
        {"keys", s.keys},
        {"head_dim", s.head_dim},
        {"value_dim", s.value_dim}}},
      {"page_size", plan.frame.page_size},
      {"sinks", plan.frame.sinks},
      {"cache", plan.cache == AttentionCache::kivi_k ? "kivi/k, whole groups of 32 tokens" : "codes"},
      {"tile", k.tile},
      {"order", k.order == attention::TileOrder::ascending ? "ascending" : "descending"},
      {"split", k.split},
      {"qk_model", k.qk_model},
      {"formats",
       {{"q", k.q_format}, {"k", k.k_format}, {"p", k.p_format}, {"v", k.v_format}, {"out", k.out}}},
      {"softcap", k.softcap ? Json{{"cap", static_cast<double>(k.softcap->cap)},
                                   {"scale", static_cast<double>(k.softcap->scale)}}
                            : Json(nullptr)},
      {"offset", static_cast<double>(k.offset)},
      {"threshold", optional(k.threshold)},
      {"prescale", optional(k.prescale)},
      {"sum_of", k.sum_of == attention::SumOf::f32 ? "f32" : "quantized"},
      {"lanes", k.lanes},
      {"pv_model", k.pv_model},
      {"pv_output", k.pv_output},
      {"pv", k.pv == attention::PvMode::chained ? "chained" : "two_level"},
      {"interval", k.interval},
      {"causal", k.causal},
      {"window", k.window ? Json{k.window->before, k.window->after} : Json(nullptr)},
      {"visible_prefix", k.visible_prefix}};
  Json probes = Json::array();
  for (const attention::Probe& probe : rows.probes) {
    Json checks = Json::array();
    for (const attention::Inequality& line : probe.checks)
      checks.push_back({{"text", line.text}, {"left", line.left}, {"right", line.right}});
    probes.push_back({{"kind", probe.kind},
                      {"title", probe.title},
                      {"every_kernel", probe.reach == attention::Reach::every_kernel},
                      {"proof", probe.proof},
                      {"checks", checks},
                      {"fails", probe.fails}});
  }
  json["probes"] = probes;
  return json.dump();
}

Manifest manifest_of(const AttentionPlan& plan, Level level, std::uint64_t seed,
                     const AttentionRows& rows) {
  Manifest manifest = sampled_manifest("attention", spec_text(plan), level, seed, rows.cases.size());
  manifest.details = details_of(plan, rows);
  const auto add = [&](const std::vector<AttentionColumn>& columns, Role role) {
    for (const AttentionColumn& column : columns) {
      std::vector<std::uint64_t> shape = {manifest.rows};
      shape.insert(shape.end(), column.shape.begin(), column.shape.end());
      manifest.columns.push_back(
          {.name = column.name, .role = role, .format = column.format, .shape = shape});
    }
  };
  add(attention_inputs(plan), Role::input);
  add(attention_outputs(plan), Role::expected);
  return manifest;
}

class AttentionSource : public RowSource {
 public:
  AttentionSource(AttentionPlan plan, Level level, std::uint64_t seed, int threads)
      : plan_(std::move(plan)),
        rows_(attention_rows(plan_, level, seed)),
        manifest_(manifest_of(plan_, level, seed, rows_)) {
    for (const attention::Stages& stages :
         reference_answers(plan_, rows_.cases, static_cast<unsigned>(threads)))
      answers_.push_back(answer_of(plan_, stages));
  }

  const Manifest& manifest() const override { return manifest_; }

  void fill(std::uint64_t first, std::uint64_t count,
            std::span<const std::span<std::byte>> columns) const override {
    const auto outputs = attention_outputs(plan_);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::size_t>(first + i);
      std::vector<std::vector<std::byte>> cells = input_bytes(plan_, rows_.cases[row]);
      for (std::size_t c = 0; c < outputs.size(); ++c)
        cells.push_back(bytes_of(outputs[c], answers_[row][c]));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].empty())
          std::memcpy(columns[c].data() + static_cast<std::size_t>(i) * cells[c].size(), cells[c].data(),
                      cells[c].size());
      }
    }
  }

 private:
  AttentionPlan plan_;
  AttentionRows rows_;
  Manifest manifest_;
  std::vector<AttentionAnswer> answers_;
};

InputError unfit(const AttentionPlan& plan, const std::string& what, const char* why) {
  return InputError("pack of " + spec_text(plan) + ", " + what, why, "write it again with `halfulp gen`");
}

}  // namespace

std::unique_ptr<RowSource> attention_row_source(AttentionPlan plan, Level level, std::uint64_t seed,
                                                int threads) {
  return std::make_unique<AttentionSource>(std::move(plan), level, seed, threads);
}

AttentionPack read_attention_pack(const PackReader& reader, int threads) {
  const Manifest& manifest = reader.manifest();
  AttentionPack pack{parse_attention_spec(manifest.spec), {}};
  const AttentionPlan& plan = pack.plan;
  const auto inputs = attention_inputs(plan), outputs = attention_outputs(plan);
  if (manifest.rows == 0) throw unfit(plan, "rows", "there are none");
  const auto column = [&](const AttentionColumn& wanted, Role role) {
    std::vector<std::uint64_t> shape = {manifest.rows};
    shape.insert(shape.end(), wanted.shape.begin(), wanted.shape.end());
    const ColumnInfo* info = manifest.find(wanted.name);
    if (info == nullptr || info->role != role || info->format != wanted.format || info->shape != shape)
      throw unfit(plan, "column " + wanted.name,
                  "missing, or not of the shape and format that its SPEC asks for");
    return reader.column(static_cast<std::size_t>(info - manifest.columns.data()));
  };
  AttentionRows again = attention_rows(plan, manifest.level, manifest.seed);
  const bool as_many = again.cases.size() == manifest.rows;
  for (std::size_t row = 0; row < manifest.rows; ++row) {
    std::vector<std::span<const std::byte>> cells;
    for (const AttentionColumn& one : inputs)
      cells.push_back(column(one, Role::input).subspan(row * one.row_bytes(), one.row_bytes()));
    pack.rows.cases.push_back(input_case(plan, cells));
    const auto made = as_many ? input_bytes(plan, again.cases[row]) : std::vector<std::vector<std::byte>>{};
    if (!std::ranges::equal(cells, made, [](const auto& a, const auto& b) { return std::ranges::equal(a, b); }))
      throw unfit(plan, "rows", "they are not those that this version makes of its SPEC and seed");
  }
  if (manifest.columns.size() != inputs.size() + outputs.size())
    throw unfit(plan, "columns", "some are not in its SPEC");
  const Manifest made = manifest_of(plan, manifest.level, manifest.seed, again);
  if (nlohmann::json::parse(manifest.details) != nlohmann::json::parse(made.details) ||
      manifest.completeness != made.completeness || manifest.refused != made.refused)
    throw unfit(plan, "manifest", "its details are not those that this version writes for its SPEC and seed");
  pack.rows.probes = std::move(again.probes);
  const auto answers = reference_answers(plan, pack.rows.cases, static_cast<unsigned>(threads));
  for (std::size_t row = 0; row < answers.size(); ++row) {
    const AttentionAnswer want = answer_of(plan, answers[row]);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto held =
          column(outputs[i], Role::expected).subspan(row * outputs[i].row_bytes(), outputs[i].row_bytes());
      if (words_of(outputs[i], held) != want[i])
        throw unfit(plan, "row " + std::to_string(row) + ", column " + outputs[i].name,
                    "what it expects is not what this version computes");
    }
  }
  return pack;
}

}  // namespace halfulp::vectors
