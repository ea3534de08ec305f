// NaN sources and all others are explained apart, because their rules do not meet; then the two are put together.
#include "halfulp/vectors/diagnose.hpp"

#include <algorithm>
#include <cstdio>

#include "halfulp/vectors/diagnose_search.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kMovesFromSpec = 3;
constexpr int kMovesFromDialect = 2;
constexpr int kMovesFromOther = 1;
constexpr std::size_t kMostPartial = 3;
constexpr std::size_t kMostGroups = 6;

/// Answers of one kind of source, in the order in which they decide soonest: differences first, and each part mixed.
struct Part {
  std::vector<Answer> cases;

  void mix() {
    std::sort(cases.begin(), cases.end(), [](const Answer& a, const Answer& b) {
      if (a.by_spec != b.by_spec) return b.by_spec;
      return counter_random(0, a.word) < counter_random(0, b.word);
    });
  }
};

/// An explanation of all answers.
struct Whole {
  std::string text;
  Behaviour rule;
  int departures = 0;
  bool is_dialect = false;
  Score score;
};

/// The code that every NaN (or Inf) of a sign gave, where they are the same.
std::optional<Behaviour::Codes> learned(const Part& part, const FormatSpec& from, NumberClass wanted) {
  std::array<std::optional<std::uint64_t>, 2> seen;
  for (const Answer& one : part.cases) {
    const Unpacked x = unpack(from, one.word);
    if (x.number_class != wanted) continue;
    auto& code = seen[x.negative ? 1 : 0];
    if (code && *code != one.got) return std::nullopt;
    code = one.got;
  }
  if (!seen[0] && !seen[1]) return std::nullopt;
  return Behaviour::Codes{seen[0] ? *seen[0] : *seen[1], seen[1] ? *seen[1] : *seen[0]};
}

std::string codes_text(const char* key, const Behaviour::Codes& codes) {
  char text[64];
  const auto write = [&](std::uint64_t code) {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(code));
    return std::string(text);
  };
  const std::string plus = key + std::string("=") + write(codes[0]);
  return codes[0] == codes[1] ? plus : plus + "/" + write(codes[1]);
}

/// Moves, and last the codes that were seen for one class of sources.
std::vector<Move> with_learned(std::vector<Move> moves, const char* key, std::optional<Behaviour::Codes> codes,
                               std::optional<Behaviour::Codes> Behaviour::*field) {
  if (!codes) return moves;
  constexpr int kLast = 1000;  // a dimension of its own
  moves.push_back({kLast, codes_text(key, *codes), [codes, field](Behaviour& b) { b.*field = codes; }, 2});
  return moves;
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
}

/// Explanations that start from one base.
class FromBase {
 public:
  FromBase(const CastPlan& spec, const Base& base, BaseKind kind, const Part& numbers, const Part& nans)
      : base_(base),
        kind_(kind),
        number_moves_(with_learned(number_moves(spec, base.behaviour), "inf",
                                   learned(numbers, base.behaviour.from, NumberClass::infinity), &Behaviour::infinity_codes)),
        nan_moves_(with_learned(nan_moves(base.behaviour), "nan", learned(nans, base.behaviour.from, NumberClass::nan),
                                &Behaviour::nan_codes)) {}

  void collect(const Part& numbers, const Part& nans, int most_moves, std::uint64_t differences, std::vector<Whole>& list) {
    const auto x = search(base_.behaviour, kind_, nan_moves_, nans.cases, kMovesFromDialect, differences);
    if (x.empty()) return;
    const auto n = search(base_.behaviour, kind_, number_moves_, numbers.cases, most_moves, differences);
    for (const Found& number : n) {
      for (const Found& nan : x) {
        if (number.score.mistakes() + nan.score.mistakes() < differences) list.push_back(whole(number, nan));
      }
    }
  }

 private:
  Whole whole(const Found& number, const Found& nan) const {
    Whole one{base_.text, number.behaviour, 0, false, {}};
    one.departures = (base_.text.empty() ? 0 : 1) + number.cost + nan.cost;
    one.is_dialect = base_.is_dialect && number.moves.empty() && nan.moves.empty();
    for (const std::size_t i : number.moves) append(one.text, number_moves_[i].text);
    for (const std::size_t i : nan.moves) {
      append(one.text, nan_moves_[i].text);
      nan_moves_[i].apply(one.rule);
    }
    one.score.explained = number.score.explained + nan.score.explained;
    one.score.missed = number.score.missed + nan.score.missed;
    one.score.broken = number.score.broken + nan.score.broken;
    one.score.unexplained = number.score.unexplained;
    const auto& other = nan.score.unexplained;
    if (other && (!one.score.unexplained || other->word < one.score.unexplained->word)) one.score.unexplained = other;
    return one;
  }

