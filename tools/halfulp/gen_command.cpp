// `halfulp gen`: writes packs of vectors.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "arguments.hpp"
#include "commands.hpp"
#include "coverage_report.hpp"
#include "halfulp/error.hpp"
#include "halfulp/vectors/pack/forms.hpp"
#include "halfulp/vectors/pack/rows.hpp"
#include "interrupt.hpp"
#include "streams.hpp"

namespace halfulp::tool {
namespace {

namespace vectors = halfulp::vectors;

struct GenOptions {
  std::string spec, output, level;
  std::uint64_t seed = 0;
  std::vector<std::string> also;
  bool coverage = false;
  bool stages = false;
};

constexpr char kExamples[] =
    "Out: a folder (manifest.json and one .bin of little-endian words per column), or one file where the name\n"
    "ends in .npz or .safetensors. --also puts further forms beside the columns: vectors.npz, .safetensors,\n"
    ".memh (Verilog), .h (C), .txt and .json.\n\n"
    "Examples:\n"
    "  halfulp gen cast:f32:e4m3 -o e4m3\n"
    "  halfulp gen cast:f16:e5m2,rounding=toward_zero -o e5m2.npz --level stratified --coverage\n"
    "  halfulp gen decode:e4m3 -o decode --also memh,c,txt\n"
    "  halfulp gen recipe:nvfp4/vllm,packing=low_first -o nvfp4\n"
    "  halfulp gen attention:fa3_like,out=bf16 --stages -o fa3";

template <class Enum>
Enum require_named(const char* what, const std::string& word, const char* choices) {
  const auto value = value_named<Enum>(word);
  if (!value) {
    throw InputError(std::string(what) + " '" + word.substr(0, 60) + "'", "unknown", std::string("use ") + choices);
  }
  return *value;
}

/// One rewritten line with the share, the rate and the time left; where it is not shown, only interrupts are heard.
class Progress {
 public:
  explicit Progress(bool shows) : shows_(shows) {}
  void operator()(std::uint64_t done, std::uint64_t total) {
    throw_if_interrupted();
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    if (!shows_ || seconds < 1 || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    shown_ = true;
    const double rate = static_cast<double>(done) / seconds;
    std::fprintf(stderr, "\r%5.1f %%  %.0f M rows/s  %.0f s left   ", 100 * static_cast<double>(done) / static_cast<double>(total),
                 rate / 1e6, static_cast<double>(total - done) / rate);
  }
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  bool shows_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_;
};

std::uint64_t bytes_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return fs::file_size(path);
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  return bytes;
}

/// `coverage` may be null.
void report(const vectors::Manifest& manifest, const std::string& path, const CoverageReport* coverage, const Globals& globals) {
  const std::uint64_t bytes = bytes_of(path);
  Output output;
  if (globals.json) {
    nlohmann::ordered_json json = {{"spec", manifest.spec}, {"level", name_of(manifest.level)}, {"seed", manifest.seed},
                                         {"rows", manifest.rows}, {"refused", manifest.refused},
                                         {"completeness", name_of(manifest.completeness)}, {"bytes", bytes}, {"path", path}};
    if (coverage != nullptr) json["coverage"] = coverage->json;
    output.text() = json.dump() + "\n";
  } else if (!globals.quiet) {
    output.text() = std::to_string(manifest.rows) + (manifest.rows == 1 ? " row" : " rows") + ", level " + std::string(name_of(manifest.level)) + ", " +
                    std::string(name_of(manifest.completeness)) + ", " + std::to_string(bytes) + " bytes in " + path + "\n";
    if (coverage != nullptr) output.text() += coverage->text;
  }
  output.flush();
}

int run_gen(const GenOptions& options, const Globals& globals) {
  std::optional<vectors::Level> level;
  if (!options.level.empty())
    level = require_named<vectors::Level>("level", options.level, "specials, thresholds, stratified or exhaustive");
  std::vector<vectors::Form> forms;
  for (const std::string& word : options.also)
    forms.push_back(require_named<vectors::Form>("form", word, "npz, safetensors, memh, c, txt or json"));
  const bool one_file = options.output.ends_with(".npz") || options.output.ends_with(".safetensors");
  if (one_file && !forms.empty())
    throw InputError("--also", "'" + options.output + "' is one file", "name a folder, beside whose columns the other forms stand");
  if (options.stages && !options.spec.starts_with("attention:"))
    throw InputError("--stages", "only attention has stages", "leave it out");
  const std::string spec = options.stages ? options.spec + ",stages=yes" : options.spec;
  const auto rows = vectors::rows_of_spec(spec, level, options.seed);
  const std::string& kind = rows->manifest().kind;
  if (options.coverage && (kind == "attention" || kind == "mma"))
    throw InputError("--coverage", "it counts the codes of casts and recipes, and this is a pack of kind " + kind, "leave it out");
  for (const vectors::Form form : forms) vectors::check_form(form, rows->manifest());
  const auto writer = vectors::write_pack(options.output, rows->manifest());
  Progress progress(!globals.quiet && isatty(STDERR_FILENO) != 0);
  vectors::write_rows(*rows, *writer, {globals.thread_count(), [&](std::uint64_t done, std::uint64_t total) { progress(done, total); }});
  if (!forms.empty()) {
    const std::string folder = writer->stage();
    const auto pack = vectors::read_pack(folder, vectors::Hashes::trusted);
    for (const vectors::Form form : forms) {
      throw_if_interrupted();
      vectors::write_form(form, *pack, folder + "/" + vectors::form_file(form), globals.thread_count(), throw_if_interrupted);
    }
  }
  throw_if_interrupted();
  writer->commit();
  if (!options.coverage) {
    report(rows->manifest(), options.output, nullptr, globals);
    return kPassed;
  }
  const auto pack = vectors::read_pack(options.output, vectors::Hashes::trusted);
  const CoverageReport coverage = coverage_of_pack(*pack, options.output, globals.thread_count());
  report(rows->manifest(), options.output, &coverage, globals);
  return coverage.proves <= coverage.claimed ? kPassed : kMismatch;
}

}  // namespace

void add_gen(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("gen", "Write a pack of golden vectors");
  const auto options = std::make_shared<GenOptions>();
  command->add_option("spec", options->spec, "cast:FROM:TO[@DIALECT][,key=value]…, decode:FORMAT[:TO], recipe:NAME[,key=value]…, mma:MODEL[,key=value]… or attention:PRESET[,key=value]…")
      ->type_name("SPEC")
      ->required();
  command->add_option("-o,--output", options->output, "A new folder, .npz or .safetensors")->type_name("DIR")->required();
  command
      ->add_option("--level", options->level,
                   "specials, thresholds (default of casts), stratified (default of all else), exhaustive")
      ->type_name("LEVEL");
  digits_only(command->add_option("--seed", options->seed, "Seed of the random rows (default 0)")->type_name("N"));
  command->add_option("--also", options->also, "Further forms: npz,safetensors,memh,c,txt,json")->type_name("FORMS")->delimiter(',')->allow_extra_args(false);
  command->add_flag("--coverage", options->coverage, "Also print what the rows of the pack reach, as `halfulp coverage` counts it");
  command->add_flag("--stages", options->stages, "Attention: a column for every stage (stages=yes of the SPEC)");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_interruptible([&] { return run_gen(*options, globals); }); };
  });
}

}  // namespace halfulp::tool
