// Chooses the reader by the extension.
#include "halfulp/tensors/source.hpp"

#include <algorithm>
#include <charconv>

#include "halfulp/tensors/npy.hpp"
#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/raw.hpp"
#include "halfulp/tensors/safetensors.hpp"

namespace halfulp::tensors {
namespace {

enum class FileKind { npy, npz, safetensors, raw };

FileKind kind_of(const std::string& path) {
  if (path.ends_with(".npy")) return FileKind::npy;
  if (path.ends_with(".npz")) return FileKind::npz;
  if (path.ends_with(".safetensors")) return FileKind::safetensors;
  if (path.ends_with(".bin")) return FileKind::raw;
  throw InputError("file '" + path + "'", "its extension says no tensor format",
                   "give a .npy, .npz, .safetensors or .bin file");
}

/// The member that was named, or the only one.
std::string member_of(const TensorName& name, const std::vector<std::string>& names) {
  if (name.member) return *name.member;
  if (names.size() == 1) return names[0];
  InputError listed = no_such_member(name.path, "", names);
  if (names.empty()) throw listed;
  const std::string text = listed.what();
  throw InputError("file '" + name.path + "'", "it holds " + std::to_string(names.size()) + " tensors",
                   "name one as " + name.path + ":NAME, " + text.substr(text.find("; ") + 2));
}

TensorSource open_kind(const TensorName& name, const OpenOptions& options) {
  const std::optional<std::string_view> dtype = options.dtype;
  const FileKind kind = kind_of(name.path);
  if (kind == FileKind::raw && (!options.dtype || !options.shape)) {
    throw InputError("file '" + name.path + "'", "a raw file says neither type nor shape",
                     "add --dtype and --shape");
  }
  Bytes bytes = open_file(name.path);
  switch (kind) {
    case FileKind::npy: return open_npy(std::move(bytes), dtype);
    case FileKind::npz: {
      const NpzFile file(std::move(bytes));
      return file.open(member_of(name, file.names()), dtype);
    }
    case FileKind::safetensors: {
      const SafetensorsFile file(std::move(bytes));
      std::vector<std::string> names;
      for (const Tensor& tensor : file.tensors()) names.push_back(tensor.name);
      return file.open(member_of(name, names), dtype);
    }
    case FileKind::raw: break;
  }
  return open_raw(std::move(bytes), *options.dtype, *options.shape);
}

}  // namespace

TensorName parse_tensor_name(std::string_view text) {
  std::size_t best = std::string_view::npos;
  for (const std::string_view extension : {".npz:", ".safetensors:"}) {
    const std::size_t at = text.find(extension);
    if (at != std::string_view::npos) best = std::min(best, at + extension.size() - 1);
  }
  if (best == std::string_view::npos) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, best)), std::string(text.substr(best + 1))};
}

TensorSource open_tensor(std::string_view text, const OpenOptions& options) {
  TensorSource source = open_kind(parse_tensor_name(text), options);
  if (options.shape && *options.shape != source.tensor().shape) {
    throw InputError(
        "tensor '" + std::string(text) + "'",
        "its shape is " + shape_text(source.tensor().shape) + ", not " + shape_text(*options.shape),
        "leave --shape out, or give the shape of the file");
  }
  return source;
}

std::vector<Tensor> list_tensors(const std::string& path) {
  const FileKind kind = kind_of(path);
  if (kind == FileKind::raw)
    throw InputError("file '" + path + "'", "a raw file lists no tensors",
                     "open it with --dtype and --shape");
  Bytes bytes = open_file(path);
  if (kind == FileKind::safetensors) return SafetensorsFile(std::move(bytes)).tensors();
  const auto as_tensor = [](const ByteSource& array, const std::string& name) {
    const NpyHeader header = read_npy_header(array);
    return Tensor{name, header.descr, header.shape, header.data_offset, array.size() - header.data_offset};
  };
  if (kind == FileKind::npy) return {as_tensor(*bytes, "")};
  std::vector<Tensor> tensors;
  for (const ZipEntry& entry : read_zip(*bytes)) {
    if (!entry.name.ends_with(".npy")) continue;
    tensors.push_back(
        as_tensor(*open_zip_member(bytes, entry), entry.name.substr(0, entry.name.size() - 4)));
  }
  return tensors;
}

std::vector<std::uint64_t> parse_shape(std::string_view text) {
  std::vector<std::uint64_t> shape;
  if (text == "()") return shape;
  const char* at = text.data();
  const char* end = at + text.size();
  for (bool more = true; more;) {
    std::uint64_t d = 0;
    const auto [next, error] = std::from_chars(at, end, d);
    more = next != end && (*next == 'x' || *next == ',');
    if (error != std::errc{} || d >> 63 != 0 || (next != end && !more)) {
      throw InputError("shape '" + std::string(text) + "'", "it is no list of dimensions",
                       "write it as 4096x128 or 4096,128");
    }
    shape.push_back(d);
    if (more) at = next + 1;
  }
  return shape;
}

}  // namespace halfulp::tensors
