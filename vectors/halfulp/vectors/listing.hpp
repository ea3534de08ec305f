// Listings: which implementations there are, and which casts each one claims.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {

/// One line per implementation, then the mutants.
std::string list_text();

/// The claims of an implementation, one per line; or, for a SPEC, the claims of all with its two formats.
/// Throws InputError for a name or SPEC that does not exist.
std::string claims_text(std::string_view name_or_spec);

/// The claims of one implementation with the two formats of a SPEC. Throws InputError for a SPEC that does not exist.
std::vector<std::string> claims_on(const Implementation& one, std::string_view spec);

}  // namespace halfulp::vectors
