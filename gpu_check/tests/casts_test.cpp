// The cast sweeps on the thread shim: policies, tables, digest, the self-test, and sweeps that must fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "gpu_check/digest.hpp"
#include "gpu_check/kernels/sweep.cuh"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/steps/steps.hpp"
#include "gpu_check/words_file.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::gpu {
namespace {

/// A folder with the tables, made once.
const std::string& data_folder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "halfulp_gpu_casts_" + std::to_string(::getpid());
    prepare_casts(path);
    return path;
  }();
  return folder;
}

class Cleanup : public ::testing::Environment {
  void TearDown() override { std::filesystem::remove_all(data_folder()); }
};
[[maybe_unused]] const auto* const kCleanup = ::testing::AddGlobalTestEnvironment(new Cleanup);

TEST(Casts, PoliciesAreThoseOfTheDialects) {
  for (const CastCase& cast : kCastCases) {
    std::string spec = "cast:" + std::string(cast.from) + ":" + std::string(cast.to) + "@" + std::string(cast.dialect);
    if (cast.to == "e8m0") spec += cast.rounding == Rounding::toward_zero ? ",rounding=toward_zero" : ",rounding=toward_positive";
    CastPolicy policy = make_plan(parse_cast_spec(spec)).policy;
    if (cast.rounding == Rounding::stochastic) {
      policy.rounding = Rounding::stochastic;
      policy.sr_bits = cast.random_bits;
    }
    EXPECT_EQ(policy_of(cast), policy) << name_of(cast);
  }
}

TEST(Casts, ThePackedResultsFitTheirWord) {
  for (const CastCase& cast : kCastCases) EXPECT_LE(cast.lanes * cast.code_bits, 32) << name_of(cast);
}

TEST(Casts, TheDomainHoldsEveryWordOnce) {
  for (const char* name : {"f16", "bf16", "e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "e8m0"}) {
    const FormatSpec spec = format_spec(name);
    const Domain domain = domain_of(spec);
    std::vector<std::uint32_t> words;
    for (std::uint64_t i = 0; i < domain.size(); ++i) words.push_back(domain.word(i));
    std::sort(words.begin(), words.end());
    ASSERT_EQ(words.size(), std::size_t{1} << spec.width) << name;
    for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], i) << name;
  }
  EXPECT_EQ(domain_of(format_spec("f32")).size(), std::uint64_t{1} << 32);
}

TEST(Casts, TheDigestOfARunIsTheSumOverItsInputs) {
  for (const std::uint64_t first : {0ull, 1ull, 12345ull, 0xffff0000ull}) {
    for (const std::uint64_t count : {0ull, 1ull, 2ull, 1000ull, 65536ull}) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < count; ++i) sum += digest_input(first + i);
      EXPECT_EQ(digest_inputs(first, count), sum) << first << " " << count;
    }
  }
  // All of 2^32 in two pieces, cut anywhere.
  for (const std::uint64_t cut : {1ull, 77777777ull, 0x80000000ull}) {
    EXPECT_EQ(digest_inputs(0, cut) + digest_inputs(cut, (1ull << 32) - cut), digest_inputs(0, 1ull << 32));
  }
}

/// Else codes that changed lanes, or two codes exchanged, would leave the digest as it was.
TEST(Casts, EveryCodeAndLaneHasAWeightOfItsOwn) {
  std::set<std::uint64_t> weights;
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    for (std::uint32_t code = 0; code < 65536; ++code) {
      const std::uint64_t weight = digest_weight(code, lane);
      EXPECT_EQ(weight & 1, 1u) << code << " " << lane;
      EXPECT_TRUE(weights.insert(weight).second) << code << " " << lane;
    }
  }
}

/// Else an instruction that takes its operand from another lane would give the right code. No format is narrower than 4 bits.
TEST(Casts, NeighboursAreUnequalAndTakeEveryWord) {
  for (const int width : {4, 6, 8, 16}) {
    const std::uint32_t mask = (1u << width) - 1;
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      std::set<std::uint32_t> taken[kMaxLanes];
      for (std::uint32_t word = 0; word <= mask; ++word) {
        const LaneWords words = words_around(word, lane, mask);
        ASSERT_EQ(words.word[lane], word);
        ASSERT_EQ(std::set<std::uint32_t>(words.word, words.word + kMaxLanes).size(), std::size_t{kMaxLanes}) << width << " " << lane << " " << word;
        for (int other = 0; other < kMaxLanes; ++other) taken[other].insert(words.word[other]);
      }
      for (const auto& words : taken) EXPECT_EQ(words.size(), std::size_t{mask} + 1) << width << " " << lane;
    }
  }
  for (std::uint64_t word = 0; word <= 0xffffffff; word += 65521) {
    const LaneWords words = words_around(static_cast<std::uint32_t>(word), 1, 0xffffffff);
    ASSERT_EQ(std::set<std::uint32_t>(words.word, words.word + kMaxLanes).size(), std::size_t{kMaxLanes}) << word;
  }
}

TEST(Casts, ADigestThatAloneDiffersIsExplained) {
  ResultRow row = row_named("x");
  row.inputs = 65536;
  row.digest = row.expected_digest = 0xabc;
  conclude_sweep(row);
  EXPECT_EQ(row.status, Status::passed);
  EXPECT_TRUE(row.first.empty());
  row.digest = 0xabd;
  conclude_sweep(row);
  EXPECT_EQ(row.status, Status::failed);
  const std::string text = text_of({"casts", {row}});
  EXPECT_NE(text.find("the digest is 0000000000000abd and must be 0000000000000abc"), std::string::npos) << text;
  row.first.clear();
  row.mismatches = 1;
  conclude_sweep(row);
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_TRUE(row.first.empty()) << "the mismatches are named instead";
}

