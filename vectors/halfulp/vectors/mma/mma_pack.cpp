// Packs of rows; see mma_pack.hpp.
#include "halfulp/vectors/mma/mma_pack.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/vectors/mma/mma_columns.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;
using accumulation::AccumulationModel;

constexpr std::string_view kSchemes[] = {
    "exact, one rounding per chunk",
    "float32: multiply, round, add, round",
    "float32: one fused multiply-add per product",
    "float32: rounded products as a tree of adjacent pairs, then + c",
    "float32: 32 lanes k mod 32, then lane + 16, 8, 4, 2, 1, then + c",
    "fused: aligned at the largest exponent, truncated, summed exactly, rounded once",
    "FP8 widened to f16: two fused sums of 16 from 0, then one add with c",
    "fused sum of exact dots of 16 times their scales, and c",
    "a tree of float32 adds per chunk, then accumulator + chunk",
    "truncated sum of products, floored, added to the floored c, rounded to nearest",
    "the same with even and odd products apart",
    "exact in int32",
};

/// Every field of the model as it is run.
std::string details_of(const MmaPlan& plan) {
  const AccumulationModel& model = plan.spec.model;
  const Json json = {
      {"model", model.name},
      {"scheme", kSchemes[static_cast<std::size_t>(model.scheme)]},
      {"format_a", plan.from_a},
      {"format_b", plan.from_b},
      {"format_c_d", plan.to()},
      {"products", plan.k},
      {"chunk", model.chunk},
      {"alignment_fraction_bits", model.fraction_bits},
      {"f32_fraction_bits", model.f32_fraction_bits},
      {"flushes", model.flushes},
      {"zero_rule", plan.spec.zero_rule == accumulation::ZeroRule::a ? "a" : "b"},
      {"promotion_interval", plan.spec.interval},
      {"scale_order", plan.spec.scale_order == accumulation::ScaleOrder::none           ? "none"
                      : plan.spec.scale_order == accumulation::ScaleOrder::scales_first ? "scales_first"
                                                                                        : "operand_first"},
      {"contract", plan.spec.contract},
      {"saturate", plan.spec.saturate},
      {"products_per_scale", accumulation::scale_block(plan.spec)},
      {"evidence", model.evidence},
      {"undecided_rows", "the zero rules part on them: d has rule " +
                             std::string(plan.spec.zero_rule == accumulation::ZeroRule::a ? "a" : "b") +
                             ", d_alternative the other; neither is a failure"}};
  return json.dump();
}

bool has_undecided(const MmaRows& rows) {
  return rows.expected != rows.other;
}

Manifest manifest_of(const MmaPlan& plan, Level level, std::uint64_t seed, const MmaRows& rows) {
  Manifest manifest = sampled_manifest("mma", spec_text(plan), level, seed, rows.rows.size());
  manifest.details = details_of(plan);
  manifest.flags = mma_flags();
  const auto add = [&](const KernelColumn& column, Role role) {
    std::vector<std::uint64_t> shape = {manifest.rows};
    if (column.words_per_row != 1 || role == Role::input) shape.push_back(column.words_per_row);
    if (column.name == "c") shape.pop_back();
    manifest.columns.push_back({column.name, role, column.format, shape});
  };
  for (const KernelColumn& column : mma_inputs(plan)) add(column, Role::input);
  KernelColumn output = mma_output(plan);
  add(output, Role::expected);
  output.name += "_alternative";
  if (has_undecided(rows)) add(output, Role::alternative);
  manifest.columns.push_back({"flags", Role::flags, "uint32", {manifest.rows}});
  return manifest;
}

class MmaRowSource : public RowSource {
 public:
  MmaRowSource(MmaPlan plan, Level level, std::uint64_t seed, int threads)
      : plan_(std::move(plan)),
        rows_(mma_level_rows(plan_, level, seed, threads)),
        manifest_(manifest_of(plan_, level, seed, rows_)) {}

  const Manifest& manifest() const override { return manifest_; }

  void fill(std::uint64_t first, std::uint64_t count,
            std::span<const std::span<std::byte>> columns) const override {
    std::vector<std::vector<std::byte>> spare(columns.size());  // for columns that are not asked for
    std::vector<std::span<std::byte>> all(columns.begin(), columns.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].empty()) continue;
      spare[i].resize(manifest_.columns[i].row_bytes() * count);
      all[i] = spare[i];
    }
    const std::size_t inputs = mma_inputs(plan_).size();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::vector<std::span<std::byte>> cells = cells_of(all, i, count);
      const auto row = static_cast<std::size_t>(first + i);
      put_inputs(plan_, rows_.rows[row], std::span(cells).first(inputs));
      put_word(rows_.expected[row], cells[inputs]);
      if (cells.size() == inputs + 3) put_word(rows_.other[row], cells[inputs + 1]);
      put_word(rows_.rows[row].flags, cells.back());
    }
  }

 private:
  MmaPlan plan_;
  MmaRows rows_;
  Manifest manifest_;
};

