// Which words must be seen follows from the oracle's table; see coverage.hpp.
#include "halfulp/vectors/coverage.hpp"

#include <algorithm>

#include "halfulp/names.hpp"
#include "halfulp/oracle/limits.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kCountedBits = 20;  ///< sources this wide have a bit for every word; of wider ones ascending words are counted

bool is_refused(const Run& run) {
  return run.result.refusal != Refusal::none;
}

bool same_answer(const Run& a, const Run& b) {
  return a.result.code == b.result.code && a.result.refusal == b.result.refusal &&
         a.alternative == b.alternative;
}

/// Calls visit(last bits before, first bits behind, run before, run behind) wherever the answer changes.
template <class Visit>
void for_each_threshold(const std::vector<Run>& runs, Visit visit) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (!same_answer(runs[i - 1], runs[i])) visit(runs[i - 1], runs[i]);
  }
}

/// Source bits at which the class or the sign changes.
std::vector<std::uint64_t> class_ends(const FormatSpec& from) {
  const oracle::Limits& limits = oracle::limits_of(from);
  std::vector<std::uint64_t> words = {limits.largest.code, limits.smallest_positive.code};
  for (const auto& code : {limits.zero, limits.minus_zero, limits.infinity, limits.minus_infinity}) {
    if (code) words.push_back(*code);
  }
  if (limits.lowest) words.push_back(limits.lowest->code);
  if (from.encoding == Encoding::floating && from.is_signed)
    words.push_back(limits.smallest_positive.code | from.sign_mask() << from.storage_shift);
  for (const auto& range : limits.nans) {
    words.push_back(range.first);
    words.push_back(range.last);
  }
  for (std::uint64_t& word : words) word >>= from.storage_shift;
  return words;
}

template <class Enum, std::size_t Size>
std::string counts_text(const char* label, const std::array<std::uint64_t, Size>& counts) {
  std::string text = label + std::string(14 - std::string_view(label).size(), ' ');
  for (std::size_t i = 0; i < Size; ++i)
    text += (i ? ", " : "") + std::string(kNames<Enum>[i].name) + " " + grouped_digits(counts[i]);
  return text + "\n";
}

}  // namespace

Completeness Coverage::completeness() const {
  if (every_word && *every_word) return Completeness::exhaustive;
  const bool complete = thresholds.all > 0 && thresholds.full() && ends.full();
  return complete ? Completeness::complete_for_monotone : Completeness::sampled;
}

void CoverageCounter::Wanted::want(std::vector<std::uint64_t> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  bits = std::move(list);
  seen.assign(bits.size(), false);
}

void CoverageCounter::Wanted::see(std::uint64_t bits_of_word) {
  const auto at = std::lower_bound(bits.begin(), bits.end(), bits_of_word);
  if (at != bits.end() && *at == bits_of_word) seen[static_cast<std::size_t>(at - bits.begin())] = true;
}

bool CoverageCounter::Wanted::has(std::uint64_t bits_of_word) const {
  const auto at = std::lower_bound(bits.begin(), bits.end(), bits_of_word);
  return at != bits.end() && *at == bits_of_word && seen[static_cast<std::size_t>(at - bits.begin())];
}

std::uint64_t CoverageCounter::Wanted::count() const {
  return static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), true));
}

CoverageCounter::CoverageCounter(const Expected& expected) : expected_(expected) {
  const FormatSpec& from = *expected.plan().from;
  const auto answered = [&](std::uint64_t bits) {
    return expected.plan()(bits << from.storage_shift).refusal == Refusal::none;
  };
  std::vector<std::uint64_t> sides;
  for_each_threshold(expected.runs(), [&](const Run& before, const Run& behind) {
    if (!is_refused(before)) sides.push_back(before.last);
    if (!is_refused(behind)) sides.push_back(behind.first);
  });
  sides_.want(std::move(sides));
  std::vector<std::uint64_t> ends = class_ends(from);
  std::erase_if(ends, [&](std::uint64_t bits) { return !answered(bits); });
  ends_.want(std::move(ends));
  std::vector<std::uint64_t> ties = tie_words(expected.plan());
  for (std::uint64_t& word : ties) word >>= from.storage_shift;
  std::erase_if(ties, [&](std::uint64_t bits) { return !answered(bits); });
  ties_.want(std::move(ties));
  if (from.encoding == Encoding::floating)
    binades_.assign(std::size_t{1} << (from.width - from.fraction_bits), false);
  if (from.width <= kCountedBits) every_.assign(std::size_t{1} << from.width, false);
}

