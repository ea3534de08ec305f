// Pack folders, .safetensors and .npz.
#include "quantize_files.hpp"

#include <unistd.h>

#include <filesystem>
#include <list>
#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/step_text.hpp"
#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/vectors/sha256.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

class PackFolder : public ColumnFiles {
 public:
  PackFolder(const std::string& path, const std::string& manifest, const std::vector<ColumnPlan>& plans)
      : path_(path), beside_(path + ".part" + std::to_string(getpid())), manifest_(Json::parse(manifest)), plans_(plans) {
    std::error_code error;
    if (fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error)))
      throw InputError("folder '" + path_ + "'", "it exists and is not empty", "name a new folder, a .safetensors or a .npz");
    if (!fs::create_directory(beside_, error)) refuse(error);
    try {
      for (const ColumnPlan& plan : plans_) columns_.emplace_back(beside_ + "/" + plan.name + ".bin");
    } catch (...) {
      discard();
      throw;
    }
  }
  ~PackFolder() override { discard(); }
  PackFolder(const PackFolder&) = delete;
  PackFolder& operator=(const PackFolder&) = delete;

  void write(std::size_t column, std::span<const std::byte> bytes) override {
    Column& to = *std::next(columns_.begin(), static_cast<std::ptrdiff_t>(column));
    to.file.write(bytes);
    to.hash.add(bytes);
  }

  void commit() override {
    Json columns = Json::array();
    auto column = columns_.begin();
    for (const ColumnPlan& plan : plans_) {
      column->file.commit();
      columns.push_back({{"name", plan.name}, {"format", plan.format}, {"shape", plan.shape}, {"file", plan.name + ".bin"},
                         {"sha256", column->hash.hex()}});
      ++column;
    }
    manifest_["columns"] = columns;
    tensors::OutputFile text(beside_ + "/manifest.json");
    text.write(manifest_.dump(2) + "\n");
    text.commit();
    std::error_code error;
    fs::rename(beside_, path_, error);
    if (error) refuse(error);
    done_ = true;
  }

 private:
  struct Column {
    explicit Column(const std::string& path) : file(path) {}
    tensors::OutputFile file;
    vectors::Sha256 hash;
  };

  [[noreturn]] void refuse(const std::error_code& error) const {
    throw InputError("folder '" + path_ + "'", "it cannot be made (" + error.message() + ")", "check the folder above, its rights and its space");
  }
  void discard() {
    columns_.clear();
    std::error_code error;
    if (!done_) fs::remove_all(beside_, error);
  }

  std::string path_, beside_;
  Json manifest_;
  std::vector<ColumnPlan> plans_;
  std::list<Column> columns_;
  bool done_ = false;
};

class SafetensorsColumns : public ColumnFiles {
 public:
  SafetensorsColumns(const std::string& path, const std::string& manifest, const std::vector<ColumnPlan>& plans)
      : plans_(plans), writer_(path, plans_of(plans), {{"halfulp", with_columns(manifest, plans)}}) {}
  void write(std::size_t column, std::span<const std::byte> bytes) override { writer_.write(plans_[column].name, bytes); }
  void commit() override { writer_.commit(); }

  static std::string with_columns(const std::string& manifest, const std::vector<ColumnPlan>& plans) {
    Json json = Json::parse(manifest), columns = Json::array();
    for (const ColumnPlan& plan : plans) columns.push_back({{"name", plan.name}, {"format", plan.format}, {"shape", plan.shape}});
    json["columns"] = columns;
    return json.dump();
  }

 private:
  static std::vector<tensors::TensorPlan> plans_of(const std::vector<ColumnPlan>& plans) {
    std::vector<tensors::TensorPlan> out;
    for (const ColumnPlan& plan : plans) {
      const tensors::ElementType type = tensors::element_type(plan.format);
      const tensors::FileType* row = tensors::file_type(type.name);
      const bool packed = row != nullptr && row->packing.has_value();  // one code per byte
      out.push_back({plan.name, packed ? "U8" : tensors::safetensors_dtype(type), plan.shape});
    }
    return out;
  }
  std::vector<ColumnPlan> plans_;
  tensors::SafetensorsWriter writer_;
};

class NpzColumns : public ColumnFiles {
 public:
  NpzColumns(const std::string& path, const std::string& manifest, const std::vector<ColumnPlan>& plans)
      : plans_(plans), manifest_(SafetensorsColumns::with_columns(manifest, plans)), writer_(path) {}
  void write(std::size_t column, std::span<const std::byte> bytes) override {
    for (; begun_ <= column; ++begun_) {
      const int bytes_each = tensors::element_type(plans_[begun_].format).word_bytes;
      begin(plans_[begun_].name, bytes_each, plans_[begun_].shape);
    }
    writer_.write(bytes);
  }
  void commit() override {
    begin("manifest", 1, {manifest_.size()});
    writer_.write(std::as_bytes(std::span(manifest_)));
    writer_.commit();
  }

 private:
  void begin(const std::string& name, int bytes, const std::vector<std::uint64_t>& shape) {
    tensors::NpyHeader header;
    header.descr = tensors::npy_descr(tensors::word_type(bytes));
    header.shape = shape;
    writer_.begin(name, header);
  }
  std::vector<ColumnPlan> plans_;
  std::string manifest_;
  tensors::NpzWriter writer_;
  std::size_t begun_ = 0;
};

Json steps_json(const recipes::QuantRecipe& recipe, const std::vector<recipes::Step>& steps) {
  Json list = Json::array();
  for (const recipes::Step& step : steps) {
    const recipes::StepText text = recipes::step_text(recipe, step);
    list.push_back({{"per", text.per}, {"result", text.result}, {"operation", text.operation}, {"precision", text.precision},
                    {"rounding", text.rounding}, {"exact", text.exact}});
  }
  return list;
}

}  // namespace

bool is_column_file(const std::string& path) {
  if (path == "-") return false;
  for (const std::string_view other : {".npy", ".bin", ".json", ".txt"}) {
    if (path.ends_with(other))
      throw InputError("output '" + path + "'", "codes and scales do not fit one array", "name a folder, a .safetensors or a .npz");
  }
  return true;
}

std::unique_ptr<ColumnFiles> make_column_files(const std::string& path, const std::string& manifest,
                                               const std::vector<ColumnPlan>& plans) {
  if (path.ends_with(".safetensors")) return std::make_unique<SafetensorsColumns>(path, manifest, plans);
  if (path.ends_with(".npz")) return std::make_unique<NpzColumns>(path, manifest, plans);
  return std::make_unique<PackFolder>(path, manifest, plans);
}

std::string quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, int axis) {
  const Json manifest = {{"pack", 1}, {"generator", "halfulp " HALFULP_VERSION}, {"kind", "quantized tensor"},
                         {"spec", "recipe:" + recipe.name + ",to=" + recipe.code.format_name},
                         {"recipe", recipe.name}, {"element", recipe.code.format_name},
                         {"granularity", recipes::granularity_text(recipe)}, {"text", recipe.text},
                         {"transform", steps_json(recipe, recipe.transform_steps)}, {"quantize", steps_json(recipe, recipe.steps)},
                         {"dequantize", steps_json(recipe, recipe.value_steps)}, {"facts", recipe.facts},
                         {"shape", shape}, {"axis", axis}};
  return manifest.dump();
}

}  // namespace halfulp::tool
