// Rows as lines of hexadecimal digits.
#include "halfulp/vectors/pack/form_lines.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kBlockBytes = 1 << 14;  ///< of lines, all of whose fields are written before the next

/// The two digits of every byte.
constexpr auto kPairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < 256; ++i) pairs[i] = {digits[i >> 4], digits[i & 15]};
  return pairs;
}();

/// All digits of the words in[0], in[step] …, one a line.
template <class Word>
void format_whole(const std::byte* in, std::size_t step, std::uint64_t rows, char* out, std::size_t line) {
  for (std::uint64_t row = 0; row < rows; ++row, in += step, out += line) {
    Word word;
    std::memcpy(&word, in, sizeof word);
    for (std::size_t i = 0; i < sizeof word; ++i)
      std::memcpy(out + 2 * i, kPairs[word >> (8 * (sizeof word - 1 - i)) & 0xff].data(), 2);
  }
}

/// The last `digits` digits.
template <class Word>
void format_part(const std::byte* in, std::size_t step, std::uint64_t rows, char* out, std::size_t line,
                 const FormField& field) {
  for (std::uint64_t row = 0; row < rows; ++row, in += step, out += line) {
    Word word;
    std::memcpy(&word, in, sizeof word);
    std::uint64_t rest = word & field.mask;
    for (int i = field.digits; i-- > 0; rest >>= 4) out[i] = kPairs[rest & 15][1];
  }
}

}  // namespace

LineLayout::LineLayout(Form form, std::vector<FormField> fields) : form_(form), fields_(std::move(fields)) {
  const bool text = form == Form::txt;
  word_step_ = text ? 1 : 0;
  for (const FormField& field : fields_) {
    if (text && !line_.empty()) line_ += ' ';
    offsets_.push_back(line_.size());
    for (std::uint64_t i = 0; i < field.words_per_row; ++i) {
      if (text && i > 0) line_ += ',';
      line_.append(static_cast<std::size_t>(field.digits), '0');
    }
  }
  line_ += '\n';
}

std::string LineLayout::head(std::string_view title) const {
  std::string text = form_ == Form::txt ? "#" : "//";
  std::uint64_t bits = 4 * (line_.size() - 1);
  for (const FormField& field : fields_) {
    text += ' ';
    if (form_ == Form::memh) {  // the first field and its first word stand in the highest bits
      const std::uint64_t low = bits - 4 * static_cast<std::uint64_t>(field.digits) * field.words_per_row;
      text += "[" + std::to_string(bits - 1) + ":" + std::to_string(low) + "] ";
      bits = low;
    }
    text += field.text();
  }
  return text + "; " + std::string(title) + "\n";
}

void LineLayout::format(std::span<const std::span<const std::byte>> columns, std::uint64_t rows,
                        std::span<std::byte> out, bool fresh) const {
  char* const text = reinterpret_cast<char*>(out.data());
  const std::size_t line = line_.size();
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockBytes / line);
  for (std::uint64_t first = 0; first < rows; first += block) {
    const std::uint64_t count = std::min(block, rows - first);
    char* const lines = text + first * line;
    if (fresh) {
      for (std::uint64_t row = 0; row < count; ++row) std::memcpy(lines + row * line, line_.data(), line);
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const FormField& field = fields_[i];
      const std::size_t row_bytes = static_cast<std::size_t>(field.word_bytes) * field.words_per_row;
      for (std::uint64_t word = 0; word < field.words_per_row; ++word) {
        const std::byte* in =
            columns[i].data() + first * row_bytes + word * static_cast<std::size_t>(field.word_bytes);
        char* at = lines + offsets_[i] + word * (static_cast<std::size_t>(field.digits) + word_step_);
        with_word_type(field.word_bytes, [&](auto type) {
          using Word = decltype(type);
          if (field.mask == low_mask(8 * field.word_bytes))
            format_whole<Word>(in, row_bytes, count, at, line);
          else
            format_part<Word>(in, row_bytes, count, at, line, field);
        });
      }
    }
  }
}

bool LineLayout::parse(std::string_view line, std::vector<FormColumn>& columns) const {
  if (line.size() + 1 != line_.size()) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const FormField& field = fields_[i];
    for (std::uint64_t word = 0; word < field.words_per_row; ++word) {
      for (; line_[at] != '0'; ++at) {  // what stands between words
        if (line[at] != line_[at]) return false;
      }
      const auto value = parse_digits(line.substr(at, static_cast<std::size_t>(field.digits)));
      if (!value || (*value & ~field.mask) != 0) return false;
      columns[i].words.push_back(*value);
      at += static_cast<std::size_t>(field.digits);
    }
  }
  return true;
}

}  // namespace halfulp::vectors
