// Random rows that bring a model to its edges, by class; each class says what it is meant to reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/oracle/limits.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/words.hpp"

namespace accumulation_rows {

using halfulp::FormatSpec;
using halfulp::accumulation::MmaSpec;
using halfulp::accumulation::Output;
using halfulp::accumulation::Row;

/// near: all exponents of operands within 4 of each other, so that all products lie within F + 2 (15 or more) of the largest.
enum class RowClass : std::uint8_t { near, raw, specials, extremes, cancellation, large_c };
inline constexpr std::array kClasses = {RowClass::near,     RowClass::raw,          RowClass::specials,
                                        RowClass::extremes, RowClass::cancellation, RowClass::large_c};
inline const char* name_of(RowClass c) {
  constexpr const char* kNames[] = {"near", "raw bits", "specials", "extremes", "cancellation", "large c"};
  return kNames[static_cast<std::size_t>(c)];
}

struct OwnedRow {
  std::vector<std::uint32_t> a, b, scale_a, scale_b;
  std::uint32_t c = 0;
  Row row() const { return {a, b, c, scale_a, scale_b}; }
};

class RowMaker {
 public:
  RowMaker(const MmaSpec& spec, std::uint64_t seed)
      : spec_(spec), a_(spec.a), b_(spec.b), c_(halfulp::accumulation::format_of(spec.output)),
        scale_(halfulp::accumulation::scale_block(spec) != 0 ? halfulp::accumulation::scale_format(spec) : spec.a), random_(seed) {}

  /// `count` products; `chunk`: the products that cancel each other stand in one chunk.
  OwnedRow row(RowClass row_class, std::size_t count) {
    OwnedRow r;
    r.a.resize(count);
    r.b.resize(count);
    const int spread = row_class == RowClass::near ? 2 : 6;
    for (std::size_t k = 0; k < count; ++k) {
      r.a[k] = word(row_class, a_, spread);
      r.b[k] = word(row_class, b_, spread);
    }
    r.c = c_word(row_class);
    if (row_class == RowClass::cancellation) {
      for (std::size_t k = 0; k + 1 < count; k += 2 + below(2)) {  // pairs x*y, -x*y, some with one bit of difference
        r.a[k + 1] = a_.spec.is_signed ? r.a[k] ^ a_.sign() : r.a[k];
        r.b[k + 1] = r.b[k] ^ (below(4) == 0 ? std::uint32_t{1} << b_.spec.storage_shift : 0);
        if (!a_.finite(r.a[k + 1])) r.a[k + 1] = r.a[k];
        if (!b_.finite(r.b[k + 1])) r.b[k + 1] = r.b[k];
      }
    }
    const auto block = static_cast<std::size_t>(halfulp::accumulation::scale_block(spec_));
    for (std::size_t first = 0; block != 0 && first < count; first += block) {
      r.scale_a.push_back(scale(row_class));
      r.scale_b.push_back(scale(row_class));
    }
    return r;
  }

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  struct Words {
    explicit Words(const FormatSpec& s) : spec(s) {
      if (spec.storage_bits() > 16) return;
      for (std::uint32_t word = 0; word < std::uint32_t{1} << spec.storage_bits(); ++word) finite_.push_back(by_value(word));
    }
    FormatSpec spec;
    std::uint32_t sign() const { return spec.is_signed ? std::uint32_t{1} << (spec.width - 1 + spec.storage_shift) : 0; }
    bool finite(std::uint32_t word) const { return finite_.empty() ? by_value(word) : finite_[word]; }
    /// A number with that exponent field.
    std::uint32_t with_field(std::uint64_t field, std::uint64_t random) const {
      const std::uint64_t fraction = random & ((std::uint64_t{1} << spec.fraction_bits) - 1);
      const std::uint64_t negative = spec.is_signed ? (random >> 60) & 1 : 0;
      return static_cast<std::uint32_t>(((negative << (spec.width - 1)) | (field << spec.fraction_bits) | fraction) << spec.storage_shift);
    }
    std::uint64_t fields() const { return std::uint64_t{1} << spec.exponent_bits; }

   private:
    bool by_value(std::uint32_t word) const {
      return spec.encoding != halfulp::Encoding::floating || halfulp::oracle::value_of(spec, word).is_finite();
    }
    std::vector<bool> finite_;  // empty for formats of more than 16 bits
  };

