// gpu_check_prepare FOLDER: writes the data that the steps read.
#include <cstdio>
#include <exception>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/prepare/prepare.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: gpu_check_prepare FOLDER\n", stderr);
    return 2;
  }
  try {
    halfulp::gpu::prepare_casts(argv[1]);
    halfulp::gpu::prepare_attention(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_check_prepare: error: %s\n", error.what());
    return 2;
  }
  return 0;
}
