// verify_pack(): judges a kernel on the rows of a pack of a cast or decode.
//
// Decides: that a pack whose expected codes or claims are not those of its SPEC judges nothing; see
// pack_truth.hpp.
#pragma once

#include <string>

#include "halfulp/vectors/pack/pack.hpp"
#include "halfulp/vectors/pack_truth.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {

/// The cast that a pack of kind cast or decode is about. Throws InputError for other kinds, and for columns
/// that are not one input and one expected column of the cast's formats.
CastRequest request_of(const Manifest& manifest, const std::string& path);

/// The columns of a pack that request_of() takes. Throws InputError.
CastColumns cast_columns(const PackReader& pack, const std::string& path);

/// What a kernel gets and gives, in the order of the pack's columns.
RowShape shape_of(const Manifest& manifest);

/// The inputs of a pack; valid as long as the reader.
InputRows source_of(const PackReader& pack);

/// Of `options` only the progress is used: rows and level are the pack's. Throws InputError, also
/// for a pack that contradicts its SPEC or claims more than its rows prove.
Verdict verify_pack(const Plug& plug, const PackReader& pack, const std::string& path,
                    const VerifyOptions& options);

/// A built-in implementation as a kernel for the rows of a pack. Throws InputError when it has no such
/// cast.
Plug implementation_plug(const Implementation& implementation, const CastRequest& request);

}  // namespace halfulp::vectors
