// A kernel library that asks for device memory, for tests with driver.cpp. HALFULP_TEST_FAULT picks a fault.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/kernel.h"

namespace {

template <class T>
T* view(void* device_pointer) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto look = reinterpret_cast<void* (*)(const void*)>(dlsym(driver, "device_view"));
  return static_cast<T*>(look(device_pointer));
}

bool seeded(const char* name) {
  const char* fault = std::getenv("HALFULP_TEST_FAULT");
  return fault != nullptr && std::strcmp(fault, name) == 0;
}

}  // namespace

extern "C" const halfulp_kernel_description* halfulp_kernel_info(void) {
  static const char* const specs[] = {"cast:f32:e4m3"};
  static const halfulp_kernel_description description = {sizeof description, HALFULP_KERNEL_ABI, HALFULP_DEVICE_MEMORY, "device cast", 1, specs};
  return &description;
}

extern "C" int32_t halfulp_kernel_run(const halfulp_job* job, halfulp_result* result) {
  constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32"), kE4m3 = halfulp::spec_of("e4m3");
  if (job->memory != HALFULP_DEVICE_MEMORY) return result->error = 7;
  auto* in = view<std::uint32_t>(job->inputs[0].data);
  auto* out = view<std::uint8_t>(job->outputs[0].data);
  for (std::uint64_t i = 0; i < job->rows; ++i) {
    halfulp::CastPolicy policy;
    if (seeded("ties")) policy.rounding = halfulp::Rounding::ties_to_away;
    out[i] = static_cast<std::uint8_t>(halfulp::cast(kF32, in[i], kE4m3, policy).code);
  }
  if (seeded("overrun")) out[job->rows] = 1;
  if (seeded("input")) in[0] ^= 1;
  return result->error = 0;
}
