// The subcommand `thresholds`.
#include "commands.hpp"

namespace halfulp::tool {

void add_thresholds(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
