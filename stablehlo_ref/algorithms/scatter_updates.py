"""Apply the update computation of scatter to rows of tables.

Rows are given by their numbers. Updates of the same row are applied in order. If all row numbers are distinct, one
vectorized call computes all updates; otherwise the updates are split into rounds with distinct row numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import add_rows, exact_addition
from stablehlo_ref.algorithms.indexed_windows import IndexedWindows, Starts, signed
from stablehlo_ref.define.computation import Kernel, RegionFunction
from stablehlo_ref.define.spec import element_type, is_quantized
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.dtypes import BFLOAT16, FLOAT16, numpy_dtype
from stablehlo_ref.numerics.layout import default_buffers
from stablehlo_ref.numerics.reduction_ufuncs import ambiguous_zero_check, order_independent_ufunc, rounding_ufunc

Arrays: TypeAlias = Sequence[Array]
Round: TypeAlias = Array | slice  # indices of updates of distinct rows

BLOCK = 1 << 16  # updates that a slow loop makes at a time, whose row numbers are converted to intp for it
ELEMENTS = 1 << 17  # of distinct rows that are updated at a time, or more if a row has more
SECONDS = 1e-7  # in which numpy sorts one of many updates by its row and by its rank, about
MANY = 1 << 12  # elements of updates of each row, from which on one call takes less time than element by element
PATIENCE = 8  # scanning for rounds ends if more than this multiple of the size of the last one is left


class ScatterUpdate:
    """An update computation for tables of `row_count` rows, whose independent results are computed one by one.

    `unique` promises that no call updates a row twice; this is checked.
    """

    def __init__(self, body: RegionFunction, row_count: int, unique: bool) -> None:
        self._parts = [ScatterUpdate(part, row_count, unique) for part in body.parts] if len(body.parts) > 1 else []
        self._each = body.each
        self._overwrites = overwrites(body)
        self._ufunc = _ufunc(body)
        self._exact = exact_addition(body)
        self._row_count = row_count
        self._unique = unique

    def rows(self, tables: Arrays, numbers: Array, news: Arrays) -> None:
        """Update the rows `numbers` (of any integer dtype) of the tables with the rows of `news`."""
        if self._parts:
            for part, table, new in zip(self._parts, tables, news):
                part.rows([table], numbers, [new])
        elif self._overwrites:
            for table, new in zip(tables, news):
                _set_rows(table, numbers, new)
        elif len(numbers) == 1 or (self._unique and _are_first(numbers, self._row_count).all()):
            self._once(tables, numbers, news)
        elif self._exact:
            add_rows(self._exact, tables[0], numbers, news[0])
        elif self._ufunc is None or _may_have_wrong_zero(self._ufunc, tables[0], numbers, news[0]):
            for hits in within_time(rounds(numbers, self._row_count)):
                self._once(tables, numbers, news, hits)
        else:
            self._accumulate(self._ufunc, tables[0], numbers, news[0])

    def _once(self, tables: Arrays, numbers: Array, news: Arrays, hits: Round = slice(None)) -> None:
        """Update distinct rows, those of the updates `hits`, block by block."""
        count = len(numbers[hits]) if isinstance(hits, slice) else len(hits)
        step = max(1, ELEMENTS // prod(tables[0].shape[1:]))
        for start in within_time(range(0, count, step)):
            some = slice(start, start + step) if isinstance(hits, slice) else hits[start : start + step]
            rows = numbers[some]
            values = self._each(*[table.take(rows, 0, mode="clip") for table in tables], *[new[some] for new in news])
            for table, value in zip(tables, values):
                _set_rows(table, rows, value)

    def _accumulate(self, ufunc: np.ufunc, table: Array, numbers: Array, new: Array) -> None:
        """Update with `ufunc.at`, element by element; before, in rounds, or row by row, where that takes less time."""
        if table.ndim > 1:
            scanned, left = first_rounds(numbers, self._row_count)
            for hits in within_time(scanned):
                self._once([table], numbers, [new], hits)
            if self._folded(ufunc, table, numbers, new, left):
                return
            numbers, new = numbers[left], new[left]
        for start in within_time(range(0, len(numbers), BLOCK)):
            some = slice(start, start + BLOCK)
            ufunc.at(table, numbers[some].astype(np.intp, copy=False), new[some])

    def _folded(self, ufunc: np.ufunc, table: Array, numbers: Array, new: Array, left: Array) -> bool:
        """Make the updates `left` of each row in one call, from the left, if there are many of each; else return False.

        numpy reduces an axis before the last row by row.
        """
        keys, width = numbers[left], table.shape[1]
        step = max(1, ELEMENTS // width)
        if width == 1 or len(left) * width < MANY * min(len(left), self._row_count):
            return False
        keys = keys.astype(np.uint16) if self._row_count <= 1 << 16 else keys  # sorted in linear time
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1)).tolist()
        with default_buffers():
            for start, stop in within_time(list(pairwise([*starts, len(left)]))):
                row = table[keys[order[start]]]
                for first in range(start, stop, step):
                    some = left[order[first : min(first + step, stop)]]
                    ufunc.reduce(np.concatenate([row[np.newaxis], new.take(some, 0)]), 0, table.dtype, row)
        return True


def _set_rows(table: Array, numbers: Array, values: Array) -> None:
    """Set rows of a contiguous table; the last of several values of a row counts.

    numpy is slow to convert indices to intp while it assigns, and to assign short rows, which become elements here.
    """
    assign: Callable[[Array, Array], object] = table.__setitem__
    if table.ndim > 1:
        row = f"V{table.itemsize * table.shape[1]}"
        values = np.ascontiguousarray(values, table.dtype).view(row)[:, 0]
        assign = partial(table.view(row)[:, 0].put, mode="clip")
    for start in within_time(range(0, len(numbers), BLOCK)):
        some = slice(start, start + BLOCK)
        assign(np.ascontiguousarray(numbers[some], np.intp), values[some])


def overwrites(body: RegionFunction) -> bool:
    """Return whether an update computation returns the updates."""
    arguments, returned = body.region.block.arguments, body.region.block.operations[-1].operands
    return list(returned) == list(arguments[len(arguments) // 2 :])


def _ufunc(body: RegionFunction) -> np.ufunc | None:
    """Return the ufunc that computes the body, or None."""
    if body.recognised is None or is_quantized(body.function_type.outputs[0]):
        return None
    op = body.recognised.name.removeprefix("stablehlo.")
    dtype = numpy_dtype(element_type(body.function_type.outputs[0]))
    if dtype in (BFLOAT16, FLOAT16):  # ml_dtypes' and numpy's loops for these compute in f32 and round once
        return {"add": np.add, "multiply": np.multiply}.get(op)
    return order_independent_ufunc(op, dtype) or rounding_ufunc(op, dtype)


def _may_have_wrong_zero(ufunc: np.ufunc, table: Array, numbers: Array, new: Array) -> bool:
    """Return whether np.maximum or np.minimum may return a zero of the wrong sign, as there are such zeros."""
    if ufunc not in (np.maximum, np.minimum) or (has_wrong_zero := ambiguous_zero_check(ufunc, table.dtype)) is None:
        return False
    if table.size <= new.size:
        return has_wrong_zero(new) or has_wrong_zero(table)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(numbers), BLOCK)]
    return any(has_wrong_zero(new[b]) or has_wrong_zero(table.take(numbers[b], 0, mode="clip")) for b in blocks)


# --- rounds ---------------------------------------------------------------------------------------------------------


def rounds(numbers: Array, row_count: int) -> Iterator[Round]:
    """Split updates into rounds, with the k-th update of each row in round k, as indices into `numbers`."""
    scanned, left = first_rounds(numbers, row_count)
    yield from scanned
    yield from _by_rank(numbers, left)


def first_rounds(numbers: Array, row_count: int) -> tuple[list[Round], Array]:
    """Return the first rounds and the remaining updates, which are most of them if many update a few rows."""
    first = _are_first(numbers, row_count)
    if first.all():
        return [slice(None)], np.empty(0, np.intp)
    hits, left = (np.flatnonzero(x).astype(_index_dtype(len(x)), copy=False) for x in (first, ~first))
    found: list[Round] = [hits]
    while len(left) and len(left) <= PATIENCE * len(hits):
        first = _are_first(numbers[left], row_count)
        hits, left = left[first], left[~first]
        found.append(hits)
    return found, left


def _index_dtype(count: int) -> DType:
    return np.dtype(np.int32 if count < 1 << 31 else np.intp)


def _are_first(numbers: Array, row_count: int) -> Array:
    """Return which numbers are the first of their value."""
    dtype = _index_dtype(len(numbers))
    first = np.empty(row_count, dtype)  # only set and read at `numbers`
    blocks = [(start, min(start + BLOCK, len(numbers))) for start in range(0, len(numbers), BLOCK)]
    for start, stop in reversed(blocks):
        _set_rows(first, numbers[start:stop][::-1], np.arange(start, stop, dtype=dtype)[::-1])
    is_first = np.empty(len(numbers), np.bool_)
    for start, stop in blocks:
        numbers_of = first.take(numbers[start:stop], mode="clip")
        np.equal(numbers_of, np.arange(start, stop, dtype=dtype), out=is_first[start:stop])
    return is_first


def _by_rank(numbers: Array, left: Array) -> Iterator[Array]:
    """Yield the rounds of the updates `left`, by sorting."""
    if not len(left):
        return
    check_time(needed=len(left) * SECONDS)
    order = left[np.argsort(numbers[left], kind="stable")]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    ranks = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    by_rank = order[np.argsort(ranks, kind="stable")]
    for start, stop in pairwise([0, *np.cumsum(np.bincount(ranks)).tolist()]):
        yield by_rank[start:stop]


def plan_updates(windows: IndexedWindows, body: RegionFunction, unique: bool, dtypes: Sequence[DType]) -> Kernel:
    """Return the kernel that updates all rows of all windows at once by `body`, by their row numbers.

    It takes contiguous tensors, which it updates, the starts of windows, and updates of these dtypes.
    `unique` promises that no element is updated twice.
    """
    update = ScatterUpdate(body, windows.rows, unique)
    order, row = windows.other_axes + windows.row_axes, windows.table_shape[1:]

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        tables = [x.reshape(windows.table_shape) for x in results]
        news = [x.transpose(order).reshape(-1, *row) for x in updates]
        starts = [start if start.dtype == np.int32 else signed(start) for start in starts]
        numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
        if within is not None:
            numbers, news = numbers[within], [x[within] for x in news]
        update.rows(tables, numbers, news)

    count, is_copy = prod(windows.shape) // prod(row), order != tuple(range(len(windows.shape)))
    numbers = 0 if windows.starts_are_numbers else count * np.dtype(np.intp).itemsize
    in_rounds = any(not overwrites(part) and (row or _ufunc(part) is None) for part in body.parts)
    rounds = _index_dtype(count).itemsize * (windows.rows + 2 * count) if in_rounds else 0
    copies = prod(windows.shape) * sum(dtype.itemsize for dtype in dtypes) if is_copy else 0
    return Kernel(write, temporaries=numbers + rounds + copies)
