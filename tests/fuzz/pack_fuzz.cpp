// Fuzzes the readers of whole packs: the input is a .npz (when it starts as one) or a .safetensors in a
// file of memory. Every input is refused by InputError, or has all the bytes that its manifest says.
#include <unistd.h>

#include <fstream>

#include "halfulp/vectors/pack/pack.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::vectors;
  const bool npz = size > 1 && data[0] == 'P' && data[1] == 'K';
  static const std::string stem = "/dev/shm/halfulp-pack-fuzz-" + std::to_string(getpid());
  const std::string path = stem + (npz ? ".npz" : ".safetensors");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const Hashes hashes : {Hashes::trusted, Hashes::checked}) {
    try {
      const auto pack = read_pack(path, hashes);
      const Manifest& manifest = pack->manifest();
      unsigned sum = 0;
      for (std::size_t i = 0; i < manifest.columns.size(); ++i) {
        const ColumnInfo& column = manifest.columns[i];
        if (pack->column(i).size() != column.rows() * column.row_bytes())
          tensors::fuzz_fail("a column of another size");
        for (const std::byte byte : pack->column(i)) sum += std::to_integer<unsigned>(byte);
      }
      volatile unsigned keep = sum;
      (void)keep;
    } catch (const InputError&) {
    }
  }
  unlink(path.c_str());
  return 0;
}
