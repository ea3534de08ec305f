// Recipes of caches, integers and GGML blocks against their exact twins: ten million elements of each.
#include <atomic>
#include <cstdio>
#include <map>
#include <thread>

#include "cache_recipes.hpp"

namespace halfulp::test {
namespace {

constexpr std::uint64_t kElements = 10'000'000;

TEST(RecipesCacheExhaustive, EnginesAgree) {
  std::map<std::string_view, std::vector<Sweep>> sweeps;
  for (const Sweep& sweep : kCacheSweeps) sweeps[sweep.name].push_back(sweep);
  for (const auto& [name, kinds] : sweeps) {
    std::atomic<std::uint64_t> next{0}, elements{0}, blocks{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&, &all = kinds] {
        while (elements < kElements && !testing::Test::HasFailure()) {
          const std::uint64_t n = next++;
          const Compared added = compare_once(all[n % all.size()], 1000 + n);
          elements += added.elements;
          blocks += added.blocks;
          if (n > kElements) break;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(elements.load(), kElements) << name;
    std::printf("%-28s %llu elements, %llu blocks\n", name.data(),
                static_cast<unsigned long long>(elements.load()),
                static_cast<unsigned long long>(blocks.load()));
    std::fflush(stdout);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace halfulp::test
