// --got, --exec, --lib and what belongs to them.
#include "plug_options.hpp"

#include <chrono>
#include <cmath>

#include "halfulp/error.hpp"
#include "halfulp/vectors/kernels/filter.hpp"
#include "halfulp/vectors/kernels/got.hpp"
#include "halfulp/vectors/kernels/library.hpp"

namespace halfulp::tool {

void add_plug_options(CLI::App& command, PlugArguments& arguments) {
  const char* group = "The kernel under test";
  command
      .add_option(
          "--got", arguments.got,
          "Answers in a file: raw words, .npy, .npz, .safetensors, or a folder with NAME.bin per column")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--exec", arguments.exec,
                  "A shell command: little-endian source words on its standard input, codes from its "
                  "standard output")
      ->type_name("CMD")
      ->group(group);
  command
      .add_option("--lib", arguments.lib, "A shared library that exports the functions of halfulp/kernel.h")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--text", arguments.text, "With --exec: hexadecimal words, a line per row, both ways")
      ->group(group);
  command
      .add_option("--timeout", arguments.timeout,
                  "Seconds without progress before a command or library is stopped (default 60)")
      ->type_name("S")
      ->check(CLI::Validator(
          [](const std::string& text) -> std::string {
            double seconds = 0;  // a comparison with NaN is false
            if (CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= 1e6) return {};
            return "it must be a number of seconds from 0.001 to 1e6";
          },
          "0.001..1e6"))
      ->group(group);
}

vectors::Plug make_plug(const PlugArguments& arguments) {
  if (arguments.text && arguments.exec.empty())
    throw InputError("--text", "it belongs to --exec", "leave it out");
  if (arguments.timeout > 0 && !arguments.got.empty())
    throw InputError("--timeout", "a file cannot hang", "leave it out");
  const std::chrono::milliseconds timeout =
      arguments.timeout > 0 ? std::chrono::milliseconds(std::llround(std::ceil(arguments.timeout * 1000)))
                            : vectors::kUsualTimeout;
  if (!arguments.got.empty()) return vectors::got(arguments.got);
  if (!arguments.lib.empty()) return vectors::library(arguments.lib, {.timeout = timeout});
  using Form = vectors::FilterOptions::Form;
  return vectors::filter(arguments.exec,
                         {.form = arguments.text ? Form::text : Form::binary, .timeout = timeout});
}

}  // namespace halfulp::tool
