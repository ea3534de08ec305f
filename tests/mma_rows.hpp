// The measured rows of tests/data/mma_hardware and the committed table that names a model for each set.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace mma_rows {

using halfulp::accumulation::MmaSpec;
using halfulp::accumulation::Output;

struct MeasuredRow {
  std::vector<std::uint32_t> a, b;  ///< container words
  std::uint32_t c = 0;              ///< float32 bits, as the file has them
  std::uint32_t result = 0;         ///< word of the output format
};

struct MeasuredSet {
  std::string gpu, format, output, inputs, results, model;
  bool zero_c = false;
  std::size_t k = 0;
  std::vector<MeasuredRow> rows;

  MmaSpec spec() const {
    return halfulp::accumulation::make_spec({.model = model, .format_a = format, .format_b = format, .output = output});
  }
  /// c as the unit got it: zero, or rounded to the output format.
  std::uint32_t c_of(const MeasuredRow& row) const {
    if (zero_c) return 0;
    static constexpr auto kF32 = halfulp::spec_of("f32"), kF16 = halfulp::spec_of("f16");
    return output == "f32" ? row.c : static_cast<std::uint32_t>(halfulp::oracle::cast(kF32, row.c, kF16, {}).code);
  }
  std::string name() const { return gpu + " " + format + " -> " + output; }
};

inline std::string folder() { return std::string(HALFULP_SOURCE_DIR) + "/tests/data/mma_hardware/"; }

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Little-endian words of 1, 2 or 4 bytes, one after the other.
class Words {
 public:
  explicit Words(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint32_t next(int size) {
    std::uint32_t word = 0;
    for (int i = 0; i < size; ++i) word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_.at(at_++))) << (8 * i);
    return word;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// All sets, in the order of sets.tsv.
inline const std::vector<MeasuredSet>& measured_sets() {
  static const std::vector<MeasuredSet> sets = [] {
    std::vector<MeasuredSet> all;
    std::istringstream table(read_file(folder() + "sets.tsv"));
    std::string line;
    std::getline(table, line);  // names of the columns
    while (std::getline(table, line)) {
      MeasuredSet set;
      std::string k, c;
      std::istringstream fields(line);
      fields >> set.gpu >> set.format >> set.output >> k >> set.inputs >> set.results >> set.model >> c;
      set.k = std::stoul(k);
      set.zero_c = c == "zero";
      const int size = set.format == "tf32" ? 4 : set.format == "f16" || set.format == "bf16" ? 2 : 1;
      Words inputs(read_file(folder() + set.inputs + ".bin")), results(read_file(folder() + set.results + ".bin"));
      while (!inputs.at_end()) {
        MeasuredRow row;
        for (std::size_t i = 0; i < set.k; ++i) row.a.push_back(inputs.next(size));
        for (std::size_t i = 0; i < set.k; ++i) row.b.push_back(inputs.next(size));
        row.c = inputs.next(4);
        row.result = results.next(set.output == "f32" ? 4 : 2);
        set.rows.push_back(std::move(row));
      }
      if (!results.at_end()) throw std::runtime_error(set.results + " has more rows than " + set.inputs);
      all.push_back(std::move(set));
    }
    return all;
  }();
  return sets;
}

}  // namespace mma_rows
