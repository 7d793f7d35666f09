"""Correct rounding by Ziv's method: where an error bound does not decide the rounding, the result is computed again.

(Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit", 1991)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.double_double import Pair
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import MAY_BE_EXACT, Function, nearest_f64, refined

Approximate: TypeAlias = Callable[..., tuple[Array, Array, Array | None]]  # high, low, exponent of a power of two
BLOCK = 1 << 13  # elements, so that most temporaries stay in the L2 cache

_NOWHERE = np.zeros(0, np.intp)


@dataclass(frozen=True)
class Stage:
    """An approximation (high + low) * 2**exponent, and a bound of its error relative to `high`.

    `low` need not be below an ULP of `high`; then the bound includes the rounding of low + bound.
    """

    approximate: Approximate
    error: float


@dataclass(frozen=True)
class Domain:
    """Which operands the stages can compute, and the results of others, from operands to arrays."""

    is_regular: Callable[..., Array | bool]  # where operands and results are finite, normal, not too large for stages
    otherwise: Callable[..., Array]  # the results for other operands; NaN is also a placeholder where `exact` computes
    is_hard: Callable[..., Array]  # where `exact` computes the results for other operands


def correctly_rounded(stages: Sequence[Stage], exact: Function, domain: Domain) -> ArrayKernel:
    """Return a function of f64 arrays whose results are rounded correctly.

    The stages, from fast to accurate, compute regular operands, each those that the one before leaves undecided; what
    remains is computed by `exact`, in multiple precision.
    """

    def run(*operands: Array) -> Array:
        shape = np.broadcast_shapes(*[x.shape for x in operands])
        flat = [np.ascontiguousarray(np.broadcast_to(x, shape)).reshape(-1) for x in operands]
        result = np.empty(flat[0].size)
        left = np.concatenate([_NOWHERE, *blocks(flat, result)])
        for stage in stages[1:]:
            where = within_time(range(0, left.size, BLOCK))
            left = np.concatenate([_NOWHERE, *[_advance(stage, flat, result, left[i : i + BLOCK]) for i in where]])
        fallback(flat, result, left)
        return result.reshape(shape)[()]

    def blocks(flat: Sequence[Array], result: Array) -> Iterator[Array]:
        """Compute by the first stage, and yield indices of undecided results."""
        for start in within_time(range(0, result.size, BLOCK)):
            some = slice(start, start + BLOCK)
            operands = [x[some] for x in flat]
            is_regular = domain.is_regular(*operands)
            if is_regular is True or np.all(is_regular):
                result[some], undecided = _test(stages[0], operands)
                yield undecided + start
            else:
                irregular(flat, result, np.flatnonzero(~is_regular) + start)
                regular = np.flatnonzero(is_regular) + start
                yield _advance(stages[0], flat, result, regular) if regular.size else regular

    def irregular(flat: Sequence[Array], result: Array, where: Array) -> None:
        operands = [x[where] for x in flat]
        result[where] = domain.otherwise(*operands)
        fallback(flat, result, where[domain.is_hard(*operands)])

    def fallback(flat: Sequence[Array], result: Array, where: Array) -> None:
        for index in within_time(where.tolist()):
            result[index] = nearest(exact, [x[index] for x in flat])

    return run


def _advance(stage: Stage, flat: Sequence[Array], result: Array, where: Array) -> Array:
    """Store the results of a stage for some operands, and return the indices of those that are undecided."""
    result[where], undecided = _test(stage, [x[where] for x in flat])
    return where[undecided]


def _test(stage: Stage, operands: Sequence[Array]) -> tuple[Array, Array]:
    """Return the results of a stage, and the indices of those that are undecided."""
    high, low, exponent = stage.approximate(*operands)
    error = high * stage.error  # of either sign
    highest = low + error
    highest += high
    lowest = np.subtract(low, error, out=error)
    lowest += high
    is_open = highest != lowest
    undecided = np.flatnonzero(is_open) if is_open.any() else _NOWHERE
    return (highest if exponent is None else scaled(highest, exponent)), undecided


def scaled(x: Array, exponent: Array) -> Array:
    """Return x * 2**exponent for normal results, faster than np.ldexp."""
    return (x.view(np.int64) + (exponent << 52)).view(np.float64)


def nearest(function: Function, operands: Sequence[float]) -> float:
    """Return the f64 nearest to the result of a function in multiple precision; ties go to even numbers."""
    return refined(function, [float(x) for x in operands], nearest_f64, function in MAY_BE_EXACT)


def approximation(function: Callable[..., Pair]) -> Approximate:
    """Return a function to pairs as an approximation."""
    return lambda *operands: (*function(*operands), None)
