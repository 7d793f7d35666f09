"""Find exceptional elements, NaN and infinities, and follow their taint: the set of their sources, as bits of a ui64.

A taint is 0 for a value without exceptional elements, a number if all its exceptional elements have the same sources,
or an array with 0 for ordinary elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.arrays.descriptions import element_text
from stablehlo_ref.debug.bounds.ball import smallest_normal
from stablehlo_ref.debug.bounds.reductions import adds_up
from stablehlo_ref.define.builder import build_module
from stablehlo_ref.define.definition import attributes_of, facts_of, traits_of
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import ComplexType, FloatType, IntegerType, TensorType, Type
from stablehlo_ref.numerics.dtypes import UINT64, is_fractional, is_narrow_float, kind, mantissa_bits
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow
from stablehlo_ref.passes.element_types import with_replaced
from stablehlo_ref.program import Program

Taint: TypeAlias = "int | Array"
_TAINT = IntegerType(64, "u")


def is_same(value: Any, other: Any) -> bool:
    """Return whether two values are one: the same scalar, or arrays that are the same elements in memory."""
    if isinstance(value, tuple) and isinstance(other, tuple):
        return len(value) == len(other) and all(map(is_same, value, other))
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return bool(value.__array_interface__ == other.__array_interface__)
    return value is other


class Masks(NamedTuple):
    """Where an array is NaN, and where it is infinite. A complex number with a NaN in it is NaN."""

    nan: Array
    inf: Array

    @property
    def any(self) -> Array:
        """Where an array is exceptional."""
        return np.asarray(self.nan | self.inf)


def is_float(array: Any) -> bool:
    """Return whether a value is an array of floating-point or complex numbers."""
    return isinstance(array, np.ndarray | np.generic) and is_fractional(array.dtype)


def is_real(array: Any) -> bool:
    """Return whether a value is an array of floating-point numbers."""
    return isinstance(array, np.ndarray | np.generic) and kind(array.dtype) == "floating"


def has_exceptions(value: Any) -> bool:
    """Return whether a value, or one in a tuple, has a NaN or an infinity; others than floats have none.

    Two reductions without temporaries: NaN propagates through `max`, and repeated elements of a broadcast are visited
    once.
    """
    if isinstance(value, tuple):
        return any(map(has_exceptions, value))
    if not is_float(value) or not value.size:
        return False
    array = without_repetition(np.asarray(value))
    if array.dtype.kind == "c":
        return not (_is_finite(array.real) and _is_finite(array.imag))
    return not _is_finite(widen_if_narrow(array) if is_narrow_float(array.dtype) else array)


def _is_finite(array: Array) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(array.max()) and np.isfinite(array.min()))


def without_repetition(array: Array) -> Array:
    """Return an array with size 1 along axes that repeat one element, as those of a broadcast do."""
    if 0 not in array.strides:
        return array
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def masks(array: Any) -> Masks:
    """Return where an array is NaN and infinite; nowhere if it is not one of floats."""
    if not is_float(array):
        nowhere = np.zeros(np.shape(array), bool)
        return Masks(nowhere, nowhere)
    wide = widen_if_narrow(np.asarray(array))
    nan = np.isnan(wide)
    return Masks(np.asarray(nan), np.asarray(np.isinf(wide) & ~nan))


def first_index(mask: Array) -> tuple[int, ...]:
    """Return the index of the first true element, in row-major order."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def element_at(value: Any, index: tuple[int, ...]) -> str:
    """Return an element as text; of a scalar, itself."""
    array = np.asarray(value)
    return element_text(array[index if array.ndim else ()])


def moves(op: Operation) -> bool:
    """Return whether an op only moves elements of tensors, so that it can be run on the numbers of elements."""
    if facts_of(op).arithmetic is not Arithmetic.MOVES or traits_of(op).elementwise or traits_of(op).communicates:
        return False
    return bool(op.results) and all(isinstance(t, TensorType) for t in (*op.operand_types, *op.result_types))


def is_exact(op: Operation) -> bool:
    """Return whether taints of an op's results are known element by element."""
    return traits_of(op).elementwise or moves(op) or op.name in _BY_ROWS


def bits_of(taint: Taint) -> int:
    """Return all sources of a taint."""
    return taint if isinstance(taint, int) else int(np.bitwise_or.reduce(taint, axis=None, initial=0))


def compact(taints: Array) -> Taint:
    """Return an array of taints as one number, if all that are not 0 are equal."""
    every = bits_of(taints)
    return every if np.all((taints == 0) | (taints == every)) else taints


