// CastFacts: what is worth telling about one row of a cast or decode - its code, its status, and the
// reasons why it is in a pack.
//
// Decides: the flags of cast and decode packs, and when each is set. Codes come from Expected, that is from
// the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

struct CastFacts {
  std::uint64_t code = 0;
  std::optional<std::uint64_t> alternative;
  std::uint32_t flags = 0;  ///< bits of cast_notes() or decode_notes()
  std::uint8_t status = 0;  ///< CastFlags

  friend bool operator==(const CastFacts&, const CastFacts&) = default;
};

/// The flags of a cast pack and of a decode pack, in the order of their bits.
const std::vector<FlagNote>& cast_notes();
const std::vector<FlagNote>& decode_notes();

enum class FactsKind : bool { cast, decode };

/// Facts of the words of one cast. Any number of threads may ask.
class FactsOf {
 public:
  FactsOf(const Expected& expected, FactsKind kind);
  /// Facts of a source container word that the policy does not refuse. Throws Disagreement.
  CastFacts operator()(std::uint64_t word) const { return (*this)(word, expected_.at(word)); }
  /// The same for a word of that run.
  CastFacts operator()(std::uint64_t word, const Run& run) const;

 private:
  std::uint32_t source_flags(std::uint64_t word) const;
  std::uint32_t cast_flags(std::uint64_t word, const Run& run, std::uint8_t status) const;
  std::uint32_t decode_flags(std::uint64_t word) const;
  bool differs(std::uint64_t bits, const Run& from) const;

  const Expected& expected_;
  const FormatSpec& from_;
  const FormatSpec& to_;
  FactsKind kind_;
  std::uint64_t largest_ = 0, smallest_ = 0;  ///< magnitudes: of the target; of the source for decodes
  std::optional<std::uint64_t> lowest_;       ///< negative largest, where it is not the mirrored one
  std::uint64_t extremes_sign_ = 0;
};

}  // namespace halfulp::vectors
