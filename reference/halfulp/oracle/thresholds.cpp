// The step function of a cast by bisection. Twin: formats/halfulp/thresholds.hpp.
#include "halfulp/oracle/thresholds.hpp"

#include <algorithm>

namespace halfulp::oracle {

namespace {

class Bisection {
 public:
  Bisection(const SourceOrder& order, const FormatSpec& to, const CastPolicy& policy,
            std::uint64_t random_word)
      : order_(order), to_(to), policy_(policy), random_word_(random_word) {}

  std::vector<Interval> run() {
    for (const auto& segment : order_.segments()) {
      const std::uint64_t last = segment.end - 1;
      const CastResult first_answer = at(segment.begin);
      append(segment.begin, segment.begin, first_answer);
      if (last > segment.begin) split(segment.begin, first_answer, last, at(last));
    }
    return std::move(intervals_);
  }

 private:
  CastResult at(std::uint64_t position) const {
    return nearest(order_.value_at(position), to_, policy_, random_word_);
  }
  static bool same_step(const CastResult& a, const CastResult& b) {
    return a.code == b.code && a.refusal == b.refusal;
  }

  /// Appends positions (first, last], where the answers at both ends are known and `first` is appended
  /// already.
  void split(std::uint64_t first, const CastResult& at_first, std::uint64_t last,
             const CastResult& at_last) {
    if (same_step(at_first, at_last)) {
      append(first + 1, last, at_last);
    } else if (last - first == 1) {
      append(last, last, at_last);
    } else {
      const std::uint64_t middle = first + (last - first) / 2;
      const CastResult at_middle = at(middle);
      split(first, at_first, middle, at_middle);
      split(middle, at_middle, last, at_last);
    }
  }

  /// A tie is the upper boundary of its own interval when it went down, of the interval before it when it
  /// went up.
  bool tie_went_up(std::uint64_t position, const CastResult& answer) const {
    const Value x = order_.value_at(position);
    if ((answer.flags & kOverflow) != 0) return !x.negative;
    const Value y = value_of(to_, answer.code);
    return x.negative == (y.magnitude < x.magnitude);
  }

  void append(std::uint64_t first, std::uint64_t last, const CastResult& at_last) {
    const bool joins = !intervals_.empty() && intervals_.back().code == at_last.code &&
                       intervals_.back().refusal == at_last.refusal;
    if (!joins) {
      if (!intervals_.empty()) {
        const CastResult at_first = first == last ? at_last : at(first);
        const bool up = (at_first.flags & kTie) != 0 && tie_went_up(first, at_first);
        const CastResult before = at(first - 1);
        const bool down = (before.flags & kTie) != 0 && !tie_went_up(first - 1, before);
        intervals_.back().upper_is_tie = up || down;
      }
      intervals_.push_back(
          {.first = order_.code_at(first), .code = at_last.code, .refusal = at_last.refusal});
    }
    intervals_.back().last = order_.code_at(last);
  }

  const SourceOrder& order_;
  const FormatSpec& to_;
  const CastPolicy& policy_;
  std::uint64_t random_word_;
  std::vector<Interval> intervals_;
};

}  // namespace

std::vector<Interval> thresholds(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy,
                                 std::uint64_t random_word) {
  const SourceOrder order(from);
  return Bisection(order, to, policy, random_word).run();
}

ThresholdTable::ThresholdTable(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy,
                               std::uint64_t random_word)
    : order_(from), intervals_(Bisection(order_, to, policy, random_word).run()) {
  for (const Interval& interval : intervals_) starts_.push_back(*order_.position_of(interval.first));
  starts_.push_back(order_.size());
}

const Interval* ThresholdTable::lookup(std::uint64_t source_code) const {
  const auto position = order_.position_of(source_code);
  if (!position) return nullptr;
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), *position);
  return &intervals_[static_cast<std::size_t>(after - starts_.begin()) - 1];
}

}  // namespace halfulp::oracle