TEST(Casts, TheDigestOfATableIsTheSumOverItsPositions) {
  for (const CastCase& cast : kCastCases) {
    if (cast.from == "f32") continue;
    const CastTable table = read_cast_table(data_folder(), table_name(cast, 0), domain_of(format_spec(cast.from)).size());
    const Domain domain = domain_of(format_spec(cast.from));
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < domain.size(); ++i) {
      while (at + 1 < table.steps.size() && table.steps[at + 1].first <= i) ++at;
      sum += digest_weight(table.steps[at].code, 1) * digest_input(domain.word(i));
    }
    EXPECT_EQ(digest_of_run(table, domain, 0, domain.size(), 1), sum) << name_of(cast);
  }
}

TEST(Casts, TablesSurviveTheirFiles) {
  const CastCase& cast = kCastCases[0];
  EXPECT_EQ(read_cast_table(data_folder(), table_name(cast, 0), domain_of(format_spec(cast.from)).size()), make_cast_table(cast, 0));
  EXPECT_THROW(read_cast_table(data_folder(), "no_such_table", 1), std::runtime_error);
}

/// By counting: ties below the largest finite go to the even code, so they change where the lower code is even: 63 of the
/// boundaries between codes 0..7e of E4M3, 62 between codes 0..7b of E5M2, and with `nosat` the one above the largest finite
/// where its code is even (E4M3 7e). E2M1, E2M3, E3M2: codes 0..7, 0..1f, 0..1f, without an end that matters: it saturates.
TEST(Casts, TiesAwayDifferInAKnownNumberOfInputs) {
  const auto known = [](std::string_view from, std::string_view to, std::string_view dialect) {
    for (const CastCase& cast : kCastCases) {
      if (cast.from == from && cast.to == to && cast.dialect == dialect && cast.random_bits == 0) return make_cast_table(cast, 0).away_mismatches;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(known("f32", "e4m3", "cuda_satfinite"), 2u * 63);
  EXPECT_EQ(known("f32", "e4m3", "cuda_nosat"), 2u * 64);
  EXPECT_EQ(known("f32", "e5m2", "cuda_satfinite"), 2u * 62);
  EXPECT_EQ(known("f32", "e5m2", "cuda_nosat"), 2u * 62);
  EXPECT_EQ(known("f32", "e2m1", "cuda_satfinite"), 2u * 4);
  EXPECT_EQ(known("f32", "e2m3", "cuda_satfinite"), 2u * 16);
  EXPECT_EQ(known("f32", "e3m2", "cuda_satfinite"), 2u * 16);
}

StepContext context(std::string data) { return {std::move(data), "", false, find_device()}; }

TEST(Casts, ABrokenCastIsCaughtWithItsExactCount) {
  const StepReport report = run_self_test(context(data_folder()));
  EXPECT_GE(report.rows.size(), 15u);
  for (const ResultRow& row : report.rows) {
    EXPECT_EQ(row.status, Status::passed) << row.test << " " << row.mismatches << " " << row.note;
    EXPECT_FALSE(row.first.empty()) << row.test;
  }
}

TEST(Casts, EveryCastAgreesInEveryOrder) {
  const StepReport report = run_casts(context(data_folder()));
  EXPECT_EQ(report.rows.size(), kCastCases.size());
  std::size_t skipped = 0;
  for (const ResultRow& row : report.rows) {
    skipped += row.status == Status::skipped ? 1 : 0;
    EXPECT_NE(row.status, Status::failed) << text_of(report);
    if (row.status != Status::passed) continue;
    EXPECT_TRUE(row.inputs == 65536 || row.inputs <= 256 || row.inputs > 8192) << row.test << " " << row.inputs;
  }
  EXPECT_TRUE(skipped == 0 || skipped == 25) << skipped;  // the header casts, where there is no toolkit
}

TEST(Casts, AWrongTableFailsWithTheSmallestInputsNamed) {
  const std::string folder = ::testing::TempDir() + "halfulp_gpu_wrong_" + std::to_string(::getpid());
  std::filesystem::copy(data_folder(), folder, std::filesystem::copy_options::recursive);
  const CastCase& cast = kCastCases[0];
  CastTable table = make_cast_table(cast, 0);
  ++table.steps[100].first;  // one input of 2^32
  write_prepared(folder + "/casts/" + table_name(cast, 0) + ".txt", text_of(table));
  const StepReport report = run_casts(context(folder));
  std::filesystem::remove_all(folder);
  ASSERT_EQ(report.rows[0].status, Status::failed);
  EXPECT_GE(report.rows[0].mismatches, 1u);
  EXPECT_NE(report.rows[0].digest, report.rows[0].expected_digest);
  ASSERT_FALSE(report.rows[0].first.empty());
  const std::uint32_t word = domain_of(format_spec("f32")).word(make_cast_table(cast, 0).steps[100].first);
  EXPECT_NE(report.rows[0].first[0].find("input " + hex(word, 8)), std::string::npos) << report.rows[0].first[0];
  EXPECT_EQ(exit_status(report), kExitFailed);
}

TEST(Casts, NothingDoneIsIncomplete) {
  EXPECT_EQ(exit_status({"casts"}), kExitIncomplete);
  ResultRow skipped = row_named("x");
  skipped.status = Status::skipped;
  EXPECT_EQ(exit_status({"casts", {skipped}}), kExitIncomplete);
}

}  // namespace
}  // namespace halfulp::gpu
