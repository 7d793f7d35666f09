"""Assertions on arrays, with the messages of the check dialect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.arrays.results import report, within
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import ulp
from stablehlo_ref.numerics.dtypes import is_narrow_float, kind
from stablehlo_ref.numerics.narrow_floats import widen


@checks_arguments
def ulp_distance(actual: object, expected: object) -> Array:
    """Return how many representable values lie between two arrays of one floating-point or complex dtype, as uint64.

    -0 equals +0; a NaN has distance 0 from any NaN and 2**64 - 1 from any number; complex numbers have the
    larger distance of their parts. ArgumentTypeError unless both have the same dtype, ArgumentValueError unless they
    have the same shape.
    """
    x, y = _pair(actual, expected)
    if kind(x.dtype) not in ("floating", "complex"):
        raise ArgumentTypeError(f"expected floating-point or complex arrays, got {x.dtype}")
    return ulp.ulp_distance(np.atleast_1d(x), np.atleast_1d(y)).reshape(x.shape)


@checks_arguments
def assert_close(
    actual: object, expected: object, *, ulp: int | None = None, rtol: float = 0.0, atol: float = 0.0, names: str = ""
) -> None:
    """Raise AssertionError unless two arrays have one dtype and shape, and all elements agree.

    An element agrees if it is equal (any NaN equals any NaN), within `ulp` units in the last place, or within
    `atol + rtol * |expected|`. Without bounds elements must be equal. The message has the worst element, the first few
    that differ, and a histogram of distances in ULPs. `names` begins the message.
    """
    __tracebackhide__ = True  # pytest ends the traceback at the caller
    x, y = _pair(actual, expected)
    if ulp is not None and not 0 <= ulp < 1 << 64:
        raise ArgumentValueError(f"ulp must be between 0 and 2**64 - 1, got {ulp}")
    agree = within(x, y, ulp, rtol, atol)
    if not agree.all():
        message, notes = report(x, y, agree)
        raise AssertionError("\n  ".join([f"{names}: {message}" if names else message, *notes]))


@checks_arguments
def pearson_correlation(actual: object, expected: object) -> float:
    """Return Pearson's correlation coefficient of two arrays, computed in f64; 1.0 if both are equal constants.

    NaN if one is constant and the other is not, or if either has a NaN or an infinity.
    """
    x, y = (array.reshape(-1) for array in _arrays(actual, expected))
    if x.size != y.size:
        raise ArgumentValueError(f"expected arrays of one size, got {x.size} and {y.size}")
    x, y = ((widen(a) if is_narrow_float(a.dtype) else a).astype(np.float64) for a in (x, y))
    if np.array_equal(x, y):
        return 1.0 if np.isfinite(x).all() else float("nan")
    with np.errstate(all="ignore"):
        x, y = x - x.mean(), y - y.mean()
        return float(np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y)))


@dataclass(frozen=True)
class Comparison:
    """How far two arrays are apart. These are measures, not a verdict: none of them says whether a result is right.

    `max_ulp` is None for integers. Complex numbers count as pairs in the other measures, which leave out NaN and
    infinities that both arrays have.
    """

    different: int  # elements, where any NaN equals any other
    size: int
    max_ulp: int | None
    max_absolute: float
    relative_l2: float  # the norm of the difference by that of the expected array
    pearson: float

    def __str__(self) -> str:
        ulp = "" if self.max_ulp is None else f"max ULP {self.max_ulp}, "
        return (
            f"{self.different} of {self.size} elements differ; {ulp}max absolute error {self.max_absolute:.3g}, "
            f"relative L2 {self.relative_l2:.3g}, PCC {self.pearson:.9g}"
        )


@checks_arguments
def compare(actual: object, expected: object) -> Comparison:
    """Return how far two arrays of one dtype and shape are apart, in several measures."""
    x, y = _pair(actual, expected)
    is_inexact = kind(x.dtype) in ("floating", "complex")
    apart = ulp_distance(x, y) if is_inexact and x.size else np.zeros(0, np.uint64)
    a, b = (_reals(array) for array in (x, y))
    same = (np.isnan(a) & np.isnan(b)) | (np.isinf(a) & (a == b))
    a, b = a[~same], b[~same]
    with np.errstate(all="ignore"):
        difference = a - b
        norm, off = float(np.linalg.norm(b)), float(np.linalg.norm(difference))
        return Comparison(
            different=int(np.count_nonzero(~within(x, y, None, 0.0, 0.0))),
            size=x.size,
            max_ulp=int(apart.max(initial=0)) if is_inexact else None,
            max_absolute=float(np.abs(difference).max(initial=0.0)),
            relative_l2=off / norm if norm else off and float("inf"),
            pearson=pearson_correlation(a, b),
        )


def _reals(array: Array) -> Array:
    """Return the elements as f64, complex numbers as pairs."""
    wide = widen(array) if is_narrow_float(array.dtype) else array
    flat = np.ascontiguousarray(wide).reshape(-1)
    flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    return flat.astype(np.float64)


def _arrays(*values: object) -> list[Array]:
    """Return arrays of numbers or booleans; ArgumentTypeError or ArgumentValueError for anything else."""
    arrays = to_arrays(values)
    for array in arrays:
        if array.dtype.kind in "OSUMm":
            raise ArgumentTypeError(f"expected arrays of numbers or booleans, got {array.dtype}")
    return arrays


def _pair(actual: object, expected: object) -> tuple[Array, Array]:
    x, y = _arrays(actual, expected)
    if x.dtype != y.dtype:
        raise ArgumentTypeError(f"expected arrays of one dtype, got {x.dtype} and {y.dtype}")
    if x.shape != y.shape:
        raise ArgumentValueError(f"expected arrays of one shape, got {x.shape} and {y.shape}")
    return x, y
