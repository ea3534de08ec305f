// Documents that tests print: the committed file must be what the test would write today.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace halfulp {

/// Compares docs/NAME with `text`. With HALFULP_WRITE_DOCS set in the environment the file is written
/// first.
inline void expect_document(const std::string& name, const std::string& text) {
  const std::string path = std::string(HALFULP_SOURCE_DIR) + "/docs/" + name;
  if (std::getenv("HALFULP_WRITE_DOCS")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::stringstream committed;
  committed << file.rdbuf();
  std::istringstream want(text);
  std::istringstream have(committed.str());
  std::string want_line;
  std::string have_line;
  for (int line = 1; std::getline(want, want_line); ++line) {
    have_line.clear();
    std::getline(have, have_line);
    ASSERT_EQ(have_line, want_line) << path << ":" << line << "; HALFULP_WRITE_DOCS=1 writes it anew";
  }
  EXPECT_FALSE(std::getline(have, have_line)) << path << " goes on where the document ends";
}

}  // namespace halfulp
