// Compares results; see mma_judge.hpp.
#include "halfulp/vectors/mma/mma_judge.hpp"

#include <algorithm>

#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

const FormatSpec& result_format(const MmaPlan& plan) {
  return accumulation::format_of(plan.spec.output);
}

NumberClass class_of(const MmaPlan& plan, std::uint32_t word) {
  return unpack(result_format(plan), word & low_mask(result_format(plan).width)).number_class;
}

/// A place in value order; both zeros at 0.
std::int64_t place_of(const MmaPlan& plan, std::uint32_t word) {
  const FormatSpec& format = result_format(plan);
  if (format.encoding == Encoding::twos_complement) return static_cast<std::int32_t>(word);
  const auto place = static_cast<std::int64_t>(word & format.magnitude_mask());
  return (word & format.sign_mask()) != 0 ? -place : place;
}

MmaFinding kind_of(const MmaPlan& plan, const MmaRow& row, std::uint32_t got, std::uint32_t want) {
  const NumberClass of_got = class_of(plan, got), of_want = class_of(plan, want);
  if (of_got == NumberClass::nan || of_want == NumberClass::nan) return MmaFinding::nan;
  if (of_got == NumberClass::infinity || of_want == NumberClass::infinity) return MmaFinding::infinity;
  if (of_got == NumberClass::zero && of_want == NumberClass::zero) return MmaFinding::zero_sign;
  if ((row.flags & bit(MmaFlag::order_free)) != 0) return MmaFinding::order_free;
  return results_apart(plan, got, want).value_or(0) == 1 ? MmaFinding::last_place : MmaFinding::value;
}

}  // namespace

const MmaCase& MmaTally::first() const {
  const MmaGroup* first = nullptr;
  for (const MmaGroup& group : groups) {
    if (group.count > 0 && (first == nullptr || group.first.row < first->first.row)) first = &group;
  }
  return first->first;
}

std::optional<std::uint64_t> steps_apart(const MmaPlan& plan, std::uint32_t a, std::uint32_t b) {
  if (class_of(plan, a) == NumberClass::nan || class_of(plan, b) == NumberClass::nan) return std::nullopt;
  const std::int64_t distance = place_of(plan, a) - place_of(plan, b);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

std::uint64_t steps_per_result(const MmaPlan& plan) {
  const bool narrow = plan.spec.output == accumulation::Output::f32 && plan.spec.interval == 0;
  return std::uint64_t{1} << (narrow ? 23 - plan.spec.model.f32_fraction_bits : 0);
}

std::optional<std::uint64_t> results_apart(const MmaPlan& plan, std::uint32_t a, std::uint32_t b) {
  const auto steps = steps_apart(plan, a, b);
  if (!steps) return std::nullopt;
  const std::uint64_t result = steps_per_result(plan);
  return *steps / result + (*steps % result != 0 ? 1 : 0);
}

bool same_result(const MmaPlan& plan, std::uint32_t got, std::uint32_t want) {
  if (got == want) return true;
  return !plan.exact_nan && class_of(plan, got) == NumberClass::nan &&
         class_of(plan, want) == NumberClass::nan;
}

MmaTally judge_sums(const MmaPlan& plan, const MmaRows& rows, const MmaAnswers& answers) {
  MmaTally tally;
  const std::size_t count = std::min(answers.size(), rows.rows.size());
  tally.wrong_rows.assign(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    if (!answers[i]) continue;
    ++tally.rows;
    const std::uint32_t got = *answers[i], want = rows.expected[i];
    const bool right = same_result(plan, got, want);
    if (rows.undecided(i)) {
      ++tally.undecided;
      tally.as_expected += right ? 1 : 0;
      tally.as_other += same_result(plan, got, rows.other[i]) ? 1 : 0;
      continue;
    }
    if (right) continue;
    ++tally.wrong;
    tally.wrong_rows[i] = true;
    const MmaCase one = {kind_of(plan, rows.rows[i], got, want), i, got, want};
    MmaGroup& group = tally.groups[static_cast<std::size_t>(one.kind)];
    if (group.count++ == 0) group.first = one;
    group.off_by_one += results_apart(plan, got, want).value_or(0) == 1 ? 1 : 0;
  }
  return tally;
}

}  // namespace halfulp::vectors
