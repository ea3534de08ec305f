// Manifest: what a pack of vectors holds - the SPEC spelled out, how the rows were chosen, and its columns.
//
// Decides: what a valid manifest is. Its text is JSON, the same bytes for the same pack on every machine.
// Nothing in a manifest is trusted: names, sizes and hashes are checked before a column is opened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/names.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {

inline constexpr int kPackVersion = 1;

/// What a column is for. A kernel gets the inputs and gives the expected ones.
enum class Role : std::uint8_t {
  input,
  expected,
  alternative,  ///< a second admissible answer for the expected column of the same name without
                ///< `_alternative`
  flags,        ///< bits that index Manifest::flags
  status,       ///< bits of CastFlags, for casts
};

/// A column: row-major little-endian words of a format, storage_bytes() each; the first dimension counts
/// the rows.
struct ColumnInfo {
  std::string name;  ///< [a-z][a-z0-9_]{0,31}
  Role role = Role::input;
  std::string format;  ///< of halfulp; flags and status are uint8, or uint32
  std::vector<std::uint64_t> shape;
  std::string file = {};    ///< NAME.bin; empty in forms that hold all columns in one file
  std::string sha256 = {};  ///< of the column's bytes; 64 lower-case digits

  std::uint64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  std::uint64_t words_per_row() const;
  int word_bytes() const;           ///< 1, 2, 4 or 8
  std::uint64_t row_bytes() const;  ///< words_per_row() * word_bytes()
};

/// Why rows are in the pack. Bit i of a flags column stands for entry i.
struct FlagNote {
  std::string name;        ///< e.g. `tie`
  std::string tests;       ///< what it tests
  std::string matters;     ///< why it matters
  std::string goes_wrong;  ///< what a kernel that fails it does
};

struct Manifest {
  std::string generator;   ///< `halfulp VERSION`
  std::string kind;        ///< cast, decode, recipe, mma, attention; or tensor: what `halfulp quantize` writes
  std::string spec;        ///< in the command's grammar; parsed again by readers
  std::string details;     ///< JSON object: every policy field, or every step of the recipe, spelled out
  std::uint64_t rows = 0;  ///< of every column; of a tensor, the first dimension of its first column
  // Of vectors; a tensor has none of these four, and no flags.
  std::uint64_t seed = 0;
  Level level = Level::thresholds;
  Completeness completeness = Completeness::sampled;
  std::uint64_t refused = 0;  ///< source words of the level that the policy refuses: left out
  std::vector<ColumnInfo> columns;
  std::vector<FlagNote> flags;

  const ColumnInfo* find(std::string_view name) const;  ///< nullptr when there is none
  bool is_tensor() const { return kind == "tensor"; }
};

/// The manifest of `rows` rows chosen as a sample of the SPEC's at a level: without columns, flags and details.
Manifest sampled_manifest(std::string kind, std::string spec, Level level, std::uint64_t seed, std::uint64_t rows);

inline constexpr std::uint64_t kLargestManifest = 16 << 20;  ///< bytes

/// Throws InputError, naming `origin`, for what no pack may be: unknown kinds, formats and names, names
/// twice, columns whose rows differ, sizes of 2^63 bytes and more, flags that no column can hold. Files and
/// hashes are not looked at.
void check_manifest(const Manifest& manifest, std::string_view origin);

/// JSON with two-space indents and a final newline. Keys in a fixed order; `file` and `sha256` where they
/// are not empty.
std::string manifest_text(const Manifest& manifest);

/// Reads and checks everything that can be checked without the columns: what manifest_text() writes, and
/// nothing else, but for white space and the order of keys. Throws InputError naming `origin`, and the byte
/// where there is one.
Manifest parse_manifest(std::string_view text, std::string_view origin);

}  // namespace halfulp::vectors

namespace halfulp {
template <>
inline constexpr auto kNames<vectors::Role> =
    std::to_array<Name<vectors::Role>>({{vectors::Role::input, "input"},
                                        {vectors::Role::expected, "expected"},
                                        {vectors::Role::alternative, "alternative"},
                                        {vectors::Role::flags, "flags"},
                                        {vectors::Role::status, "status"}});
}  // namespace halfulp
