// Runs a file's problem through a kernel, on the GPU under nvcc, in the thread shim elsewhere, and compares every stage.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "gpu_check/attention/cases.hpp"
#include "gpu_check/attention/file.hpp"
#include "gpu_check/backend.hpp"
#include "gpu_check/kernels/attention.cuh"
#include "gpu_check/report.hpp"

namespace halfulp::gpu {

template <class C, class Qk, class Pv>
struct AttentionTraits {
  using Cache = C;
  using Code = typename C::Code;
  using QkUnit = Qk;
  using PvUnit = Pv;
};
using Fp8Cache = ContiguousCache<std::uint8_t>;
using Prefill = AttentionTraits<Fp8Cache, EmulatedUnit, EmulatedUnit>;
using PrefillMmaSync = AttentionTraits<Fp8Cache, MmaSyncUnit<MmaInstruction::e4m3_f32>, MmaSyncUnit<MmaInstruction::e4m3_f32>>;
using PrefillWgmmaE4m3 = AttentionTraits<Fp8Cache, WgmmaUnit<MmaInstruction::wgmma_e4m3_f32>, WgmmaUnit<MmaInstruction::wgmma_e4m3_f32>>;
using PrefillWgmmaE5m2 = AttentionTraits<Fp8Cache, WgmmaUnit<MmaInstruction::wgmma_e5m2_f32>, WgmmaUnit<MmaInstruction::wgmma_e5m2_f32>>;
using Paged = AttentionTraits<PagedCache, EmulatedUnit, EmulatedUnit>;
using PagedMmaSync = AttentionTraits<PagedCache, MmaSyncUnit<MmaInstruction::e4m3_f32>, MmaSyncUnit<MmaInstruction::e4m3_f32>>;
using Int8MmaSync = AttentionTraits<Fp8Cache, MmaSyncUnit<MmaInstruction::s8_s32>, EmulatedUnit>;
using Kivi = AttentionTraits<KiviCache, EmulatedUnit, EmulatedUnit>;
using KiviMmaSync = AttentionTraits<KiviCache, MmaSyncUnit<MmaInstruction::f16_f32>, MmaSyncUnit<MmaInstruction::f16_f32>>;

/// What a comparison found.
struct AttentionOutcome {
  std::vector<std::string> faults;  ///< of both launches
  bool no_image = false;
  std::uint64_t words = 0, mismatches = 0;
  std::vector<std::string> first;   ///< per differing stage, in order, its first word: place, expected, got
  double seconds = 0;
};

template <class T>
std::vector<T> narrowed(const std::vector<std::uint32_t>& words) {
  std::vector<T> values;
  values.reserve(words.size());
  for (const std::uint32_t word : words) {
    if constexpr (std::is_same_v<T, float>) values.push_back(std::bit_cast<float>(word));
    else values.push_back(static_cast<T>(word));
  }
  return values;
}

/// The arrays of a cache as buffers.
template <class Cache>
struct CacheBuffers;

template <class T>
struct CacheBuffers<ContiguousCache<T>> {
  Buffer<T> k, v;
  explicit CacheBuffers(const AttentionFile& file) : k("k", narrowed<T>(file.input("k"))), v("v", narrowed<T>(file.input("v"))) {}
  ContiguousCache<T> cache() const { return {k.in(), v.in()}; }
};

template <>
struct CacheBuffers<PagedCache> {
  Buffer<std::uint8_t> k, v;
  Buffer<std::uint32_t> pages;
  explicit CacheBuffers(const AttentionFile& file)
      : k("k pool", narrowed<std::uint8_t>(file.input("k"))), v("v pool", narrowed<std::uint8_t>(file.input("v"))), pages("page table", file.input("pages")) {}
  PagedCache cache() const { return {k.in(), v.in(), pages.in()}; }
};

template <>
struct CacheBuffers<KiviCache> {
  Buffer<std::uint32_t> k_codes, v_codes;
  Buffer<std::uint16_t> k_step, k_minimum, v_step, v_minimum, k_recent, v_recent;
  explicit CacheBuffers(const AttentionFile& file)
      : k_codes("k codes", file.input("k_codes")), v_codes("v codes", file.input("v_codes")), k_step("k steps", halves(file, "k_step")),
        k_minimum("k minima", halves(file, "k_minimum")), v_step("v steps", halves(file, "v_step")), v_minimum("v minima", halves(file, "v_minimum")),
        k_recent("recent k", halves(file, "k_recent")), v_recent("recent v", halves(file, "v_recent")) {}
  KiviCache cache() const {
    return {k_codes.in(), v_codes.in(), k_step.in(), k_minimum.in(), v_step.in(), v_minimum.in(), k_recent.in(), v_recent.in()};
  }

