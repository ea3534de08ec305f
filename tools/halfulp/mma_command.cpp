// `halfulp mma`: rows of operands through an accumulation model, one result per line.
#include <charconv>
#include <memory>

#include "arguments.hpp"
#include "commands.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/mma/mma_rows.hpp"
#include "mma_options.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr char kExamples[] =
    "A row on stdin is `a... | b... | c`, words of 8 hex digits that are float32 bits; K is the number of words; `00000000*60` stands for 60 of them. Block scales, of a\n"
    "model or of promoted pieces, are two more columns, `| scale_a... | scale_b...`. Results are float32 bits; int32 ones decimal.\n\n"
    "Examples:\n"
    "  halfulp mma --list\n"
    "  echo '3f800000 3c800000 | 3f800000 3c800000 | 00000000' | halfulp mma --model hopper_fp8_wgmma\n"
    "  echo '3f800000 | 3f800000 | 40403017' | halfulp mma --model hopper_fp8_mma_sync --format e5m2\n"
    "  halfulp mma --rows-of mma:hopper_fp8_wgmma,interval=128 --row 17";

constexpr std::size_t kMostRepeats = std::size_t{1} << 18;
constexpr std::size_t kLongestRow = std::size_t{1} << 22;  ///< bytes: K up to 230,000

/// One line of input, taken apart.
struct ParsedRow {
  std::vector<std::uint32_t> columns[5];
  std::size_t count = 0;
};

std::uint32_t hex_word(std::string_view text) {
  std::string_view digits = text;
  if (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X") digits.remove_prefix(2);
  std::uint32_t word = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) digits = {};
    word = (word << 4) | static_cast<std::uint32_t>(digit & 15);
  }
  if (digits.size() != 8) throw InputError("word " + quoted(text), "not float32 bits", "write 8 hex digits");
  return word;
}

/// How often a word `WORD*N` stands; 1 without a star, which is then npos.
std::size_t repeats(std::string_view word, std::size_t star) {
  if (star == std::string_view::npos) return 1;
  const std::string_view digits = word.substr(star + 1);
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size() || n == 0 || n > kMostRepeats)
    throw InputError("word " + quoted(word), "no count of repetitions", "write WORD*N, N from 1 to " + std::to_string(kMostRepeats));
  return n;
}

void parse(std::string_view line, ParsedRow& row) {
  for (auto& column : row.columns) column.clear();
  row.count = 1;
  while (!line.empty()) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return;
    line.remove_prefix(start);
    if (line.front() == '|') {
      if (++row.count > 5) throw InputError("row", "more than five columns", "write a... | b... | c, and two columns of scales where needed");
      line.remove_prefix(1);
      continue;
    }
    const std::string_view word = line.substr(0, line.find_first_of(" \t|"));
    const std::size_t star = word.find('*');
    std::vector<std::uint32_t>& column = row.columns[row.count - 1];
    column.insert(column.end(), repeats(word, star), hex_word(word.substr(0, star)));
    if (column.size() > kMostRepeats) throw InputError("row", "more than " + std::to_string(kMostRepeats) + " words", "give shorter rows");
    line.remove_prefix(word.size());
  }
}

/// Reads rows in the formats of a spec and runs them.
class RowRunner {
 public:
  RowRunner(const accumulation::MmaSpec& spec, bool both_rules) : engine_(spec), other_(both_rules ? flipped(spec) : spec), block_(static_cast<std::size_t>(accumulation::scale_block(spec))) {}

  /// The result, and the other zero rule's.
  struct Results {
    std::uint32_t own, other;
  };

  Results operator()(std::string_view line) {
    const accumulation::MmaSpec& spec = engine_.spec();
    parse(line, row_);
    const std::size_t count = row_.columns[0].size();
    const bool scaled = block_ != 0;
    if (row_.count != (scaled ? 5 : 3)) {
      throw InputError("row", std::to_string(row_.count) + " columns", scaled ? "write a... | b... | c | scale_a... | scale_b..." : "write a... | b... | c");
    }
    if (count == 0) throw InputError("row", "no words of a", "write a... | b... | c");
    if (row_.columns[1].size() != count) {
      throw InputError("row", std::to_string(count) + " words of a, " + std::to_string(row_.columns[1].size()) + " of b", "give as many of both");
    }
    if (row_.columns[2].size() != 1) throw InputError("row", std::to_string(row_.columns[2].size()) + " words of c", "give one");
    codes(row_.columns[0], spec.a, "word of a");
    codes(row_.columns[1], spec.b, "word of b");
    if (scaled) {
      const std::size_t scales = (count + block_ - 1) / block_;
      for (const int column : {3, 4}) {
        if (row_.columns[column].size() != scales) {
          throw InputError("row", std::to_string(row_.columns[column].size()) + (column == 3 ? " scales of a" : " scales of b"),
                           "give one for every " + std::to_string(block_) + " products: " + std::to_string(scales));
        }
        codes(row_.columns[column], accumulation::scale_format(spec), column == 3 ? "scale of a" : "scale of b");
      }
    }
    const accumulation::Row row = {row_.columns[0], row_.columns[1], c_word(row_.columns[2][0], spec.output), row_.columns[3], row_.columns[4]};
    const std::uint32_t own = engine_.dot(row);
    return {own, other_.spec() == spec ? own : other_.dot(row)};
  }

