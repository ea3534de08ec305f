// The report as JUnit XML, the form that CI systems read.
#include <cstdio>
#include <string_view>

#include "halfulp/names.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";  ///< U+FFFD

/// For elements and attributes alike.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const bool allowed = first >= 0x20 || first == '\n' || first == '\t';
    const std::size_t length = allowed ? utf8_length(text) : 0;
    const std::string_view piece = text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
    if (length == 0)
      out += kReplacement;
    else if (piece == "&")
      out += "&amp;";
    else if (piece == "<")
      out += "&lt;";
    else if (piece == ">")
      out += "&gt;";
    else if (piece == "\"")
      out += "&quot;";
    else if (piece == "\n")
      out += "&#10;";
    else if (piece == "\t")
      out += "&#9;";
    else
      out += piece;
  }
  return out;
}

std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

}  // namespace

std::string report_junit(const Report& report) {
  const bool wrong_codes = report.mismatched > 0;
  std::size_t failures = wrong_codes ? 1 : 0;
  std::size_t errors = 0;
  for (const KernelFinding& finding : report.findings) ++(is_wrong(finding.trouble) ? failures : errors);
  const bool nothing = report.checked == 0;
  // Findings say why nothing was checked; without any it is an error of its own.
  const std::size_t skipped = nothing && !report.findings.empty() ? 1 : 0;
  errors += nothing && skipped == 0 ? 1 : 0;
  const std::size_t tests = 1 + report.findings.size();
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", report.seconds);

  std::string counts = attribute("tests", std::to_string(tests)) +
                       attribute("failures", std::to_string(failures)) +
                       attribute("errors", std::to_string(errors)) + attribute("time", seconds);
  const std::string suite_counts = counts + attribute("skipped", std::to_string(skipped));
  const std::string class_name = attribute("classname", "halfulp.verify");
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n<testsuite" +
                    attribute("name", report.spec) + suite_counts + ">\n";
  xml += "<properties>\n";
  const auto property = [&](const std::string& name, const std::string& value) {
    xml += "<property" + attribute("name", name) + attribute("value", value) + "/>\n";
  };
  property("verdict", report.verdict);
  for (const CardLine& line : report.facts) property(line.label, line.text);
  property("reproduce", report.reproduce);
  xml += "</properties>\n<testcase" + class_name +
         attribute("name", "answers of " + report.implementation) + attribute("time", seconds);
  if (wrong_codes) {
    const std::string summary =
        grouped_digits(report.mismatched) + " of " + grouped_digits(report.checked) + " answers differ";
    xml += ">\n<failure" + attribute("type", "MISMATCH") + attribute("message", summary) + ">" +
           escaped(report_text(report, false)) + "</failure>\n</testcase>\n";
  } else if (skipped > 0) {
    xml += ">\n<skipped" + attribute("message", "nothing was checked") + "/>\n</testcase>\n";
  } else if (nothing) {
    xml += ">\n<error" + attribute("type", "incomplete") + attribute("message", "nothing was checked") +
           "/>\n</testcase>\n";
  } else {
    xml += "/>\n";
  }
  for (const KernelFinding& finding : report.findings) {
    const std::string kind(name_of(finding.trouble));
    xml += "<testcase" + class_name + attribute("name", kind) + attribute("time", "0") + ">\n<" +
           (is_wrong(finding.trouble) ? "failure" : "error") + attribute("type", kind) +
           attribute("message", finding.text) + "/>\n</testcase>\n";
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace halfulp::vectors
