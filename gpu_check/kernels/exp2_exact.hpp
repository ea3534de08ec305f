// 2^x of a float32, correctly rounded to float32, in double-double arithmetic of add, multiply and fma only: the same bits on
// every machine.
//
// x = n + i/32 + s with an integer n, i in [-16, 16] and |s| <= 1/64, all exact. 2^x = 2^n * T[i] * 2^s; T[i] is 2^(i/32) rounded to a
// double-double, and 2^s = 1 + sum c_k s^k, k = 1..9, c_k = ln(2)^k / k!.
//
// Bound. Truncation: |s ln 2| < 2^-6.52, so the rest of the series is below 2^-65.2 / 10! * 1.01 < 2^-86.9. c_1..c_4 are double-doubles
// (relative error 2^-106), c_5..c_9 doubles: c_5 s^5 < 2^-39.5, so their rounding and that of their Horner steps stay below 2^-39.5 * 2^-52 * 2 =
// 2^-90.5. Each double-double sum and product below has a relative error under 2^-100; the Horner chain damps them by s, two more follow.
// Together the value is within 2^-85 relative of 2^x. rounded() says when a tie lies within 2^-80 of the value: where it does not, the
// result is the correctly rounded one. The sweep counts the inputs where it does, and there must be none.
#pragma once

#include <cstdint>

#include "gpu_check/kernel_language.hpp"
#include "halfulp/config.hpp"

namespace halfulp::gpu {

struct Pair {
  double high, low;  ///< |low| <= ulp(high) / 2
};

/// Entries of the table that prepare makes: T[-16..16], then c_1..c_9 (low parts 0 from c_5 on).
inline constexpr unsigned kExp2Table = 33, kExp2Coefficients = 9;

HALFULP_DEVICE Pair two_sum(double a, double b) {
  const double s = __dadd_rn(a, b), t = __dsub_rn(s, a);
  return {s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t))};
}
/// Requires |a| >= |b|.
HALFULP_DEVICE Pair quick_two_sum(double a, double b) {
  const double s = __dadd_rn(a, b);
  return {s, __dsub_rn(b, __dsub_rn(s, a))};
}
HALFULP_DEVICE Pair add(Pair a, Pair b) {
  const Pair s = two_sum(a.high, b.high), t = two_sum(a.low, b.low);
  const Pair u = quick_two_sum(s.high, __dadd_rn(s.low, t.high));
  return quick_two_sum(u.high, __dadd_rn(u.low, t.low));
}
HALFULP_DEVICE Pair multiply(Pair a, Pair b) {
  const double p = __dmul_rn(a.high, b.high);
  const double e = __fma_rn(a.high, b.high, -p);
  return quick_two_sum(p, __dadd_rn(e, __fma_rn(a.high, b.low, __dmul_rn(a.low, b.high))));
}

HALFULP_DEVICE std::uint64_t bits_of(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return __builtin_bit_cast(std::uint64_t, x);
#endif
}

/// 2^n as a double; -1022 <= n <= 1023.
HALFULP_DEVICE double power_of_two(int n) {
  const std::uint64_t bits = static_cast<std::uint64_t>(n + 1023) << 52;
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

/// A double-double in [2^-1, 2) times 2^n, n in [-160, 127], rounded to float32 to nearest even, gradual underflow. `close` is set
/// when a boundary between two results lies within 2^-80 relative of the value.
HALFULP_DEVICE std::uint32_t rounded(Pair value, int n, bool& close) {
  // The last place of the result, as a power of two relative to the double-double.
  int exponent = static_cast<int>(bits_of(value.high) >> 52 & 0x7ff) - 1023;
  if (value.low < 0 && (bits_of(value.high) & 0xfffffffffffffull) == 0) --exponent;  // just below a power of two
  int last = exponent - 23;
  if (n + last < -149) last = -149 - n;
  const double ulp = power_of_two(last), half = power_of_two(last - 1);
  // Whole places toward zero; high / ulp is below 2^25 and exact.
  const double scaled = __dmul_rn(value.high, power_of_two(-last));
  auto whole = static_cast<std::uint32_t>(scaled);
  double rest = __dsub_rn(value.high, __dmul_rn(static_cast<double>(whole), ulp));  // exact
  if (rest == 0 && value.low < 0) {
    --whole;
    rest = ulp;
  }
  // Distance of rest + low to the tie, and to the two ends.
  const Pair to_tie = two_sum(__dsub_rn(rest, half), value.low);
  const double margin = __dmul_rn(value.high, power_of_two(-80));
  const double tie = to_tie.high < 0 ? -to_tie.high : to_tie.high;
  close = tie < margin;
  const bool up = to_tie.high > 0 || (to_tie.high == 0 && (to_tie.low > 0 || (to_tie.low == 0 && (whole & 1) != 0)));
  whole += up ? 1 : 0;
  // whole * 2^(n + last) as a float32: at or above 2^23 places it is normal.
  const int field = n + last + 150;  // exponent field of a normal result with 24 bits
  return whole >= 0x800000u ? (static_cast<std::uint32_t>(field) << 23) + (whole - 0x800000u) : whole;
}

/// The float32 nearest to 2^x; `close` as in rounded(). NaN gives 7fffffff.
HALFULP_DEVICE std::uint32_t exp2_rounded_f32(std::uint32_t word, In<Pair> table, bool& close) {
  close = false;
  const std::uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000u) return 0x7fffffff;
  const bool negative = word >> 31 != 0;
  if (!negative && magnitude >= 0x43000000u) return 0x7f800000u;                 // x >= 128
  if (negative && magnitude >= 0x43160000u) return 0;                            // x <= -150: half of the smallest number, a tie to even, or less
  const double x = static_cast<double>(__uint_as_float(word));
  constexpr double kRound = 0x1.8p52;
  const double n = __dsub_rn(__dadd_rn(x, kRound), kRound);
  const double r = __dsub_rn(x, n);  // exact
  const double thirty_seconds = __dsub_rn(__dadd_rn(__dmul_rn(r, 32.0), kRound), kRound);
  const double s = __dsub_rn(r, __dmul_rn(thirty_seconds, 1.0 / 32));  // exact
  const auto i = static_cast<int>(thirty_seconds);
  // c_9 s^4 + ... + c_5, then four steps in double-double.
  double tail = static_cast<Pair>(table[kExp2Table + 8]).high;
  for (int k = 7; k >= 4; --k) tail = __fma_rn(tail, s, static_cast<Pair>(table[kExp2Table + static_cast<unsigned>(k)]).high);
  Pair p = {tail, 0};
  const Pair step = {s, 0};
  for (int k = 3; k >= 0; --k) p = add(multiply(p, step), table[kExp2Table + static_cast<unsigned>(k)]);
  const Pair power = add({1.0, 0}, multiply(p, step));
  const Pair value = multiply(power, table[static_cast<unsigned>(i + 16)]);
  return rounded(value, static_cast<int>(n), close);
}

}  // namespace halfulp::gpu
