"""How two arrays that should agree differ: what the check ops decide by, and what they say when they fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import is_narrow_float, kind
from stablehlo_ref.numerics.narrow import widen
from stablehlo_ref.numerics.ulp import ulp_distance

FARTHEST = np.uint64(2**64 - 1)
SHOWN = 5  # mismatches listed one by one


def equal(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Which elements are equal: -0 equals 0, and any NaN any other."""
    agree = np.asarray(actual == expected)
    if kind(actual.dtype) in ("floating", "complex"):
        agree = agree | ((actual != actual) & (expected != expected))
    return agree


def almost_equal(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Which elements are within `tolerance` of one another, parts of complex numbers each; NaN equals NaN."""
    return _by_parts(lambda x, y: equal(x, y) | (np.abs(x - y) <= tolerance), actual, expected)


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


def report(actual: np.ndarray, expected: np.ndarray, agree: np.ndarray) -> tuple[str, list[str]]:
    """A sentence on how many elements differ, and lines with the worst, the first few, and a histogram of ULPs."""
    indices = np.argwhere(~np.atleast_1d(agree)) if agree.ndim else np.zeros((1, 0), np.intp)
    message = f"{len(indices)} of {agree.size} elements differ"
    shown = [_line("", index, actual, expected) for index in indices[:SHOWN]]
    if len(indices) > SHOWN:
        shown.append(f"... and {len(indices) - SHOWN} more")
    if kind(actual.dtype) in ("floating", "complex"):
        differing = tuple(indices.T)
        distances = _distances(actual[differing], expected[differing])
        shown.insert(0, _line("worst: ", indices[int(np.argmax(distances))], actual, expected))
        shown.append(f"ULPs apart: {_histogram(distances)}")
    return message, shown


def _line(prefix: str, index: Sequence[int], actual: np.ndarray, expected: np.ndarray) -> str:
    at = tuple(map(int, index))
    apart = ""
    if kind(actual.dtype) in ("floating", "complex"):
        apart = f" ({int(_distances(np.atleast_1d(actual[at]), np.atleast_1d(expected[at]))[0])} ULP)"
    return f"{prefix}at {list(at)}: actual {actual[at]}, expected {expected[at]}{apart}"


def _distances(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if kind(actual.dtype) == "complex":
        parts = ulp_distance(actual.real, expected.real), ulp_distance(actual.imag, expected.imag)
        return np.maximum(*parts)
    return ulp_distance(actual, expected)


_EDGES = (1, 2, 4, 16, 256, 65536)


def _histogram(distances: np.ndarray) -> str:
    """For instance `1: 20, 2-3: 4, >=65536: 1`."""
    parts = []
    for low, high in zip(_EDGES, (*_EDGES[1:], None)):
        count = int(np.count_nonzero((distances >= low) & (True if high is None else distances < high)))
        name = f">={low}" if high is None else f"{low}" if high == low + 1 else f"{low}-{high - 1}"
        if count:
            parts.append(f"{name}: {count}")
    same = int(np.count_nonzero(distances == 0))
    return ", ".join(parts + ([f"0: {same}"] if same else []))
