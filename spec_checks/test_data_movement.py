"""Compare ops that move elements with their oracles, for all element types, sizes of 0 and starts out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.strategies import ALL, INTEGERS, NUMBERS, arrays, dtypes, shapes
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops import constants
from stablehlo_ref.semantics import data_movement as oracle

Array = np.ndarray[Any, np.dtype[Any]]
Dims = tuple[int, ...]

MANY = examples(everyday=20, all=60)


def check(actual: Array, expected: Array, *inputs: Any) -> None:
    same = actual.shape == expected.shape and actual.dtype == expected.dtype and actual.tobytes() == expected.tobytes()
    assert same, f"{inputs!r}\n  actual    {actual!r}\n  expected  {expected!r}"


def tensors(**limits: int) -> st.SearchStrategy[Array]:
    return st.tuples(dtypes(ALL), shapes(**limits)).flatmap(lambda t: arrays(*t))


def type_of_result(shape: Dims, dtype: np.dtype[Any]) -> Any:
    return tensor_type(shape, element_type_of(dtype))


def one_per_size(sizes: Dims, numbers: Any) -> st.SearchStrategy[Dims]:
    """Draw a tuple with one number for each size, by `numbers(size)`."""
    return st.tuples(*map(numbers, sizes))


@MANY
@given(data=st.data())
def test_iota(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(NUMBERS)), data.draw(shapes(min_rank=1, max_size=9))
    dimension = data.draw(st.integers(0, len(shape) - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "BLOCK", data.draw(st.sampled_from((2, constants.BLOCK))))
        actual = evaluate("iota", result=type_of_result(shape, dtype), iota_dimension=dimension)
    check(actual, oracle.iota(dimension, result=(shape, dtype)), dtype, shape, dimension)


@MANY
@given(data=st.data())
def test_reshape(data: st.DataObject) -> None:
    operand = data.draw(tensors())
    shape = data.draw(st.permutations((*operand.shape, 1, 1))).copy()
    if len(shape) > 2 and data.draw(st.booleans()):
        shape = [shape[0] * shape[1], *shape[2:]]
    actual = evaluate("reshape", operand, result=type_of_result(tuple(shape), operand.dtype))
    check(actual, oracle.reshape(operand, result=(tuple(shape), operand.dtype)), operand, shape)


@MANY
@given(data=st.data())
def test_broadcast_in_dim(data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=4, max_size=3))
    rank = data.draw(st.integers(0, len(shape)))
    broadcast_dimensions = tuple(data.draw(st.permutations(range(len(shape))))[:rank])
    sizes = tuple(data.draw(st.sampled_from([1, shape[d]])) for d in broadcast_dimensions)
    operand = data.draw(arrays(data.draw(dtypes(ALL)), sizes))
    if data.draw(st.booleans()):
        operand = operand.copy("F")
    result = type_of_result(shape, operand.dtype)
    actual = evaluate("broadcast_in_dim", operand, result=result, broadcast_dimensions=broadcast_dimensions)
    expected = oracle.broadcast_in_dim(operand, broadcast_dimensions, result=(shape, operand.dtype))
    check(actual, expected, operand, broadcast_dimensions, shape)


@MANY
@given(data=st.data())
def test_transpose(data: st.DataObject) -> None:
    operand = data.draw(tensors(max_rank=4, max_size=3))
    permutation = tuple(data.draw(st.permutations(range(operand.ndim))))
    actual = evaluate("transpose", operand, permutation=permutation)
    check(actual, oracle.transpose(operand, permutation), operand, permutation)


@MANY
@given(data=st.data())
def test_reverse(data: st.DataObject) -> None:
    operand = data.draw(tensors())
    dimensions = tuple(d for d in data.draw(st.permutations(range(operand.ndim))) if data.draw(st.booleans()))
    check(evaluate("reverse", operand, dimensions=dimensions), oracle.reverse(operand, dimensions), operand, dimensions)


@MANY
@given(data=st.data())
def test_slice(data: st.DataObject) -> None:
    operand = data.draw(tensors(max_size=6))
    limits = data.draw(one_per_size(operand.shape, lambda n: st.integers(0, n)))
    starts = data.draw(one_per_size(limits, lambda n: st.integers(0, n)))
    strides = data.draw(one_per_size(operand.shape, lambda n: st.integers(1, 4)))
    actual = evaluate("slice", operand, start_indices=starts, limit_indices=limits, strides=strides)
    check(actual, oracle.slice(operand, starts, limits, strides), operand, starts, limits, strides)


@MANY
@given(data=st.data())
def test_dynamic_slice(data: st.DataObject) -> None:
    operand = data.draw(tensors())
    sizes = data.draw(one_per_size(operand.shape, lambda n: st.integers(0, n)))
    starts = start_indices(data, operand.ndim)
    actual = evaluate("dynamic_slice", operand, *starts, slice_sizes=sizes)
    check(actual, oracle.dynamic_slice(operand, starts, sizes), operand, starts, sizes)


@MANY
@given(data=st.data())
def test_dynamic_update_slice(data: st.DataObject) -> None:
    operand = data.draw(tensors())
    before = operand.tobytes()
    update = data.draw(arrays(operand.dtype, data.draw(one_per_size(operand.shape, lambda n: st.integers(0, n)))))
    starts = start_indices(data, operand.ndim)
    actual = evaluate("dynamic_update_slice", operand, update, *starts)
    check(actual, oracle.dynamic_update_slice(operand, update, starts), operand, update, starts)
    assert operand.tobytes() == before


def start_indices(data: st.DataObject, rank: int) -> tuple[Array, ...]:
    dtype = data.draw(dtypes(INTEGERS))
    return tuple(data.draw(st.one_of(arrays(dtype, (), moderate=True), arrays(dtype, ()))) for _ in range(rank))


@MANY
@given(data=st.data())
def test_concatenate(data: st.DataObject) -> None:
    first = data.draw(tensors(min_rank=1))
    dimension = data.draw(st.integers(0, first.ndim - 1))
    inputs = [first]
    for size in data.draw(st.lists(st.integers(0, 3), max_size=3)):
        shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
        inputs.append(data.draw(arrays(first.dtype, shape)))
    actual = evaluate("concatenate", *inputs, dimension=dimension)
    check(actual, oracle.concatenate(tuple(inputs), dimension), inputs, dimension)


@examples(everyday=50, all=150)
@given(data=st.data())
def test_pad(data: st.DataObject) -> None:
    operand = data.draw(tensors())
    padding_value = data.draw(arrays(operand.dtype, ()))
    interior = data.draw(one_per_size(operand.shape, lambda n: st.integers(0, 2)))
    spread = [n + max(n - 1, 0) * between for n, between in zip(operand.shape, interior)]
    low = data.draw(one_per_size(tuple(spread), lambda n: st.integers(-n, 3)))
    left = tuple(n + edge for n, edge in zip(spread, low))
    high = data.draw(one_per_size(left, lambda n: st.integers(-n, 3)))
    actual = evaluate(
        "pad", operand, padding_value, edge_padding_low=low, edge_padding_high=high, interior_padding=interior
    )
    check(actual, oracle.pad(operand, padding_value, low, high, interior), operand, padding_value, low, high, interior)


@pytest.mark.parametrize("dtype", [np.dtype(np.int8), np.dtype(np.float32), np.dtype(np.complex128)], ids=str)
def test_large_transposed_operands(dtype: np.dtype[Any]) -> None:
    """Operands whose elements are far apart in memory are copied tile by tile."""
    operand = np.arange(128 * 1024).reshape(128, 1, 1024).astype(dtype)
    transposed = evaluate("transpose", operand, permutation=(2, 1, 0))
    actual = evaluate("reshape", transposed, result=type_of_result((64, 2048), dtype))
    check(actual, np.array(operand.tolist(), dtype).transpose(2, 1, 0).reshape(64, 2048), dtype)
