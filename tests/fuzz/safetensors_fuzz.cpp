// Fuzzes the safetensors reader: every input is refused by InputError or read to its end; tensors fill the
// data without gap or overlap; the layout that the writer makes of them is read back as the same tensors.
#include "halfulp/tensors/safetensors.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::tensors;
  try {
    const SafetensorsFile file(fuzz_bytes(data, size));
    std::uint64_t covered = 0;
    std::vector<TensorPlan> plans;
    bool known = true;
    for (const Tensor& tensor : file.tensors()) {
      covered += tensor.length;
      plans.push_back({tensor.name, tensor.dtype, tensor.shape});
      try {
        read_all(file.open(tensor.name), 1 + size % 37);
      } catch (const InputError& error) {
        known =
            known && std::string(error.what()).find("is not one that halfulp reads") == std::string::npos;
      }
    }
    if (covered > size) fuzz_fail("tensors overlap");
    if (!known) return 0;
    SafetensorsLayout layout = lay_out_safetensors(plans, file.metadata());
    layout.bytes.resize(layout.file_size);
    const SafetensorsFile again(memory_bytes("again", std::as_bytes(std::span(layout.bytes))));
    if (again.metadata() != file.metadata() || again.tensors().size() != plans.size())
      fuzz_fail("written otherwise");
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (again.tensors()[i].length != layout.tensors[i].length) fuzz_fail("a tensor is written otherwise");
    }
  } catch (const InputError&) {
  }
  return 0;
}
