// The registry of implementations, and the choice of plan and function for a SPEC.
#include <array>
#include <memory>
#include <mutex>

#include "halfulp/names.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {

namespace {

/// Made on first use: looking for a library can take a while.
struct Entry {
  std::string_view name;
  Implementation (*make)();
};
constexpr auto kEntries = std::to_array<Entry>({{"halfulp", scalar_engine},
                                                {"halfulp-batch", batch_engine},
                                                {"cpu-f16c", cpu_f16c},
                                                {"cpu-avx512-bf16", cpu_avx512_bf16},
                                                {"cpu-arm-fcvt", cpu_arm_fcvt},
                                                {"cuda-headers", cuda_headers},
                                                {"apfloat", apfloat},
                                                {"ml_dtypes", ml_dtypes},
                                                {"gfloat", gfloat},
                                                {"numpy", numpy}});

const Implementation& made(std::size_t entry) {
  static std::array<std::unique_ptr<Implementation>, kEntries.size()> cache;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!cache[entry]) cache[entry] = std::make_unique<Implementation>(kEntries[entry].make());
  return *cache[entry];
}

}  // namespace

std::vector<const Implementation*> implementations() {
  std::vector<const Implementation*> all;
  for (std::size_t i = 0; i < kEntries.size(); ++i) all.push_back(&made(i));
  return all;
}

const Implementation& require_implementation(std::string_view name) {
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name == name) return made(i);
  }
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  for (const Implementation& mutant : mutants()) {
    if (mutant.name == name) return mutant;
    names.push_back(mutant.name);
  }
  const std::string near = nearest_names(name, names);
  throw InputError("implementation '" + std::string(name.substr(0, 60)) + "'", "unknown",
                   near.empty() ? "`halfulp verify --impl list` shows them" : "nearest names: " + near);
}

namespace {

/// How well a claim serves a plan: same dialect, then same rounding, then same overflow rule, then
/// everything else.
int fitness(const CastPlan& plan, const CastPlan& claimed) {
  return (plan.dialect == claimed.dialect ? 8 : 0) +
         (plan.policy.rounding == claimed.policy.rounding ? 4 : 0) +
         (plan.policy.overflow == claimed.policy.overflow ? 2 : 0) +
         (plan.policy == claimed.policy ? 1 : 0);
}

/// What a plan asks beyond a claim.
std::string unclaimed(const CastPlan& plan, const CastPlan& claimed) {
  if (plan.policy.rounding != claimed.policy.rounding)
    return "rounding=" + std::string(name_of(plan.policy.rounding));
  if (plan.policy.overflow != claimed.policy.overflow)
    return "overflow=" + std::string(name_of(plan.policy.overflow));
  return plan.policy == claimed.policy && plan.via == claimed.via ? "" : "this policy";
}

}  // namespace

Chosen choose(const Implementation& implementation, const CastRequest& request) {
  if (implementation.open_plan) {
    CastPlan plan = make_plan(request);
    Kernel kernel = implementation.open_plan(plan);
    return {.plan = std::move(plan), .kernel = std::move(kernel)};
  }
  const std::string from =
      request.from == "exact" ? "exact" : std::string(require_format(request.from).name);
  const std::string to(require_format(request.to).name);
  const Claim* best = nullptr;
  CastPlan best_plan;
  CastPlan best_claimed;
  int best_fitness = -1;
  for (const Claim& claim : implementation.claims) {
    const CastRequest claimed_request = parse_cast_spec(claim.spec);
    if (claimed_request.from != from || claimed_request.to != to) continue;
    const CastPlan claimed = make_plan(claimed_request);
    CastRequest wanted = request;
    if (wanted.dialect.empty()) {
      // The claim's own dialect and options, with what the user named on top.
      wanted = claimed_request;
      for (const auto& option : request.options) {
        std::erase_if(wanted.options, [&](const auto& own) { return own.first == option.first; });
        wanted.options.push_back(option);
      }
    }
    CastPlan plan = make_plan(wanted);
    const int score = fitness(plan, claimed);
    if (score <= best_fitness) continue;
    best = &claim;
    best_plan = std::move(plan);
    best_claimed = claimed;
    best_fitness = score;
  }
  if (!best) {
    throw InputError("implementation " + implementation.name, "it has no cast from " + from + " to " + to,
                     "`halfulp verify --impl list " + implementation.name + "` shows its casts");
  }
  Chosen chosen;
  chosen.unclaimed = unclaimed(best_plan, best_claimed);
  chosen.own_dialect = request.dialect.empty() && !best_plan.dialect.empty();
  chosen.plan = std::move(best_plan);
  chosen.kernel = best->open();
  return chosen;
}

}  // namespace halfulp::vectors
