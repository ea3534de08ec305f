// Packs read from a folder, .npz or .safetensors. Sizes are compared with those of the files before
// anything is taken from them.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "halfulp/error.hpp"
#include "halfulp/tensors/mapped_file.hpp"
#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "halfulp/vectors/sha256.hpp"

namespace halfulp::vectors {
namespace {

using tensors::MappedFile;

constexpr const char* kAgain = "write it again with `halfulp gen`";

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

InputError bad_column(const std::string& origin, const ColumnInfo& column, const std::string& why) {
  return {"column '" + column.name + "' of '" + origin + "'", why, kAgain};
}

std::uint64_t column_bytes(const ColumnInfo& column) {
  return column.rows() * column.row_bytes();
}

void check_size(const std::string& origin, const ColumnInfo& column, std::uint64_t size) {
  if (size == column_bytes(column)) return;
  throw bad_column(origin, column,
                   "it has " + std::to_string(size) + " bytes, and its shape says " +
                       std::to_string(column_bytes(column)));
}

/// Index of the first word with bits that a word of the column cannot have; the number of words when there
/// is none.
template <class Word>
std::uint64_t first_stray(std::span<const std::byte> bytes, std::uint64_t allowed, std::uint64_t sign) {
  const std::uint64_t count = bytes.size() / sizeof(Word);
  const Word stray = static_cast<Word>(~allowed);
  const auto at = [&](std::uint64_t i) {
    Word word;
    std::memcpy(&word, bytes.data() + i * sizeof(Word), sizeof(Word));
    return word;
  };
  if (stray == 0) return count;
  Word any = 0;
  for (std::uint64_t i = 0; i < count; ++i) any = static_cast<Word>(any | at(i));
  if ((any & stray) == 0) return count;
  // Bits above a narrow signed integer may repeat its sign.
  const auto fits = [&](Word word) {
    return (word & stray) == 0 || (sign != 0 && (word & sign) && (word & stray) == stray);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!fits(at(i))) return i;
  }
  return count;
}

void check_words(const std::string& origin, const Manifest& manifest, const ColumnInfo& column,
                 std::span<const std::byte> bytes) {
  const tensors::ElementType type = tensors::element_type(column.format);
  std::uint64_t allowed = low_mask(type.width) << type.shift, sign = 0;
  if (type.sign_copies) sign = 1ull << (type.width - 1);
  if (column.role == Role::flags) allowed = low_mask(static_cast<int>(manifest.flags.size()));
  if (column.role == Role::status) allowed = kInexact | kOverflow | kUnderflow | kTie | kSubnormal;
  std::uint64_t stray = 0;
  switch (type.word_bytes) {
    case 1: stray = first_stray<std::uint8_t>(bytes, allowed, sign); break;
    case 2: stray = first_stray<std::uint16_t>(bytes, allowed, sign); break;
    case 4: stray = first_stray<std::uint32_t>(bytes, allowed, sign); break;
    default: stray = first_stray<std::uint64_t>(bytes, allowed, sign); break;
  }
  if (stray == bytes.size() / static_cast<std::size_t>(type.word_bytes)) return;
  throw bad_column(origin, column,
                   "word " + std::to_string(stray) + " has bits that " +
                       (column.role == Role::flags ? "no flag stands for" : "its format has not"));
}

class Reader final : public PackReader {
 public:
  Reader(std::string origin, Manifest manifest)
      : origin_(std::move(origin)), manifest_(std::move(manifest)) {}

  const Manifest& manifest() const override { return manifest_; }
  std::span<const std::byte> column(std::size_t index) const override { return columns_.at(index); }

  /// Columns in their order.
  void add(std::span<const std::byte> bytes) {
    check_size(origin_, manifest_.columns[columns_.size()], bytes.size());
    columns_.push_back(bytes);
  }
  void keep(std::shared_ptr<const MappedFile> file) { files_.push_back(std::move(file)); }
  std::span<const std::byte> keep(std::vector<std::byte> bytes) {
    held_.push_back(std::move(bytes));
    return held_.back();
  }
  const std::string& origin() const { return origin_; }

  void check_hashes() const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ColumnInfo& column = manifest_.columns[i];
      Sha256 hash;
      hash.add(columns_[i]);
      if (const std::string found = hash.hex(); found != column.sha256) {
        throw bad_column(origin_, column,
                         "its SHA-256 is " + found.substr(0, 16) + "…, and the manifest says " +
                             column.sha256.substr(0, 16) + "…: it is damaged");
      }
      check_words(origin_, manifest_, column, columns_[i]);
    }
  }

 private:
  std::string origin_;
  Manifest manifest_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<std::vector<std::byte>> held_;
  std::vector<std::span<const std::byte>> columns_;
};

/// `in_folder`: each column has a file of its own.
Manifest manifest_from(std::span<const std::byte> text, const std::string& origin, bool in_folder) {
  if (text.size() > kLargestManifest)
    throw InputError("file '" + origin + "'", "a manifest has at most 16 MiB", kAgain);
  Manifest manifest = parse_manifest(text_of(text), origin);
  for (const ColumnInfo& column : manifest.columns) {
    if (column.file.empty() == in_folder)
      throw bad_column(origin, column,
                       in_folder ? "its file is not named" : "it names a file, and is in this one");
    if (column.sha256.empty()) throw bad_column(origin, column, "its SHA-256 is not stated");
  }
  return manifest;
}

