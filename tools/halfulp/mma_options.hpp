// What `mma` and `gemm` share: the options that choose a model, and float32 words as codes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "halfulp/accumulation/models.hpp"

namespace halfulp::tool {

struct MmaOptions {
  accumulation::SpecRequest request;
  std::string format, format_a, format_b;
  std::string scale_order, zero_rule = "a";
  bool list = false, undecided = false;
};

/// Adds --model, --format*, --output-format, --interval, --scale-order, --contract, --zero-rule, --saturate and --list.
void add_mma_options(CLI::App& command, MmaOptions& options);

/// The chosen run. Throws InputError.
accumulation::MmaSpec spec_of_options(const MmaOptions& options);

/// Prints the models, one per line.
int list_models(bool json);

/// Eight hexadecimal digits, as rows of `mma` have them.
std::string hex8(std::uint32_t word);

/// A float32 word as the container word of a format that has its value; empty where it has not.
std::optional<std::uint32_t> exact_code(std::uint32_t f32_word, const FormatSpec& format);

/// c: the float32 word rounded to the output format. Throws InputError for int32 where it does not fit.
std::uint32_t c_word(std::uint32_t f32_word, accumulation::Output output);

}  // namespace halfulp::tool
