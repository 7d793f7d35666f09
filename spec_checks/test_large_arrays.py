"""Large arrays are computed block by block, with shortcuts for ordinary numbers: to the bits that they have alone."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from stablehlo_ref.numerics import complexes, conversion, floats, integers
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.nans import canonical_nans, has_several_nans

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "ui32": np.uint32, "i64": np.int64,
    "ui4": ml_dtypes.uint4, "i4": ml_dtypes.int4,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
SIZE, PART = (1 << 17) + 4321, 250  # a block and a part of one; parts are smaller than any kernel calls large

UNARY = {
    "sign": (floats.sign, FLOATS),
    "count_leading_zeros": (integers.count_leading_zeros, ("i4", "i8", "i16", "i32", "ui32", "i64")),
    "popcnt": (integers.popcnt, ("i8", "i16", "i32", "ui32", "i64")),
    "abs": (complexes.abs, ("complex<f32>",)),
}
BINARY = {
    "add": (floats.add, FLOATS),
    "subtract": (floats.subtract, FLOATS),
    "multiply": (floats.multiply, FLOATS),
    "maximum": (floats.maximum, FLOATS),
    "minimum": (floats.minimum, FLOATS),
    "integer multiply": (integers.multiply, ("i32", "ui4", "i4")),
    "complex multiply": (complexes.multiply, ("complex<f32>",)),
}


def elements(name: str, kind: str, seed: int) -> Array:
    """Return ordinary numbers, the same with a few special ones, numbers half of which are zeros, or random bits."""
    dtype, rng = np.dtype(DTYPES[name]), np.random.default_rng(seed)
    if kind == "bits":
        x = rng.integers(0, 256, SIZE * dtype.itemsize, dtype=np.uint8)
        return (x & 15 if name in ("ui4", "i4") else x).view(dtype)
    if dtype.kind in "iu" or name in ("ui4", "i4"):
        x = (rng.standard_normal(SIZE) * 5).astype(np.int8)
        return x.astype(dtype) if name not in ("ui4", "i4") else (x & 15).view(np.uint8).view(dtype)
    x = rng.standard_normal(SIZE) * 10.0 ** rng.uniform(-6, 4, (SIZE if kind == "wide" else 1))
    if dtype.kind == "c":
        x = x + 1j * rng.standard_normal(SIZE)
    if kind == "zeros":
        x = np.where(rng.random(SIZE) < 0.5, x * 0, x)
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
        if kind == "special":
            special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, -3e38, 65520, 2.0**31, 6e-5, -1e-45])
            x[rng.choice(SIZE, 50)] = rng.choice(special, 50).astype(dtype)
    return x


def in_parts(kernel: ArrayKernel, *operands: Array) -> Array:
    """Apply a kernel to a few elements at a time."""
    parts = [kernel(*[x[i : i + PART] if x.ndim else x for x in operands]) for i in range(0, SIZE, PART)]
    raw = np.concatenate([np.ascontiguousarray(p).view(f"V{p.itemsize}") for p in parts])
    return raw.view(parts[0].dtype)


def bits(x: Array) -> bytes:
    canonical: Array = canonical_nans(x.dtype)(x.copy()) if has_several_nans(x.dtype) else x
    return canonical.tobytes()


def check(kernel: ArrayKernel, *operands: Array) -> None:
    with np.errstate(all="ignore"):
        expected, actual = in_parts(kernel, *operands), kernel(*operands)
        assert actual.shape == (SIZE,) and actual.dtype == expected.dtype
        assert bits(actual) == bits(expected)


KINDS = ("ordinary", "wide", "special", "zeros", "bits")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("op", "name"), [(op, name) for op, (_, names) in UNARY.items() for name in names])
def test_unary(op: str, name: str, kind: str) -> None:
    check(UNARY[op][0](np.dtype(DTYPES[name])), elements(name, kind, 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("op", "name"), [(op, name) for op, (_, names) in BINARY.items() for name in names])
def test_binary(op: str, name: str, kind: str) -> None:
    kernel = BINARY[op][0](np.dtype(DTYPES[name]))
    x, y = elements(name, kind, 2), elements(name, kind, 3)
    check(kernel, x, y)
    for scalar in np.concatenate([elements(name, "special", 4), elements(name, "bits", 5)])[[7, SIZE + 3]]:
        check(kernel, x, np.asarray(scalar))
        check(kernel, np.asarray(scalar), y)


BOUNDS = [(-0.5, 0.5), (0.0, 1.0), (-1.0, 0.0), (-0.0, 6.0), (1.0, -1.0), (np.nan, 2.0)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("name", FLOATS)
def test_clamp(name: str, low: float, high: float, kind: str) -> None:
    dtype, x = np.dtype(DTYPES[name]), elements(name, kind, 6)
    kernel = floats.clamp(dtype)
    check(lambda x: kernel(dtype.type(low), x, dtype.type(high)), x)
    below, above = (np.full(SIZE, bound, dtype) for bound in (low, high))
    check(kernel, below, x, above)


@pytest.mark.parametrize("kind", ("special", "bits"))
@pytest.mark.parametrize("to", ["i8", "i32", "ui32", "i64", "ui4", "i4", "f16", "bf16", "f32"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "i32", "ui32", "ui4", "i4"])
def test_convert(name: str, to: str, kind: str) -> None:
    check(conversion.convert(np.dtype(DTYPES[name]), np.dtype(DTYPES[to])), elements(name, kind, 7))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("exponents", "mantissas"), [(5, 10), (8, 7), (8, 23), (2, 1), (11, 52), (4, 0)])
@pytest.mark.parametrize("name", FLOATS)
def test_reduce_precision(name: str, exponents: int, mantissas: int, kind: str) -> None:
    check(conversion.reduce_precision(np.dtype(DTYPES[name]), exponents, mantissas), elements(name, kind, 8))