 private:
  static std::vector<std::uint16_t> halves(const AttentionFile& file, const char* name) { return narrowed<std::uint16_t>(file.input(name)); }
};

/// One buffer per stage.
struct StageMemory {
  std::vector<std::unique_ptr<Buffer<std::uint32_t>>> buffers;  ///< as kStageNames
  explicit StageMemory(const AttentionPlan& plan) {
    for (const char* name : kStageNames) buffers.push_back(std::make_unique<Buffer<std::uint32_t>>(name, stage_size(plan, name)));
  }
  Buffer<std::uint32_t>& buffer(std::string_view name) const {
    return *buffers[static_cast<std::size_t>(std::find(std::begin(kStageNames), std::end(kStageNames), name) - std::begin(kStageNames))];
  }
  Out<std::uint32_t> out(std::string_view name) const { return buffer(name).out(); }
  StageBuffers all() const {
    return {out("L"), out("S"), out("m"), out("t"), out("P"), out("P_code"), out("alpha"), out("l"), out("O_tile"), out("row_sum"), out("m_last"), out("O")};
  }
};

inline void compare_stages(const AttentionFile& file, const StageMemory& stages, AttentionOutcome& outcome) {
  for (const char* stage : kStageNames) {
    const auto got = stages.buffer(stage).download();
    const auto& expected = file.stages.at(stage);
    bool first = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ++outcome.words;
      if (got[i] == expected[i]) continue;
      ++outcome.mismatches;
      if (first) outcome.first.push_back(stage_place(file.plan, stage, i) + ": expected " + hex(expected[i], 8) + ", got " + hex(got[i], 8));
      first = false;
    }
  }
}

/// Runs both kernels with `blocks` blocks and compares.
template <class Traits, int kFault = kNoFault>
AttentionOutcome run_attention_kernel(const AttentionFile& file, unsigned blocks) {
  using Code = typename Traits::Code;
  AttentionPlan plan = file.plan;
  const std::size_t parts = static_cast<std::size_t>(plan.rows()) * plan.parts();
  const Buffer<Code> q("q", narrowed<Code>(file.input("q")));
  const Buffer<float> logit_scale("logit_scale", narrowed<float>(file.input("logit_scale"))), sink("sink", narrowed<float>(file.input("sink"))),
      v_scale("v_scale", narrowed<float>(file.input("v_scale")));
  const CacheBuffers<typename Traits::Cache> cache(file);
  const StageMemory stages(plan);
  Buffer<std::uint32_t> part_m("part m", parts), part_sum("part sum", parts), part_O("part O", parts * plan.value_dim);
  AttentionOutcome outcome;
  const Launched first =
      launch("attention_parts", attention_parts<Traits, kFault>, {blocks, kAttentionThreads}, plan, cache.cache(),
             AttentionInputs<Code>{q.in(), logit_scale.in(), sink.in(), v_scale.in()}, stages.all(), PartBuffers{part_m.out(), part_sum.out(), part_O.out()});
  outcome.faults = first.faults;
  outcome.no_image = first.no_image;
  outcome.seconds = first.seconds;
  if (first.no_image) return outcome;
  part_m.upload(part_m.download()), part_sum.upload(part_sum.download()), part_O.upload(part_O.download());
  const Launched second = launch("attention_combine", attention_combine, {blocks, 64}, plan, logit_scale.in(), v_scale.in(), part_m.in(),
                                 part_sum.in(), part_O.in(), stages.all());
  outcome.faults.insert(outcome.faults.end(), second.faults.begin(), second.faults.end());
  outcome.seconds += second.seconds;
  compare_stages(file, stages, outcome);
  return outcome;
}

inline AttentionOutcome run_attention_case(AttentionKernel kernel, const AttentionFile& file, unsigned blocks) {
  switch (kernel) {
    case AttentionKernel::prefill: return run_attention_kernel<Prefill>(file, blocks);
    case AttentionKernel::prefill_mma_sync: return run_attention_kernel<PrefillMmaSync>(file, blocks);
    case AttentionKernel::prefill_wgmma_e4m3: return run_attention_kernel<PrefillWgmmaE4m3>(file, blocks);
    case AttentionKernel::prefill_wgmma_e5m2: return run_attention_kernel<PrefillWgmmaE5m2>(file, blocks);
    case AttentionKernel::paged: return run_attention_kernel<Paged>(file, blocks);
    case AttentionKernel::paged_mma_sync: return run_attention_kernel<PagedMmaSync>(file, blocks);
    case AttentionKernel::int8_mma_sync: return run_attention_kernel<Int8MmaSync>(file, blocks);
    case AttentionKernel::kivi: return run_attention_kernel<Kivi>(file, blocks);
    case AttentionKernel::kivi_mma_sync: break;
  }
  return run_attention_kernel<KiviMmaSync>(file, blocks);
}

}  // namespace halfulp::gpu
