// Rows: what fills a pack. A source makes any range of rows from their numbers alone, so that the bytes are
// the same on every thread count and a pack of 2^32 rows needs no memory of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halfulp/plan.hpp"
#include "halfulp/vectors/pack/pack.hpp"

namespace halfulp::vectors {

class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Without files and hashes.
  virtual const Manifest& manifest() const = 0;
  /// Writes the rows `first` … of every column that is not an empty span: row_bytes() each. Any number of
  /// threads.
  virtual void fill(std::uint64_t first, std::uint64_t count,
                    std::span<const std::span<std::byte>> columns) const = 0;
};

/// Rows of a cast at a level: `input`, `expected`, `expected_alternative` where a row has one, `flags`,
/// `status`. Throws InputError where the level does not apply or no row is left, Disagreement where the
/// oracle and the engine differ.
std::unique_ptr<RowSource> cast_rows(const CastPlan& plan, Level level, std::uint64_t seed);

/// Rows of a decode (decode.hpp): `input`, `expected`, `flags`.
std::unique_ptr<RowSource> decode_rows(const CastPlan& plan, Level level, std::uint64_t seed);

/// Rows of any SPEC that packs are made of, by its prefix; without a level, at the one that suits its kind.
/// Throws InputError.
std::unique_ptr<RowSource> rows_of_spec(std::string_view spec, std::optional<Level> level,
                                        std::uint64_t seed);

struct WriteOptions {
  int threads = 0;  ///< 0: all cores
  /// Called with the rows done and their total, one call at a time; what it throws ends the writing. May be
  /// empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// Fills every column of a pack that write_pack() opened with the manifest of `rows`; commit() is left to
/// the caller.
void write_rows(const RowSource& rows, PackWriter& writer, const WriteOptions& options = {});

/// Makes pieces 0 … pieces-1 on several threads and hands them on in their order. `make` fills the thread's
/// own buffer, `take` is called by one thread at a time. What either throws ends the work and is thrown on.
void in_order(std::uint64_t pieces, int threads,
              const std::function<void(std::uint64_t piece, std::vector<std::byte>& buffer)>& make,
              const std::function<void(std::uint64_t piece, std::span<const std::byte> buffer)>& take);

}  // namespace halfulp::vectors
