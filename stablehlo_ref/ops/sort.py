"""sort, and its strategies: by value or by keys where the comparator compares keys, else by merging. All are stable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.comparators import Keys, sort_keys
from stablehlo_ref.algorithms.padding import boxes
from stablehlo_ref.define.attribute_codecs import Flag, Int
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import ORDERS
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.spec import element_type, is_float, rank, same, shape, size
from stablehlo_ref.define.type_constraints import per_tensor_quantized, tensor
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, tensor_type
from stablehlo_ref.limits.budget import check_time, reserve, within_time
from stablehlo_ref.numerics import ulp
from stablehlo_ref.numerics.dtypes import BOOL, is_sub_byte_integer, kind, numpy_dtype
from stablehlo_ref.numerics.implementation_defined import has_nan
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow
from stablehlo_ref.ops.reduction import Results, Types, one_or_all

Less: TypeAlias = Callable[..., list[Array]]  # of arrays of the left-hand and right-hand side of each array

BLOCK = 1 << 16  # elements
SORTED = 1 << 20  # elements that are sorted at a time, if there are several rows
COPIED = 1 << 19  # elements that are copied or have indices at a time, if there are several rows
COLUMNS = 16  # that are copied at a time, at least, if not rows are sorted
SECONDS = 5e-8  # in which numpy sorts one of many elements by a digit and takes the indices, about


class Sort(Op, op="sort", facts=ORDERS):
    """Sort the slices of `inputs` along `dimension` together, by `comparator`. The sort is always stable."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimension = Attr(Int, default=-1)  # I2
    is_stable = Attr(Flag, default=False)  # I3
    comparator = Body()  # I4
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(inputs: Types) -> Types:
        return tuple(inputs)

    @staticmethod
    def constraints(C: Checker, inputs: Types, dimension: Int, comparator: FunctionType, results: Types) -> None:
        C(1, 0 < size(inputs))
        C(3, same(map(shape, (*inputs, *results))))
        C(2, list(map(element_type, inputs)) == list(map(element_type, results)))
        C(4, -rank(inputs[0]) <= dimension < rank(inputs[0]))
        pairs = tuple(tensor_type((), element_type(t)) for t in inputs for _ in ("lhs", "rhs"))
        C(5, comparator.inputs == pairs and comparator.outputs == (tensor_type((), BOOLEAN),))

    @classmethod
    def plan(cls, inputs: Types, dimension: Int, comparator: RegionFunction) -> Run:
        """Plan the sort of all slices at once: see `semantics.sort.sort`.

        The sort finds one permutation for each slice, which all inputs share. If the comparator is a comparison of keys
        (algorithms/comparators.py), numpy sorts integers in the keys' order. Any other comparator is called on whole
        arrays, once per step of a merge sort (`by_merging`).
        """
        if shape(inputs[0])[dimension] < 2 or not size(inputs[0]):
            return lambda inputs: one_or_all(inputs)
        sizes, axis = shape(inputs[0]), dimension % rank(inputs[0])
        dtypes = [numpy_dtype(element_type(t)) for t in inputs]
        keys = sort_keys(comparator)
        sort_rows = by_value(keys, dtypes) or by_keys(keys, dtypes) or by_merging(comparator.each)
        is_whole = len(inputs) == 1 and axis == rank(inputs[0]) - 1 and keys is not None
        parts = [(slice(None),) * rank(inputs[0])] if is_whole else _pieces(sizes, axis)

        def sort(inputs: Sequence[Array]) -> Sequence[Array]:
            rows = [row_major(np.moveaxis(x, axis, -1)) for x in inputs]
            return [np.moveaxis(x, -1, axis) for x in sort_rows.run(rows)]

        def run(inputs: Sequence[Array]) -> Results:
            if is_whole and not inputs[0].flags.c_contiguous:
                reserve(0, 2 * inputs[0].nbytes)  # of a copy, and again of the result, which is not alive yet
            if len(parts) == 1:
                return one_or_all(sort(inputs))
            results = [np.empty(sizes, x.dtype) for x in inputs]
            for box in within_time(parts):
                for result, x in zip(results, sort([x[box] for x in inputs])):
                    result[box] = row_major(x)
            return one_or_all(results)

        itemsizes, sorted_at_a_time = sum(dtype.itemsize for dtype in dtypes), size(inputs[0])
        copied = 0 if axis == rank(inputs[0]) - 1 else itemsizes
        if len(parts) > 1:  # of which each is copied, and then its results
            sorted_at_a_time = prod(len(range(*cut.indices(n))) for cut, n in zip(parts[0], sizes))
            copied = 2 * itemsizes
        needed = sorted_at_a_time * (copied + sort_rows.temporaries) + 40 * min(size(inputs[0]), BLOCK)
        return Kernel(run, temporaries=needed)

    @staticmethod
    def implementation_defined(site: Site, inputs: Types) -> FindChoices:
        compared = [i for i in partially_ordered_inputs(site.op.regions[0].block) if is_float(inputs[i])]

        def cases(inputs: Sequence[Array]) -> Iterator[Choice]:
            if any(has_nan(inputs[i]) for i in compared):
                yield Choice.SORT_UNORDERED

        return cases if compared else None


