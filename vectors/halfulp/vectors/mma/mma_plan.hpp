// MmaPlan: what `mma:MODEL[,key=value]…` asks of a kernel - the accumulation model as it is run, and the
// shape of a row.
//
//   from=FORMAT             of a and b; from_a= and from_b= where they differ
//   to=f32|f16|int32        of c and of the result
//   interval=N              promotion, with scale_order=scales_first|operand_first and contract=yes
//   zero_rule=a|b           which reading is printed as expected; rows on which they part are never
//   failures saturate=yes            integers: clamp after every chunk k=N                     products per
//   row; several chunks and pieces where none is named order=any               only rows whose result no
//   order, chunking or promotion can change nan=exact               the model's own NaN is asked for;
//   otherwise every NaN is right
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "halfulp/accumulation/models.hpp"

namespace halfulp::vectors {

struct MmaPlan {
  accumulation::MmaSpec spec;
  std::string from_a, from_b;  ///< canonical names
  std::size_t k = 0;
  bool any_order = false;
  bool exact_nan = false;

  std::string_view to() const { return accumulation::name_of(spec.output); }
  /// Scales per row and side; 0 without scales.
  std::size_t scales() const;
  std::string scale_name() const;  ///< of their format
};

/// Throws InputError.
MmaPlan parse_mma_spec(std::string_view spec);

/// The SPEC in canonical names with the fields that are not the model's own: parse_mma_spec() gives the
/// same plan.
std::string spec_text(const MmaPlan& plan);

/// True for a SPEC of this kind.
bool is_mma_spec(std::string_view spec);

/// The options of `halfulp mma` that name the same computation.
std::string command_options(const MmaPlan& plan);

}  // namespace halfulp::vectors
