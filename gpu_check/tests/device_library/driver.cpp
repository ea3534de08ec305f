// A CUDA driver of a few functions for tests without a GPU: device pointers are addresses that the CPU cannot read, and
// device_run() lets "device code" see the memory behind them.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>

using Pointer = unsigned long long;

namespace {

constexpr Pointer kFar = Pointer{1} << 62;  // no address of this machine
std::map<Pointer, std::size_t> g_allocations;
bool g_current = false;

char* behind(Pointer pointer) { return reinterpret_cast<char*>(pointer - kFar); }

/// True when [pointer, pointer + bytes) lies in one allocation.
bool holds(Pointer pointer, std::size_t bytes) {
  auto after = g_allocations.upper_bound(pointer);
  if (after == g_allocations.begin()) return false;
  --after;
  return pointer + bytes <= after->first + after->second;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return std::getenv("HALFULP_TEST_NO_DEVICE") != nullptr ? 100 : 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &g_current;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  g_current = context == &g_current;
  return g_current ? 0 : 1;
}
int cuCtxSynchronize() { return g_current ? 0 : 201; }
int cuMemAlloc_v2(Pointer* pointer, std::size_t bytes) {
  if (!g_current) return 201;
  *pointer = reinterpret_cast<Pointer>(std::malloc(bytes)) + kFar;
  g_allocations[*pointer] = bytes;
  return 0;
}
int cuMemFree_v2(Pointer pointer) {
  if (g_allocations.erase(pointer) != 1) return 1;
  std::free(behind(pointer));
  return 0;
}
int cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t bytes) {
  if (!holds(to, bytes)) return 1;
  std::memcpy(behind(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
  if (!holds(from, bytes)) return 1;
  std::memcpy(to, behind(from), bytes);
  return 0;
}
/// The memory behind a device pointer, for the code that plays the kernel.
void* device_view(const void* pointer) { return behind(reinterpret_cast<Pointer>(pointer)); }

}
