// Fuzzes the readers of text, .memh, C headers and JSON; the first byte chooses. Every input is refused by
// InputError, or gives columns of the stated size whose words fit their formats; accepted lines are written
// again the same.
#include "halfulp/vectors/pack/form_lines.hpp"
#include "tensor_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfulp;
  using namespace halfulp::vectors;
  if (size == 0) return 0;
  constexpr Form kForms[] = {Form::txt, Form::memh, Form::c, Form::json};
  const Form form = kForms[data[0] % 4];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  FormRows rows;
  try {
    rows = read_form(form, text, "fuzz");
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos)
      tensors::fuzz_fail("a message of two lines");
    return 0;
  }
  std::vector<FormField> fields;
  for (const FormColumn& column : rows.columns) {
    fields.push_back(make_field(column.name, column.format, column.words_per_row));
    if (column.words.size() != rows.rows * column.words_per_row)
      tensors::fuzz_fail("a column of another size");
    for (const std::uint64_t word : column.words) {
      if ((word & ~fields.back().mask) != 0) tensors::fuzz_fail("a word too wide");
    }
  }
  if (form == Form::c || form == Form::json) return 0;
  const LineLayout layout(form, fields);
  std::string again(rows.rows * layout.line_bytes(), ' ');
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<const std::byte>> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto& column = bytes.emplace_back();
    for (std::uint64_t word : rows.columns[i].words) {
      for (int b = 0; b < fields[i].word_bytes; ++b, word >>= 8)
        column.push_back(static_cast<std::byte>(word & 0xff));
    }
  }
  for (const auto& column : bytes) columns.emplace_back(column);
  layout.format(columns, rows.rows, std::as_writable_bytes(std::span(again)), true);
  if (again != text.substr(text.find('\n') + 1)) tensors::fuzz_fail("written otherwise");
  return 0;
}
