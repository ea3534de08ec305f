// Which SIMD levels the batch engine may use: Highway's targets by name.
#include "halfulp/batch.hpp"

#define HWY_WANT_AVX3_DL 1
#include "hwy/highway.h"

namespace halfulp {
namespace {

/// Targets of this build and processor as bits; Highway's lower bits are the better targets.
std::int64_t available() {
  static const std::int64_t bits = hwy::SupportedTargets() & HWY_TARGETS;
  return bits;
}

template <class Visit>
void for_each_target(Visit visit) {
  for (auto rest = static_cast<std::uint64_t>(available()); rest != 0; rest &= rest - 1) {
    visit(static_cast<std::int64_t>(rest & (~rest + 1)));
  }
}

void use(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);  // 0: whatever the processor has
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string_view> simd_targets() {
  std::vector<std::string_view> names;
  for_each_target([&](std::int64_t target) { names.emplace_back(hwy::TargetName(target)); });
  return names;
}

std::string_view simd_level() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

bool set_simd_level(std::string_view name) {
  if (name.empty()) {
    use(0);
    return true;
  }
  bool found = false;
  for_each_target([&](std::int64_t target) {
    if (name != hwy::TargetName(target)) return;
    use(target);
    found = true;
  });
  return found;
}

}  // namespace halfulp
