// Positions of rows; see level_rows.hpp.
#include "halfulp/vectors/level_rows.hpp"

#include <algorithm>

#include "halfulp/vectors/judge.hpp"

namespace halfulp::vectors {

LevelRows::LevelRows(const Expected& expected, Level level, std::uint64_t seed)
    : bytes_(expected.plan().from->storage_bytes()), shift_(expected.plan().from->storage_shift) {
  if (level != Level::exhaustive) {
    words_ = level_words(expected, level, seed).words;
    count_ = words_.size();
    return;
  }
  require_exhaustible(expected);
  bool open = false;  // the stretch goes on
  for (const Run& run : expected.runs()) {
    const bool refused = run.result.refusal != Refusal::none;
    if (!refused && !open) stretches_.push_back({count_, run.first});
    open = !refused;
    if (!refused) count_ += run.last - run.first + 1;
  }
}

void LevelRows::fill(std::uint64_t first, std::span<std::byte> words) const {
  with_word_type(bytes_, [&](auto type) {
    using Word = decltype(type);
    const std::size_t rows = words.size() / sizeof(Word);
    const auto put = [&](std::size_t i, std::uint64_t word) {
      const auto narrow = static_cast<Word>(word);
      std::memcpy(words.data() + i * sizeof(Word), &narrow, sizeof(Word));
    };
    if (stretches_.empty()) {
      for (std::size_t i = 0; i < rows; ++i) put(i, words_[static_cast<std::size_t>(first) + i]);
      return;
    }
    auto stretch = std::upper_bound(stretches_.begin(), stretches_.end(), first,
                                    [](std::uint64_t row, const Stretch& s) { return row < s.row; }) -
                   1;
    for (std::size_t i = 0; i < rows; ++stretch) {
      const std::uint64_t end = stretch + 1 == stretches_.end() ? count_ : (stretch + 1)->row;
      for (; i < rows && first + i < end; ++i)
        put(i, (stretch->bits + (first + i - stretch->row)) << shift_);
    }
  });
}

}  // namespace halfulp::vectors
