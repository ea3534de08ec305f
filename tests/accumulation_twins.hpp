// Compares the engine with its exact twin on random rows, class by class, and says how many of each were compared.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "accumulation_rows.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/sum_exact.hpp"

namespace accumulation_twins {

using namespace accumulation_rows;  // NOLINT: one test program

/// Products per row: a chunk, a little more or less, several chunks.
inline std::size_t length_of(const MmaSpec& spec, RowMaker& maker) {
  const auto chunk = static_cast<std::size_t>(spec.model.chunk == 0 ? 16 : spec.model.chunk);
  switch (maker.below(8)) {
    case 0: return 1 + maker.below(chunk);
    case 1: return chunk + 1 + maker.below(chunk);
    case 2: return 3 * chunk;
    default: return chunk;
  }
}

/// `chunks` per model, spread over its specs; at least three terms of class `near` within F + 2 of the largest exponent.
inline void compare_model(const halfulp::accumulation::AccumulationModel& model, std::size_t chunks, std::uint64_t seed) {
  const std::vector<MmaSpec> specs = specs_of(model);
  std::array<std::size_t, kClasses.size()> compared = {};
  std::size_t different = 0;
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const MmaSpec& spec = specs[s];
    const halfulp::accumulation::Engine engine(spec);
    RowMaker maker(spec, seed + s);
    const std::size_t each = chunks / specs.size() + 1;
    for (std::size_t done = 0; done < each;) {
      const RowClass row_class = maker.below(2) == 0 ? RowClass::near : kClasses[maker.below(kClasses.size())];
      const OwnedRow owned = maker.row(row_class, length_of(spec, maker));
      const std::uint32_t twin = halfulp::accumulation::dot_exact(spec, owned.row()), got = engine.dot(owned.row());
      const std::size_t chunk = spec.model.chunk == 0 ? owned.a.size() : static_cast<std::size_t>(spec.model.chunk);
      const std::size_t made = (owned.a.size() + chunk - 1) / chunk;
      done += made;
      compared[static_cast<std::size_t>(row_class)] += made;
      if (twin == got) continue;
      if (++different > 3) continue;
      std::string text;
      char word[16];
      for (const auto* part : {&owned.a, &owned.b, &owned.scale_a, &owned.scale_b}) {
        for (const std::uint32_t w : *part) text.append(word, static_cast<std::size_t>(std::snprintf(word, sizeof word, " %x", w)));
        text += " |";
      }
      ADD_FAILURE() << model.name << ", spec " << s << ", " << name_of(row_class) << ": twin " << std::hex << twin << ", engine " << got
                    << " for" << text << " c " << owned.c;
    }
  }
  EXPECT_EQ(different, 0u) << model.name;
  std::printf("%-20s %2zu specs, chunks:", std::string(model.name).c_str(), specs.size());
  for (const RowClass c : kClasses) std::printf(" %s %zu", name_of(c), compared[static_cast<std::size_t>(c)]);
  std::printf("\n");
  for (const std::size_t count : compared) EXPECT_GT(count, 0u) << model.name;
}

}  // namespace accumulation_twins
