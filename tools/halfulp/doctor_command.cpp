// The subcommand `doctor`.
#include "commands.hpp"

namespace halfulp::tool {

void add_doctor(CLI::App&, const Globals&, Runner&) {}

}  // namespace halfulp::tool
