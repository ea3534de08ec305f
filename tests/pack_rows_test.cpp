// Rows of packs: stretches of the exhaustive level against word-by-word facts, the meaning of flags, the
// same bytes on every number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "halfulp/vectors/decode.hpp"
#include "halfulp/vectors/pack/cast_segments.hpp"
#include "halfulp/vectors/pack/rows.hpp"
#include "tensor_files.hpp"

namespace halfulp::vectors {
namespace {

using tensors::contains;
using tensors::message_of;
using tensors::read_bytes;
using tensors::TemporaryFolder;

CastPlan plan_of(const std::string& spec) {
  return make_plan(parse_cast_spec(spec));
}

/// Every column of all rows, as words.
std::vector<std::vector<std::uint64_t>> words_of(const RowSource& rows) {
  const Manifest& m = rows.manifest();
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<std::byte>> spans;
  for (const ColumnInfo& column : m.columns) bytes.emplace_back(m.rows * column.row_bytes());
  for (auto& column : bytes) spans.push_back(column);
  rows.fill(0, m.rows, spans);
  std::vector<std::vector<std::uint64_t>> words(m.columns.size());
  for (std::size_t i = 0; i < m.columns.size(); ++i) {
    const auto size = static_cast<std::size_t>(m.columns[i].word_bytes());
    for (std::uint64_t row = 0; row < m.rows; ++row)
      words[i].push_back(tensors::little(std::span(bytes[i]).subspan(row * size, size)));
  }
  return words;
}

/// Bit of a flag by name.
std::uint64_t flag(const Manifest& m, std::string_view name) {
  for (std::size_t i = 0; i < m.flags.size(); ++i) {
    if (m.flags[i].name == name) return 1ull << i;
  }
  ADD_FAILURE() << "no flag " << name;
  return 0;
}

const char* const kStretchSpecs[] = {
    "cast:bf16:e4m3",
    "cast:bf16:e4m3,overflow=overflow",
    "cast:bf16:e4m3,rounding=ties_to_away,overflow=saturate_keep_inf",
    "cast:bf16:e5m2,rounding=toward_positive,overflow=overflow",
    "cast:bf16:e5m2,rounding=toward_negative",
    "cast:bf16:e5m2,rounding=to_odd,overflow=overflow",
    "cast:bf16:e5m2,nan-code=payload,flush=both",
    "cast:f16:e4m3,rounding=toward_zero,flush=in",
    "cast:f16:e5m2,overflow=overflow,overflow-test=before",
    "cast:f16:e4m3fnuz",
    "cast:bf16:e5m2fnuz,overflow=overflow",
    "cast:f16:e2m1,nan=nan_to_zero",
    "cast:bf16:e3m2,rounding=ties_to_away,nan=nan_to_signed_max",
    "cast:f16:e2m3,nan=nan_to_max,flush=out",
    "cast:bf16:e8m0,negative=abs,zero=min",
    "cast:bf16:e8m0,negative=nan,zero=nan,rounding=toward_positive",
    "cast:bf16:e8m0,negative=zero,zero=min,low-binade=upward,rounding=toward_zero",
    "cast:bf16:e8m0,negative=abs,zero=min,low-binade=never_min,rounding=ties_to_away",
    "cast:bf16:ue4m3,negative=error",
    "cast:f16:int8,nan=nan_to_zero",
    "cast:bf16:uint4,nan=nan_to_zero,negative=zero,rounding=to_odd",
    "cast:bf16:mxint8,nan=nan_to_max,rounding=ties_to_away",
    "cast:f16:bf16",
    "cast:bf16:f16,rounding=ties_to_away",
    "cast:f16:binary8p3se,overflow=overflow",
    "cast:f16:e4m3@ml_dtypes"};

TEST(PackRows, StretchesHoldWhatEveryWordGives) {
  for (const char* spec : kStretchSpecs) {
    const CastPlan plan = plan_of(spec);
    ASSERT_TRUE(has_stretches(plan)) << spec;
    const Expected expected(plan);
    const FactsOf facts(expected, FactsKind::cast);
    const CastSegments all = cast_stretches(expected, facts);
    std::uint64_t next = 0, refused = 0, row = 0;
    for (const CastSegment& segment : all.segments) {
      ASSERT_EQ(segment.first_row, row) << spec;
      for (; next < segment.bits; ++next, ++refused)
        ASSERT_NE(plan(next).refusal, Refusal::none) << spec << " " << next;
      for (std::uint64_t i = 0; i < segment.count; ++i, ++next)
        ASSERT_TRUE(segment.each_word || facts(next) == segment.facts) << spec << " " << next;
      row += segment.count;
    }
    for (; next < 65536; ++next, ++refused)
      ASSERT_NE(plan(next).refusal, Refusal::none) << spec << " " << next;
    EXPECT_EQ(row, all.rows);
    EXPECT_EQ(refused, all.refused);
    EXPECT_EQ(all.rows + all.refused, 65536u);
  }
}

TEST(PackRows, TheExhaustiveLevelOfF32IsMadeOfFewStretches) {
  for (const char* spec : {"cast:f32:e4m3", "cast:f32:e5m2,rounding=to_odd,overflow=overflow",
                           "cast:f32:f16", "cast:f32:int8,nan=nan_to_zero"}) {
    const CastPlan plan = plan_of(spec);
    const Expected expected(plan, true);
    const FactsOf facts(expected, FactsKind::cast);
    const CastSegments all = cast_segments(expected, facts, Level::exhaustive, 0);
    EXPECT_EQ(all.rows, std::uint64_t{1} << 32);
    EXPECT_LT(all.segments.size(), 2'000'000u);
    for (std::uint64_t i = 0; i < 20000; ++i) {  // all of these are rows, so their numbers are their bits
      const std::uint64_t word = counter_random(7, i) >> 32;
      const auto segment =
          std::upper_bound(all.segments.begin(), all.segments.end(), word,
                           [](std::uint64_t row, const CastSegment& s) { return row < s.first_row; }) -
          1;
      ASSERT_LE(segment->bits, word);
      ASSERT_LT(word - segment->bits, segment->count);
      ASSERT_TRUE(segment->each_word || facts(word) == segment->facts) << spec << " " << word;
    }
  }
}

TEST(PackRows, StatusAndCodesAreThoseOfTheCast) {
  for (const char* spec :
       {"cast:f32:e4m3", "cast:f64:e5m2,overflow=overflow", "cast:tf32:e2m1,nan=nan_to_max",
        "cast:bf16:nf4,nan=nan_to_zero", "cast:f32:f16,via=bf16",
        "cast:f32:e4m3,rounding=stochastic,sr-bits=8,sr-random=0x5a", "cast:f64:f32", "cast:e5m2:e4m3",
        "cast:int8:e2m1"}) {
    const CastPlan plan = plan_of(spec);
    const auto rows = cast_rows(plan, Level::thresholds, 0);
    const auto words = words_of(*rows);
    ASSERT_EQ(words.size(), 4u);
    for (std::size_t i = 0; i < words[0].size(); ++i) {
      ASSERT_TRUE(i == 0 || words[0][i - 1] < words[0][i]) << spec;
      const CastResult r = plan(words[0][i]);
      ASSERT_EQ(r.code, words[1][i]) << spec << " row " << i;
      ASSERT_EQ(r.flags, words[3][i]) << spec << " row " << i;
    }
  }
}

struct Row {
  std::uint32_t word;
  const char* flags;
};

// 464 lies half way between 448, the largest number of E4M3, and the next step.
const Row kRows[] = {
    {0x00000000, "zero"},
    {0x80000000, "zero minus_zero"},
    {0x7f800000, "infinity largest"},
    {0x7fc00000, "nan"},
    {0x7f800001, "nan signalling_nan"},
    {0x00000001, "subnormal_source underflow_to_zero power_of_two"},
    {0x3f800000, "power_of_two exact"},
    {0x43e00000, "exact largest"},                                            // 448
    {0x43e80000, "largest tie"},                                              // 464: even is 448
    {0x43e80001, "largest overflow"},                                         // its successor
    {0x3a800000, "tie power_of_two underflow_to_zero just_below_threshold"},  // 2^-10
    {0x3a800001, "smallest subnormal_result just_above_threshold carry"},
    {0x3b000000, "smallest subnormal_result exact power_of_two"},  // 2^-9
    {0x3c7fffff, "carry"},                                         // just below 2^-6
    {0x3f7fffff, "carry"},
    {0x3f780000, "tie carry just_above_threshold"},  // between 15/16 and 1
    {0x3f77ffff, "just_below_threshold"},
    {0xbf77ffff, "just_below_threshold"},
};

TEST(PackRows, FlagsSayWhatTheyMean) {
  const Expected expected(plan_of("cast:f32:e4m3"));
  const FactsOf facts(expected, FactsKind::cast);
  Manifest m;
  m.flags = cast_notes();
  for (const Row& row : kRows) {
    std::uint64_t want = 0;
    for (std::string_view rest = row.flags; !rest.empty();) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      want |= flag(m, rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
    }
    std::string got;
    const std::uint32_t flags = facts(row.word).flags;
    for (std::size_t i = 0; i < m.flags.size(); ++i)
      got += (flags >> i & 1) != 0 ? m.flags[i].name + " " : "";
    EXPECT_EQ(flags, want) << std::hex << row.word << " has " << got << "and not " << row.flags;
  }
  const Expected without_inf(plan_of("cast:f32:e4m3,overflow=overflow"));
  EXPECT_TRUE(FactsOf(without_inf, FactsKind::cast)(0x7f800000).flags & flag(m, "number_to_nan"));
  for (const auto* notes : {&cast_notes(), &decode_notes()}) {
    EXPECT_LE(notes->size(), 32u);
    for (const FlagNote& note : *notes)
      EXPECT_TRUE(!note.tests.empty() && !note.matters.empty() && !note.goes_wrong.empty());
  }
}

TEST(PackRows, EveryFlagOfACastOccurs) {
  std::uint64_t seen = 0;
  for (const char* spec : {"cast:f32:e4m3", "cast:f32:e4m3,overflow=overflow"}) {
    const auto words = words_of(*cast_rows(plan_of(spec), Level::thresholds, 0));
    for (const std::uint64_t flags : words[2]) seen |= flags;
  }
  EXPECT_EQ(seen, low_mask(static_cast<int>(cast_notes().size())));
}

TEST(PackRows, AnAlternativeHasAColumn) {
  const auto rows =
      cast_rows(plan_of("cast:f32:e5m2,rounding=to_odd,overflow=overflow"), Level::thresholds, 0);
  ASSERT_EQ(rows->manifest().columns[2].role, Role::alternative);
  const auto words = words_of(*rows);
  std::size_t differ = 0;
  for (std::size_t i = 0; i < words[1].size(); ++i) differ += words[1][i] != words[2][i];
  EXPECT_GT(differ, 2u);
  EXPECT_LT(differ, words[1].size() / 2);
  check_manifest(rows->manifest(), "made");
}

TEST(PackRows, RefusedWordsAreCounted) {
  const auto rows = cast_rows(plan_of("cast:bf16:e2m1"), Level::exhaustive, 0);
  EXPECT_EQ(rows->manifest().refused, 254u);
  EXPECT_EQ(rows->manifest().rows, 65536u - 254u);
  EXPECT_EQ(rows->manifest().completeness, Completeness::exhaustive);
  EXPECT_TRUE(contains(message_of([] { cast_rows(plan_of("cast:f64:e4m3"), Level::exhaustive, 0); }),
                       "too many codes"));
  EXPECT_TRUE(contains(message_of([] { cast_rows(plan_of("cast:f32:f64"), Level::exhaustive, 0); }),
                       "too many steps"));
}

TEST(PackRows, DecodesHoldTheExactValue) {
  for (const char* spec : {"decode:e4m3", "decode:e5m2", "decode:e2m1", "decode:e8m0", "decode:ue4m3",
                           "decode:e4m3fnuz", "decode:int8", "decode:mxint8", "decode:nf4", "decode:hif8",
                           "decode:binary8p3se", "decode:f16:f64", "decode:bf16", "decode:e4m3:f16"}) {
    const auto rows = rows_of_spec(spec, Level::stratified, 0);
    const Manifest& m = rows->manifest();
    EXPECT_EQ(m.kind, "decode");
    EXPECT_TRUE(m.spec.starts_with(spec)) << m.spec;
    const CastPlan plan = parse_decode_spec(m.spec);
    EXPECT_TRUE(plan.from->width > 8 || m.completeness == Completeness::exhaustive) << spec;
    const auto words = words_of(*rows);
    for (std::size_t i = 0; i < words[0].size(); ++i) {
      const Unpacked x = unpack(*plan.from, words[0][i]), y = unpack(plan.to, words[1][i]);
      ASSERT_EQ(x.number_class == NumberClass::nan, y.number_class == NumberClass::nan);
      ASSERT_EQ(x.number_class == NumberClass::infinity, y.number_class == NumberClass::infinity);
      if (x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity) continue;
      ASSERT_EQ(x.negative, y.negative);
      ASSERT_EQ(std::ldexp(static_cast<double>(x.significand), x.exponent),
                std::ldexp(static_cast<double>(y.significand), y.exponent))
          << spec;
    }
  }
  EXPECT_EQ(rows_of_spec("decode:f64", Level::specials, 0)->manifest().spec, "decode:f64:f64");
  for (const char* bad : {"decode:", "decode:e4m3:", "decode:e4m3:e5m2", "decode:f64:f32",
                          "decode:e4m3:f32:f32", "decode:nothing", "mma:x", ""})
    EXPECT_NE(message_of([&] { rows_of_spec(bad, {}, 0); }), "accepted") << bad;
}

std::string pack_bytes(const TemporaryFolder& folder, const RowSource& rows, const std::string& name,
                       int threads) {
  const auto writer = write_pack(folder / name, rows.manifest());
  write_rows(rows, *writer, {.threads = threads, .progress = {}});
  writer->commit();
  if (name.find('.') != std::string::npos) return read_bytes(folder / name);
  std::string all = read_bytes(folder / (name + "/manifest.json"));
  for (const ColumnInfo& column : rows.manifest().columns)
    all += read_bytes(folder / (name + "/" + column.name + ".bin"));
  return all;
}

TEST(PackRows, TheSameBytesOnEveryNumberOfThreads) {
  const TemporaryFolder folder;
  const auto rows = cast_rows(plan_of("cast:f32:f16"), Level::stratified, 3);  // several pieces
  for (const std::string ending : {"", ".npz", ".safetensors"}) {
    const std::string one = pack_bytes(folder, *rows, "one" + ending, 1);
    EXPECT_GT(one.size(), std::size_t{4} << 20);
    EXPECT_TRUE(one == pack_bytes(folder, *rows, "two" + ending, 2)) << ending;
    EXPECT_TRUE(one == pack_bytes(folder, *rows, "seven" + ending, 7)) << ending;
  }
  const auto pack = read_pack(folder / "one.npz");
  const auto words = words_of(*rows);
  for (std::size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(tensors::little(
                  pack->column(i).last(static_cast<std::size_t>(pack->manifest().columns[i].word_bytes()))),
              words[i].back());
}

TEST(PackRows, AnInterruptEndsTheWritingAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto rows = cast_rows(plan_of("cast:f32:f16"), Level::thresholds, 0);
  for (const int threads : {1, 4}) {
    int calls = 0;
    const auto stop = [&calls](std::uint64_t done, std::uint64_t total) {
      EXPECT_LE(done, total);
      if (++calls == 2) throw calls;
    };
    const auto write = [&] {
      const auto writer = write_pack(folder / "a", rows->manifest());
      write_rows(*rows, *writer, {.threads = threads, .progress = stop});
    };
    EXPECT_THROW(write(), int);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(folder.files(), 0u);
  }
}

}  // namespace
}  // namespace halfulp::vectors
