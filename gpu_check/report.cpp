#include "gpu_check/report.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace halfulp::gpu {
namespace {

constexpr const char* kStatusNames[] = {"passed", "FAILED", "skipped"};
constexpr const char* kStatusWords[] = {"passed", "failed", "skipped"};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += c == '\n' ? "\\n" : " ";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string row_json(const ResultRow& row) {
  std::string json = "    {\"test\": " + quoted(row.test) + ", \"status\": \"" + kStatusWords[static_cast<int>(row.status)] + "\", \"inputs\": " +
                     std::to_string(row.inputs) + ", \"mismatches\": " + std::to_string(row.mismatches);
  if (row.has_digest) json += ", \"digest\": \"" + hex(row.digest, 16) + "\", \"expected_digest\": \"" + hex(row.expected_digest, 16) + "\"";
  for (const auto& [name, count] : row.counts) json += ", " + quoted(name) + ": " + std::to_string(count);
  if (!row.first.empty()) {
    json += ", \"first\": [";
    for (std::size_t i = 0; i < row.first.size(); ++i) json += (i == 0 ? "" : ", ") + quoted(row.first[i]);
    json += "]";
  }
  json += ", \"seconds\": " + seconds_text(row.seconds);
  if (!row.note.empty()) json += ", \"note\": " + quoted(row.note);
  return json + "}";
}

}  // namespace

std::string hex(std::uint64_t word, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(word));
  return text;
}

int exit_status(const StepReport& report) {
  bool passed = false;
  for (const ResultRow& row : report.rows) {
    if (row.status == Status::failed) return kExitFailed;
    passed = passed || row.status == Status::passed;
  }
  if (passed) return kExitPassed;
  return report.optional && !report.rows.empty() ? kExitAbsent : kExitIncomplete;
}

std::string text_of(const StepReport& report) {
  std::string text;
  for (const ResultRow& row : report.rows) {
    char line[256];
    std::snprintf(line, sizeof line, "%-9s %-58s %14llu inputs %10llu mismatches %8s s", kStatusNames[static_cast<int>(row.status)], row.test.c_str(),
                  static_cast<unsigned long long>(row.inputs), static_cast<unsigned long long>(row.mismatches), seconds_text(row.seconds).c_str());
    text += line;
    for (const auto& [name, count] : row.counts) text += "  " + name + " " + std::to_string(count);
    if (!row.note.empty()) text += "  " + row.note;
    text += "\n";
    for (const std::string& first : row.first) text += "            " + first + "\n";
  }
  return text;
}

std::string json_of(const StepReport& report, const Device& device, const char* tier) {
  std::string json = "{\"step\": " + quoted(report.step) + ", \"tier\": " + quoted(tier) + ", \"facts\": {";
  bool first = true;
  for (const Fact& fact : device.facts) {
    json += (first ? "" : ", ") + quoted(fact.name) + ": " + quoted(fact.value);
    first = false;
  }
  json += "},\n  \"rows\": [\n";
  for (std::size_t i = 0; i < report.rows.size(); ++i) json += row_json(report.rows[i]) + (i + 1 < report.rows.size() ? ",\n" : "\n");
  return json + "  ]}\n";
}

void write_whole_file(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  std::ofstream out(partial, std::ios::binary);
  out << text;
  out.close();
  if (!out || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace halfulp::gpu
