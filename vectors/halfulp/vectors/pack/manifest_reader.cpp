// Manifests read from files that nobody vouches for.
#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/vectors/pack/json_value.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {
namespace {

template <class Enum>
Enum named(const JsonObject& object, std::string_view key) {
  const auto value = value_named<Enum>(object.text(key));
  if (!value) object.fail("is not a word that halfulp knows", key);
  return *value;
}

ColumnInfo read_column(const JsonValue& value, std::string_view origin, std::size_t index) {
  const JsonObject object(value, origin, "column " + std::to_string(index));
  object.allow({"name", "role", "format", "shape", "file", "sha256"});
  ColumnInfo column;
  column.name = object.text("name");
  column.role = named<Role>(object, "role");
  column.format = object.text("format");
  for (const JsonValue& dimension : object.list("shape")) {
    if (dimension.kind != JsonValue::Kind::number || dimension.number >> 63 != 0)
      object.fail("holds something other than whole numbers below 2^63", "shape");
    column.shape.push_back(dimension.number);
  }
  if (object.has("file")) {
    column.file = object.text("file");
    if (column.file != column.name + ".bin") object.fail("is not NAME.bin", "file");
  }
  if (object.has("sha256")) {
    column.sha256 = object.text("sha256");
    if (column.sha256.size() != 64 ||
        column.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
      object.fail("is not 64 hexadecimal digits in lower case", "sha256");
  }
  return column;
}

FlagNote read_flag(const JsonValue& value, std::string_view origin, std::size_t index) {
  const JsonObject object(value, origin, "flag " + std::to_string(index));
  object.allow({"name", "tests", "matters", "goes_wrong"});
  return {object.text("name"), object.text("tests"), object.text("matters"), object.text("goes_wrong")};
}

}  // namespace

Manifest parse_manifest(std::string_view text, std::string_view origin) {
  if (text.size() > kLargestManifest) {
    throw InputError("file '" + std::string(origin) + "'", "a manifest has at most 16 MiB",
                     "give a pack that `halfulp gen` wrote");
  }
  const JsonValue root = parse_json(text, origin);
  const JsonObject object(root, origin, "the manifest");
  if (object.number("pack") != static_cast<std::uint64_t>(kPackVersion))
    object.fail("is not the version " + std::to_string(kPackVersion) + " that this halfulp reads", "pack");
  Manifest manifest;
  manifest.kind = object.text("kind");
  manifest.generator = object.text("generator");
  manifest.spec = object.text("spec");
  manifest.rows = object.number("rows");
  if (manifest.is_tensor()) {
    object.allow({"pack", "generator", "kind", "spec", "rows", "details", "columns"});
  } else {
    object.allow({"pack", "generator", "kind", "spec", "rows", "level", "seed", "completeness", "refused",
                  "details", "columns", "flags"});
    manifest.level = named<Level>(object, "level");
    manifest.seed = object.number("seed");
    manifest.completeness = named<Completeness>(object, "completeness");
    manifest.refused = object.number("refused");
    const auto& flags = object.list("flags");
    for (std::size_t i = 0; i < flags.size(); ++i) manifest.flags.push_back(read_flag(flags[i], origin, i));
  }
  const JsonValue& details = object.value("details");
  if (details.kind != JsonValue::Kind::object) object.fail("is not an object", "details");
  manifest.details =
      nlohmann::ordered_json::parse(text.substr(details.begin, details.end - details.begin)).dump();
  const auto& columns = object.list("columns");
  for (std::size_t i = 0; i < columns.size(); ++i)
    manifest.columns.push_back(read_column(columns[i], origin, i));
  check_manifest(manifest, origin);
  return manifest;
}

}  // namespace halfulp::vectors
