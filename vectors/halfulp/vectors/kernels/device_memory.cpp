#include "halfulp/vectors/kernels/device_memory.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

namespace halfulp::vectors {
namespace {

std::byte guard_byte(std::size_t i) { return static_cast<std::byte>(0x5a ^ (i * 37)); }

}  // namespace

template <class... Arguments>
void DeviceMemory::call(const char* function, Arguments... arguments) const {
  const auto entry = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, function));
  if (entry == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no ") + function);
  if (const int error = entry(arguments...); error != 0) {
    throw std::runtime_error(std::string(function) + " gives error " + std::to_string(error));
  }
}

DeviceMemory::DeviceMemory() {
  library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    missing_ = "there is no libcuda.so.1";
    return;
  }
  try {
    void* context = nullptr;
    int device = 0;
    call("cuInit", 0u);
    call("cuDeviceGet", &device, 0);
    call("cuDevicePrimaryCtxRetain", &context, device);
    call("cuCtxSetCurrent", context);
  } catch (const std::exception& error) {
    missing_ = error.what();
  }
}

DeviceMemory::~DeviceMemory() {
  try {
    clear();
  } catch (const std::exception&) {  // the process ends; the driver frees what is left
  }
}

void* DeviceMemory::put(const std::string& name, std::span<const std::byte> data) {
  std::vector<std::byte> image(data.size() + 2 * kGuard);
  for (std::size_t i = 0; i < kGuard; ++i) image[i] = image[image.size() - 1 - i] = guard_byte(i);
  std::copy(data.begin(), data.end(), image.begin() + kGuard);
  Pointer base = 0;
  call("cuMemAlloc_v2", &base, image.size());
  columns_.push_back({name, base});
  call("cuMemcpyHtoD_v2", base, static_cast<const void*>(image.data()), image.size());
  return reinterpret_cast<void*>(base + kGuard);
}

void DeviceMemory::get(std::size_t index, std::span<std::byte> data) {
  const Column& column = columns_.at(index);
  std::vector<std::byte> image(data.size() + 2 * kGuard);
  call("cuCtxSynchronize");
  call("cuMemcpyDtoH_v2", static_cast<void*>(image.data()), column.base, image.size());
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (image[i] != guard_byte(i) || image[image.size() - 1 - i] != guard_byte(i)) {
      throw std::runtime_error("bytes beside the device column " + column.name + " were overwritten");
    }
  }
  std::copy_n(image.begin() + kGuard, data.size(), data.begin());
}

void DeviceMemory::clear() {
  while (!columns_.empty()) {
    const Pointer base = columns_.back().base;
    columns_.pop_back();
    call("cuMemFree_v2", base);
  }
}

}  // namespace halfulp::vectors
