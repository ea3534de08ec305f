// `halfulp gemm`: matrices from files through an accumulation model, scales, promotion and epilogue named.
#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>

#include "commands.hpp"
#include "gemm_files.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"
#include "interrupt.hpp"
#include "mma_options.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using accumulation::Epilogue;
using accumulation::EpilogueStep;
using accumulation::GemmProblem;
using accumulation::MmaSpec;

constexpr char kExamples[] =
    "D = epilogue(A B + C). A is m x k, B k x n (n x k with --transpose-b), each a .npy, .npz:NAME, .safetensors:NAME. Codes of\n"
    "floating formats may stand in unsigned words of their size. An empty matrix is nothing computed (exit status 3). Scales of a model's blocks, or of promoted pieces with --scale-order, are matrices of\n"
    "one row per row of A (column of B) or per 128 of them, one column per block of k; other scales are single numbers or one\n"
    "per row of A (column of B) and enter where --epilogue says: scale_a, scale_b, scale_ab, scale_result, bias, cast, in any order.\n"
    "Scales 1x128 of A and 128x128 of B, promoted as DeepGEMM's source does it: --interval 128 --scale-order scales_first --contract\n"
    "--scale-a a.npz:scales --scale-b b.npz:scales --to bf16 -o d.npy (bits of bfloat16, as uint16); all of it in docs/accumulation.md.\n\n"
    "Examples:\n"
    "  halfulp gemm --list\n"
    "  printf '1 0.5\\n0.25 -1\\n' | halfulp quantize --recipe fp8_static/vllm --scale 1 -o x.npz\n"
    "  halfulp gemm --model hopper_fp8_wgmma --a x.npz:codes --b x.npz:codes --transpose-b";

struct GemmOptions {
  MmaOptions mma;
  std::string a, b, c, scale_a, scale_b, bias, output = "-", to = "f32", overflow, epilogue, scale_result;
  bool transpose_b = false;
  int split_k = 0;  ///< 0: k is not split
  std::string combine;  ///< empty: not asked for
};

std::string name_of_format(const FormatSpec& format) {
  for (const Format& each : kFormats) {
    if (each.spec == format) return std::string(each.name);
  }
  return "";
}

/// Rows that share a row of scales.
std::size_t row_block(const LoadedWords& scales, std::size_t rows, std::size_t blocks, const std::string& what) {
  if (scales.columns == blocks) {
    for (const std::size_t block : {std::size_t{1}, std::size_t{128}, std::max<std::size_t>(rows, 1)}) {
      if (scales.rows == (rows + block - 1) / block) return block;
    }
  }
  throw InputError(what, "shape " + std::to_string(scales.rows) + " x " + std::to_string(scales.columns),
                   "give " + std::to_string(rows) + " x " + std::to_string(blocks) + ", or one row for 128 rows, or one for all");
}

std::vector<float> floats_of(const std::string& name, std::size_t entries, const std::string& what) {
  const LoadedWords loaded = load_words(name, spec_of("f32"), "f32");
  if (loaded.words.size() != 1 && loaded.words.size() != entries) {
    throw InputError(what, std::to_string(loaded.words.size()) + " numbers", "give one, or " + std::to_string(entries));
  }
  std::vector<float> values;
  for (const std::uint32_t word : loaded.words) values.push_back(std::bit_cast<float>(word));
  return values;
}

bool has_step(const Epilogue& epilogue, EpilogueStep step) {
  return std::find(epilogue.steps.begin(), epilogue.steps.end(), step) != epilogue.steps.end();
}

/// Progress on a terminal, and the stop of an interrupt.
class Ticker {
 public:
  Ticker(std::size_t total, bool quiet) : total_(total), shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~Ticker() {
    if (printed_) std::fputs("\r\033[K", stderr);
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  void operator()(std::size_t elements) {
    throw_if_interrupted();
    if (!shown_) return;
    const std::scoped_lock lock(mutex_);
    done_ += elements;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() < 1 || passed.count() < last_ + 0.2) return;
    last_ = passed.count();
    printed_ = true;
    std::fprintf(stderr, "\rgemm: %.0f %%, %.0f s left\033[K", 100.0 * static_cast<double>(done_) / static_cast<double>(total_),
                 passed.count() * static_cast<double>(total_ - done_) / static_cast<double>(done_));
  }

 private:
  std::size_t total_, done_ = 0;
  bool shown_, printed_ = false;
  double last_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
};