def expanded(taint: Taint, value: Any) -> Array:
    """Return the taint of an array of floats as an array; 0 for other values."""
    if not is_float(value) or (isinstance(taint, int) and not taint):
        return np.zeros(np.shape(value), UINT64)
    if isinstance(taint, int):
        return np.asarray(np.where(masks(value).any, UINT64.type(taint), UINT64.type(0)))
    return np.asarray(taint)


def only_taint(op: Operation, taints: Sequence[Taint]) -> int:
    """Return the sources of all exceptional elements, if all are moved and kept, and have the same; else 0."""
    different = {taint for taint in taints if isinstance(taint, int) and taint}
    is_uniform = len(different) == 1 and all(isinstance(taint, int) for taint in taints)
    if not is_uniform or not moves(op):
        return 0
    return different.pop() if facts_of(op).keeps else 0


def carried(op: Operation, operands: Sequence[Any], taints: Sequence[Array], results: Sequence[Any]) -> Sequence[Array]:
    """Return for each result what sources its elements would have, were they exceptional.

    Arrays broadcast to the shapes of the results. For ops that are not elementwise nor exact otherwise, each element
    has the sources of all operands.
    """
    if op.name in _BY_ROWS:
        return [_BY_ROWS[op.name](op, taints).reshape(np.shape(results[0]))] * len(results)
    if facts_of(op).chooses:
        return [np.where(np.asarray(operands[0]), *taints[1:])]
    if traits_of(op).elementwise:
        return [merged(taints)]
    return [np.asarray(UINT64.type(sum_of_bits(map(bits_of, taints))))] * len(results)


def sum_of_bits(numbers: Iterable[int]) -> int:
    """Return the union of sets of sources."""
    return reduce(or_, numbers, 0)


def merged(taints: Sequence[Array]) -> Array:
    """Return the union element by element."""
    return reduce(np.bitwise_or, taints, np.asarray(UINT64.type(0)))


def _reduced(op: Operation, taints: Sequence[Array]) -> Array:
    axes, count = tuple(op.properties["dimensions"]), len(taints) // 2
    return merged([*(np.bitwise_or.reduce(taint, axis=axes) for taint in taints[:count]), *taints[count:]])


def _multiplied(op: Operation, taints: Sequence[Array]) -> Array:
    """Return for each element of a product the union over its row and its column."""
    lhs, rhs = (np.bitwise_or.reduce(rows_of(op, side, taint), axis=-1) for side, taint in zip(("lhs", "rhs"), taints))
    return np.asarray(lhs[:, :, None] | rhs[:, None, :])


def rows_of(op: Operation, side: str, array: Array) -> Array:
    """Return an operand of a `dot_general` as (batch, rows, terms of a sum)."""
    batch, summed = (attributes_of(op)[f"{side}_{axes}_dimensions"] for axes in ("batching", "contracting"))
    free = [axis for axis in range(array.ndim) if axis not in (*batch, *summed)]
    sizes = [int(np.prod([array.shape[axis] for axis in axes], dtype=int)) for axes in (batch, free, summed)]
    return np.transpose(array, (*batch, *free, *summed)).reshape(sizes)


_BY_ROWS: dict[str, Callable[[Operation, Sequence[Array]], Array]] = {
    "stablehlo.reduce": _reduced, "stablehlo.dot_general": _multiplied,
}  # fmt: skip


def moved(
    op: Operation, operands: Sequence[Any], taints: Sequence[Array], programs: dict[Operation, Program]
) -> tuple[list[Array], list[Array]] | None:
    """Return the taints of the results of an op that moves elements, and which elements of each operand are in none.

    The op is run on the numbers of the exceptional elements; `programs` keeps its program. None if that fails.
    """
    table, numbers = [np.zeros(1, UINT64)], []
    for value, taint in zip(operands, taints):
        given = np.zeros(taint.shape, UINT64)
        start = sum(map(len, table))
        given[taint != 0] = np.arange(start, start + np.count_nonzero(taint), dtype=UINT64)
        table.append(taint[taint != 0])
        numbers.append(given if is_float(value) else value)
    try:
        if op not in programs:
            programs[op] = _on_taints(op)
        results = [np.asarray(result).astype(np.intp) for result in programs[op].run(*numbers)]
    except StablehloError:
        return None
    every = np.concatenate(table)
    is_left = np.zeros(every.size, bool)
    for result in results:
        is_left[result] = True
    gone = [(taint != 0) & ~is_left[np.where(taint != 0, n, 0).astype(np.intp)] for n, taint in zip(numbers, taints)]
    return [np.asarray(every[result]) for result in results], [np.asarray(where) for where in gone]


