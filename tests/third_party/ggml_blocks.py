"""Quantizes blocks of 32 with the gguf package (PyPI), the Python twin of ggml's reference quantizers.

Reads lines `FORMAT HEX32...` on stdin: q8_0, q4_0, q4_1 or mxfp4, then 32 float32 bit patterns. Answers each with
`SCALE ZERO CODES... | VALUES...`: bits of the stored scale and minimum (0 where there is none), element codes, and the
dequantized values as float32 bits. Exit status 77: the package is missing.
"""

import sys

try:
    import gguf
    import numpy as np
    from gguf import quants
except ImportError as why:
    print(f"gguf is not importable: {why}", file=sys.stderr)
    sys.exit(77)

TYPES = {name: getattr(gguf.GGMLQuantizationType, name.upper()) for name in ("q8_0", "q4_0", "q4_1", "mxfp4")}


def unpacked(name, block):
    """Stored scale, minimum and element codes of one block's bytes."""
    data = bytes(block)
    if name == "mxfp4":
        scale, minimum, rest = data[0], 0, data[1:]
    else:
        scale, rest = int.from_bytes(data[:2], "little"), data[2:]
        minimum = 0
        if name == "q4_1":
            minimum, rest = int.from_bytes(rest[:2], "little"), rest[2:]
    if name == "q8_0":
        return scale, minimum, list(rest)
    return scale, minimum, [b & 15 for b in rest] + [b >> 4 for b in rest]


def main():
    rows = [line.split() for line in sys.stdin if line.strip()]
    answers = [""] * len(rows)
    for name, kind in TYPES.items():
        places = [i for i, row in enumerate(rows) if row[0] == name]
        if not places:
            continue
        bits = np.array([[int(word, 16) for word in rows[i][1:]] for i in places], dtype=np.uint32)
        with np.errstate(all="ignore"):
            packed = quants.quantize(bits.view(np.float32), kind)
            values = quants.dequantize(packed, kind)
        for i, block, row in zip(places, packed, values):
            scale, minimum, codes = unpacked(name, block)
            words = " ".join(f"{int(word):x}" for word in row.astype(np.float32).view(np.uint32))
            answers[i] = f"{scale:x} {minimum:x} " + " ".join(f"{code:x}" for code in codes) + " | " + words
    print("\n".join(answers))


main()