/// Every column of the pack holds what the source writes; both have as many columns and rows.
bool same_bytes(const RowSource& source, const PackReader& reader) {
  const Manifest& manifest = source.manifest();
  std::vector<std::vector<std::byte>> columns;
  std::vector<std::span<std::byte>> places;
  for (const ColumnInfo& column : manifest.columns) columns.emplace_back(column.row_bytes() * manifest.rows);
  for (std::vector<std::byte>& column : columns) places.emplace_back(column);
  source.fill(0, manifest.rows, places);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto held = reader.column(i);
    if (!std::equal(held.begin(), held.end(), columns[i].begin(), columns[i].end())) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<RowSource> mma_rows(MmaPlan plan, Level level, std::uint64_t seed, int threads) {
  return std::make_unique<MmaRowSource>(std::move(plan), level, seed, threads);
}

MmaPack read_mma_pack(const PackReader& reader, int threads) {
  const Manifest& manifest = reader.manifest();
  MmaPack pack{parse_mma_spec(manifest.spec), {}};
  const auto fail = [&](const std::string& what, const std::string& why) {
    throw InputError("pack of " + spec_text(pack.plan) + what, why, "write it again with `halfulp gen`");
  };
  if (manifest.rows == 0) fail("", "it has no rows");
  if (manifest.completeness != Completeness::sampled || manifest.level == Level::exhaustive)
    fail("", "it claims to be more than a sample, and rows of sums are no more");
  const auto cells = [&](const ColumnInfo& column, std::uint64_t row) {
    return reader.column(static_cast<std::size_t>(&column - manifest.columns.data()))
        .subspan(row * column.row_bytes(), column.row_bytes());
  };
  const auto find = [&](const KernelColumn& wanted, Role role) -> const ColumnInfo& {
    const ColumnInfo* column = manifest.find(wanted.name);
    if (column == nullptr || column->role != role || column->format != wanted.format ||
        column->words_per_row() != wanted.words_per_row)
      fail(", column " + wanted.name, "missing, or not of the shape and format that its SPEC asks for");
    return *column;
  };
  std::vector<const ColumnInfo*> inputs;
  for (const KernelColumn& wanted : mma_inputs(pack.plan)) inputs.push_back(&find(wanted, Role::input));
  KernelColumn output = mma_output(pack.plan);
  const ColumnInfo& d = find(output, Role::expected);
  output.name += "_alternative";
  const ColumnInfo* alternative =
      manifest.find(output.name) == nullptr ? nullptr : &find(output, Role::alternative);
  const ColumnInfo& flags = find({"flags", "uint32", 4, 1}, Role::flags);
  std::vector<MmaRow> rows;
  for (std::uint64_t i = 0; i < manifest.rows; ++i) {
    std::vector<std::span<const std::byte>> row;
    for (const ColumnInfo* column : inputs) row.push_back(cells(*column, i));
    rows.push_back(get_inputs(pack.plan, row));
    rows.back().flags = get_word(cells(flags, i));
  }
  const std::vector<MmaRow> held = rows;
  pack.rows = judged_rows(pack.plan, std::move(rows), threads);
  if (pack.rows.left_out > 0) fail("", "some of its rows are not order-free");
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::uint32_t second =
        alternative == nullptr ? get_word(cells(d, i)) : get_word(cells(*alternative, i));
    if (get_word(cells(d, i)) != pack.rows.expected[i] || second != pack.rows.other[i])
      fail(", row " + std::to_string(i), "what it expects is not what this version computes");
    if (held[i].flags != pack.rows.rows[i].flags)
      fail(", row " + std::to_string(i), "its flags claim what is not so");
  }
  const std::unique_ptr<RowSource> source = mma_rows(pack.plan, manifest.level, manifest.seed, threads);
  const Manifest& made = source->manifest();
  if (made.rows != manifest.rows || made.refused != manifest.refused || made.details != manifest.details ||
      made.columns.size() != manifest.columns.size() || !same_bytes(*source, reader))
    fail("", "its rows, or what its manifest says of them, are not those of its level and seed");
  return pack;
}

}  // namespace halfulp::vectors
