// Some of the measured rows as `halfulp mma` reads and writes them; mma_rows.hpp has all of them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace mma_text {

struct Set {
  std::string name, model, format, output, rows, results;
};

inline std::string file(const std::string& name) {
  std::ifstream in(std::string(HALFULP_SOURCE_DIR) + "/tests/data/mma_hardware/" + name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::uint32_t word_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < size; ++i) word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes.at(at + i))) << (8 * i);
  return word;
}

inline std::string hex_f32(const std::string& format, std::uint32_t code) {
  static constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32");
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(halfulp::cast(halfulp::find_format(format)->spec, code, kF32, {}).code));
  return text;
}

/// One set of every GPU, the wgmma sets with c = 0.
inline std::vector<Set> sets() {
  std::vector<Set> all;
  std::istringstream table(file("sets.tsv"));
  std::string line, last_gpu;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::string gpu, format, output, k_text, inputs, results, model, c;
    std::istringstream(line) >> gpu >> format >> output >> k_text >> inputs >> results >> model >> c;
    const bool wanted = gpu != last_gpu || c == "zero";
    last_gpu = gpu;
    if (!wanted) continue;
    const std::size_t k = std::stoul(k_text), size = format == "tf32" ? 4 : format == "f16" || format == "bf16" ? 2 : 1, result_size = output == "f32" ? 4 : 2;
    const std::string in = file(inputs + ".bin"), out = file(results + ".bin");
    Set set = {gpu + " " + format + " " + output, model, format, output, "", ""};
    for (std::size_t at = 0, row = 0; at < in.size(); ++row) {
      for (int side = 0; side < 2; ++side) {
        for (std::size_t i = 0; i < k; ++i, at += size) set.rows += hex_f32(format, word_at(in, at, size)) + " ";
        set.rows += "| ";
      }
      set.rows += (c == "zero" ? "00000000" : hex_f32("f32", word_at(in, at, 4))) + "\n";
      at += 4;
      set.results += hex_f32(output, word_at(out, row * result_size, result_size)) + "\n";
    }
    all.push_back(std::move(set));
  }
  return all;
}

}  // namespace mma_text
