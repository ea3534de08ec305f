// Manifests: checks and writing. Reading is in manifest_reader.cpp.
#include "halfulp/vectors/pack/manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "halfulp/error.hpp"
#include "halfulp/tensors/tensor.hpp"
#include "halfulp/vectors/pack/json_value.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKinds[] = {"cast", "decode", "recipe", "mma", "attention", "tensor"};
constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kMostDimensions = 8;

bool is_column_name(std::string_view name) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 32 && lower(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// Bits of a flags or status column that may be set.
std::size_t bits_of(const ColumnInfo& column) {
  return column.format == "uint8" ? 8 : 32;
}

void check_column(const Manifest& manifest, const ColumnInfo& column, std::string_view origin) {
  const auto fail = [&](const std::string& why) {
    throw InputError("file '" + std::string(origin) + "', column '" + printable(column.name) + "'", why,
                     "write it again with `halfulp gen`");
  };
  if (!is_column_name(column.name)) fail("a name is 1 to 32 of a-z, 0-9 and _, and starts with a letter");
  if (column.name == "manifest") fail("that name is the manifest's own");
  if (column.format.size() > 40) fail("no format has so long a name");
  try {
    if (tensors::element_type(column.format).name != column.format)
      fail("its format has another canonical name");
  } catch (const InputError& error) {
    fail(error.what());
  }
  if (column.shape.empty() || column.shape.size() > kMostDimensions) fail("a shape has 1 to 8 dimensions");
  const auto count = tensors::element_count(column.shape);
  const auto bytes = static_cast<std::uint64_t>(tensors::element_type(column.format).word_bytes);
  const auto in_a_row = tensors::element_count(std::span(column.shape).subspan(1));
  if (!count || !in_a_row || std::max(*count, *in_a_row) > (~0ull >> 1) / bytes)
    fail("its shape " + tensors::shape_text(column.shape) + " has 2^63 bytes or more");
  if (!manifest.is_tensor() && column.rows() != manifest.rows)
    fail("it has " + std::to_string(column.rows()) + (column.rows() == 1 ? " row" : " rows") + ", and the pack " +
         std::to_string(manifest.rows));
  const bool bit_column = column.role == Role::flags || column.role == Role::status;
  if (bit_column && ((column.format != "uint8" && column.format != "uint32") || column.shape.size() != 1))
    fail("flags and status are one uint8 or uint32 a row");
  if (column.role == Role::flags && manifest.flags.size() > bits_of(column))
    fail(std::to_string(manifest.flags.size()) + " flags do not fit its bits");
  if (column.role != Role::alternative) return;
  constexpr std::string_view suffix = "_alternative";
  const std::string_view name = column.name;
  const ColumnInfo* of =
      name.ends_with(suffix) ? manifest.find(name.substr(0, name.size() - suffix.size())) : nullptr;
  if (of == nullptr || of->role != Role::expected || of->shape != column.shape ||
      of->format != column.format)
    fail("there is no expected column of its name without _alternative, and of its shape and format");
}

Json column_json(const ColumnInfo& column) {
  Json json = {{"name", column.name},
               {"role", name_of(column.role)},
               {"format", column.format},
               {"shape", column.shape}};
  if (!column.file.empty()) json["file"] = column.file;
  if (!column.sha256.empty()) json["sha256"] = column.sha256;
  return json;
}

}  // namespace

std::uint64_t ColumnInfo::words_per_row() const {
  std::uint64_t words = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) words *= shape[i];
  return words;
}

int ColumnInfo::word_bytes() const {
  return tensors::element_type(format).word_bytes;
}

std::uint64_t ColumnInfo::row_bytes() const {
  return words_per_row() * static_cast<std::uint64_t>(word_bytes());
}

Manifest sampled_manifest(std::string kind, std::string spec, Level level, std::uint64_t seed, std::uint64_t rows) {
  Manifest manifest;
  manifest.generator = "halfulp " HALFULP_VERSION;
  manifest.kind = std::move(kind);
  manifest.spec = std::move(spec);
  manifest.rows = rows;
  manifest.seed = seed;
  manifest.level = level;
  manifest.completeness = Completeness::sampled;
  return manifest;
}

const ColumnInfo* Manifest::find(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const ColumnInfo& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

void check_manifest(const Manifest& manifest, std::string_view origin) {
  const auto fail = [&](const std::string& why) {
    throw InputError("file '" + std::string(origin) + "'", why, "write it again with `halfulp gen`");
  };
  if (std::find(std::begin(kKinds), std::end(kKinds), manifest.kind) == std::end(kKinds))
    fail("its kind is none of cast, decode, recipe, mma, attention, tensor");
  if (manifest.spec.empty()) fail("its SPEC is empty");
  if (manifest.columns.empty() || manifest.columns.size() > kMostColumns)
    fail("a pack has 1 to 64 columns");
  if (manifest.flags.size() > 32) fail("it has more than 32 flags");
  std::set<std::string_view> names;
  for (const FlagNote& flag : manifest.flags) {
    if (!is_column_name(flag.name) || !names.insert(flag.name).second)
      fail("flag '" + printable(flag.name) + "' is there twice, or is no name");
  }
  names.clear();
  for (const ColumnInfo& column : manifest.columns) {
    check_column(manifest, column, origin);
    if (!names.insert(column.name).second) fail("column '" + column.name + "' is there twice");
  }
  const auto count = [&](Role role) {
    return std::count_if(manifest.columns.begin(), manifest.columns.end(),
                         [&](const auto& c) { return c.role == role; });
  };
  if (count(Role::flags) > 1 || count(Role::status) > 1) fail("it has two columns of flags or of status");
  if (manifest.flags.empty() != (count(Role::flags) == 0)) fail("flags and their column come together");
  if (manifest.is_tensor()) {
    if (manifest.columns[0].rows() != manifest.rows) fail("its rows are not those of its first column");
  } else if (count(Role::input) == 0 || count(Role::expected) == 0) {
    fail("vectors need a column of inputs and an expected one");
  }
}

std::string manifest_text(const Manifest& manifest) {
  Json json = {{"pack", kPackVersion},
               {"generator", manifest.generator},
               {"kind", manifest.kind},
               {"spec", manifest.spec},
               {"rows", manifest.rows}};
  if (!manifest.is_tensor()) {
    json["level"] = name_of(manifest.level);
    json["seed"] = manifest.seed;
    json["completeness"] = name_of(manifest.completeness);
    json["refused"] = manifest.refused;
  }
  json["details"] = manifest.details.empty() ? Json::object() : Json::parse(manifest.details);
  json["columns"] = Json::array();
  for (const ColumnInfo& column : manifest.columns) json["columns"].push_back(column_json(column));
  if (!manifest.is_tensor()) {
    json["flags"] = Json::array();
    for (const FlagNote& flag : manifest.flags) {
      json["flags"].push_back({{"name", flag.name},
                               {"tests", flag.tests},
                               {"matters", flag.matters},
                               {"goes_wrong", flag.goes_wrong}});
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace halfulp::vectors
