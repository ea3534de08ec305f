// What a running fiber asks of its block: who it is, and the shared arrays.
#include "gpu_check/host/block.hpp"

#include <stdexcept>

namespace halfulp::gpu {

thread_local Index threadIdx, blockIdx, blockDim, gridDim;

namespace host {
namespace {

constexpr std::uint32_t kSharedAlignment = 128;
thread_local Block block;

}  // namespace

Block& this_block() { return block; }

std::string Access::text() const { return "thread " + std::to_string(thread) + " of block " + std::to_string(block); }

std::string Where::text() const {
  const std::string path = file;
  return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line);
}

Access current_access(bool atomic) {
  const Fiber& fiber = block.fiber();
  return {blockIdx.x, block.running, fiber.epoch, fiber.warp_epoch, atomic};
}

bool blocks_are_concurrent() { return block.concurrent; }

void report(FaultKind kind, std::string text) { block.faults->add(kind, std::move(text)); }

std::byte* lane_bytes(unsigned lane) { return block.lanes[block.running / kWarp * kWarp + lane].data(); }

Memory& shared_memory(const char* name, std::size_t count, std::size_t element_bytes) {
  for (const SharedArray& array : block.shared) {
    if (array.name == name) return *array.memory;
  }
  std::uint32_t address = 0;
  if (!block.shared.empty()) {
    const SharedArray& last = block.shared.back();
    address = last.address + static_cast<std::uint32_t>(last.memory->bytes());
    address = (address + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  }
  block.shared.push_back({name, std::make_unique<Memory>(std::string("shared array ") + name, count, element_bytes, Scope::block), address});
  return *block.shared.back().memory;
}

Memory* shared_memory_at(std::uint32_t address, std::uint32_t& first_byte) {
  for (const SharedArray& array : block.shared) {
    if (address < array.address || address - array.address >= array.memory->bytes()) continue;
    first_byte = array.address;
    return array.memory.get();
  }
  return nullptr;
}

TensorUnit& tensor_unit() { return block.tensor; }

std::uint32_t shared_address_of(const Memory& memory) {
  for (const SharedArray& array : block.shared) {
    if (array.memory.get() == &memory) return array.address;
  }
  throw std::logic_error("not an array of this block");
}

}  // namespace host
}  // namespace halfulp::gpu
