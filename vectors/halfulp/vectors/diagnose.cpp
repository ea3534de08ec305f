// Scores candidates in two halves - sources that are NaN, and all others - because the rules do not meet.
#include "halfulp/vectors/diagnose.hpp"

#include <algorithm>

#include "halfulp/names.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kMostWords =
    4096;  ///< of the level `stratified`; mismatches, ties and specials come on top
constexpr std::size_t kMostFits = 3;

struct Candidate {
  CastPlan plan;
  std::string text;
  int departures = 0;
  std::uint64_t matched = 0;
  std::uint64_t explained = 0;
  std::uint64_t broken = 0;
  bool hopeless = false;
  std::optional<Finding> unexplained = {};
};

/// What the SPEC says of a field, as `key=value`, unless the candidate has the same.
template <auto Member>
void depart(Candidate& candidate, const CastPolicy& spec, const char* key) {
  const auto value = candidate.plan.policy.*Member;
  if (value == spec.*Member) return;
  candidate.text +=
      (candidate.text.empty() ? "" : ", ") + std::string(key) + "=" + std::string(name_of(value));
  ++candidate.departures;
}

void describe(Candidate& candidate, const CastPlan& spec) {
  depart<&CastPolicy::rounding>(candidate, spec.policy, "rounding");
  depart<&CastPolicy::overflow>(candidate, spec.policy, "overflow");
  depart<&CastPolicy::overflow_test>(candidate, spec.policy, "overflow-test");
  depart<&CastPolicy::directed_overflow>(candidate, spec.policy, "directed-overflow");
  depart<&CastPolicy::inf_none>(candidate, spec.policy, "inf-none");
  depart<&CastPolicy::flush>(candidate, spec.policy, "flush");
  depart<&CastPolicy::negative>(candidate, spec.policy, "negative");
  depart<&CastPolicy::zero>(candidate, spec.policy, "zero");
  depart<&CastPolicy::low_binade>(candidate, spec.policy, "low-binade");
  depart<&CastPolicy::nan_sign>(candidate, spec.policy, "nan");
  depart<&CastPolicy::nan_code>(candidate, spec.policy, "nan-code");
  depart<&CastPolicy::nan_none>(candidate, spec.policy, "nan");
  depart<&CastPolicy::fnuz_nan>(candidate, spec.policy, "fnuz-nan");
  if (candidate.plan.via_name != spec.via_name) {
    const std::string name = candidate.plan.via_name.empty() ? "none" : candidate.plan.via_name;
    candidate.text += (candidate.text.empty() ? "via=" : ", via=") + name;
    ++candidate.departures;
  }
}

/// The list, each candidate repeated for every other value of one policy field.
template <auto Member, class Enum>
void vary(std::vector<Candidate>& list, std::initializer_list<Enum> values) {
  const std::size_t size = list.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (const Enum value : values) {
      if (list[i].plan.policy.*Member == value) continue;
      list.push_back(list[i]);
      list.back().plan.policy.*Member = value;
    }
  }
}

void vary_via(std::vector<Candidate>& list, const CastPlan& spec) {
  const std::size_t size = list.size();
  for (const char* name : {"f16", "bf16", "f32"}) {
    if (spec.via_name == name || spec.from_name == name || spec.to_name == name) continue;
    const FormatSpec format = require_format(name).spec;
    if (format.width >= spec.from->width && spec.from->width > 16) continue;
    for (std::size_t i = 0; i < size; ++i) {
      list.push_back(list[i]);
      list.back().plan.via = format;
      list.back().plan.via_name = name;
    }
  }
}

std::vector<Candidate> finite_candidates(const CastPlan& spec) {
  std::vector<Candidate> list = {{spec, {}}};
  using enum Rounding;
  vary<&CastPolicy::rounding>(
      list, {ties_to_even, ties_to_away, toward_zero, toward_positive, toward_negative, to_odd});
  vary<&CastPolicy::overflow>(list, {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow});
  vary<&CastPolicy::flush>(list, {Flush::none, Flush::in, Flush::out, Flush::both});
  const FormatSpec& to = spec.to;
  if (to.has_nan())
    vary<&CastPolicy::overflow_test>(list, {OverflowTest::after_rounding, OverflowTest::before_rounding});
  else
    vary<&CastPolicy::inf_none>(list, {InfNone::max, InfNone::zero});
  if (!to.is_signed) vary<&CastPolicy::negative>(list, {Negative::abs, Negative::zero, Negative::nan});
  if (to.zeros == Zeros::absent) {
    vary<&CastPolicy::zero>(list, {ZeroInto::min, ZeroInto::nan});
    vary<&CastPolicy::low_binade>(list, {LowBinade::by_rounding, LowBinade::upward, LowBinade::never_min});
  } else {
    vary_via(list, spec);
  }
  return list;
}

