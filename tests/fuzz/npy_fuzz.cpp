// Fuzzes the .npy reader: every input is refused by InputError or read to its end; what is read has the
// header that the writer makes of it.
#include "halfulp/tensors/npy.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::tensors;
  const Bytes bytes = fuzz_bytes(data, size);
  try {
    const NpyHeader header = read_npy_header(*bytes);
    const std::string again = npy_header_text(header) + std::string(size - header.data_offset, '\0');
    const NpyHeader second = read_npy_header(*memory_bytes("again", std::as_bytes(std::span(again))));
    if (second.descr != header.descr || second.shape != header.shape ||
        second.fortran_order != header.fortran_order) {
      fuzz_fail("the header does not survive writing");
    }
    const int item = header.item_bytes();
    read_all(open_npy(bytes, item == 1   ? "e4m3"
                             : item == 2 ? "bf16"
                             : item == 4 ? "f32"
                                         : "f64"),
             1 + size % 37);
    read_all(open_npy(bytes, item == 1   ? "e2m1"
                             : item == 2 ? "int16"
                             : item == 4 ? "tf32"
                                         : "int64"),
             1 + size % 5);
  } catch (const InputError&) {
  }
  return 0;
}
