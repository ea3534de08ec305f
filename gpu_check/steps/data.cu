// The prepared files themselves, those of other GPUs too: a changed, missing, exchanged or foreign one is found before anything is judged by it.
#include <algorithm>
#include <set>

#include "gpu_check/file_list.hpp"
#include "gpu_check/steps/steps.hpp"
#include "gpu_check/words_file.hpp"

namespace halfulp::gpu {
namespace {

/// Empty, or what is wrong with a file whose checksum in the list is `listed` (null: it is in no list).
std::string fault_of(const std::string& path, const std::string* listed) {
  try {
    const std::string checksum = checksum_of_prepared(path);
    if (listed == nullptr) return path + " is not in the list of files; remove it, or make the data again with gpu_check_prepare";
    if (checksum != *listed) return path + " is of another run of gpu_check_prepare than the list of files; make the data again";
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

StepReport run_data(const StepContext& context) {
  StepReport report{"data"};
  std::map<std::string, std::string> list;
  run_case(report, "list of files", [&] {
    list = read_file_list(context.data);
    ResultRow row = row_named("list of files");
    row.inputs = list.size();
    row.status = Status::passed;
    report.rows.push_back(row);
  });
  for (const char* folder : kPreparedFolders) {
    ResultRow row = row_named(std::string(folder) + ": names and checksums of files");
    const std::vector<std::string> found = names_in(context.data, folder);
    std::set<std::string> names(found.begin(), found.end());
    for (const auto& [name, checksum] : list) {
      if (name.starts_with(std::string(folder) + "/")) names.insert(name);
    }
    for (const std::string& name : names) {
      ++row.inputs;
      const auto listed = list.find(name);
      const std::string fault = fault_of(context.data + "/" + name, listed == list.end() ? nullptr : &listed->second);
      if (fault.empty()) continue;
      ++row.mismatches;
      if (row.first.size() < 16) row.first.push_back(fault);
    }
    if (names.empty()) row.first.push_back("no files in " + context.data + "/" + folder + "; make them with gpu_check_prepare");
    row.status = row.first.empty() ? Status::passed : Status::failed;
    report.rows.push_back(row);
  }
  return report;
}

}  // namespace halfulp::gpu
