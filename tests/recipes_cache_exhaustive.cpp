// Recipes of caches, integers and GGML blocks against their exact twins: ten million elements of each.
#include <atomic>
#include <cctype>
#include <cstdio>
#include <set>
#include <string>
#include <thread>

#include "cache_recipes.hpp"

namespace halfulp::test {
namespace {

constexpr std::uint64_t kElements = 10'000'000;

class RecipesCacheExhaustive : public testing::TestWithParam<std::string_view> {};

TEST_P(RecipesCacheExhaustive, TenMillionElementsAgreeWithTheTwin) {
  std::vector<Sweep> kinds;
  for (const Sweep& sweep : kCacheSweeps) {
    if (sweep.name == GetParam()) kinds.push_back(sweep);
  }
  std::atomic<std::uint64_t> next{0}, elements{0}, blocks{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      while (elements < kElements && !HasFailure()) {
        const std::uint64_t n = next++;
        const Compared added = compare_once(kinds[n % kinds.size()], 1000 + n);
        elements += added.elements;
        blocks += added.blocks;
        if (n > kElements) break;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(elements.load(), kElements);
  std::printf("%-28s %llu elements, %llu blocks\n", GetParam().data(), static_cast<unsigned long long>(elements.load()),
              static_cast<unsigned long long>(blocks.load()));
}

std::vector<std::string_view> swept_names() {
  std::set<std::string_view> names;
  for (const Sweep& sweep : kCacheSweeps) names.insert(sweep.name);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipesCacheExhaustive, testing::ValuesIn(swept_names()), [](const auto& row) {
  std::string name(row.param);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace halfulp::test
