// Which tier serves a cast, and a cache of the plans made last: tables take milliseconds to fill and up to half a MiB.
#include <mutex>

#include "halfulp/detail/batch_plan.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::detail {
namespace {

constexpr std::size_t kPlans = 64;

struct Cache {
  std::mutex mutex;
  std::vector<std::shared_ptr<const BatchPlan>> plans;  ///< used last at the back
};

Cache& cache() {
  static Cache instance;
  return instance;
}

std::shared_ptr<const BatchPlan> make_plan(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy) {
  auto plan = std::make_shared<BatchPlan>();
  plan->from = from;
  plan->to = to;
  plan->policy = policy;
  const bool deterministic = policy.rounding != Rounding::stochastic && policy.rounding != Rounding::unrecorded;
  if (!deterministic) return plan;
  plan->encode = encode_constants(from, to, policy);
  if (plan->encode) {
    plan->tier = BatchTier::simd;
  } else if (from.storage_bytes() <= 2) {
    plan->tier = BatchTier::table;
    plan->direct = make_direct_table(from, to, policy);
    plan->decode = decode_constants(from, to, *plan->direct);
  } else if (from == spec_of("f32") && to.storage_bytes() == 1) {
    plan->tier = BatchTier::table;
    plan->sticky = make_sticky_table(to, policy);
  }
  return plan;
}

}  // namespace

std::shared_ptr<const BatchPlan> plan_for(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy) {
  Cache& c = cache();
  const auto find = [&]() -> std::shared_ptr<const BatchPlan> {
    for (std::size_t i = c.plans.size(); i-- > 0;) {
      if (c.plans[i]->to != to || c.plans[i]->from != from || c.plans[i]->policy != policy) continue;
      auto found = c.plans[i];
      c.plans.erase(c.plans.begin() + static_cast<std::ptrdiff_t>(i));
      c.plans.push_back(found);
      return found;
    }
    return nullptr;
  };
  {
    const std::scoped_lock lock(c.mutex);
    if (auto found = find()) return found;
  }
  auto made = make_plan(from, to, policy);  // not under the lock: other threads need not wait for a table
  const std::scoped_lock lock(c.mutex);
  if (auto found = find()) return found;
  if (c.plans.size() == kPlans) c.plans.erase(c.plans.begin());
  c.plans.push_back(made);
  return made;
}

}  // namespace halfulp::detail
