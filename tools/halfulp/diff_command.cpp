// `halfulp diff`: the smallest input on which two casts, recipes or result files differ.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "arguments.hpp"
#include "diff.hpp"
#include "halfulp/error.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

constexpr char kExamples[] =
    "A and B are cast:FROM:TO[@DIALECT][,key=value]…, [recipe:]NAME[,to=ELEMENT][,block=N], or files\n"
    "(.npy, .npz[:NAME], .safetensors[:NAME], .bin) or pack folders: a.npz:codes and b.npz:codes are two columns, a.npz and b.npz\n"
    "all that both hold. Exit status: 1 with a difference, 0 when proved equal, 3 when none was found in a search that is\n"
    "not exhaustive.\n\n"
    "Examples:\n"
    "  halfulp diff cast:f16:e5m2@torch_2_11 cast:f16:e5m2@torch_2_12\n"
    "  halfulp diff cast:f32:bf16,overflow=overflow cast:f32:bf16@arm_fcvt,nan-code=quiet --json\n"
    "  halfulp diff mxfp8/rceil mxfp8/transformer_engine";

enum class Kind : std::uint8_t { cast, recipe, file };

Kind kind_of(const std::string& text) {
  if (text.rfind("cast:", 0) == 0) return Kind::cast;
  if (text.rfind("recipe:", 0) == 0) return Kind::recipe;
  for (const char* other : {"decode:", "mma:", "attention:"}) {
    if (text.rfind(other, 0) == 0) {
      throw InputError(quoted(text), "casts, recipes and files can be compared", "write cast:FROM:TO or recipe:NAME");
    }
  }
  for (const char* extension : {".npy", ".npz", ".safetensors", ".bin"}) {
    if (text.find(extension) != std::string::npos) return Kind::file;
  }
  std::error_code error;
  return std::filesystem::is_directory(text, error) ? Kind::file : Kind::recipe;
}

int run_diff(const DiffOptions& options, const Globals& globals) {
  const Kind kind = kind_of(options.a);
  if (kind != kind_of(options.b)) {
    throw InputError(quoted(options.a) + " and " + quoted(options.b), "they are not of one kind",
                     "name two casts, two recipes or two files");
  }
  switch (kind) {
    case Kind::cast: return diff_casts(options, globals);
    case Kind::recipe: return diff_recipes(options, globals);
    case Kind::file: break;
  }
  return diff_files(options, globals);
}

}  // namespace

void add_diff(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("diff", "Find the smallest input on which A and B differ");
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("A", options->a, "A cast, a recipe or a file")->required();
  command->add_option("B", options->b, "Another of the same kind")->required();
  command
      ->add_option("--search", options->search,
                   "random; threshold: where results change (default; of recipes the most telling block, zeros and\n"
                   "Inf last); all: every source code of casts, a block of every kind that tells recipes apart")
      ->check(CLI::IsMember({"random", "threshold", "all"}));
  from_one(command->add_option("--max", options->most, "Most inputs to try, 1 or more (casts: most runs to walk)")->type_name("N"));
  command->add_option("--dtype", options->dtype, "Element type of .bin files")->type_name("TYPE");
  command->add_option("--shape", options->shape, "Shape of .bin files, e.g. 2x3")->type_name("SHAPE");
  command->footer(kExamples);
  command->callback([options, &globals, &runner] {
    runner = [options, &globals] { return run_diff(*options, globals); };
  });
}

}  // namespace halfulp::tool
