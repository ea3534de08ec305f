// Operations over the elements of a block on exact values, and the search of tables.
#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/recipes/exact_operations.hpp"

namespace halfulp::recipes {
namespace {

using oracle::Exact;
using oracle::Value;

bool nan(const Value& v) {
  return v.cls == oracle::ValueClass::nan;
}
Value magnitude(Value v) {
  v.negative = false;
  return v;
}

/// A rounded operation on two values.
Value calculate(Op op, const Value& a, const Value& b, Precision precision) {
  Step step;
  step.op = op;
  step.precision = precision;
  const Value operands[] = {a, b};
  return apply_exact(step, operands, nullptr);
}
Value rounded(std::int64_t n, Precision precision) {
  return calculate(Op::multiply, oracle::value_from(Exact(n)), oracle::value_from(Exact(1)), precision);
}

Value quantile(const std::vector<Value>& sorted, const Value& fraction, Precision precision) {
  const auto last = static_cast<std::int64_t>(sorted.size()) - 1;
  const Value position = calculate(Op::multiply, fraction, rounded(last, precision), precision);
  const auto at = [&](const Exact& index) {
    return sorted[static_cast<std::size_t>(std::clamp<std::int64_t>(index.to_int64().value(), 0, last))];
  };
  const Exact floor = position.number().floor();
  const Value below = at(floor), above = at(-(-position.number()).floor());
  const Value weight = calculate(Op::subtract, position, oracle::value_from(floor), precision);
  const Value gap = calculate(Op::subtract, above, below, precision);
  if (weight.number() < Exact::pow2(-1))
    return calculate(Op::add, below, calculate(Op::multiply, weight, gap, precision), precision);
  const Value rest = calculate(Op::subtract, oracle::value_from(Exact(1)), weight, precision);
  return calculate(Op::subtract, above, calculate(Op::multiply, gap, rest, precision), precision);
}

Value one_of_all(const Step& step, std::span<const Value> elements, const Value& fraction) {
  if (step.op == Op::count) return rounded(static_cast<std::int64_t>(elements.size()), step.precision);
  const bool poisoned = std::any_of(elements.begin(), elements.end(), nan);
  if (step.op == Op::median || step.op == Op::quantile) {
    if (poisoned || elements.empty()) return oracle::nan_value(false);
    std::vector<Value> sorted(elements.begin(), elements.end());
    std::stable_sort(sorted.begin(), sorted.end(), less);
    return step.op == Op::median ? sorted[(sorted.size() - 1) / 2]
                                 : quantile(sorted, fraction, step.precision);
  }
  if (step.op == Op::lowest || step.op == Op::highest) {
    if (poisoned) return oracle::nan_value(false);
    Value result = oracle::infinity_value(step.op == Op::highest);
    for (const Value& v : elements) {
      if (step.op == Op::lowest ? less(v, result) : less(result, v)) result = v;
    }
    return result;
  }
  Value result = oracle::zero_value(false);
  for (const Value& v : elements) {
    const Value size = magnitude(v);
    if (step.op == Op::sum)
      result = calculate(Op::add, result, v, step.precision);
    else if (less(magnitude(result), size))
      result = step.op == Op::peak ? v : size;
  }
  return result;
}

}  // namespace

std::size_t nearest_entry_exact(const Step& step, const Value& value, std::span<const Value> entries) {
  std::size_t best = 0;
  Value least = oracle::infinity_value(false);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Value distance = magnitude(calculate(Op::subtract, value, entries[i], step.precision));
    if (!less(distance, least)) continue;
    least = distance;
    best = i;
  }
  return best;
}

/// Blocks have the sizes that check_block_sizes() asks for.
std::vector<Value> collective_exact(const Step& step, std::span<const Value> elements,
                                    const Value& fraction) {
  if (step.op == Op::hadamard) {
    std::vector<Value> values(elements.begin(), elements.end());
    for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if ((i & stride) != 0) continue;
        const Value p = values[i], q = values[i + stride];
        values[i] = calculate(Op::add, p, q, step.precision);
        values[i + stride] = calculate(Op::subtract, p, q, step.precision);
      }
    }
    return values;
  }
  if (step.op == Op::flip_signs) {
    std::vector<Value> values(elements.begin(), elements.end());
    const std::uint64_t mask = oracle::parse_exact(step.literal)->to_uint64().value();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((mask >> (i % 16) & 1) != 0) values[i].negative = !values[i].negative;
    }
    return values;
  }
  if (step.op == Op::tree_sum) {
    std::vector<Value> sums(16, oracle::zero_value(false));
    for (std::size_t i = 0; i < elements.size(); ++i)
      sums[i / 16] = calculate(Op::add, sums[i / 16], elements[i], step.precision);
    while (sums.size() > 1) {
      const std::size_t half = sums.size() / 2;
      for (std::size_t i = 0; i < half; ++i)
        sums[i] = calculate(Op::add, sums[i], sums[half + i], step.precision);
      sums.resize(half);
    }
    return sums;
  }
  return {one_of_all(step, elements, fraction)};
}

}  // namespace halfulp::recipes