Epilogue epilogue_of(const GemmOptions& options, bool scales_are_blocks, std::size_t m, std::size_t n) {
  Epilogue epilogue;
  epilogue.steps = accumulation::parse_steps(options.epilogue);
  if (scales_are_blocks) {
    for (const EpilogueStep step : {EpilogueStep::scale_a, EpilogueStep::scale_b, EpilogueStep::scale_ab}) {
      if (has_step(epilogue, step))
        throw InputError("epilogue " + quoted(options.epilogue), "--scale-a and --scale-b are scales of blocks, which enter with the products",
                         "leave that step out; a scale of the whole result is --scale-result");
    }
  }
  const auto needs = [&](EpilogueStep step, const std::string& option, const std::string& value) {
    if (has_step(epilogue, step) && value.empty()) throw InputError("epilogue", "it names a step without its input", "give " + option);
    if (!has_step(epilogue, step) && !value.empty() && !(step == EpilogueStep::scale_a && has_step(epilogue, EpilogueStep::scale_ab)) &&
        !(step == EpilogueStep::scale_b && has_step(epilogue, EpilogueStep::scale_ab))) {
      throw InputError(option, "no step of the epilogue uses it", "name its place with --epilogue");
    }
  };
  const std::string none;
  needs(EpilogueStep::scale_a, "--scale-a", scales_are_blocks ? none : options.scale_a);
  needs(EpilogueStep::scale_b, "--scale-b", scales_are_blocks ? none : options.scale_b);
  needs(EpilogueStep::scale_result, "--scale-result", options.scale_result);
  needs(EpilogueStep::bias, "--bias", options.bias);
  if (has_step(epilogue, EpilogueStep::scale_ab) && (options.scale_a.empty() || options.scale_b.empty())) {
    throw InputError("epilogue", "scale_ab needs both scales", "give --scale-a and --scale-b");
  }
  if (!scales_are_blocks && !options.scale_a.empty()) epilogue.scale_a = floats_of(options.scale_a, m, "--scale-a");
  if (!scales_are_blocks && !options.scale_b.empty()) epilogue.scale_b = floats_of(options.scale_b, n, "--scale-b");
  if (!options.bias.empty()) epilogue.bias = floats_of(options.bias, n, "--bias");
  if (!options.scale_result.empty()) {
    const Format f32 = require_format("f32");
    const std::string& text = options.scale_result;
    const auto word = is_code(text) ? parse_code(text, f32) : read_literal_as(read_literal(text), f32, text);
    epilogue.scale_result = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  }
  return epilogue;
}

/// Throws InputError for options that would have no effect.
void check_options(const GemmOptions& options, const MmaSpec& spec, bool integer_result) {
  if (options.split_k == 0 && !options.combine.empty())
    throw InputError("--combine " + options.combine, "k is not split", "name the parts with --split-k");
  if (integer_result && spec.output == accumulation::Output::int32 && !options.overflow.empty())
    throw InputError("--overflow " + options.overflow, "int32 sums wrap, or saturate chunk by chunk, in the unit", "leave it out, or give --saturate");
}

