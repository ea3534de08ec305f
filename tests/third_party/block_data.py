"""Blocks for comparing quantizers: random, aimed at ties, at the ends of binary32, and specials. Seeded."""

import numpy as np

TIES = {
    "e4m3": np.array([(2 * m + 1) / 2 * 2.0 ** (e - 3) for e in range(-6, 9) for m in range(8, 16)]
                     + [(2 * m + 1) * 2.0 ** -10 for m in range(8)]),
    "e5m2": np.array([(2 * m + 1) / 2 * 2.0 ** (e - 2) for e in range(-14, 16) for m in range(4, 8)]
                     + [(2 * m + 1) * 2.0 ** -17 for m in range(4)]),
    "e2m3": np.array([(2 * m + 1) / 16 for m in range(16)] + [m / 8 for m in range(17, 32, 2)] + [m / 4 for m in range(17, 31, 2)]),
    "e3m2": np.array([(2 * m + 1) / 32 for m in range(8)]
                     + [(2 * m + 1) / 2 * 2.0 ** (e - 2) for e in range(-1, 5) for m in range(4, 8)]),
    "e2m1": np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]),
    "int8": np.arange(-128, 128) + 0.5,
}
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "e2m3": 7.5, "e3m2": 28.0, "e2m1": 6.0, "int8": 127.5}
KINDS = ("random", "ties", "exact ties", "steps", "small", "large", "specials")


def to_bf16(values):
    """The float32 values whose lower half is cut off."""
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def blocks(kind, element, count, size, seed=1):
    """`count` blocks of `size` float32 values."""
    rng = np.random.default_rng([seed, KINDS.index(kind), size])
    ties, largest = TIES[element], LARGEST[element]
    sign = rng.choice([-1.0, 1.0], (count, size))
    power = 2.0 ** rng.integers(-20, 20, (count, 1))
    first = np.zeros((count, size), dtype=bool)
    first[np.arange(count), rng.integers(0, size, count)] = True
    with np.errstate(all="ignore"):
        if kind == "random":
            x = rng.standard_normal((count, size)) * power
        elif kind in ("ties", "exact ties"):
            top = largest * power * (rng.uniform(0.5, 1, (count, 1)) if kind == "ties" else 1.0)
            if kind == "ties":
                top = top.astype(np.float32).astype(np.float64)
            x = np.where(first, top, rng.choice(ties[np.abs(ties) <= largest], (count, size)) * (top / largest)) * sign
            x = x.astype(np.float32)
            nudge = rng.integers(-1, 2, (count, size)) * ~first
            x = (x.view(np.int32) + nudge * (x != 0)).astype(np.int32).view(np.float32)
        elif kind == "steps":  # amax around the places where a power-of-two scale changes
            edge = rng.choice([1.0, 1.75, 1.875, 1.9375, largest / 2.0 ** np.floor(np.log2(largest))], (count, 1))
            top = (edge * power).astype(np.float32)
            top = (top.view(np.int32) + rng.integers(-2, 3, (count, 1))).astype(np.int32).view(np.float32)
            x = np.where(first, top, rng.uniform(0, 1, (count, size)) * top) * sign
        elif kind == "small":
            x = rng.uniform(-1, 1, (count, size)) * 2.0 ** rng.integers(-150, -18, (count, 1))
        elif kind == "large":
            x = rng.uniform(-1, 1, (count, size)) * 2.0 ** rng.integers(118, 128, (count, 1))
        else:
            x = rng.standard_normal((count, size)) * power
            for row in range(count):
                some = rng.random(size) < 0.1
                x[row, some] = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf])
                if row % 8 < 2:
                    x[row] = np.where(some, -0.0, 0.0) if row % 8 else 0.0
        return x.astype(np.float32)
