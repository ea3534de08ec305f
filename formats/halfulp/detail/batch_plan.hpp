// What a BatchCaster holds: the tier it chose and the tables or constants of that tier. Private to the batch engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "halfulp/batch.hpp"
#include "halfulp/detail/simd_kernels.hpp"
#include "halfulp/policy.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::detail {

/// Answers indexed by the whole source word (sources of at most 16 storage bits).
struct DirectTable {
  int code_bytes = 0;               ///< target container: 1, 2, 4 or 8
  std::vector<std::uint8_t> codes;  ///< little or big endian as the machine is: words of code_bytes
  std::vector<bool> refused;        ///< empty when no word is refused
};

/// Answers indexed by word >> shift, with one more bit on top: the bits shifted out are not all zero. f32 sources into
/// 1-byte targets.
/// Within one index all words have one answer; where they do not, or are refused, the entry asks the scalar engine.
struct StickyTable {
  int shift = 17;
  std::vector<std::uint8_t> codes;
  std::optional<std::uint8_t> marker;  ///< a code that no entry has otherwise: "ask"
  std::vector<bool> ask;               ///< used when some entries ask and every code is taken
};

/// Codes of at most 8 bits to f32 with vector look-ups.
using DecodeTable = std::array<std::uint32_t, 256>;

struct BatchPlan {
  FormatSpec from;
  FormatSpec to;
  CastPolicy policy;
  BatchTier tier = BatchTier::scalar;
  std::optional<EncodeConstants> encode;  ///< tier simd
  std::optional<DirectTable> direct;      ///< tier table, one of the two
  std::optional<StickyTable> sticky;
  std::optional<DecodeConstants> decode;  ///< beside `direct`: the same answers by vector look-ups
};

/// The constants of the f32 kernel for this cast; empty where the kernel does not serve it (batch_constants.cpp).
std::optional<EncodeConstants> encode_constants(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy);
/// The constants of the look-up kernel; empty where the table has not the shape it needs.
std::optional<DecodeConstants> decode_constants(const FormatSpec& from, const FormatSpec& to, const DirectTable& table);

DirectTable make_direct_table(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy);
StickyTable make_sticky_table(const FormatSpec& to, const CastPolicy& policy);
BatchResult run_direct(const BatchPlan& plan, const void* in, std::size_t count, void* out);
BatchResult run_sticky(const BatchPlan& plan, const void* in, std::size_t count, void* out);
/// Elements [begin, count) through halfulp::cast.
BatchResult run_scalar(const BatchPlan& plan, const void* in, std::size_t begin, std::size_t count, void* out,
                       std::span<const std::uint32_t> random);

/// The plan for this cast from a small cache, made if absent (batch_cache.cpp).
std::shared_ptr<const BatchPlan> plan_for(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy);

}  // namespace halfulp::detail
