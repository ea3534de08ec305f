// The report as one page: no script, no outside resources.
#include "halfulp/explain/html.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #d0d7de; --good: #1a7f37; --bad: #b3261e; --open: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #3d444d; --good: #56d364; --bad: #ff8078; --open: #e3b341; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 span { padding: .1em .5em; border: 2px solid; border-radius: .4em; }
.passed { color: var(--good); } .failed { color: var(--bad); } .incomplete { color: var(--open); }
pre, code, td { font-family: ui-monospace, monospace; font-size: .9rem; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--soft); border-radius: .4em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--soft); vertical-align: top; white-space: pre; }
td.number, th.number { text-align: right; }
@media print { body { margin: 0; max-width: none; } }
)css";

std::string escaped(const std::string& text) {
  return explain::escaped(printable(text, text.size()));
}

std::string outcome_class(Report::Outcome outcome) {
  switch (outcome) {
    case Report::Outcome::passed: return "passed";
    case Report::Outcome::failed: return "failed";
    case Report::Outcome::incomplete: break;
  }
  return "incomplete";
}

/// A table of label and text.
std::string lines_table(const std::vector<CardLine>& lines) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (const CardLine& line : lines)
    html +=
        "<tr><th scope=\"row\">" + escaped(line.label) + "</th><td>" + escaped(line.text) + "</td></tr>\n";
  return html + "</table></div>\n";
}

std::string groups_table(const Report& report) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool number = i > 0 && i + 1 < cells.size();
      html += std::string("<") + tag + (number ? " class=\"number\">" : ">") + escaped(cells[i]) + "</" +
              tag + ">";
    }
    return html + "</tr>\n";
  };
  if (report.groups.empty()) return {};
  std::string html = "<div class=\"wide\"><table>\n" + row(report.group_heads, "th");
  for (const std::vector<std::string>& cells : report.groups) html += row(cells, "td");
  return html + "</table></div>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(report.verdict + ": " + report.spec) + "</title>\n<style>" + kStyle +
      "</style>\n</head>\n<body>\n";
  html += "<h1><span class=\"" + outcome_class(report.outcome) + "\">" + escaped(report.verdict) +
          "</span> <code>" + escaped(report.spec) + "</code></h1>\n";
  html += lines_table(report.facts);
  if (!report.findings.empty()) {
    html += "<h2>Findings</h2>\n";
    std::vector<CardLine> lines;
    for (const KernelFinding& finding : report.findings)
      lines.push_back({std::string(name_of(finding.trouble)), finding.text});
    html += lines_table(lines);
  }
  if (!report.first.empty()) {
    html += "<h2>" + escaped(report.first) + "</h2>\n" + lines_table(report.card);
    if (!report.diagnosis_title.empty()) {
      html += "<h2>Diagnosis</h2>\n<p>" + escaped(report.diagnosis_title) + "</p>\n" +
              lines_table(report.diagnosis);
    }
    html += "<h2>Differences by class</h2>\n" + groups_table(report);
  }
  return html + "<h2>Again</h2>\n<pre>" + escaped(report.reproduce) + "</pre>\n</body>\n</html>\n";
}

}  // namespace halfulp::vectors
