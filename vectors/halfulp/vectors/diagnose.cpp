// NaN sources and all others are explained apart, because their rules do not meet; then the two are put
// together.
#include "halfulp/vectors/diagnose.hpp"

#include <algorithm>
#include <cstdio>

#include "halfulp/vectors/diagnose_search.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kMostDepartures = 3;
constexpr int kMostNanMoves = 2;
constexpr std::size_t kMostPartial = 3;
constexpr std::size_t kMostGroups = 6;

/// An explanation of all answers.
struct Whole {
  std::string text;
  Behaviour rule;
  int departures = 0;
  bool is_dialect = false;
  bool open_nan = false;  ///< leaves the NaN open, where the SPEC does not
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
std::vector<Move> with_learned(std::vector<Move> moves, const char* key,
                               std::optional<Behaviour::Codes> codes,
                               std::optional<Behaviour::Codes> Behaviour::*field) {
  if (!codes) return moves;
  constexpr int kLast = 1000;  // a dimension of its own
  moves.push_back({kLast, codes_text(key, *codes), [codes, field](Behaviour& b) { b.*field = codes; }, 2});
  return moves;
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
}

Score operator+(const Score& a, const Score& b) {
  Score sum{a.explained + b.explained, a.missed + b.missed, a.broken + b.broken, a.unexplained};
  if (!a.unexplained || (b.unexplained && b.unexplained->word < a.unexplained->word))
    sum.unexplained = b.unexplained;
  return sum;
}

/// Explanations that start from one base.
class FromBase {
 public:
  FromBase(const CastPlan& spec, Base base, BaseKind kind, Part& numbers, Part& nans)
      : base_(std::move(base)),
        kind_(kind),
        spec_leaves_nan_open_(spec.policy.nan_code == NanCode::any),
        numbers_(
            base_.behaviour, kind,
            with_learned(number_moves(spec, base_.behaviour), "inf",
                         learned(numbers, *spec.from, NumberClass::infinity), &Behaviour::infinity_codes),
            numbers),
        nans_(base_.behaviour, kind,
              with_learned(nan_moves(base_.behaviour), "nan", learned(nans, *spec.from, NumberClass::nan),
                           &Behaviour::nan_codes),
              nans) {}

  /// Looks at explanations with up to so many departures. A sibling or a fault goes with one more at most.
  void deepen(int departures) {
    const int moves = kind_ == BaseKind::spec ? departures : departures - 1;
    nans_.deepen(std::min(moves, kMostNanMoves));
    numbers_.deepen(kind_ == BaseKind::spec || base_.is_dialect ? moves : std::min(moves, 1));
  }

  /// Departures of the simplest exact explanation.
  std::optional<int> exact() const {
    if (!numbers_.exact() || !nans_.exact()) return std::nullopt;
    const auto cheaper = [](const Found& a, const Found& b) { return a.cost < b.cost; };
    return own_cost() + std::min_element(numbers_.found().begin(), numbers_.found().end(), cheaper)->cost +
           std::min_element(nans_.found().begin(), nans_.found().end(), cheaper)->cost;
  }

  /// Adds what makes fewer mistakes than there are differences.
  void collect(const Part& numbers, const Part& nans, std::uint64_t differences,
               std::vector<Whole>& list) const {
    const std::vector<Score> of_numbers = scores(numbers_, numbers);
    const std::vector<Score> of_nans = scores(nans_, nans);
    for (std::size_t n = 0; n < of_numbers.size(); ++n) {
      for (std::size_t x = 0; x < of_nans.size(); ++x) {
        const Score sum = of_numbers[n] + of_nans[x];
        if (sum.mistakes() < differences) list.push_back(whole(numbers_.found()[n], nans_.found()[x], sum));
      }
    }
  }

 private:
  int own_cost() const { return kind_ == BaseKind::spec ? 0 : 1; }

