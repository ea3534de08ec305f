// The thread shim against kernels with one seeded fault each, and against the same kernels without it.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "gpu_check/backend.hpp"

namespace halfulp::gpu {
namespace {

using host::FaultKind;
using host::Faults;

constexpr unsigned kThreads = 64;

enum Seed { kNone, kMissingBarrier, kEqualBits, kWrongIndex, kReadBeyond, kWriteBeyond, kRawWrite, kDiverge, kEarlyReturn, kTwoBarriers, kNoInit };

/// out[block] = sum of in[block * threads ...], by a tree in shared memory.
HALFULP_KERNEL block_sum(In<unsigned> in, Out<unsigned> out, int seed) {
  HALFULP_SHARED(unsigned, partial, kThreads);
  const unsigned t = threadIdx.x;
  if (seed == kEarlyReturn && t == 17) return;
  if (seed != kNoInit || t != 5) partial[t] = in[blockIdx.x * blockDim.x + t + (seed == kReadBeyond ? 1u : 0u)];
  if (seed == kEqualBits) partial[0] = in[blockIdx.x * blockDim.x];  // every thread stores the same value
  if (seed == kDiverge) {
    if (t < 40) __syncthreads();
  } else if (seed == kTwoBarriers && t < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half + (seed == kWrongIndex && half == 8 ? 1u : 0u)];
    if (seed != kMissingBarrier || half != 32) __syncthreads();
  }
  if (t == 0) out[blockIdx.x + (seed == kWriteBeyond ? 1u : 0u)] = partial[0];
  if (seed == kRawWrite && t == 0) out.data()[gridDim.x] = 7;
}

struct Outcome {
  Faults faults;
  std::vector<unsigned> sums;
};

Outcome run(int seed) {
  constexpr unsigned kBlocks = 3;
  std::vector<unsigned> values(kBlocks * kThreads);
  std::iota(values.begin(), values.end(), 1u);
  const Buffer<unsigned> in("in", values);
  Buffer<unsigned> out("out", kBlocks);
  Outcome outcome;
  launch("block_sum", block_sum, {kBlocks, kThreads}, &outcome.faults, in.in(), out.out(), seed);
  outcome.sums = out.download();
  return outcome;
}

TEST(Shim, ARightKernelHasNoFaultAndTheRightResult) {
  const Outcome right = run(kNone);
  EXPECT_EQ(right.faults.count, 0u) << right.faults.text();
  EXPECT_EQ(right.sums, (std::vector<unsigned>{64 * 65 / 2, 64 * 65 / 2 + 64 * 64, 64 * 65 / 2 + 2 * 64 * 64}));
}

/// The fault is found, its text names array and threads, and nothing else is claimed before it.
void expect_first(int seed, FaultKind kind, const std::string& text) {
  const Outcome outcome = run(seed);
  ASSERT_GT(outcome.faults.count, 0u);
  EXPECT_EQ(outcome.faults.first[0].kind, kind) << outcome.faults.text();
  EXPECT_NE(outcome.faults.first[0].text.find(text), std::string::npos) << outcome.faults.text();
}

TEST(Shim, MissingBarrierIsARaceWithBothThreadsNamed) {
  expect_first(kMissingBarrier, FaultKind::race,
               "shared array partial[16]: read by thread 0 of block 0 and write by thread 16 of block 0, no barrier between");
}
TEST(Shim, MissingBarrierAlsoChangesBitsBetweenOrders) {
  EXPECT_TRUE(run(kMissingBarrier).faults.has(FaultKind::order));
}
TEST(Shim, ARaceThatWritesEqualBitsIsReported) {
  const Outcome outcome = run(kEqualBits);
  ASSERT_GT(outcome.faults.count, 0u);
  EXPECT_EQ(outcome.faults.first[0].kind, FaultKind::race);
  EXPECT_NE(outcome.faults.first[0].text.find("partial[0]: write by thread 0 of block 0 and write by thread 1 of block 0"), std::string::npos);
  EXPECT_EQ(outcome.sums, run(kNone).sums) << "the seeded race was meant to leave the bits alone";
}
TEST(Shim, AWrongIndexInsideTheArrayChangesTheResultInEveryOrder) {
  const Outcome wrong = run(kWrongIndex);
  EXPECT_EQ(wrong.faults.count, 0u) << "no access is out of order or range: only the result can show it";
  EXPECT_NE(wrong.sums, run(kNone).sums);
}
TEST(Shim, AReadBeyondTheBufferIsNamed) {
  expect_first(kReadBeyond, FaultKind::out_of_range, "in[192] read by thread 63 of block 2; it has 192 elements");
}
TEST(Shim, AWriteBeyondTheBufferIsNamed) {
  expect_first(kWriteBeyond, FaultKind::out_of_range, "out[3] written by thread 0 of block 2; it has 3 elements");
}
TEST(Shim, AWriteThroughARawPointerIsFoundByTheCanaries) { expect_first(kRawWrite, FaultKind::canary, "4 bytes beside out"); }
TEST(Shim, DivergenceNamesTheThreads) {
  // Threads 40-63 skip the first barrier and wait at the next one.
  expect_first(kDiverge, FaultKind::divergence, "block 0: threads 0-39 wait at the block barrier of shim_test.cpp:");
  EXPECT_NE(run(kDiverge).faults.first[0].text.find("at another barrier: 40-63"), std::string::npos) << run(kDiverge).faults.text();
}
TEST(Shim, AThreadThatEndedBeforeABarrierIsNamed) {
  expect_first(kEarlyReturn, FaultKind::divergence, "threads 0-16, 18-63 wait at the block barrier");
  EXPECT_NE(run(kEarlyReturn).faults.first[0].text.find("ended: 17"), std::string::npos);
}
TEST(Shim, TwoBarriersInTwoBranchesAreDivergence) {
  expect_first(kTwoBarriers, FaultKind::divergence, "threads 0-31 wait");
}
TEST(Shim, AReadOfWhatNobodyWroteIsNamed) {
  expect_first(kNoInit, FaultKind::uninitialised, "shared array partial[5] by thread 5 of block 0");
}

/// Blocks have no barrier between them: any two that touch one word race.
HALFULP_KERNEL blocks_meet(Out<unsigned> out, int atomic) {
  if (threadIdx.x != 0) return;
  if (atomic != 0) {
    atomicAdd(&out[0], 1u);
  } else {
    out[0] = 5u;
  }
}
TEST(Shim, BlocksThatWriteOneWordRaceUnlessAtomic) {
  Buffer<unsigned> out("counter", std::vector<unsigned>{0});
  Faults plain, atomic;
  launch("blocks_meet", blocks_meet, {2, 32}, &plain, out.out(), 0);
  ASSERT_GT(plain.count, 0u);
  EXPECT_NE(plain.first[0].text.find("counter[0]: write by thread 0 of block 0 and write by thread 0 of block 1"), std::string::npos);
  out.upload(std::vector<unsigned>{0});
  launch("blocks_meet", blocks_meet, {2, 32}, &atomic, out.out(), 1);
  EXPECT_EQ(atomic.count, 0u) << atomic.text();
  EXPECT_EQ(out.download()[0], 2u);
}

/// The first thread to come takes the place: atomics, no race, and yet the result depends on the order.
HALFULP_KERNEL first_come(Out<unsigned> counter, Out<unsigned> place) { place[threadIdx.x] = atomicAdd(&counter[0], 1u); }
TEST(Shim, AnOrderThatDecidesTheResultIsFoundWithoutARace) {
  Buffer<unsigned> counter("counter", std::vector<unsigned>{0}), place("place", 8);
  Faults faults;
  launch("first_come", first_come, {1, 8}, &faults, counter.out(), place.out());
  ASSERT_GT(faults.count, 0u);
  EXPECT_EQ(faults.first[0].kind, FaultKind::order);
  EXPECT_NE(faults.first[0].text.find("place"), std::string::npos);
}

/// Every block counts the blocks that came while it lived: none, unless blocks run at the same time.
HALFULP_KERNEL company(Out<unsigned> counter, Out<unsigned> met) {
  if (threadIdx.x != 0) return;
  const unsigned place = atomicAdd(&counter[0], 1u);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(host::blocks_are_concurrent() ? 20 : 0);
  unsigned now = atomicAdd(&counter[0], 0u);
  while (now < gridDim.x && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::yield();
    now = atomicAdd(&counter[0], 0u);
  }
  met[blockIdx.x] = host::blocks_are_concurrent() ? now - place - 1 : 0;
}
TEST(Shim, BlocksRunAtTheSameTimeToo) {
  constexpr unsigned kBlocks = host::kConcurrent.cpu_threads;
  Buffer<unsigned> counter("counter", std::vector<unsigned>{0}), met("met", kBlocks);
  Faults faults;
  launch("company", company, {kBlocks, 32}, &faults, counter.out(), met.out());
  EXPECT_EQ(faults.count, 1u) << faults.text();
  ASSERT_TRUE(faults.has(FaultKind::order));
  EXPECT_NE(faults.first[0].text.find("met: byte "), std::string::npos) << faults.text();
  EXPECT_NE(faults.first[0].text.find("differs between run 1 and a run with blocks on 4 CPU threads"), std::string::npos) << faults.text();
  // All four met: each block waited for the last one.
  const auto seen = met.download();
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0u), 3u + 2 + 1 + 0);
}

