// Tiles for the matrix instructions, with the exact models' answers and the measured rows.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/report.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::gpu {
namespace {

using accumulation::MmaSpec;

/// Rows of codes that become tiles.
class TileMaker {
 public:
  TileMaker(const MmaKind& kind, std::string_view model) : kind_(kind), spec_(make(kind, model)) {
    other_ = spec_;
    other_.zero_rule = accumulation::ZeroRule::b;
  }

  /// A tile from functions of (row, k) and (column, k) giving codes, and of (row, column) giving c.
  template <class A, class B, class C>
  void add(A a_code, B b_code, C c_word) {
    std::vector<std::vector<std::uint32_t>> a(size(kind_.m)), b(size(kind_.n));
    for (int row = 0; row < kind_.m; ++row) fill(a[size(row)], tiles_.a, [&](int k) { return a_code(row, k); });
    for (int column = 0; column < kind_.n; ++column) fill(b[size(column)], tiles_.b, [&](int k) { return b_code(column, k); });
    for (int row = 0; row < kind_.m; ++row) {
      for (int column = 0; column < kind_.n; ++column) {
        accumulation::Row work;
        work.a = a[size(row)];
        work.b = b[size(column)];
        work.c = c_word(row, column);
        tiles_.c.push_back(work.c);
        tiles_.right_a.push_back(dot_exact(spec_, work));
        tiles_.right_b.push_back(accumulation::has_zero_rule(spec_.model) ? dot_exact(other_, work) : tiles_.right_a.back());
      }
    }
    ++open_;
  }
  void close_class(std::string name, std::uint32_t diagonal = 0) {
    if (open_ != 0) tiles_.classes.push_back({std::move(name), open_, diagonal});
    open_ = 0;
  }
  /// Replaces the model's answer of the last tile by a measured one; they must agree.
  void measured(int row, int column, std::uint32_t result) {
    const std::size_t at = tiles_.right_a.size() - size(kind_.outputs()) + size(row * kind_.n + column);
    if (tiles_.right_a[at] != result || tiles_.right_b[at] != result) throw std::runtime_error("a measured row and its model disagree");
  }
  const MmaTiles& tiles() const { return tiles_; }
  const MmaKind& kind() const { return kind_; }

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }
  static MmaSpec make(const MmaKind& kind, std::string_view model) {
    accumulation::SpecRequest request;
    request.model = model;
    request.format_a = request.format_b = kind.format;
    request.output = kind.output;
    return accumulation::make_spec(request);
  }
  template <class Code>
  void fill(std::vector<std::uint32_t>& codes, std::vector<std::uint32_t>& packed, Code code) {
    const int per_word = 4 / kind_.element_bytes;
    for (int k = 0; k < kind_.k(); ++k) {
      codes.push_back(code(k));
      if (k % per_word == 0) packed.push_back(0);
      packed.back() |= codes.back() << (8 * kind_.element_bytes * (k % per_word));
    }
  }

  const MmaKind& kind_;
  MmaSpec spec_, other_;
  MmaTiles tiles_;
  std::uint32_t open_ = 0;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(counter_random(seed_, count_++)); }
  std::uint32_t below(std::uint32_t n) { return word() % n; }

 private:
  std::uint64_t seed_, count_ = 0;
};

std::uint32_t code_mask(const FormatSpec& spec) { return static_cast<std::uint32_t>(low_mask(spec.width) << spec.storage_shift); }

/// All bits random, NaN and Inf included; every eighth c is zero.
void add_random_bits(TileMaker& maker, int tiles, std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t mask = code_mask(format_spec(maker.kind().format)), c_mask = code_mask(format_spec(maker.kind().output));
  const auto code = [&](int, int) { return random.word() & mask; };
  for (int i = 0; i < tiles; ++i) maker.add(code, code, [&](int, int) { return random.below(8) == 0 ? 0u : random.word() & c_mask; });
  maker.close_class("random bits");
}

