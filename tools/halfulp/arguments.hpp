// The command line before and after CLI11 reads it: negative literals, global options, error texts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "commands.hpp"

namespace halfulp::tool {

/// The arguments in the order in which CLI11 takes them (last first, without the program). A negative
/// literal gets a leading blank, which keeps it from being read as an option; values are trimmed where they
/// are used.
std::vector<std::string> parse_order(int argc, char** argv);

/// Adds the options of Globals to a command and to its subcommands, where they have none of that name.
void add_globals(CLI::App& app, Globals& globals);

/// Refuses everything but decimal digits of 64 bits: CLI11 would wrap a minus sign and cut what is too large.
CLI::Option* digits_only(CLI::Option* option);

/// The same, and no 0.
CLI::Option* from_one(CLI::Option* option);

/// Refuses empty values of every option of a command and of its subcommands, before anything else looks at them, and takes
/// the blank off negative ones that parse_order() put there. Called once, when every option is there.
void check_values(CLI::App& app);

/// WHAT: WHY; HOW TO MEND for what CLI11 refused, with the nearest names for unknown commands and options.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace halfulp::tool
