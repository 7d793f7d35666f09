"""Compare ops with regions of quantized scalars with their oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate, region
from spec_checks.test_quantization import EXACT, FEW, check, element_type, numbers
from stablehlo_ref.execute.regions import PlannedRegion
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import elementwise, gather_scatter, quantization, reduction
from stablehlo_ref.semantics.dot_general import dot_general
from stablehlo_ref.semantics.quantization import Quantized, dequantize, quantize
from stablehlo_ref.semantics.sort import sort

Array = np.ndarray[Any, np.dtype[Any]]

# --- reduce, scatter, map ---------------------------------------------------------------------------------------------

WIDE = Quantized(np.dtype(np.int32), np.dtype(np.float32), (0.125,), (5,), -(2**31), 2**31 - 1)
INDICES = {"inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1}


def computation_of(op: str, q: Quantized) -> Any:
    t = f"tensor<{element_type(q)}>"
    return region(f"(%a: {t}, %b: {t}) -> {t} {{ %0 = stablehlo.{op} %a, %b : {t} func.return %0 : {t} }}")


def function_of(op: str, q: Quantized) -> Any:
    function = getattr(elementwise, op)
    return lambda *xs: (quantization.dequantize_op_quantize(function, [(x, q) for x in xs], q),)


def promoted(x: Array, q: Quantized) -> Array:
    """Convert as the spec's `to_destination_type` does."""
    return x if q is EXACT else quantization.uniform_quantize(x, q, EXACT)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("q", [EXACT, WIDE], ids=["same type", "promoted"])
@pytest.mark.parametrize("op", ["add", "maximum", "subtract"])
def test_reduce(op: str, q: Quantized, data: st.DataObject) -> None:
    x, init = data.draw(numbers((2, 3))), data.draw(numbers(()))
    types = [tensor_type(s, element_type(EXACT)) for s in ((2, 3), ())]
    actual = evaluate("reduce", x, init, types=types, bodies=[computation_of(op, q)], dimensions=(1,))
    inputs = (promoted(x, q),), (promoted(init, q),)
    (expected,) = reduction.reduce(*inputs, (1,), function_of(op, q), results=(((2,), q.storage_type),))
    check(actual, expected, x, init)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("q", [EXACT, WIDE], ids=["same type", "promoted"])
def test_scatter(q: Quantized, data: st.DataObject) -> None:
    x, updates = data.draw(numbers((3,))), data.draw(numbers((4,)))
    indices = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=4, max_size=4))).reshape(4, 1)
    types = [tensor_type((3,), element_type(EXACT)), tensor_type((4, 1), element_type_of(indices.dtype))]
    types.append(tensor_type((4,), element_type(EXACT)))
    actual = evaluate("scatter", x, indices, updates, types=types, bodies=[computation_of("add", q)], **INDICES)
    (expected,) = gather_scatter.scatter(
        (promoted(x, q),), indices, (promoted(updates, q),), (), (0,), (), (), (0,), 1,
        update_computation=function_of("add", q),
    )  # fmt: skip
    check(actual, expected, x, indices, updates)


@FEW
@given(data=st.data())
def test_map(data: st.DataObject) -> None:
    x, y = data.draw(numbers((3,))), data.draw(numbers((3,)))
    type = tensor_type((3,), element_type(EXACT))
    bodies = [computation_of("subtract", EXACT)]
    actual = evaluate("map", x, y, types=[type, type], bodies=bodies, result=type, dimensions=(0,))
    check(actual, function_of("subtract", EXACT)(x, y)[0], x, y)


# --- reduce_window, select_and_scatter, sort ------------------------------------------------------------------------


@FEW
@given(data=st.data())
@pytest.mark.parametrize("q", [EXACT, WIDE], ids=["same type", "promoted"])
@pytest.mark.parametrize("op", ["add", "maximum", "minimum"])
def test_reduce_window(op: str, q: Quantized, data: st.DataObject) -> None:
    x, init = data.draw(numbers((4,))), data.draw(numbers(()))
    types = [tensor_type(s, element_type(EXACT)) for s in ((4,), ())]
    windows = {"window_dimensions": (2,), "window_strides": (1,), "base_dilations": (2,), "window_dilations": (1,)}
    padding = ((1, 0),)
    actual = evaluate("reduce_window", x, init, types=types, bodies=[computation_of(op, q)], **windows, padding=padding)
    inputs = (promoted(x, q),), (promoted(init, q),)
    result = (((7,), q.storage_type),)
    (expected,) = reduction.reduce_window(*inputs, *windows.values(), padding, function_of(op, q), results=result)
    check(actual, expected, x, init)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("q", [EXACT, WIDE], ids=["same type", "promoted"])
def test_select_and_scatter(q: Quantized, data: st.DataObject) -> None:
    x, source, init = (data.draw(numbers(shape)) for shape in ((4,), (3,), ()))
    types = [tensor_type(a.shape, element_type(EXACT)) for a in (x, source, init)]
    attributes = {"window_dimensions": (2,), "window_strides": (1,), "padding": ((0, 0),)}
    bodies = [comparator("GE", EXACT), computation_of("add", q)]
    actual = evaluate("select_and_scatter", x, source, init, types=types, bodies=bodies, **attributes)
    expected = reduction.select_and_scatter(
        x, promoted(source, q), promoted(init, q), *attributes.values(), compared("GE", EXACT), function_of("add", q),
        result=((4,), q.storage_type),
    )  # fmt: skip
    check(actual, expected, x, source, init)


def comparator(direction: str, q: Quantized, others: str = "") -> Any:
    t = f"tensor<{element_type(q)}>"
    return region(f"""(%a: {t}, %b: {t}{others}) -> tensor<i1> {{
      %0 = stablehlo.compare {direction}, %a, %b : ({t}, {t}) -> tensor<i1>
      func.return %0 : tensor<i1>
    }}""")


