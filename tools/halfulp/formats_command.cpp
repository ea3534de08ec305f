// `halfulp formats`: the table of formats, one format in full, every code of a format.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "format_facts.hpp"
#include "halfulp/names.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"
#include "halfulp/words.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;
using Word = std::optional<std::uint64_t>;

constexpr int kMaxListedBits = 16;

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp formats\n"
    "  halfulp formats e4m3\n"
    "  halfulp formats binary8p3se --codes";

bool has_exponent(const FormatSpec& spec) {
  return spec.encoding == Encoding::floating;
}

/// Exponent, fraction and bias have a meaning for floating formats; binary places for integers.
std::string number_or_dash(bool meaningful, int number) {
  return meaningful ? std::to_string(number) : "-";
}

std::string nan_text(const FormatSpec& spec, const FormatFacts& facts) {
  if (facts.nans.empty()) return "-";
  if (spec.width > 8) return std::to_string(facts.nan_count(spec)) + " codes";
  std::string text;
  for (const auto& [first, last] : facts.nans) {
    text += (text.empty() ? "" : " ") + code_text(spec, first);
    if (first != last) text += ".." + code_text(spec, last);
  }
  return text;
}

std::string infinity_text(const FormatSpec& spec, const FormatFacts& facts) {
  std::string text;
  for (const std::uint64_t word : facts.infinities)
    text += (text.empty() ? "" : " ") + code_text(spec, word);
  return text.empty() ? "-" : text;
}

/// The decimal where it is short, else the hex-float.
std::string short_value(const FormatSpec& spec, Word word) {
  constexpr std::size_t kShort = 12;
  if (!word) return "-";
  const std::string decimal = decimal_text(unpack(spec, *word));
  return decimal.size() <= kShort ? decimal : hex_float_text(unpack(spec, *word));
}

std::vector<std::string> table_row(const Format& format) {
  const FormatSpec& spec = format.spec;
  const FormatFacts facts = format_facts(spec);
  const bool floating = has_exponent(spec);
  return {std::string(format.name),
          std::to_string(spec.width),
          number_or_dash(floating, spec.exponent_bits),
          number_or_dash(floating || spec.encoding == Encoding::twos_complement, spec.fraction_bits),
          number_or_dash(floating, spec.bias),
          short_value(spec, facts.largest),
          short_value(spec, facts.smallest_normal),
          short_value(spec, facts.smallest_subnormal),
          nan_text(spec, facts),
          infinity_text(spec, facts),
          facts.minus_zero ? code_text(spec, *facts.minus_zero) : "-",
          std::string(format.note)};
}

