// Plugged: a kernel of a user - a file of answers, a filter, a shared library - as a RowKernel, and what it
// needs to know of the rows.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/printable.hpp"
#include "halfulp/vectors/row_kernel.hpp"
#include "halfulp/vectors/trouble.hpp"

namespace halfulp::vectors {

/// A column as a kernel sees it.
struct KernelColumn {
  std::string name;
  std::string format;
  int word_bytes = 1;
  std::uint64_t words_per_row = 1;
  std::uint64_t unpacked_words = 0;  ///< codes of a row that are packed into its words; 0: they are not

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(words_per_row) * static_cast<std::size_t>(word_bytes);
  }
};

/// The rows that a kernel is run on.
struct RowShape {
  std::string spec;
  std::uint64_t rows = 0;
  std::vector<KernelColumn> inputs;
  std::vector<KernelColumn> outputs;
  /// What else has so many rows, to be put behind a count, or nothing. May be empty.
  std::function<std::string(std::uint64_t rows)> whose_rows = {};

  std::size_t input_bytes() const;  ///< of a row, all columns together
  std::size_t output_bytes() const;
};

/// Fills whole rows of every input column from row `first` on. The spans hold the same number of rows. A
/// filter asks ahead of the jobs that it is given.
using InputRows =
    std::function<void(std::uint64_t first, const std::vector<std::span<std::byte>>& columns)>;

/// A kernel that is ready for its rows.
struct Plugged {
  RowKernel rows;
  /// To be called after the last row: what is only known then. May be empty.
  std::function<std::vector<KernelFinding>()> finish;
  std::string version;  ///< what it says of itself; may be empty
  /// False: the job's input columns may hold anything. Such a kernel loses no rows but the last.
  bool reads_inputs = true;
};

/// What a user names as the kernel under test.
struct Plug {
  std::string name;    ///< shown as what is under test
  std::string option;  ///< how the command line names it, quoted for a shell: `--exec './my cast'`
  /// Makes the kernel for rows of that shape; `source` gives the inputs to a kernel that asks ahead. Throws
  /// InputError for what the user must mend, KernelFailure for a kernel that fails before the first row.
  std::function<Plugged(const RowShape& shape, InputRows source)> open;
};

/// 1234567 as 1,234,567.
std::string grouped_digits(std::uint64_t number);

/// `1 row`, `1,234 rows`: the noun in the singular is given.
std::string counted(std::uint64_t number, std::string_view noun);

/// `60 s` or `1500 ms`.
std::string duration_text(std::chrono::milliseconds time);

/// How long a kernel may make no progress when nothing else is said.
inline constexpr std::chrono::milliseconds kUsualTimeout = std::chrono::seconds(60);

/// ` --timeout S` for a command line; empty for the usual time.
std::string timeout_option(std::chrono::milliseconds time);

/// In single quotes where a shell needs them.
std::string shell_quoted(std::string_view text);

}  // namespace halfulp::vectors
