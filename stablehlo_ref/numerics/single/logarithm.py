"""Logarithms of f32 by tables: log(x) and log(1 + x).

The nearest point is one of 256 between powers of two, R its inverse with 24 bits, and log(x) = -log(R) + log(x R),
where x R is exact. Rounding errors of f64 are at most a dozen of 2**-53.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.grid import LogarithmicGrid
from stablehlo_ref.numerics.single.kernel import Approximation, Buffers
from stablehlo_ref.numerics.single.polynomial import fitted, horner

_GRID = LogarithmicGrid(-126, 254 << 8)  # of normal numbers
_REST = 2.0**-9


class _Tables(NamedTuple):
    inverse: Array
    log: Array  # of the point, or rather of 1 / inverse
    series: list[float]


@cache
def _tables() -> _Tables:
    """Return tables, and coefficients of log(1 + r) / r, with an error of REST**4 / 5 / 8 = 2**-41.3."""
    inverse = (1.0 / _GRID.points()).astype(np.float32).astype(np.float64)
    return _Tables(inverse, -np.log(inverse), fitted(lambda r: np.log1p(r) / r, 3, _REST))


def _locate_plus_one(x: Array, b: Buffers) -> None:
    _GRID.locate(np.add(x, np.float32(1.0), out=b.single), b)


def _log(x: Array, b: Buffers) -> Array:
    """Compute with the rest x R - 1; the result is its logarithm alone where R is 1, else at least half of log(R)."""
    rest = b.first
    rest[...] = x
    rest *= _tables().inverse.take(b.index, out=b.third, mode="clip")
    rest -= 1.0
    return _from_rest(b)


def _log_plus_one(x: Array, b: Buffers) -> Array:
    """Compute with the rest x R - (1 - R), which is x where R is 1, and so has its sign if it is 0."""
    rest = b.first
    rest[...] = x
    inverse = _tables().inverse.take(b.index, out=b.third, mode="clip")
    rest *= inverse
    rest -= np.subtract(1.0, inverse, out=inverse)
    return _from_rest(b)


def _from_rest(b: Buffers) -> Array:
    logs = _tables().log.take(b.index, out=b.third, mode="clip")  # -0.0 where it is 0
    result = horner(b.first, _tables().series, b.second)
    result *= b.first
    result += logs
    return result


log = Approximation(_GRID.locate, _GRID.size, _log, 2.0**-41, least=1 << 14)
log_plus_one = Approximation(_locate_plus_one, _GRID.size, _log_plus_one, 2.0**-41)
