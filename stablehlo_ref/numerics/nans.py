"""Canonical NaNs: the sign and the payload of a NaN that an operation returns do not depend on the machine.

IEEE-754 leaves them open, and processors differ: x86 sets the sign of the NaN of inf - inf, ARM does not; of two NaN
operands one or the other is returned. The canonical NaN is quiet and positive, and the rest of its payload is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod

import ml_dtypes
import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import (
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    bits_dtype,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.kernels import ArrayKernel, into_form

LARGE = 1 << 19  # elements: results from this size on are computed and tested block by block
BLOCK = 1 << 18  # elements, so that a part of a result is in the cache when it is tested

_PARTS = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
_IN_BLAS = 1 << 13  # elements; from this number on, BLAS may start threads
_NANS = {  # of formats with more than one NaN
    FLOAT16: 0x7E00,
    FLOAT32: 0x7FC00000,
    FLOAT64: 0x7FF8 << 48,
    np.dtype(ml_dtypes.bfloat16): 0x7FC0,
    np.dtype(ml_dtypes.float8_e3m4): 0x78,
    np.dtype(ml_dtypes.float8_e4m3): 0x7C,
    np.dtype(ml_dtypes.float8_e4m3fn): 0x7F,
    np.dtype(ml_dtypes.float8_e5m2): 0x7E,
}


def has_several_nans(dtype: DType) -> bool:
    """Return whether arrays of a dtype can hold NaNs of different bits."""
    return dtype in _NANS or dtype in _PARTS


@cache
def canonical_nans(dtype: DType) -> ArrayKernel:
    """Return the kernel that replaces NaNs of a dtype by the canonical one. It returns arrays without NaNs themselves.

    The parts of complex numbers are replaced one by one. An array that owns its elements is written to, unless it is
    one of the further arguments.
    """
    part = _PARTS.get(dtype, dtype)
    nan = np.array(_NANS[part], bits_dtype(part)).view(part)
    has_nan = _has_nan if part in (FLOAT32, FLOAT64) else _narrow_has_nan(dtype)

    def run(x: Array, *operands: Array) -> Array:
        if isinstance(x, part.type):
            scalar: Array = x if x == x else nan[()]  # a new object, so that observers can tell values apart
            return scalar
        parts = x if dtype is part else np.ascontiguousarray(x).view(part)
        if not has_nan(parts):
            return x
        if x.base is None and x.flags.writeable and not any(x is y for y in operands):
            np.copyto(parts, nan, where=np.isnan(parts))
        else:
            parts = np.where(np.isnan(parts), nan, parts)
        return parts.view(dtype).reshape(x.shape)

    return run


def with_canonical_blocks(kernel: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Return an elementwise kernel with large results of `dtype` as one whose NaNs are canonical.

    If it can write into an array, it computes results block by block, and tests each while it is in the cache.
    """
    replace, store = canonical_nans(dtype), into_form(kernel)
    if store is None:
        return lambda *operands: replace(kernel(*operands), *operands)

    def run(*operands: Array) -> Array:
        shape = operands[0].shape
        if not all(x.shape == shape and x.flags.c_contiguous for x in operands):
            return replace(kernel(*operands), *operands)
        flat, result = [x.reshape(-1) for x in operands], np.empty(prod(shape), dtype)
        for start in within_time(range(0, len(result), BLOCK)):
            some, out = slice(start, start + BLOCK), result[start : start + BLOCK]
            if (canonical := replace(store(*[x[some] for x in flat], out=out))) is not out:
                out[...] = canonical
        return result.reshape(shape)

    return run


def _has_nan(x: Array) -> bool:
    """Add squares, which can neither cancel nor be NaN, or find the maximum, which is NaN if any element is."""
    flat = x if x.ndim == 1 else x.reshape(-1)
    found: Array = flat.dot(flat) if flat.size < _IN_BLAS else np.maximum.reduce(flat)
    return bool(found != found)


def _narrow_has_nan(dtype: DType) -> Callable[[Array], bool]:
    """Return the test for a format of 16 bits or fewer: NaNs are the numbers of the largest bits."""
    bits, signed, sign_bit = bits_dtype(dtype), signed_bits_dtype(dtype), 1 << 8 * dtype.itemsize - 1
    patterns = np.arange(sign_bit, dtype=bits)
    with np.errstate(all="ignore"):  # while planning
        largest = int(np.flatnonzero(~np.isnan(patterns.view(dtype)))[-1])

    def run(x: Array) -> bool:
        if np.maximum.reduce(x.view(signed), axis=None, initial=0) > largest:
            return True
        return bool(np.maximum.reduce(x.view(bits), axis=None, initial=0) > sign_bit + largest)

    return run
