// attention_study exp2|tanh [--threads N]: the error of exp2_p6 and tanh_fma over every float32 of their ranges.
//
// The reference is evaluated in binary64 from a table that the 300-bit oracle made (exp2) or from a series (tanh of small
// arguments); its own error is bounded below. Inputs whose correctly rounded result that error leaves open are counted apart.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/transcendental.hpp"

namespace {

using namespace halfulp;  // NOLINT: one program

constexpr FormatSpec kF64 = spec_of("f64"), kF32 = spec_of("f32"), kE4m3 = spec_of("e4m3");

/// 2^y for y = hi + lo, |lo| far below |hi|: relative error at most 2^-51. The table entry and each of three operations are off
/// by 2^-53; the series of 2^(f - entry), |f - entry| <= 2^-13, is cut at less than 2^-80.
class Exp2 {
 public:
  Exp2() {
    for (int i = 0; i <= kEntries; ++i) {
      const double f = static_cast<double>(i) / kEntries - 0.5;
      const oracle::Value value = oracle::exp2_rounded(oracle::value_of(kF64, std::bit_cast<std::uint64_t>(f)), kF64);
      table_[static_cast<std::size_t>(i)] = std::bit_cast<double>(oracle::nearest(value, kF64, {}).code);
    }
  }
  double operator()(double hi, double lo = 0) const {
    const double n = std::nearbyint(hi), f = hi - n, place = std::nearbyint(f * kEntries);  // both differences exact
    const double z = (f - place / kEntries + lo) * 0x1.62e42fefa39efp-1;
    const double series = z * (1 + z * (0.5 + z * (1.0 / 6 + z * (1.0 / 24 + z / 120))));
    const double entry = table_[static_cast<std::size_t>(place + kEntries / 2)];
    const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52;
    return (entry + entry * series) * std::bit_cast<double>(exponent);
  }

 private:
  static constexpr int kEntries = 4096;
  std::array<double, kEntries + 1> table_;  ///< 2^f for f from -1/2 to 1/2
};

const Exp2& reference_exp2() {
  static const Exp2 function;
  return function;
}

/// tanh(x), x >= 0. Below 2^-5 by its series, cut at less than 2^-70 of the result: relative error at most 2^-51. Above, 1 -
/// 2 / (2^y + 1) with y = 2 log2(e) x in two parts: an error of 2^-50 of 1, at most 2^-45 of the result.
double reference_tanh(double x) {
  if (x < 0x1p-5) {
    const double z = x * x;
    return x - x * z * (1.0 / 3 - z * (2.0 / 15 - z * (17.0 / 315 - z * (62.0 / 2835 - z * (1382.0 / 155925 - z * 21844.0 / 6081075)))));
  }
  constexpr double kHigh = 0x1.71547652b82fep+1, kLow = 0x1.777d0ffda0d24p-55;  // 2 log2(e)
  const double y = x * kHigh;
  return 1 - 2 / (reference_exp2()(y, std::fma(x, kHigh, -y) + x * kLow) + 1);
}

struct Errors {
  std::uint64_t inputs = 0, not_nearest = 0, open = 0, falls = 0, falls_inside = 0, other_code = 0;
  double ulps = 0, relative = 0;
  std::uint32_t worst = 0;

  void add(const Errors& e) {
    inputs += e.inputs, not_nearest += e.not_nearest, open += e.open, falls += e.falls, falls_inside += e.falls_inside, other_code += e.other_code;
    relative = std::max(relative, e.relative);
    if (e.ulps > ulps || (e.ulps == ulps && e.worst < worst)) ulps = e.ulps, worst = e.worst;
  }

