// Files written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace halfulp::tool {

/// Writes `text` beside `name` and renames it into place; through symbolic links to where they lead. Throws InputError, leaving nothing behind, when it cannot.
void write_file(const std::string& name, std::string_view text);

}  // namespace halfulp::tool
