// In<T>, Out<T> and shared arrays on the host: every access is checked (memory.hpp).
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "gpu_check/host/memory.hpp"

namespace halfulp::gpu {

namespace host {

template <class T>
T all_ones() {
  T value;
  std::memset(static_cast<void*>(&value), 0xff, sizeof value);
  return value;
}

/// The address of one element, for atomics.
template <class T>
struct Pointer {
  Memory* memory;
  std::size_t index;

  T load() const {
    T value;
    std::memcpy(static_cast<void*>(&value), memory->data() + index * sizeof(T), sizeof(T));
    return value;
  }
  void store(const T& value) const { std::memcpy(memory->data() + index * sizeof(T), &value, sizeof(T)); }
};

/// One element: reads and writes go through the shadow memory.
template <class T>
class Element {
 public:
  Element(Memory& memory, std::size_t index) : at_{&memory, index} {}
  Element(const Element&) = default;

  operator T() const { return at_.memory->check_read(at_.index) ? at_.load() : all_ones<T>(); }
  const Element& operator=(const T& value) const {
    if (at_.memory->check_write(at_.index, false)) at_.store(value);
    return *this;
  }
  const Element& operator=(const Element& other) const { return *this = static_cast<T>(other); }
  const Element& operator+=(const T& value) const { return *this = static_cast<T>(static_cast<T>(*this) + value); }
  Pointer<T> operator&() const { return at_; }

 private:
  Pointer<T> at_;
};

template <class T>
class Array {
 public:
  explicit Array(Memory& memory) : memory_(&memory) {}
  Element<T> operator[](std::size_t index) const { return {*memory_, index}; }
  Memory& memory() const { return *memory_; }
  /// The raw bytes: no checks but the canaries.
  T* data() const { return reinterpret_cast<T*>(memory_->data()); }

 private:
  Memory* memory_;
};

template <class T>
Array<T> shared_array(const char* name, std::size_t count) {
  return Array<T>(shared_memory(name, count, sizeof(T)));
}

}  // namespace host

/// What a kernel only reads: checked for range.
template <class T>
class In {
 public:
  explicit In(host::Memory& memory) : memory_(&memory), data_(reinterpret_cast<const T*>(memory.data())), count_(memory.count()) {}
  T operator[](std::size_t index) const {
    if (index < count_) return data_[index];
    memory_->check_read(index);
    return host::all_ones<T>();
  }

 private:
  host::Memory* memory_;
  const T* data_;
  std::size_t count_;
};

template <class T>
using Out = host::Array<T>;

template <class T>
std::uint32_t shared_address(const host::Array<T>& array) {
  return host::shared_address_of(array.memory());
}

}  // namespace halfulp::gpu