std::unique_ptr<Reader> open_folder(const std::string& path) {
  const std::string file = path + "/" + kManifestFile;
  struct stat state {};
  if (stat(file.c_str(), &state) != 0) {
    throw InputError("folder '" + path + "'", "it has no " + std::string(kManifestFile),
                     "give a pack that `halfulp gen` wrote");
  }
  const MappedFile text(file, tensors::Links::refused);
  auto reader = std::make_unique<Reader>(path, manifest_from(text.bytes(), file, true));
  for (const ColumnInfo& column : reader->manifest().columns) {
    const auto mapped = std::make_shared<MappedFile>(path + "/" + column.file, tensors::Links::refused);
    reader->keep(mapped);
    reader->add(mapped->bytes());
  }
  return reader;
}

std::unique_ptr<Reader> open_safetensors(const std::string& path) {
  const auto mapped = std::make_shared<MappedFile>(path);
  const tensors::SafetensorsHeader header = tensors::read_safetensors_header(*mapped);
  const auto text = header.metadata.find(kManifestKey);
  if (text == header.metadata.end()) {
    throw InputError("file '" + path + "'", "its metadata have no '" + std::string(kManifestKey) + "'",
                     "give a pack that `halfulp gen` wrote");
  }
  auto reader =
      std::make_unique<Reader>(path, manifest_from(std::as_bytes(std::span(text->second)), path, false));
  reader->keep(mapped);
  for (const ColumnInfo& column : reader->manifest().columns) {
    const auto tensor = std::find_if(header.tensors.begin(), header.tensors.end(),
                                     [&](const tensors::Tensor& t) { return t.name == column.name; });
    if (tensor == header.tensors.end())
      throw bad_column(path, column, "the file has no tensor of that name");
    if (tensor->dtype != tensors::safetensors_dtype(tensors::element_type(column.format)) ||
        tensor->shape != column.shape)
      throw bad_column(path, column, "the tensor has another dtype or shape than the manifest says");
    reader->add(mapped->bytes().subspan(tensor->offset, tensor->length));
  }
  return reader;
}

/// The bytes of an array of unsigned words: where they lie, or, of a deflated one, in `held`.
std::span<const std::byte> npz_array(const std::shared_ptr<MappedFile>& archive,
                                     const tensors::NpzFile& npz, const std::string& name, int word_bytes,
                                     const std::vector<std::uint64_t>* shape,
                                     std::vector<std::byte>& held) {
  for (const tensors::ZipEntry& entry : npz.entries()) {
    if (entry.name != name + ".npy") continue;
    const auto fail = [&](const std::string& why) {
      throw InputError("array '" + name + "' of '" + archive->name() + "'", why, kAgain);
    };
    const bool stored = entry.method == tensors::ZipMethod::stored;
    // The SHA-256 is stronger than the CRC, which is therefore not asked of stored members.
    const tensors::Bytes member = stored
                                      ? tensors::slice(archive, entry.data_offset, entry.size, entry.name)
                                      : tensors::open_zip_member(archive, entry);
    const tensors::NpyHeader header = tensors::read_npy_header(*member);
    if (header.descr != tensors::npy_descr(tensors::word_type(word_bytes)) || header.fortran_order)
      fail("it is not of little-endian unsigned words in C order, of the size that the manifest says");
    if (shape != nullptr ? header.shape != *shape : header.shape.size() != 1)
      fail("it has another shape than the manifest says");
    if (stored) {
      return archive->bytes().subspan(entry.data_offset + header.data_offset,
                                      entry.size - header.data_offset);
    }
    held.resize(member->size() - header.data_offset);
    member->read(header.data_offset, held);
    return held;
  }
  throw InputError("file '" + archive->name() + "'", "it has no array '" + name + "'",
                   "give a pack that `halfulp gen` wrote");
}

std::unique_ptr<Reader> open_npz(const std::string& path) {
  const auto mapped = std::make_shared<MappedFile>(path);
  const tensors::NpzFile npz(mapped);
  std::vector<std::byte> held;
  const auto text = npz_array(mapped, npz, kManifestName, 1, nullptr, held);
  auto reader = std::make_unique<Reader>(path, manifest_from(text, path + ":" + kManifestName, false));
  reader->keep(mapped);
  for (const ColumnInfo& column : reader->manifest().columns) {
    std::vector<std::byte> bytes;
    const auto found = npz_array(mapped, npz, column.name, column.word_bytes(), &column.shape, bytes);
    reader->add(bytes.empty() ? found : reader->keep(std::move(bytes)));
  }
  return reader;
}

}  // namespace

std::unique_ptr<PackReader> read_pack(const std::string& path, Hashes hashes) {
  std::unique_ptr<Reader> reader;
  struct stat state {};
  if (stat(path.c_str(), &state) == 0 && S_ISDIR(state.st_mode)) {
    reader = open_folder(path);
  } else if (path.ends_with(".safetensors")) {
    reader = open_safetensors(path);
  } else if (path.ends_with(".npz")) {
    reader = open_npz(path);
  } else {
    throw InputError("pack '" + path + "'", "it is no folder, .npz or .safetensors",
                     "give a pack that `halfulp gen` wrote");
  }
  if (hashes == Hashes::checked) reader->check_hashes();
  return reader;
}

bool is_pack(const std::string& argument) {
  struct stat state {};
  return argument.ends_with(".npz") || argument.ends_with(".safetensors") ||
         (stat(argument.c_str(), &state) == 0 && S_ISDIR(state.st_mode));
}

}  // namespace halfulp::vectors
