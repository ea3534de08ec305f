// The subcommand `explain`.
#include "commands.hpp"

namespace halfulp::tool {

void add_explain(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
