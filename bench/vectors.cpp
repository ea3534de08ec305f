// Goals of `halfulp gen`: millions of vectors a second and core, made and written to a file in memory
// (/dev/shm).
//
// The cast is f32 to e4m3 at the level exhaustive, from ranges all over the 2^32 rows. A vector is source,
// code, flags and status: 10 bytes raw, 15 bytes as text.
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "goal.hpp"
#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/output_file.hpp"
#include "halfulp/vectors/pack/form_lines.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::bench {
namespace {

using vectors::RowSource;

constexpr std::uint64_t kPieceRows = 1 << 14;  ///< as many as write_rows() makes at once, about
constexpr std::uint64_t kPieces = 512;

const RowSource& source() {
  static const auto rows = vectors::rows_of_spec("cast:f32:e4m3", vectors::Level::exhaustive, 0);
  return *rows;
}

std::string memory_path(const char* name) {
  const std::string folder = "/dev/shm";
  if (!std::filesystem::is_directory(folder)) throw Skip{"there is no /dev/shm"};
  return folder + "/halfulp-bench-" + std::to_string(getpid()) + name;
}

/// The columns of one piece.
class Piece {
 public:
  Piece() {
    for (const vectors::ColumnInfo& column : source().manifest().columns)
      bytes_.emplace_back(kPieceRows * column.row_bytes());
    for (auto& column : bytes_) spans_.push_back(column);
  }
  /// Rows from one of kPieces places all over the source.
  void fill(std::uint64_t index) {
    first_ = index * (source().manifest().rows / kPieces);
    source().fill(first_, kPieceRows, spans_);
  }
  std::span<const std::byte> column(std::size_t i) const { return bytes_[i]; }
  std::size_t columns() const { return bytes_.size(); }
  void check() const {
    const CastPlan plan = make_plan({.from = "f32", .to = "e4m3", .dialect = {}, .options = {}});
    for (std::uint64_t i = 0; i < kPieceRows; i += 13) {
      const CastResult want = plan(first_ + i);  // every word has a row
      if (tensors::little(column(0).subspan(4 * i, 4)) != first_ + i ||
          tensors::little(column(1).subspan(i, 1)) != want.code ||
          tensors::little(column(3).subspan(i, 1)) != want.flags)
        throw Skip{"WRONG RESULT in row " + std::to_string(first_ + i)};
    }
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::span<std::byte>> spans_;
};

Comparison millions(const std::function<void()>& call, double vectors) {
  const Kernel kernel{call, vectors};
  Comparison c = compare(kernel, kernel);
  c.ratio = c.elements_per_second / 1e6;
  return c;
}

Comparison raw_binary() {
  Piece piece;
  for (std::uint64_t i = 0; i < kPieces; i += 9) {
    piece.fill(i);
    piece.check();
  }
  return millions(
      [&] {
        tensors::OutputFile file(memory_path("raw"));
        for (std::uint64_t i = 0; i < kPieces; ++i) {
          piece.fill(i);
          for (std::size_t c = 0; c < piece.columns(); ++c) file.write(piece.column(c));
        }
      },
      static_cast<double>(kPieces * kPieceRows));
}

Comparison text() {
  Piece piece;
  const vectors::LineLayout layout(vectors::Form::txt,
                                   vectors::form_fields(vectors::Form::txt, source().manifest()));
  std::vector<std::byte> lines(kPieceRows * layout.line_bytes());
  bool fresh = true;
  return millions(
      [&] {
        tensors::OutputFile file(memory_path("text"));
        for (std::uint64_t i = 0; i < kPieces; ++i) {
          piece.fill(i);
          std::vector<std::span<const std::byte>> columns;
          for (const vectors::FormField& field : layout.fields())
            columns.push_back(piece.column(field.column));
          layout.format(columns, kPieceRows, lines, fresh);
          fresh = false;
          file.write(lines);
        }
      },
      static_cast<double>(kPieces * kPieceRows));
}

/// Some of the rows as a source of its own: those from 2^-7 on, where every code of E4M3 is.
class Slice final : public RowSource {
 public:
  Slice() : manifest_(source().manifest()) {
    manifest_.rows = kPieces * kPieceRows;
    for (vectors::ColumnInfo& column : manifest_.columns) column.shape = {manifest_.rows};
  }
  const vectors::Manifest& manifest() const override { return manifest_; }
  void fill(std::uint64_t first, std::uint64_t count,
            std::span<const std::span<std::byte>> columns) const override {
    source().fill(0x3c000000 + first, count, columns);
  }

 private:
  vectors::Manifest manifest_;
};

/// A whole pack with its SHA-256, as `halfulp gen --threads 1` writes it.
Comparison hashed_pack() {
  const Slice rows;
  return millions(
      [&] {
        const auto writer = vectors::write_pack(memory_path("pack"), rows.manifest());
        vectors::write_rows(rows, *writer, {.threads = 1, .progress = {}});
        writer->stage();
      },
      static_cast<double>(rows.manifest().rows));
}

}  // namespace

void add_goals() {
  add_goal("vectors: raw binary", 130, "M vectors/s", raw_binary);
  add_goal("vectors: text", 90, "M vectors/s", text);
  add_goal("vectors: hashed pack", 60, "M vectors/s", hashed_pack);
}

}  // namespace halfulp::bench
