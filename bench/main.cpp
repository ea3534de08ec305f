// bench_… [--quick] [Google Benchmark's options]. --quick: 16 Mi elements for 64 Mi.
#include <cstring>

#include "data.hpp"
#include "goal.hpp"

int main(int argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      halfulp::bench::use_quick_size();
    } else {
      argv[kept++] = argv[i];
    }
  }
  argv[kept] = nullptr;
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  halfulp::bench::add_goals();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