  const Base& base_;
  BaseKind kind_;
  std::vector<Move> number_moves_;
  std::vector<Move> nan_moves_;
};

/// The smallest of the words on which two behaviours part.
std::optional<Finding> parting(const Behaviour& a, const Behaviour& b, const std::vector<std::uint64_t>& words) {
  for (const std::uint64_t word : words) {
    const CastResult x = a(word);
    const CastResult y = b(word);
    if (x.code == y.code && x.refusal == y.refusal) continue;
    if (x.refusal == Refusal::none && y.refusal == Refusal::none && (a.gives(word, y.code) || b.gives(word, x.code))) continue;
    return Finding{word, x.code, y.code};
  }
  return std::nullopt;
}

/// Exact explanations with the fewest departures, and exact dialects; equal ones under one name.
void report_exact(const Expected& expected, const std::vector<Whole>& list, Diagnosis& diagnosis) {
  const std::vector<std::uint64_t> words = level_words(expected, Level::stratified, 0).words;
  diagnosis.compared = words.size();
  for (const Whole& one : list) {
    if (one.score.mistakes() > 0) break;
    if (one.departures > list.front().departures && !one.is_dialect) continue;
    const auto same = std::find_if(diagnosis.fits.begin(), diagnosis.fits.end(),
                                   [&](const Fit& fit) { return !parting(fit.rule, one.rule, words); });
    if (same != diagnosis.fits.end()) {
      same->equals.push_back(one.text);
    } else if (diagnosis.fits.size() < kMostGroups) {
      Fit fit{one.text, one.rule, {}, diagnosis.cases, one.score.explained, 0, one.departures, {}, {}};
      if (!diagnosis.fits.empty()) fit.apart = parting(diagnosis.fits.front().rule, one.rule, words);
      diagnosis.fits.push_back(std::move(fit));
    }
  }
}

void report_partial(const std::vector<Whole>& list, Diagnosis& diagnosis) {
  std::uint64_t last = 0;
  for (const Whole& one : list) {
    if (one.score.mistakes() * 2 > diagnosis.differences() || diagnosis.fits.size() == kMostPartial) break;
    if (one.score.mistakes() == last) continue;  // as good as a simpler one
    last = one.score.mistakes();
    diagnosis.fits.push_back({one.text, one.rule, {}, diagnosis.cases - last, one.score.explained, one.score.broken,
                              one.departures, one.score.unexplained, {}});
  }
}

}  // namespace

Diagnosis diagnose(const Expected& expected, std::span<const Answer> answers) {
  const CastPlan& spec = expected.plan();
  Diagnosis diagnosis;
  Part numbers;
  Part nans;
  for (const Answer& one : answers) {
    (unpack(*spec.from, one.word).number_class == NumberClass::nan ? nans : numbers).cases.push_back(one);
    diagnosis.by_spec += one.by_spec ? 1 : 0;
  }
  diagnosis.cases = answers.size();
  const std::uint64_t differences = diagnosis.differences();
  if (differences == 0) return diagnosis;
  numbers.mix();
  nans.mix();

  std::vector<Whole> list;
  BaseKind kind = BaseKind::spec;  // the first one
  for (const Base& base : bases(spec)) {
    const int moves = kind == BaseKind::spec ? kMovesFromSpec : base.is_dialect ? kMovesFromDialect : kMovesFromOther;
    FromBase(spec, base, kind, numbers, nans).collect(numbers, nans, moves, differences, list);
    kind = BaseKind::other;
  }
  std::stable_sort(list.begin(), list.end(), [](const Whole& a, const Whole& b) {
    if (a.score.mistakes() != b.score.mistakes()) return a.score.mistakes() < b.score.mistakes();
    return a.departures < b.departures;
  });
  if (!list.empty() && list.front().score.mistakes() == 0)
    report_exact(expected, list, diagnosis);
  else
    report_partial(list, diagnosis);
  return diagnosis;
}

}  // namespace halfulp::vectors
