// Exact error sums; see error_report.hpp.
#include "halfulp/recipes/error_report.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/recipes/quantize.hpp"

namespace halfulp::recipes {
namespace {

using oracle::Exact;

double nearest_double(const Exact& x) {
  constexpr FormatSpec f64 = spec_of("f64");
  constexpr CastPolicy ieee = {.overflow = Overflow::overflow};
  return x.is_zero() ? 0 : std::bit_cast<double>(oracle::nearest(oracle::value_from(x), f64, ieee).code);
}

void add(ErrorReport& report, std::uint64_t index, const Exact& original, const Exact& result) {
  const Exact error = (result - original).abs();
  if (error > report.largest) {
    report.largest = error;
    report.largest_at = index;
  }
  if (!error.is_zero()) report.squared_error += error * error;
  report.squared_norm += original * original;
  ++report.compared;
}

[[noreturn]] void sizes_differ() {
  throw InputError("error report", "the sizes differ", "compare tensors of one shape");
}

}  // namespace

double ErrorReport::largest_error() const {
  return nearest_double(largest);
}

double ErrorReport::rms() const {
  if (compared == 0) return 0;
  return std::sqrt(nearest_double(squared_error / Exact::from_unsigned(compared)));
}

double ErrorReport::relative() const {
  if (squared_error.is_zero()) return 0;
  if (squared_norm.is_zero()) return std::numeric_limits<double>::infinity();
  return std::sqrt(nearest_double(squared_error / squared_norm));
}

double ErrorReport::sqnr_db() const {
  if (squared_error.is_zero()) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(nearest_double(squared_norm / squared_error));
}

ErrorReport compare(std::span<const double> original, std::span<const double> result) {
  if (original.size() != result.size()) sizes_differ();
  ErrorReport report;
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (!std::isfinite(original[i]) || !std::isfinite(result[i]))
      ++report.not_finite;
    else
      add(report, i, Exact::from_double(original[i]), Exact::from_double(result[i]));
  }
  return report;
}

ErrorReport recipe_errors(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  return compare(transformed(recipe, tensor, inputs), dequantize(recipe, quantize(recipe, tensor, inputs), inputs));
}

ErrorReport score_errors(const TensorView& queries, const TensorView& keys,
                         std::span<const double> keys_read_back) {
  if (queries.columns != keys.columns || keys.values.size() != keys_read_back.size()) sizes_differ();
  ErrorReport report;
  const auto width = static_cast<std::size_t>(keys.columns);
  const auto finite = [](std::span<const double> row) {
    return std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
  };
  const auto dot = [](std::span<const double> a, std::span<const double> b) {
    Exact sum;
    for (std::size_t i = 0; i < a.size(); ++i) sum += Exact::from_double(a[i]) * Exact::from_double(b[i]);
    return sum;
  };
  std::uint64_t index = 0;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const auto query = queries.values.subspan(static_cast<std::size_t>(q) * width, width);
    for (std::int64_t k = 0; k < keys.rows; ++k, ++index) {
      const auto key = keys.values.subspan(static_cast<std::size_t>(k) * width, width);
      const auto read = keys_read_back.subspan(static_cast<std::size_t>(k) * width, width);
      if (finite(query) && finite(key) && finite(read))
        add(report, index, dot(query, key), dot(query, read));
      else
        ++report.not_finite;
    }
  }
  return report;
}

std::string to_string(const ErrorReport& report) {
  const auto compared = static_cast<unsigned long long>(report.compared), not_finite = static_cast<unsigned long long>(report.not_finite);
  char text[400];
  if (report.compared == 0) {
    std::snprintf(text, sizeof text, "compared        0\nInf or NaN      %llu\nno error        nothing finite to compare\n", not_finite);
    return text;
  }
  char sqnr[64] = "Inf: the values are exact";
  if (!report.squared_error.is_zero()) std::snprintf(sqnr, sizeof sqnr, "%.2f dB", report.sqnr_db());
  std::snprintf(text, sizeof text,
                "compared        %llu\nInf or NaN      %llu\nlargest error   %.9g at %llu\nrms error       %.9g\n"
                "relative error  %.6g\nSQNR            %s\n",
                compared, not_finite, report.largest_error(), static_cast<unsigned long long>(report.largest_at), report.rms(),
                report.relative(), sqnr);
  return text;
}

}  // namespace halfulp::recipes
