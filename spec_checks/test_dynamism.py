"""Compare ops on dynamic shapes with their oracles: types with unknown dimensions for any arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate, type_of
from spec_checks.examples import examples
from spec_checks.strategies import ALL, NUMBERS, arrays, dtypes, same, shapes
from spec_checks.test_convolution import convolutions
from spec_checks.test_gather_scatter import dimension_numbers, indices
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import dynamism as oracle
from stablehlo_ref.semantics import elementwise

Array = np.ndarray[Any, np.dtype[Any]]
Dims = tuple[int, ...]

MANY = examples(everyday=15, all=50)
INDEX_TYPES = st.sampled_from([np.int32, np.int64, np.uint8])


@st.composite
def dynamic_type(draw: st.DrawFn, shape: Dims, dtype: np.dtype[Any]) -> Any:
    """Draw a tensor type with the given shape, some or all of its sizes unknown."""
    sizes = tuple(None if draw(st.booleans()) else n for n in shape)
    return tensor_type(sizes, element_type_of(np.dtype(dtype)))


def numbers(data: st.DataObject, values: Any, signed: bool = False) -> Array:
    """Draw an operand of any integer type with the values of an attribute."""
    return np.array(values, np.int64 if signed else data.draw(INDEX_TYPES))


def check(data: st.DataObject, op: str, operands: list[Array], expected: Array, **attributes: Any) -> None:
    """Check the result of an op on dynamic types, with a dynamic and with a static result type."""
    types = [data.draw(dynamic_type(x.shape, x.dtype)) for x in operands]
    result = data.draw(dynamic_type(expected.shape, expected.dtype))
    actual = evaluate(op, *operands, types=types, result=result, **attributes)
    assert same(actual, expected), f"{operands} {attributes}\n  actual    {actual!r}\n  expected  {expected!r}"


def tensors(data: st.DataObject, **limits: int) -> Array:
    return data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes(**limits))))


@MANY
@given(data=st.data())
def test_dynamic_iota(data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(min_rank=1, max_size=9)), data.draw(dtypes(NUMBERS))
    output_shape, dimension = numbers(data, shape), data.draw(st.integers(0, len(shape) - 1))
    expected = oracle.dynamic_iota(output_shape, dimension, element_type=dtype)
    check(data, "dynamic_iota", [output_shape], expected, iota_dimension=dimension)


@MANY
@given(data=st.data())
def test_dynamic_reshape(data: st.DataObject) -> None:
    operand = tensors(data)
    output_shape = numbers(data, data.draw(st.permutations((*operand.shape, 1))))
    check(data, "dynamic_reshape", [operand, output_shape], oracle.dynamic_reshape(operand, output_shape))


@MANY
@given(data=st.data())
def test_dynamic_broadcast_in_dim(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    dims = tuple(sorted(data.draw(st.sets(st.sampled_from(range(len(shape))))))) if shape else ()
    sizes = tuple(1 if data.draw(st.booleans()) else shape[d] for d in dims)
    operand = data.draw(arrays(data.draw(dtypes(ALL)), sizes))
    known = {i for i in range(len(dims)) if data.draw(st.booleans())}
    attributes = {
        "broadcast_dimensions": dims,
        "known_expanding_dimensions": tuple(i for i in known if sizes[i] == 1),
        "known_nonexpanding_dimensions": tuple(i for i in known if sizes[i] != 1),
    }
    output = numbers(data, shape)
    expected = oracle.dynamic_broadcast_in_dim(operand, output, **attributes)
    check(data, "dynamic_broadcast_in_dim", [operand, output], expected, **attributes)


@MANY
@given(data=st.data())
def test_dynamic_pad(data: st.DataObject) -> None:
    operand = tensors(data)
    value = data.draw(arrays(operand.dtype, ()))
    low, high = ([data.draw(st.integers(-1, 2)) for _ in operand.shape] for _ in range(2))
    low = [max(a, -b - n) for a, b, n in zip(low, high, operand.shape)]
    interior = numbers(data, [data.draw(st.integers(0, 2)) for _ in operand.shape], signed=True)
    edges = [numbers(data, values, signed=True) for values in (low, high)]
    expected = oracle.dynamic_pad(operand, value, *edges, interior)
    check(data, "dynamic_pad", [operand, value, *edges, interior], expected)


@MANY
@given(data=st.data())
def test_real_dynamic_slice(data: st.DataObject) -> None:
    operand = tensors(data)
    limits = [data.draw(st.integers(0, n)) for n in operand.shape]
    starts = [data.draw(st.integers(0, n)) for n in limits]
    bounds = [numbers(data, b, signed=True) for b in (starts, limits, [data.draw(st.integers(1, 3)) for _ in limits])]
    check(data, "real_dynamic_slice", [operand, *bounds], oracle.real_dynamic_slice(operand, *bounds))


@MANY
@given(data=st.data())
def test_dynamic_gather(data: st.DataObject) -> None:
    attributes = data.draw(dimension_numbers())
    for batching in ("operand_batching_dims", "start_indices_batching_dims"):
        if attributes[batching]:
            return
    operand = data.draw(arrays(data.draw(dtypes(ALL)), attributes.pop("sizes")))
    start_indices = data.draw(indices(attributes.pop("indices_shape")))
    slice_sizes = numbers(data, attributes.pop("slice_sizes"), signed=True)
    expected = oracle.dynamic_gather(operand, start_indices, slice_sizes, **attributes)
    check(data, "dynamic_gather", [operand, start_indices, slice_sizes], expected, **attributes)


@MANY
@given(data=st.data())
def test_dynamic_conv(data: st.DataObject) -> None:
    lhs_shape, rhs_shape, attributes, shape = data.draw(convolutions())
    dtype = np.dtype(np.int32)  # for exact sums
    lhs, rhs = (data.draw(arrays(dtype, s)) for s in (lhs_shape, rhs_shape))
    padding = numbers(data, attributes.pop("padding"), signed=True).reshape(-1, 2)
    expected = oracle.dynamic_conv(lhs, rhs, padding, result=(shape, dtype), **attributes)
    check(data, "dynamic_conv", [lhs, rhs, padding], expected, **attributes)


@MANY
@given(data=st.data())
def test_get_and_set_dimension_size(data: st.DataObject) -> None:
    operand = tensors(data, min_rank=1)
    dimension = data.draw(st.integers(0, operand.ndim - 1))
    check(data, "get_dimension_size", [operand], oracle.get_dimension_size(operand, dimension), dimension=dimension)
    size = np.array(data.draw(st.integers(0, operand.shape[dimension])), np.int32)
    expected = oracle.set_dimension_size(operand, size, dimension)
    check(data, "set_dimension_size", [operand, size], expected, dimension=dimension)


# --- other ops on unknown dimensions --------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_elementwise_ops_on_dynamic_shapes(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    lhs, rhs = (data.draw(arrays(np.dtype(np.int16), shape)) for _ in range(2))
    check(data, "add", [lhs, rhs], elementwise.add(lhs, rhs))


@MANY
@given(data=st.data())
def test_reports_shapes_that_differ_at_run_time(data: st.DataObject) -> None:
    """EvaluationError with both shapes, which the types left unknown."""
    one, other = data.draw(shapes(min_rank=1, max_rank=2)), data.draw(shapes(min_rank=1, max_rank=2))
    if one == other or len(one) != len(other):
        return
    lhs, rhs = np.zeros(one, np.float32), np.zeros(other, np.float32)
    unknown = tensor_type((None,) * lhs.ndim, element_type(type_of(lhs)))
    with pytest.raises(EvaluationError) as error:
        evaluate("add", lhs, rhs, types=[unknown, unknown], result=unknown)
    assert str(type_of(lhs)) in str(error.value) and str(type_of(rhs)) in str(error.value)
