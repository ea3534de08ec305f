"""Compares `halfulp quantize` with another quantizer, block by block."""

import numpy as np

import block_data
import halfulp_text as halfulp


class Theirs:
    def __init__(self, scales, codes, zeros=None, tensor_scale=None):
        self.scales, self.codes, self.tensor_scale = scales, codes, tensor_scale
        self.zeros = np.zeros(len(scales), dtype=np.int64) if zeros is None else zeros


def positive_nans(codes):
    """E4M3 scale codes; the sign of the NaN of Inf / Inf is the processor's."""
    return np.where(codes & 0x7F == 0x7F, 0x7F, codes)


def compare(tally, recipe, theirs_of, why, element, size, *, count=240, kinds=block_data.KINDS, options=(),
            integers=False, prepare=lambda x: x, label="", whole=False, approximate=False):
    """Runs both over the same blocks, a row each. `theirs_of(x)` gives their answer, `why(block, place)` the reason of an
    expected difference or None (`place`: the element; None: a scale). `whole`: tensors of four blocks, and `why` also
    gets the tensor. `approximate`: a difference in a block whose line ends in ` ~` is one that the recipe itself admits."""
    data = [prepare(block_data.blocks(kind, element, count, size)) for kind in kinds]
    if whole:  # tensors of a few blocks: the tensor scale matters
        data = [part[i:i + 4] for part in data for i in range(0, count, 4)]
    mask = {"e4m3": 0x7F, "e5m2": 0x7F}.get(element, -1)
    compared, found, known = 0, {}, set()
    for x, ours in zip(data, halfulp.quantize(data, recipe, *options, integers=integers)):
        theirs = theirs_of(x)
        words = [("tensor scale", None, ours.tensor_scale, theirs.tensor_scale)]
        for row in range(len(x)):
            words.append(("scale", (row, None), ours.scales[row], theirs.scales[row]))
            words.append(("zero point", (row, None), ours.zeros[row], theirs.zeros[row]))
            words += [("code", (row, i), a, b) for i, (a, b) in enumerate(zip(ours.codes[row], theirs.codes[row]))]
        compared += len(words)
        for what, at, a, b in words:
            if a == b or (what != "code" and is_nan(int(a)) and is_nan(int(b))):
                continue
            if what == "code" and not integers and a & mask == b & mask == mask:
                continue  # NaNs: the sign of Inf / Inf is the processor's
            block = x[at[0]] if at else x[0]
            place = at[1] if at else None
            reason = why(block, place, x) if whole else why(block, place)
            if approximate and reason is None and at and ours.loose[at[0]]:
                reason = "a step with several admissible results: the recipe marks this block"
            kind = f"{what}: {reason}" if reason else what
            if reason:
                known.add(kind)
            amax = float(np.abs(block).max())
            value = "" if place is None else f" x {float(block[place]).hex()}"
            witness = f"amax {amax.hex()}{value}: package {spelled(b, integers)}, recipe {spelled(a, integers)}"
            count_before, first = found.get(kind, (0, witness))
            found[kind] = (count_before + 1, first)
    tally.report(recipe + label, compared, found, known)


def is_nan(word):
    return (word & 0x7FFFFFFF) > 0x7F800000


def spelled(word, integers):
    return str(int(word)) if integers else f"0x{int(word):x}"
