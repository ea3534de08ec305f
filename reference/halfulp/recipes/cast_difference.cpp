// Compares casts; see cast_difference.hpp.
#include "halfulp/recipes/cast_difference.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "halfulp/error.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp::recipes {
namespace {

void check(const CastPlan& plan) {
  if (!plan.from) throw InputError("cast of exact literals", "they cannot be compared one by one", "name a source format: cast:f32:e4m3");
  if (plan.policy.rounding == Rounding::stochastic && !plan.random) {
    throw InputError("rounding stochastic", "each random word has thresholds of its own", "add sr-random=HEX");
  }
}

/// What a result is compared by.
class Key {
 public:
  Key(const FormatSpec& to, bool as_code) : to_(to), as_code_(as_code) {}
  std::pair<std::uint64_t, Refusal> operator()(const CastResult& result) const {
    if (result.refusal != Refusal::none) return {0, result.refusal};
    if (as_code_) return {result.code, Refusal::none};
    constexpr CastPolicy policy = {.overflow = Overflow::overflow, .nan_sign = NanSign::positive};
    return {cast(to_, result.code, spec_of("f64"), policy).code, Refusal::none};
  }

 private:
  FormatSpec to_;
  bool as_code_;
};

class Comparison {
 public:
  Comparison(const CastPlan& a, const CastPlan& b)
      : a_(a), b_(b), key_a_(a.to, a.to_name == b.to_name), key_b_(b.to, a.to_name == b.to_name), codes_(*a.from) {}

  CastDifference run(CastSearch how, std::uint64_t most, int threads) {
    out_.how = a_.from->width <= 16 && how == CastSearch::walk ? CastSearch::all : how;
    if (out_.how == CastSearch::walk) walk(most);
    if (out_.how == CastSearch::all) all(threads);
    if (out_.how == CastSearch::sampled) sample(most);
    nans(out_.how == CastSearch::sampled);
    return out_;
  }

 private:
  struct Pair {
    CastResult a, b;
    bool differs;
  };
  Pair at(std::uint64_t word) const {
    Pair pair{a_(word), b_(word), false};
    pair.differs = key_a_(pair.a) != key_b_(pair.b);
    return pair;
  }
  bool same_run(const Pair& x, const Pair& y) const { return key_a_(x.a) == key_a_(y.a) && key_b_(x.b) == key_b_(y.b); }

  /// Distance from zero of a position, in codes; positive ones first among equals.
  std::uint64_t rank(std::uint64_t position) const {
    const std::uint64_t below = codes_.negatives();
    const bool minus_zero = a_.from->encoding == Encoding::floating && a_.from->zeros == Zeros::plus_and_minus;
    return position >= below ? 2 * (position - below) : 2 * (below - position - (minus_zero ? 1 : 0)) + 1;
  }
  /// Counts the run of codes `first` … `last`, on one side of zero, all with the results of `pair`.
  static void count(CastDifference& out, std::uint64_t first, std::uint64_t last, bool differs) {
    out.compared += last - first + 1;
    if (differs) out.differing += last - first + 1;
  }
  void offer(std::uint64_t position) {
    if (out_.found && rank(position) >= best_) return;
    best_ = rank(position);
    out_.found = true;
    out_.word = codes_[position];
    const Pair pair = at(out_.word);
    out_.a = pair.a;
    out_.b = pair.b;
  }

  void walk(std::uint64_t most) {
    const std::uint64_t size = codes_.size();
    std::uint64_t runs = 0;
    for (std::uint64_t begin = 0; begin < size; ++runs) {
      if (runs == most) return;
      const std::uint64_t side_end = begin < codes_.negatives() ? codes_.negatives() : size;
      const Pair first = at(codes_[begin]);
      std::uint64_t inside = begin, outside = side_end;
      for (std::uint64_t step = 1; side_end - inside > step; step *= 2) {
        if (!same_run(at(codes_[inside + step]), first)) {
          outside = inside + step;
          break;
        }
        inside += step;
      }
      while (outside - inside > 1) {
        const std::uint64_t middle = inside + (outside - inside) / 2;
        (same_run(at(codes_[middle]), first) ? inside : outside) = middle;
      }
      count(out_, begin, inside, first.differs);
      if (first.differs) offer(begin < codes_.negatives() ? inside : begin);
      begin = inside + 1;
    }
    out_.complete = true;
  }

