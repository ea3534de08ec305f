// This project's own engines as implementations under test: scalar (cast.hpp) and batch (batch.hpp).
#include "halfulp/vectors/implementation.hpp"

#ifdef HALFULP_HAVE_BATCH
#include "halfulp/batch.hpp"
#endif

namespace halfulp::vectors {

Implementation scalar_engine() {
  Implementation engine;
  engine.name = "halfulp";
  engine.about = "scalar integer engine, any cast";
  engine.version = HALFULP_VERSION;
  engine.open_plan = [](const CastPlan& plan) -> Kernel {
    return [plan](std::span<const std::byte> in, std::span<std::byte> out) {
      map_storage(*plan.from, plan.to, in, out, [&plan](std::uint64_t word) { return plan(word).code; });
    };
  };
  return engine;
}

#ifdef HALFULP_HAVE_BATCH
namespace {

/// One batch from bytes to bytes. Buffers of bytes hold objects of any type implicitly; kernels receive
/// aligned ones.
void run_batch(const BatchCaster& caster, std::span<const std::byte> in, std::span<std::byte> out) {
  with_word_type(caster.from().storage_bytes(), [&](auto source) {
    with_word_type(caster.to().storage_bytes(), [&](auto target) {
      using Source = decltype(source);
      using Target = decltype(target);
      const std::span words(reinterpret_cast<const Source*>(in.data()), in.size() / sizeof(Source));
      const std::span codes(reinterpret_cast<Target*>(out.data()), out.size() / sizeof(Target));
      const BatchResult result = caster.run(words, codes);
      if (!result.ok()) throw KernelFailure("refused the word at index " + std::to_string(result.done));
    });
  });
}

}  // namespace
#endif

Implementation batch_engine() {
  Implementation engine;
  engine.name = "halfulp-batch";
  engine.about = "batch engine (SIMD and tables), any cast without random words";
  engine.version = HALFULP_VERSION;
#ifdef HALFULP_HAVE_BATCH
  engine.version += ", " + std::string(simd_level());
  engine.open_plan = [](const CastPlan& plan) -> Kernel {
    if (plan.policy.rounding == Rounding::stochastic) {
      throw InputError("implementation halfulp-batch", "stochastic rounding is not offered here",
                       "use --impl halfulp");
    }
    const BatchCaster last(plan.via ? *plan.via : *plan.from, plan.to, plan.policy);
    if (!plan.via) return [last](auto in, auto out) { run_batch(last, in, out); };
    constexpr CastPolicy intermediate = {.overflow = Overflow::overflow, .nan_code = NanCode::payload};
    const BatchCaster first(*plan.from, *plan.via, intermediate);
    return [first, last](std::span<const std::byte> in, std::span<std::byte> out) {
      const std::size_t count = in.size() / static_cast<std::size_t>(first.from().storage_bytes());
      std::vector<std::byte> middle(count * static_cast<std::size_t>(first.to().storage_bytes()));
      run_batch(first, in, middle);
      run_batch(last, middle, out);
    };
  };
#else
  engine.missing = "the batch engine is not part of this build";
#endif
  return engine;
}

}  // namespace halfulp::vectors
