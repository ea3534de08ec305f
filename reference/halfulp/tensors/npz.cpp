// The arrays of an .npz file.
#include "halfulp/tensors/npz.hpp"

#include <utility>

#include "halfulp/plan.hpp"

namespace halfulp::tensors {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::optional<std::string> array_name(const ZipEntry& entry) {
  if (!entry.name.ends_with(kSuffix)) return std::nullopt;
  return entry.name.substr(0, entry.name.size() - kSuffix.size());
}

}  // namespace

NpzFile::NpzFile(Bytes archive) : archive_(std::move(archive)), entries_(read_zip(*archive_)) {}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const ZipEntry& entry : entries_) {
    if (auto name = array_name(entry)) names.push_back(*std::move(name));
  }
  return names;
}

TensorSource NpzFile::open(std::string_view name, std::optional<std::string_view> dtype) const {
  for (const ZipEntry& entry : entries_) {
    if (array_name(entry) != name) continue;
    return open_npy(open_zip_member(archive_, entry), dtype);
  }
  throw no_such_member(archive_->name(), name, names());
}

InputError no_such_member(const std::string& file, std::string_view name,
                          const std::vector<std::string>& names) {
  if (names.empty()) return {"file '" + file + "'", "it holds no tensor", "give a file that does"};
  std::string near = nearest_names(name, std::vector<std::string_view>(names.begin(), names.end()));
  std::string mend = "the nearest is " + near;
  if (near.empty()) {
    mend = "it has " + names[0];
    for (std::size_t i = 1; i < names.size() && i < 5; ++i) mend += ", " + names[i];
    if (names.size() > 5) mend += " and " + std::to_string(names.size() - 5) + " more";
  }
  return {"tensor '" + std::string(name) + "'", "'" + file + "' has none of that name", mend};
}

}  // namespace halfulp::tensors
