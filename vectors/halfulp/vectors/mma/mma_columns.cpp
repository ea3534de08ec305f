// Rows as bytes; see mma_columns.hpp.
#include "halfulp/vectors/mma/mma_columns.hpp"

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::vectors {
namespace {

void put_words(std::span<const std::uint32_t> words, std::span<std::byte> out) {
  const std::size_t bytes = words.empty() ? 0 : out.size() / words.size();
  for (std::size_t i = 0; i < words.size(); ++i) put_word(words[i], out.subspan(i * bytes, bytes));
}

std::vector<std::uint32_t> get_words(const KernelColumn& column, std::span<const std::byte> in) {
  const FormatSpec format = find_format(column.format)->spec;
  const auto bytes = static_cast<std::size_t>(column.word_bytes);
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at < in.size(); at += bytes) {
    words.push_back(get_word(in.subspan(at, bytes)));
    if ((words.back() & ~(low_mask(format.width) << format.storage_shift)) != 0)
      throw InputError("column " + column.name + ", word " + std::to_string(words.back()),
                       "it has bits beyond its format", "give codes as the pack has them");
  }
  return words;
}

}  // namespace

std::vector<KernelColumn> mma_inputs(const MmaPlan& plan) {
  const auto column = [](std::string name, const std::string& format, std::size_t words) {
    return KernelColumn{std::move(name), format, find_format(format)->spec.storage_bytes(), words};
  };
  std::vector<KernelColumn> columns = {column("a", plan.from_a, plan.k), column("b", plan.from_b, plan.k),
                                       column("c", std::string(plan.to()), 1)};
  if (const std::size_t scales = plan.scales(); scales != 0) {
    columns.push_back(column("scale_a", plan.scale_name(), scales));
    columns.push_back(column("scale_b", plan.scale_name(), scales));
  }
  return columns;
}

KernelColumn mma_output(const MmaPlan& plan) {
  const std::string format(plan.to());
  return {"d", format, find_format(format)->spec.storage_bytes(), 1};
}

void put_word(std::uint32_t word, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(word >> (8 * i));
}

std::uint32_t get_word(std::span<const std::byte> bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return word;
}

void put_inputs(const MmaPlan&, const MmaRow& row, std::span<const std::span<std::byte>> columns) {
  put_words(row.a, columns[0]);
  put_words(row.b, columns[1]);
  put_word(row.c, columns[2]);
  if (columns.size() < 5) return;
  put_words(row.scale_a, columns[3]);
  put_words(row.scale_b, columns[4]);
}

MmaRow get_inputs(const MmaPlan& plan, std::span<const std::span<const std::byte>> columns) {
  const std::vector<KernelColumn> all = mma_inputs(plan);
  MmaRow row;
  row.a = get_words(all[0], columns[0]);
  row.b = get_words(all[1], columns[1]);
  row.c = get_words(all[2], columns[2]).front();
  if (all.size() < 5) return row;
  row.scale_a = get_words(all[3], columns[3]);
  row.scale_b = get_words(all[4], columns[4]);
  return row;
}

}  // namespace halfulp::vectors
