// backend.hpp on the thread shim.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "gpu_check/backend.hpp"
#include "gpu_check/kernel_language.hpp"

namespace halfulp::gpu {

inline constexpr bool kOnDevice = false;
inline constexpr const char* kTier = "host shim";

namespace host {

/// Buffers that a launch may write: restored between runs, compared after them.
std::vector<Memory*>& live_outputs();

/// Runs `body` for every thread in each of run_orders(); several blocks also at the same time, unless a fault was found before.
Launched run_in_all_orders(const char* name, Grid grid, const std::function<void()>& body, Faults* faults);

}  // namespace host

template <class T>
class Buffer {
 public:
  Buffer(std::string name, std::size_t count) : memory_(std::make_unique<host::Memory>(std::move(name), count, sizeof(T))) {}
  Buffer(std::string name, std::span<const T> values) : Buffer(std::move(name), values.size()) { upload(values); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::erase(host::live_outputs(), memory_.get()); }

  void upload(std::span<const T> values) {
    if (values.size() != memory_->count()) throw std::invalid_argument("upload of another size");
    if (!values.empty()) std::memcpy(memory_->data(), values.data(), values.size_bytes());
    memory_->set_initialised();
  }
  std::vector<T> download() const {
    std::vector<T> values(memory_->count());
    if (!values.empty()) std::memcpy(values.data(), memory_->data(), memory_->bytes());
    return values;
  }
  In<T> in() const { return In<T>(*memory_); }
  /// For a library that reads, or reads and writes: no checks but the canaries.
  const T* address() const { return reinterpret_cast<const T*>(memory_->data()); }
  T* scratch_address() { return reinterpret_cast<T*>(memory_->data()); }  ///< contents that nobody compares
  T* output_address() { return out().data(); }
  Out<T> out() {
    auto& outputs = host::live_outputs();
    if (std::find(outputs.begin(), outputs.end(), memory_.get()) == outputs.end()) outputs.push_back(memory_.get());
    return Out<T>(*memory_);
  }

 private:
  std::unique_ptr<host::Memory> memory_;
};

/// Runs the kernel in every order. `faults`, when given, receives them with their kinds.
template <class... Parameters>
Launched launch(const char* name, void (*kernel)(Parameters...), Grid grid, host::Faults* faults,
                std::type_identity_t<Parameters>... arguments) {
  return host::run_in_all_orders(name, grid, [&] { kernel(arguments...); }, faults);
}
template <class... Parameters>
Launched launch(const char* name, void (*kernel)(Parameters...), Grid grid, std::type_identity_t<Parameters>... arguments) {
  return launch(name, kernel, grid, static_cast<host::Faults*>(nullptr), arguments...);
}

/// Calls `start`, which does a library's work and returns what failed (empty: nothing), twice from the same contents of the outputs.
Launched call_library(const char* name, const std::function<std::string()>& start);

/// The GPU whose models the shim uses for matrix instructions: 89, 90, 100 or 120.
void set_modelled_architecture(int architecture);
int modelled_architecture();

Device find_device();

}  // namespace halfulp::gpu
