// JSON: the manifest and one object per row. vectors/schema/pack.schema.json describes it.
#include <nlohmann/json.hpp>

#include "halfulp/vectors/pack/form_texts.hpp"
#include "halfulp/vectors/pack/json_value.hpp"

namespace halfulp::vectors {
namespace {

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

/// The names of the bits that are set, in the order of the bits.
template <class NameOf>
std::string name_list(std::uint64_t bits, NameOf name, std::uint64_t& values) {
  std::string text = "[";
  for (int i = 0; bits >> i != 0; ++i) {
    if ((bits >> i & 1) == 0) continue;
    text += (text.size() > 1 ? ", " : "") + in_quotes(name(i));
    ++values;
  }
  return text + "]";
}

std::uint64_t read_names(const JsonObject& row, const ColumnInfo& column, const Manifest& manifest) {
  std::uint64_t bits = 0;
  for (const JsonValue& item : row.list(column.name)) {
    if (item.kind != JsonValue::Kind::string) row.fail("holds something that is no name", column.name);
    std::uint64_t bit = 0;
    if (column.role == Role::status) {
      if (const auto flag = value_named<Flag>(item.text)) bit = *flag;
    } else {
      for (std::size_t i = 0; i < manifest.flags.size(); ++i) {
        if (manifest.flags[i].name == item.text) bit = 1ull << i;
      }
    }
    if (bit == 0 || (bits & bit) != 0) row.fail("names a bit twice or one that is not there", column.name);
    bits |= bit;
  }
  return bits;
}

void read_words(const JsonObject& row, const FormField& field, std::vector<std::uint64_t>& words) {
  const auto read = [&](const JsonValue& value) {
    const auto word = value.kind == JsonValue::Kind::string && value.text.starts_with("0x") &&
                              value.text.size() == static_cast<std::size_t>(field.digits) + 2
                          ? parse_digits(std::string_view(value.text).substr(2))
                          : std::nullopt;
    if (!word || (*word & ~field.mask) != 0) row.fail("is no word of " + field.text(), field.name);
    words.push_back(*word);
  };
  if (field.words_per_row == 1) return read(row.value(field.name));
  const auto& list = row.list(field.name);
  if (list.size() != field.words_per_row)
    row.fail("has another number of words than its shape says", field.name);
  for (const JsonValue& value : list) read(value);
}

bool is_bits(Role role) {
  return role == Role::flags || role == Role::status;
}

}  // namespace

std::string json_text(const PackReader& pack) {
  Manifest manifest = pack.manifest();
  for (ColumnInfo& column : manifest.columns) column.file.clear();
  std::string head = manifest_text(manifest);
  head.pop_back();
  std::string text = "{\n\"manifest\": " + head + ",\n\"rows\": [";
  const std::vector<FormField> fields = form_fields(Form::json, manifest);
  std::uint64_t values = 1000 + head.size() / 8;  // more than the manifest has
  for (std::uint64_t row = 0; row < manifest.rows; ++row) {
    text += row == 0 ? "\n{" : ",\n{";
    ++values;
    for (const FormField& field : fields) {
      const ColumnInfo& column = manifest.columns[field.column];
      text += (text.back() == '{' ? "" : ", ") + in_quotes(field.name) + ": ";
      values += 1 + (field.words_per_row == 1 ? 0 : field.words_per_row);
      const auto word = [&](std::uint64_t i) {
        return word_at(pack.column(field.column), row * field.words_per_row + i, field.word_bytes) &
               field.mask;
      };
      if (column.role == Role::flags) {
        text += name_list(
            word(0), [&](int i) { return manifest.flags[static_cast<std::size_t>(i)].name; }, values);
      } else if (column.role == Role::status) {
        text += name_list(
            word(0), [](int i) { return name_of(static_cast<Flag>(1 << i)); }, values);
      } else if (field.words_per_row == 1) {
        text += in_quotes(word_digits(field, word(0)));
      } else {
        text += '[';
        for (std::uint64_t i = 0; i < field.words_per_row; ++i)
          text += (i == 0 ? "" : ", ") + in_quotes(word_digits(field, word(i)));
        text += ']';
      }
    }
    text += '}';
    if (values > kMostJsonValues) {
      throw InputError("form json", "the pack has more than " + std::to_string(kMostJsonValues) + " values",
                       "use npz, safetensors, memh or txt, or a lower --level");
    }
  }
  return text + "\n]\n}\n";
}

FormRows read_json_text(std::string_view text, std::string_view origin) {
  const JsonValue root = parse_json(text, origin);
  const JsonObject object(root, origin, "the pack");
  object.allow({"manifest", "rows"});
  const JsonValue& head = object.value("manifest");
  if (head.kind != JsonValue::Kind::object) object.fail("is not an object", "manifest");
  const Manifest manifest = parse_manifest(text.substr(head.begin, head.end - head.begin), origin);
  const auto& list = object.list("rows");
  if (manifest.is_tensor() || list.size() != manifest.rows)
    object.fail("are not as many as the manifest says", "rows");
  const std::vector<FormField> fields = form_fields(Form::json, manifest);
  FormRows rows{manifest.spec, manifest.rows, {}};
  for (const FormField& field : fields)
    rows.columns.push_back({field.name, field.format, field.words_per_row, {}});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonObject row(list[i], origin, "row " + std::to_string(i));
    if (list[i].members.size() != fields.size()) row.fail("it has not one value for each column");
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const ColumnInfo& column = manifest.columns[fields[f].column];
      if (is_bits(column.role))
        rows.columns[f].words.push_back(read_names(row, column, manifest));
      else
        read_words(row, fields[f], rows.columns[f].words);
    }
  }
  return rows;
}

}  // namespace halfulp::vectors
