#!/usr/bin/env python3
"""Packs the measured rows as codes: pack.py TEXT_FOLDER OUT_FOLDER (formats of the files: README.md)."""
import pathlib
import struct
import sys

text, out = map(pathlib.Path, sys.argv[1:3])


def fields(word, exponent_bits, fraction_bits, bias):
    """The code of a float32 that the format has exactly; subnormals included."""
    sign, magnitude = word >> 31, word & 0x7FFFFFFF
    if magnitude == 0:
        return sign << (exponent_bits + fraction_bits)
    exponent, fraction = (magnitude >> 23) - 127, (magnitude & 0x7FFFFF) | 0x800000
    shift = 23 - fraction_bits + max(0, 1 - bias - exponent)
    assert fraction & ((1 << shift) - 1) == 0, hex(word)
    units = fraction >> shift
    field = max(exponent + bias, 0) if units >> fraction_bits else 0
    return (sign << (exponent_bits + fraction_bits)) | (field << fraction_bits) | (units & ((1 << fraction_bits) - 1))


CODES = {"e4m3": ("B", 4, 3, 7), "e5m2": ("B", 5, 2, 15), "fp16": ("<H", 5, 10, 15), "bf16": ("<H", 8, 7, 127)}
for path in sorted(text.glob("in_*.txt")):
    name = path.stem.split("_")[1]
    packed = bytearray()
    for line in path.read_text().splitlines():
        a, b, c = (part.split() for part in line.split("|"))
        for word in a + b:
            if name == "tf32":
                packed += struct.pack("<I", int(word, 16))
            else:
                packed += struct.pack(CODES[name][0], fields(int(word, 16), *CODES[name][1:]))
        packed += struct.pack("<I", int(c[0], 16))
    (out / (path.stem + ".bin")).write_bytes(packed)
for path in sorted(text.glob("out_*.txt")):
    words = [int(line, 16) for line in path.read_text().split()]
    if path.stem.endswith("fp16"):
        packed = b"".join(struct.pack("<H", fields(word, 5, 10, 15)) for word in words)
    else:
        packed = b"".join(struct.pack("<I", word) for word in words)
    (out / (path.stem + ".bin")).write_bytes(packed)
