// The card of a wrong sum; see mma_report.hpp.
#include <bit>
#include <cstdio>

#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/mma/mma_report.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::AccumulationModel;
using accumulation::MmaSpec;
using accumulation::Output;
using accumulation::Scheme;

constexpr std::size_t kShownChunks = 8, kEchoedProducts = 64;

std::string number_text(double x) {
  char text[48];
  if (x != x) return "nan";
  std::snprintf(text, sizeof text, "%a  %.9g", x, x);
  return text;
}

double number_of_word(const FormatSpec& format, std::uint32_t word) {
  return std::bit_cast<double>(cast(format,
                                    word & static_cast<std::uint32_t>(low_mask(format.storage_bits())),
                                    spec_of("f64"), {.overflow = Overflow::overflow})
                                   .code);
}

std::string result_text(const MmaPlan& plan, std::uint32_t word) {
  const FormatSpec& format = accumulation::format_of(plan.spec.output);
  if (plan.spec.output == Output::int32) return std::to_string(static_cast<std::int32_t>(word));
  return word_text(format, word) + "  " + number_text(number_of_word(format, word));
}

/// Empty where one is NaN.
std::string distance_text(const MmaPlan& plan, const MmaCase& one) {
  const auto steps = steps_apart(plan, one.got, one.want);
  if (!steps) return {};
  std::string text = std::to_string(*steps) + (*steps == 1 ? " step of " : " steps of ") + std::string(plan.to());
  const std::uint64_t result = steps_per_result(plan);
  if (result == 1) return text;
  const std::uint64_t results = *results_apart(plan, one.got, one.want);
  text += ", " + std::string(*steps % result == 0 ? "" : results == 1 ? "less than " : "up to ");
  return text + std::to_string(results) + " of its results of " +
         std::to_string(plan.spec.model.f32_fraction_bits) + " bits (" + std::to_string(result) + " steps each)";
}

std::string flags_text(std::uint32_t flags) {
  std::string text;
  for (std::size_t i = 0; i < mma_flags().size(); ++i) {
    if ((flags >> i & 1) != 0) text += (text.empty() ? "" : ", ") + mma_flags()[i].name;
  }
  return text;
}

/// c + sum(a*b), rounded once to 53 bits.
std::string exact_text(const MmaPlan& plan, const MmaRow& row) {
  const MmaSpec& spec = plan.spec;
  const FormatSpec& format = accumulation::format_of(spec.output);
  const ExactUnpacked sum = accumulation::ExactDot(spec.a, spec.b).value(row.a, row.b, row.c, &format);
  return number_text(std::bit_cast<double>(
      accumulation::rounded_dot(sum, spec_of("f64"), {.overflow = Overflow::overflow}).code));
}

std::string rule_text(const MmaPlan& plan) {
  const AccumulationModel& model = plan.spec.model;
  const std::string bits = std::to_string(model.fraction_bits),
                    chunks = "chunks of " + std::to_string(model.chunk);
  const std::string result = plan.spec.output == Output::f16
                                 ? "to nearest f16"
                                 : "toward zero to " + std::to_string(model.f32_fraction_bits) + " bits";
  std::string text;
  switch (model.scheme) {
    case Scheme::fused:
      text = chunks + ": every term and c cut toward zero " + bits +
             " bits below the largest exponent, summed exactly, the sum rounded once " + result;
      break;
    case Scheme::widened_halves:
      text = "chunks of 32 as f16: k mod 4 in {0, 1}, then {2, 3}, each cut " + bits +
             " bits below its largest exponent, from 0; then one IEEE add with c";
      break;
    case Scheme::scaled_groups:
      text = "exact dots of 16 times their scales and c, cut " + bits +
             " bits below the largest scale exponent; the sum rounded once " + result;
      break;
    case Scheme::pairwise: text = chunks + ": a tree of float32 adds, then accumulator + chunk"; break;
    case Scheme::two_stage:
    case Scheme::two_stage_parity:
      text = chunks + ": products cut " + bits +
             " bits below their largest exponent, their sum and c floored, one rounding to nearest";
      break;
    case Scheme::integer:
      text = plan.spec.saturate ? "exact, clamped to int32 after every chunk" : "exact modulo 2^32";
      break;
    case Scheme::exact:
      text = model.chunk == 0 ? "the exact sum, rounded once to nearest even"
                              : chunks + ", each rounded once to nearest even";
      break;
    default: text = std::string(model.note) + ", in float32"; break;
  }
  if (plan.spec.interval != 0)
    text += "; every " + std::to_string(plan.spec.interval) +
            " products from zero, then added to an accumulator";
  return text;
}

