// The ranges of inputs; see input_range.hpp.
#include "halfulp/recipes/input_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "halfulp/error.hpp"

namespace halfulp::recipes {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kLargest = 0x1.fffffep+127, kTiny = 0x1p-149;

/// From `least` to `most`, both inside; -0 counts as negative. NaN is in no range.
struct Range {
  std::string_view name;
  double least, most;
  const char* text;
};
constexpr Range kRanges[] = {
    {kTensorAmax, 0, kInf, "from 0 to inf"},
    {kTensorScale, 0, kInf, "from 0 to inf"},  // both ends are what some producers store for a tensor of zeros
    {"scale", 0, kLargest, "finite and not negative"},
    {"k_scale", 0, kLargest, "finite and not negative"},
    {"ub", 0, kInf, "from 0 to inf"},
    {"eps", 0, kLargest, "finite and not negative"},
    {"largest", kTiny, kLargest, "finite and above 0"},
    {"range", kTiny, kLargest, "finite and above 0"},
    {"clip", kTiny, 1, "above 0, at most 1"},
    {"alpha", 0, 1, "from 0 to 1"},
    {"wmax", 0, kInf, "from 0 to inf"},
    {"smooth", kTiny, kLargest, "finite and above 0"},
    {"mean", -kLargest, kLargest, "finite"},
    {"dense", kTiny, 1, "a share above 0, at most 1"},
    {"outlier_lower", -kLargest, kLargest, "finite"},
    {"outlier_upper", -kLargest, kLargest, "finite"},
    {"codebook", -kLargest, kLargest, "finite"},
    {"random", 0, 255, "a byte, 0 to 255"},
};

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  return std::isnan(value) ? "nan" : text;
}

}  // namespace

void check_input_range(std::string_view name, double value, const std::string& what) {
  const auto* const range = std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& r) { return r.name == name; });
  if (range == std::end(kRanges)) return;
  const bool negative_zero = value == 0 && std::signbit(value) && range->least >= 0;
  if (value >= range->least && value <= range->most && !negative_zero) return;
  throw InputError(what, number(value) + " is outside its range", "give values that are " + std::string(range->text));
}

void check_threshold_order(const Inputs& inputs, const std::string& what) {
  const auto lower = inputs.find("outlier_lower"), upper = inputs.find("outlier_upper");
  if (lower == inputs.end() || upper == inputs.end() || lower->second.empty() || upper->second.empty()) return;
  const auto &lows = lower->second, &highs = upper->second;
  for (std::size_t i = 0; i < std::max(lows.size(), highs.size()); ++i) {
    const double low = lows[std::min(i, lows.size() - 1)], high = highs[std::min(i, highs.size() - 1)];
    if (low > high) throw InputError(what, number(low) + " is above " + number(high), "give the lower threshold first");
  }
}

}  // namespace halfulp::recipes
