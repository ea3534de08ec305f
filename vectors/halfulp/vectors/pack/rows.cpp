// Pieces made by several threads and written in order.
#include "halfulp/vectors/pack/rows.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;  ///< of all columns; stays in the second-level cache

}  // namespace

void in_order(std::uint64_t pieces, int threads,
              const std::function<void(std::uint64_t piece, std::vector<std::byte>& buffer)>& make,
              const std::function<void(std::uint64_t piece, std::span<const std::byte> buffer)>& take) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::condition_variable turn;
  std::uint64_t taken = 0;
  std::exception_ptr error;
  const auto worker = [&] {
    std::vector<std::byte> buffer;
    try {
      for (std::uint64_t piece; (piece = next.fetch_add(1)) < pieces;) {
        make(piece, buffer);
        std::unique_lock lock(mutex);
        turn.wait(lock, [&] { return taken == piece || error; });
        if (error) return;
        take(piece, buffer);
        ++taken;
        turn.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      turn.notify_all();
    }
  };
  const auto cores = static_cast<std::uint64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const std::uint64_t team_size =
      std::min(pieces, threads > 0 ? static_cast<std::uint64_t>(threads) : cores);
  {
    std::vector<std::jthread> team;
    for (std::uint64_t i = 1; i < team_size; ++i) team.emplace_back(worker);
    worker();
  }
  if (error) std::rethrow_exception(error);
}

void write_rows(const RowSource& rows, PackWriter& writer, const WriteOptions& options) {
  const Manifest& manifest = rows.manifest();
  const std::size_t count = manifest.columns.size();
  // All columns in one pass, or one pass for each.
  const std::size_t passes = writer.in_order() ? count : 1;
  std::uint64_t row_bytes = 0;
  for (const ColumnInfo& column : manifest.columns) row_bytes += column.row_bytes();
  const std::uint64_t piece_rows =
      std::max<std::uint64_t>(1, kPieceBytes / std::max<std::uint64_t>(1, row_bytes));
  const std::uint64_t pieces = (manifest.rows + piece_rows - 1) / piece_rows;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const auto wanted = [&](std::size_t column) { return passes == 1 || column == pass; };
    const auto rows_of = [&](std::uint64_t piece) {
      return std::min(piece_rows, manifest.rows - piece * piece_rows);
    };
    // Calls visit(column, offset, bytes) for the columns of this pass as they lie in a buffer.
    const auto each = [&](std::uint64_t piece, auto visit) {
      std::size_t offset = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (!wanted(i)) continue;
        const auto bytes = static_cast<std::size_t>(rows_of(piece) * manifest.columns[i].row_bytes());
        visit(i, offset, bytes);
        offset += (bytes + 7) / 8 * 8;
      }
      return offset;
    };
    const auto make = [&](std::uint64_t piece, std::vector<std::byte>& buffer) {
      buffer.resize(each(piece, [](std::size_t, std::size_t, std::size_t) {}));
      std::vector<std::span<std::byte>> columns(count);
      each(piece, [&](std::size_t i, std::size_t offset, std::size_t bytes) {
        columns[i] = std::span(buffer).subspan(offset, bytes);
      });
      rows.fill(piece * piece_rows, rows_of(piece), columns);
    };
    const auto take = [&](std::uint64_t piece, std::span<const std::byte> buffer) {
      each(piece, [&](std::size_t i, std::size_t offset, std::size_t bytes) {
        writer.write(i, buffer.subspan(offset, bytes));
      });
      if (options.progress) {
        const std::uint64_t done = pass * manifest.rows + piece * piece_rows + rows_of(piece);
        options.progress(done, passes * manifest.rows);
      }
    };
    in_order(pieces, options.threads, make, take);
  }
}

}  // namespace halfulp::vectors
