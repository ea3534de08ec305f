// Where kernels run: buffers and launches, on the GPU under nvcc, in the thread shim elsewhere. Every launch runs more than
// once from the same buffers, and its results must be the same bits.
#pragma once

#include <string>
#include <vector>

namespace halfulp::gpu {

struct Grid {
  unsigned blocks = 1, threads = 1;
};

/// What a launch left behind besides its output.
struct Launched {
  std::vector<std::string> faults;  ///< races, errors of the runtime, results that differ between runs; empty: none
  bool no_image = false;            ///< the device is below every architecture that the kernel was compiled for
  double seconds = 0;               ///< of the first run

  bool ok() const { return faults.empty() && !no_image; }
};

/// Facts of the device as name and value, for the report.
struct Fact {
  std::string name, value;
};

/// Whether kernels can run here.
struct Device {
  bool usable = false;
  bool skip = false;   ///< no device or no driver: not a failure
  std::string why;     ///< when not usable
  int architecture = 0;  ///< 10 * major + minor; of the modelled GPU on the host
  std::vector<Fact> facts;
};

}  // namespace halfulp::gpu

#if defined(__CUDACC__)
#include "gpu_check/device/backend_cuda.hpp"
#else
#include "gpu_check/host/backend_host.hpp"
#endif
