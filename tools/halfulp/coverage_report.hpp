// What the rows of a pack or of a level reach, as `coverage` and `gen --coverage` print it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "halfulp/vectors/levels.hpp"
#include "halfulp/vectors/pack/pack.hpp"

namespace halfulp::tool {

struct CoverageReport {
  std::string text;             ///< the SPEC, then a line per count
  nlohmann::ordered_json json;  ///< the same
  std::uint64_t rows = 0;
  vectors::Completeness proves = vectors::Completeness::sampled, claimed = vectors::Completeness::sampled;
};

/// Counts the rows of a pack of a cast, decode or recipe. Throws InputError, also for a pack that contradicts its SPEC.
CoverageReport coverage_of_pack(const vectors::PackReader& pack, const std::string& path, int threads);

/// Counts the rows that `gen` would write. Without a level, thresholds; of a recipe, stratified. Throws InputError.
CoverageReport coverage_of_level(const std::string& spec, std::optional<vectors::Level> level, std::uint64_t seed, int threads);

}  // namespace halfulp::tool
