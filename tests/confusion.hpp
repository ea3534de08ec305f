// Dialects of one cast fed back as unknown kernels: which are equal, how the diagnosis names each, and
// where they part.
//
// Dialects that are equal are proved equal over every source word by the oracle's tables; those that are
// not come with words on which they part. examine() holds what the diagnosis says against both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {

/// The default policy, with an answer for every input.
inline std::string neutral_spec(const Format& from, const Format& to) {
  std::string spec = "cast:" + std::string(from.name) + ":" + std::string(to.name);
  spec += to.spec.has_nan() ? ",nan-code=quiet" : ",nan=nan_to_zero";
  if (!to.spec.is_signed) spec += ",negative=abs";
  if (to.spec.zeros == Zeros::absent) spec += ",zero=min";
  return spec;
}

struct Dialect {
  std::string text;  ///< as the diagnosis names it
  CastPlan plan;
};

/// Dialects with a row for these formats; where the row leaves the rounding open, one for each that its
/// note names.
inline std::vector<Dialect> dialects(const Format& from, const Format& to) {
  std::vector<Dialect> list;
  std::string_view last;
  for (const DialectRow& row : kDialectRows) {
    if (row.dialect == last) continue;
    last = row.dialect;
    const std::size_t index = dialect_row(row.dialect, format_class(from), format_class(to));
    if (index == kDialectRows.size()) continue;
    const auto add = [&](const std::string& options) {
      const std::string name = std::string(row.dialect) + options;
      list.push_back({"@" + name, make_plan(parse_cast_spec("cast:" + std::string(from.name) + ":" +
                                                            std::string(to.name) + "@" + name))});
    };
    if (kDialectRows[index].policy.rounding != Rounding::unrecorded) {
      add("");
    } else {
      add(",rounding=toward_zero");
      add(",rounding=toward_positive");
    }
  }
  return list;
}

/// An answer as shown: a code, any NaN, or none.
inline std::string answer_text(const CastPlan& plan, std::uint64_t word) {
  const CastResult result = plan(word);
  if (result.refusal != Refusal::none) return "-";
  const bool any =
      plan.policy.nan_code == NanCode::any && unpack(plan.to, result.code).number_class == NumberClass::nan;
  return any ? "NaN" : word_text(plan.to, result.code).substr(2);
}

/// Dialects that cannot be told apart by any source word.
struct Class {
  std::vector<Dialect> members;
  std::shared_ptr<const Expected> expected;
};

/// The smallest source word on which two tables part. Every word lies in a run, and a run has one answer.
inline std::optional<std::uint64_t> parting(const Expected& a, const Expected& b) {
  const int shift = a.plan().from->storage_shift;
  for (std::size_t i = 0, j = 0; i < a.runs().size();) {
    const std::uint64_t word = std::max(a.runs()[i].first, b.runs()[j].first) << shift;
    if (answer_text(a.plan(), word) != answer_text(b.plan(), word)) return word;
    const std::uint64_t end_a = a.runs()[i].last;
    const std::uint64_t end_b = b.runs()[j].last;
    i += end_a <= end_b;
    j += end_b <= end_a;
  }
  return std::nullopt;
}

inline std::vector<Class> classes(const std::vector<Dialect>& list) {
  std::vector<Class> found;
  for (const Dialect& one : list) {
    const auto twin = std::find_if(found.begin(), found.end(), [&](const Class& c) {
      const CastPlan& other = c.members.front().plan;
      return other.policy == one.plan.policy && other.via == one.plan.via;
    });
    if (twin != found.end()) {
      twin->members.push_back(one);
      continue;
    }
    const auto expected = std::make_shared<const Expected>(one.plan);
    const auto equal = std::find_if(found.begin(), found.end(),
                                    [&](const Class& c) { return !parting(*c.expected, *expected); });
    if (equal != found.end())
      equal->members.push_back(one);
    else
      found.push_back({{one}, expected});
  }
  return found;
}

/// Words that tell every class from every other one.
inline std::vector<std::uint64_t> separators(const std::vector<Class>& list) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto parts = [&](std::uint64_t word) {
        return answer_text(list[i].expected->plan(), word) != answer_text(list[j].expected->plan(), word);
      };
      if (std::none_of(words.begin(), words.end(), parts))
        words.push_back(*parting(*list[i].expected, *list[j].expected));
    }
  }
  return words;
}

/// Answers of a dialect on every word of the level `stratified` that it does not refuse.
inline std::vector<Answer> answers_of_dialect(const Expected& expected, const CastPlan& dialect) {
  std::vector<Answer> answers;
  for (const std::uint64_t word : level_words(expected, Level::stratified, 0).words) {
    const CastResult result = dialect(word);
    if (result.refusal == Refusal::none)
      answers.push_back({word, result.code, expected.accepts(expected.at(word), result.code)});
  }
  return answers;
}