int run_gemm(const GemmOptions& options, const Globals& globals) {
  if (options.mma.list) return list_models(globals.json);
  const MmaSpec spec = spec_of_options(options.mma);
  if (options.a.empty() || options.b.empty()) throw InputError("gemm", "a matrix is missing", "give --a FILE and --b FILE");
  if (options.output != "-" && !options.output.ends_with(".npy") && !options.output.ends_with(".safetensors")) {
    throw InputError("output '" + options.output + "'", "no kind of file that gemm writes", "name a .npy or .safetensors file, or -");
  }
  const Format to = require_format(options.to);
  if (to.spec.storage_bytes() > 4) throw InputError("--to " + quoted(options.to), "a result has 32 bits at most", "name a narrower format");
  check_options(options, spec, to.spec.encoding == Encoding::twos_complement);
  CastPolicy policy;
  policy.overflow = options.overflow == "saturate" || (options.overflow.empty() && !to.spec.has_infinity()) ? Overflow::saturate : Overflow::overflow;

  const LoadedMatrix a = load_codes(options.a, spec.a, name_of_format(spec.a));
  LoadedMatrix b = load_codes(options.b, spec.b, name_of_format(spec.b));
  if (!options.transpose_b) b = transposed(b, spec.b.storage_bytes());
  if (a.columns != b.columns) {
    throw InputError("matrices", "A has k = " + std::to_string(a.columns) + ", B k = " + std::to_string(b.columns),
                     "give A as m x k and B as k x n, or n x k with --transpose-b");
  }
  const std::size_t m = a.rows, n = b.rows, k = a.columns;
  if (m == 0 || n == 0 || k == 0) {
    if (!globals.quiet) std::fputs("halfulp: an empty matrix: nothing was computed\n", stderr);
    return kIncomplete;
  }
  if (static_cast<std::size_t>(options.split_k) > k) {
    throw InputError("--split-k " + std::to_string(options.split_k), "k is " + std::to_string(k), "split it into " + std::to_string(k) + " parts at most");
  }
  const auto block = static_cast<std::size_t>(accumulation::scale_block(spec));
  LoadedWords scale_a, scale_b, c;
  GemmProblem problem = {spec, {a.words, m, k}, {b.words, n, k}, {}, {}, {}};
  if (block != 0) {
    if (options.scale_a.empty() || options.scale_b.empty()) throw InputError("scales", "the blocks have none", "give --scale-a and --scale-b");
    const FormatSpec& format = accumulation::scale_format(spec);
    scale_a = load_words(options.scale_a, format, name_of_format(format));
    scale_b = load_words(options.scale_b, format, name_of_format(format));
    const std::size_t blocks = (k + block - 1) / block;
    problem.scale_a = {scale_a.words, row_block(scale_a, m, blocks, "--scale-a")};
    problem.scale_b = {scale_b.words, row_block(scale_b, n, blocks, "--scale-b")};
  }
  if (!options.c.empty()) {
    const FormatSpec& format = accumulation::format_of(spec.output);
    c = load_words(options.c, format, std::string(accumulation::name_of(spec.output)));
    if (c.rows != m || c.columns != n) {
      throw InputError("--c", "it is " + std::to_string(c.rows) + " x " + std::to_string(c.columns) + " and the result is not",
                       "give " + std::to_string(m) + " x " + std::to_string(n));
    }
    problem.c = c.words;
  }
  const Epilogue epilogue = epilogue_of(options, block != 0, m, n);
  Ticker ticker(m * n * static_cast<std::size_t>(std::max(options.split_k, 1)), globals.quiet);
  const auto tick = [&ticker](std::size_t elements) { ticker(elements); };
  const auto combine = options.combine == "tree" ? accumulation::Combine::tree : accumulation::Combine::sequential;
  auto words = options.split_k == 0 ? accumulation::gemm_sums(problem, globals.thread_count(), tick)
                                    : accumulation::split_k_sums(problem, static_cast<std::size_t>(options.split_k), combine, globals.thread_count(), tick);
  const bool as_they_are = epilogue.steps.empty() && to.spec == accumulation::format_of(spec.output) && options.overflow != "saturate";
  if (!as_they_are) words = accumulation::apply_epilogue(epilogue, spec.output, words, n, to.spec, policy);
  if (options.output == "-") print_result(words, n, to.spec, std::string(to.name), globals.json);
  else write_result(options.output, words, n, to.spec, std::string(to.name));
  return kPassed;
}

}  // namespace

void add_gemm(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("gemm", "Whole matrices as tensor cores and software orders multiply them, bit for bit");
  const auto options = std::make_shared<GemmOptions>();
  add_mma_options(*command, options->mma);
  command->add_option("--a", options->a, "A, m x k")->type_name("FILE");
  command->add_option("--b", options->b, "B, k x n")->type_name("FILE");
  command->add_flag("--transpose-b", options->transpose_b, "B is stored n x k");
  command->add_option("--c", options->c, "C, m x n, in the output format of the model")->type_name("FILE");
  command->add_option("--scale-a", options->scale_a, "Scales of A: of blocks, or for the epilogue")->type_name("FILE");
  command->add_option("--scale-b", options->scale_b, "Scales of B: one row per column of B")->type_name("FILE");
  command->add_option("--scale-result", options->scale_result, "One float32 scale of the result: a code or a literal")->type_name("VALUE");
  command->add_option("--bias", options->bias, "One float32 number per column")->type_name("FILE");
  command->add_option("--epilogue", options->epilogue, "What happens to a sum, in order: scale_a,scale_b,bias,cast ...")->type_name("STEPS");
  command->add_option("--to", options->to, "Format of the result; f32 if not given")->type_name("FORMAT");
  command->add_option("--overflow", options->overflow, "saturate or overflow; overflow where the format has Inf")
      ->type_name("RULE")
      ->check(CLI::IsMember(std::vector<std::string>{"saturate", "overflow"}));
  command->add_option("--split-k", options->split_k, "Sum that many equal parts of k from zero and combine them with C; parts of promoted pieces or blocks are whole ones")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command->add_option("--combine", options->combine, "How parts are added: sequential (from C) or tree (adjacent pairs, then C)")
      ->type_name("ORDER")
      ->check(CLI::IsMember(std::vector<std::string>{"sequential", "tree"}));
  command->add_option("--output,-o", options->output, ".npy or .safetensors; - (default): rows of codes")->type_name("FILE");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_interruptible([&] { return run_gemm(*options, globals); }); };
  });
}

}  // namespace halfulp::tool