std::vector<Candidate> nan_candidates(const CastPlan& spec) {
  std::vector<Candidate> list = {{spec, {}}};
  if (spec.to.has_nan()) {
    vary<&CastPolicy::nan_sign>(list, {NanSign::keep_sign, NanSign::positive});
    vary<&CastPolicy::nan_code>(list, {NanCode::quiet, NanCode::ones, NanCode::payload});
    if (spec.to.non_finite == NonFinite::nan_minus_zero)
      vary<&CastPolicy::fnuz_nan>(list, {FnuzNan::nan, FnuzNan::signed_max});
  } else {
    using enum NanNone;
    vary<&CastPolicy::nan_none>(
        list, {nan_to_max, nan_to_signed_max, nan_to_zero, nan_to_signed_zero, nan_to_negative_zero_flip});
  }
  return list;
}

/// Dialects with a row for these formats, and formats of the same width.
std::vector<Candidate> named_candidates(const CastPlan& spec) {
  std::vector<Candidate> list;
  std::string_view last;
  for (const DialectRow& row : kDialectRows) {
    if (row.dialect == last || row.dialect == spec.dialect) continue;
    last = row.dialect;
    try {
      list.push_back({make_plan({spec.from_name, spec.to_name, std::string(row.dialect), {}}),
                      "@" + std::string(row.dialect), 1});
    } catch (const InputError&) {  // the dialect has no such cast, or no rounding of its own
    }
  }
  for (const Format& format : kFormats) {
    if (format.spec.encoding != Encoding::floating || format.spec.width != spec.to.width ||
        format.name == spec.to_name)
      continue;
    Candidate sibling{spec, "to=" + std::string(format.name), 2};
    sibling.plan.to = format.spec;
    list.push_back(sibling);
  }
  for (const int step : {-1, 1}) {
    if (spec.to.encoding != Encoding::floating) break;
    Candidate shifted{spec, "bias=" + std::to_string(spec.to.bias + step), 2};
    shifted.plan.to.bias += step;
    list.push_back(shifted);
  }
  return list;
}

/// Differences stand first in `cases`. Gives up on a candidate that misses too many of them, or that breaks
/// more matches than there are differences: it cannot be named.
void score(Candidate& candidate, const std::vector<Answer>& cases, const Expected& expected, bool is_spec,
           std::uint64_t differences) {
  std::uint64_t missed = 0;
  const bool any_nan = candidate.plan.policy.nan_code == NanCode::any;
  for (const Answer& one : cases) {
    const CastResult result = candidate.plan(one.word);
    const bool match =
        is_spec ? one.by_spec
                : result.refusal == Refusal::none &&
                      (result.code == one.got ||
                       (any_nan && expected.is_target_nan(result.code) && expected.is_target_nan(one.got)));
    if (match) {
      ++candidate.matched;
      candidate.explained += one.by_spec ? 0 : 1;
    } else {
      ++(one.by_spec ? candidate.broken : missed);
      if (!candidate.unexplained || one.word < candidate.unexplained->word)
        candidate.unexplained = Finding{one.word, one.got, result.code};
      candidate.hopeless = missed * 10 > differences || candidate.broken > differences;
      if (candidate.hopeless) return;
    }
  }
}

bool better(const Candidate& a, const Candidate& b) {
  return a.matched != b.matched ? a.matched > b.matched : a.departures < b.departures;
}

std::vector<Candidate> ranked(std::vector<Candidate> list, const CastPlan& spec,
                              const std::vector<Answer>& cases, const Expected& expected,
                              std::uint64_t differences) {
  for (Candidate& candidate : list) {
    describe(candidate, spec);
    score(candidate, cases, expected, candidate.departures == 0, differences);
  }
  std::erase_if(list, [](const Candidate& one) { return one.hopeless; });
  std::stable_sort(list.begin(), list.end(), better);
  if (list.size() > kMostFits) list.erase(list.begin() + kMostFits, list.end());
  return list;
}

}  // namespace