def row_major(x: Array) -> Array:
    """Return a C-contiguous array: `x` itself, or a copy."""
    return x if x.flags.c_contiguous else contiguous(x)


def partially_ordered_inputs(block: Block) -> set[int]:
    """Return the indices of inputs that a comparator compares by an order in which NaNs are unordered.

    A comparison that depends on one side only, as `x != x` does, is no order of two elements.
    """
    found: set[int] = set()
    for op in block.operations:
        if op.name == "stablehlo.compare" and getattr(op.properties.get("compare_type"), "name", "") != "TOTALORDER":
            used = _arguments_of(op, block)
            if len({argument.index % 2 for argument in used}) == 2:
                found.update(argument.index // 2 for argument in used)
    return found


def _arguments_of(op: Operation, block: Block) -> set[Value]:
    """Return the arguments of a block that an op of it depends on."""
    values, seen = list(op.operands), set[Value]()
    while values:
        value = values.pop()
        if value not in seen and isinstance(value.owner, Operation) and value.owner.parent is block:
            values += value.owner.operands
        seen.add(value)
    return seen.intersection(block.arguments)


# --- strategies: kernels that sort the rows of contiguous arrays together; `temporaries` are bytes for each element ---


def _pieces(sizes: Sequence[int], axis: int) -> list[tuple[slice, ...]]:
    """Return indices of boxes of an array, each with all elements along `axis`, that are sorted one after the other."""
    counts, extents = list(sizes), [*[1] * (len(sizes) - 1), COLUMNS]
    counts[axis], extents[axis] = 1, sizes[axis]
    return [(*box[:axis], slice(None), *box[axis + 1 :]) for box in boxes(counts, COPIED, extents)]


# --- by value -------------------------------------------------------------------------------------------------------


def by_value(keys: Keys | None, dtypes: Sequence[DType]) -> Kernel | None:
    """Sort the values of one array as integers, if the only key of each element has the order of its bits.

    Of floats, this depends on the values: it is not so if there are several zeros or NaNs that compare equal.
    """
    if keys is None or len(dtypes) > 1 or len(keys.orders) > 1 or (indirect := by_keys(keys, dtypes)) is None:
        return None
    (dtype,), is_descending = dtypes, keys.orders[0].descending

    def run(xs: Sequence[Array]) -> list[Array]:
        numbers, (x,) = _ordered_keys(keys, xs), xs
        if not _are_numbers_of_elements(numbers[0], x, is_descending):
            return _in_order(xs, _indices_in_order(numbers))
        number = numbers.pop()
        if np.may_share_memory(number, x):
            number = number.copy()
        _sort_rows(number.reshape(-1, number.shape[-1]))
        return [_elements_of_numbers(number, x.dtype, is_descending)]

    is_widened = dtype.itemsize <= 2 if kind(dtype) == "floating" else is_sub_byte_integer(dtype)
    if keys.of.region.block.operations[:-1] or is_widened:
        return Kernel(run, temporaries=indirect.temporaries)
    return Kernel(run, temporaries=max(4, dtype.itemsize) if is_descending else 0)  # the keys become the elements


def _are_numbers_of_elements(numbers: Array, x: Array, is_descending: bool) -> bool:
    """Return whether keys are the integers, of the size of the elements of `x`, that are in order as these are."""
    if is_sub_byte_integer(x.dtype) or kind(x.dtype) == "complex" or (kind(x.dtype) == "floating" and x.itemsize < 2):
        return False
    if numbers.itemsize != x.itemsize:
        return False
    for some, elements in _blocks(numbers, x):
        expected = ordered_bits(elements, total_order=True)
        if not np.array_equal(some, ~expected if is_descending else expected):
            return False
    return True


def _elements_of_numbers(numbers: Array, dtype: DType, is_descending: bool) -> Array:
    """Return the elements with these numbers, which are overwritten."""
    sign_bit = numbers.dtype.type(1 << (8 * dtype.itemsize - 1))
    for (bits,) in _blocks(numbers):
        if is_descending:
            np.invert(bits, out=bits)
        if dtype.kind == "u" or dtype == BOOL:
            continue
        bits ^= sign_bit
        if kind(dtype) == "floating":  # the magnitudes of negative numbers are inverted
            bits ^= (bits >= sign_bit) * (sign_bit - numbers.dtype.type(1))
    return numbers.view(dtype)


# --- by keys --------------------------------------------------------------------------------------------------------


def by_keys(keys: Keys | None, dtypes: Sequence[DType]) -> Kernel | None:
    """Find the order of elements by their keys, which all arrays share.

    There are the keys, and digits that become indices, with further digits also the indices in the order of earlier
    ones (the factor is measured). All but the indices are free again when results are made.
    """
    if keys is None:
        return None
    numbers = [max(4, numpy_dtype(element_type(t)).itemsize) for t in keys.of.function_type.outputs]
    indices, results = 20 if len(numbers) > 1 or numbers[0] > 4 else 8, sum(dtype.itemsize for dtype in dtypes)
    return Kernel(
        lambda xs: _in_order(xs, _indices_in_order(_ordered_keys(keys, xs))),
        temporaries=max(8, sum(numbers) + indices - results),
    )


def _ordered_keys(keys: Keys, rows: Sequence[Array]) -> list[Array]:
    """Return the keys of the elements as unsigned integers in ascending order, the most significant key first."""
    both_sides = [x for x in rows for _ in ("lhs", "rhs")]
    numbers = []
    for values, order in zip(keys.of.each(*both_sides), keys.orders):
        number = ordered_bits(order.numbers(values), order.total_order)
        numbers.append(~number if order.descending else number)
    return numbers


def _in_order(xs: Sequence[Array], order: Array) -> list[Array]:
    """Return the elements at flat indices, which are converted to intp block by block."""
    results = [np.empty_like(x) for x in xs]
    for result, x in zip(results, xs):
        for some, indices in _blocks(result, order):
            some[...] = x.reshape(-1).take(indices, mode="clip")
    return results


def _indices_in_order(numbers: list[Array]) -> Array:
    """Return the flat indices of elements such that rows are stably sorted by numbers; the list becomes empty.

    This is an LSD radix sort of digits that have 64 bits together with an index.
    """
    sizes, size, order = numbers[0].shape, numbers[0].size, None
    width = 64 - size.bit_length()
    while numbers:
        number = numbers.pop().reshape(-1)
        shifts = range(0, 8 * number.itemsize, width)
        for shift in shifts:
            packed = _packed(number, shift, width, order)
            if shift == shifts[-1]:
                del number  # before the indices need memory
            _sort_rows(packed.reshape(-1, sizes[-1]))
            order = _indices(packed, width, order)
    assert order is not None  # there is a key
    return order.reshape(sizes)


def _packed(number: Array, shift: int, width: int, order: Array | None) -> Array:
    """Return `width` bits of numbers in an order, from `shift` on, and in the bits below the index in that order."""
    packed = np.empty(number.size, np.uint64)
    for start in within_time(range(0, number.size, BLOCK)):
        some = slice(start, start + BLOCK)
        digit = number[some] if order is None else number.take(order[some], mode="clip")
        np.copyto(packed[some], digit >> digit.dtype.type(shift))
        packed[some] <<= np.uint64(64 - width)
        packed[some] |= np.arange(start, start + len(digit), dtype=np.uint64)
    return packed


def _indices(packed: Array, width: int, order: Array | None) -> Array:
    """Return the indices below digits, and if they are indices in an order, those in it, in the memory of `packed`.

    They need half of it if they fit into 32 bits.
    """
    size, mask = packed.size, np.uint64((1 << 64 - width) - 1)
    dtype = np.dtype(np.int32 if size < 1 << 31 else np.int64)
    stored = packed.view(dtype)
    for start in within_time(range(0, size, BLOCK)):
        some = slice(start, start + BLOCK)
        indices = (packed[some] & mask).view(np.int64)
        stored[start : start + len(indices)] = indices if order is None else order.take(indices, mode="clip")
    del stored
    packed.resize((size * dtype.itemsize + 7) // 8, refcheck=False)
    return packed.view(dtype)[:size]


def _sort_rows(rows: Array) -> None:
    """Sort rows of unsigned integers in place, group by group of rows if there are many."""
    step = max(1, SORTED // rows.shape[-1])
    check_time(needed=rows.shape[-1] * SECONDS)
    for start in within_time(range(0, len(rows), step)):
        rows[start : start + step].sort(-1, "stable" if rows.itemsize <= 2 else None)  # a radix sort


# --- keys as integers -----------------------------------------------------------------------------------------------


def ordered_bits(x: Array, total_order: bool = False) -> Array:
    """Return unsigned integers in the order of numbers. NaNs are last and zeros are equal unless in `total_order`."""
    if x.size <= BLOCK or kind(x.dtype) != "floating":
        return _ordered_bits(x, total_order)
    out = np.empty(x.shape, _ordered_bits(x.reshape(-1)[:1], total_order).dtype)
    for some, numbers in _blocks(out, x):
        some[...] = _ordered_bits(numbers, total_order)
    return out


def _ordered_bits(x: Array, total_order: bool) -> Array:
    if x.dtype == BOOL:
        return x.view(np.uint8)
    if kind(x.dtype) == "floating":
        if not total_order:
            x = widen_if_narrow(x)
            x = x + x.dtype.type(0)  # without -0
            np.copyto(x, np.nan, where=x != x)
        x = ulp.ordered_bits(x)
    elif is_sub_byte_integer(x.dtype):
        x = x.astype(np.int8)
    if x.dtype.kind == "u":
        return x
    unsigned = x.view(f"u{x.itemsize}")
    ordered: Array = unsigned ^ unsigned.dtype.type(1 << (8 * x.itemsize - 1))
    return ordered


def _blocks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    flat = [x.reshape(-1) for x in arrays]
    for start in within_time(range(0, flat[0].size, BLOCK)):
        yield tuple(x[start : start + BLOCK] for x in flat)


# --- by merging -----------------------------------------------------------------------------------------------------


Piece: TypeAlias = tuple[slice, ...]  # of rows, of pairs of runs, and of the elements of the left ones

ALL = (slice(None),) * 3


def by_merging(less: Less) -> Kernel:
    """Sort by any comparator. What merging needs, with up to twice as many indices as elements, is measured."""
    return Kernel(lambda xs: _in_order(xs, merge_sort(less, xs)), temporaries=28)


def merge_sort(less: Less, rows: Sequence[Array]) -> Array:
    """Return the flat indices that stably sort rows by a comparator.

    Runs of 1, 2, 4, ... elements are merged, block by block. Each element of a run finds its position in the run to its
    right by bisection; the elements of that run take the remaining positions. So the result is a permutation even if
    the comparator is not a strict weak order.
    """
    n = rows[0].shape[-1]
    flat, count, size = [x.reshape(-1) for x in rows], rows[0].size // n, 1 << (n - 1).bit_length()
    order = np.empty((count, size), np.int32 if count * size < 1 << 31 else np.int64)
    order[...] = np.arange(size)
    first = np.arange(count)[:, np.newaxis, np.newaxis] * n
    length = 1
    while length < size:
        check_time()
        runs = order.reshape(count, -1, 2, length)
        lefts, rights = runs[:, :, 0], runs[:, :, 1]
        blocks = [ALL] if order.size <= BLOCK else list(boxes(lefts.shape, BLOCK))
        positions = np.empty(lefts.shape, order.dtype)
        for block in within_time(blocks):
            row, pairs, _ = block
            positions[block] = _insertion_points(less, flat, lefts[block], rights[row, pairs], n, first[row])
        order = _merged(lefts, rights, np.maximum.accumulate(positions, -1), blocks).reshape(count, size)
        length *= 2
    indices: Array = order[:, :n] + first[:, 0].astype(order.dtype)
    return indices.reshape(rows[0].shape)


def _insertion_points(less: Less, flat: Sequence[Array], lefts: Array, rights: Array, n: int, first: Array) -> Array:
    """Return for each element of a left run how many of the right run are less; elements from `n` on never are."""
    low, high = np.zeros(lefts.shape, np.intp), np.full(lefts.shape, rights.shape[-1])
    lhs = [x.take(lefts + first, mode="clip") for x in flat]
    for _ in within_time(range(rights.shape[-1].bit_length())):
        middle = (low + high) >> 1
        candidates = np.take_along_axis(rights, np.minimum(middle, rights.shape[-1] - 1), -1)
        rhs = [x.take(candidates + first, mode="clip") for x in flat]
        (is_less,) = less(*[side for pair in zip(rhs, lhs) for side in pair])
        further = is_less & (candidates < n) & (low < high)
        low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
    return low


def _merged(lefts: Array, rights: Array, positions: Array, blocks: Sequence[Piece]) -> Array:
    """Merge runs, given the insertion points of elements of left runs, block by block."""
    length = lefts.shape[-1]
    merged = np.empty((*lefts.shape[:-1], 2 * length), lefts.dtype)
    from_right = np.ones(merged.shape, bool)
    for block in within_time(blocks):
        row, pairs, elements = block
        slots = positions[block] + np.arange(length)[elements]
        np.put_along_axis(merged[row, pairs], slots, lefts[block], -1)
        np.put_along_axis(from_right[row, pairs], slots, False, -1)
    merged[from_right] = rights.reshape(-1)
    return merged
