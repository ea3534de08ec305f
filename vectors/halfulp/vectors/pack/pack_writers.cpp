// Packs written as a folder, .npz or .safetensors.
#include <unistd.h>

#include <filesystem>
#include <list>
#include <utility>

#include "halfulp/error.hpp"
#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/output_file.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "halfulp/vectors/sha256.hpp"

namespace halfulp::vectors {
namespace {

namespace fs = std::filesystem;

std::uint64_t column_bytes(const ColumnInfo& column) {
  return column.rows() * column.row_bytes();
}

/// The hashes and sizes of the columns while they are written.
class Columns {
 public:
  explicit Columns(Manifest manifest) : manifest_(std::move(manifest)), parts_(manifest_.columns.size()) {}

  void add(std::size_t column, std::span<const std::byte> bytes) {
    Part& part = parts_[column];
    if (bytes.size() > column_bytes(manifest_.columns[column]) - part.size)
      fail(column, "more bytes come than its shape has");
    part.size += bytes.size();
    part.hash.add(bytes);
  }
  /// The manifest with the hashes. Throws InputError unless every column is complete. Called once.
  const Manifest& finish() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].size != column_bytes(manifest_.columns[i]))
        fail(i, std::to_string(column_bytes(manifest_.columns[i]) - parts_[i].size) +
                    " bytes of it are missing");
      manifest_.columns[i].sha256 = parts_[i].hash.hex();
    }
    return manifest_;
  }
  const Manifest& manifest() const { return manifest_; }

 private:
  [[noreturn]] void fail(std::size_t column, const std::string& why) const {
    throw InputError("column '" + manifest_.columns[column].name + "'", why, "write what the shape says");
  }
  struct Part {
    Sha256 hash;
    std::uint64_t size = 0;
  };
  Manifest manifest_;
  std::vector<Part> parts_;
};

class FolderWriter final : public PackWriter {
 public:
  FolderWriter(const std::string& path, Manifest manifest)
      : path_(tensors::through_links(without_slashes(path))),
        beside_(path_ + ".part" + std::to_string(getpid())),
        columns_(std::move(manifest)) {
    std::error_code error;
    constexpr const char* mend = "name a new folder, a .safetensors or a .npz";
    if (fs::exists(path_, error) && !fs::is_directory(path_, error))
      throw InputError("output '" + path_ + "'", "it exists and is no folder", mend);
    if (fs::exists(path_, error) && !fs::is_empty(path_, error))
      throw InputError("folder '" + path_ + "'", "it exists and is not empty", mend);
    if (!fs::create_directory(beside_, error)) refuse(error);
    try {
      for (const ColumnInfo& column : columns_.manifest().columns)
        files_.emplace_back(beside_ + "/" + column.file);
    } catch (...) {
      discard();
      throw;
    }
  }
  ~FolderWriter() override { discard(); }
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  void write(std::size_t column, std::span<const std::byte> bytes) override {
    columns_.add(column, bytes);
    std::next(files_.begin(), static_cast<std::ptrdiff_t>(column))->write(bytes);
  }
  std::string stage() override {
    if (staged_) return beside_;
    const std::string manifest = manifest_text(columns_.finish());
    for (tensors::OutputFile& file : files_) file.commit();
    tensors::OutputFile text(beside_ + "/" + kManifestFile);
    text.write(manifest);
    text.commit();
    staged_ = true;
    return beside_;
  }
  void commit() override {
    stage();
    std::error_code error;
    fs::rename(beside_, path_, error);
    if (error) refuse(error);
    done_ = true;
  }

 private:
  static std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }
  [[noreturn]] void refuse(const std::error_code& error) const {
    throw InputError("folder '" + path_ + "'", "it cannot be made (" + error.message() + ")",
                     "check the folder above, its rights and its space");
  }
  void discard() {
    files_.clear();
    std::error_code error;
    if (!done_) fs::remove_all(beside_, error);
  }

  std::string path_, beside_;
  Columns columns_;
  std::list<tensors::OutputFile> files_;
  bool staged_ = false, done_ = false;
};

/// The dtype of a column: its own where safetensors has one of whole bytes, else unsigned words, one code
/// each.
std::string column_dtype(const ColumnInfo& column) {
  return tensors::safetensors_dtype(tensors::element_type(column.format));
}

class SafetensorsPack final : public PackWriter {
 public:
  SafetensorsPack(const std::string& path, Manifest manifest)
      : columns_(std::move(manifest)), writer_(path, plans(), metadata(columns_.manifest())) {}
  void write(std::size_t column, std::span<const std::byte> bytes) override {
    columns_.add(column, bytes);
    writer_.write(columns_.manifest().columns[column].name, bytes);
  }
  void commit() override {
    writer_.replace_metadata(metadata(columns_.finish()));  // hashes are as long as the zeros before
    writer_.commit();
  }

 private:
  std::vector<tensors::TensorPlan> plans() const {
    std::vector<tensors::TensorPlan> out;
    for (const ColumnInfo& column : columns_.manifest().columns)
      out.push_back({column.name, column_dtype(column), column.shape});
    return out;
  }
  static tensors::Metadata metadata(const Manifest& manifest) {
    return {{kManifestKey, manifest_text(manifest)}};
  }

  Columns columns_;
  tensors::SafetensorsWriter writer_;
};

class NpzPack final : public PackWriter {
 public:
  NpzPack(const std::string& path, Manifest manifest) : columns_(std::move(manifest)), writer_(path) {}
  bool in_order() const override { return true; }
  void write(std::size_t column, std::span<const std::byte> bytes) override {
    begin_until(column + 1);
    columns_.add(column, bytes);
    writer_.write(bytes);
  }
  void commit() override {
    begin_until(columns_.manifest().columns.size());
    const std::string text = manifest_text(columns_.finish());
    begin(kManifestName, 1, {text.size()});
    writer_.write(std::as_bytes(std::span(text)));
    writer_.commit();
  }

 private:
  void begin_until(std::size_t column) {
    for (; begun_ < column; ++begun_) {
      const ColumnInfo& info = columns_.manifest().columns[begun_];
      begin(info.name, info.word_bytes(), info.shape);
    }
  }
  void begin(const std::string& name, int bytes, const std::vector<std::uint64_t>& shape) {
    tensors::NpyHeader header;
    header.descr = tensors::npy_descr(tensors::word_type(bytes));
    header.shape = shape;
    writer_.begin(name, header);
  }
  Columns columns_;
  tensors::NpzWriter writer_;
  std::size_t begun_ = 0;
};

}  // namespace

std::unique_ptr<PackWriter> write_pack(const std::string& path, Manifest manifest) {
  check_manifest(manifest, path);
  const bool one_file = path.ends_with(".safetensors") || path.ends_with(".npz");
  for (ColumnInfo& column : manifest.columns) {
    column.file = one_file ? "" : column.name + ".bin";
    column.sha256 = std::string(64, '0');
  }
  if (path.ends_with(".safetensors")) return std::make_unique<SafetensorsPack>(path, std::move(manifest));
  if (path.ends_with(".npz")) return std::make_unique<NpzPack>(path, std::move(manifest));
  return std::make_unique<FolderWriter>(path, std::move(manifest));
}

}  // namespace halfulp::vectors
