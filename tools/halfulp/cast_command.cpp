// The subcommand `cast`.
#include "commands.hpp"

namespace halfulp::tool {

void add_cast(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
