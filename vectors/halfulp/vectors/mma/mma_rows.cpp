// Chooses rows for the levels; see mma_rows.hpp.
#include "halfulp/vectors/mma/mma_rows.hpp"

#include <iterator>

#include "halfulp/error.hpp"
#include "halfulp/vectors/mma/special_sums.hpp"
#include "halfulp/vectors/mma/sum_builder.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kStream = 0x6d6d612d726f7773;  // of the seeds of these rows
constexpr std::size_t kOrderFree = 96, kOrderFreeAlone = 512;
constexpr int kLeastF = 7, kMostF = 41;  // a row of ruler(F) tells F from F - 1

/// So many rows of a kind from a level on.
struct Kind {
  Level from;
  std::size_t rows;
  MmaRow (*make)(SumBuilder&);
};

constexpr Kind kKinds[] = {
    {Level::thresholds, 192, [](SumBuilder& s) { return s.last_kept(); }},
    {Level::thresholds, 96, [](SumBuilder& s) { return s.rounding(); }},
    {Level::thresholds, 48, [](SumBuilder& s) { return s.with_c(true, false); }},
    {Level::thresholds, 48, [](SumBuilder& s) { return s.with_c(false, true); }},
    {Level::thresholds, 16, [](SumBuilder& s) { return s.with_c(false, false); }},
    {Level::thresholds, 96, [](SumBuilder& s) { return s.position(); }},
    {Level::stratified, 96, [](SumBuilder& s) { return s.filled(false); }},
    {Level::stratified, 64, [](SumBuilder& s) { return s.filled(true); }},
    {Level::stratified, 96, [](SumBuilder& s) { return s.by_bits(); }},
    {Level::stratified, 64, [](SumBuilder& s) { return s.extremes(); }},
    {Level::stratified, 48, [](SumBuilder& s) { return s.subnormal(); }},
    {Level::stratified, 32, [](SumBuilder& s) { return s.scale_ends(); }},
};

}  // namespace

MmaRows mma_level_rows(const MmaPlan& plan, Level level, std::uint64_t seed, int threads) {
  if (level == Level::exhaustive)
    throw InputError("level exhaustive", "sums have too many inputs", "use stratified");
  SumBuilder builder(plan, seed ^ kStream);
  std::vector<MmaRow> rows = special_sums(builder);
  if (level != Level::specials) {
    for (std::size_t i = 0; i < (plan.any_order ? kOrderFreeAlone : kOrderFree); ++i)
      rows.push_back(builder.order_free());
  }
  for (const Kind& kind : kKinds) {
    if (kind.from > level) continue;
    for (std::size_t i = 0; i < kind.rows; ++i) rows.push_back(kind.make(builder));
  }
  if (level != Level::specials && plan.spec.model.fraction_bits != 0) {
    for (int bits = kLeastF; bits <= kMostF; ++bits) {
      for (const bool by_c : {false, true}) rows.push_back(builder.ruler(bits, by_c));
    }
    for (const bool of_a : {false, true}) rows.push_back(builder.zero_product(of_a));
  }
  MmaRows judged = judged_rows(plan, std::move(rows), threads);
  if (judged.rows.empty())
    throw InputError("SPEC " + spec_text(plan), "no row of the level is order-free",
                     "use a higher level, or leave out order=any");
  return judged;
}

MmaRows random_mma_rows(const MmaPlan& plan, std::size_t count, std::uint64_t seed) {
  SumBuilder builder(plan, seed);
  std::vector<MmaRow> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(builder.normal());
  return judged_rows(plan, std::move(rows));
}

}  // namespace halfulp::vectors
