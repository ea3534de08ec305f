// Columns are compared in pieces with those that the rows give; see pack_facts.hpp.
#include "halfulp/vectors/pack_facts.hpp"

#include <algorithm>
#include <cstring>

#include "halfulp/error.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/pack/cast_facts.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kPiece = 1 << 16;  ///< rows

bool same_names(const std::vector<FlagNote>& a, const std::vector<FlagNote>& b) {
  return std::ranges::equal(a, b, {}, &FlagNote::name, &FlagNote::name);
}

/// Writes the bytes of a column's rows from `first` on.
using Fill = std::function<void(std::uint64_t first, std::uint64_t count, Role role, std::span<std::byte> out)>;

/// From the rows of the manifest's level, whose words the pack has been found to hold.
Fill made_again(const Expected& expected, const Manifest& manifest) {
  const bool decode = manifest.kind == "decode";
  std::shared_ptr<RowSource> source = decode ? decode_rows(expected.plan(), manifest.level, manifest.seed)
                                             : cast_rows(expected.plan(), manifest.level, manifest.seed);
  return [source = std::move(source)](std::uint64_t first, std::uint64_t count, Role role, std::span<std::byte> out) {
    std::vector<std::span<std::byte>> columns;
    for (const ColumnInfo& column : source->manifest().columns)
      columns.push_back(column.role == role ? out : std::span<std::byte>());
    source->fill(first, count, columns);
  };
}

Fill word_by_word(const Expected& expected, const Manifest& manifest, std::span<const std::byte> input) {
  const FactsOf facts(expected, manifest.kind == "decode" ? FactsKind::decode : FactsKind::cast);
  return [facts, input, bytes = static_cast<std::size_t>(expected.plan().from->storage_bytes())](
             std::uint64_t first, std::uint64_t count, Role role, std::span<std::byte> out) {
    const std::size_t size = out.size() / count;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, &input[static_cast<std::size_t>(first + i) * bytes], bytes);
      const CastFacts row = facts(word);
      const std::uint64_t value = role == Role::flags ? row.flags : row.status;
      std::memcpy(&out[static_cast<std::size_t>(i) * size], &value, size);
    }
  };
}

}  // namespace

void require_facts(const Expected& expected, const PackReader& pack, const CastColumns& columns, const PackRows& rows, const std::string& path) {
  const Manifest& manifest = pack.manifest();
  const Fill fill = rows.of_level ? made_again(expected, manifest) : word_by_word(expected, manifest, columns.input);
  const bool known = same_names(manifest.flags, manifest.kind == "decode" ? decode_notes() : cast_notes());
  std::vector<std::byte> piece;
  for (std::size_t c = 0; c < manifest.columns.size(); ++c) {
    const ColumnInfo& column = manifest.columns[c];
    if (column.role != Role::status && (column.role != Role::flags || !known)) continue;
    const std::size_t size = column.row_bytes();
    if (column.format != (column.role == Role::flags ? "uint32" : "uint8") || column.words_per_row() != 1) {
      throw InputError("pack '" + printable(path, 200) + "', column " + column.name, "flags are one uint32 per row, a status is one uint8",
                       "make it again with `halfulp gen`");
    }
    for (std::uint64_t first = 0; first < manifest.rows; first += kPiece) {
      const std::uint64_t count = std::min(kPiece, manifest.rows - first);
      piece.resize(static_cast<std::size_t>(count) * size);
      fill(first, count, column.role, piece);
      const auto held = pack.column(c).subspan(static_cast<std::size_t>(first) * size, piece.size());
      const auto at = std::ranges::mismatch(held, piece).in1 - held.begin();
      if (static_cast<std::size_t>(at) == piece.size()) continue;
      throw InputError("pack '" + printable(path, 200) + "', row " + std::to_string(first + static_cast<std::uint64_t>(at) / size),
                       "its column " + column.name + " is not what this row gives", "make it again with `halfulp gen`");
    }
  }
}

}  // namespace halfulp::vectors
