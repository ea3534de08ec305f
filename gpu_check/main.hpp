// gpu_check: one step of a check run, on the tier that this was compiled for.
#pragma once

#include "gpu_check/command_line.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {

inline constexpr const char* kUsage =
    "usage: gpu_check --list                 names and time-outs (s) of the steps\n"
    "       gpu_check --device [--json FILE] facts of the device; exit 77 when there is none\n"
    "       gpu_check --step NAME --data FOLDER [options]\n"
    "  --data FOLDER    what gpu_check_prepare wrote\n"
    "  --json FILE      the report of the step\n"
    "  --output FOLDER  data files that a step leaves\n"
    "  --libraries DIR  where the step libraries finds them; else by the loader on a device, and nowhere on the host\n"
    "  --quick          samples instead of all inputs\n"
    "  --model SM       the GPU whose matrix instructions the thread shim plays: 89, 90, 100 or 120 (90)\n"
    "exit: 0 all passed; 1 a mismatch or an error; 2 usage; 3 nothing was judged; 4 no library to judge; 77 no device or no driver\n";

struct Arguments {
  std::string step, data, json, output, libraries;
  bool list = false, device = false, quick = false;
  int model = 90;
};

inline int model_argument(const std::string& text) {
  const int model = number_argument("--model", text, 89, 120);
  if (model != 89 && model != 90 && model != 100 && model != 120) throw UsageError("--model is one of 89, 90, 100, 120");
  return model;
}

inline Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw UsageError(name + " needs a value");
      return argv[++i];
    };
    if (name == "--list") arguments.list = true;
    else if (name == "--device") arguments.device = true;
    else if (name == "--quick") arguments.quick = true;
    else if (name == "--step") arguments.step = value();
    else if (name == "--data") arguments.data = value();
    else if (name == "--json") arguments.json = value();
    else if (name == "--output") arguments.output = value();
    else if (name == "--libraries") arguments.libraries = value();
    else if (name == "--model") arguments.model = model_argument(value());
    else throw UsageError("unknown argument '" + name + "'");
  }
  if (arguments.list || arguments.device) return arguments;
  if (arguments.step.empty()) throw UsageError("nothing to do: --list, --device or --step NAME");
  if (arguments.data.empty()) throw UsageError("--step needs --data FOLDER");
  return arguments;
}

inline const Step& step_named(const std::string& name) {
  std::string names;
  for (const Step& step : kSteps) {
    if (name == step.name) return step;
    names += std::string(names.empty() ? "" : ", ") + step.name;
  }
  throw UsageError("unknown step '" + name + "'; the steps are " + names);
}

inline int run_main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  if (arguments.list) {
    for (const Step& step : kSteps) std::printf("%s %d\n", step.name, step.seconds);
    return kExitPassed;
  }
  const Step* step = arguments.device ? nullptr : &step_named(arguments.step);
#if !defined(__CUDACC__)
  set_modelled_architecture(arguments.model);
#endif
  const Device device = find_device();
  if (!device.usable) {
    std::printf("gpu_check: no device: %s\n", device.why.c_str());
    return device.skip ? kExitNoDevice : kExitFailed;
  }
  if (step == nullptr) {
    const StepReport facts{"device"};
    for (const Fact& fact : device.facts) std::printf("%-20s %s\n", fact.name.c_str(), fact.value.c_str());
    if (!arguments.json.empty()) write_whole_file(arguments.json, json_of(facts, device, kTier));
    return kExitPassed;
  }
  StepReport report{step->name};
  run_case(report, step->name, [&] { report = step->run({arguments.data, arguments.output, arguments.quick, device, arguments.libraries}); });
  std::fputs(text_of(report).c_str(), stdout);
  if (!arguments.json.empty()) write_whole_file(arguments.json, json_of(report, device, kTier));
  return exit_status(report);
}

}  // namespace halfulp::gpu

int main(int argc, char** argv) {
  using namespace halfulp::gpu;
  return run_program("gpu_check", kUsage, kExitFailed, argc, argv, run_main);
}
