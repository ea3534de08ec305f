// Picks rows while they pass; see answers_seen.hpp.
#include "halfulp/vectors/answers_seen.hpp"

#include <algorithm>

#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kEvenPart = 4096;

std::uint64_t load(std::span<const std::byte> words, std::size_t index, int bytes) {
  return with_word_type(bytes, [&](auto word) {
    std::memcpy(&word, words.data() + index * sizeof word, sizeof word);
    return std::uint64_t{word};
  });
}

}  // namespace

AnswersSeen::AnswersSeen(const Expected& expected, std::uint64_t rows)
    : expected_(expected),
      wanted_(tie_words(expected.plan())),
      step_(std::max<std::uint64_t>(1, rows / kEvenPart)) {
  const std::vector<std::uint64_t> specials = level_words(expected, Level::specials, 0).words;
  wanted_.insert(wanted_.end(), specials.begin(), specials.end());
  std::sort(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
}

void AnswersSeen::add(std::span<const std::byte> words, std::span<const std::byte> answers) {
  const int from_bytes = expected_.plan().from->storage_bytes();
  add([&](std::size_t i) { return load(words, i, from_bytes); }, answers);
}

void AnswersSeen::add(const std::function<std::uint64_t(std::size_t)>& word, std::span<const std::byte> answers) {
  const int to_bytes = expected_.plan().to.storage_bytes();
  const std::size_t count = answers.size() / static_cast<std::size_t>(to_bytes);
  if (count == 0) return;
  const auto keep = [&](std::size_t i) { note(word(i), load(answers, i, to_bytes)); };
  for (; next_ < row_ + count; next_ += step_) keep(static_cast<std::size_t>(next_ - row_));
  std::size_t low = 0;
  const std::uint64_t last = word(count - 1);
  for (auto at = std::lower_bound(wanted_.begin(), wanted_.end(), word(0));
       at != wanted_.end() && *at <= last; ++at) {
    for (std::size_t high = count; low < high;) {  // the first row with that word or a later one
      const std::size_t middle = low + (high - low) / 2;
      if (word(middle) < *at)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < count && word(low) == *at) keep(low);
  }
  row_ += count;
}

std::vector<Answer> AnswersSeen::with_mismatches(const Tally& tally) const {
  std::vector<Answer> answers = noted_;
  for (const Finding& finding : tally.sample) answers.push_back({finding.word, finding.got, false});
  const auto before = [](const Answer& a, const Answer& b) {
    return a.word != b.word ? a.word < b.word : a.got < b.got;
  };
  const auto same = [](const Answer& a, const Answer& b) { return a.word == b.word && a.got == b.got; };
  std::sort(answers.begin(), answers.end(), before);
  answers.erase(std::unique(answers.begin(), answers.end(), same), answers.end());
  for (Answer& one : answers) one.by_spec = expected_.accepts(expected_.at(one.word), one.got);
  return answers;
}

}  // namespace halfulp::vectors
