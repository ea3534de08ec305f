// Fuzzes the .npz reader: every input is refused by InputError or read to its end, in memory of the size of
// its members.
#include "halfulp/tensors/npz.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::tensors;
  try {
    const NpzFile file(fuzz_bytes(data, size));
    std::uint64_t inside = 0;
    for (const ZipEntry& entry : file.entries()) inside += entry.compressed;
    if (inside > size) fuzz_fail("members overlap");
    for (const std::string& name : file.names()) {
      try {
        read_all(file.open(name), 1 + size % 37);
      } catch (const InputError&) {
      }
    }
  } catch (const InputError&) {
  }
  return 0;
}
