// Arguments, global options and parse errors; see arguments.hpp.
#include "arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "halfulp/plan.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

/// -0.5, -.5, -2^-9, -inf, -nan …: a minus sign and the start of a literal.
bool is_negative_literal(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') return false;
  const char c = text[1];
  if ((c >= '0' && c <= '9') || (c == '.' && text.size() > 2)) return true;
  return parse_literal(text).error == LiteralError::none;
}

/// The command that CLI11 was reading when it stopped.
const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

/// "halfulp cast" for the command `cast`.
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string mend(const std::string& near, const std::string& command) {
  return near.empty() ? "`" + command + " --help` shows what there is" : "nearest names: " + near;
}

std::string unknown_text(const CLI::App& app, std::string_view argument) {
  const CLI::App& command = deepest(app);
  std::vector<std::string> names;
  const bool option = argument.size() > 1 && argument[0] == '-';
  if (option) {
    argument = argument.substr(0, argument.find('='));
    for (const CLI::Option* known : command.get_options()) {
      for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* known : command.get_subcommands({})) names.push_back(known->get_name());
    if (names.empty()) {
      return quoted(argument) + ": " + full_name(command) + " does not take it; `" + full_name(command) +
             " --help` shows what it takes";
    }
  }
  const std::string near = nearest_names(argument, {names.begin(), names.end()});
  return (option ? "option " : "command ") + quoted(argument) + ": unknown to " + full_name(command) +
         "; " + mend(near, full_name(command));
}

void add_globals_here(CLI::App& app, Globals& globals) {
  const auto absent = [&app](const char* name) { return app.get_option_no_throw(name) == nullptr; };
  const char* group = "Options of every command";
  if (absent("--json"))
    app.add_flag("--json", globals.json, "Print JSON: one object, or one per line")->group(group);
  if (absent("--quiet"))
    app.add_flag("--quiet", globals.quiet, "No notes and no progress on stderr")->group(group);
  if (absent("--threads")) {
    app.add_option("--threads", globals.threads, "Threads to use; all cores if not given")
        ->type_name("N")
        ->check(CLI::Range(1, 65536))
        ->group(group);
  }
  if (absent("--color")) {
    app.add_option("--color", globals.color, "auto, always or never; auto honours NO_COLOR")
        ->type_name("WHEN")
        ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}))
        ->group(group);
  }
}

}  // namespace

bool Globals::use_color(int file_descriptor) const {
  if (color != "auto") return color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(file_descriptor) != 0;
}

int Globals::thread_count() const {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return threads > 0 ? std::min(threads, 8 * cores) : cores;  // more would only wait, and may not start
}

CLI::Option* add_values(CLI::App& app, std::vector<std::string>& values, const std::string& name,
                        const std::string& description) {
  return app.add_option(name, values, description)->type_name("")->transform([](const std::string& text) {
    return std::string(trimmed(text));
  });
}

std::vector<std::string> parse_order(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    const std::string_view text = argv[i];
    arguments.push_back(is_negative_literal(text) ? " " + std::string(text) : std::string(text));
  }
  return arguments;
}

void add_globals(CLI::App& app, Globals& globals) {
  add_globals_here(app, globals);
  for (CLI::App* command : app.get_subcommands({})) add_globals(*command, globals);
}

CLI::Option* digits_only(CLI::Option* option) {
  return option->check([](const std::string& text) {
    const std::string_view digits = trimmed(text);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool fits = error == std::errc{} && end == digits.data() + digits.size();
    return fits ? std::string() : std::string(digits) + " is not a 64-bit number in decimal digits";
  });
}

CLI::Option* from_one(CLI::Option* option) {
  return digits_only(option)->check([](const std::string& text) {
    const bool zero = trimmed(text).find_first_not_of('0') == std::string_view::npos;
    return zero ? std::string("0 is too few, give 1 or more") : std::string();
  });
}

void check_values(CLI::App& app) {
  const CLI::Validator whole(
      [](std::string& text) {
        if (text.starts_with(" -")) text.erase(0, 1);
        return trimmed(text).empty() ? std::string("the value is empty, give one") : std::string();
      },
      "");
  for (CLI::Option* option : app.get_options()) {
    const bool named = !option->get_lnames().empty() || !option->get_snames().empty();
    if (named && option->get_items_expected_max() > 0) option->transform(whole);
  }
  for (CLI::App* command : app.get_subcommands({})) check_values(*command);
}

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extras = app.remaining(true);
    if (!extras.empty()) return unknown_text(app, trimmed(extras.front()));
  }
  const std::string command = full_name(deepest(app));
  std::string why = error.what();
  std::replace(why.begin(), why.end(), '\n', ' ');
  return command + ": " + why + "; `" + command + " --help` shows its options";
}

}  // namespace halfulp::tool
