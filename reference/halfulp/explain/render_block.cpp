// The text and HTML forms of an explained block; every form says the same.
#include <algorithm>

#include "halfulp/explain/block.hpp"
#include "halfulp/explain/html.hpp"

namespace halfulp::explain {
namespace {

/// Columns that a UTF-8 text takes.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

/// `name = operation`, and what it gives.
std::string left(const ExplainedStep& s) {
  return s.operation.empty() ? s.result : s.result + " = " + s.operation;
}
std::string right(const ExplainedStep& s) {
  std::string text = s.value;
  if (!s.exact.empty()) text = "exact " + s.exact + "  rounded to " + s.rounded_to + ": " + text;
  if (!s.admissible.empty()) text += "  (also right: " + s.admissible + ")";
  return text;
}

std::string steps_text(const std::vector<ExplainedStep>& steps, const std::string& indent) {
  std::string text;
  for (const ExplainedStep& s : steps) text += indent + padded(left(s), 40) + " " + right(s) + "\n";
  return text;
}

std::string error_text(const ExplainedElement& e) {
  if (e.kept) return "  kept as it is";
  if (e.error.empty()) return "";
  return "  error " + e.error + (e.relative.empty() || e.error == "0" ? "" : " (" + e.relative + ")");
}

std::string size_text(const BlockExplanation& e) {
  return std::to_string(e.rows) + " x " + std::to_string(e.columns) + " values, one scale per " +
         e.granularity;
}

std::string steps_rows(const std::vector<ExplainedStep>& steps) {
  std::string rows;
  for (const ExplainedStep& s : steps)
    rows += "<tr><th scope=\"row\"><code>" + escaped(left(s)) + "</code></th><td>" + escaped(right(s)) +
            "</td></tr>\n";
  return rows;
}

}  // namespace

std::string to_text(const BlockExplanation& e) {
  std::string text = e.recipe + ": " + size_text(e) + "\n";
  if (!e.tensor_steps.empty() || !e.tensor_scale.empty())
    text +=
        "\ntensor" + (e.tensor_scale.empty() ? std::string() : ", stored scale " + e.tensor_scale) + "\n";
  text += steps_text(e.tensor_steps, "  ");
  for (const ExplainedBlock& block : e.blocks) {
    text += "\nblock " + std::to_string(block.index) + ": " + block.place + "\n" + steps_text(block.steps, "  ");
    for (const ExplainedElement& element : block.elements) {
      text += "  x[" + std::to_string(element.row) + "," + std::to_string(element.column) +
              "] = " + element.input + "\n";
      text += steps_text(element.steps, "    ");
      text += "    code " + element.code + "  value " + element.value + error_text(element) + "\n";
    }
    text += "  stored  " + block.stored + "\n";
    if (!block.packed.empty()) text += "  packed  " + block.packed + "  (" + block.packing + ")\n";
  }
  text += "\n" + e.value_rule + "\n";
  for (const std::string& fact : e.facts) text += "fact: " + fact + "\n";
  return text;
}

std::string to_html(const BlockExplanation& e) {
  std::string body = "<h1>" + escaped(e.recipe) + "</h1>\n<p>" + escaped(size_text(e)) + "</p>\n";
  if (!e.tensor_steps.empty())
    body += "<h2>Tensor</h2>\n<table>\n" + steps_rows(e.tensor_steps) + "</table>\n";
  if (!e.tensor_scale.empty()) body += "<p>stored scale <code>" + escaped(e.tensor_scale) + "</code></p>\n";
  for (const ExplainedBlock& block : e.blocks) {
    body += "<h2>Block " + std::to_string(block.index) + ": " + escaped(block.place) + "</h2>\n<table>\n" +
            steps_rows(block.steps) + "</table>\n";
    for (const ExplainedElement& element : block.elements) {
      body += "<details open><summary>x[" + std::to_string(element.row) + "," +
              std::to_string(element.column) + "] = " + escaped(element.input) + ", code <code>" +
              escaped(element.code) + "</code>, value " + escaped(element.value) +
              escaped(error_text(element)) + "</summary>\n<table>\n" + steps_rows(element.steps) +
              "</table></details>\n";
    }
    body += "<p>stored <code>" + escaped(block.stored) + "</code></p>\n";
    if (!block.packed.empty())
      body += "<p>packed <code>" + escaped(block.packed) + "</code> (" + escaped(block.packing) + ")</p>\n";
  }
  body += "<p><code>" + escaped(e.value_rule) + "</code></p>\n<ul>\n";
  for (const std::string& fact : e.facts) body += "<li>" + escaped(fact) + "</li>\n";
  return html_page(e.recipe, body + "</ul>\n");
}

}  // namespace halfulp::explain