 private:
  static accumulation::MmaSpec flipped(accumulation::MmaSpec spec) {
    using accumulation::ZeroRule;
    if (!accumulation::has_zero_rule(spec.model)) {
      throw InputError("--undecided with model " + std::string(spec.model.name), "the model has one reading only", "leave it out");
    }
    spec.zero_rule = spec.zero_rule == ZeroRule::a ? ZeroRule::b : ZeroRule::a;
    return spec;
  }

  static void codes(std::vector<std::uint32_t>& words, const FormatSpec& format, const char* what) {
    std::string name = "the format";
    for (const Format& each : kFormats) {
      if (each.spec == format) {
        name = each.name;
        break;
      }
    }
    for (std::uint32_t& word : words) {
      const auto code = exact_code(word, format);
      if (!code) throw InputError(what, hex8(word) + " is no number of " + name, "give float32 bits of a value that the format has");
      word = *code;
    }
  }

  accumulation::Engine engine_, other_;
  std::size_t block_;
  ParsedRow row_;
};

void append_result(std::string& text, accumulation::Output output, std::uint32_t word) {
  if (output == accumulation::Output::int32) {
    text += std::to_string(static_cast<std::int32_t>(word));
    return;
  }
  static constexpr FormatSpec kF16 = spec_of("f16"), kF32 = spec_of("f32");
  if (output == accumulation::Output::f16) {
    word = (word & 0x7fff) > 0x7c00 ? accumulation::kNanF32 : static_cast<std::uint32_t>(cast(kF16, word, kF32, {.overflow = Overflow::overflow}).code);
  }
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
}

/// A row of a level, which `verify` judges and `gen` writes.
struct RowOfLevel {
  std::string spec, level = "stratified";
  std::uint64_t seed = 0;
  std::size_t row = 0;
  bool named = false;  ///< --row, --level or --seed
};

void append_line(std::string& text, bool json, accumulation::Output output, const RowRunner::Results& words) {
  if (json) text += output == accumulation::Output::int32 ? "{\"result\":" : "{\"result\":\"0x";
  append_result(text, output, words.own);
  if (words.other != words.own) {
    text += json ? "\",\"other_rule\":\"0x" : " ~ ";
    append_result(text, output, words.other);
  }
  text += !json ? "\n" : output == accumulation::Output::int32 ? "}\n" : "\"}\n";
}

int run_row_of_level(const MmaOptions& options, const RowOfLevel& of, const Globals& globals) {
  if (!options.request.model.empty()) throw InputError("--rows-of " + quoted(of.spec), "--model names a model, too", "give one or the other");
  const vectors::MmaPlan plan = vectors::parse_mma_spec(of.spec);
  const auto level = value_named<vectors::Level>(of.level);
  if (!level) throw InputError("level " + quoted(of.level), "unknown", "use specials, thresholds or stratified");
  const vectors::MmaRows rows = vectors::mma_level_rows(plan, *level, of.seed, globals.thread_count());
  if (of.row >= rows.rows.size())
    throw InputError("row " + std::to_string(of.row), "the level has " + std::to_string(rows.rows.size()) + " rows", "count from 0");
  Output output;
  const std::uint32_t own = rows.expected[of.row];
  append_line(output.text(), globals.json, plan.spec.output, {own, options.undecided ? rows.other[of.row] : own});
  output.flush();
  return kPassed;
}

int run_mma(const MmaOptions& options, const RowOfLevel& of, const Globals& globals) {
  if (options.list) return list_models(globals.json);
  if (!of.spec.empty()) return run_row_of_level(options, of, globals);
  if (of.named) throw InputError("--row, --level and --seed", "of no SPEC", "name one with --rows-of, or give rows on standard input");
  const accumulation::MmaSpec spec = spec_of_options(options);
  RowRunner runner(spec, options.undecided);
  Output output;
  LineInput input([&output] { output.flush(); }, kLongestRow);
  std::uint64_t rows = 0;
  try {
    for (std::string_view line; input.next(line); ++rows) {
      RowRunner::Results words = {};
      try {
        words = runner(line);
      } catch (const InputError& error) {
        throw std::runtime_error("stdin line " + std::to_string(input.number()) + ", " + error.what());
      }
      append_line(output.text(), globals.json, spec.output, words);
      output.line_done();
    }
  } catch (const std::runtime_error&) {
    output.flush();
    throw;
  }
  output.flush();
  if (rows > 0) return kPassed;
  if (!globals.quiet) std::fputs("halfulp: no rows: write some on standard input\n", stderr);
  return kIncomplete;
}

}  // namespace

void add_mma(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("mma", "Dot products as tensor cores and software orders compute them, bit for bit");
  const auto options = std::make_shared<MmaOptions>();
  add_mma_options(*command, *options);
  command->add_flag("--undecided", options->undecided, "Behind a result on which the zero rules part: ` ~ ` and the other rule's");
  const auto of = std::make_shared<RowOfLevel>();
  command->add_option("--rows-of", of->spec, "Instead of standard input: the row --row of the SPEC mma:..., as `verify` counts them")->type_name("SPEC");
  const CLI::Option* named[] = {digits_only(command->add_option("--row", of->row, "Its number, from 0")->type_name("N")),
                                command->add_option("--level", of->level, "Level of the rows (default stratified)")->type_name("LEVEL"),
                                digits_only(command->add_option("--seed", of->seed, "Seed of the rows (default 0)")->type_name("N"))};
  command->footer(kExamples);
  command->callback([=, &globals, &runner] {
    for (const CLI::Option* option : named) of->named = of->named || option->count() > 0;
    runner = [options, of, &globals] { return run_mma(*options, *of, globals); };
  });
}

}  // namespace halfulp::tool
