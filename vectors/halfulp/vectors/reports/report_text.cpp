// The report as text: one screen, exact totals, never a flood.
#include <algorithm>

#include "halfulp/names.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kLabel = 12;  ///< columns of a label
constexpr std::size_t kGroupWidths[] = {12, 11, 11, 11,
                                        11};  ///< of the table of classes; the last column is free

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

void add_line(std::string& text, const std::string& label, const std::string& content) {
  text += "  " + padded(label, kLabel) + "  " + content + "\n";
}

void add_group_row(std::string& text, const std::vector<std::string>& cells) {
  text += "  ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == 0)
      text += padded(cells[i], kGroupWidths[0]);
    else
      text += i + 1 < cells.size() ? right(cells[i], kGroupWidths[std::min<std::size_t>(i, 4)])
                                   : "  " + cells[i];
  }
  text += "\n";
}

}  // namespace

std::string report_text(const Report& report, bool color) {
  const char* paint = report.outcome == Report::Outcome::passed ? "\033[1;32m" : "\033[1;31m";
  std::string text =
      (color ? paint + report.verdict + "\033[0m" : report.verdict) + "  " + report.spec + "\n";
  for (const CardLine& line : report.facts) add_line(text, line.label, line.text);
  for (const KernelFinding& finding : report.findings)
    add_line(text, std::string(name_of(finding.trouble)), finding.text);
  if (report.first.empty()) return text;

  text += "\n" + report.first + "\n";
  for (const CardLine& line : report.card) add_line(text, line.label, line.text);
  if (!report.diagnosis_title.empty()) text += "\n" + report.diagnosis_title + "\n";
  for (const CardLine& line : report.diagnosis) {
    text += "  " + right(line.label, 7) + "  " + line.text + "\n";
  }
  if (report.groups.empty()) return text;
  text += "\n";
  add_group_row(text, report.group_heads);
  for (const std::vector<std::string>& row : report.groups) add_group_row(text, row);
  return text;
}

}  // namespace halfulp::vectors
