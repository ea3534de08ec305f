// The part of the confusion matrix with the large tables: dialects of casts from 32 and 64 bits to 16 bits.
#include <gtest/gtest.h>

#include <cstdio>

#include "confusion.hpp"

namespace halfulp::vectors {
namespace {

TEST(WideConfusion, every_dialect_of_casts_to_16_bits_is_named) {
  int casts = 0;
  for (const Format& to : kFormats) {
    for (const Format& from : kFormats) {
      if (!is_source(from) || from.name == to.name || is_quick(from, to) || to.spec.width > 16) continue;
      const auto list = dialects(from, to);
      if (list.empty()) continue;
      ++casts;
      const Section section = examine(from, to);
      std::printf("%s\n", section.spec.c_str());
      for (std::size_t i = 0; i < section.rows.size(); ++i)
        std::printf("  %s%s\n", section.rows[i].c_str(), section.answers[i].c_str());
    }
  }
  EXPECT_GE(casts, 6);  // tf32, f32 and f64 to f16 and bf16
}

}  // namespace
}  // namespace halfulp::vectors
