// The HTML form of an explanation: one page, no script, no outside resources.
#include "halfulp/explain/html.hpp"
#include "halfulp/explain/render.hpp"

namespace halfulp::explain {
namespace {

std::string row(const std::string& label, const std::string& text) {
  return text.empty() ? "" : "<tr><th scope=\"row\">" + escaped(label) + "</th><td>" + escaped(text) + "</td></tr>\n";
}

std::string forms(const Shown& s) {
  std::string text = s.decimal;
  if (!s.fraction.empty() && s.fraction != s.decimal) text += " = " + s.fraction;
  if (!s.hex_float.empty()) text += " = " + s.hex_float;
  return text;
}

std::string bits(const ValueExplanation& e) {
  std::string html = "<p class=\"bits\" aria-label=\"bits of the code\"><code>" + e.code + "</code> ";
  std::string legend = "<table>";
  for (std::size_t i = 0; i < e.fields.size(); ++i) {
    const std::string css = "f" + std::to_string(i < 2 ? i : 2);
    html += "<span class=\"" + css + "\">" + e.fields[i].bits + "</span>";
    legend += "<tr><th scope=\"row\" class=\"" + css + "\">" + escaped(e.fields[i].name) + "</th><td>" + e.fields[i].bits +
              "</td><td>" + escaped(e.fields[i].meaning) + "</td></tr>\n";
  }
  return html + "</p>\n" + legend + "</table>\n";
}

std::string number_line(const ValueExplanation& e) {
  if (!e.near || !e.far || e.line_position < 0) return {};
  const auto text = [](int x, int y, const char* anchor, const std::string& s) {
    return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(s) +
           "</text>";
  };
  const auto tick = [](int x, int top, int bottom) {
    return "<line x1=\"" + std::to_string(x) + "\" x2=\"" + std::to_string(x) + "\" y1=\"" + std::to_string(top) + "\" y2=\"" +
           std::to_string(bottom) + "\"/>";
  };
  const auto code = [](const Neighbour& n) { return n.code.empty() ? std::string("too large") : n.code; };
  const int x = 100 + e.line_position * 15;
  std::string svg = "<svg viewBox=\"0 0 800 110\" role=\"img\" aria-label=\"x between its neighbours\">";
  svg += "<line x1=\"100\" x2=\"700\" y1=\"50\" y2=\"50\"/>" + tick(100, 40, 60) + tick(400, 45, 55) + tick(700, 40, 60);
  svg += tick(x, 50, 80) + text(x, 98, "middle", "x, " + e.near->distance + " of the gap");
  svg += text(100, 14, "middle", code(*e.near)) + text(100, 32, "middle", e.near->value.decimal);
  svg += text(700, 14, "middle", code(*e.far)) + text(700, 32, "middle", e.far->value.decimal) + text(400, 32, "middle", "half way");
  return svg + "</svg>\n";
}

}  // namespace

std::string to_html(const ValueExplanation& e) {
  const std::string title = e.input + " as " + e.format;
  std::string html = "<h1>" + escaped(title) + "</h1>\n<p>" + escaped(e.standard) + "; " + escaped(e.policy) + "</p>\n";
  if (!e.code.empty()) html += bits(e);
  html += number_line(e) + "<table>\n";
  if (e.unscaled) html += row("value", forms(*e.unscaled));
  if (e.scale) html += row("scale", forms(*e.scale));
  html += row(e.scale ? "x = value / scale" : "x", forms(e.x) + (e.source == "exact" ? "" : " (" + e.source + ")"));
  if (!e.code.empty()) html += row("value of the code", (e.formula.empty() ? "" : e.formula + " = ") + forms(e.value));
  html += row("class", e.value_class);
  if (e.rescaled) html += row("times scale", forms(*e.rescaled));
  html += row("error", e.error.empty() ? "" : e.error + (e.relative_error.empty() ? "" : " (" + e.relative_error + " %)"));
  if (e.interval) {
    html += row("same code for", std::string(e.interval->low_closed ? "[" : "(") + e.interval->low + ", " + e.interval->high +
                                     (e.interval->high_closed ? "]" : ")"));
  }
  html += row("flags", e.flags) + row("rule", e.rule) + "</table>\n<h2>Every rounding and overflow rule</h2>\n<table>\n";
  html += "<tr><th scope=\"col\">rounding</th><th scope=\"col\">overflow</th><th scope=\"col\">code</th><th scope=\"col\">value</th></tr>\n";
  for (const Alternative& a : e.alternatives) {
    html += "<tr><td>" + escaped(a.rounding) + "</td><td>" + escaped(a.overflow) + "</td><td>" + a.code + "</td><td>" +
            escaped(a.value) + "</td></tr>\n";
  }
  html += "</table>\n";
  if (!e.siblings.empty()) {
    html += "<h2>The code " + e.code + " in other formats of its width</h2>\n<table>\n";
    for (const Reading& reading : e.siblings) html += row(reading.format, reading.value);
    html += "</table>\n";
  }
  return html_page(title, html);
}

}  // namespace halfulp::explain
