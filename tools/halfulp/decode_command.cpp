// The subcommand `decode`.
#include "commands.hpp"

namespace halfulp::tool {

void add_decode(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
