// Goals of `halfulp gen`: millions of vectors a second and core, made and written to a file in memory
// (/dev/shm); and of `halfulp verify --got`: its speed beside that of reading the file.
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
#include "halfulp/vectors/kernels/got.hpp"
#include "halfulp/vectors/pack/form_lines.hpp"
#include "halfulp/vectors/pack/rows.hpp"
#include "halfulp/vectors/verify.hpp"

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

/// The right answers of every word of f32 as a raw file, which goes away with it.
class AllAnswers {
 public:
  AllAnswers() : path_(memory_path("answers")) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 32, kRows = 1 << 20;
    if (std::filesystem::space("/dev/shm").available < kBytes + (kBytes >> 3)) throw Skip{"/dev/shm has no room for 4 GiB"};
    tensors::OutputFile file(path_);
    std::vector<std::byte> codes(kRows);
    std::vector<std::span<std::byte>> columns(source().manifest().columns.size());
    columns[1] = codes;
    for (std::uint64_t first = 0; first < kBytes; first += kRows) {
      source().fill(first, kRows, columns);
      file.write(codes);
    }
    file.commit();
  }
  ~AllAnswers() { std::filesystem::remove(path_); }
  AllAnswers(const AllAnswers&) = delete;
  AllAnswers& operator=(const AllAnswers&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// `verify cast:f32:e4m3 --level exhaustive --got FILE` on one thread, against reading the file in the same pieces.
Comparison verification() {
  const AllAnswers answers;
  const double rows = static_cast<double>(std::uint64_t{1} << 32);
  const Kernel reading{[&] {
                         constexpr std::uint64_t kPiece = 1 << 15;
                         const tensors::Bytes file = tensors::open_file(answers.path());
                         std::vector<std::byte> piece(kPiece);
                         for (std::uint64_t at = 0; at < file->size(); at += kPiece) file->read(at, piece);
                       },
                       rows};
  const Kernel verifying{[&] {
                           const vectors::Verdict verdict =
                               vectors::verify(vectors::got(answers.path()), vectors::parse_spec("cast:f32:e4m3"),
                                               {.level = vectors::Level::exhaustive, .seed = 0, .threads = 1, .progress = {}});
                           if (!verdict.passed() || verdict.tally.checked != std::uint64_t{1} << 32) throw Skip{"WRONG VERDICT"};
                         },
                         rows};
  return compare(verifying, reading);
}

}  // namespace

void add_goals(bool /*quick*/) {
  add_goal("vectors: verification of answers", 0.8, "x reading", verification);
  add_goal("vectors: raw binary", 130, "M vectors/s", raw_binary);
  add_goal("vectors: text", 90, "M vectors/s", text);
  add_goal("vectors: hashed pack", 60, "M vectors/s", hashed_pack);
}

}  // namespace halfulp::bench
