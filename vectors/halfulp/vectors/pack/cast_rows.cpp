// Rows of casts and decodes.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "halfulp/error.hpp"
#include "halfulp/vectors/decode.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/pack/cast_segments.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

Json policy_json(const CastPlan& plan) {
  const CastPolicy& p = plan.policy;
  Json json = {{"rounding", name_of(p.rounding)},
               {"overflow", name_of(p.overflow)},
               {"overflow-test", name_of(p.overflow_test)},
               {"directed-overflow", name_of(p.directed_overflow)},
               {"nan-sign", name_of(p.nan_sign)},
               {"nan-code", name_of(p.nan_code)},
               {"nan-none", name_of(p.nan_none)},
               {"inf-none", name_of(p.inf_none)},
               {"negative", name_of(p.negative)},
               {"zero", name_of(p.zero)},
               {"flush", name_of(p.flush)},
               {"fnuz-nan", name_of(p.fnuz_nan)},
               {"low-binade", name_of(p.low_binade)}};
  if (p.rounding == Rounding::stochastic) {
    json["sr-variant"] = name_of(p.sr_variant);
    json["sr-bits"] = p.sr_bits;
    json["sr-random"] = plan.random_word(0);
  }
  return json;
}

/// Where one column's words of a row go, and how they are told apart by size once for a whole stretch.
template <class Word>
struct Target {
  std::span<std::byte> bytes;
  void put(std::uint64_t row, std::uint64_t value) const {
    const auto word = static_cast<Word>(value);
    std::memcpy(bytes.data() + row * sizeof(Word), &word, sizeof(Word));
  }
  void put_all(std::uint64_t row, std::uint64_t count, std::uint64_t value) const {
    for (std::uint64_t i = 0; i < count; ++i) put(row + i, value);
  }
};

class CastRows final : public RowSource {
 public:
  CastRows(const CastPlan& plan, Level level, std::uint64_t seed, FactsKind kind)
      : expected_(plan, level == Level::exhaustive && kind == FactsKind::cast),
        facts_(expected_, kind),
        all_(cast_segments(expected_, facts_, level, seed)) {
    if (all_.rows == 0) {
      throw InputError("level " + std::string(name_of(level)), "the policy refuses every source word",
                       "name what becomes of them, e.g. nan=nan_to_zero or negative=zero");
    }
    const bool cast = kind == FactsKind::cast;
    manifest_.generator = "halfulp " HALFULP_VERSION;
    manifest_.kind = cast ? "cast" : "decode";
    manifest_.spec = cast ? spec_text(plan) : decode_spec_text(plan);
    Json details = {{"from", plan.from_name}, {"to", plan.to_name}};
    if (!plan.dialect.empty()) details["dialect"] = plan.dialect;
    if (!plan.via_name.empty()) details["via"] = plan.via_name;
    details["policy"] = policy_json(plan);
    manifest_.details = details.dump();
    manifest_.seed = seed;
    manifest_.level = level;
    manifest_.completeness = completeness(expected_, level, all_.rows);
    manifest_.rows = all_.rows;
    manifest_.refused = all_.refused;
    manifest_.flags = cast ? cast_notes() : decode_notes();
    const auto add = [&](const char* name, Role role, const std::string& format) {
      manifest_.columns.push_back({name, role, format, {all_.rows}});
    };
    add("input", Role::input, plan.from_name);
    add("expected", Role::expected, plan.to_name);
    const bool alternatives =
        std::any_of(all_.segments.begin(), all_.segments.end(),
                    [](const CastSegment& s) { return s.facts.alternative.has_value(); });
    if (alternatives) add("expected_alternative", Role::alternative, plan.to_name);
    add("flags", Role::flags, "uint32");
    if (cast) add("status", Role::status, "uint8");
  }

  const Manifest& manifest() const override { return manifest_; }

  void fill(std::uint64_t first, std::uint64_t count,
            std::span<const std::span<std::byte>> columns) const override {
    auto segment =
        std::upper_bound(all_.segments.begin(), all_.segments.end(), first,
                         [](std::uint64_t row, const CastSegment& s) { return row < s.first_row; }) -
        1;
    for (std::uint64_t row = 0; row < count; ++segment) {
      const std::uint64_t skipped = first + row - segment->first_row;
      const std::uint64_t here = std::min(segment->count - skipped, count - row);
      fill_inputs(segment->bits + skipped, row, here, columns[0]);
      if (!segment->each_word) {
        fill_facts(segment->facts, row, here, columns);
      } else {
        const int shift = expected_.plan().from->storage_shift;
        for (std::uint64_t i = 0; i < here; ++i)
          fill_facts(facts_((segment->bits + skipped + i) << shift), row + i, 1, columns);
      }
      row += here;
    }
  }

 private:
  void fill_inputs(std::uint64_t bits, std::uint64_t row, std::uint64_t count,
                   std::span<std::byte> out) const {
    if (out.empty()) return;
    const FormatSpec& from = *expected_.plan().from;
    with_word_type(from.storage_bytes(), [&](auto type) {
      using Word = decltype(type);
      Word word = static_cast<Word>(bits);
      for (std::uint64_t i = 0; i < count; ++i, ++word)
        Target<Word>{out}.put(row + i, static_cast<Word>(word << from.storage_shift));
    });
  }

  void fill_facts(const CastFacts& facts, std::uint64_t row, std::uint64_t count,
                  std::span<const std::span<std::byte>> columns) const {
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (columns[i].empty()) continue;
      const ColumnInfo& column = manifest_.columns[i];
      const std::uint64_t value = column.role == Role::expected ? facts.code
                                  : column.role == Role::alternative
                                      ? facts.alternative.value_or(facts.code)
                                  : column.role == Role::flags ? facts.flags
                                                               : facts.status;
      with_word_type(word_bytes_of(column),
                     [&](auto type) { Target<decltype(type)>{columns[i]}.put_all(row, count, value); });
    }
  }

  int word_bytes_of(const ColumnInfo& column) const {
    if (column.role == Role::flags) return 4;
    return column.role == Role::status ? 1 : expected_.plan().to.storage_bytes();
  }

  Expected expected_;
  FactsOf facts_;
  CastSegments all_;
  Manifest manifest_;
};

}  // namespace

std::unique_ptr<RowSource> cast_rows(const CastPlan& plan, Level level, std::uint64_t seed) {
  return std::make_unique<CastRows>(plan, level, seed, FactsKind::cast);
}

std::unique_ptr<RowSource> decode_rows(const CastPlan& plan, Level level, std::uint64_t seed) {
  return std::make_unique<CastRows>(plan, level, seed, FactsKind::decode);
}

}  // namespace halfulp::vectors
