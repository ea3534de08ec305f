"""Recipes SCHEME/compressed_tensors against the package itself, on the CPU.

Needs the packages compressed-tensors, torch and numpy (PyPI); no part of the default tests.
usage: compressed_tensors_recipes.py [HALFULP]

The recipes follow 0.11 (floor of the scale by clamp(min=eps); zero point after that floor; tensor scale Inf of a zero
tensor); MXFP4, which came later, follows a version that took the amax through bf16. What later versions changed, and
where the recipe is not the package's order, is recognized by its input and counted as explained. The recipes
SCHEME/compressed_tensors_torch follow the later versions and PyTorch's arithmetic: only NaN elements are explained there.
"""

import importlib.metadata

import numpy as np
import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import quantize
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam

import block_data
import halfulp_text as halfulp
from recipe_comparison import Theirs, compare, positive_nans

VERSION = importlib.metadata.version("compressed-tensors")
# 0.11.0 and 0.20.1 were run; where between them the change lies was not looked up.
NEW = tuple(int(part) for part in VERSION.split(".")[:2]) >= (0, 12)
EPS = 2.0 ** -23


def bits(tensor):
    return tensor.detach().to(torch.float32).contiguous().numpy().view(np.uint32).ravel().astype(np.int64)


def args(**settings):
    kinds = {"symmetric": True, "num_bits": 8}
    return QuantizationArgs(**{**kinds, **settings})


def e2m1_codes(values):
    """Codes of exact E2M1 values, a NaN as the package packs it: magnitude 7 only where 2 |x| is at least 12."""
    twice = (values.to(torch.float32) * 2).to(torch.int8).abs().numpy()
    table = np.zeros(128, dtype=np.int64)
    table[[1, 2, 3, 4, 6, 8]] = [1, 2, 3, 4, 5, 6]
    table[12:] = 7
    return table[twice] | np.signbit(values.to(torch.float32).numpy()).astype(np.int64) << 3


def by_rows(settings, size, codes_of):
    """Channel or group of one tensor whose rows are single blocks."""
    def run(x):
        tensor = torch.from_numpy(x)
        low, high = tensor.amin(-1, keepdim=True), tensor.amax(-1, keepdim=True)
        scale, zero = calculate_qparams(low, high, settings)
        asymmetric = not settings.symmetric
        codes = quantize(tensor, scale, zero if asymmetric else None, settings, dtype=codes_of)
        view = codes.view(torch.uint8) if codes_of is torch.float8_e4m3fn else codes
        return Theirs(bits(scale), view.numpy().astype(np.int64),
                      zero.numpy().astype(np.int64).ravel() if asymmetric else None)
    return run


def nvfp4(x):
    settings = args(num_bits=4, type="float", strategy="tensor_group", group_size=16)
    if NEW:
        settings = args(num_bits=4, type="float", strategy="tensor_group", group_size=16,
                        scale_dtype=torch.float8_e4m3fn, zp_dtype=torch.float8_e4m3fn)
    tensor = torch.from_numpy(x)
    overall = generate_gparam(tensor.amin(), tensor.amax())
    scale, _ = calculate_qparams(tensor.amin(-1, keepdim=True), tensor.amax(-1, keepdim=True), settings, overall)
    codes = quantize(tensor, scale.to(torch.float32), None, settings, global_scale=overall)
    scale_codes = scale.to(torch.float8_e4m3fn).view(torch.uint8).numpy().ravel().astype(np.int64)
    return Theirs(positive_nans(scale_codes), e2m1_codes(codes), tensor_scale=int(bits(overall)[0]))


def mxfp4(dtype):
    def run(x):
        settings = args(num_bits=4, type="float", strategy="group", group_size=32, scale_dtype=torch.uint8,
                        zp_dtype=torch.uint8)
        tensor = torch.from_numpy(x).to(dtype)
        scale, _ = calculate_qparams(tensor.amin(-1, keepdim=True), tensor.amax(-1, keepdim=True), settings)
        codes = quantize(tensor, scale, None, settings)
        scale = scale.to(torch.float32).numpy().ravel()
        with np.errstate(all="ignore"):
            exponents = np.where(np.isfinite(scale), np.log2(scale.astype(np.float64)) + 127, 255)
        return Theirs(exponents.astype(np.int64), e2m1_codes(codes))
    return run


# ---- why a block of a later version differs ----

def finite(x):
    return bool(np.isfinite(x).all())


def floor_reason(span, steps):
    def why(x, _):
        if finite(x) and NEW and np.float32(span(x)) / np.float32(steps) < EPS:
            return "after 0.11: only a scale of exactly 0 becomes 2^-23, smaller ones are kept; older: at least 2^-23"
        return None
    return why


