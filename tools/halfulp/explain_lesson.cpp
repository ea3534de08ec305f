// `halfulp explain lesson`: the worked examples about scales, caches and grids, computed when asked.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attention_lessons.hpp"
#include "explain.hpp"
#include "files.hpp"
#include "halfulp/error.hpp"
#include "halfulp/explain/html.hpp"
#include "halfulp/names.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/error_report.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "quantize_options.hpp"
#include "quantize_text.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

/// One recipe on one tensor: rows separated by ";". `options` are those of `halfulp quantize`, `--NAME
/// VALUE` each.
struct LessonCase {
  const char *caption, *recipe, *rows, *options;
};
struct Lesson {
  const char *name, *title;
  std::vector<LessonCase> cases;
  const char* point;
};

const std::vector<Lesson>& lessons() {
  constexpr const char* kTokens = "0.01 -0.8 3.2;2 -45 180";
  constexpr const char* kKeys = "0.4 -0.2 9 0.1;-0.3 0.5 11 -0.4;0.2 -0.6 10 0.3;0.5 0.1 12 -0.2";
  // clang-format off
  static const std::vector<Lesson> all = {
      {"fp8-scales", "Dynamic and static FP8 scales", {
          {"One scale per token, found at run time: the maximum of each row lands on 448", "fp8_per_token/vllm_cuda", kTokens, ""},
          {"One static scale, 120/448: 180 is clipped to 120, and -45 is a tie at -168 that costs 4.8 %", "fp8_static/vllm", kTokens, "--scale 15/56"}},
       "A static scale clips what calibration did not see, and costs precision far from the clip."},
      {"scale-one", "Scale 1.0 in a KV cache", {
          {"448 and above saturate; 2^-10 is a tie to 0, the next float is not; 0.001 reads back almost twice as large", "kv_fp8/scale_1",
           "0.001 2^-10 0x1.000002p-10 3/1024 448 464 465 500", ""}},
       "E4M3 without a scale has 2^-9 as its smallest number: small values vanish or double."},
      {"kivi", "Keys: one scale per token or per channel, 2 bits", {
          {"Per channel, along the tokens: every channel has its own range", "kivi/k", kKeys, ""},
          {"Per token: the channel of 9 to 12 takes the whole range, the others get the minimum", "kivi/v", kKeys, ""},
          {"Integer zero point with 0 in the range, channel 9 11 10 12: half of the range is never used", "int_asym/zero_point", "9 11 10 12", "--to uint2"}},
       "The axis pays only with the right offset rule. Look at attention scores, not at the norm: the large channel hides the damage."},
      {"second-pair", "Ties that a precision decides", {
          {"0.2 in a channel from 0.1 to 0.3 is 1.5 steps: exact arithmetic rounds to 2, half precision gets 1.4990 and rounds to 1", "kivi/k",
           "0.1 0.2 8 0.1;0.3 0.1 9 0.2;0.2 0.3 7.5 0.1", ""},
          {"Values, per token", "kivi/v", "0.5 0.3 0.4 0.6;2 1.8 2.1 1.9;0.1 0.2 0.1 0.3", ""}},
       "A formula alone does not fix the codes: the precision of each step must be named."},
      {"transposed-copy", "A transposed copy is requantized", {
          {"Row of [448, 9/8 * 2^-8]: the small value falls on 2^-8", "mxfp8/ocp_floor", "448 0.00439453125", ""},
          {"Column of that value, from the original: kept exactly", "mxfp8/ocp_floor", "0.00439453125", ""},
          {"The same column, made from the row copy: 2^-8 stays", "mxfp8/ocp_floor", "0.00390625", ""},
          {"NVFP4, row [6, 0.4]: 0.4 becomes 0.5", "nvfp4/transformer_engine", "6 0.4", "--tensor-amax 6"},
          {"NVFP4, column of 0.4: 0.4018", "nvfp4/transformer_engine", "0.4", "--tensor-amax 6"}},
       "quantize(transpose) is not transpose(quantize). Make both copies from the original."},
      {"rotation", "Rotation before quantization", {
          {"Plain, symmetric 4 bits: 0.4, -0.2 and 0.1 vanish beside 9; with q = [1 1 0.1 1] the score is 0.9, not 1.2", "int_sym/quarot", "0.4 -0.2 9 0.1", ""},
          {"Rotated by the 4-point Hadamard / 2: the score becomes 1.2554", "int_sym/quarot", "4.65 4.75 -4.45 -4.15", ""},
          {"The recipe of the keys rotates by itself and is asymmetric: its values are those of the rotated key", "quarot/k", "0.4 -0.2 9 0.1", ""}},
       "Rotation spreads an outlier over all channels. It does not help every quantizer on every vector."},
      {"outliers", "Outliers and a table", {
          {"Thresholds -1 and 2, table -1 -1/3 1/3 1: 16 is kept exactly, 0.5 is a tie that the first entry wins", "kvquant/k", "-1;-1/4;0;1/2;3/4;2;16",
           "--to uint2 --outlier-thresholds -1,2 --codebook -1,-0x1.555556p-2,0x1.555556p-2,1"}},
       "Strict thresholds keep values that equal them in the table; inclusive ones would make -1 and 2 outliers."},
      {"smoothing", "Smoothing", {
          {"Factors of activation maxima [16 1] and weight maxima [1/4 1]", "smoothquant/factor", "16 1", "--set wmax=0.25,1"},
          {"Plain: 0.05 beside 16 is lost", "smoothquant/o1", "16 0.05", ""},
          {"Divided by 8 and 1 first: 0.05 gets code 3", "smoothquant/o1", "16 0.05", "--smooth 8,1"},
          {"A static scale for amax 1: 2 is clipped to 1, 0.05 gets code 6", "smoothquant/o3", "16 0.05", "--smooth 8,1 --scale 1/127"}},
       "Smoothing moves range from activations to weights; a static scale clips what calibration did not see."},
  };
  // clang-format on
  return all;
}

