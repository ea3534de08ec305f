// Rows are compared a piece at a time with the run of the row before; see pack_truth.hpp.
#include "halfulp/vectors/pack_truth.hpp"

#include <algorithm>
#include <cstring>

#include "halfulp/error.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kCountedBits = 20;  ///< sources this wide can be counted word by word

InputError wrong(const std::string& path, const std::string& why) {
  return InputError("pack '" + printable(path, 200) + "'", why, "make it again with `halfulp gen`");
}

template <class Word>
Word load(std::span<const std::byte> words, std::size_t index) {
  Word word;
  std::memcpy(&word, words.data() + index * sizeof word, sizeof word);
  return word;
}

/// The expected columns of one pack against the runs of its SPEC.
template <class From, class To>
class ExpectedCheck {
 public:
  ExpectedCheck(const Expected& expected, const CastColumns& columns, const std::string& path)
      : expected_(expected),
        columns_(columns),
        path_(path),
        shift_(expected.plan().from->storage_shift),
        rows_(columns.input.size() / sizeof(From)) {}

  void require_all() const {
    if (!expected_.tabulated()) {
      for (std::size_t row = 0; row < rows_; ++row)
        require(row, expected_.at(load<From>(columns_.input, row)));
      return;
    }
    constexpr std::size_t kPiece = 256;  // rows: short, since runs of thresholds are
    const auto& runs = expected_.runs();
    auto run = runs.begin();
    for (std::size_t row = 0; row < rows_;) {
      const std::size_t end = std::min(rows_, row + kPiece);
      if (all_of(*run, row, end)) {
        row = end;
        continue;
      }
      for (; row < end; ++row) {
        const std::uint64_t bits = std::uint64_t{load<From>(columns_.input, row)} >> shift_;
        if (bits < run->first || bits > run->last) {
          const bool next = run + 1 != runs.end() && bits >= (run + 1)->first && bits <= (run + 1)->last;
          run = next ? run + 1
                     : std::upper_bound(runs.begin(), runs.end(), bits,
                                        [](std::uint64_t b, const Run& r) { return b < r.first; }) -
                           1;
        }
        require(row, *run);
      }
    }
  }

 private:
  /// Every row of the piece belongs to the run and expects exactly its code.
  bool all_of(const Run& run, std::size_t begin, std::size_t end) const {
    if (run.result.refusal != Refusal::none) return false;
    const auto first = static_cast<From>(run.first);
    const auto span = static_cast<From>(run.last - run.first);
    unsigned outside = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto bits = static_cast<From>(load<From>(columns_.input, i) >> shift_);
      outside |= static_cast<From>(bits - first) > span ? 1u : 0u;
    }
    if (outside != 0) return false;
    return holds(columns_.expected, run, begin, end) &&
           (columns_.alternative.empty() || holds(columns_.alternative, run, begin, end));
  }
  bool holds(std::span<const std::byte> column, const Run& run, std::size_t begin, std::size_t end) const {
    const auto code = static_cast<To>(run.result.code);
    To difference = 0;
    for (std::size_t i = begin; i < end; ++i)
      difference = static_cast<To>(difference | (load<To>(column, i) ^ code));
    return difference == 0;
  }

  void require(std::size_t row, const Run& run) const {
    if (run.result.refusal != Refusal::none) fail(row, "its SPEC refuses " + source(row));
    const std::uint64_t packed = load<To>(columns_.expected, row);
    if (!expected_.accepts(run, packed)) contradict(row, "expects", packed, run);
    if (columns_.alternative.empty()) return;
    const std::uint64_t other = load<To>(columns_.alternative, row);
    if (other != packed && !expected_.accepts(run, other)) contradict(row, "also admits", other, run);
  }
  std::string source(std::size_t row) const {
    return word_text(*expected_.plan().from, load<From>(columns_.input, row));
  }
  [[noreturn]] void contradict(std::size_t row, const char* says, std::uint64_t code, const Run& run) const {
    const FormatSpec& to = expected_.plan().to;
    fail(row, "for " + source(row) + " it " + says + " " + word_text(to, code) + ", and its SPEC gives " +
                  word_text(to, run.result.code));
  }
  [[noreturn]] void fail(std::size_t row, const std::string& why) const {
    throw wrong(path_, "it contradicts its SPEC in row " + std::to_string(row) + ": " + why);
  }

  const Expected& expected_;
  const CastColumns& columns_;
  const std::string& path_;
  int shift_;
  std::size_t rows_;
};

