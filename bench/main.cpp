// bench_… [--quick] [Google Benchmark's options]. --quick: smaller inputs.
#include <cstring>

#include "goal.hpp"

int main(int argc, char** argv) {
  int kept = 1;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argv[kept] = nullptr;
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  halfulp::bench::add_goals(quick);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