RecipeOptions options_of(const LessonCase& c) {
  RecipeOptions options;
  options.recipe = c.recipe;
  std::istringstream words(c.options);
  for (std::string name, value; words >> name >> value;) {
    if (name == "--to")
      options.to = value;
    else if (name == "--scale")
      options.scale = value;
    else if (name == "--smooth")
      options.smooth = value;
    else if (name == "--codebook")
      options.codebook = value;
    else if (name == "--outlier-thresholds")
      options.outlier_thresholds = value;
    else if (name == "--tensor-amax")
      options.tensor_amax = value;
    else
      options.set.push_back(value);
  }
  return options;
}

TextTensor tensor_of(const char* text) {
  TextTensor tensor;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';'); ++tensor.rows) {
    std::istringstream words(row);
    for (std::string word; words >> word;) tensor.values.push_back(number_of(word, require_format("f32")));
  }
  tensor.columns = static_cast<std::int64_t>(tensor.values.size()) / tensor.rows;
  return tensor;
}

std::string command_of(const LessonCase& c) {
  std::string rows;
  std::istringstream in(c.rows);
  for (std::string row; std::getline(in, row, ';');) rows += " '" + row + "'";
  return "printf '%s\\n'" + rows + " | halfulp quantize --recipe " + c.recipe +
         (*c.options == 0 ? "" : " ") + c.options + " --values";
}

struct Answer {
  std::string text;    ///< as `halfulp quantize --values` prints it
  std::string errors;  ///< empty for recipes whose values are those of a transform
};

Answer answer_of(const LessonCase& c) {
  const RecipeOptions options = options_of(c);
  const recipes::QuantRecipe recipe = make_recipe(options);
  const recipes::Inputs inputs = make_inputs(options, recipe);
  const TextTensor tensor = tensor_of(c.rows);
  const recipes::TensorView view{tensor.rows, tensor.columns, tensor.values};
  const recipes::Quantized q = recipes::quantize(recipe, view, inputs);
  const std::vector<double> values = recipes::dequantize(recipe, q, inputs);
  Answer answer;
  const BlockText form(recipe);
  form.append_head(answer.text, q);
  form.append_blocks(answer.text, q, recipes::lines_that_could_differ(recipe, view, inputs), values);
  if (recipe.transform_reg < 0 && recipe.scale.reg >= 0) {
    const recipes::ErrorReport report = recipes::compare(tensor.values, values);
    char line[80];
    std::snprintf(line, sizeof line, "largest error %.6g, relative error %.4g %%", report.largest_error(),
                  100 * report.relative());
    answer.errors = line;
  }
  return answer;
}