  /// y for the exact value `exact`, known to `doubt` ulps.
  void count(std::uint32_t x, float y, double exact, double doubt) {
    ++inputs;
    const int binade = std::max(std::ilogb(exact), -126);
    const double ulp = std::bit_cast<double>(static_cast<std::uint64_t>(binade - 23 + 1023) << 52);
    const double error = std::fabs(static_cast<double>(y) - exact);
    if (error / ulp > ulps) ulps = error / ulp, worst = x;
    relative = std::max(relative, error / exact);
    if (static_cast<float>(exact) != y) ++not_nearest;
    // Half way between two floats within the doubt: the nearest one is not known.
    const double scaled = exact / ulp, fraction = scaled - std::floor(scaled);
    if (std::fabs(fraction - 0.5) <= doubt) ++open;
  }
};

/// Runs `block(first, end)` over words [first, last] in blocks, on threads.
template <class Block>
Errors over(std::uint32_t first, std::uint32_t last, unsigned threads, Block block) {
  constexpr std::uint64_t kBlock = 1 << 20;
  std::mutex mutex;
  Errors all;
  std::uint64_t next = first;
  const auto work = [&] {
    for (;;) {
      std::uint64_t begin;
      {
        const std::scoped_lock lock(mutex);
        begin = next;
        next += kBlock;
      }
      if (begin > last) return;
      const Errors e = block(begin, std::min<std::uint64_t>(begin + kBlock, std::uint64_t{last} + 1));
      const std::scoped_lock lock(mutex);
      all.add(e);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  return all;
}

void print(const char* range, const Errors& e) {
  std::printf("%-12s %12llu  %.4f ulp at 0x%08X  relative %.3e = 2^%.2f  not nearest %llu (%.2f %%), open %llu  falls %llu", range,
              static_cast<unsigned long long>(e.inputs), e.ulps, e.worst, e.relative, std::log2(e.relative),
              static_cast<unsigned long long>(e.not_nearest), 100.0 * static_cast<double>(e.not_nearest) / static_cast<double>(e.inputs),
              static_cast<unsigned long long>(e.open), static_cast<unsigned long long>(e.falls));
}

/// A word and the next one, by value: of negative numbers words run downward.
bool falls(float before, float after, bool negative) { return negative ? after > before : after < before; }

Errors exp2_range(std::uint32_t first, std::uint32_t last, unsigned threads) {
  const bool negative = first >> 31 != 0;
  return over(first, last, threads, [&](std::uint64_t begin, std::uint64_t end) {
    Errors e;
    float before = begin == first ? 0 : attention::exp2_p6(std::bit_cast<float>(static_cast<std::uint32_t>(begin - 1)));
    for (std::uint64_t word = begin; word < end; ++word) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
      const float y = attention::exp2_p6(x);
      e.count(static_cast<std::uint32_t>(word), y, reference_exp2()(x), 0x1p-26);
      if (word != first && falls(before, y, negative)) {
        ++e.falls;
        e.falls_inside += word < 0xbf000000;
      }
      before = y;
    }
    return e;
  });
}

/// E4M3 codes of exp2_p6 against those of the exact value, where its input lies outside (-1/2, 1/2).
Errors exp2_codes(std::uint32_t first, std::uint32_t last, unsigned threads) {
  return over(first, last, threads, [&](std::uint64_t begin, std::uint64_t end) {
    Errors e;
    for (std::uint64_t word = begin; word < end; ++word) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
      const float y = attention::exp2_p6(x);
      const double exact = reference_exp2()(x);
      ++e.inputs;
      const auto bits = std::bit_cast<std::uint32_t>(y);
      if (y == static_cast<float>(exact) && (bits & 0x7ffff) != 0) continue;  // both lie on one side of every threshold
      const bool whole = std::floor(x) == x;
      const auto code = cast(kF64, std::bit_cast<std::uint64_t>(whole ? static_cast<double>(y) : exact), kE4m3, CastPolicy{}).code;
      e.other_code += cast(kF32, bits, kE4m3, CastPolicy{}).code != code;
    }
    return e;
  });
}

void study_exp2(unsigned threads) {
  const Errors low = exp2_range(0x80000000, 0xc2fc0000, threads);
  print("[-126, 0]", low);
  std::printf(" (of them in (-1/2, 0]: %llu)\n", static_cast<unsigned long long>(low.falls_inside));
  print("[0, 9]", exp2_range(0x00000000, 0x41100000, threads));
  std::printf("\n");
  Errors codes = exp2_codes(0xbf000000, 0xc1400000, threads);
  codes.add(exp2_codes(0x3f000000, 0x410ce979, threads));
  std::printf("E4M3 codes other than those of exact exp2: %llu of %llu in [-12, -1/2] and [1/2, 8.807]\n",
              static_cast<unsigned long long>(codes.other_code), static_cast<unsigned long long>(codes.inputs));
}

void study_tanh(unsigned threads) {
  struct Range {
    const char* name;
    std::uint32_t first, last;
    double doubt;
  };
  // From 9.02 on tanh differs from 1 by less than a quarter ulp. Subnormal arguments come back as they are.
  const Range ranges[] = {{"[2^-126,2^-5)", 0x00800000, 0x3cffffff, 0x1p-26}, {"[2^-5, 9/16)", 0x3d000000, 0x3f0fffff, 0x1p-20}, {"[9/16, 9.02]", 0x3f100000, 0x411051ec, 0x1p-20}};
  for (const Range& range : ranges) {
    print(range.name, over(range.first, range.last, threads, [&](std::uint64_t begin, std::uint64_t end) {
            Errors e;
            float before = begin == range.first ? 0 : attention::tanh_fma(std::bit_cast<float>(static_cast<std::uint32_t>(begin - 1)));
            for (std::uint64_t word = begin; word < end; ++word) {
              const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
              const float y = attention::tanh_fma(x);
              e.count(static_cast<std::uint32_t>(word), y, reference_tanh(x), range.doubt);
              if (word != range.first && y < before) ++e.falls;
              before = y;
            }
            return e;
          }));
    std::printf("\n");
  }
  std::uint64_t others = 0;
  for (std::uint64_t word = 0x411051ed; word <= 0x7f800000; ++word) others += attention::tanh_fma(std::bit_cast<float>(static_cast<std::uint32_t>(word))) != 1.0f;
  for (std::uint32_t word = 0; word < 0x00800000; ++word) others += std::bit_cast<std::uint32_t>(attention::tanh_fma(std::bit_cast<float>(word))) != word;
  std::printf("above 9.02, Inf included, not 1, or subnormal and changed: %llu\n", static_cast<unsigned long long>(others));
}

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 2;
  if (argc == 4 && std::strcmp(argv[2], "--threads") == 0) threads = static_cast<unsigned>(std::max(1, std::atoi(argv[3])));
  const char* const command = argc == 2 || argc == 4 ? argv[1] : "";
  if (std::strcmp(command, "exp2") == 0) study_exp2(threads);
  else if (std::strcmp(command, "tanh") == 0) study_tanh(threads);
  else {
    std::fputs("attention_study: exp2 or tanh [--threads N]\n", stderr);
    return 2;
  }
  return 0;
}
