// `halfulp memory`: bytes of a KV cache, sequences that fit, and the time to read them once per step.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "halfulp/error.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr char kExamples[] =
    "Bytes count K and V of all layers. INT4 and INT2 hold a float16 scale and offset per 32 values, NVFP4 an 8-bit scale per 16. The\n"
    "residual is the number of last tokens that the cache of integers keeps in 16 bits in place of its own. Floor: weights and caches read\n"
    "once at the bandwidth. Numbers may end in Ki, Mi, Gi, k, M, G.\n\n"
    "Examples:\n"
    "  halfulp memory --layers 32 --kv-heads 8 --head-dim 128 --context 128Ki\n"
    "  halfulp memory --layers 32 --kv-heads 8 --head-dim 128 --context 128Ki --memory 58G --weights 16G --bandwidth 3352G --batch 3";

struct CacheFormat {
  const char *name, *holds;
  std::uint64_t half_bits;  ///< twice the bits of a value, scales included
  bool integers;
};
constexpr CacheFormat kFormats[] = {{"bf16", "16 bits", 32, false},
                                    {"fp8", "8 bits, one scale per tensor or head", 16, false},
                                    {"int8", "8 bits, one scale per tensor or head", 16, false},
                                    {"nvfp4", "4 bits and 8 per 16 values", 9, false},
                                    {"int4", "4 bits and 32 per 32 values", 10, true},
                                    {"int2", "2 bits and 32 per 32 values", 6, true}};

struct MemoryOptions {
  std::uint64_t layers = 0, kv_heads = 0, head_dim = 0, batch = 1, residual = 0;
  std::string context, memory, weights = "0", bandwidth;
};

/// A count with an optional unit. Throws InputError.
std::uint64_t count_of(const std::string& text, const char* option) {
  struct Unit {
    const char* suffix;
    std::uint64_t factor;
  };
  constexpr Unit kUnits[] = {{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {"", 1}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    const std::string digits = text.substr(0, text.size() - std::string(unit.suffix).size());
    if (digits.empty() || digits.size() > 15 || digits.find_first_not_of("0123456789") != std::string::npos) break;
    const std::uint64_t number = std::stoull(digits);
    if (number > (std::uint64_t{1} << 53) / unit.factor) break;
    return number * unit.factor;
  }
  throw InputError(std::string(option) + " " + quoted(text), "not a count below 2^53", "write e.g. 4096, 128Ki or 58G");
}

struct Line {
  double bytes_per_token = 0;
  std::uint64_t sequence = 0;  ///< bytes
  std::uint64_t fit = 0;
  double floor_ms = 0;
};

Line line_of(const CacheFormat& format, const MemoryOptions& options, std::uint64_t context) {
  const std::uint64_t values = 2 * options.layers * options.kv_heads * options.head_dim;
  Line line;
  line.bytes_per_token = static_cast<double>(values * format.half_bits) / 16;
  const std::uint64_t exact = format.integers ? std::min(options.residual, context) : 0;
  line.sequence = ((context - exact) * values * format.half_bits + exact * values * 32 + 15) / 16;
  if (!options.memory.empty()) line.fit = line.sequence == 0 ? 0 : count_of(options.memory, "--memory") / line.sequence;
  if (!options.bandwidth.empty()) {
    const double bytes = static_cast<double>(count_of(options.weights, "--weights")) + static_cast<double>(options.batch * line.sequence);
    line.floor_ms = 1000 * bytes / static_cast<double>(count_of(options.bandwidth, "--bandwidth"));
  }
  return line;
}

int run_memory(const MemoryOptions& options, const Globals& globals) {
  const std::uint64_t context = count_of(options.context, "--context");
  if (!options.bandwidth.empty() && count_of(options.bandwidth, "--bandwidth") == 0) throw InputError("--bandwidth", "it is 0", "give bytes per second");
  const double most = 2.0 * static_cast<double>(options.layers) * static_cast<double>(options.kv_heads) * static_cast<double>(options.head_dim) *
                      static_cast<double>(context) * 32 * static_cast<double>(options.batch);
  if (most > 0x1p62) throw InputError("memory", "the cache has 2^58 bytes or more", "give smaller numbers");
  Output output;
  if (!globals.json) {
    char head[160];
    std::snprintf(head, sizeof head, "%-6s %5s %14s %18s%s%s  %s\n", "cache", "bits", "bytes/token", "bytes/sequence", options.memory.empty() ? "" : "      fit",
                  options.bandwidth.empty() ? "" : "   floor ms", "a value holds");
    output.text() += head;
  }
  for (const CacheFormat& format : kFormats) {
    const Line line = line_of(format, options, context);
    const double bits = static_cast<double>(format.half_bits) / 2;
    if (globals.json) {
      nlohmann::ordered_json json = {{"cache", format.name}, {"bits", bits}, {"bytes_per_token", line.bytes_per_token}, {"bytes_per_sequence", line.sequence}};
      if (!options.memory.empty()) json["fit"] = line.fit;
      if (!options.bandwidth.empty()) json["floor_ms"] = line.floor_ms;
      output.text() += json.dump() + "\n";
      continue;
    }
    char text[240], fit[32] = "", floor[32] = "";
    if (!options.memory.empty()) std::snprintf(fit, sizeof fit, " %8llu", static_cast<unsigned long long>(line.fit));
    if (!options.bandwidth.empty()) std::snprintf(floor, sizeof floor, " %10.2f", line.floor_ms);
    std::snprintf(text, sizeof text, "%-6s %5.4g %14.10g %18llu%s%s  %s\n", format.name, bits, line.bytes_per_token, static_cast<unsigned long long>(line.sequence), fit, floor,
                  format.holds);
    output.text() += text;
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_memory(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("memory", "Bytes of a KV cache in every format, what fits, and the floor of a decode step");
  const auto options = std::make_shared<MemoryOptions>();
  from_one(command->add_option("--layers", options->layers, "Layers")->type_name("N")->required());
  from_one(command->add_option("--kv-heads", options->kv_heads, "KV heads of a layer")->type_name("N")->required());
  from_one(command->add_option("--head-dim", options->head_dim, "Channels of a head")->type_name("N")->required());
  command->add_option("--context", options->context, "Tokens of a sequence")->type_name("N")->required();
  from_one(command->add_option("--batch", options->batch, "Sequences read per step (default 1)")->type_name("N"));
  digits_only(command->add_option("--residual", options->residual, "Last tokens that integer caches keep in 16 bits (default 0)")->type_name("N"));
  command->add_option("--memory", options->memory, "Bytes for caches: how many sequences fit")->type_name("BYTES");
  command->add_option("--weights", options->weights, "Bytes of weights that a step reads (default 0)")->type_name("BYTES");
  command->add_option("--bandwidth", options->bandwidth, "Bytes per second: the floor of a step")->type_name("BYTES/S");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_memory(*options, globals); };
  });
}

}  // namespace halfulp::tool
