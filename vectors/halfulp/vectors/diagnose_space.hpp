// The space of behaviours, made from the registries: bases - the SPEC, dialects, sibling formats, faults of
// reading and of output - and the moves that depart from a base in one field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "halfulp/vectors/diagnose_behaviour.hpp"

namespace halfulp::vectors {

/// A point of departure.
struct Base {
  std::string text;  ///< as in a diagnosis; empty for the SPEC
  Behaviour behaviour;
  bool is_dialect = false;
};

/// One field set to another value. Moves of one dimension exclude each other.
struct Move {
  int dimension = 0;
  std::string text;
  std::function<void(Behaviour&)> apply;
  int cost = 1;
};

/// The SPEC first, then dialects with a row for these formats, then formats of the same width and other
/// biases, on both sides, then faults.
std::vector<Base> bases(const CastPlan& spec);

/// Moves that change answers for numbers and infinities. Ascending dimensions.
std::vector<Move> number_moves(const CastPlan& spec, const Behaviour& base);

/// Moves that change answers for NaN sources only. Ascending dimensions.
std::vector<Move> nan_moves(const Behaviour& base);

}  // namespace halfulp::vectors
