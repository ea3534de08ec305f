// `halfulp verify` on kernels of users, as JSON, in a folder of the test's own.
#pragma once

#include <nlohmann/json.hpp>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace command {

using nlohmann::json;

class Verify : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const {
    halfulp::test::write_bytes(path(name), bytes);
  }
  std::string read(const std::string& name) const { return halfulp::test::read_bytes(path(name)); }

 private:
  const halfulp::test::TemporaryFolder folder_;
};

inline constexpr char kSame[] = "cast:e4m3:e4m3";  // 256 rows of a byte; `cat` is a right kernel

/// `verify SPEC --exec COMMAND …` as JSON.
inline json exec(const std::string& spec, const std::string& kernel, int status,
                 std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"verify", spec, "--exec", kernel, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result result = run(arguments);
  EXPECT_EQ(result.status, status) << kernel << "\n" << result.out << result.error;
  return json::parse(result.out);
}

inline json got(const std::string& spec, const std::string& file, int status) {
  const Result result = run({"verify", spec, "--got", file, "--json"});
  EXPECT_EQ(result.status, status) << file << result.out << result.error;
  return json::parse(result.out);
}

inline void expect_finding(const json& verdict, const std::string& kind, const std::string& text) {
  ASSERT_FALSE(verdict["findings"].empty()) << verdict;
  EXPECT_EQ(verdict["findings"][0]["kind"], kind) << verdict["findings"];
  EXPECT_NE(verdict["findings"][0]["text"].get<std::string>().find(text), std::string::npos)
      << verdict["findings"];
}

}  // namespace command
