// backend.hpp on a GPU. No setting of the device is changed.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "gpu_check/backend.hpp"
#include "gpu_check/kernel_language.hpp"

namespace halfulp::gpu {

inline constexpr bool kOnDevice = true;
inline constexpr const char* kTier = "device";

namespace cuda {

/// Empty for success.
inline std::string error_text(cudaError_t error) {
  return error == cudaSuccess ? "" : std::string(cudaGetErrorString(error)) + " (" + std::to_string(error) + ")";
}

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + error_text(error));
}

/// Device memory with canaries of kGuard bytes on either side, filled with 0xff: NaN in every floating format that has one.
class Memory {
 public:
  Memory(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {
    check(cudaMalloc(reinterpret_cast<void**>(&base_), bytes_ + 2 * kGuard), "cudaMalloc");
    check(cudaMemset(base_, kCanary, bytes_ + 2 * kGuard), "cudaMemset");
    check(cudaMemset(data(), 0xff, bytes_), "cudaMemset");
  }
  ~Memory() { cudaFree(base_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  unsigned char* data() const { return base_ + kGuard; }
  std::size_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  std::vector<unsigned char> contents() const {
    std::vector<unsigned char> all(bytes_);
    check(cudaMemcpy(all.data(), data(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return all;
  }
  void restore(const std::vector<unsigned char>& all) { check(cudaMemcpy(data(), all.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy"); }
  bool canaries_intact() const {
    std::vector<unsigned char> guard(2 * kGuard);
    check(cudaMemcpy(guard.data(), base_, kGuard, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemcpy(guard.data() + kGuard, data() + bytes_, kGuard, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::all_of(guard.begin(), guard.end(), [](unsigned char byte) { return byte == kCanary; });
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr int kCanary = 0xa5;
  std::string name_;
  std::size_t bytes_;
  unsigned char* base_ = nullptr;
};

inline std::vector<Memory*>& live_outputs() {
  static std::vector<Memory*> outputs;
  return outputs;
}

}  // namespace cuda

template <class T>
class Buffer {
 public:
  Buffer(std::string name, std::size_t count) : memory_(std::move(name), count * sizeof(T)) {}
  Buffer(std::string name, std::span<const T> values) : Buffer(std::move(name), values.size()) { upload(values); }
  ~Buffer() { std::erase(cuda::live_outputs(), &memory_); }

  void upload(std::span<const T> values) {
    if (values.size_bytes() != memory_.bytes()) throw std::invalid_argument("upload of another size");
    cuda::check(cudaMemcpy(memory_.data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::vector<T> download() const {
    std::vector<T> values(memory_.bytes() / sizeof(T));
    cuda::check(cudaMemcpy(values.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }
  In<T> in() const { return reinterpret_cast<const T*>(memory_.data()); }
  Out<T> out() {
    auto& outputs = cuda::live_outputs();
    if (std::find(outputs.begin(), outputs.end(), &memory_) == outputs.end()) outputs.push_back(&memory_);
    return reinterpret_cast<T*>(memory_.data());
  }
  /// For a library that reads, or reads and writes.
  const T* address() const { return reinterpret_cast<const T*>(memory_.data()); }
  T* scratch_address() { return reinterpret_cast<T*>(memory_.data()); }  ///< contents that nobody compares
  T* output_address() { return out(); }

 private:
  cuda::Memory memory_;
};

namespace cuda {

/// What did not start: an error, or a kernel that was compiled for other devices.
struct Started {
  std::string error = {};
  bool no_image = false;
};

/// Calls `start`, which puts work on the default stream, twice from the same contents of the outputs.
template <class Start>
Launched run_twice(const char* name, Start start) {
  Launched launched;
  const std::vector<cuda::Memory*> outputs = cuda::live_outputs();
  std::vector<std::vector<unsigned char>> before, first;
  for (const cuda::Memory* memory : outputs) before.push_back(memory->contents());
  for (int run = 0; run < 2; ++run) {
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i]->restore(before[i]);
    const auto begun = std::chrono::steady_clock::now();
    Started started = start();
    launched.no_image = started.no_image;
    if (launched.no_image) return launched;
    if (started.error.empty()) started.error = error_text(cudaDeviceSynchronize());
    if (!started.error.empty()) {
      launched.faults.push_back(std::string(name) + ": " + started.error);
      return launched;
    }
    if (run == 0) launched.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]->canaries_intact()) launched.faults.push_back(std::string(name) + ": write outside the buffer " + outputs[i]->name());
      if (run == 0) {
        first.push_back(outputs[i]->contents());
      } else if (first[i] != outputs[i]->contents()) {
        launched.faults.push_back(std::string(name) + ": " + outputs[i]->name() + " differs between two runs of the same launch");
      }
    }
  }
  return launched;
}

}  // namespace cuda

/// Runs the kernel twice from the same contents of the outputs.
template <class... Parameters>
Launched launch(const char* name, void (*kernel)(Parameters...), Grid grid, std::type_identity_t<Parameters>... arguments) {
  return cuda::run_twice(name, [&]() -> cuda::Started {
    kernel<<<grid.blocks, grid.threads>>>(arguments...);
    const cudaError_t error = cudaGetLastError();
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) return {"", true};
    return {cuda::error_text(error)};
  });
}

/// The same for a library: `start` returns what failed, empty for nothing.
template <class Start>
Launched call_library(const char* name, Start start) {
  return cuda::run_twice(name, [&]() -> cuda::Started { return {start()}; });
}

inline std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

/// The current device. Errors 35 (driver too old, or none) and 100 (no device) are reasons to skip; others are failures.
inline Device find_device() {
  Device found;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    found.skip = error == cudaSuccess || error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice;
    found.why = error == cudaSuccess ? "cudaGetDeviceCount finds 0 devices"
                                     : std::string("cudaGetDeviceCount gives ") + std::to_string(error) + ": " + cudaGetErrorString(error);
    return found;
  }
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0, clock = 0, memory_clock = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, 0);
  found.usable = true;
  found.architecture = properties.major * 10 + properties.minor;
  found.facts = {{"device", properties.name},
                 {"compute_capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
                 {"multiprocessors", std::to_string(properties.multiProcessorCount)},
                 {"memory_bytes", std::to_string(properties.totalGlobalMem)},
                 {"clock_khz", std::to_string(clock)},
                 {"memory_clock_khz", std::to_string(memory_clock)},
                 {"ecc", properties.ECCEnabled ? "on" : "off"},
                 {"driver_cuda", version_text(driver)},
                 {"runtime_cuda", version_text(runtime)}};
  return found;
}

}  // namespace halfulp::gpu
