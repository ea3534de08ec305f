// AnswersSeen: a bounded part of the answers of a kernel that cannot be asked again, for diagnose().
//
// Decides: which part. Ties and specials where they come, an even part of all rows, and the mismatches that
// the tally kept; the same for the same rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/tally.hpp"

namespace halfulp::vectors {

class AnswersSeen {
 public:
  /// `rows`: how many there will be.
  AnswersSeen(const Expected& expected, std::uint64_t rows);

  /// The next rows: source words and answers in host byte order. Ties and specials are found where the
  /// words ascend.
  void add(std::span<const std::byte> words, std::span<const std::byte> answers);
  /// The same of words that are asked for one by one.
  void add(const std::function<std::uint64_t(std::size_t)>& word, std::span<const std::byte> answers);

  /// In ascending order of words, without repetition.
  std::vector<Answer> with_mismatches(const Tally& tally) const;

 private:
  void note(std::uint64_t word, std::uint64_t got) { noted_.push_back({word, got, false}); }

  const Expected& expected_;
  std::vector<std::uint64_t> wanted_;  ///< ties and specials, ascending
  std::uint64_t step_;                 ///< every so many rows one is noted
  std::uint64_t next_ = 0;             ///< of those, the row to come
  std::uint64_t row_ = 0;
  std::vector<Answer> noted_;
};

}  // namespace halfulp::vectors
