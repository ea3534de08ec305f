// The kill matrix: the level `thresholds` kills every mutant of its SPEC; random rows of the same number do
// not.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "generated_document.hpp"
#include "halfulp/vectors/verify.hpp"
#include "random_packs.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kSeeds = 10;  ///< random packs per mutant and kind

/// Rows that a mutant gets wrong, of `words`.
std::uint64_t wrong_rows(const Expected& expected, const Kernel& kernel,
                         const std::vector<std::uint64_t>& words) {
  const FormatSpec& from = *expected.plan().from;
  const FormatSpec& to = expected.plan().to;
  std::uint64_t wrong = 0;
  with_word_type(from.storage_bytes(), [&](auto source) {
    with_word_type(to.storage_bytes(), [&](auto target) {
      using Source = decltype(source);
      using Target = decltype(target);
      std::vector<Source> in(words.begin(), words.end());
      std::vector<Target> out(words.size());
      kernel(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)));
      for (std::size_t i = 0; i < words.size(); ++i)
        wrong += !expected.accepts(expected.at(words[i]), out[i]);
    });
  });
  return wrong;
}

struct Row {
  std::string name;
  std::string spec;
  std::size_t rows = 0;
  std::uint64_t wrong = 0;   ///< of the level's rows
  int patterned_misses = 0;  ///< of kSeeds packs, how many let it live
  int uniform_misses = 0;
};

const std::vector<Row>& matrix() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> made;
    for (const Implementation& mutant : mutants()) {
      Row row{mutant.name.substr(7), mutant.claims.front().spec};
      const Chosen chosen = choose(mutant, parse_spec(row.spec).request);
      const Expected expected(chosen.plan);
      const std::vector<std::uint64_t> words = level_words(expected, Level::thresholds, 0).words;
      row.rows = words.size();
      row.wrong = wrong_rows(expected, chosen.kernel, words);
      for (int seed = 0; seed < kSeeds; ++seed) {
        const auto lives = [&](auto bits) {
          const auto drawn = drawn_words(chosen.plan, words.size(), static_cast<std::uint64_t>(seed), bits);
          return wrong_rows(expected, chosen.kernel, drawn) == 0;
        };
        row.patterned_misses += lives(patterned_bits);
        row.uniform_misses += lives(uniform_bits);
      }
      made.push_back(row);
    }
    return made;
  }();
  return rows;
}

bool is_decode(const Row& row) {
  return row.name.rfind("decode_", 0) == 0;
}

TEST(KillMatrix, the_level_thresholds_kills_every_mutant_of_its_SPEC) {
  std::set<std::string> names;
  for (const Row& row : matrix()) {
    EXPECT_GT(row.wrong, 0u) << row.name << " survives " << row.spec;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
  }
  const auto decodes = std::count_if(matrix().begin(), matrix().end(), is_decode);
  EXPECT_GE(decodes, 6);
  EXPECT_GE(static_cast<std::ptrdiff_t>(matrix().size()) - decodes, 30);
}

TEST(KillMatrix, a_right_kernel_survives_it) {
  for (const Row& row : matrix()) {
    const Chosen chosen = choose(require_implementation("halfulp"), parse_spec(row.spec).request);
    const Expected expected(chosen.plan);
    EXPECT_EQ(wrong_rows(expected, chosen.kernel, level_words(expected, Level::thresholds, 0).words), 0u)
        << row.spec;
  }
}

std::string share(int misses) {
  return misses == 0 ? "all" : std::to_string(kSeeds - misses) + " of " + std::to_string(kSeeds);
}

std::string document() {
  int always[2] = {0, 0};
  int ever[2] = {0, 0};
  int total[2] = {0, 0};
  for (const Row& row : matrix()) {
    const int misses[2] = {row.patterned_misses, row.uniform_misses};
    for (int i = 0; i < 2; ++i) {
      always[i] += misses[i] == kSeeds;
      ever[i] += misses[i] > 0;
      total[i] += misses[i];
    }
  }
  const auto tenth = [](int sum) {
    return std::to_string(sum / kSeeds) + "." + std::to_string(sum % kSeeds);
  };
  const std::string count = std::to_string(matrix().size());
  std::string text =
      "# Kill matrix\n\n"
      "Printed by `tests/mutants_test.cpp`; the test fails when this file differs from what it would "
      "print.\n\n"
      "A mutant is a cast or decode that is wrong in a way seen in real code. *Rows* is the size of the "
      "pack of level\n"
      "`thresholds` of its SPEC and *wrong* the rows that kill it. Beside it, random packs of the same "
      "number of rows:\n"
      "*patterned* draws signs, exponents and fractions in the manner of TestFloat level 1, *uniform* "
      "draws words. Each was\n"
      "drawn with " +
      std::to_string(kSeeds) + " seeds; the columns say how many of the packs kill the mutant.\n\n";
  text += "| packs of the same size | killed of " + count +
          " | missed on average | missed by some seed | missed by every seed |\n";
  text += "|---|---|---|---|---|\n";
  text += "| level `thresholds` | " + count + " | 0 | - | 0 |\n";
  const char* kinds[2] = {"patterned", "uniform"};
  for (int i = 0; i < 2; ++i) {
    text += std::string("| ") + kinds[i] + " | " +
            tenth(static_cast<int>(matrix().size()) * kSeeds - total[i]) + " on average | " +
            tenth(total[i]) + " | " + std::to_string(ever[i]) + " | " + std::to_string(always[i]) + " |\n";
  }
  text += "\n| mutant | SPEC | rows | wrong | patterned | uniform |\n|---|---|---|---|---|---|\n";
  for (const Row& row : matrix()) {
    text += "| " + row.name + " | `" + row.spec + "` | " + std::to_string(row.rows) + " | " +
            std::to_string(row.wrong) + " | " + share(row.patterned_misses) + " | " +
            share(row.uniform_misses) + " |\n";
  }
  return text;
}

TEST(KillMatrix, random_packs_of_the_same_size_miss_some) {
  int patterned = 0;
  int uniform = 0;
  for (const Row& row : matrix()) {
    patterned += row.patterned_misses > 0;
    uniform += row.uniform_misses > 0;
  }
  EXPECT_GT(patterned, 0);
  EXPECT_GT(uniform, 0);
  std::fputs(document().c_str(), stdout);
}

TEST(KillMatrix, the_committed_document_is_up_to_date) {
  expect_document("kill_matrix.md", document());
}

TEST(Mutants, refuse_formats_for_which_they_have_no_meaning) {
  EXPECT_THROW(choose(require_implementation("mutant:lost_top_binade"),
                      parse_cast_spec("cast:f32:int8,nan=nan_to_zero")),
               InputError);
}

}  // namespace
}  // namespace halfulp::vectors
