// Files written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace halfulp::tool {

/// Writes `text` beside `path` and renames it into place. Throws InputError, leaving nothing behind, when it cannot.
void write_file(const std::string& path, std::string_view text);

}  // namespace halfulp::tool
