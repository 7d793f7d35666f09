"""What ops do to numbers: facts that stand in their classes, for tools that reason about rounding errors and NaN.

    class Log(ElementaryFunction, op="log", facts=function(monotone=True, pole=is_zero)):

A class inherits the facts of its first base. Those of an op without facts are not known: such an op is not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from math import inf
from typing import Literal, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array

Interval: TypeAlias = Callable[[Array, Array], Array]  # whether something holds between two numbers
# Fused code may compute an op again for each use; or once, without rounding its result; or never.
Fusion: TypeAlias = Literal["again", "once", "never"]
# A result may be tiny although no operand is; in the first case one that is zero makes the result zero exactly.
Underflow: TypeAlias = Literal["unless zero", "always"]


class Arithmetic(Enum):
    """How the numbers in the results of an op depend on those in its operands."""

    MOVES = "each is an element of an operand, or a constant"
    SELECTS = "each is the element of an operand at its place, with either sign"
    ORDERS = "each is an element of an operand; the values decide which"
    STEPS = "each is a step function of one operand, which is monotone and not rounded"
    EXACT = "they are not rounded"
    ROUNDS = "each is computed by an operation of IEEE-754, which rounds once"
    FUNCTION = "each is an elementary or special function"
    SUMS = "each is a sum of products in any order"
    FOLDS = "each combines elements by the op's region, or by a sum, in any order"
    ALGORITHM = "they are computed in many steps"
    CALLS = "they are computed by the ops in a region or a function"
    OPEN = "they are not decided by the operands: random, or from outside of the program"
    UNKNOWN = "not known: no class says it"

    @property
    def rounds(self) -> bool:
        """Whether results have rounding errors of the op itself; those of folds depend on the region."""
        return self in (Arithmetic.ROUNDS, Arithmetic.FUNCTION, Arithmetic.SUMS, Arithmetic.FOLDS, Arithmetic.ALGORITHM)


@dataclass(frozen=True)
class Facts:
    """The facts of an op. Those of functions are of one real operand.

    A function is `monotone` everywhere, or between two numbers for which the predicate is true, and on both sides of
    the argument of `least`, where it is smallest. Its slope is at most `slope`, and two results are at most `spread`
    apart. At a `pole`, a predicate of all operands, an infinite result is exact.
    """

    arithmetic: Arithmetic
    keeps: bool = False  # each element of an operand is in the result
    chooses: bool = False  # the first operand says which of the others an element is taken from
    constant: bool = False  # it has no operands, and an attribute is its value
    adds: bool = False  # the result is a sum or difference
    fusion: Fusion = "again"
    monotone: bool | Interval = False
    least: tuple[float, float] | None = None  # argument and value
    slope: float = inf
    spread: float = inf
    pole: Callable[..., Array] | None = None
    underflow: Underflow | None = None


MOVES = Facts(Arithmetic.MOVES)
KEEPS = replace(MOVES, keeps=True)
CONSTANT = replace(MOVES, constant=True)
SELECTS = Facts(Arithmetic.SELECTS)
CHOOSES = replace(SELECTS, chooses=True)
ORDERS = Facts(Arithmetic.ORDERS, fusion="never")
STEPS = Facts(Arithmetic.STEPS)
EXACT = Facts(Arithmetic.EXACT)
SUMS = Facts(Arithmetic.SUMS, fusion="once")
FOLDS = Facts(Arithmetic.FOLDS)
CALLS = Facts(Arithmetic.CALLS, fusion="never")
ALGORITHM = Facts(Arithmetic.ALGORITHM)
OPEN = Facts(Arithmetic.OPEN, fusion="never")
UNKNOWN = Facts(Arithmetic.UNKNOWN)
rounds = partial(Facts, Arithmetic.ROUNDS)
function = partial(Facts, Arithmetic.FUNCTION)


LEAST_OF_LGAMMA = 1.4616321449683623, -0.1214862905358497


def is_zero(x: Array) -> Array:
    return np.asarray(x == 0)


def is_minus_one(x: Array) -> Array:
    return np.asarray(x == -1)


def is_one(x: Array) -> Array:
    """Return where a number is 1 or -1."""
    return np.asarray(abs(x) == 1)


def is_natural_negated(x: Array) -> Array:
    """Return where a number is 0, -1, -2, ..., the poles of the gamma function."""
    return np.asarray((x <= 0) & (np.floor(x) == x))


def divides_by_zero(x: Array, y: Array) -> Array:
    return np.asarray(y == 0)


def power_of_zero(x: Array, y: Array) -> Array:
    return np.asarray(x == 0)


def above_zero(low: Array, high: Array) -> Array:
    """Return where an interval has only positive numbers."""
    return np.asarray(low > 0)


def between_poles_of_tangent(low: Array, high: Array) -> Array:
    """Return where an interval of numbers that are not large is in one period of the tangent."""
    periods = [np.floor(x / np.pi + 0.5 + shift) for x, shift in ((low, -1e-6), (high, 1e-6))]
    return np.asarray((periods[0] == periods[1]) & (np.abs(low) < 1e8))
