// Epilogues: scales, bias and casts after a sum; see gemm.hpp.
#include <array>
#include <bit>
#include <stdexcept>

#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/detail/float_modes.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::accumulation {
namespace {

constexpr std::array<std::string_view, 6> kSteps = {"scale_a", "scale_b", "scale_ab", "scale_result", "bias", "cast"};
constexpr FormatSpec kF32 = spec_of("f32");

float number(const FormatSpec& format, std::uint64_t word) {
  const std::uint64_t bits = format == kF32 ? word : cast(format, word, kF32, {.overflow = Overflow::overflow}).code;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

float entry(const std::vector<float>& values, std::size_t i, const char* what) {
  if (values.size() == 1) return values[0];
  if (i >= values.size()) throw std::invalid_argument(std::string("halfulp: too few values of ") + what);
  return values[i];
}

std::uint32_t cast_word(float x, const FormatSpec& to, const CastPolicy& policy, std::size_t row, std::size_t column) {
  const CastResult result = cast(kF32, std::bit_cast<std::uint32_t>(x), to, policy);
  if (result.refusal != Refusal::none) {
    throw InputError("result [" + std::to_string(row) + ", " + std::to_string(column) + "]", std::string(refusal_text(result.refusal).first),
                     "write it in a format that has it, and cast that with a rule of your choice");
  }
  return static_cast<std::uint32_t>(result.code);
}

}  // namespace

std::vector<EpilogueStep> parse_steps(std::string_view text) {
  std::vector<EpilogueStep> steps;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    std::size_t i = 0;
    while (i < kSteps.size() && kSteps[i] != name) ++i;
    if (i == kSteps.size()) {
      const std::string near = nearest_names(name, {kSteps.begin(), kSteps.end()});
      throw InputError("epilogue step '" + std::string(name) + "'", "no step has that name",
                       near.empty() ? "steps are scale_a, scale_b, scale_ab, scale_result, bias, cast" : "nearest names: " + near);
    }
    steps.push_back(static_cast<EpilogueStep>(i));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return steps;
}

std::vector<std::uint32_t> apply_epilogue(const Epilogue& epilogue, Output sums_format, std::span<const std::uint32_t> sums,
                                          std::size_t columns, const FormatSpec& to, const CastPolicy& policy) {
  const halfulp::detail::DefaultFloatModes modes;
  const FormatSpec& from = format_of(sums_format);
  std::vector<std::uint32_t> words(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    float x = sums_format == Output::int32 ? static_cast<float>(static_cast<std::int32_t>(sums[i])) : number(from, sums[i]);
    for (const EpilogueStep step : epilogue.steps) {
      switch (step) {
        case EpilogueStep::scale_a: x *= entry(epilogue.scale_a, row, "scale_a"); break;
        case EpilogueStep::scale_b: x *= entry(epilogue.scale_b, column, "scale_b"); break;
        case EpilogueStep::scale_ab: x *= entry(epilogue.scale_a, row, "scale_a") * entry(epilogue.scale_b, column, "scale_b"); break;
        case EpilogueStep::scale_result: x *= epilogue.scale_result; break;
        case EpilogueStep::bias: x += entry(epilogue.bias, column, "bias"); break;
        case EpilogueStep::cast: x = number(to, cast_word(x, to, policy, row, column)); break;
      }
    }
    words[i] = x != x && to == kF32 ? kNanF32 : cast_word(x, to, policy, row, column);
  }
  return words;
}

}  // namespace halfulp::accumulation
