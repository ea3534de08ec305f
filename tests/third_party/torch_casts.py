"""Casts of PyTorch on the CPU against the dialect torch_2_12 (torch_2_11 for versions before 2.12).

Needs the packages torch and numpy (PyPI); no part of the default tests. usage: torch_casts.py [HALFULP]

Sources: all f16 and bf16 codes; float32: those, and every upper half with seven lower halves around its ties;
float64: the same, and neighbours closer than float32 can tell, where the way through float32 rounds twice.
"""

import numpy as np
import torch

import halfulp_text as halfulp

TYPES = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
    "e8m0": torch.float8_e8m0fnu,
}


def sources():
    every = np.arange(1 << 16, dtype=np.uint32)
    halves = every.astype(np.uint16).view(np.float16)
    lower = np.array([0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x4000], dtype=np.uint32)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        single = np.concatenate([(every[:, None] << 16 | lower).ravel(), halves.astype(np.float32).view(np.uint32)])
        wide = single.view(np.float32)[::3].astype(np.float64).view(np.uint64)
    double = np.concatenate([wide, wide + np.uint64(1), wide | np.uint64(0x0FFFFFFF)])
    exact = torch.from_numpy(every.astype(np.uint16).view(np.int16).copy())
    yield "f32", single, torch.from_numpy(single.view(np.float32))
    yield "f64", double, torch.from_numpy(double.view(np.float64))
    yield "f16", every, exact.view(torch.float16)
    yield "bf16", every, exact.view(torch.bfloat16)


def main():
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    dialect = "torch_2_12" if version >= (2, 12) else "torch_2_11"
    print(f"torch {torch.__version__}, dialect {dialect}")
    tally = halfulp.Tally()
    for source, codes, tensor in sources():
        for target, kind in TYPES.items():
            theirs = tensor.to(kind).view(torch.uint8).numpy().astype(np.int64)
            ours = halfulp.cast(codes, source, target, dialect)
            wrong = np.flatnonzero(theirs != ours)
            kinds = {}
            if wrong.size:
                first = wrong[0]
                kinds["code"] = (wrong.size, f"0x{int(codes[first]):x}: torch 0x{theirs[first]:02x}, "
                                             f"{dialect} 0x{ours[first]:02x}")
            tally.report(f"{source} -> {target}", codes.size, kinds)
    tally.finish()


main()
