// What `halfulp verify` prints as JSON, and its list of implementations.
#pragma once

#include <string>

#include "halfulp/vectors/verify.hpp"

namespace halfulp::tool {

/// One object and a line end.
std::string verdict_json(const vectors::Verdict& verdict);

/// The list of implementations and mutants, with what was found or why not.
std::string implementations_json();

/// The same for one implementation by name; for a SPEC those with its two formats, each with those claims
/// only. Throws InputError for a name or SPEC that does not exist.
std::string claims_json(const std::string& name_or_spec);

}  // namespace halfulp::tool
