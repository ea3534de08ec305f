"""Casts raw little-endian words with ml_dtypes, gfloat or numpy, for `halfulp verify --impl`.

    adapter.py probe    one line `NAME VERSION` per library that imports
    adapter.py          frames on stdin: a line `LIBRARY FROM TO ROUNDING OVERFLOW COUNT`, then COUNT words of FROM;
                        answers on stdout: COUNT words of TO
"""
import sys

UNSIGNED = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}
BYTES = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2}
NUMPY = {"f64": "<f8", "f32": "<f4", "f16": "<f2"}
ML_DTYPES = {
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz",
    "e4m3b11fnuz": "float8_e4m3b11fnuz", "e4m3_ieee": "float8_e4m3", "e3m4_ieee": "float8_e3m4",
    "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn", "e8m0": "float8_e8m0fnu",
    "bf16": "bfloat16",
}
GFLOAT = {
    "e4m3": "format_info_ocp_e4m3", "e5m2": "format_info_ocp_e5m2", "e3m2": "format_info_ocp_e3m2",
    "e2m3": "format_info_ocp_e2m3", "e2m1": "format_info_ocp_e2m1", "f16": "format_info_binary16",
    "bf16": "format_info_bfloat16",
}
GFLOAT_ROUNDING = {
    "ties_to_even": "TiesToEven", "ties_to_away": "TiesToAway", "toward_zero": "TowardZero",
    "toward_positive": "TowardPositive", "toward_negative": "TowardNegative",
}


def word_bytes(name):
    if name.startswith("binary"):
        return 1 if int(name[6:name.index("p")]) <= 8 else 2
    return BYTES.get(name, 1)


def dtype(name):
    """The floating dtype of a format whose arrays NumPy can hold."""
    import numpy
    if name in NUMPY:
        return numpy.dtype(NUMPY[name])
    import ml_dtypes
    return numpy.dtype(getattr(ml_dtypes, ML_DTYPES[name]))


def by_astype(source, target):
    source_type, target_type = dtype(source), dtype(target)
    return lambda words: words.view(source_type).astype(target_type)


def by_gfloat(source, target, rounding, overflow):
    import numpy
    import gfloat
    import gfloat.formats
    if target.startswith("binary"):
        digits, rest = target[6:].split("p")
        info = gfloat.formats.format_info_p3109(
            int(digits), int(rest[:-2]),
            gfloat.Signedness.Signed if rest[-2] == "s" else gfloat.Signedness.Unsigned,
            gfloat.Domain.Extended if rest[-1] == "e" else gfloat.Domain.Finite)
    else:
        info = getattr(gfloat.formats, GFLOAT[target])
    mode = getattr(gfloat.RoundMode, GFLOAT_ROUNDING[rounding])
    source_type = dtype(source)
    unsigned = UNSIGNED[word_bytes(target)]

    def cast(words):
        values = words.view(source_type).astype(numpy.float64)
        rounded = gfloat.round_ndarray(info, values, mode, overflow == "saturate")
        return gfloat.encode_ndarray(info, rounded).astype(unsigned)

    return cast


def probe():
    for name in ("numpy", "ml_dtypes", "gfloat"):
        try:
            __import__(name)
            from importlib.metadata import version
            print(name, version(name))
        except ImportError:
            pass


def run():
    import functools
    import numpy
    numpy.seterr(all="ignore")

    @functools.lru_cache(maxsize=None)
    def caster(library, source, target, rounding, overflow):
        return by_gfloat(source, target, rounding, overflow) if library == "gfloat" else by_astype(source, target)

    for line in iter(sys.stdin.buffer.readline, b""):
        *cast, count = line.decode("ascii").split()
        size = word_bytes(cast[1])
        body = sys.stdin.buffer.read(size * int(count))
        if len(body) != size * int(count):
            return
        sys.stdout.buffer.write(caster(*cast)(numpy.frombuffer(body, UNSIGNED[size])).tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["probe"]:
        probe()
    else:
        run()
