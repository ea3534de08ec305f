"""The text forms of `halfulp cast` and `halfulp quantize`, for comparisons with Python packages.

The command is the first argument, or $HALFULP, or `halfulp` on the path.
"""

import os
import subprocess
import sys

import numpy as np

COMMAND = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("HALFULP", "halfulp")


def run(arguments, text):
    done = subprocess.run([COMMAND, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"halfulp {' '.join(arguments)}: status {done.returncode}\n{done.stderr.strip()[:500]}")
    return done.stdout


def cast(codes, source, target, dialect):
    """Codes of `target` for codes of `source`, both as integers."""
    digits = {"f64": 16, "f32": 8, "f16": 4, "bf16": 4}[source]
    text = "\n".join(f"0x{int(code):0{digits}x}" for code in codes)
    out = run(["cast", "--from", source, "--to", target, "--dialect", dialect], text + "\n")
    return np.array([int(word, 16) for word in out.split()], dtype=np.int64)


class Quantized:
    """One tensor as `halfulp quantize` prints it."""

    def __init__(self, text, integers):
        self.tensor_scale, self.scales, self.zeros, self.codes, self.loose = None, [], [], [], []
        for line in text.splitlines():
            words = line.split()
            if words[:2] == ["#", "tensor-scale"]:
                self.tensor_scale = int(words[2], 16)
                continue
            self.loose.append(words[-1] == "~")
            scale, *codes = words[:-1] if words[-1] == "~" else words
            scale, _, zero = scale.partition(":")
            self.scales.append(int(scale, 16))
            self.zeros.append(int(zero) if zero else 0)
            self.codes.append([int(code, 10 if integers else 16) for code in codes])


def quantize(tensors, recipe, *options, integers=False):
    """Quantizes float32 matrices, one tensor each."""
    rows = ["\n".join(" ".join(f"0x{word:08x}" for word in row) for row in t.view(np.uint32)) for t in tensors]
    out = run(["quantize", "--recipe", recipe, "--input", "-", "--output", "-", *options], "\n\n".join(rows) + "\n")
    return [Quantized(part, integers) for part in out.split("\n\n")]


class Tally:
    """Counts of what was compared, with a first witness of every kind of difference."""

    def __init__(self):
        self.failed = False

    def report(self, name, compared, kinds, known=()):
        """`kinds`: {kind: (count, witness)}; those in `known` are explained."""
        wrong = {kind: found for kind, found in kinds.items() if found[0]}
        total = sum(count for kind, (count, _) in wrong.items() if kind not in known)
        print(f"{name}: {compared} compared, {total} unexplained")
        for kind, (count, witness) in wrong.items():
            print(f"    {kind}: {count}; {witness}" + (" [explained]" if kind in known else ""))
        self.failed |= total > 0

    def finish(self):
        sys.exit(1 if self.failed else 0)
