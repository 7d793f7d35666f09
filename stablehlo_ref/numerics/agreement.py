"""How two arrays that should agree differ: what the check ops decide by, and what they say when they fail.

Large arrays are compared block by block, so that their differences take little memory beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import chain, islice, pairwise
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.dtypes import is_narrow_float, kind
from stablehlo_ref.numerics.narrow import widen
from stablehlo_ref.numerics.ulp import ulp_distance

Agreement: TypeAlias = Callable[..., np.ndarray]

FARTHEST = np.uint64(2**64 - 1)
SHOWN = 5  # mismatches listed one by one
BLOCK = 1 << 16  # elements compared at a time

_EDGES = np.array([1, 2, 4, 16, 256, 65536], np.uint64)  # of the histogram, in ULPs


def blockwise(agree: Agreement) -> Agreement:
    """`agree`, which says which elements of two arrays of one shape agree, of large arrays block by block."""

    @wraps(agree)
    def run(actual: np.ndarray, expected: np.ndarray, *limits: float) -> np.ndarray:
        if actual.size <= BLOCK:
            return agree(actual, expected, *limits)
        x, y, out = actual.reshape(-1), expected.reshape(-1), np.empty(actual.size, np.bool_)
        for start in range(0, out.size, BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = agree(x[block], y[block], *limits)
        return out.reshape(actual.shape)

    return run


# --- which elements agree -------------------------------------------------------------------------------------------


@blockwise
def equal(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Which elements are equal: -0 equals 0, and any NaN any other."""
    agree = np.asarray(actual == expected)
    if kind(actual.dtype) in ("floating", "complex"):
        agree = agree | ((actual != actual) & (expected != expected))
    return agree


@blockwise
def almost_equal(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Which elements are within `tolerance` of one another, parts of complex numbers each; NaN equals NaN."""
    return _by_parts(lambda x, y: equal(x, y) | (np.abs(x - y) <= tolerance), actual, expected)


@blockwise
def close(actual: np.ndarray, expected: np.ndarray, low: int, high: int) -> np.ndarray:
    """Which elements are at least `low` and at most `high` ULPs apart; an infinity or NaN is 2^64 - 1 from all else."""

    def parts(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        finite = np.isfinite(x) & np.isfinite(y)
        distance = np.where(finite, ulp_distance(x, y), np.where(equal(x, y), np.uint64(0), FARTHEST))
        return (np.uint64(low) <= distance) & (distance <= np.uint64(high))

    if kind(actual.dtype) == "complex":
        return parts(actual.real, expected.real) & parts(actual.imag, expected.imag)
    return parts(actual, expected)


def _by_parts(agree: Any, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if kind(actual.dtype) == "complex":
        return np.asarray(agree(actual.real, expected.real) & agree(actual.imag, expected.imag))
    return np.asarray(agree(_wide(actual), _wide(expected)))


def _wide(x: np.ndarray) -> np.ndarray:
    return widen(x) if is_narrow_float(x.dtype) else x


# --- how the others differ ------------------------------------------------------------------------------------------


def report(actual: np.ndarray, expected: np.ndarray, agree: np.ndarray) -> tuple[str, list[str]]:
    """A sentence on how many elements differ, and lines with the worst, the first few, and a histogram of ULPs."""
    count = agree.size - int(np.count_nonzero(agree))
    shown = [_line("", i, actual, expected) for i in islice(chain.from_iterable(_differing(agree)), SHOWN)]
    if count > SHOWN:
        shown.append(f"... and {count - SHOWN} more")
    if kind(actual.dtype) in ("floating", "complex"):
        worst, histogram = _survey(actual, expected, agree)
        shown = [_line("worst: ", worst, actual, expected), *shown, f"ULPs apart: {histogram}"]
    return f"{count} of {agree.size} elements differ", shown


def _differing(agree: np.ndarray) -> Iterator[np.ndarray]:
    """The numbers of the elements that do not agree, block by block."""
    flat = agree.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield start + np.flatnonzero(~flat[start : start + BLOCK])


def _survey(actual: np.ndarray, expected: np.ndarray, agree: np.ndarray) -> tuple[int, str]:
    """The number of the first of the elements that are farthest apart, and a histogram of the distances."""
    x, y, counts = actual.reshape(-1), expected.reshape(-1), np.zeros(_EDGES.size + 1, np.intp)
    worst, farthest = 0, -1
    for found in _differing(agree):
        distances = ulp_distance(x[found], y[found])
        counts += np.bincount(np.searchsorted(_EDGES, distances, "right"), minlength=counts.size)
        if found.size and int(distances.max()) > farthest:
            worst, farthest = int(found[distances.argmax()]), int(distances.max())
    return worst, _histogram(counts)


def _line(prefix: str, number: int, actual: np.ndarray, expected: np.ndarray) -> str:
    at = tuple(map(int, np.unravel_index(number, actual.shape)))
    apart = ""
    if kind(actual.dtype) in ("floating", "complex"):
        apart = f" ({int(ulp_distance(np.atleast_1d(actual[at]), np.atleast_1d(expected[at]))[0])} ULP)"
    return f"{prefix}at {list(at)}: actual {actual[at]}, expected {expected[at]}{apart}"


def _histogram(counts: np.ndarray) -> str:
    """For instance `1: 20, 2-3: 4, >=65536: 1`; the first of the counts is of elements that are no ULP apart."""
    names = [
        *(f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(map(int, _EDGES))),
        f">={_EDGES[-1]}",
        "0",
    ]
    return ", ".join(f"{name}: {count}" for name, count in zip(names, np.roll(counts, -1)) if count)
