// The subcommands of `halfulp explain`.
#pragma once

#include "commands.hpp"

namespace halfulp::tool {

/// `halfulp explain block`: a recipe on a small tensor, step by step.
void add_explain_block(CLI::App& explain, const Globals& globals, Runner& runner);

/// `halfulp explain attention`: one output element of attention, tile after tile.
void add_explain_attention(CLI::App& explain, const Globals& globals, Runner& runner);

/// `halfulp explain lesson`: the worked examples.
void add_explain_lesson(CLI::App& explain, const Globals& globals, Runner& runner);

}  // namespace halfulp::tool
