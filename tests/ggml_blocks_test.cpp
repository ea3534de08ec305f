// ggml/* against the gguf package: stored scales, minima, codes and dequantized values, bit for bit.
//
// Runs tests/third_party/ggml_blocks.py with $HALFULP_PYTHON, else .venv/bin/python of the repository;
// skips without gguf.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_data.hpp"

namespace halfulp::test {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string format;
  std::vector<double> values;
};

fs::path repository() {
  return HALFULP_SOURCE_DIR;
}

/// Blocks where both answer by definition: finite, and 1/d finite. (ggml leaves conversions out of range
/// undefined.)
std::vector<Case> cases() {
  std::vector<Case> all;
  const FormatSpec f32 = spec_of("f32");
  for (const std::string format : {"q8_0", "q4_0", "q4_1", "mxfp4"}) {
    const recipes::QuantRecipe& recipe = recipes::named_recipe("ggml/" + format);
    const auto add = [&](const Tensor& tensor) {
      const recipes::Blocks blocks = recipes::blocks_of(recipe, tensor.rows, tensor.columns);
      for (std::int64_t i = 0; i < blocks.count(); ++i) {
        Case one{format, {}};
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for_each_place(blocks, i, [&](std::size_t place) {
          one.values.push_back(tensor.values[place]);
          low = std::min(low, tensor.values[place]);
          high = std::max(high, tensor.values[place]);
        });
        const double span = format == "q4_1" ? high - low : std::max(high, -low);
        const double most = format == "q4_1" ? 0x1.fffffep127 : 0x1p128;
        if (span != 0 && (span < 0x1p-110 || span > most)) continue;
        all.push_back(one);
      }
    };
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Tensor plain = stratified(recipe, 10, 320, seed, kFiniteFillings, f32);
      add(plain);
      add(aimed_at_ties(recipe, plain, {}, seed, f32));
    }
    for (const int e :
         {-100, -37, -5, 0, 3, 60, 100}) {  // powers of two and their neighbours as the largest
      for (const double m : {1.0, 0x1.fffffep0, 0x1.8p0, 0x1.000002p0}) {
        add(with_maxima(recipe, std::vector<double>(4, std::ldexp(m, e)),
                        static_cast<std::uint64_t>(e + 200), 1, 32, f32));
      }
    }
  }
  return all;
}

std::string shown(const Case& c) {
  std::string text = c.format + ":";
  char word[32];
  for (const double v : c.values) {
    std::snprintf(word, sizeof word, " %a", v);
    text += word;
  }
  return text;
}

TEST(GgmlBlocks, AgreeWithGguf) {
  const char* chosen = std::getenv("HALFULP_PYTHON");
  const std::string python = chosen != nullptr ? chosen : (repository() / ".venv/bin/python").string();
  const fs::path folder = fs::temp_directory_path() / ("halfulp-ggml-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::vector<Case> all = cases();
  {
    std::ofstream in(folder / "in");
    for (const Case& c : all) {
      in << c.format << std::hex;
      for (const double v : c.values) in << ' ' << code_of(spec_of("f32"), v);
      in << '\n';
    }
  }
  const std::string command = "'" + python + "' '" +
                              (repository() / "tests/third_party/ggml_blocks.py").string() + "' <'" +
                              (folder / "in").string() + "' >'" + (folder / "out").string() + "' 2>'" +
                              (folder / "err").string() + "'";
  const int status = std::system(command.c_str());
  std::ifstream answers(folder / "out");
  std::ifstream error(folder / "err");
  const std::string message((std::istreambuf_iterator<char>(error)), {});
  if (WIFEXITED(status) &&
      (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)) {
    fs::remove_all(folder);
    GTEST_SKIP() << "no Python with gguf (set HALFULP_PYTHON, or pip install gguf into .venv): " << message;
  }
  ASSERT_EQ(status, 0) << message;

  std::uint64_t elements = 0, signs = 0;
  std::string line;
  for (const Case& c : all) {
    ASSERT_TRUE(std::getline(answers, line));
    std::istringstream words(line);
    words >> std::hex;
    std::uint64_t scale = 0, minimum = 0;
    words >> scale >> minimum;
    const recipes::QuantRecipe& recipe = recipes::named_recipe("ggml/" + c.format);
    const recipes::Quantized got = recipes::quantize(recipe, {1, 32, c.values});
    const std::vector<double> values = recipes::dequantize(recipe, got);
    // numpy takes the first element of a zero block where ggml keeps +0, and any zero as a minimum: only
    // signs differ.
    const auto same = [&](std::uint64_t ours, std::uint64_t theirs, std::uint64_t sign) {
      if (ours != theirs && (ours | sign) == sign && (theirs | sign) == sign)
        ++signs;
      else if (ours != theirs)
        return false;
      return true;
    };
    ASSERT_TRUE(same(got.scales.at(0), scale, c.format == "mxfp4" ? 0 : 0x8000))
        << std::hex << got.scales[0] << " " << scale << " " << shown(c);
    if (c.format == "q4_1") {
      ASSERT_TRUE(same(got.zeros.at(0), minimum, 0x8000)) << shown(c);
    }
    for (std::size_t i = 0; i < 32; ++i) {
      std::uint64_t code = 0;
      words >> code;
      ASSERT_EQ(got.codes[i], code) << "element " << i << " of " << shown(c);
      ++elements;
    }
    std::string bar;
    words >> bar;
    for (std::size_t i = 0; i < 32; ++i) {
      std::uint64_t bits = 0;
      words >> bits;
      const double theirs = number_of(spec_of("f32"), bits);
      const bool equal = values[i] == theirs || (std::isnan(values[i]) && std::isnan(theirs));
      ASSERT_TRUE(equal) << "value " << i << ": " << values[i] << " and " << theirs << " of " << shown(c);
    }
  }
  fs::remove_all(folder);
  EXPECT_GT(elements, 100000u);
  RecordProperty("elements", std::to_string(elements));
  std::printf("%llu elements, %llu differing signs of zeros\n", static_cast<unsigned long long>(elements),
              static_cast<unsigned long long>(signs));
}

}  // namespace
}  // namespace halfulp::test