/// Blocks that work in shared memory and add to one word: the same bits whoever runs when.
HALFULP_KERNEL add_sums(Out<unsigned> total, Out<unsigned> own) {
  HALFULP_SHARED(unsigned, partial, kThreads);
  partial[threadIdx.x] = blockIdx.x * kThreads + threadIdx.x;
  __syncthreads();
  own[blockIdx.x * kThreads + threadIdx.x] = partial[kThreads - 1 - threadIdx.x];
  atomicAdd(&total[0], static_cast<unsigned>(partial[threadIdx.x ^ 1u]));
}
TEST(Shim, ConcurrentBlocksGiveTheSameBits) {
  constexpr unsigned kBlocks = 40, kAll = kBlocks * kThreads;
  Buffer<unsigned> total("total", std::vector<unsigned>{0}), own("own", kAll);
  Faults faults;
  launch("add_sums", add_sums, {kBlocks, kThreads}, &faults, total.out(), own.out());
  EXPECT_EQ(faults.count, 0u) << faults.text();
  EXPECT_EQ(total.download()[0], kAll * (kAll - 1) / 2);
}

/// What is found on any CPU thread is reported.
HALFULP_KERNEL wrong_in_company(Out<unsigned> out, int seed) {
  HALFULP_SHARED(unsigned, word, 1);
  const bool here = host::blocks_are_concurrent() && blockIdx.x == 5;
  if (seed == 1 && here && threadIdx.x == 3) out[gridDim.x] = 1u;
  if (seed == 2 && here) word[0] = 1u;
  if (seed == 3 && here && threadIdx.x < 7) __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x;
}
TEST(Shim, FaultsOfConcurrentBlocksAreReported) {
  const std::pair<int, std::pair<FaultKind, const char*>> seeds[] = {{1, {FaultKind::out_of_range, "out[8] written by thread 3 of block 5"}},
                                                                     {2, {FaultKind::race, "word[0]: write by thread 0 of block 5 and write by thread 1"}},
                                                                     {3, {FaultKind::divergence, "block 5: threads 0-6 wait"}}};
  Buffer<unsigned> out("out", 8);
  for (const auto& [seed, expected] : seeds) {
    Faults faults;
    launch("wrong_in_company", wrong_in_company, {8, 32}, &faults, out.out(), seed);
    ASSERT_NE(faults.count, 0u) << seed;
    EXPECT_EQ(faults.first[0].kind, expected.first) << faults.text();
    EXPECT_NE(faults.first[0].text.find(expected.second), std::string::npos) << faults.text();
  }
}

