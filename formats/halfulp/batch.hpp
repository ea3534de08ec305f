// Spans in, spans out: the batch engine. It decides nothing: every element equals halfulp::cast (cast.hpp), its twin.
//
// A BatchCaster is a plan made once for two formats and a policy, then run on any number of spans from any thread.
// Containers are those of FormatSpec::storage_bytes(): one element of 1, 2, 4 or 8 bytes per code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "halfulp/policy.hpp"
#include "halfulp/spec.hpp"

namespace halfulp {

/// Outcome of a batch. A refusal stops it: elements before `done` are written, element `done` was refused, and what
/// the output holds from there on is not specified.
struct BatchResult {
  std::size_t done = 0;              ///< number of elements cast; the whole input unless refused
  Refusal refusal = Refusal::none;   ///< of element `done`

  bool ok() const { return refusal == Refusal::none; }
  friend bool operator==(const BatchResult&, const BatchResult&) = default;
};

/// How a plan computes.
enum class BatchTier : std::uint8_t {
  simd,    ///< vector arithmetic: f32 into floating formats of at most 8 bits under ties_to_even
  table,   ///< a table of the engine's own answers: sources of at most 16 bits, and f32 into targets of at most 8 bits
  scalar,  ///< halfulp::cast, element by element
};

/// How results are written. `streaming` bypasses the caches: for outputs much larger than they are.
enum class BatchStore : std::uint8_t { cached, streaming };

struct BatchOptions {
  std::span<const std::uint32_t> random = {};  ///< one word per element; needed by Rounding::stochastic, else ignored
  BatchStore store = BatchStore::cached;
};

namespace detail {
struct BatchPlan;

/// Types whose objects may be read as container words: integers and floating-point numbers of 1, 2, 4 or 8 bytes.
template <class T>
concept BatchWord = std::is_arithmetic_v<std::remove_const_t<T>> || std::is_same_v<std::remove_const_t<T>, std::byte>;

BatchResult run_plan(const BatchPlan& plan, const void* in, std::size_t in_bytes, std::size_t count, void* out,
                     std::size_t out_bytes, std::size_t capacity, const BatchOptions& options);
}  // namespace detail

/// A cast from one format to another under one policy. Copies share the plan; run() may be called from many threads.
/// Results do not depend on the SIMD level, nor on the rounding, trap and flush modes of the calling thread.
class BatchCaster {
 public:
  /// Makes the plan, or finds it among the plans made last. Throws std::invalid_argument if a spec is not valid().
  BatchCaster(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy = {});

  /// Casts in[i] to out[i]. The element types must have the storage size of their format (float serves f32), `out` must
  /// be at least as long as `in`, and they must not overlap; std::invalid_argument otherwise, or when random words lack.
  template <detail::BatchWord In, detail::BatchWord Out>
  BatchResult run(std::span<In> in, std::span<Out> out, const BatchOptions& options = {}) const {
    static_assert(!std::is_const_v<Out>, "the output span must be writable");
    return detail::run_plan(*plan_, in.data(), sizeof(In), in.size(), out.data(), sizeof(Out), out.size(), options);
  }

  BatchTier tier() const;
  const FormatSpec& from() const;
  const FormatSpec& to() const;
  const CastPolicy& policy() const;

 private:
  std::shared_ptr<const detail::BatchPlan> plan_;
};

/// One-off form of BatchCaster.
template <detail::BatchWord In, detail::BatchWord Out>
BatchResult cast_batch(const FormatSpec& from, std::span<In> in, const FormatSpec& to, const CastPolicy& policy,
                       std::span<Out> out, const BatchOptions& options = {}) {
  return BatchCaster(from, to, policy).run(in, out, options);
}

/// True when every finite number of `spec` is an f32 number, so that decoding loses nothing.
bool decodes_exactly(const FormatSpec& spec);

namespace detail {
/// The plan of decode_batch; throws std::invalid_argument unless decodes_exactly(from).
BatchCaster decoder(const FormatSpec& from);
}  // namespace detail

/// Codes to f32 words (or floats), exactly: cast(from, code, f32, CastPolicy{}). A NaN becomes the quiet NaN of its sign.
/// Throws std::invalid_argument unless decodes_exactly(from), and as BatchCaster::run does.
template <detail::BatchWord In, detail::BatchWord Out>
void decode_batch(const FormatSpec& from, std::span<In> in, std::span<Out> out) {
  detail::decoder(from).run(in, out);
}

/// Names of the SIMD levels that this build has and this processor runs, best first: Highway's AVX3_DL (AVX-512 with VBMI),
/// AVX3 (AVX-512), AVX2, SSE4, SSSE3, NEON ... and SCALAR, where halfulp::cast and its tables do all the work.
std::vector<std::string_view> simd_targets();

/// The level in use.
std::string_view simd_level();

/// Uses only that level from now on, in all threads; an empty name goes back to the best one. False, and no change,
/// when simd_targets() does not have it. For tests, benchmarks and bug reports: results are the same on every level.
bool set_simd_level(std::string_view name);

}  // namespace halfulp
