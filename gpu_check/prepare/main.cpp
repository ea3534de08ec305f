// gpu_check_prepare FOLDER MEASURED [TILES]: writes the data that the steps read. MEASURED: the folder tests/data/mma_hardware.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/prepare/prepare.hpp"

int main(int argc, char** argv) {
  using namespace halfulp::gpu;
  const int tiles = argc == 4 ? std::atoi(argv[3]) : 64;
  if (argc < 3 || argc > 4 || tiles < 1) {
    std::fputs("usage: gpu_check_prepare FOLDER MEASURED [TILES]\n", stderr);
    return 2;
  }
  try {
    prepare_casts(argv[1]);
    prepare_mma(argv[1], argv[2], tiles);
    prepare_mufu(argv[1]);
    prepare_attention(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_check_prepare: error: %s\n", error.what());
    return 2;
  }
  return 0;
}
