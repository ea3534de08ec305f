// Goals of the batch engine and of the compile-time cast: against the floor at every SIMD level, on both inputs.
#include <string>

#include "data.hpp"
#include "floor.hpp"
#include "goal.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::bench {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");

struct Input {
  const char* name;
  std::span<const std::uint32_t> (*words)();
};
constexpr Input kInputs[] = {{"rand", rand_words}, {"norm", norm_words}};

/// The level while this lives; Skip where the processor has not got it.
class AtLevel {
 public:
  explicit AtLevel(const std::string& level) {
    if (!set_simd_level(level)) throw Skip{"this processor or build has no " + level};
  }
  ~AtLevel() { set_simd_level(""); }
  AtLevel(const AtLevel&) = delete;
  AtLevel& operator=(const AtLevel&) = delete;
};

/// Compares the first 2^20 codes and every 17th of the others with halfulp::cast.
void check(const BatchCaster& caster, std::span<const std::uint32_t> in, std::span<const std::uint8_t> out) {
  for (std::size_t i = 0; i < in.size(); i += i < (1u << 20) ? 1 : 17) {
    const CastResult want = cast(caster.from(), in[i], caster.to(), caster.policy());
    if (want.code != out[i]) throw Skip{"WRONG RESULT at element " + std::to_string(i)};
  }
}

Kernel floor_kernel(std::span<const std::uint32_t> in) {
  return {[in] { floor_narrow(in.data(), in.size(), byte_output().data()); }, static_cast<double>(in.size())};
}

/// The level is switched inside the call, so that the floor keeps the best one.
Kernel cast_kernel(const BatchCaster& caster, const std::string& level, std::span<const std::uint32_t> in, BatchStore store) {
  return {[=] {
            set_simd_level(level);
            caster.run(in, byte_output(), {.store = store});
            set_simd_level("");
          },
          static_cast<double>(in.size())};
}

Comparison against_floor(const BatchCaster& caster, const std::string& level, const Input& input, BatchStore store) {
  { const AtLevel available(level); }
  const auto in = input.words();
  const Kernel kernel = cast_kernel(caster, level, in, store);
  kernel.call();
  check(caster, in, byte_output());
  return compare(kernel, floor_kernel(in));
}

void add_vector_goals(const std::string& target) {
  const BatchCaster caster(kF32, find_format(target)->spec);
  struct Level {
    const char* name;
    double goal;
  };
  for (const Level& level : {Level{"AVX3_DL", 0.88}, Level{"AVX3", 0.88}, Level{"AVX2", 0.75}, Level{"SSE4", 0.45}}) {
    for (const Input& input : kInputs) {
      const std::string name = "f32_to_" + target + "/" + level.name + "/" + input.name;
      add_goal(name, level.goal, "of the floor", [=] { return against_floor(caster, level.name, input, BatchStore::cached); });
      if (level.goal < 0.88) continue;
      add_goal(name + "/streaming", 1.0, "of the floor", [=] { return against_floor(caster, level.name, input, BatchStore::streaming); });
    }
    add_goal("f32_to_" + target + "/" + level.name + "/rand_over_norm", 0.95, "of norm", [=] {
      { const AtLevel available(level.name); }
      return compare(cast_kernel(caster, level.name, rand_words(), BatchStore::cached),
                     cast_kernel(caster, level.name, norm_words(), BatchStore::cached));
    });
  }
}

void add_table_goals() {
  struct Row {
    const char* target;
    CastPolicy policy;
  };
  // Tables of 64 KiB; one of 256 KiB (uint8); one with a marker (e2m1 refuses NaN); one that asks the engine (nf4).
  const Row rows[] = {{"e4m3", {.rounding = Rounding::to_odd}},
                      {"e5m2", {.rounding = Rounding::toward_positive, .overflow = Overflow::overflow}},
                      {"e4m3fnuz", {.rounding = Rounding::ties_to_away, .overflow = Overflow::saturate_keep_inf}},
                      {"e2m1", {.rounding = Rounding::toward_zero, .nan_none = NanNone::nan_to_zero}},
                      {"e8m0", {.rounding = Rounding::toward_positive, .negative = Negative::abs, .zero = ZeroInto::min}},
                      {"int8", {.nan_none = NanNone::nan_to_zero}},
                      {"uint8", {.nan_none = NanNone::nan_to_zero, .negative = Negative::zero}},
                      {"hif8", {}},
                      {"nf4", {.nan_none = NanNone::nan_to_zero}}};
  for (const Row& row : rows) {
    for (const Input& input : kInputs) {
      add_goal("f32_to_" + std::string(row.target) + "/table/" + input.name, 0.25, "of the floor", [=] {
        return against_floor(BatchCaster(kF32, find_format(row.target)->spec, row.policy), "", input, BatchStore::cached);
      });
    }
  }
}

void add_decode_goals() {
  struct Level {
    const char* name;
    double goal;
  };
  for (const Level& level : {Level{"AVX3_DL", 0.95}, Level{"AVX3", 0.85}, Level{"AVX2", 0.85}, Level{"SSE4", 0.85}}) {
    add_goal("e4m3_to_f32/" + std::string(level.name), level.goal, "of the floor", [=] {
      { const AtLevel available(level.name); }
      constexpr FormatSpec from = spec_of("e4m3");
      const auto in = rand_bytes();
      const Kernel decode = {[=] {
                               set_simd_level(level.name);
                               decode_batch(from, in, word_output());
                               set_simd_level("");
                             },
                             static_cast<double>(in.size())};
      decode.call();
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (word_output()[i] != cast(from, in[i], kF32, CastPolicy{}).code) throw Skip{"WRONG RESULT"};
        if (i >= (1u << 20)) i += 16;
      }
      return compare(decode, {[=] { floor_widen(in.data(), in.size(), word_output().data()); }, static_cast<double>(in.size())});
    });
  }
}

/// Millions of casts a second of the cast whose formats and policy are known at compile time, one by one, in cache.
template <FormatSpec To, CastPolicy Policy>
Comparison compile_time_cast(std::span<const std::uint32_t> words) {
  const auto in = words.first(std::size_t{1} << 14);
  constexpr int kPasses = 64;
  const Kernel kernel = {[=] {
                           for (int pass = 0; pass < kPasses; ++pass) {
                             for (const std::uint32_t word : in) benchmark::DoNotOptimize(cast<kF32, To, Policy>(word).code);
                           }
                         },
                         static_cast<double>(in.size()) * kPasses};
  Comparison c = compare(kernel, kernel);
  c.ratio = c.elements_per_second / 1e6;
  return c;
}

void add_scalar_goals() {
  for (const Input& input : kInputs) {
    const std::string suffix = std::string("/compile_time/") + input.name;
    add_goal("f32_to_e4m3" + suffix, 100, "M casts/s", [=] { return compile_time_cast<spec_of("e4m3"), CastPolicy{}>(input.words()); });
    add_goal("f32_to_bf16" + suffix, 100, "M casts/s", [=] { return compile_time_cast<spec_of("bf16"), CastPolicy{}>(input.words()); });
  }
}

}  // namespace

void add_cast_goals() {
  add_vector_goals("e4m3");
  add_vector_goals("e5m2");
  add_table_goals();
  add_decode_goals();
  add_scalar_goals();
}

void add_goals(bool quick) {
  if (quick) use_quick_size();
  add_cast_goals();
  add_peer_goals();
}

}  // namespace halfulp::bench