/// True when a behaviour gives what the dialect gives: on every word of sources up to 16 bits, and on both
/// sides of every threshold of either table otherwise.
inline bool equals(const Behaviour& rule, const Expected& dialect, const Expected& spec) {
  const CastPlan& plan = dialect.plan();
  const auto same = [&](std::uint64_t bits) {
    const std::uint64_t word = bits << plan.from->storage_shift;
    const CastResult want = plan(word);
    if (want.refusal != Refusal::none) return true;  // not known
    return rule.gives(word, want.code) ||
           (plan.policy.nan_code == NanCode::any && answer_text(plan, word) == "NaN" &&
            unpack(plan.to, rule(word).code).number_class == NumberClass::nan);
  };
  if (plan.from->width <= 16) {
    for (std::uint64_t bits = 0; bits <= low_mask(plan.from->width); ++bits) {
      if (!same(bits)) return false;
    }
    return true;
  }
  for (const Expected* table : {&dialect, &spec}) {
    for (const Run& run : table->runs()) {
      if (!same(run.first) || !same(run.last)) return false;
    }
  }
  return true;
}

inline bool names(const Fit& fit, const std::string& behaviour) {
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), behaviour) != list.end();
  };
  return fit.behaviour == behaviour || holds(fit.equals) || holds(fit.allowed_by);
}

inline std::string listed(const char* before, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? before + std::string("`") : ", `") + names[i] + "`";
  return text;
}

inline std::string fit_text(const CastPlan& plan, const Fit& fit) {
  std::string text =
      "`" + fit.behaviour + "`" + listed(" = ", fit.equals) + listed("; allowed by ", fit.allowed_by);
  if (fit.apart) {
    text += " (told apart by " + word_text(*plan.from, fit.apart->word) + ": " +
            word_text(plan.to, fit.apart->want) + ", not " + word_text(plan.to, fit.apart->got) + ")";
  }
  return text;
}

inline std::string diagnosis_text(const CastPlan& plan, const Diagnosis& diagnosis) {
  if (diagnosis.differences() == 0) return "follows the SPEC";
  std::string text;
  for (const Fit& fit : diagnosis.fits) text += (text.empty() ? "" : "; or ") + fit_text(plan, fit);
  return text.empty() ? "nothing" : text;
}

/// What the document says of one cast.
struct Section {
  std::string from;
  std::string spec;
  std::vector<std::string> rows;     ///< members and diagnosis, a row per class
  std::vector<std::string> answers;  ///< of each class, on the words
  std::vector<std::string> words;
};

/// Diagnoses every dialect of a cast and checks what it says.
inline Section examine(const Format& from, const Format& to) {
  Section section{std::string(from.name), neutral_spec(from, to), {}, {}, {}};
  const Expected spec(make_plan(parse_cast_spec(section.spec)));
  const std::vector<Class> list = classes(dialects(from, to));
  const std::vector<std::uint64_t> words = separators(list);
  for (const std::uint64_t word : words) section.words.push_back(word_text(from.spec, word).substr(2));
  for (const Class& one : list) {
    const CastPlan& plan = one.members.front().plan;
    const Diagnosis found = diagnose(spec, answers_of_dialect(spec, plan));
    std::string members;
    for (const Dialect& member : one.members) {
      members += (members.empty() ? "`" : ", `") + member.text + "`";
      const std::string what = section.spec + " " + member.text;
      if (found.differences() == 0) {
        EXPECT_TRUE(equals(Behaviour(spec.plan()), *one.expected, spec)) << what;
        continue;
      }
      EXPECT_TRUE(found.exact()) << what;
      const auto named = [&](const Fit& fit) { return names(fit, member.text); };
      EXPECT_TRUE(std::any_of(found.fits.begin(), found.fits.end(), named))
          << what << ": " << diagnosis_text(plan, found);
      if (!found.exact()) continue;
      EXPECT_TRUE(equals(found.fits.front().rule, *one.expected, spec))
          << what << ": " << found.fits.front().behaviour;
    }
    section.rows.push_back(members + " | " + diagnosis_text(plan, found));
    std::string answers;
    for (const std::uint64_t word : words) answers += " | " + answer_text(plan, word);
    section.answers.push_back(answers);
  }
  return section;
}

inline bool is_source(const Format& format) {
  return format.spec.encoding == Encoding::floating;
}

/// Casts between 32 or 64 bits and wide targets have a hundred thousand steps: the exhaustive tier looks at
/// them.
inline bool is_quick(const Format& from, const Format& to) {
  return to.spec.width <= 8 || from.spec.width <= 16;
}

}  // namespace halfulp::vectors
