// Tiles for the matrix instructions, with the exact models' answers and the measured rows.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/prepare/tile_maker.hpp"
#include "gpu_check/report.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::gpu {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(counter_random(seed_, count_++)); }
  std::uint32_t below(std::uint32_t n) { return word() % n; }

 private:
  std::uint64_t seed_, count_ = 0;
};

std::uint32_t code_mask(const FormatSpec& spec) { return static_cast<std::uint32_t>(low_mask(spec.width) << spec.storage_shift); }

FormatSpec scale_spec(const MmaKind& kind) { return kind.scales() != 0 ? format_spec(kind.scale_format) : FormatSpec{}; }

/// All bits random, NaN and Inf included; every eighth c is zero.
void add_random_bits(TileMaker& maker, int tiles, std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t mask_a = code_mask(format_spec(maker.kind().a)), mask_b = code_mask(format_spec(maker.kind().b)),
                      c_mask = code_mask(format_spec(maker.kind().output));
  const auto scale = [&](int, int) { return random.word() & 0xff; };
  for (int i = 0; i < tiles; ++i) {
    maker.add([&](int, int) { return random.word() & mask_a; }, [&](int, int) { return random.word() & mask_b; },
              [&](int, int) { return random.below(8) == 0 ? 0u : random.word() & c_mask; }, scale, scale);
  }
  maker.close_class("random bits");
}

/// Finite numbers whose exponents lie within `spread` of the middle, so that alignment cuts often; c of the size of a sum.
void add_aligned(TileMaker& maker, int tiles, std::uint64_t seed) {
  const FormatSpec a = format_spec(maker.kind().a), b = format_spec(maker.kind().b), out = format_spec(maker.kind().output), of_scale = scale_spec(maker.kind());
  if (a.encoding != Encoding::floating) return;
  Random random(seed);
  const auto make = [&random](const FormatSpec& format, int spread) {
    const auto exponent = static_cast<std::uint32_t>(format.bias) + random.below(static_cast<std::uint32_t>(2 * spread)) - static_cast<std::uint32_t>(spread);
    const std::uint32_t fraction = random.word() & static_cast<std::uint32_t>(low_mask(format.fraction_bits));
    const std::uint32_t sign = format.is_signed ? random.below(2) << (format.width - 1) : 0u;
    return (sign | exponent << format.fraction_bits | fraction) << format.storage_shift;
  };
  const auto spread = [](const FormatSpec& format) { return format.exponent_bits <= 4 ? std::min(6, format.bias) : 8; };
  const auto scale = [&](int, int) { return make(of_scale, 6); };
  for (int i = 0; i < tiles; ++i) {
    maker.add([&](int, int) { return make(a, spread(a)); }, [&](int, int) { return make(b, spread(b)); },
              [&](int, int) { return random.below(4) == 0 ? 0u : make(out, 10); }, scale, scale);
  }
  maker.close_class("aligned");
}

std::uint32_t code_of(int value, const FormatSpec& to) {
  static constexpr FormatSpec kInt32 = spec_of("int32");
  return static_cast<std::uint32_t>(oracle::cast(kInt32, static_cast<std::uint32_t>(value), to, {}).code);
}

/// Small integers, scales of 1, 2 and 4: exact in every order, so the answer is the integer sum whatever the unit does.
void add_integers(TileMaker& maker, int tiles, std::uint64_t seed) {
  const MmaKind& kind = maker.kind();
  const FormatSpec a_spec = format_spec(kind.a), b_spec = format_spec(kind.b), out = format_spec(kind.output), of_scale = scale_spec(kind);
  Random random(seed);
  for (int i = 0; i < tiles; ++i) {
    std::vector<int> a, b, c, scale_a, scale_b;
    const auto draw = [&random](std::vector<int>& all) {
      all.push_back(static_cast<int>(random.below(7)) - 3);
      return all.back();
    };
    const auto draw_scale = [&random](std::vector<int>& all) {
      all.push_back(1 << random.below(3));
      return all.back();
    };
    maker.add([&](int, int) { return code_of(draw(a), a_spec); }, [&](int, int) { return code_of(draw(b), b_spec); },
              [&](int, int) { return code_of(draw(c), out); }, [&](int, int) { return code_of(draw_scale(scale_a), of_scale); },
              [&](int, int) { return code_of(draw_scale(scale_b), of_scale); });
    const auto at = [](const std::vector<int>& all, int line, int of_line, int j) { return of_line == 0 ? 1 : all[static_cast<std::size_t>(line * of_line + j)]; };
    for (int row = 0; row < kind.m; ++row) {
      for (int column = 0; column < kind.n; ++column) {
        int sum = at(c, row, kind.n, column);
        for (int k = 0; k < kind.k(); ++k) {
          const int block = kind.scales() == 0 ? 0 : k / kind.scale_block;
          sum += at(a, row, kind.k(), k) * at(b, column, kind.k(), k) * at(scale_a, row, kind.scales(), block) * at(scale_b, column, kind.scales(), block);
        }
        maker.measured(row, column, code_of(sum, out));
      }
    }
  }
  maker.close_class("integers, exact in any order");
}