void print_table(std::string& text, bool bold) {
  std::vector<std::vector<std::string>> rows = {{"name", "bits", "exponent", "fraction", "bias", "largest",
                                                 "smallest normal", "smallest subnormal", "NaN", "Inf",
                                                 "-0", "note"}};
  for (const Format& format : kFormats) rows.push_back(table_row(format));
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += rows[r][i];
      line.append(widths[i] - rows[r][i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += r == 0 && bold ? "\033[1m" + line + "\033[0m\n" : line + "\n";
  }
}

void append_fact(std::string& text, std::string_view name, const std::string& value) {
  constexpr std::size_t kColumn = 20;
  if (value.empty()) return;
  text += name;
  text.append(kColumn - name.size(), ' ').append(value).append("\n");
}

std::string full_value(const FormatSpec& spec, Word word) {
  if (!word) return "-";
  const Unpacked x = unpack(spec, *word);
  return code_text(spec, *word) + " " + decimal_text(x) + " " + hex_float_text(x);
}

void print_format(std::string& text, const Format& format) {
  const FormatSpec& spec = format.spec;
  const FormatFacts facts = format_facts(spec);
  append_fact(text, "name", std::string(format.name));
  append_fact(text, "aliases", std::string(format.aliases));
  append_fact(text, "standard", std::string(format.standard));
  append_fact(text, "note", std::string(format.note));
  append_fact(text, "encoding",
              std::string(encoding_name(spec.encoding)) + (spec.is_signed ? ", signed" : ", unsigned"));
  append_fact(
      text, "bits",
      std::to_string(spec.width) +
          (spec.storage_shift == 0 ? ""
                                   : ", at the top of a word of " + std::to_string(spec.storage_bits())));
  append_fact(text, "bytes in columns", std::to_string(spec.storage_bytes()));
  if (has_exponent(spec)) {
    append_fact(text, "exponent bits", std::to_string(spec.exponent_bits));
    append_fact(text, "bias", std::to_string(spec.bias));
    append_fact(text, "precision", std::to_string(spec.fraction_bits + 1));
  }
  if (spec.encoding != Encoding::codebook && spec.encoding != Encoding::hifloat8) {
    append_fact(text, "fraction bits", std::to_string(spec.fraction_bits));
  }
  append_fact(text, "largest", full_value(spec, facts.largest));
  append_fact(text, "lowest", full_value(spec, facts.lowest));
  append_fact(text, "smallest normal", full_value(spec, facts.smallest_normal));
  append_fact(text, "smallest subnormal", full_value(spec, facts.smallest_subnormal));
  append_fact(text, "NaN", nan_text(spec, facts));
  append_fact(text, "Inf", infinity_text(spec, facts));
  append_fact(text, "-0", facts.minus_zero ? code_text(spec, *facts.minus_zero) : "-");
}

Json json_value(const FormatSpec& spec, Word word) {
  if (!word) return nullptr;
  const Unpacked x = unpack(spec, *word);
  return {{"code", code_text(spec, *word)}, {"value", decimal_text(x)}, {"hex_float", hex_float_text(x)}};
}

Json json_format(const Format& format) {
  const FormatSpec& spec = format.spec;
  const FormatFacts facts = format_facts(spec);
  const bool floating = has_exponent(spec);
  Json json = {
      {"name", format.name},
      {"aliases", words_of(format.aliases)},
      {"standard", format.standard},
      {"note", format.note},
      {"encoding", encoding_name(spec.encoding)},
      {"signed", spec.is_signed},
      {"bits", spec.width},
      {"storage_bits", spec.storage_bits()},
      {"storage_bytes", spec.storage_bytes()},
      {"exponent_bits", floating ? Json(spec.exponent_bits) : Json(nullptr)},
      {"fraction_bits",
       floating || spec.encoding == Encoding::twos_complement ? Json(spec.fraction_bits) : Json(nullptr)},
      {"bias", floating ? Json(spec.bias) : Json(nullptr)},
      {"largest", json_value(spec, facts.largest)},
      {"lowest", json_value(spec, facts.lowest)},
      {"smallest_normal", json_value(spec, facts.smallest_normal)},
      {"smallest_subnormal", json_value(spec, facts.smallest_subnormal)},
      {"nan", Json::array()},
      {"inf", Json::array()},
      {"minus_zero", facts.minus_zero ? Json(code_text(spec, *facts.minus_zero)) : Json(nullptr)}};
  for (const auto& [first, last] : facts.nans) {
    json["nan"].push_back({{"first", code_text(spec, first)}, {"last", code_text(spec, last)}});
  }
  for (const std::uint64_t word : facts.infinities) json["inf"].push_back(code_text(spec, word));
  return json;
}

/// `0x7e 448 0x1.cp+8 normal` for every code; as JSON, the objects of an array.
void print_codes(Output& output, const FormatSpec& spec, bool json) {
  for (std::uint64_t code = 0; code <= low_mask(spec.width); ++code) {
    const std::uint64_t word = code << spec.storage_shift;
    const Unpacked x = unpack(spec, word);
    std::string& text = output.text();
    if (json) text += code == 0 ? "{\"code\":\"" : ",{\"code\":\"";
    append_code(text, spec, word);
    append_decimal(text += json ? "\",\"value\":\"" : " ", x);
    append_hex_float(text += json ? "\",\"hex_float\":\"" : " ", x);
    text.append(json ? "\",\"class\":\"" : " ").append(name_of(x.number_class)).append(json ? "\"}" : "\n");
    output.line_done();
  }
}

int run_formats(const std::string& name, bool codes, const Globals& globals) {
  Output output;
  std::string& text = output.text();
  if (name.empty()) {
    if (codes) throw InputError("--codes", "no format is named", "write e.g. halfulp formats e4m3 --codes");
    if (globals.json) {
      Json json = {{"formats", Json::array()}};
      for (const Format& format : kFormats) json["formats"].push_back(json_format(format));
      text += json.dump() + "\n";
    } else {
      print_table(text, globals.use_color(STDOUT_FILENO));
    }
    output.flush();
    return kPassed;
  }
  const Format format = require_format(name);
  if (codes && format.spec.width > kMaxListedBits) {
    throw InputError("--codes",
                     std::string(format.name) + " has 2^" + std::to_string(format.spec.width) + " codes",
                     "name a format of at most 16 bits, or use `halfulp decode` for single codes");
  }
  if (globals.json) {
    text += json_format(format).dump();
    if (codes) {
      text.back() = ',';  // in place of the closing brace
      text += "\"codes\":[";
      print_codes(output, format.spec, true);
      text += "]}";
    }
    text += '\n';
  } else if (codes) {
    print_codes(output, format.spec, false);
  } else {
    print_format(text, format);
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_formats(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("formats", "List the formats, or describe one");
  const auto name = std::make_shared<std::string>();
  const auto codes = std::make_shared<bool>(false);
  command->add_option("NAME", *name, "A format: e4m3, float8_e5m2, binary8p3se …")->type_name("");
  command->add_flag("--codes", *codes, "Every code with its exact value and class");
  command->footer(kExamples);
  command->callback([name, codes, &globals, &runner] {
    runner = [name, codes, &globals] { return run_formats(*name, *codes, globals); };
  });
}

}  // namespace halfulp::tool