std::string hex8(const FormatSpec& format, std::uint32_t word) {
  char text[12];
  std::snprintf(
      text, sizeof text, "%08x",
      static_cast<unsigned>(cast(format, word, spec_of("f32"), {.overflow = Overflow::overflow}).code));
  return text;
}

/// Runs of three and more equal words are written WORD*N.
std::string words_text(const FormatSpec& format, const std::vector<std::uint32_t>& words) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < words.size(); first = end) {
    while (end < words.size() && words[end] == words[first]) ++end;
    const std::string word = hex8(format, words[first]);
    text += (text.empty() ? "" : " ") + word;
    if (end - first > 2)
      text += "*" + std::to_string(end - first);
    else if (end - first == 2)
      text += " " + word;
  }
  return text;
}

}  // namespace

std::string printed_result(const MmaPlan& plan, std::uint32_t word) {
  if (plan.spec.output == Output::int32) return std::to_string(static_cast<std::int32_t>(word));
  const bool nan = plan.spec.output == Output::f16 && (word & 0x7fff) > 0x7c00;
  char text[12];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(word));
  return nan ? "7fffffff" : plan.spec.output == Output::f16 ? hex8(spec_of("f16"), word) : text;
}

std::string reproduce_row(const MmaRun& run, std::size_t number) {
  const MmaPlan& plan = run.plan;
  const MmaRow& row = run.rows.rows[number];
  const FormatSpec& output = accumulation::format_of(plan.spec.output);
  if (plan.k > kEchoedProducts ||
      (plan.spec.output == Output::int32 && cast(output, row.c, spec_of("f32"), {}).flags != 0)) {
    return "halfulp mma --rows-of " + spec_text(plan) + " --level " + std::string(name_of(run.level)) + " --seed " +
           std::to_string(run.seed) + " --row " + std::to_string(number);
  }
  std::string text = "echo '" + words_text(plan.spec.a, row.a) + " | " + words_text(plan.spec.b, row.b) +
                     " | " + hex8(output, row.c);
  if (plan.scales() != 0) {
    const FormatSpec& scale = accumulation::scale_format(plan.spec);
    text += " | " + words_text(scale, row.scale_a) + " | " + words_text(scale, row.scale_b);
  }
  return text + "' | halfulp mma " + command_options(plan);
}

std::vector<CardLine> mma_card(const MmaPlan& plan, const MmaRow& row, const MmaCase& one) {
  std::vector<CardLine> lines = {{"row", std::to_string(one.row) + " (" + std::to_string(plan.k) +
                                             " products): " + flags_text(row.flags)},
                                 {"got", result_text(plan, one.got)},
                                 {"expected", result_text(plan, one.want)}};
  if (const std::string text = distance_text(plan, one); !text.empty()) lines.push_back({"distance", text});
  lines.push_back({"c", result_text(plan, row.c)});
  const bool scaled = plan.scales() != 0;
  if (!scaled) lines.push_back({"exact sum", exact_text(plan, row) + " (in 53 bits)"});
  const auto chunk = static_cast<std::size_t>(plan.spec.model.chunk);
  if (!scaled && chunk != 0 && plan.spec.interval == 0 && plan.k > chunk &&
      plan.k <= kShownChunks * chunk) {
    const MmaFunction function = function_of(plan.spec);
    MmaRow part = row;
    std::string text;
    for (std::size_t end = chunk; end < plan.k + chunk; end += chunk) {
      part.a.assign(row.a.begin(), row.a.begin() + static_cast<std::ptrdiff_t>(std::min(end, plan.k)));
      part.b.assign(row.b.begin(), row.b.begin() + static_cast<std::ptrdiff_t>(std::min(end, plan.k)));
      text +=
          (text.empty() ? "" : " ") + word_text(accumulation::format_of(plan.spec.output), function(part));
    }
    lines.push_back({"after chunks", text});
  }
  lines.push_back({"rule", rule_text(plan) + " (docs/accumulation.md)"});
  return lines;
}

}  // namespace halfulp::vectors