def int8_reason(floor):
    def why(x, _):
        return "a NaN is cast to int8, which C leaves undefined" if not finite(x) else floor(x, _)
    return why


def magnitude(x):
    return np.abs(x).max()


def extent(x):
    return max(x.max(), 0) - min(x.min(), 0)


def asymmetric_reason(x, _):
    if not finite(x):
        return "a NaN is cast to int8, which C leaves undefined"
    with np.errstate(all="ignore"):
        if not np.isfinite(np.float32(extent(x))):
            return "max - min overflows: zero point and codes of NaN"
        t = np.float32(extent(x)) / np.float32(255)
    if NEW and t < EPS:
        return "after 0.11: zero point from the scale before its floor, which is for 0 alone (a zero group: zero point of 0/0)"
    return None


def e2m1_reason(x, place):
    if place is not None and np.isnan(x[place]):
        return "a NaN has no E2M1 code: the package's packing casts it to an integer"
    if place is not None and x[place] == 0 and np.signbit(x[place]):
        return "-0 loses its sign in x * sign(x): code 0, the recipe keeps 8"
    return None


def nvfp4_reason(x, place, whole):
    top = np.abs(whole).max()
    if NEW and (np.isnan(top) or top < 2.0 ** -116):
        return "after 0.11: a tensor scale that is not finite becomes 1"
    if finite(whole) and top and np.float32(1) / top * np.float32(2688) != np.float32(2688) / top:
        return "PyTorch makes number / tensor as (1 / A) * 2688, the recipe as 2688 / A"
    if not finite(whole):
        return "NaN or Inf in the tensor: " + (e2m1_reason(x, place) or "elements are NaN, which packing casts to an integer")
    return e2m1_reason(x, place)


def as_run_reason(x, place, whole=None):
    """Against the recipes that follow PyTorch's own arithmetic: what remains are NaNs."""
    if place is None:
        return "a NaN exponent is cast to uint8, which C leaves undefined" if whole is None and np.isnan(x).any() else None
    if np.isnan(x[place]):
        return "a NaN has no E2M1 code: the package's packing casts it to an integer"
    if not finite(x if whole is None else whole):
        return "NaN or Inf in the tensor: elements are NaN, which packing casts to an integer"
    return None


def mxfp4_reason(dtype):
    def why(x, place):
        if not finite(x):
            return "NaN or Inf in the block: elements are NaN, which packing casts to an integer"
        top = torch.tensor([magnitude(x)])
        both = torch.stack([top, top.to(torch.bfloat16).to(torch.float32)]).view(torch.int32)
        if dtype is torch.float32 and len(set((both + (1 << 21) >> 23).ravel().tolist())) > 1:
            return "the amax of a float32 tensor is no longer taken through bf16"
        return e2m1_reason(x, place)
    return why


def main():
    print(f"compressed-tensors {VERSION}, torch {torch.__version__}")
    tally = halfulp.Tally()
    channel = {"strategy": "channel"}
    compare(tally, "fp8_channel/compressed_tensors", by_rows(args(type="float", **channel), 128, torch.float8_e4m3fn),
            floor_reason(magnitude, 448), "e4m3", 128)
    compare(tally, "int8/compressed_tensors", by_rows(args(type="int", **channel), 128, torch.int8),
            int8_reason(floor_reason(magnitude, 127.5)), "int8", 128, integers=True)
    compare(tally, "int8_asym/compressed_tensors",
            by_rows(args(type="int", strategy="group", group_size=128, symmetric=False), 128, torch.int8),
            asymmetric_reason, "int8", 128, integers=True)
    compare(tally, "nvfp4/compressed_tensors", nvfp4, nvfp4_reason, "e2m1", 16, count=400, whole=True)
    if NEW:
        compare(tally, "nvfp4/compressed_tensors_torch", nvfp4, as_run_reason, "e2m1", 16, count=400, whole=True)
        compare(tally, "mxfp4/compressed_tensors_torch", mxfp4(torch.bfloat16), as_run_reason, "e2m1", 32,
                prepare=block_data.to_bf16, label=" (bf16 tensors)")
        compare(tally, "mxfp4/compressed_tensors_torch", mxfp4(torch.float32), as_run_reason, "e2m1", 32,
                label=" (float32 tensors)")
        compare(tally, "mxfp4/compressed_tensors", mxfp4(torch.bfloat16), mxfp4_reason(torch.bfloat16), "e2m1", 32,
                prepare=block_data.to_bf16, label=" (bf16 tensors)")
        compare(tally, "mxfp4/compressed_tensors", mxfp4(torch.float32), mxfp4_reason(torch.float32), "e2m1", 32,
                label=" (float32 tensors)")
    tally.finish()


main()
