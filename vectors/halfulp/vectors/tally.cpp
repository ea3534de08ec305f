// Classes, distances and the merging of tallies.
#include "halfulp/vectors/tally.hpp"

#include <algorithm>

namespace halfulp::vectors {
namespace {

constexpr std::size_t kSampleSize = 4096;

/// The sample keeps the words with the smallest hashes, whatever the order of arrival.
std::uint64_t sample_key(const Finding& finding) {
  return counter_random(0x68616c66756c70, finding.word);
}
bool sampled_before(const Finding& a, const Finding& b) {
  return sample_key(a) < sample_key(b);
}

void shrink(std::vector<Finding>& sample) {
  if (sample.size() <= kSampleSize) return;
  const auto cut = sample.begin() + static_cast<std::ptrdiff_t>(kSampleSize);
  std::nth_element(sample.begin(), cut, sample.end(), sampled_before);
  sample.erase(cut, sample.end());
}

}  // namespace

std::uint64_t codes_off(const Expected& expected, std::uint64_t a, std::uint64_t b) {
  const FormatSpec& to = expected.plan().to;
  const auto position = [&](std::uint64_t code) {
    const std::uint64_t bits = code >> to.storage_shift;
    const auto magnitude = static_cast<std::int64_t>(bits & to.magnitude_mask());
    if (to.encoding == Encoding::twos_complement)
      return (bits & to.sign_mask()) ? magnitude - static_cast<std::int64_t>(to.sign_mask()) : magnitude;
    return (bits & to.sign_mask()) ? -magnitude : magnitude;
  };
  if (expected.is_target_nan(a) && expected.is_target_nan(b)) return 0;
  const std::int64_t difference = position(a) - position(b);
  const auto steps = static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
  // Bits above the code are a wrong code all the same.
  const bool same_code = to.storage_bits() >= 64 || (a ^ b) >> to.storage_bits() == 0;
  return steps == 0 && !same_code ? ~std::uint64_t{0} : steps;
}

FindingClass classify(const Expected& expected, const Finding& finding) {
  const CastPlan& plan = expected.plan();
  const int used = plan.to.storage_bits();
  if (used < 64 && finding.got >> used != 0) return FindingClass::does_not_fit;
  const Unpacked x = unpack(*plan.from, finding.word);
  if (x.number_class == NumberClass::nan) return FindingClass::nan;
  const std::uint8_t flags = plan(finding.word).flags;
  if (x.number_class == NumberClass::infinity || (flags & kOverflow)) return FindingClass::overflow;
  const Unpacked want = unpack(plan.to, finding.want);
  const Unpacked got = unpack(plan.to, finding.got);
  const bool zeros = want.number_class == NumberClass::zero && got.number_class == NumberClass::zero;
  if (zeros && codes_off(expected, finding.want, finding.got) == 0) return FindingClass::zero_sign;
  if (flags & kTie) return FindingClass::tie;
  const bool floating = plan.to.encoding == Encoding::floating;
  const std::uint64_t fraction = (finding.want >> plan.to.storage_shift) & low_mask(plan.to.fraction_bits);
  if (floating && (flags & kInexact) && fraction == 0 && want.number_class == NumberClass::normal)
    return FindingClass::carry;
  const auto tiny = [](const Unpacked& v) {
    return v.number_class == NumberClass::subnormal || v.number_class == NumberClass::zero;
  };
  if (tiny(want) || x.number_class == NumberClass::subnormal) return FindingClass::subnormal;
  return FindingClass::other;
}

void Tally::add_mismatch(const Expected& expected, const Run& run, std::uint64_t word, std::uint64_t got) {
  const Finding finding{word, got, run.result.code};
  ++mismatched;
  Group& group = groups[static_cast<std::size_t>(classify(expected, finding))];
  if (group.count == 0 || word < group.first.word) group.first = finding;
  ++group.count;
  const std::uint64_t off = codes_off(expected, finding.want, got);
  ++(off == 0 ? group.off_by_none : off == 1 ? group.off_by_one : group.off_by_more);
  sample.push_back(finding);
  if (sample.size() >= 4 * kSampleSize) shrink(sample);
}

void Tally::merge(const Tally& other) {
  checked += other.checked;
  mismatched += other.mismatched;
  refused += other.refused;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& from = other.groups[i];
    Group& into = groups[i];
    if (from.count > 0 && (into.count == 0 || from.first.word < into.first.word)) into.first = from.first;
    into.count += from.count;
    into.off_by_none += from.off_by_none;
    into.off_by_one += from.off_by_one;
    into.off_by_more += from.off_by_more;
  }
  sample.insert(sample.end(), other.sample.begin(), other.sample.end());
  shrink(sample);
  std::sort(sample.begin(), sample.end(), sampled_before);
}

const Finding& Tally::first() const {
  const Group* best = nullptr;
  for (const Group& group : groups) {
    if (group.count > 0 && (!best || group.first.word < best->first.word)) best = &group;
  }
  return best->first;
}

}  // namespace halfulp::vectors
