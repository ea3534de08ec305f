// The oracle is independent of the engine: it includes no file that decides, and it uses nothing that
// FormatSpec derives.
//
// Also: Boost stays out of the public headers, and no file grows beyond 300 lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

struct Source {
  std::string name;
  std::vector<std::string> lines;
};

std::vector<Source> oracle_sources() {
  std::vector<Source> sources;
  const std::filesystem::path folder = HALFULP_SOURCE_DIR "/reference/halfulp/oracle";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    Source source{entry.path().filename().string(), {}};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) source.lines.push_back(line);
    sources.push_back(std::move(source));
  }
  return sources;
}

std::string without_comment(const std::string& line) {
  return line.substr(0, line.find("//"));
}

TEST(OracleIncludes, ThereAreSourcesToCheck) {
  const auto sources = oracle_sources();
  for (const char* name :
       {"exact.cpp", "value.cpp", "limits.cpp", "grid.cpp", "nearest.cpp", "thresholds.cpp"}) {
    const bool found =
        std::any_of(sources.begin(), sources.end(), [&](const Source& s) { return s.name == name; });
    EXPECT_TRUE(found) << name;
  }
}

TEST(OracleIncludes, OnlyDataHeadersTheOracleBoostAndTheStandardLibraryAreIncluded) {
  constexpr std::array data = {"halfulp/config.hpp", "halfulp/spec.hpp", "halfulp/policy.hpp",
                               "halfulp/formats.hpp"};
  const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  int includes = 0;
  for (const Source& source : oracle_sources()) {
    for (const std::string& line : source.lines) {
      if (!std::regex_search(line, std::regex(R"(^\s*#\s*include)"))) continue;
      ++includes;
      std::smatch match;
      ASSERT_TRUE(std::regex_search(line, match, directive)) << source.name << ": " << line;
      const std::string path = match[2];
      const bool standard = match[1] == "<" && path.find_first_of("/.") == std::string::npos;
      const bool boost = path.rfind("boost/multiprecision/", 0) == 0;
      const bool oracle = path.rfind("halfulp/oracle/", 0) == 0 && path.find("..") == std::string::npos;
      const bool is_data = std::find(data.begin(), data.end(), path) != data.end();
      EXPECT_TRUE(standard || boost || oracle || is_data) << source.name << " includes " << path;
      EXPECT_FALSE(boost && source.name.ends_with(".hpp"))
          << source.name << " brings Boost into a public header";
    }
  }
  EXPECT_GT(includes, 20);
}

/// Files of reference/halfulp/accumulation that make up the exact twin.
bool is_accumulation_twin(const std::string& name) {
  return name.rfind("sum_exact", 0) == 0 || name.rfind("exact_number", 0) == 0;
}

TEST(OracleIncludes, TheAccumulationTwinIncludesNothingThatTheEngineDecides) {
  constexpr std::array allowed = {"halfulp/config.hpp", "halfulp/spec.hpp", "halfulp/formats.hpp", "halfulp/accumulation/model.hpp",
                                  "halfulp/accumulation/sum_exact.hpp", "halfulp/accumulation/detail/exact_number.hpp",
                                  "halfulp/accumulation/detail/sum_exact_parts.hpp"};
  const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  int files = 0, includes = 0;
  const std::filesystem::path folder = HALFULP_SOURCE_DIR "/reference/halfulp/accumulation";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !is_accumulation_twin(name)) continue;
    ++files;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, directive)) continue;
      ++includes;
      const std::string path = match[2];
      const bool standard = match[1] == "<" && path.find_first_of("/.") == std::string::npos;
      const bool boost = path.rfind("boost/multiprecision/", 0) == 0;
      const bool is_allowed = std::find(allowed.begin(), allowed.end(), path) != allowed.end();
      EXPECT_TRUE(standard || boost || is_allowed || path.rfind("halfulp/oracle/", 0) == 0) << name << " includes " << path;
      EXPECT_FALSE(boost && entry.path().parent_path().filename() != "detail") << name << " brings Boost into a public header";
    }
  }
  EXPECT_EQ(files, 6);
  EXPECT_GT(includes, 15);
}

TEST(OracleIncludes, TheAttentionTwinIncludesNothingThatTheEngineDecides) {
  constexpr std::array allowed = {"halfulp/config.hpp", "halfulp/spec.hpp", "halfulp/policy.hpp", "halfulp/formats.hpp", "halfulp/accumulation/model.hpp",
                                  "halfulp/accumulation/models.hpp", "halfulp/accumulation/sum_exact.hpp", "halfulp/accumulation/detail/exact_number.hpp",
                                  "halfulp/attention/kernel_spec.hpp", "halfulp/attention/problem.hpp", "halfulp/attention/kernel_exact.hpp",
                                  "halfulp/attention/detail/kernel_exact_number.hpp"};
  const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  int files = 0, includes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HALFULP_SOURCE_DIR "/reference/halfulp/attention")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.rfind("kernel_exact", 0) != 0) continue;
    ++files;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, directive)) continue;
      ++includes;
      const std::string path = match[2];
      const bool standard = match[1] == "<" && path.find_first_of("/.") == std::string::npos;
      const bool is_allowed = std::find(allowed.begin(), allowed.end(), path) != allowed.end();
      EXPECT_TRUE(standard || is_allowed || path.rfind("halfulp/oracle/", 0) == 0) << name << " includes " << path;
    }
  }
  EXPECT_EQ(files, 4);
  EXPECT_GT(includes, 15);
}

TEST(OracleIncludes, NoNameThatTheSpecDerivesIsUsed) {
  const std::regex derived(
      R"(\b(storage_bits|storage_bytes|sign_bits|sign_mask|magnitude_mask|has_infinity|has_nan|infinity_magnitude|)"
      R"(largest_magnitude|min_exponent|valid|low_mask|bit_width|uint128)\b)");
  for (const Source& source : oracle_sources()) {
    for (const std::string& line : source.lines) {
      EXPECT_FALSE(std::regex_search(without_comment(line), derived)) << source.name << ": " << line;
    }
  }
}

TEST(OracleIncludes, EveryFileSaysWhatItIsAndStaysShort) {
  for (const Source& source : oracle_sources()) {
    ASSERT_FALSE(source.lines.empty()) << source.name;
    EXPECT_EQ(source.lines[0].rfind("// ", 0), 0u) << source.name << " begins without a description";
    EXPECT_LE(source.lines.size(), 300u) << source.name;
  }
}

}  // namespace