HALFULP_KERNEL warp_functions(Out<unsigned> out, int seed) {
  const unsigned lane = threadIdx.x % kWarp;
  unsigned sum = lane + 1;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const unsigned odd = __ballot_sync(0xffffffffu, lane % 2 == 1);
  const unsigned next = __shfl_down_sync(0xffffffffu, lane, 1);
  if (seed == 1 && lane >= 30) return;
  const unsigned third = __shfl_sync(0xffffffffu, lane * 10, 3);
  out[threadIdx.x * 4] = sum;
  out[threadIdx.x * 4 + 1] = odd;
  out[threadIdx.x * 4 + 2] = next;
  out[threadIdx.x * 4 + 3] = third;
}
TEST(Shim, ShufflesAndVotes) {
  Buffer<unsigned> out("out", 64 * 4);
  Faults faults, left;
  launch("warp_functions", warp_functions, {1, 64}, &faults, out.out(), 0);
  EXPECT_EQ(faults.count, 0u) << faults.text();
  const auto words = out.download();
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned lane = t % 32;
    EXPECT_EQ(words[t * 4], 32u * 33 / 2);
    EXPECT_EQ(words[t * 4 + 1], 0xaaaaaaaau);
    EXPECT_EQ(words[t * 4 + 2], lane == 31 ? 31 : lane + 1);
    EXPECT_EQ(words[t * 4 + 3], 30u);
  }
  launch("warp_functions", warp_functions, {1, 64}, &left, out.out(), 1);
  ASSERT_GT(left.count, 0u);
  EXPECT_EQ(left.first[0].kind, FaultKind::divergence);
  EXPECT_NE(left.first[0].text.find("wait at the warp barrier"), std::string::npos);
  EXPECT_NE(left.first[0].text.find("ended: 30-31, 62-63"), std::string::npos) << left.text();
}

/// Lane 0 of each warp hands a word to its warp: __syncwarp orders that, and does not order it for the other warp.
HALFULP_KERNEL hand_over(Out<unsigned> out, int seed) {
  HALFULP_SHARED(unsigned, word, 2);
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x % kWarp == 0) word[warp] = warp + 100;
  if (seed != 1) __syncwarp();
  out[threadIdx.x] = word[seed == 2 ? warp ^ 1 : warp];
}
TEST(Shim, SyncwarpOrdersOneWarpOnly) {
  Buffer<unsigned> out("out", 64);
  for (const int seed : {0, 1, 2}) {
    Faults faults;
    launch("hand_over", hand_over, {1, 64}, &faults, out.out(), seed);
    EXPECT_EQ(faults.has(FaultKind::race), seed != 0) << seed << "\n" << faults.text();
  }
}

}  // namespace
}  // namespace halfulp::gpu