/// Calls see(row, word) for every word in order until one call returns false; that is the result.
template <class See>
bool for_each_word(const Expected& expected, std::span<const std::byte> input, See see) {
  return with_word_type(expected.plan().from->storage_bytes(), [&](auto type) {
    using Word = decltype(type);
    const std::size_t rows = input.size() / sizeof(Word);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!see(row, std::uint64_t{load<Word>(input, row)})) return false;
    }
    return true;
  });
}

/// True when the rows are those of the manifest's level; `refused` becomes the words that it leaves out.
bool is_of_level(const Expected& expected, const Manifest& manifest, std::span<const std::byte> input,
                 std::uint64_t& refused) {
  if (manifest.level != Level::exhaustive) {
    const LevelWords level = level_words(expected, manifest.level, manifest.seed);
    refused = level.refused;
    return level.words.size() == manifest.rows &&
           for_each_word(expected, input,
                         [&](std::size_t row, std::uint64_t word) { return level.words[row] == word; });
  }
  const FormatSpec& from = *expected.plan().from;
  if (from.width > 32 || !expected.tabulated()) return false;
  for (const Run& run : expected.runs()) {
    if (run.result.refusal != Refusal::none) refused += run.last - run.first + 1;
  }
  if (manifest.rows + refused != low_mask(from.width) + 1) return false;
  std::uint64_t before = 0;
  return for_each_word(expected, input, [&](std::size_t row, std::uint64_t word) {
    const bool ascends = row == 0 || word > before;
    before = word;
    return ascends;
  });
}

/// What rows prove that are not those of a level.
Completeness proved_by_counting(const Expected& expected, Completeness claimed,
                                std::span<const std::byte> input) {
  const bool countable =
      claimed == Completeness::complete_for_monotone || expected.plan().from->width <= kCountedBits;
  return countable ? coverage_of_column(expected, input).completeness() : Completeness::sampled;
}

}  // namespace

Expected expected_of(const CastPlan& plan, const Manifest& manifest) {
  return Expected(plan, manifest.level == Level::exhaustive);
}

void require_expected(const Expected& expected, const CastColumns& columns, const std::string& path) {
  with_word_type(expected.plan().from->storage_bytes(), [&](auto source) {
    with_word_type(expected.plan().to.storage_bytes(), [&](auto target) {
      ExpectedCheck<decltype(source), decltype(target)>(expected, columns, path).require_all();
    });
  });
}

PackRows require_claims(const Expected& expected, const Manifest& manifest, const CastColumns& columns,
                        const std::string& path) {
  PackRows rows;
  rows.of_level = is_of_level(expected, manifest, columns.input, rows.refused);
  if (rows.of_level && rows.refused != manifest.refused) {
    throw wrong(path, "it claims that the policy refuses " + grouped_digits(manifest.refused) +
                          " words of its level, and it refuses " + grouped_digits(rows.refused));
  }
  if (!rows.of_level) rows.refused = 0;
  if (manifest.completeness == Completeness::sampled) return rows;
  const Completeness proved = rows.of_level
                                  ? completeness(expected, manifest.level, manifest.rows)
                                  : proved_by_counting(expected, manifest.completeness, columns.input);
  if (proved > manifest.completeness) {  // enumerators stand in falling order of proof
    throw wrong(path, "it claims to be " + std::string(name_of(manifest.completeness)) + ", and its " +
                          grouped_digits(manifest.rows) + " rows prove no more than " +
                          std::string(name_of(proved)));
  }
  return rows;
}

Coverage coverage_of_column(const Expected& expected, std::span<const std::byte> input) {
  constexpr std::size_t kPiece = 1 << 16;
  CoverageCounter counter(expected);
  std::vector<std::uint64_t> words;
  for_each_word(expected, input, [&](std::size_t, std::uint64_t word) {
    words.push_back(word);
    if (words.size() == kPiece) {
      counter.add(words);
      words.clear();
    }
    return true;
  });
  counter.add(words);
  return counter.result();
}

}  // namespace halfulp::vectors
