"""A filter: float32 words on standard input, E4M3 codes on standard output.

    halfulp verify cast:f32:e4m3 --exec 'python3 numpy_filter.py'
"""
import sys

import numpy as np


def cast_e4m3(x):
    """float32 to E4M3 codes, ties to even, saturating; float64 holds every step exactly."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        magnitude = np.abs(x.astype(np.float64))
    finite = np.where(np.isfinite(magnitude), np.minimum(magnitude, 448.0), 448.0)
    exponent = np.where(finite < 2.0**-6, -6, np.frexp(finite)[1] - 1)  # subnormal numbers share the smallest exponent
    steps = np.rint(np.ldexp(finite, 3 - exponent)).astype(np.int64)  # in units of the last place
    codes = np.minimum(8 * (exponent + 6) + steps, 0x7E)  # 16 steps carry into the next exponent
    codes = np.where(np.isnan(x), 0x7F, codes)
    return (codes | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


words = np.frombuffer(sys.stdin.buffer.read(), dtype="<f4")
sys.stdout.buffer.write(cast_e4m3(words).tobytes())
