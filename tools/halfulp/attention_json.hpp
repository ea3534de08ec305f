// `halfulp attention --json`: query rows as objects, every stage among them.
#pragma once

#include <string>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"
#include "streams.hpp"

namespace halfulp::tool {

/// One line per query row: codes and float32 as `0x…`, values and errors as numbers. `exact` is softmax attention of
/// the same codes with every step exact, `error` what the value is off by; both are null where nothing bounds them
/// (docs/attention_verdicts.md). `stages` holds everything (attention::Keep::all).
void print_attention_rows(const attention::KernelSpec& spec, const attention::Problem& problem,
                          const attention::Stages& stages, unsigned threads, Output& output);

}  // namespace halfulp::tool
