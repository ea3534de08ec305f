// Forms of one row per line: text and .memh. Every line has the same length, so rows are formatted column
// by column.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/pack/form_fields.hpp"

namespace halfulp::vectors {

class LineLayout {
 public:
  /// For Form::txt or Form::memh.
  LineLayout(Form form, std::vector<FormField> fields);

  const std::vector<FormField>& fields() const { return fields_; }
  std::size_t line_bytes() const { return line_.size(); }  ///< with the line end
  /// The first line, with its end: the fields and the title.
  std::string head(std::string_view title) const;
  /// Formats rows: columns[i] holds the words of field i from the first of these rows on. `out` has
  /// line_bytes() for each; what stands between the words is written only where `out` is `fresh`.
  void format(std::span<const std::span<const std::byte>> columns, std::uint64_t rows,
              std::span<std::byte> out, bool fresh) const;
  /// Parses one line without its end into words, appended to the columns. False when it is no row.
  bool parse(std::string_view line, std::vector<FormColumn>& columns) const;

 private:
  Form form_;
  std::vector<FormField> fields_;
  std::vector<std::size_t> offsets_;  ///< of the fields in a line
  std::size_t word_step_ = 0;         ///< bytes between two words of a row beside their digits
  std::string line_;                  ///< a line with blanks for digits
};

}  // namespace halfulp::vectors
