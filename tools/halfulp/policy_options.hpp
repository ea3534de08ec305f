// The options that name a cast, shared by `cast` and `thresholds`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "halfulp/plan.hpp"

namespace halfulp::tool {

/// Adds --dialect and one option per key of CastRequest; the words land in `request`, which must outlive
/// the parse.
void add_policy_options(CLI::App& app, CastRequest& request);

/// Every dialect, wrapped for a help text.
std::string dialect_list();

}  // namespace halfulp::tool
