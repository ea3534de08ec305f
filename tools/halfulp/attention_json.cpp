#include "attention_json.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/attention/enclosure.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/error.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

/// Words [first, first + count) of a stage.
Json codes(const std::vector<std::uint32_t>& stage, const FormatSpec& format, std::size_t first,
           std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = first; i < first + count; ++i) list.push_back(code_text(format, stage[i]));
  return list;
}

/// `rows` lists of `width` words each.
Json table(const std::vector<std::uint32_t>& stage, std::size_t first, std::size_t rows, std::size_t width) {
  constexpr FormatSpec kF32 = spec_of("f32");
  Json list = Json::array();
  for (std::size_t i = 0; i < rows; ++i) list.push_back(codes(stage, kF32, first + i * width, width));
  return list;
}

/// The true results of the problem; none where the models of the kernel have no bound.
std::vector<attention::Enclosure> true_results(const attention::KernelSpec& spec,
                                               const attention::Problem& problem, unsigned threads) {
  try {
    return attention::enclose({.kernel = spec}, problem, threads);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void print_attention_rows(const attention::KernelSpec& spec, const attention::Problem& problem,
                          const attention::Stages& s, unsigned threads, Output& output) {
  constexpr FormatSpec kF32 = spec_of("f32");
  const FormatSpec& out = attention::format_named(spec.out);
  const std::vector<attention::Enclosure> truth = true_results(spec, problem, threads);
  const std::string kernel = attention::text_of(spec);
  for (std::size_t row = 0; row < s.rows; ++row) {
    Json value = Json::array(), exact = Json::array(), error = Json::array();
    for (std::size_t i = row * s.value_dim; i < (row + 1) * s.value_dim; ++i) {
      const auto O = static_cast<double>(attention::value_of(out, s.O[i]));
      value.push_back(O);
      const bool known = !truth.empty() && truth[i].bounded;
      const double true_O = known ? truth[i].true_lo + (truth[i].true_hi - truth[i].true_lo) / 2 : 0;
      exact.push_back(known ? Json(true_O) : Json());
      error.push_back(known ? Json(O - true_O) : Json());
    }
    const Json json = {{"kernel", kernel},
                       {"query_head", row / problem.shape.queries},
                       {"query", row % problem.shape.queries},
                       {"L", code_text(kF32, s.L[row])},
                       {"S", codes(s.S, kF32, row * s.keys, s.keys)},
                       {"m", codes(s.m, kF32, row * s.tiles, s.tiles)},
                       {"t", codes(s.t, kF32, row * s.keys, s.keys)},
                       {"P", codes(s.P, kF32, row * s.keys, s.keys)},
                       {"P_code", codes(s.P_code, attention::format_named(spec.p_format), row * s.keys, s.keys)},
                       {"alpha", codes(s.alpha, kF32, row * s.tiles, s.tiles)},
                       {"l", table(s.l, row * s.tiles * s.lanes, s.tiles, s.lanes)},
                       {"row_sum", code_text(kF32, s.row_sum[row])},
                       {"m_last", code_text(kF32, s.m_last[row])},
                       {"O_tile", table(s.O_tile, row * s.tiles * s.value_dim, s.tiles, s.value_dim)},
                       {"O", codes(s.O, out, row * s.value_dim, s.value_dim)},
                       {"value", value},
                       {"exact", exact},
                       {"error", error}};
    output.text() += json.dump() + "\n";
    output.line_done();
  }
}

}  // namespace halfulp::tool
