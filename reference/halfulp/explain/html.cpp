// The frame of HTML pages; see html.hpp.
#include "halfulp/explain/html.hpp"

namespace halfulp::explain {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #d0d7de; --sign: #b3261e; --exponent: #1a7f37; --fraction: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #3d444d; --sign: #ff8078; --exponent: #56d364; --fraction: #79c0ff; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, td, .bits { font-family: ui-monospace, monospace; }
.bits span { padding: 0 .15em; font-size: 1.6rem; letter-spacing: .12em; }
.f0 { color: var(--sign); } .f1 { color: var(--exponent); } .f2 { color: var(--fraction); }
table { border-collapse: collapse; margin: .5rem 0; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--soft); vertical-align: top; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px ui-monospace, monospace; } svg line { stroke: var(--ink); }
@media print { body { margin: 0; max-width: none; } }
)css";

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
         escaped(title) + "</title><style>" + kStyle + "</style></head><body>\n<main>\n" + body +
         "</main>\n</body></html>\n";
}

}  // namespace halfulp::explain
