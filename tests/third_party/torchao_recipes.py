"""Recipes of torchao against the package itself, on the CPU, eagerly.

Needs the packages torchao, torch and numpy (PyPI); no part of the default tests. usage: torchao_recipes.py [HALFULP]
"""

import importlib.metadata

import numpy as np
import torch
from torchao.float8.float8_utils import tensor_to_scale, to_fp8_saturated
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2
from torchao.prototype.mx_formats.mx_tensor import to_mx
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
from torchao.quantization.quant_primitives import _choose_scale_float8, _quantize_affine_float8

import block_data
import halfulp_text as halfulp
from recipe_comparison import Theirs, compare, positive_nans

ELEMENTS = {
    "e4m3": ("mxfp8", torch.float8_e4m3fn),
    "e5m2": ("mxfp8", torch.float8_e5m2),
    "e2m3": ("mxfp6", DTYPE_FP6_E2M3),
    "e3m2": ("mxfp6", DTYPE_FP6_E3M2),
    "e2m1": ("mxfp4", torch.float4_e2m1fn_x2),
}
EMAX = {"e4m3": 8, "e5m2": 15, "e2m3": 2, "e3m2": 4, "e2m1": 2}
MODES = {
    "ocp_floor": ScaleCalculationMode.FLOOR,
    "even": ScaleCalculationMode.EVEN,
    "ceil": ScaleCalculationMode.CEIL,
    "rceil": ScaleCalculationMode.RCEIL,
}


def bytes_of(tensor):
    return tensor.view(torch.uint8).numpy().astype(np.int64)


def bits(tensor):
    return tensor.to(torch.float32).contiguous().numpy().view(np.uint32).ravel().astype(np.int64)


def unpacked(packed):
    return np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)


def mx(element, mode):
    def run(x):
        scale, codes = to_mx(torch.from_numpy(x), ELEMENTS[element][1], 32, MODES[mode])
        codes = bytes_of(codes)
        return Theirs(bytes_of(scale).ravel(), unpacked(codes) if element == "e2m1" else codes)
    return run


def mx_reason(element, mode):
    """Against the rules without a producer's name."""
    low_bytes = {"ocp_floor": 2.0, "even": 2.0, "ceil": 1.0, "rceil": 1.0}[mode] * 2.0 ** (EMAX[element] - 127)

    def why(x, place):
        top = np.abs(x).max()
        if np.isinf(top):
            if mode == "rceil":
                return "Inf in the block: byte 0xFE and factor 2^-127"
            return "Inf in the block: byte 255 - emax, Inf counts as exponent 128; the rule gives 0xFF"
        if np.isnan(top):
            if place is None:
                return "NaN in the block: byte 0xFF; mxfp6/rceil and mxfp4/rceil leave it out" if mode == "rceil" else None
            return "NaN in the block (byte 0xFF): the elements mean nothing"
        if place is not None and top <= low_bytes * 1.0001:
            how = "1.0" if mode == "rceil" else "2^126"
            return f"byte 0: the package applies {how} in place of 2^127"
        if mode == "rceil":
            mantissa = np.frexp(top / np.float32(block_data.LARGEST[element]))[0] * 2
            if 1 < mantissa < 1 + 2.0 ** -16:
                return "ceil of a float log2: just above a power of two it is that power; the rule goes by the bits"
        return None
    return why


def eager_reason(element, mode):
    """Against the recipes that follow the package: what remains."""
    def why(x, place):
        if place is not None and np.isnan(x).any() and element not in ("e4m3", "e5m2"):
            if mode == "rceil" or np.isnan(x[place]):
                return "a NaN has no code: the package's conversion works on bits and has no rule for it"
        return None
    return why


def fp8_affine(x):
    tensor = torch.from_numpy(x)
    scale = _choose_scale_float8(tensor, [1, x.shape[1]])
    return Theirs(bits(scale), bytes_of(_quantize_affine_float8(tensor, scale)))


def fp8_train(pow2):
    def run(x):
        tensor = torch.from_numpy(x)
        scale = torch.stack([tensor_to_scale(row, torch.float8_e4m3fn, round_scales_to_power_of_2=pow2) for row in tensor])
        codes = to_fp8_saturated(tensor * scale[:, None], torch.float8_e4m3fn)
        return Theirs(bits(1 / scale), bytes_of(codes))
    return run


def nvfp4(x):
    tensor = torch.from_numpy(x)
    overall = per_tensor_amax_to_scale(tensor.abs().amax())
    scale, codes = nvfp4_quantize(tensor, 16, overall)
    return Theirs(positive_nans(bytes_of(scale).ravel()), unpacked(bytes_of(codes)), tensor_scale=int(bits(overall)[0]))


def nvfp4_reason(x, place, whole):
    if place is not None and not np.isfinite(whole).all() or (place is not None and np.abs(whole).max() == 0):
        return "a NaN after scaling: the package's E2M1 conversion works on bits and has no rule for NaN"
    return None


def none(*_):
    return None


def main():
    print(f"torchao {importlib.metadata.version('torchao')}, torch {torch.__version__}")
    tally = halfulp.Tally()
    for element, (family, _) in ELEMENTS.items():
        for mode in MODES:
            name = f"{family}/{mode}"
            if (family, mode) == ("mxfp8", "rceil"):
                name += "_torchao"
            compare(tally, name, mx(element, mode), mx_reason(element, mode), element, 32, count=120,
                    options=("--to", element), label=f" {element}")
            run = f"{family}/{mode}_torchao" + ("_eager" if mode == "rceil" else "")
            compare(tally, run, mx(element, mode), eager_reason(element, mode), element, 32, count=120,
                    options=("--to", element), label=f" {element}", approximate=mode == "rceil")
    compare(tally, "fp8_affine/torchao", fp8_affine, none, "e4m3", 128)
    rows = ("--block", "row")
    compare(tally, "fp8_train/torchao", fp8_train(False), none, "e4m3", 128, options=rows)
    compare(tally, "fp8_train/torchao_pow2", fp8_train(True), none, "e4m3", 128, options=rows)
    compare(tally, "nvfp4/torchao", nvfp4, nvfp4_reason, "e2m1", 16, count=400, whole=True)
    tally.finish()


main()
