// Is there a device? Exit 0, 77 (none, or no driver) or 1, with one line. Built first, so that the answer comes before the long build.
#include <cstdio>
#include <exception>

#include "gpu_check/backend.hpp"

int main() {
  try {
    const halfulp::gpu::Device device = halfulp::gpu::find_device();
    if (device.usable) {
      std::printf("gpu_check: device %s, sm_%d\n", device.facts[0].value.c_str(), device.architecture);
      return 0;
    }
    std::printf("gpu_check: no device: %s\n", device.why.c_str());
    return device.skip ? 77 : 1;
  } catch (const std::exception& error) {
    std::printf("gpu_check: error: %s\n", error.what());
    return 1;
  }
}