  std::uint32_t raw(const Words& f) { return static_cast<std::uint32_t>((random_() & ((std::uint64_t{1} << f.spec.width) - 1)) << f.spec.storage_shift); }

  std::uint32_t word(RowClass row_class, const Words& f, int spread) {
    if (f.spec.encoding != halfulp::Encoding::floating) return raw(f);
    for (;;) {
      std::uint32_t w = raw(f);
      if (row_class == RowClass::raw) return w;
      if (row_class == RowClass::specials && below(8) == 0) {  // codes at the top, at zero, and anywhere
        return below(2) == 0 ? f.with_field(f.fields() - 1, random_()) : f.with_field(0, below(2) << 60);
      }
      if (row_class == RowClass::extremes) {
        const std::uint64_t field = below(2) == 0 ? below(3) : f.fields() - 1 - below(3);
        w = f.with_field(field % f.fields(), random_());
      } else if (row_class == RowClass::near || below(16) != 0) {  // exponents around the middle of the format
        const auto middle = static_cast<std::uint64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(f.spec.bias), f.fields() - 1));
        const std::uint64_t low = middle > static_cast<std::uint64_t>(spread) ? middle - static_cast<std::uint64_t>(spread) : 0;
        w = f.with_field(std::min(low + below(2 * static_cast<std::uint64_t>(spread) + 1), f.fields() - 1), random_());
      } else if (below(2) == 0) {
        w = f.with_field(below(2), random_());  // zeros and subnormals
      }
      if (row_class == RowClass::specials || f.finite(w)) return w;
    }
  }

  std::uint32_t c_word(RowClass row_class) {
    if (c_.spec.encoding != halfulp::Encoding::floating) return static_cast<std::uint32_t>(random_());
    if (row_class == RowClass::raw) return raw(c_);
    if (row_class == RowClass::specials && below(4) == 0) return c_.with_field(c_.fields() - 1, below(2) == 0 ? random_() : below(2) << 60);
    const auto bias = static_cast<std::uint64_t>(c_.spec.bias);
    switch (row_class) {
      case RowClass::extremes: return c_.with_field(below(2) == 0 ? below(3) : c_.fields() - 2 - below(2), random_());
      case RowClass::large_c: return c_.with_field(std::min(bias + 4 + below(bias - 4), c_.fields() - 2), random_());
      default: break;
    }
    if (below(8) == 0) return 0;
    return c_.with_field(bias - 4 + below(9), random_());
  }

  std::uint32_t scale(RowClass row_class) {
    const Words& f = scale_;
    const FormatSpec& format = f.spec;
    for (;;) {
      std::uint32_t w = raw(f);
      if (row_class == RowClass::raw || row_class == RowClass::specials) return w;
      if (row_class != RowClass::extremes) {
        w = format.exponent_bits == 8 ? f.with_field(static_cast<std::uint64_t>(format.bias) - 3 + below(7), random_()) : w;
      }
      if (f.finite(w)) return w;
    }
  }

  MmaSpec spec_;
  Words a_, b_, c_, scale_;
  std::mt19937_64 random_;
};

/// Every pair of formats and every output of a model: its plain specs, under both zero rules where there are two.
inline std::vector<MmaSpec> specs_of(const halfulp::accumulation::AccumulationModel& model) {
  std::vector<MmaSpec> specs;
  for (const std::string_view a : halfulp::words_of(model.inputs)) {
    for (const std::string_view b : halfulp::words_of(model.inputs)) {
      if (a != b && !model.mixed_inputs) continue;
      for (const std::string_view output : halfulp::words_of(model.outputs)) {
        MmaSpec spec = halfulp::accumulation::make_spec({.model = std::string(model.name), .format_a = std::string(a),
                                                              .format_b = std::string(b), .output = std::string(output)});
        specs.push_back(spec);
        if (!halfulp::accumulation::has_zero_rule(model)) continue;
        spec.zero_rule = halfulp::accumulation::ZeroRule::b;
        specs.push_back(spec);
      }
    }
  }
  return specs;
}

}  // namespace accumulation_rows