/// Finite numbers whose exponents lie within `spread` of the middle, so that alignment cuts often; c of the size of a sum.
void add_aligned(TileMaker& maker, int tiles, std::uint64_t seed) {
  const FormatSpec spec = format_spec(maker.kind().format), out = format_spec(maker.kind().output);
  if (spec.encoding != Encoding::floating) return;
  Random random(seed);
  const auto make = [&random](const FormatSpec& format, int spread) {
    const auto exponent = static_cast<std::uint32_t>(format.bias) + random.below(static_cast<std::uint32_t>(2 * spread)) - static_cast<std::uint32_t>(spread);
    const std::uint32_t fraction = random.word() & static_cast<std::uint32_t>(low_mask(format.fraction_bits));
    const std::uint32_t sign = random.below(2) << (format.width - 1);
    return (sign | exponent << format.fraction_bits | fraction) << format.storage_shift;
  };
  const int spread = spec.exponent_bits <= 4 ? 6 : 8;
  const auto code = [&](int, int) { return make(spec, spread); };
  for (int i = 0; i < tiles; ++i) maker.add(code, code, [&](int, int) { return random.below(4) == 0 ? 0u : make(out, 10); });
  maker.close_class("aligned");
}

/// Small integers: exact in every order, so the answer is the integer sum whatever the unit does.
void add_integers(TileMaker& maker, int tiles, std::uint64_t seed) {
  const FormatSpec spec = format_spec(maker.kind().format), out = format_spec(maker.kind().output);
  static constexpr FormatSpec kInt32 = spec_of("int32");
  Random random(seed);
  const auto number = [](int value, const FormatSpec& to) {
    return static_cast<std::uint32_t>(oracle::cast(kInt32, static_cast<std::uint32_t>(value), to, {}).code);
  };
  for (int i = 0; i < tiles; ++i) {
    std::vector<int> a, b, c;
    const auto draw = [&random](std::vector<int>& all) {
      all.push_back(static_cast<int>(random.below(7)) - 3);
      return all.back();
    };
    maker.add([&](int, int) { return number(draw(a), spec); }, [&](int, int) { return number(draw(b), spec); },
              [&](int, int) { return number(draw(c), out); });
    const int k = maker.kind().k();
    for (int row = 0; row < maker.kind().m; ++row) {
      for (int column = 0; column < maker.kind().n; ++column) {
        int sum = c[static_cast<std::size_t>(row * maker.kind().n + column)];
        for (int j = 0; j < k; ++j) sum += a[static_cast<std::size_t>(row * k + j)] * b[static_cast<std::size_t>(column * k + j)];
        maker.measured(row, column, number(sum, out));
      }
    }
  }
  maker.close_class("integers, exact in any order");
}

/// The vectors on which the two zero rules part; all c = 0.
void add_probes(TileMaker& maker) {
  const MmaKind& kind = maker.kind();
  const auto zero = [](int, int) { return 0u; };
  if (kind.instruction == MmaInstruction::bf16_f32) {
    maker.add([](int, int) { return 0x1980u; }, [](int, int) { return 0x1980u; }, zero);  // 16 * (2^-76 * 2^-76)
    maker.close_class("zero rule: 16 * 2^-76 * 2^-76");
    maker.add([](int, int k) { return k == 1 ? 0x3800u : 0u; }, [](int, int k) { return k == 0 ? 0x7f00u : k == 1 ? 0x3800u : 0u; }, zero);
    maker.close_class("zero rule: 0 * 2^127 + 2^-15 * 2^-15");
  }
  if (kind.instruction == MmaInstruction::f16_f16) {
    maker.add([](int, int k) { return k == 0 ? 0x0c00u : k == 1 ? 0x0001u : 0u; }, [](int, int k) { return k == 0 ? 0x0800u : k == 1 ? 0x0001u : 0u; }, zero);
    maker.close_class("zero rule: 2^-12 * 2^-13 + 2^-24 * 2^-24");
  }
}

struct MeasuredSet {
  std::string gpu, format, output, inputs, results, model, c;
  std::size_t k = 0;
};