def _on_taints(op: Operation) -> Program:
    """Return the program of an op with ui64 for all types of floats."""
    arguments = [Value(_taint_type(operand.type), None, index) for index, operand in enumerate(op.operands)]
    made = clone(op, {})
    made.operands = list(arguments)
    for result in made.results:
        result.type = _taint_type(result.type)
    return Program(build_module(arguments, [made], made.results, op.location))


def _taint_type(type: Type) -> Type:
    return with_replaced(type, lambda t: _TAINT if isinstance(t, FloatType | ComplexType) else t)


def removed(
    op: Operation, arrays: Sequence[Array], made: Sequence[Array], is_elementwise: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the taint of each operand, and which of its exceptional elements are in no result."""
    every = UINT64.type(sum_of_bits(map(bits_of, made)))
    for taint in {id(v): a for v, a in zip(op.operands, arrays)}.values():
        left = made[0] if is_elementwise and taint.shape == made[0].shape else every
        yield taint, (taint != 0) & ((taint & left) == 0)


# --- generations: infinities by division, underflow, cancellation ---------------------------------------------------


Lossy: TypeAlias = tuple[Array, int]  # where results underflow, or lose bits by cancellation, and how many at most


def at_pole(op: Operation, operands: Sequence[Any]) -> Array:
    """Return where an op has a pole, so that an infinite result is exact."""
    facts, arrays = facts_of(op), [np.asarray(x) for x in operands]
    if facts.pole is None or len({array.shape for array in arrays}) > 1:
        return np.asarray(False)
    return np.asarray(facts.pole(*map(widen_if_narrow, arrays)))


def underflow(op: Operation, operands: Sequence[Any], result: Any) -> Lossy | None:
    """Return where a result is zero or subnormal by rounding, although the operands are normal numbers, or None."""
    facts = facts_of(op)
    if facts.underflow is None or not all(map(is_real, (result, *operands))) or not result.size:
        return None
    wide, least = widen_if_narrow(without_repetition(np.asarray(result))), smallest_normal(result.dtype)
    if wide.min() >= least or wide.max() <= -least:
        return None
    where = np.asarray(np.abs(widen_if_narrow(np.asarray(result))) < least)
    tiny = np.ones(np.count_nonzero(where), bool)
    for operand in operands if tiny.size else ():
        array = np.asarray(operand)
        size = np.abs(widen_if_narrow(array[where] if array.shape == where.shape else array))
        is_normal = (size >= smallest_normal(operand.dtype)) & (size < np.inf)
        tiny &= is_normal if facts.underflow == "unless zero" else is_normal | (size == 0)
    where[where] = tiny
    return (where, 0) if tiny.any() else None


def cancellation(op: Operation, operands: Sequence[Any], result: Any, threshold: int | None) -> Lossy | None:
    """Return where a sum or difference loses `threshold` bits or more; None if nowhere.

    What is lost is how much smaller the result is than the larger term; in reductions and dots, than the sum of the
    magnitudes of all terms. Results that are exactly zero are not counted.
    """
    if not is_real(result) or not result.size or not all(map(is_real, operands)):
        return None
    if threshold is None:  # half of the bits of a type's significand, rounded up: 12 for f32, 27 for f64, 4 for bf16
        threshold = (mantissa_bits(result.dtype) + 2) // 2
    least = 2.0**threshold
    if facts_of(op).adds and len(operands) == 2:
        larger = np.maximum(*(np.abs(widen_if_narrow(np.asarray(x))) for x in operands))
        return _lossy(np.asarray(larger), np.asarray(result), least)
    if adds_up(op):
        terms = np.abs(widen_if_narrow(np.asarray(operands[0])))
        return _lossy(terms.sum(axis=tuple(op.properties["dimensions"])), np.asarray(result), least)
    if op.name == "stablehlo.dot_general" and all(map(np.size, operands)):
        sides = zip(("lhs", "rhs"), operands)
        x, y = (np.abs(rows_of(op, side, np.asarray(array).astype(np.float64))) for side, array in sides)
        with np.errstate(all="ignore"):
            sums = np.asarray(x @ y.transpose(0, 2, 1))
        return _lossy(sums.reshape(result.shape), np.asarray(result), least)
    return None


def _lossy(terms: Array, result: Array, least: float) -> Lossy | None:
    """Return where a result is smaller than the terms by a factor of `least`, but neither 0 nor exceptional."""
    size = np.abs(widen_if_narrow(result))
    where = np.asarray(size <= terms * (1 / least))
    if not where.any():
        return None
    small, large = size[where].astype(np.float64), terms[where].astype(np.float64)
    where[where] = counts = (small > 0) & (large < np.inf)
    return (where, int((np.log2(large[counts]) - np.log2(small[counts])).max())) if counts.any() else None
