// gpu_check_prepare: writes the data that the steps read.
#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/command_line.hpp"
#include "gpu_check/file_list.hpp"
#include "gpu_check/prepare/prepare.hpp"

namespace {

constexpr const char* kUsage =
    "usage: gpu_check_prepare FOLDER MEASURED [TILES]\n"
    "Writes threshold tables, tiles, constants and expected stages for gpu_check under FOLDER.\n"
    "  MEASURED  the folder tests/data/mma_hardware of the project\n"
    "  TILES     of 128 outputs for each class and matrix instruction (64)\n"
    "exit: 0 written; 2 usage, or it could not be written\n";

int prepare(int argc, char** argv) {
  using namespace halfulp::gpu;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') throw UsageError(std::string("unknown argument '") + argv[i] + "'");
  }
  if (argc < 3 || argc > 4) throw UsageError("FOLDER and MEASURED are needed, TILES may follow");
  const int tiles = argc == 4 ? number_argument("TILES", argv[3], 1, 1 << 16) : 64;
  prepare_casts(argv[1]);
  prepare_mma(argv[1], argv[2], tiles);
  prepare_mufu(argv[1]);
  prepare_attention(argv[1]);
  prepare_libraries(argv[1]);
  write_file_list(argv[1]);
  return kExitPassed;
}

}  // namespace

int main(int argc, char** argv) { return halfulp::gpu::run_program("gpu_check_prepare", kUsage, 2, argc, argv, prepare); }
