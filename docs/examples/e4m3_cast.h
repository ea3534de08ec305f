/* The kernel of the C examples: float32 to E4M3, ties to even, saturating. */
#ifndef E4M3_CAST_H
#define E4M3_CAST_H

#include <stdint.h>

static uint8_t cast_e4m3(uint32_t x) {
  const uint32_t sign = x >> 24 & 0x80u, magnitude = x & 0x7fffffffu, exponent = magnitude >> 23;
  if (magnitude > 0x7f800000u) return (uint8_t)(sign | 0x7fu); /* NaN */
  if (magnitude >= 0x43e00000u) return (uint8_t)(sign | 0x7eu); /* 448 and above */
  if (exponent < 117) return (uint8_t)sign;                     /* below half of the smallest number, 2^-9 */
  {
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = exponent >= 121 ? 20 : 141 - exponent; /* 121: 2^-6, the smallest normal number */
    const uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
    uint32_t kept = significand >> shift;
    kept += rest > half || (rest == half && (kept & 1u));
    return (uint8_t)(sign | (exponent >= 121 ? ((exponent - 121) << 3) + kept : kept));
  }
}

#endif
