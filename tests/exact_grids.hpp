// Quantizers of the worked examples in rational arithmetic, written from their formulas alone.
#pragma once

#include <algorithm>
#include <vector>

#include "halfulp/oracle/exact.hpp"

namespace halfulp::test {

using oracle::Exact;
using Vector = std::vector<Exact>;
using Matrix = std::vector<Vector>;

inline Exact fraction(std::string_view text) {
  return oracle::parse_exact(text).value();
}
/// Blank-separated literals.
inline Vector vector_of(std::string_view text) {
  Vector v;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) v.push_back(fraction(text.substr(0, end)));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return v;
}

inline Exact nearest_even(const Exact& y) {
  const Exact low = y.floor(), above = y - low, half = Exact::pow2(-1);
  const bool up = above > half || (above == half && !low.times_pow2(-1).is_integer());
  return low + Exact(up ? 1 : 0);
}

/// A quantized vector: scale, offset or zero point, codes, values.
struct Grid {
  Exact scale, zero;
  Vector codes, values;
};

inline Exact lowest(const Vector& x) {
  return *std::min_element(x.begin(), x.end());
}
inline Exact highest(const Vector& x) {
  return *std::max_element(x.begin(), x.end());
}
inline Exact clamped(const Exact& x, const Exact& low, const Exact& high) {
  return std::clamp(x, low, high);
}

/// Real-valued minimum: KIVI.
inline Grid real_minimum(const Vector& x, int levels) {
  Grid g{(highest(x) - lowest(x)) / Exact(levels), lowest(x), {}, {}};
  for (const Exact& v : x) {
    g.codes.push_back(nearest_even((v - g.zero) / g.scale));
    g.values.push_back(g.codes.back() * g.scale + g.zero);
  }
  return g;
}

/// Integer zero point with 0 in the range.
inline Grid zero_point(const Vector& x, int levels) {
  const Exact low = std::min(lowest(x), Exact(0)), high = std::max(highest(x), Exact(0));
  Grid g{(high - low) / Exact(levels), {}, {}, {}};
  g.zero = nearest_even(-low / g.scale);
  for (const Exact& v : x) {
    g.codes.push_back(clamped(nearest_even(v / g.scale) + g.zero, Exact(0), Exact(levels)));
    g.values.push_back(g.scale * (g.codes.back() - g.zero));
  }
  return g;
}

/// Symmetric, codes -(m+1)..m.
inline Grid symmetric(const Vector& x, int m) {
  Grid g{std::max(highest(x), -lowest(x)) / Exact(m), {}, {}, {}};
  for (const Exact& v : x) {
    g.codes.push_back(clamped(nearest_even(v / g.scale), Exact(-m - 1), Exact(m)));
    g.values.push_back(g.codes.back() * g.scale);
  }
  return g;
}

inline Matrix transposed(const Matrix& m) {
  Matrix t(m.at(0).size());
  for (const Vector& row : m) {
    for (std::size_t i = 0; i < row.size(); ++i) t[i].push_back(row[i]);
  }
  return t;
}

/// Every row by `quantizer`; the values.
template <class Quantizer>
Matrix by_rows(const Matrix& m, Quantizer quantizer, int levels) {
  Matrix out;
  for (const Vector& row : m) out.push_back(quantizer(row, levels).values);
  return out;
}
template <class Quantizer>
Matrix by_columns(const Matrix& m, Quantizer quantizer, int levels) {
  return transposed(by_rows(transposed(m), quantizer, levels));
}

inline Exact dot(const Vector& a, const Vector& b) {
  Exact sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline Vector scores(const Matrix& keys, const Vector& q) {
  Vector s;
  for (const Vector& k : keys) s.push_back(dot(k, q));
  return s;
}
inline Exact squared_norm(const Matrix& m) {
  Exact sum;
  for (const Vector& row : m) sum += dot(row, row);
  return sum;
}
inline Matrix difference(const Matrix& a, const Matrix& b) {
  Matrix d = a;
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) d[r][c] -= b[r][c];
  }
  return d;
}
inline Exact largest(const Matrix& m) {
  Exact most;
  for (const Vector& row : m) {
    for (const Exact& x : row) most = std::max(most, x.abs());
  }
  return most;
}

}  // namespace halfulp::test
