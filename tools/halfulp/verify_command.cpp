// The subcommand `verify`.
#include "commands.hpp"

namespace halfulp::tool {

void add_verify(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