def compared(direction: str, q: Quantized) -> Any:
    return lambda a, b, *_: (elementwise.compare(dequantize(a, q), dequantize(b, q), direction),)


# Most 16-bit integers represent the same bf16 number as their neighbours, which is stored as one of these integers.
COARSE = Quantized(np.dtype(np.int16), np.dtype("bfloat16"), (1.0,), (0,), -(1 << 15), (1 << 15) - 1)
CLOSE_VALUES = st.lists(st.integers(1020, 1040), min_size=6, max_size=6).map(lambda values: np.array(values, np.int16))


@FEW
@given(x=CLOSE_VALUES)
@pytest.mark.parametrize("direction", ["LT", "GT", "LE"])
def test_sort_by_expressed_values(direction: str, x: Array) -> None:
    position = np.arange(6, dtype=np.int32)
    types = [tensor_type((6,), e) for e in (element_type(COARSE), element_type_of(position.dtype))]
    bodies = [comparator(direction, COARSE, ", %c: tensor<i32>, %d: tensor<i32>")]
    actual = evaluate("sort", x, position, types=types, bodies=bodies, dimension=0)
    if direction == "LE":  # not a strict order, but one of distinct numbers
        assert (np.diff(quantization.dequantize(actual[0], COARSE).astype(float)) >= 0).all()
        return
    for a, b in zip(actual, sort((x, position), 0, comparator=compared(direction, COARSE))):
        check(a, b, x)


@FEW
@given(x=CLOSE_VALUES)
def test_argmax(x: Array) -> None:
    """A region that looks like argmax requantizes the maximum, and takes the first of equal elements."""
    t, types = f"tensor<{element_type(COARSE)}>", [tensor_type(s, element_type(COARSE)) for s in ((6,), ())]
    body = region(f"""(%a: {t}, %i: tensor<i32>, %b: {t}, %j: tensor<i32>) -> ({t}, tensor<i32>) {{
      %0 = stablehlo.compare GE, %a, %b : ({t}, {t}) -> tensor<i1>
      %1 = stablehlo.select %0, %a, %b : tensor<i1>, {t}
      %2 = stablehlo.compare EQ, %a, %b : ({t}, {t}) -> tensor<i1>
      %3 = stablehlo.minimum %i, %j : tensor<i32>
      %4 = stablehlo.select %0, %i, %j : tensor<i1>, tensor<i32>
      %5 = stablehlo.select %2, %3, %4 : tensor<i1>, tensor<i32>
      func.return %1, %5 : {t}, tensor<i32>
    }}""")
    integer = element_type_of(np.dtype("i4"))
    position, last = np.arange(6, dtype=np.int32), np.int32(6)
    arrays = (x, position, np.int16(-(1 << 15)), last)
    actual = evaluate(
        "reduce", *map(np.asarray, arrays), bodies=[body], dimensions=(0,),
        types=[types[0], tensor_type((6,), integer), types[1], tensor_type((), integer)],
    )  # fmt: skip
    meant = dequantize(x, COARSE)
    greatest = meant.max()
    check(actual[0], quantize(np.asarray(greatest), COARSE), x)
    check(actual[1], np.asarray(np.flatnonzero(meant == greatest)[0].astype(np.int32)), x)


# --- regions of scalars that compute with larger tensors --------------------------------------------------------------

PER_AXIS = Quantized(np.dtype(np.int8), np.dtype(np.float32), (0.25, 0.5), (3, -1), -128, 127, dimension=1)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("in_lanes", [False, True])
def test_map_with_tensors_in_its_computation(in_lanes: bool, data: st.DataObject) -> None:
    x, q, row = data.draw(numbers((5,))), element_type(EXACT), element_type(PER_AXIS)
    body = region(f"""(%a: tensor<{q}>) -> tensor<{q}> {{
      %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<{q}>) -> tensor<1x2x{q}>
      %1 = stablehlo.uniform_quantize %0 : (tensor<1x2x{q}>) -> tensor<1x2x{row}>
      %2 = stablehlo.add %1, %1 : tensor<1x2x{row}>
      %3 = stablehlo.uniform_quantize %2 : (tensor<1x2x{row}>) -> tensor<1x2x{q}>
      %4 = stablehlo.constant dense<[[4], [3]]> : tensor<2x1x{q}>
      %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0]
        : (tensor<1x2x{q}>, tensor<2x1x{q}>) -> tensor<1x1x{q}>
      %6 = stablehlo.reshape %5 : (tensor<1x1x{q}>) -> tensor<{q}>
      func.return %6 : tensor<{q}>
    }}""")
    type = tensor_type((5,), q)
    with pytest.MonkeyPatch.context() as patch:
        if not in_lanes:
            patch.setattr(PlannedRegion, "_batched", lambda self, count: None)
        actual = evaluate("map", x, types=[type], bodies=[body], result=type, dimensions=(0,))
    check(actual, np.array([of_larger_tensors(element) for element in x]), x)


def of_larger_tensors(a: Any) -> Any:
    row = quantization.uniform_quantize(np.full((1, 2), a), PER_AXIS, EXACT)
    doubled = quantization.dequantize_op_quantize(elementwise.add, [(row, PER_AXIS)] * 2, PER_AXIS)
    lhs, rhs = dequantize(doubled, PER_AXIS), dequantize(np.array([[4], [3]], np.int8), EXACT)
    lhs = dequantize(quantize(lhs, EXACT), EXACT)
    product = dot_general(lhs, rhs, (), (), (1,), (0,), result=((1, 1), np.dtype(np.float32)))
    return quantize(product, EXACT)[0, 0]
