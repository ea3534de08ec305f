// What the engine prepares once: operands as integers, and the constants of a chunk. Private to the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation::detail {

enum class OperandKind : std::uint8_t { finite, plus_infinity, minus_infinity, nan };

/// significand * 2^(exponent - places of the format); of a special the significand is 0.
struct EngineOperand {
  std::int32_t significand = 0;
  std::int16_t exponent = 0;
  OperandKind kind = OperandKind::finite;
  double value = 0;  ///< the number, 0 of a special; flatten() leaves it
};

/// Exponent of a zero that takes no part: below every sum of exponents, and two of them fit an int.
inline constexpr int kAbsentExponent = -30000;

/// Words of one format as operands: by table up to 16 bits.
class OperandDecoder {
 public:
  /// `zero_exponent`: of a zero. `lowest_exponent`: subnormals are normalised down to it (widening to f16).
  OperandDecoder(const FormatSpec& format, int zero_exponent, int lowest_exponent);
  /// From now on numbers come as significands at exponent 0. For formats by table without negative exponents (E2M1).
  void flatten();
  EngineOperand operator()(std::uint32_t word) const { return table_.empty() ? decode(word) : table_[word]; }
  void decode(const std::uint32_t* words, std::size_t count, EngineOperand* out) const {
    for (std::size_t i = 0; i < count; ++i) out[i] = (*this)(words[i]);
  }

 private:
  EngineOperand decode(std::uint32_t word) const;
  FormatSpec format_;
  int zero_exponent_, lowest_exponent_;
  std::vector<EngineOperand> table_;
};

/// Words of one format as float32, exactly.
class FloatDecoder {
 public:
  /// `flushes`: a subnormal of the format is +0.
  FloatDecoder(const FormatSpec& format, bool flushes);
  float operator()(std::uint32_t word) const;

 private:
  bool flushes_;
  std::vector<float> table_;  ///< empty: the words are float32 bits
};

struct EnginePlan {
  explicit EnginePlan(const MmaSpec& spec);

  MmaSpec spec;
  int product_places = 0;   ///< fraction bits of a product, scale significands included
  int lift = 0;             ///< F - product_places
  int floor = kNoExponent;  ///< of the largest exponent
  int zero_exponent = kZeroExponent;  ///< of c
  OperandDecoder a, b, scale;
  FloatDecoder float_a, float_b;  ///< only where float32 arithmetic needs them
  ExactDot exact;                 ///< of Scheme::exact

  std::size_t chunk(std::size_t count) const {
    return spec.model.chunk == 0 ? (count == 0 ? 1 : count) : static_cast<std::size_t>(spec.model.chunk);
  }
};

/// Operands of one chunk, decoded, and its scale words from its first block on.
struct ChunkOperands {
  const EngineOperand* a = nullptr;
  const EngineOperand* b = nullptr;
  std::size_t count = 0;
  const std::uint32_t* scale_a = nullptr;
  const std::uint32_t* scale_b = nullptr;
};

/// One chunk of a fused, widened, scaled, two-stage or integer model.
std::uint32_t engine_chunk(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c);

/// c as a term: significand * 2^(exponent - places).
struct CTerm {
  std::int64_t significand;
  int exponent;
  OperandKind kind;
};
CTerm c_term(const EnginePlan& plan, std::uint32_t c);

/// CDNA3: both forms (engine_two_stage.cpp).
std::uint32_t two_stage(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c);

/// True where rows are float32 arithmetic or an exact dot, and engine_chunk does not serve.
bool is_row_scheme(Scheme scheme);
/// A row, or a stretch of one that begins at a chunk, of those schemes.
std::uint32_t float_row(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t c);

/// A chunk of at most 2^20 products through the fused unit of the plan, whatever its scheme (a half of FP8 mma.sync).
std::uint32_t fused_unit(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c);

/// A whole row: operands decoded, or as words where is_row_scheme().
struct RowOperands {
  const EngineOperand *a = nullptr, *b = nullptr;
  const std::uint32_t *a_words = nullptr, *b_words = nullptr;
  std::size_t count = 0;
  const std::uint32_t *scale_a = nullptr, *scale_b = nullptr;
};
/// The result of a row, promotion included. The caller holds a DefaultFloatModes.
std::uint32_t row_result(const EnginePlan& plan, const RowOperands& row, std::uint32_t c);

/// Chunks in ascending k.
std::uint32_t engine_chain(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c);

/// Adds a promoted piece to an accumulator of the output format.
std::uint32_t promoted(const MmaSpec& spec, std::uint32_t accumulator, std::uint32_t partial, const std::uint32_t* scale_a,
                       const std::uint32_t* scale_b);

/// IEEE addition in the output format (int32: modulo 2^32), NaN canonical.
std::uint32_t add_words(Output output, std::uint32_t x, std::uint32_t y);

/// sum * 2^unit as a word of the output: f32 cut to `f32_fraction_bits`, f16 to nearest even, from the overflow threshold
/// on Inf, zero +0.
std::uint32_t output_word(Output output, int f32_fraction_bits, std::int64_t sum, int unit);
/// The same for f32, to nearest even.
std::uint32_t nearest_f32_word(std::int64_t sum, int unit);

/// x cut toward zero after `right` bits; 63 and more give 0.
inline std::int64_t cut(std::int64_t magnitude, int right) { return right > 62 ? 0 : magnitude >> right; }

}  // namespace halfulp::accumulation::detail
