// What `attention` and `explain attention` are given: a kernel and the tensors of one sequence, from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "attention_files.hpp"
#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::tool {

struct AttentionProblemOptions {
  std::string kernel = "reference", q, k, v, softmax_scale, sink;
  std::string q_scale = "1", k_scale = "1", v_scale = "1", window;
  std::int64_t visible_prefix = 0;
  bool causal = false;
};

void add_attention_problem_options(CLI::App& command, AttentionProblemOptions& options);

/// What they mean, for the help.
extern const char kAttentionProblemHelp[];

/// The kernel, masks included. Throws InputError.
attention::KernelSpec kernel_of(const AttentionProblemOptions& options);

/// Everything that a Problem views, and who owns it.
struct LoadedProblem {
  HeadTensor q, k, v;
  std::vector<float> L, v_scale, sink;
  attention::Shape shape;
  attention::Problem problem() const { return {shape, q.words, k.words, v.words, L, v_scale, sink}; }
};
/// Scales of Q and K are folded into the soft cap of `spec` where it has one. Throws InputError.
LoadedProblem load_problem(const AttentionProblemOptions& options, attention::KernelSpec& spec);

}  // namespace halfulp::tool
