// The public face of the batch engine: checks of spans, then the tier of the plan. Twin: halfulp::cast, per element.
#include "halfulp/batch.hpp"

#include <algorithm>

#include "halfulp/cast.hpp"
#include "halfulp/detail/batch_plan.hpp"
#include "halfulp/detail/float_modes.hpp"
#include "halfulp/formats.hpp"

namespace halfulp {
namespace detail {
namespace {

BatchResult run_simd(const BatchPlan& plan, const void* in, std::size_t count, void* out, BatchStore store) {
  const DefaultFloatModes modes;
  const auto* words = static_cast<const std::uint8_t*>(in);
  auto* codes = static_cast<std::uint8_t*>(out);
  for (std::size_t done = 0; done < count;) {
    done += encode_f32(*plan.encode, words + 4 * done, count - done, codes + done, store == BatchStore::streaming);
    if (done == count) break;
    const std::size_t end = std::min(count, done + kEncodeStretch);
    const BatchResult stretch = run_scalar(plan, in, done, end, out, {});
    if (!stretch.ok()) return stretch;
    done = end;
  }
  return {count, Refusal::none};
}

}  // namespace

BatchResult run_plan(const BatchPlan& plan, const void* in, std::size_t in_bytes, std::size_t count, void* out,
                     std::size_t out_bytes, std::size_t capacity, const BatchOptions& options) {
  if (in_bytes != static_cast<std::size_t>(plan.from.storage_bytes())) {
    throw std::invalid_argument("halfulp: the input's elements have not the storage size of the source format");
  }
  if (out_bytes != static_cast<std::size_t>(plan.to.storage_bytes())) {
    throw std::invalid_argument("halfulp: the output's elements have not the storage size of the target format");
  }
  if (capacity < count) throw std::invalid_argument("halfulp: the output is shorter than the input");
  const auto in_begin = reinterpret_cast<std::uintptr_t>(in), out_begin = reinterpret_cast<std::uintptr_t>(out);
  if (count != 0 && in_begin < out_begin + count * out_bytes && out_begin < in_begin + count * in_bytes) {
    throw std::invalid_argument("halfulp: the output overlaps the input");
  }
  const bool stochastic = plan.policy.rounding == Rounding::stochastic;
  if (stochastic && options.random.size() < count) {
    throw std::invalid_argument("halfulp: stochastic rounding needs a random word for every element");
  }
  if (plan.encode) return run_simd(plan, in, count, out, options.store);
  if (plan.direct) return run_direct(plan, in, count, out);
  if (plan.sticky) return run_sticky(plan, in, count, out);
  return run_scalar(plan, in, 0, count, out, stochastic ? options.random : std::span<const std::uint32_t>{});
}

BatchCaster decoder(const FormatSpec& from) {
  if (!decodes_exactly(from)) throw std::invalid_argument("halfulp: the format has numbers that f32 has not");
  return {from, spec_of("f32"), CastPolicy{}};
}

}  // namespace detail

BatchCaster::BatchCaster(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy) {
  if (!valid(from) || !valid(to)) throw std::invalid_argument("halfulp: not a valid format");
  plan_ = detail::plan_for(from, to, policy);
}

BatchTier BatchCaster::tier() const { return plan_->tier; }
const FormatSpec& BatchCaster::from() const { return plan_->from; }
const FormatSpec& BatchCaster::to() const { return plan_->to; }
const CastPolicy& BatchCaster::policy() const { return plan_->policy; }

bool decodes_exactly(const FormatSpec& spec) {
  if (!valid(spec)) return false;
  switch (spec.encoding) {
    case Encoding::twos_complement: return spec.width - spec.sign_bits() <= 24 && spec.fraction_bits <= 100;
    case Encoding::codebook:
    case Encoding::hifloat8: return true;
    case Encoding::floating: break;
  }
  const int largest_exponent =
      static_cast<int>(spec.largest_magnitude() >> spec.fraction_bits) -
      spec.bias;
  return spec.fraction_bits <= 23 && largest_exponent <= 127 && spec.min_exponent() - spec.fraction_bits >= -149;
}

}  // namespace halfulp