std::string lesson_text(const Lesson& lesson) {
  std::string text = std::string(lesson.title) + "\n";
  for (const LessonCase& c : lesson.cases) {
    const Answer answer = answer_of(c);
    text += std::string("\n") + c.caption + "\n$ " + command_of(c) + "\n" + answer.text +
            (answer.errors.empty() ? "" : answer.errors + "\n");
  }
  return text + "\n" + lesson.point + "\n";
}

nlohmann::ordered_json lesson_json(const Lesson& lesson) {
  nlohmann::ordered_json json = {{"name", lesson.name}, {"title", lesson.title}, {"point", lesson.point}};
  for (const LessonCase& c : lesson.cases) {
    const Answer answer = answer_of(c);
    json["cases"].push_back({{"caption", c.caption},
                             {"command", command_of(c)},
                             {"output", answer.text},
                             {"errors", answer.errors}});
  }
  return json;
}

/// A lesson of either kind as it is shown.
struct Shown {
  std::string name, title, text;
  nlohmann::ordered_json json;
};

Shown find_lesson(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Lesson& lesson : lessons()) {
    if (name == lesson.name) return {name, lesson.title, lesson_text(lesson), lesson_json(lesson)};
    names.emplace_back(lesson.name);
  }
  for (const AttentionLesson& lesson : attention_lessons()) {
    const std::string text = name == lesson.name ? lesson.text() : "";
    if (!text.empty()) return {name, lesson.title, std::string(lesson.title) + "\n\n" + text, {{"name", name}, {"title", lesson.title}, {"text", text}}};
    names.emplace_back(lesson.name);
  }
  const std::string near = nearest_names(name, names);
  throw InputError("lesson " + quoted(name), "unknown",
                   near.empty() ? "`halfulp explain lesson` lists the lessons" : "nearest names: " + near);
}

std::string list_line(const std::string& name, const char* title, bool json) {
  if (json) return nlohmann::ordered_json{{"name", name}, {"title", title}}.dump() + "\n";
  return name + std::string(18 - name.size(), ' ') + title + "\n";
}

int run_explain_lesson(const std::string& name, const std::string& html, const Globals& globals) {
  Output output;
  if (name.empty()) {
    if (!html.empty()) throw InputError("--html", "a page holds one lesson", "name it");
    for (const Lesson& lesson : lessons()) output.text() += list_line(lesson.name, lesson.title, globals.json);
    for (const AttentionLesson& lesson : attention_lessons()) output.text() += list_line(lesson.name, lesson.title, globals.json);
  } else {
    const Shown lesson = find_lesson(name);
    if (!html.empty()) write_file(html, explain::html_page(lesson.title, "<pre>" + explain::escaped(lesson.text) + "</pre>\n"));
    if (globals.json)
      output.text() += lesson.json.dump() + "\n";
    else if (html.empty())
      output.text() += lesson.text;
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_explain_lesson(CLI::App& explain, const Globals& globals, Runner& runner) {
  CLI::App* command = explain.add_subcommand("lesson", "The worked examples: without NAME their list");
  const auto name = std::make_shared<std::string>(), html = std::make_shared<std::string>();
  command->add_option("NAME", *name, "A lesson");
  command->add_option("--html", *html, "Write one self-contained page instead of text")->type_name("FILE");
  command->footer("Examples:\n  halfulp explain lesson\n  halfulp explain lesson kivi\n  halfulp explain lesson p-saturation");
  command->callback([name, html, &globals, &runner] {
    runner = [name, html, &globals] { return run_explain_lesson(*name, *html, globals); };
  });
}

}  // namespace halfulp::tool
