// The prepared files themselves, those of other GPUs too: a changed byte is found before anything is judged by it.
#include <algorithm>
#include <filesystem>

#include "gpu_check/steps/steps.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {

StepReport run_data(const StepContext& context) {
  namespace fs = std::filesystem;
  StepReport report{"data"};
  for (const char* folder : kPreparedFolders) {
    ResultRow row = row_named(std::string(folder) + ": checksums of files");
    std::vector<std::string> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(context.data) / folder, error)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      ++row.inputs;
      try {
        read_prepared(path);
      } catch (const std::exception& damage) {
        ++row.mismatches;
        if (row.first.size() < 16) row.first.emplace_back(damage.what());
      }
    }
    if (paths.empty()) row.first.push_back("no files in " + context.data + "/" + folder + "; make them with gpu_check_prepare");
    row.status = row.first.empty() ? Status::passed : Status::failed;
    report.rows.push_back(row);
  }
  return report;
}

}  // namespace halfulp::gpu
