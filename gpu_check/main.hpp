// gpu_check: one step of a check run, on the tier that this was compiled for.
//   gpu_check --list                                   names and time-outs of the steps
//   gpu_check --device                                 facts of the device; exit 77 when there is none
//   gpu_check --step NAME --data FOLDER [--json FILE] [--output FOLDER] [--quick] [--model SM]
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>

#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {

struct Arguments {
  std::string step, data, json, output;
  bool list = false, device = false, quick = false;
  int model = 90;
};

inline bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&](std::string& into) {
      if (i + 1 >= argc) return false;
      into = argv[++i];
      return true;
    };
    std::string number;
    if (name == "--list") {
      arguments.list = true;
    } else if (name == "--device") {
      arguments.device = true;
    } else if (name == "--quick") {
      arguments.quick = true;
    } else if (name == "--model") {
      if (!value(number)) return false;
      arguments.model = std::atoi(number.c_str());
      if (arguments.model != 89 && arguments.model != 90 && arguments.model != 100 && arguments.model != 120) return false;
    } else if (!(name == "--step" && value(arguments.step)) && !(name == "--data" && value(arguments.data)) &&
               !(name == "--json" && value(arguments.json)) && !(name == "--output" && value(arguments.output))) {
      return false;
    }
  }
  return arguments.list || arguments.device || (!arguments.step.empty() && !arguments.data.empty());
}

inline int run_main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    std::fputs("usage: gpu_check --list | --device | --step NAME --data FOLDER [--json FILE] [--output FOLDER] [--quick] [--model 89|90|100|120]\n",
               stderr);
    return kExitUsage;
  }
  if (arguments.list) {
    for (const Step& step : kSteps) std::printf("%s %d\n", step.name, step.seconds);
    return kExitPassed;
  }
#if !defined(__CUDACC__)
  set_modelled_architecture(arguments.model);
#endif
  const Device device = find_device();
  if (!device.usable) {
    std::printf("gpu_check: no device: %s\n", device.why.c_str());
    return device.skip ? kExitNoDevice : kExitFailed;
  }
  if (arguments.device) {
    const StepReport facts{"device"};
    for (const Fact& fact : device.facts) std::printf("%-20s %s\n", fact.name.c_str(), fact.value.c_str());
    if (!arguments.json.empty()) write_whole_file(arguments.json, json_of(facts, device, kTier));
    return kExitPassed;
  }
  for (const Step& step : kSteps) {
    if (arguments.step != step.name) continue;
    const StepReport report = step.run({arguments.data, arguments.output, arguments.quick, device});
    std::fputs(text_of(report).c_str(), stdout);
    if (!arguments.json.empty()) write_whole_file(arguments.json, json_of(report, device, kTier));
    return exit_status(report);
  }
  std::fprintf(stderr, "gpu_check: error: unknown step %s\n", arguments.step.c_str());
  return kExitUsage;
}

}  // namespace halfulp::gpu

int main(int argc, char** argv) {
  try {
    return halfulp::gpu::run_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_check: error: %s\n", error.what());
    return halfulp::gpu::kExitFailed;
  }
}
