// The steps of a check run. Each is one source file, compiled for the host shim and by nvcc.
#pragma once

#include <string>

#include "gpu_check/report.hpp"

namespace halfulp::gpu {

struct StepContext {
  std::string data;    ///< folder that prepare wrote
  std::string output;  ///< folder for data files that a step leaves; may be empty
  bool quick = false;  ///< samples instead of all inputs
  Device device;
  std::string libraries = {};  ///< folder of libraries to judge; empty: where the loader looks (on the host: nowhere)
};

/// Every prepared file is there, is what its name says, and has the checksum at its end.
StepReport run_data(const StepContext& context);
/// A cast with ties rounded away must yield exactly its known number of mismatches.
StepReport run_self_test(const StepContext& context);
/// Every cast over all its inputs (samples on the host) against the oracle's thresholds.
StepReport run_casts(const StepContext& context);
/// Passed or failed, of a sweep whose counts are in the row; where only the digest differs, a line says so.
void conclude_sweep(ResultRow& row);
/// Matrix instructions against the accumulation models and the measured rows.
StepReport run_mma(const StepContext& context);
/// Quantized attention, stage by stage against the reference kernel.
StepReport run_attention(const StepContext& context);
/// ex2.approx and rcp.approx over all inputs against the correctly rounded values.
StepReport run_mufu(const StepContext& context);

/// cuBLASLt's FP8 product, where the library is found, against bounds for any order and against named models.
StepReport run_libraries(const StepContext& context);

struct Step {
  const char* name;
  StepReport (*run)(const StepContext&);
  int seconds;  ///< time-out on a device
};
inline constexpr Step kSteps[] = {
    {"data", run_data, 15},
    {"self_test", run_self_test, 30},
    {"casts", run_casts, 90},
    {"mma", run_mma, 60},
    {"mufu", run_mufu, 45},
    {"attention", run_attention, 60},
    {"libraries", run_libraries, 60},
};

}  // namespace halfulp::gpu
