// LevelRows: the rows of a level by their position, as `gen` writes them and a filter is fed with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {

class LevelRows {
 public:
  /// Throws InputError where the level does not apply.
  LevelRows(const Expected& expected, Level level, std::uint64_t seed);

  std::uint64_t count() const { return count_; }
  /// Container words in host byte order from row `first` on, as many as `words` holds.
  void fill(std::uint64_t first, std::span<std::byte> words) const;

 private:
  struct Stretch {
    std::uint64_t row;   ///< of the first
    std::uint64_t bits;  ///< of the first: container word without its storage_shift
  };
  int bytes_;
  int shift_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> words_;  ///< of a level below exhaustive
  std::vector<Stretch> stretches_;    ///< of every word that is not refused
};

}  // namespace halfulp::vectors
