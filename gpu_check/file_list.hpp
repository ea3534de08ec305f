// The list of all prepared files, DATA/list/files.txt: what is missing, foreign, or of another run of prepare is found by it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace halfulp::gpu {

/// The folders of a data folder that hold prepared files.
inline constexpr const char* kPreparedFolders[] = {"casts", "mma", "mufu", "attention", "libraries"};

/// Reads every file under kPreparedFolders and lists it with its checksum. Throws std::runtime_error, also on a file that is no prepared one.
void write_file_list(const std::string& data);
/// Checksums by name (FOLDER/FILE). Throws std::runtime_error.
std::map<std::string, std::string> read_file_list(const std::string& data);

/// Names of all that lies in one folder, sorted; links that lead nowhere and the files of folders below are among them.
std::vector<std::string> names_in(const std::string& data, const std::string& folder);

}  // namespace halfulp::gpu
