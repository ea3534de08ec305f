// Fuzzes the manifest reader: every input is refused by InputError, or is a manifest that check_manifest()
// takes and that is read back the same from what manifest_text() makes of it.
#include "halfulp/vectors/pack/manifest.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::vectors;
  Manifest manifest;
  try {
    manifest = parse_manifest({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos)
      tensors::fuzz_fail("a message of two lines");
    return 0;
  }
  for (const ColumnInfo& column : manifest.columns) {
    if (column.rows() != 0 && column.row_bytes() > (~0ull >> 1) / column.rows())
      tensors::fuzz_fail("a column too large");
    if (!column.file.empty() && column.file != column.name + ".bin")
      tensors::fuzz_fail("a file of another name");
  }
  const std::string text = manifest_text(manifest);
  if (manifest_text(parse_manifest(text, "again")) != text) tensors::fuzz_fail("written otherwise");
  return 0;
}