std::vector<Answer> answers_of(const Expected& expected, const Kernel& kernel, const Tally& tally,
                               std::uint64_t seed) {
  const std::vector<std::uint64_t> all = level_words(expected, Level::stratified, seed).words;
  std::vector<std::uint64_t> words;
  const std::size_t step = all.size() / kMostWords + 1;
  for (std::size_t i = 0; i < all.size(); i += step) words.push_back(all[i]);
  const std::vector<std::uint64_t> specials = level_words(expected, Level::specials, seed).words;
  words.insert(words.end(), specials.begin(), specials.end());
  for (const std::uint64_t word : tie_words(expected.plan())) {
    if (expected.at(word).result.refusal == Refusal::none) words.push_back(word);
  }
  for (const Finding& finding : tally.sample) words.push_back(finding.word);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const auto from_bytes = static_cast<std::size_t>(expected.plan().from->storage_bytes());
  const auto to_bytes = static_cast<std::size_t>(expected.plan().to.storage_bytes());
  std::vector<std::byte> in(words.size() * from_bytes);
  std::vector<std::byte> out(words.size() * to_bytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t k = 0; k < from_bytes; ++k)
      in[i * from_bytes + k] = static_cast<std::byte>(words[i] >> (8 * k));
  }
  try {
    kernel(in, out);
  } catch (const KernelFailure&) {  // reported by the verdict already
    return {};
  }
  std::vector<Answer> cases;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t got = 0;
    for (std::size_t k = 0; k < to_bytes; ++k)
      got |= static_cast<std::uint64_t>(out[i * to_bytes + k]) << (8 * k);
    cases.push_back({words[i], got, expected.accepts(expected.at(words[i]), got)});
  }
  return cases;
}

Diagnosis diagnose(const Expected& expected, std::span<const Answer> answers) {
  const CastPlan& spec = expected.plan();
  Diagnosis diagnosis;
  std::vector<Answer> cases(answers.begin(), answers.end());
  std::stable_partition(cases.begin(), cases.end(), [](const Answer& one) { return !one.by_spec; });
  std::vector<Answer> nans;
  std::vector<Answer> others;
  for (const Answer& one : cases) {
    (unpack(*spec.from, one.word).number_class == NumberClass::nan ? nans : others).push_back(one);
  }
  diagnosis.cases = cases.size();
  diagnosis.by_spec = static_cast<std::uint64_t>(
      std::count_if(cases.begin(), cases.end(), [](const Answer& one) { return one.by_spec; }));

  const std::uint64_t differences = diagnosis.differences();
  std::vector<Candidate> fits = ranked(finite_candidates(spec), spec, others, expected, differences);
  const std::vector<Candidate> nan_fits = ranked(nan_candidates(spec), spec, nans, expected, differences);
  if (nan_fits.empty()) fits.clear();
  const Candidate nan = nan_fits.empty() ? Candidate{spec, {}} : nan_fits.front();
  for (Candidate& fit : fits) {
    fit.matched += nan.matched;
    fit.explained += nan.explained;
    fit.broken += nan.broken;
    fit.departures += nan.departures;
    if (!nan.text.empty()) fit.text += (fit.text.empty() ? "" : ", ") + nan.text;
    if (!fit.unexplained || (nan.unexplained && nan.unexplained->word < fit.unexplained->word)) {
      fit.unexplained = nan.unexplained ? nan.unexplained : fit.unexplained;
    }
  }
  for (Candidate& candidate : named_candidates(spec)) {
    score(candidate, cases, expected, false, differences);
    if (!candidate.hopeless) fits.push_back(std::move(candidate));
  }
  std::stable_sort(fits.begin(), fits.end(), better);
  for (const Candidate& fit : fits) {
    const bool all = fit.matched == diagnosis.cases;
    const bool nearly = diagnosis.fits.empty() && fit.matched > diagnosis.by_spec &&
                        fit.explained * 10 >= diagnosis.differences() * 9;
    // As good as the first but with more words: nothing new.
    const bool repeats = !diagnosis.fits.empty() && diagnosis.fits.front().departures < fit.departures;
    if (repeats) continue;
    if (!all && !nearly) break;
    diagnosis.fits.push_back(
        {fit.text, {}, fit.matched, fit.explained, fit.broken, fit.departures, fit.unexplained});
    if (!all || diagnosis.fits.size() == kMostFits) break;
  }
  return diagnosis;
}

}  // namespace halfulp::vectors
