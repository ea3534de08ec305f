// The subcommand `formats`.
#include "commands.hpp"

namespace halfulp::tool {

void add_formats(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