  void all(int threads) {
    if (a_.from->width > 32) throw InputError("--search all", "the source has more than 2^32 codes", "leave the option out: the step functions are walked");
    const std::uint64_t size = codes_.size(), parts = size < 1u << 20 ? 1 : static_cast<std::uint64_t>(std::max(threads, 1));
    std::vector<CastDifference> counts(parts);
    std::vector<std::vector<std::uint64_t>> ends(parts);  // the differing position nearest to zero on each side
    const auto part = [&](std::uint64_t p) {
      std::uint64_t low = size, high = size;
      for (std::uint64_t i = size / parts * p, end = p + 1 == parts ? size : size / parts * (p + 1); i < end; ++i) {
        const bool differs = at(codes_[i]).differs;
        count(counts[p], i, i, differs);
        if (!differs) continue;
        if (i < codes_.negatives()) low = i;
        else if (high == size) high = i;
      }
      for (const std::uint64_t i : {low, high}) {
        if (i != size) ends[p].push_back(i);
      }
    };
    std::vector<std::thread> workers;
    for (std::uint64_t p = 1; p < parts; ++p) workers.emplace_back(part, p);
    part(0);
    for (std::thread& worker : workers) worker.join();
    for (std::uint64_t p = 0; p < parts; ++p) {
      out_.compared += counts[p].compared;
      out_.differing += counts[p].differing;
      for (const std::uint64_t i : ends[p]) offer(i);
    }
    out_.complete = true;
  }

  void sample(std::uint64_t most) {
    for (std::uint64_t i = 0; i < most; ++i) {
      const std::uint64_t position = counter_random(1, i) % codes_.size();
      const bool differs = at(codes_[position]).differs;
      count(out_, position, position, differs);
      if (differs) offer(position);
    }
  }

  /// NaN codes. What a cast makes of one depends on its sign and on the payload bits that fit the narrower formats: where
  /// the source has too many, classes of those bits, each with a tail of zeros and one that is not, stand for all.
  void nans(bool sampled) {
    const FormatSpec& from = *a_.from;
    if (from.encoding != Encoding::floating || !from.has_infinity() || from.width <= 16) return few_nans();
    int kept = 1;
    for (const CastPlan* plan : {&a_, &b_}) {
      kept = std::max(kept, plan->to.encoding == Encoding::floating ? plan->to.fraction_bits : 1);
      if (plan->via) kept = std::max(kept, plan->via->fraction_bits);
    }
    if (sampled || kept > 23) kept = 1, out_.complete = false;
    kept = std::min(kept + 1, from.fraction_bits);
    const int tail = from.fraction_bits - kept;
    for (const std::uint64_t sign : {std::uint64_t{0}, from.sign_mask()}) {
      for (std::uint64_t top = 0; top < std::uint64_t{1} << kept; ++top) {
        for (int odd = 0; odd < (tail > 0 ? 2 : 1); ++odd) {
          const std::uint64_t payload = top << tail | static_cast<std::uint64_t>(odd);
          if (payload == 0) continue;
          one_nan((sign | from.infinity_magnitude() | payload) << from.storage_shift, odd != 0 ? low_mask(tail) : 1);
        }
      }
    }
  }
  void few_nans() {
    if (a_.from->width > 16) return;
    for (std::uint64_t code = 0; code <= low_mask(a_.from->width); ++code) {
      const std::uint64_t word = code << a_.from->storage_shift;
      if (unpack(*a_.from, word).number_class == NumberClass::nan) one_nan(word, 1);
    }
  }
  void one_nan(std::uint64_t word, std::uint64_t stands_for) {
    const Pair pair = at(word);
    out_.compared_nan += stands_for;
    if (!pair.differs) return;
    out_.differing_nan += stands_for;
    if (out_.found) return;
    out_.found = true;
    out_.word = word;
    out_.a = pair.a;
    out_.b = pair.b;
  }

  const CastPlan &a_, &b_;
  Key key_a_, key_b_;
  OrderedCodes codes_;
  CastDifference out_;
  std::uint64_t best_ = 0;
};

}  // namespace

CastDifference compare_casts(const CastPlan& a, const CastPlan& b, CastSearch how, std::uint64_t most, int threads) {
  check(a);
  check(b);
  if (a.from_name != b.from_name) {
    throw InputError("casts from " + a.from_name + " and " + b.from_name, "they have no source codes in common", "name one source format for both");
  }
  return Comparison(a, b).run(how, most, threads);
}

}  // namespace halfulp::recipes