  std::vector<Score> scores(const Search& search, const Part& part) const {
    std::vector<Score> list;
    for (const Found& found : search.found()) {
      const bool as_known = search.exact() && !list.empty();  // exact ones are all alike
      list.push_back(
          as_known ? list.front()
                   : full_score(found.behaviour, found.moves.empty() ? kind_ : BaseKind::other, part));
    }
    return list;
  }

  Whole whole(const Found& number, const Found& nan, const Score& score) const {
    Whole one{base_.text,
              number.behaviour,
              own_cost() + number.cost + nan.cost,
              base_.is_dialect && number.moves.empty() && nan.moves.empty(),
              false,
              score};
    for (const std::size_t i : number.moves) append(one.text, numbers_.moves()[i].text);
    for (const std::size_t i : nan.moves) {
      append(one.text, nans_.moves()[i].text);
      nans_.moves()[i].apply(one.rule);
    }
    one.open_nan =
        one.rule.to.has_nan() && one.rule.policy.nan_code == NanCode::any && !spec_leaves_nan_open_;
    return one;
  }

  Base base_;
  BaseKind kind_;
  bool spec_leaves_nan_open_;
  Search numbers_;
  Search nans_;
};

/// The smallest of the words on which two behaviours part. A NaN that one of them leaves open parts
/// nothing, nor does a word that one of them refuses.
std::optional<Finding> parting(const Behaviour& a, const Behaviour& b,
                               const std::vector<std::uint64_t>& words) {
  for (const std::uint64_t word : words) {
    const CastResult x = a(word);
    const CastResult y = b(word);
    if (x.code == y.code || x.refusal != Refusal::none || y.refusal != Refusal::none) continue;
    if (!a.gives(word, y.code) && !b.gives(word, x.code)) return Finding{word, x.code, y.code};
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
      (one.open_nan ? same->allowed_by : same->equals).push_back(one.text);
    } else if (diagnosis.fits.size() < kMostGroups) {
      Fit fit{one.text, one.rule, {}, {}, diagnosis.cases, one.score.explained, 0, one.departures, {}, {}};
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
    diagnosis.fits.push_back({one.text,
                              one.rule,
                              {},
                              {},
                              diagnosis.cases - last,
                              one.score.explained,
                              one.score.broken,
                              one.departures,
                              one.score.unexplained,
                              {}});
  }
}

}  // namespace

Diagnosis diagnose(const Expected& expected, std::span<const Answer> answers) {
  const CastPlan& spec = expected.plan();
  Diagnosis diagnosis;
  Part numbers;
  Part nans;
  for (const Answer& one : answers) {
    (unpack(*spec.from, one.word).number_class == NumberClass::nan ? nans : numbers).add(one);
    diagnosis.by_spec += one.by_spec ? 1 : 0;
  }
  diagnosis.cases = answers.size();
  const std::uint64_t differences = diagnosis.differences();
  if (differences == 0) return diagnosis;
  numbers.prepare();
  nans.prepare();

  std::vector<FromBase> searches;
  for (Base& base : bases(spec)) {
    const BaseKind kind = searches.empty() ? BaseKind::spec : BaseKind::other;
    searches.emplace_back(spec, std::move(base), kind, numbers, nans);
  }
  int simplest = kMostDepartures;
  for (int departures = 1; departures <= simplest; ++departures) {
    for (FromBase& from : searches) {
      from.deepen(departures);
      simplest = std::min(simplest, from.exact().value_or(simplest));
    }
  }
  std::vector<Whole> list;
  for (const FromBase& from : searches) from.collect(numbers, nans, differences, list);
  std::stable_sort(list.begin(), list.end(), [](const Whole& a, const Whole& b) {
    if (a.score.mistakes() != b.score.mistakes()) return a.score.mistakes() < b.score.mistakes();
    return a.departures != b.departures ? a.departures < b.departures : a.open_nan < b.open_nan;
  });
  if (!list.empty() && list.front().score.mistakes() == 0)
    report_exact(expected, list, diagnosis);
  else
    report_partial(list, diagnosis);
  return diagnosis;
}

}  // namespace halfulp::vectors
