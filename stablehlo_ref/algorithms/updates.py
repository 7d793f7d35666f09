"""Many updates of few places: how scatter applies its update computation.

Places are rows of tables, by their numbers. Updates of one row happen in their order, one after another; so where all
numbers differ one vectorised call does for all, and else they are split into rounds in which they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import BFLOAT16, FLOAT16, numpy_dtype
from stablehlo_ref.numerics.reductions import any_order, in_order, zero_in_doubt
from stablehlo_ref.spec import element_type, is_quantized

Array = Any
Arrays = Sequence[Array]
Body = Any  # execute.regions.PlannedBody, of a function of 2N scalars with N results

LARGE = 1 << 13  # elements: of fewer, rounds take longer than one slow loop
PATIENCE = 8  # scanning for rounds ends when more than so many times what the last one took is left


class Update:
    """An update computation for tables of `rows` rows; `unique` promises that no row is updated twice
    in one call, which is not believed without a look."""

    def __init__(self, body: Body, rows: int, unique: bool) -> None:
        self._each = body.each
        self._parts = [_Part(part, rows, unique) for part in body.parts]

    def elements(self, olds: Arrays, news: Arrays) -> None:
        """Updates all elements of `olds`, views of tables, once each."""
        values = self._each(*olds, *news)
        if len(olds) > 1:  # a value may be a view of a table that is written before the value is read
            values = list(map(np.array, values))
        for old, value in zip(olds, values):
            old[...] = value

    def rows(self, tables: Arrays, numbers: Array, news: Arrays) -> None:
        """Updates the rows `numbers` (of dtype intp) of the tables with the rows of `news`."""
        if len(self._parts) == 1:
            self._parts[0].rows(tables, numbers, news)
        else:
            for part, table, new in zip(self._parts, tables, news):
                part.rows([table], numbers, [new])


class _Part:
    """A part of an update computation that depends on no other; most have none but one."""

    def __init__(self, body: Body, rows: int, unique: bool) -> None:
        arguments, returned = body.region.block.arguments, body.region.block.operations[-1].operands
        self._each = body.each
        self._overwrites = list(returned) == list(arguments[len(arguments) // 2 :])
        self._ufunc = _ufunc(body)
        self._row_count = rows
        self._unique = unique

    def rows(self, tables: Arrays, numbers: Array, news: Arrays) -> None:
        if self._overwrites:
            for table, new in zip(tables, news):
                table[numbers] = new  # of several new values of one row the last one stays
        elif len(numbers) == 1 or (self._unique and _are_first(numbers, self._row_count).all()):
            self._once(tables, numbers, news)
        elif self._ufunc is None or _is_in_doubt(self._ufunc, tables[0], numbers, news[0]):
            for hits in rounds(numbers, self._row_count):
                self._once(tables, numbers[hits], [new[hits] for new in news])
        else:
            self._accumulate(self._ufunc, tables[0], numbers, news[0])

    def _once(self, tables: Arrays, numbers: Array, news: Arrays) -> None:
        """Updates rows of which each comes but once."""
        values = self._each(*[table.take(numbers, 0, mode="clip") for table in tables], *news)
        for table, value in zip(tables, values):
            table[numbers] = value

    def _accumulate(self, ufunc: np.ufunc, table: Array, numbers: Array, new: Array) -> None:
        """By numpy's loop that takes one element after another; of large rows a few rounds do most of it faster."""
        if table.ndim > 1 and new.size >= LARGE:
            first_rounds, left = scan(numbers, self._row_count)
            for hits in first_rounds:
                self._once([table], numbers[hits], [new[hits]])
            numbers, new = numbers[left], new[left]
        ufunc.at(table, numbers, new)


def _ufunc(body: Body) -> np.ufunc | None:
    """The ufunc that does what the body does."""
    if body.recognised is None or is_quantized(body.function_type.outputs[0]):
        return None
    op = body.recognised.name.removeprefix("stablehlo.")
    dtype = numpy_dtype(element_type(body.function_type.outputs[0]))
    if dtype in (BFLOAT16, FLOAT16):  # their own loops for these compute in f32 and round once
        return {"add": np.add, "multiply": np.multiply}.get(op)
    return any_order(op, dtype) or in_order(op, dtype)


def _is_in_doubt(ufunc: np.ufunc, table: Array, numbers: Array, new: Array) -> bool:
    """Whether numpy may choose a zero of the wrong sign, for there are zeros of the sign that loses."""
    if ufunc not in (np.maximum, np.minimum) or (in_doubt := zero_in_doubt(ufunc, table.dtype)) is None:
        return False
    old = table if table.size <= new.size else table.take(numbers, 0, mode="clip")
    return in_doubt(new) or in_doubt(old)


# --- rounds ---------------------------------------------------------------------------------------------------------


def rounds(numbers: Array, row_count: int) -> list[Any]:
    """Splits updates into rounds without repetitions, the k-th one of each row in round k: indices into `numbers`."""
    first_rounds, left = scan(numbers, row_count)
    return [*first_rounds, *_by_rank(numbers, left)]


def scan(numbers: Array, row_count: int) -> tuple[list[Any], Array]:
    """The first rounds, and what is left: of many updates of a few rows most of them."""
    left = np.arange(len(numbers))
    first = _are_first(numbers, row_count)
    if first.all():
        return [slice(None)], left[:0]
    found = []
    while len(left):
        hits, left = left[first], left[~first]
        found.append(hits)
        if len(left) > PATIENCE * len(hits):
            break
        first = _are_first(numbers[left], row_count)
    return found, left


def _are_first(numbers: Array, row_count: int) -> Array:
    """Which of the numbers have not come before."""
    positions = np.arange(len(numbers), dtype=np.int32 if len(numbers) < 1 << 31 else np.intp)
    first = np.empty(row_count, positions.dtype)  # set, and looked at, where there are numbers
    first[numbers[::-1]] = positions[::-1]  # of several positions the last one stays
    return first[numbers] == positions


def _by_rank(numbers: Array, left: Array) -> list[Array]:
    """The rounds of the updates `left`, found by sorting."""
    if not len(left):
        return []
    order = left[np.argsort(numbers[left], kind="stable")]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    ranks = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    ends = np.cumsum(np.bincount(ranks))
    return np.split(order[np.argsort(ranks, kind="stable")], ends[:-1])
