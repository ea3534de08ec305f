// Writing a pack in another form, and reading it back.
#include "halfulp/vectors/pack/forms.hpp"

#include <algorithm>
#include <cstring>

#include "halfulp/tensors/output_file.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/pack/form_lines.hpp"
#include "halfulp/vectors/pack/form_texts.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kPiece = 1 << 20;  ///< bytes of text, or of a column, that are written at once

bool is_lines(Form form) {
  return form == Form::txt || form == Form::memh;
}

void copy_pack(const PackReader& pack, const std::string& path, const std::function<void()>& between) {
  const auto writer = write_pack(path, pack.manifest());
  for (std::size_t i = 0; i < pack.manifest().columns.size(); ++i) {
    for (std::span<const std::byte> rest = pack.column(i); !rest.empty();) {
      const auto piece = rest.first(std::min(rest.size(), kPiece));
      writer->write(i, piece);
      rest = rest.subspan(piece.size());
      if (between) between();
    }
  }
  writer->commit();
}

void write_lines(Form form, const PackReader& pack, tensors::OutputFile& file, int threads,
                 const std::function<void()>& between) {
  const Manifest& manifest = pack.manifest();
  const LineLayout layout(form, form_fields(form, manifest));
  file.write(layout.head(form_title(manifest)));
  const std::uint64_t piece_rows = std::max<std::uint64_t>(1, kPiece / layout.line_bytes());
  const auto make = [&](std::uint64_t piece, std::vector<std::byte>& buffer) {
    const std::uint64_t first = piece * piece_rows, rows = std::min(piece_rows, manifest.rows - first);
    std::vector<std::span<const std::byte>> columns;
    for (const FormField& field : layout.fields()) {
      const std::uint64_t row_bytes = manifest.columns[field.column].row_bytes();
      columns.push_back(pack.column(field.column).subspan(first * row_bytes, rows * row_bytes));
    }
    const bool fresh = buffer.size() != rows * layout.line_bytes();
    buffer.resize(rows * layout.line_bytes());
    layout.format(columns, rows, buffer, fresh);
  };
  const auto take = [&](std::uint64_t, std::span<const std::byte> buffer) {
    file.write(buffer);
    if (between) between();
  };
  in_order((manifest.rows + piece_rows - 1) / piece_rows, threads, make, take);
}

FormRows read_lines(Form form, std::string_view text, std::string_view origin) {
  const std::size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  const std::size_t semicolon = first.find("; ");
  const auto title =
      semicolon == std::string_view::npos ? std::nullopt : parse_title(first.substr(semicolon + 2));
  if (end == std::string_view::npos || !title)
    throw bad_line(origin, 1, "it does not state the fields, the SPEC and the rows");
  std::vector<FormField> fields;
  for (std::string_view rest = first.substr(0, semicolon); !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    if (const auto field = parse_field(rest.substr(0, blank)); field && fields.size() < 64)
      fields.push_back(*field);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  std::uint64_t digits = 0;
  for (const FormField& field : fields)
    digits += field.words_per_row * static_cast<std::uint64_t>(field.digits);
  if (digits == 0 || digits > text.size() - end) throw bad_line(origin, 1, "no row has so many digits");
  const LineLayout layout(form, fields);
  if (layout.head(first.substr(semicolon + 2)) != text.substr(0, end + 1))
    throw bad_line(origin, 1, "it does not state the fields");
  FormRows rows{title->spec, title->rows, {}};
  for (const FormField& field : fields)
    rows.columns.push_back({field.name, field.format, field.words_per_row, {}});
  std::string_view rest = text.substr(end + 1);
  for (std::uint64_t row = 0; row < title->rows; ++row) {
    const std::size_t length = rest.find('\n');
    if (length == std::string_view::npos || !layout.parse(rest.substr(0, length), rows.columns))
      throw bad_line(origin, row + 2, "it is no row of the fields that line 1 states");
    rest.remove_prefix(length + 1);
  }
  if (!rest.empty()) throw bad_line(origin, title->rows + 2, "more lines come than line 1 states");
  return rows;
}

}  // namespace

std::uint64_t word_at(std::span<const std::byte> column, std::uint64_t index, int word_bytes) {
  return with_word_type(word_bytes, [&](auto word) {
    std::memcpy(&word, column.data() + index * sizeof word, sizeof word);
    return std::uint64_t{word};
  });
}

std::string word_digits(const FormField& field, std::uint64_t word) {
  std::string text = "0x";
  for (int shift = 4 * (field.digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string form_file(Form form) {
  return "vectors." + std::string(form == Form::c ? "h" : name_of(form));
}

void check_form(Form form, const Manifest& manifest) {
  const std::uint64_t most = form == Form::json ? kMostJsonRows : form == Form::c ? kMostCRows : ~0ull;
  if (manifest.is_tensor() && form != Form::npz && form != Form::safetensors)
    throw InputError("form " + std::string(name_of(form)), "a quantized tensor has no rows of vectors",
                     "use npz or safetensors");
  if (manifest.rows <= most) return;
  throw InputError("form " + std::string(name_of(form)),
                   std::to_string(manifest.rows) + " rows, and it takes at most " + std::to_string(most),
                   "use npz, safetensors, memh or txt, or a lower --level");
}

void write_form(Form form, const PackReader& pack, const std::string& path, int threads,
                const std::function<void()>& between) {
  check_form(form, pack.manifest());
  if (form == Form::npz || form == Form::safetensors) return copy_pack(pack, path, between);
  tensors::OutputFile file(path);
  if (is_lines(form))
    write_lines(form, pack, file, threads, between);
  else
    file.write(form == Form::c ? c_text(pack) : json_text(pack));
  file.commit();
}

FormRows form_rows(Form form, const PackReader& pack) {
  const Manifest& manifest = pack.manifest();
  FormRows rows{manifest.spec, manifest.rows, {}};
  for (const FormField& field : form_fields(form, manifest)) {
    FormColumn column{field.name, field.format, field.words_per_row, {}};
    const std::uint64_t count = manifest.rows * field.words_per_row;
    for (std::uint64_t i = 0; i < count; ++i)
      column.words.push_back(word_at(pack.column(field.column), i, field.word_bytes) & field.mask);
    rows.columns.push_back(std::move(column));
  }
  return rows;
}

FormRows read_form(Form form, std::string_view text, std::string_view origin) {
  switch (form) {
    case Form::txt:
    case Form::memh: return read_lines(form, text, origin);
    case Form::c: return read_c_text(text, origin);
    case Form::json: return read_json_text(text, origin);
    case Form::npz:
    case Form::safetensors: break;
  }
  throw InputError("form " + std::string(name_of(form)), "it is no text", "open it with read_pack()");
}

}  // namespace halfulp::vectors
