// Pack facts: whether the flags and the status of a cast or decode pack are those of its rows.
//
// Twin of what `gen` writes: rows of a level are made again in pieces, other rows word by word.
#pragma once

#include <string>

#include "halfulp/vectors/pack_truth.hpp"

namespace halfulp::vectors {

/// Throws InputError, naming the first row whose status, or whose flags where the pack has those of its kind by name, are not
/// what the source word gives. The expected codes have been checked.
void require_facts(const Expected& expected, const PackReader& pack, const CastColumns& columns, const PackRows& rows, const std::string& path);

}  // namespace halfulp::vectors
