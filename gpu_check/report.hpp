// What a step found: rows for the table on the terminal and for the JSON report. Standard library only.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "gpu_check/backend.hpp"

namespace halfulp::gpu {

enum class Status { passed, failed, skipped };

/// One test. Words are printed in hexadecimal.
struct ResultRow {
  std::string test;
  Status status = Status::failed;
  std::uint64_t inputs = 0, mismatches = 0;
  bool has_digest = false;
  std::uint64_t digest = 0, expected_digest = 0;
  std::vector<std::string> first;  ///< up to 16 mismatches, smallest input first
  std::vector<std::pair<std::string, std::uint64_t>> counts = {};
  double seconds = 0;
  std::string note = {};
};

struct StepReport {
  std::string step;
  std::vector<ResultRow> rows = {};
  bool optional = false;  ///< judges what need not be there
};

inline ResultRow row_named(std::string test) {
  ResultRow row;
  row.test = std::move(test);
  return row;
}

/// Runs a body that adds the rows of one test; what it throws becomes a failed row, and the tests after it still run.
template <class Body>
void run_case(StepReport& report, const std::string& test, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    ResultRow row = row_named(test);
    row.first.emplace_back(error.what());
    report.rows.push_back(row);
  }
}

/// Exit statuses of the program and of run_device.sh.
inline constexpr int kExitPassed = 0, kExitFailed = 1, kExitUsage = 2, kExitIncomplete = 3, kExitAbsent = 4, kExitNoDevice = 77;

/// Failed before incomplete before passed: incomplete when every row is skipped or there is none; absent instead where that is allowed.
int exit_status(const StepReport& report);
std::string text_of(const StepReport& report);
std::string json_of(const StepReport& report, const Device& device, const char* tier);
std::string hex(std::uint64_t word, int digits = 0);
/// Writes a file by way of a temporary one beside it. Throws std::runtime_error.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace halfulp::gpu
