#include "gpu_check/file_list.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "halfulp-files-1";

std::string path_of(const std::string& data) { return data + "/list/files.txt"; }

}  // namespace

std::vector<std::string> names_in(const std::string& data, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(data) / folder, error)) {
    std::error_code dangling;
    if (!entry.is_directory(dangling)) names.push_back(folder + "/" + entry.path().lexically_relative(fs::path(data) / folder).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_file_list(const std::string& data) {
  std::string text = std::string(kHeader) + "\n";
  for (const char* folder : kPreparedFolders) {
    for (const std::string& name : names_in(data, folder)) {
      try {
        text += checksum_of_prepared(data + "/" + name) + " " + name + "\n";
      } catch (const std::runtime_error&) {
        throw std::runtime_error(data + "/" + name + " is none of the files that were just made; remove it and run gpu_check_prepare again");
      }
    }
  }
  fs::create_directories(data + "/list");
  write_prepared(path_of(data), text);
}

std::map<std::string, std::string> read_file_list(const std::string& data) {
  std::istringstream text(read_prepared(path_of(data)));
  std::string header, checksum, name;
  std::map<std::string, std::string> list;
  if (!std::getline(text, header) || header != kHeader) throw std::runtime_error(path_of(data) + " is no list of files; make the data again with gpu_check_prepare");
  while (text >> checksum >> name) list[name] = checksum;
  if (list.empty()) throw std::runtime_error(path_of(data) + " lists no files; make the data again with gpu_check_prepare");
  return list;
}

}  // namespace halfulp::gpu