std::vector<MeasuredSet> measured_sets(const std::string& folder) {
  std::istringstream table(read_text(folder + "/sets.tsv"));
  std::string line;
  std::getline(table, line);
  std::vector<MeasuredSet> sets;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    MeasuredSet set;
    fields >> set.gpu >> set.format >> set.output >> set.k >> set.inputs >> set.results >> set.model >> set.c;
    sets.push_back(set);
  }
  return sets;
}

/// Rows of the sets that this kind's model reproduces: eight rows to a tile, row i of them as output (i, i); the rest of the tile is
/// every other pairing. Short rows are padded with zeros.
void add_measured(TileMaker& maker, const MeasuredSet& set, const std::string& folder, std::size_t rows) {
  const std::string inputs = read_text(folder + "/" + set.inputs + ".bin"), results = read_text(folder + "/" + set.results + ".bin");
  const std::size_t bytes = static_cast<std::size_t>(maker.kind().element_bytes), result_bytes = set.output == "f32" ? 4 : 2;
  const std::size_t row_bytes = 2 * set.k * bytes + 4;
  const auto word = [](const std::string& text, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text.at(at + i))) << (8 * i);
    return value;
  };
  static constexpr FormatSpec kF32 = spec_of("f32"), kF16 = spec_of("f16");
  for (std::size_t first = 0; first + 8 <= rows; first += 8) {
    const auto code = [&](int row, int k, std::size_t side) -> std::uint32_t {
      if (static_cast<std::size_t>(k) >= set.k) return 0;
      return word(inputs, (first + static_cast<std::size_t>(row % 8)) * row_bytes + (side * set.k + static_cast<std::size_t>(k)) * bytes, bytes);
    };
    const auto c_word = [&](int row, int) -> std::uint32_t {
      if (set.c == "zero") return 0;
      const std::uint32_t c = word(inputs, (first + static_cast<std::size_t>(row % 8)) * row_bytes + 2 * set.k * bytes, 4);
      return set.output == "f32" ? c : static_cast<std::uint32_t>(oracle::cast(kF32, c, kF16, {}).code);
    };
    maker.add([&](int row, int k) { return code(row, k, 0); }, [&](int column, int k) { return code(column, k, 1); }, c_word);
    for (int i = 0; i < 8; ++i) maker.measured(i, i, word(results, (first + static_cast<std::size_t>(i)) * result_bytes, result_bytes));
  }
  maker.close_class("rows measured on " + set.gpu, 8);
}

}  // namespace

void prepare_mma(const std::string& data, const std::string& measured_folder, int tiles) {
  std::filesystem::create_directories(data + "/mma");
  const std::vector<MeasuredSet> sets = measured_sets(measured_folder);
  for (const MmaKind& kind : kMmaKinds) {
    for (int family = 0; family < 4; ++family) {
      const std::string_view model = kind.models[static_cast<std::size_t>(family)];
      if (model.empty()) continue;
      TileMaker maker(kind, model);
      const std::uint64_t seed = 1000 * static_cast<std::uint64_t>(kind.instruction) + 1;
      const int count = std::max(1, tiles * 128 / kind.outputs());
      add_random_bits(maker, count, seed);
      add_aligned(maker, count, seed + 1);
      add_integers(maker, std::max(1, count / 4), seed + 2);
      add_probes(maker);
      const bool wgmma = kind.name.starts_with("wgmma");
      for (const MeasuredSet& set : sets) {
        const bool same_unit = set.model == model && set.format == kind.format && set.output == kind.output;
        if (same_unit && wgmma == (set.c == "zero" && kind.format.size() == 4 && set.model == "hopper_fp8_wgmma")) {
          add_measured(maker, set, measured_folder, std::min<std::size_t>(1000, 8 * static_cast<std::size_t>(tiles)));
        }
      }
      write_tiles(tiles_path(data, kind, family), maker.tiles());
    }
  }
}

}  // namespace halfulp::gpu