void CoverageCounter::add(std::span<const std::uint64_t> words) {
  const CastPlan& plan = expected_.plan();
  const FormatSpec& from = *plan.from;
  for (const std::uint64_t word : words) {
    const std::uint64_t bits = word >> from.storage_shift;
    ascends_ = ascends_ && (counted_.words == 0 || bits > last_);
    last_ = bits;
    ++counted_.words;
    const CastResult result = plan(word);
    if (result.refusal != Refusal::none) {
      ++counted_.refused;
      continue;
    }
    codes_.insert(result.code);
    sides_.see(bits);
    ends_.see(bits);
    ties_.see(bits);
    if (!binades_.empty()) binades_[static_cast<std::size_t>(bits >> from.fraction_bits)] = true;
    if (!every_.empty()) every_[static_cast<std::size_t>(bits)] = true;
    for (std::size_t i = 0; i < counted_.flags.size(); ++i) counted_.flags[i] += result.flags >> i & 1;
    ++counted_.classes[static_cast<std::size_t>(unpack(from, word).number_class)];
  }
}

Coverage CoverageCounter::result() const {
  const FormatSpec& from = *expected_.plan().from;
  Coverage result = counted_;
  std::unordered_set<std::uint64_t> reachable;
  for (const Run& run : expected_.runs()) {
    if (!is_refused(run)) reachable.insert(run.result.code);
  }
  result.codes = {codes_.size(), reachable.size()};
  for_each_threshold(expected_.runs(), [&](const Run& before, const Run& behind) {
    if (is_refused(before) && is_refused(behind)) return;
    ++result.thresholds.all;
    const bool both =
        (is_refused(before) || sides_.has(before.last)) && (is_refused(behind) || sides_.has(behind.first));
    result.thresholds.reached += both ? 1 : 0;
  });
  result.ends = {ends_.count(), ends_.bits.size()};
  result.ties = {ties_.count(), ties_.bits.size()};
  result.binades = {static_cast<std::uint64_t>(std::count(binades_.begin(), binades_.end(), true)),
                    binades_.size()};
  if (!every_.empty()) {
    bool all = true;
    for (std::uint64_t bits = 0; all && bits < every_.size(); ++bits)
      all = every_[bits] || expected_.plan()(bits << from.storage_shift).refusal != Refusal::none;
    result.every_word = all;
  } else if (ascends_ && expected_.tabulated() && from.width < 64) {
    std::uint64_t answered = 0;
    for (const Run& run : expected_.runs()) answered += is_refused(run) ? 0 : run.last - run.first + 1;
    result.every_word = counted_.words - counted_.refused == answered;
  }
  return result;
}

Coverage coverage(const Expected& expected, std::span<const std::uint64_t> words) {
  CoverageCounter counter(expected);
  counter.add(words);
  return counter.result();
}

std::string share_text(const char* label, const Share& share, const std::string& what) {
  std::string text = label + std::string(14 - std::string_view(label).size(), ' ');
  if (share.all == 0)
    return text + grouped_digits(share.reached) + " " + what + "; how many there are was not counted\n";
  return text + grouped_digits(share.reached) + " of " + grouped_digits(share.all) + " " + what + "\n";
}

std::string coverage_text(const Coverage& coverage) {
  std::string text = "inputs        " + grouped_digits(coverage.words);
  if (coverage.refused > 0) text += ", of which the policy refuses " + grouped_digits(coverage.refused);
  text += "\n" + share_text("codes", coverage.codes, "target codes given");
  text += share_text("thresholds", coverage.thresholds, "with both sides");
  text += share_text("class ends", coverage.ends, "first and last zeros, numbers, Inf and NaN");
  if (coverage.ties.all > 0) text += share_text("ties", coverage.ties, "looked for");
  if (coverage.binades.all > 0)
    text += share_text("binades", coverage.binades, "signs and exponents of the source");
  text += counts_text<Flag>("status", coverage.flags);
  text += counts_text<NumberClass>("sources", coverage.classes);
  text += "proves        " + std::string(name_of(coverage.completeness())) + "\n";
  return text;
}

}  // namespace halfulp::vectors
