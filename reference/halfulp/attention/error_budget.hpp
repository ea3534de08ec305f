// How much of the error of an attention output each stage makes: exact stages are replaced one by one by those of the kernel.
//
// The chain begins with the originals and every step exact, and ends with the kernel's codes. The difference that one replacement makes
// is that stage's error; the differences add up to the whole. Exact steps run in doubles (error below 10^-12 of the largest V).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::attention {

/// The tensors before quantization, in the layouts of Problem, and the scales that go with them.
struct Originals {
  std::span<const float> q, k, v;
  std::span<const float> logit_scale;  ///< softmax scale * log2 e: one, or one per query head; empty: 1
  std::span<const float> q_scale;      ///< that Q was divided by: one, or one per query head; empty: 1. The scale of K is what is left of L
  float softcap_scale = 0;             ///< SoftCap::scale for scores of the originals, where the spec has a soft cap
};

/// In the order of the chain.
enum class BudgetStage : std::uint8_t {
  q,       ///< Q as codes (and its part of L)
  k,       ///< K as codes
  v,       ///< V as codes times v_scale
  scores,  ///< the QK model, soft cap in float32
  p,       ///< exponent, exp2, prescale, cast of P under the running maximum; sums exact
  sums,    ///< PV model, row sum, rescaling, the end in float32
  output,  ///< the cast to the output format
};
inline constexpr std::size_t kBudgetStages = 7;
std::string_view name_of(BudgetStage stage);

struct StageError {
  double largest = 0, rms = 0;  ///< of the stage's differences
  double sqnr_db = 0;           ///< 10 log10(squares of the exact output / squares of the differences); Inf without error
  double share = 0;             ///< sum(difference * total error) / sum(total error squared): the shares add up to 1; 0 without error
};

struct ErrorBudget {
  std::array<StageError, kBudgetStages> stages = {};
  StageError total;
  std::size_t compared = 0, not_finite = 0;  ///< output elements; those with Inf or NaN anywhere in the chain are left out
};

/// Throws InputError where the originals do not have the sizes of the problem, and as run (kernel.hpp) does.
ErrorBudget error_budget(const KernelSpec& spec, const Problem& problem, const Originals& originals);

/// One line per stage: largest, rms, dB, share.
std::string to_string(const ErrorBudget& budget);

}  // namespace halfulp::attention
