// The study of ex2.approx and rcp.approx: its correctly rounded values against the oracle, and the study on the host shim.
#include <gtest/gtest.h>

#include <filesystem>

#include "gpu_check/kernels/mufu.cuh"
#include "gpu_check/prepare/prepare.hpp"
#include "gpu_check/steps/steps.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/transcendental.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::gpu {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");

std::vector<Pair> table() {
  const std::vector<std::uint32_t> words = exp2_table_words();
  std::vector<Pair> pairs(words.size() / 4);
  std::memcpy(static_cast<void*>(pairs.data()), words.data(), words.size() * 4);
  return pairs;
}

HALFULP_KERNEL round_all(In<std::uint32_t> in, In<Pair> pairs, Out<std::uint32_t> exp2, Out<std::uint32_t> reciprocal, Out<std::uint32_t> close_ones, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    bool close = false;
    exp2[i] = exp2_rounded_f32(in[i], pairs, close);
    reciprocal[i] = reciprocal_rounded_f32(in[i]);
    close_ones[i] = close ? 1u : 0u;
  }
}

std::vector<std::uint32_t> inputs() {
  std::vector<std::uint32_t> words;
  for (const std::uint32_t sign : {0u, 0x80000000u}) {
    for (std::uint32_t field = 0; field < 256; ++field) {
      for (const std::uint32_t fraction : {0u, 1u, 0x400000u, 0x7fffffu, 0x555555u}) words.push_back(sign | field << 23 | fraction);
    }
    // Results near the ends: overflow at 128, subnormal below -126, zero at -150.
    for (const std::uint32_t near : {0x42ff0000u, 0x42ffffffu, 0x43000000u, 0x42fc0000u, 0x43150000u, 0x43158000u, 0x43160000u}) {
      for (std::uint32_t i = 0; i < 8; ++i) words.push_back(sign | (near - 4 + i));
    }
  }
  for (std::uint64_t i = 0; i < 6000; ++i) {  // exponents where 2^x is neither 1 nor out of range
    const auto random = static_cast<std::uint32_t>(counter_random(7, i));
    words.push_back((random & 0x807fffffu) | (100 + (random >> 23) % 34) << 23);
  }
  return words;
}

TEST(Mufu, TheCorrectlyRoundedValuesAreTheOracles) {
  const std::vector<std::uint32_t> words = inputs();
  const Buffer<std::uint32_t> in("in", words);
  const std::vector<Pair> pairs = table();
  const Buffer<Pair> constants("pairs", pairs);
  Buffer<std::uint32_t> exp2("exp2", words.size()), reciprocal("reciprocal", words.size()), close_ones("close", words.size());
  const Launched launched = launch("round_all", round_all, {1, 64}, in.in(), constants.in(), exp2.out(), reciprocal.out(), close_ones.out(),
                                   static_cast<unsigned>(words.size()));
  EXPECT_TRUE(launched.ok()) << (launched.faults.empty() ? "" : launched.faults[0]);
  const auto powers = exp2.download(), quotients = reciprocal.download(), closes = close_ones.download();
  std::size_t tried = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if ((words[i] & 0x7fffffffu) > 0x7f800000u) {
      EXPECT_EQ(powers[i], 0x7fffffffu);
      continue;
    }
    const oracle::Value x = oracle::value_of(kF32, words[i]);
    EXPECT_EQ(closes[i], 0u) << hex(words[i]);
    const auto right = static_cast<std::uint32_t>(oracle::nearest(oracle::exp2_rounded(x, kF32), kF32, {.overflow = Overflow::overflow}).code);
    EXPECT_EQ(powers[i], right) << hex(words[i]);
    ++tried;
  }
  EXPECT_GT(tried, 8000u);
}

/// 1/x = m means x * m = 1: with exact integers, the rounded quotient must satisfy |x * q - 1| <= x * half a place.
TEST(Mufu, TheReciprocalIsWithinHalfAPlaceExactly) {
  const std::vector<std::uint32_t> words = inputs();
  for (const std::uint32_t word : words) {
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude == 0 || magnitude >= 0x7f800000u) continue;
    const std::uint32_t q = reciprocal_rounded_f32(word);
    const auto split = [](std::uint32_t bits, std::int64_t& significand, int& exponent) {
      const std::uint32_t field = bits >> 23 & 0xff;
      significand = static_cast<std::int64_t>((bits & 0x7fffff) | (field == 0 ? 0 : 0x800000));
      exponent = (field == 0 ? 1 : static_cast<int>(field)) - 150;
    };
    std::int64_t xs = 0, qs = 0;
    int xe = 0, qe = 0;
    split(magnitude, xs, xe);
    EXPECT_EQ(q >> 31, word >> 31);
    if ((q & 0x7fffffffu) == 0x7f800000u) {  // 1/x >= the overflow boundary: x <= 1 / ((2^25 - 1) * 2^103)
      EXPECT_LE(xs, 1 << 21) << hex(word);
      EXPECT_EQ(xe, -149);
      continue;
    }
    split(q & 0x7fffffffu, qs, qe);
    // 2 * |xs * qs - 2^-(xe + qe)| <= xs
    const int shift = -(xe + qe);
    ASSERT_TRUE(shift >= 0 && shift < 62) << hex(word);
    const std::int64_t error = xs * qs - (std::int64_t{1} << shift);
    EXPECT_LE(2 * (error < 0 ? -error : error), xs) << hex(word);
  }
}

TEST(Mufu, TheStudyRunsOnTheShimAndWritesItsFiles) {
  const std::string folder = ::testing::TempDir() + "halfulp_gpu_mufu_" + std::to_string(::getpid());
  prepare_mufu(folder);
  const std::string output = folder + "/out";
  std::filesystem::create_directories(output);
  const StepReport report = run_mufu({folder, output, false, find_device()});
  ASSERT_EQ(report.rows.size(), 4u);
  for (const ResultRow& row : report.rows) {
    EXPECT_EQ(row.status, Status::passed) << text_of(report);
    EXPECT_GT(row.inputs, 65000u);
    std::uint64_t off = 0, right = 0;
    for (const auto& [name, count] : row.counts) {
      if (name.starts_with("deviation")) (name == "deviation_0" ? right : off) += count;
    }
    EXPECT_GT(right, 30000u) << row.test;
    EXPECT_GT(off, 20u) << row.test << ": a stand-in that is always right would test nothing";
    const std::string name = row.test.substr(0, row.test.find(' '));
    EXPECT_TRUE(std::filesystem::exists(output + "/" + name + "_by_exponent.tsv"));
    EXPECT_EQ(std::filesystem::file_size(output + "/" + name + "_deviations_3f800000.i8"), 4096u);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace halfulp::gpu