/// The vectors on which the two zero rules part; all c = 0.
void add_probes(TileMaker& maker, std::string_view model) {
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
  const auto one = [&kind](int, int) { return code_of(1, format_spec(kind.b)); };
  if (model == "blackwell_mxf8f6f4") {
    const auto scale = [](int, int) { return 127u - 76; };
    maker.add([&kind](int, int) { return code_of(1, format_spec(kind.a)); }, one, zero, scale, scale);
    maker.close_class("zero rule: 32 * 2^-76 * 2^-76 by scales");
  }
  if (model == "blackwell_mxf4") {  // the only rule that sees the second block rounds the sum to zero
    maker.add([](int, int k) { return k == 0 ? 0x2u : k == 32 ? 0xau : 0u; }, one, zero, [](int, int block) { return block == 0 ? 127u - 75 : 127u - 81; },
              [](int, int block) { return block == 0 ? 127u - 74 : 127u - 81; });
    maker.close_class("zero rule: 2^-149 - 2^-162 by scales");
  }
  if (model == "blackwell_mxf4nvf4") {  // 0.5 * 0.5 under the least scales, beside a group of zeros under the largest
    const auto scale = [](int, int block) { return block == 0 ? 0x7eu : 0x01u; };
    maker.add([](int, int k) { return k == 16 ? 0x1u : 0u; }, [](int, int) { return 0x1u; }, zero, scale, scale);
    maker.close_class("zero rule: zeros * 448 * 448 + 2^-2 * 2^-18");
  }
}

/// 4 * 4 - 4 * 4 + c for c = 2^e around the last place that the unit keeps beside 4 * 4: c itself or nothing. Shows F.
void add_alignment(TileMaker& maker, const accumulation::AccumulationModel& model) {
  if (model.scheme != accumulation::Scheme::fused && model.scheme != accumulation::Scheme::scaled_groups) return;
  const MmaKind& kind = maker.kind();
  const FormatSpec a = format_spec(kind.a), b = format_spec(kind.b), out = format_spec(kind.output);
  static constexpr FormatSpec kF32 = spec_of("f32");
  const auto one = [&kind](int, int) { return code_of(1, scale_spec(kind)); };
  const int top = model.scheme == accumulation::Scheme::fused ? 4 : 0;  // groups of scaled FP4 are aligned by their scales alone
  const int last = top - model.fraction_bits;
  const auto c_word = [&](int exponent) { return static_cast<std::uint32_t>(oracle::cast(kF32, static_cast<std::uint32_t>(127 + exponent) << 23, out, {}).code); };
  const auto exponent = [last](int row, int column) { return last + 3 - (row + column) % 8; };
  maker.add([&](int, int k) { return k == 0 ? code_of(4, a) : k == 1 ? code_of(-4, a) : 0u; }, [&](int, int k) { return code_of(k < 2 ? 4 : 0, b); },
            [&](int row, int column) { return c_word(exponent(row, column)); }, one, one);
  for (int row = 0; row < kind.m; ++row) {
    for (int column = 0; column < kind.n; ++column) {
      const int e = exponent(row, column);
      maker.measured(row, column, e >= last ? c_word(e) : 0);
    }
  }
  maker.close_class("alignment: what is kept beside 4 * 4 - 4 * 4");
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
  const std::size_t bytes = static_cast<std::size_t>(maker.kind().element_bits / 8), result_bytes = set.output == "f32" ? 4 : 2;
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
      add_alignment(maker, accumulation::find_model(model));
      add_probes(maker, model);
      const bool wgmma = kind.unit() == MmaUnit::wgmma;
      for (const MeasuredSet& set : sets) {
        const bool same_unit = set.model == model && set.format == kind.a && set.format == kind.b && set.output == kind.output;
        if (same_unit && wgmma == (set.c == "zero" && kind.a.size() == 4 && set.model == "hopper_fp8_wgmma")) {
          add_measured(maker, set, measured_folder, std::min<std::size_t>(1000, 8 * static_cast<std::size_t>(tiles)));
        }
      }
      write_tiles(tiles_path(data, kind, family), maker.tiles());
    }
  }
}

}  // namespace halfulp::gpu
