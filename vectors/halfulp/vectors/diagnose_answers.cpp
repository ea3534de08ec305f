// answers_of(): the words that a diagnosis asks a kernel for.
#include <algorithm>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kMostWords =
    4096;  ///< of the level `stratified`; mismatches, ties and specials come on top

}  // namespace

std::vector<Answer> answers_of(const Expected& expected, const Kernel& kernel, const Tally& tally,
                               std::uint64_t seed) {
  const std::vector<std::uint64_t> all = level_words(expected, Level::stratified, seed).words;
  std::vector<std::uint64_t> words;
  const std::size_t step = all.size() / kMostWords + 1;
  for (std::size_t i = 0; i < all.size(); i += step) words.push_back(all[i]);
  const std::vector<std::uint64_t> specials = level_words(expected, Level::specials, seed).words;
  words.insert(words.end(), specials.begin(), specials.end());
  for (const std::uint64_t word : tie_words(expected.plan())) {
    if (expected.at(word).result.refusal == Refusal::none) words.push_back(word);
  }
  for (const Finding& finding : tally.sample) words.push_back(finding.word);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());

  const auto from_bytes = static_cast<std::size_t>(expected.plan().from->storage_bytes());
  const auto to_bytes = static_cast<std::size_t>(expected.plan().to.storage_bytes());
  std::vector<std::byte> in(words.size() * from_bytes);
  std::vector<std::byte> out(words.size() * to_bytes);
  with_word_type(static_cast<int>(from_bytes), [&](auto type) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto word = static_cast<decltype(type)>(words[i]);
      std::memcpy(in.data() + i * from_bytes, &word, from_bytes);
    }
  });
  try {
    kernel(in, out);
  } catch (const KernelFailure&) {  // reported by the verdict already
    return {};
  }
  std::vector<Answer> answers;
  with_word_type(static_cast<int>(to_bytes), [&](auto word) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::memcpy(&word, out.data() + i * to_bytes, to_bytes);
      answers.push_back({words[i], word, expected.accepts(expected.at(words[i]), word)});
    }
  });
  return answers;
}

}  // namespace halfulp::vectors
