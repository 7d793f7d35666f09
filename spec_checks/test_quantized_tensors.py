"""Compare ops on quantized tensors with their oracles: linear algebra, normalization, convolution, data movement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import evaluate
from spec_checks.test_quantization import EXACT, FEW, check, element_type, integers, numbers, quantized, stored
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops.linear_algebra import Transpose
from stablehlo_ref.semantics import data_movement, gather_scatter, linear_algebra, normalization, quantization
from stablehlo_ref.semantics.convolution import convolution
from stablehlo_ref.semantics.quantization import Quantized, dequantize, quantize

Array = np.ndarray[Any, np.dtype[Any]]

I8, F32 = np.dtype(np.int8), np.dtype(np.float32)
FINE = Quantized(I8, F32, (0.25,), (-7,), -128, 127)


def type_of(x: Array, q: Quantized) -> Any:
    return tensor_type(x.shape, element_type(q))


def is_close(actual: Array, floats: Array, q: Quantized, *inputs: Any) -> None:
    """Expressed results may have a small error, so stored results may differ by one."""
    difference = np.absolute(actual.astype(int) - quantize(floats.astype(F32), q).astype(int))
    assert (difference <= 1).all(), f"{inputs!r}\n  got {actual!r}\n  for {floats!r}"


# --- linear algebra, normalization ----------------------------------------------------------------------------------


@FEW
@given(data=st.data())
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower: bool, data: st.DataObject) -> None:
    """Diagonally dominant matrices are positive definite."""
    a = data.draw(stored(EXACT, (2, 3, 3))) // 16
    a = (a + a.swapaxes(-1, -2) + 40 * np.eye(3, dtype=np.int8)).astype(np.int8)
    actual = evaluate("cholesky", a, types=[type_of(a, EXACT)], result=type_of(a, FINE), lower=lower)
    is_close(actual, linear_algebra.cholesky(dequantize(a, EXACT), lower), FINE, a)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("left_side", [False, True])
def test_triangular_solve(left_side: bool, data: st.DataObject) -> None:
    b = data.draw(stored(FINE, (3, 3)))
    a = (data.draw(stored(EXACT, (3, 3))) // 32 + 40 * np.eye(3, dtype=np.int8)).astype(np.int8)
    form = {"left_side": left_side, "lower": data.draw(st.booleans()), "unit_diagonal": False}
    transpose = data.draw(st.sampled_from(Transpose))
    types = [type_of(a, EXACT), type_of(b, FINE)]
    actual = evaluate("triangular_solve", a, b, types=types, result=types[1], **form, transpose_a=transpose)
    floats = dequantize(a, EXACT), dequantize(b, FINE)
    is_close(actual, linear_algebra.triangular_solve(*floats, *form.values(), transpose.name), FINE, a, b)


VECTORS = {"inference": 4, "training": 2, "grad": 3}  # number of operands with one element per feature


@FEW
@given(data=st.data())
@pytest.mark.parametrize("op", VECTORS)
def test_batch_norm(op: str, data: st.DataObject) -> None:
    shapes = [(3, 2), *[(2,)] * VECTORS[op], *[(3, 2)] * (op == "grad")]
    operands = [data.draw(numbers(shape)) for shape in shapes]
    if op != "training":
        operands[4 if op == "inference" else 3][:] = data.draw(st.integers(0, 9))  # the variance
    types, kinds = [type_of(x, EXACT) for x in operands], [FINE] * (1 if op == "inference" else 3)
    results = [tensor_type(s, element_type(FINE)) for s in ((3, 2), (2,), (2,))][: len(kinds)]
    actual = evaluate(f"batch_norm_{op}", *operands, types=types, result=results, epsilon=1.0, feature_index=1)
    expected = getattr(normalization, f"batch_norm_{op}")(*[dequantize(x, EXACT) for x in operands], 1.0, 1)
    if op == "inference":
        actual, expected = (actual,), (expected,)
    for result, floats in zip(actual, expected):
        is_close(result, floats, FINE, *operands)


# --- convolution ----------------------------------------------------------------------------------------------------

CONVOLUTION = {
    "window_strides": (1, 2), "padding": ((1, 0), (0, 1)), "lhs_dilation": (1, 2), "rhs_dilation": (2, 1),
    "window_reversal": (False, True), "input_batch_dimension": 0, "input_feature_dimension": 3,
    "input_spatial_dimensions": (1, 2), "kernel_input_feature_dimension": 2, "kernel_output_feature_dimension": 3,
    "kernel_spatial_dimensions": (0, 1), "output_batch_dimension": 0, "output_feature_dimension": 3,
    "output_spatial_dimensions": (1, 2), "feature_group_count": 1, "batch_group_count": 1,
}  # fmt: skip
KERNEL = Quantized(I8, F32, (0.25, 0.5), (0, 0), -128, 127, dimension=3)
SUMS = Quantized(np.dtype(np.int32), F32, (0.125, 0.25), (3, -5), -(2**31), 2**31 - 1, dimension=3)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("is_hybrid", [False, True])
def test_convolution(is_hybrid: bool, data: st.DataObject) -> None:
    """Padding is the expressed value 0, whatever the zero point is."""
    q = Quantized(I8, F32, (0.5,), (data.draw(integers(-9, 9)),), -128, 127)
    lhs, rhs, shape = data.draw(numbers((1, 3, 2, 2))), data.draw(numbers((2, 2, 2, 2))), (1, 2, 2, 2)
    floats = convolution(dequantize(lhs, q), dequantize(rhs, KERNEL), **CONVOLUTION, result=(shape, F32))
    if is_hybrid:
        types, result = [tensor_type(lhs.shape, element_type_of(F32)), type_of(rhs, KERNEL)], element_type_of(F32)
        lhs, expected = dequantize(lhs, q), floats
    else:
        types, result = [type_of(lhs, q), type_of(rhs, KERNEL)], element_type(SUMS)
        expected = quantize(floats, SUMS)
    actual = evaluate("convolution", lhs, rhs, types=types, result=tensor_type(shape, result), **CONVOLUTION)
    check(actual, expected, lhs, rhs, q)


# --- ops that only move elements take them as they are stored -------------------------------------------------------

NARROW = Quantized(I8, F32, (0.5,), (3,), -4, 4)  # elements out of bounds show that nothing is requantized
X = np.array([[-128, 1, 5], [127, -5, 0]], np.int8)
SCALAR, INDEX = np.array(100, np.int8), np.array(1, np.int32)
INDICES = np.array([[1], [0], [7]], np.int32)
GATHER: Any = {
    "offset_dims": (1,), "collapsed_slice_dims": (0,), "operand_batching_dims": (),
    "start_indices_batching_dims": (), "start_index_map": (0,), "index_vector_dim": 1, "slice_sizes": (1, 3),
}  # fmt: skip
PADDING = {"edge_padding_low": (1, 0), "edge_padding_high": (0, -1), "interior_padding": (1, 0)}
MOVES: dict[str, tuple[list[Array], dict[str, Any], Any]] = {
    "transpose": ([X], {"permutation": (1, 0)}, data_movement.transpose(X, (1, 0))),
    "reverse": ([X], {"dimensions": (1,)}, data_movement.reverse(X, (1,))),
    "slice": (
        [X], {"start_indices": (0, 1), "limit_indices": (2, 3), "strides": (1, 1)},
        data_movement.slice(X, (0, 1), (2, 3), (1, 1)),
    ),
    "reshape": ([X], {}, data_movement.reshape(X, result=((3, 2), I8))),
    "broadcast_in_dim": (
        [X], {"broadcast_dimensions": (2, 0)}, data_movement.broadcast_in_dim(X, (2, 0), result=((3, 2, 2), I8)),
    ),
    "concatenate": ([X, X], {"dimension": 1}, data_movement.concatenate((X, X), 1)),
    "pad": ([X, SCALAR], PADDING, data_movement.pad(X, SCALAR, *PADDING.values())),
    "dynamic_slice": ([X, INDEX, INDEX], {"slice_sizes": (1, 2)}, X[1:, 1:]),
    "dynamic_update_slice": (
        [X, X[:1, :1], INDEX, INDEX], {}, data_movement.dynamic_update_slice(X, X[:1, :1], (INDEX, INDEX)),
    ),
    "gather": ([X, INDICES], GATHER, gather_scatter.gather(X, INDICES, **GATHER)),
    "bitcast_convert": ([X], {}, X),
    "optimization_barrier": ([X], {}, X),
}  # fmt: skip


@pytest.mark.parametrize("op", MOVES)
def test_data_movement(op: str) -> None:
    operands, attributes, expected = MOVES[op]
    types = [type_of(x, NARROW) if x.dtype == I8 else tensor_type(x.shape, element_type_of(x.dtype)) for x in operands]
    actual = evaluate(op, *operands, types=types, result=type_of(expected, NARROW), **attributes)
    check(actual, expected, *operands)


def test_tuples_and_futures() -> None:
    """Tuples and futures contain elements as they are stored."""
    t = type_of(X, NARROW)
    program = sr.parse(f"""func.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = stablehlo.tuple %x, %x : tuple<{t}, {t}>
      %1 = stablehlo.get_tuple_element %0[1] : (tuple<{t}, {t}>) -> {t}
      %2 = "stablehlo.async_start"(%x) ({{
      ^bb0(%a: {t}):
        %4 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}>
          : ({t}) -> {t}
        stablehlo.return %4 : {t}
      }}) : ({t}) -> !stablehlo.future<{t}>
      %3 = "stablehlo.async_done"(%2) : (!stablehlo.future<{t}>) -> {t}
      return %1, %3 : {t}, {t}
    }}""")
    for result in program.run(X):
        check(result, X)


AXIS = Quantized(I8, F32, (0.5, 0.25, 2.0), (3, 0, -1), -4, 4, dimension=1)


@pytest.mark.parametrize(
    ("op", "attributes", "dimension", "expected"),
    [
        ("transpose", {"permutation": (1, 0)}, 0, X.T),
        ("reshape", {}, 2, X.reshape(2, 1, 3)),
        ("broadcast_in_dim", {"broadcast_dimensions": (2, 0)}, 0, np.broadcast_to(X.T[:, np.newaxis], (3, 4, 2))),
    ],
)
def test_data_movement_of_the_quantization_dimension(op: str, attributes: Any, dimension: int, expected: Array) -> None:
    """Expressed values move with the elements."""
    moved = Quantized(**(vars(AXIS) | {"dimension": dimension}))
    actual = evaluate(op, X, types=[type_of(X, AXIS)], result=type_of(expected, moved), **attributes)
    check(actual, expected, X)
    in_floats = data_movement.transpose(dequantize(X, AXIS), (1, 0))
    assert op != "transpose" or np.array_equal(dequantize(actual, moved), in_floats)


def of_any_size(sizes: Sequence[int], q: Quantized, known: int | None = None) -> str:
    """Return a tensor type whose sizes are unknown except for that of one dimension."""
    text = "x".join(str(n) if d == known else "?" for d, n in enumerate(sizes))
    return f"tensor<{text}x{element_type(q)}>"


def test_dynamic_ops() -> None:
    """Ops are also planned at run time for quantized types."""
    x, rows = of_any_size((2, 3), AXIS, 1), Quantized(**(vars(AXIS) | {"dimension": 2}))
    longer, all_alike = of_any_size((4, 2, 3), rows, 2), of_any_size((2, 3), EXACT)
    inputs, outputs = f"%x: {x}, %y: {all_alike}, %shape: tensor<3xi32>", f"{longer}, {all_alike}, {x}"
    program = sr.parse(f"""func.func @main({inputs}) -> ({outputs}) {{
      %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1, 2] : ({x}, tensor<3xi32>) -> {longer}
      %1 = stablehlo.tanh %y : {all_alike}
      %2 = stablehlo.add %x, %x : {x}
      return %0, %1, %2 : {outputs}
    }}""")
    broadcast, tanh, doubled = program.run(X, X, np.array([4, 2, 3], np.int32))
    check(broadcast, np.broadcast_to(X, (4, 2, 3)), X)
    check(tanh, quantize(np.tanh(dequantize(X, EXACT)), EXACT), X)
    check(doubled, quantization.quantize(2 * dequantize(X, AXIS), AXIS), X)


# --- iota, constants, inputs and results ----------------------------------------------------------------------------


@FEW
@given(data=st.data())
def test_iota(data: st.DataObject) -> None:
    q = data.draw(quantized((), per_axis=False))
    numbers = data_movement.iota(1, result=((2, 5), q.expressed_type))
    actual = evaluate("iota", result=tensor_type((2, 5), element_type(q)), iota_dimension=1)
    check(actual, quantize(numbers, q), q)


@pytest.mark.parametrize(
    "value",
    [
        "dense<[1, 2, -3]> : tensor<3xi8>",
        "dense<[1, 2, -3]> : tensor<3x{q}>",
        'dense<"0x0102FD"> : tensor<3xi8>',
        'dense<"0x0102FD"> : tensor<3x{q}>',
    ],
)
def test_constants_inputs_and_results_are_storage_integers(value: str) -> None:
    q = element_type(EXACT)
    program = sr.parse(f"""func.func @main(%x: tensor<3x{q}>) -> tensor<3x{q}> {{
      %0 = stablehlo.constant() <{{value = {value.format(q=q)}}}> : () -> tensor<3x{q}>
      %1 = stablehlo.add %x, %0 : tensor<3x{q}>
      return %1 : tensor<3x{q}>
    }}""")
    (result,) = program.run(np.array([10, 126, 127], np.int8))
    assert result.dtype == np.int8 and result.tolist() == [11, 127, 124]


def test_control_flow_carries_quantized_values() -> None:
    t = f"tensor<2x{element_type(EXACT)}>"
    program = sr.parse(f"""func.func @main(%x: {t}, %case: tensor<i32>) -> ({t}, {t}) {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {t}
        cond {{
          %three = stablehlo.constant dense<3> : tensor<i32>
          %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %1 = stablehlo.add %i, %one : tensor<i32>
          %2 = stablehlo.add %y, %y : {t}
          stablehlo.return %1, %2 : tensor<i32>, {t}
        }}
      %3 = "stablehlo.case"(%case) ({{
        stablehlo.return %x : {t}
      }}, {{
        %4 = stablehlo.negate %x : {t}
        stablehlo.return %4 : {t}
      }}) : (tensor<i32>) -> {t}
      return %0#1, %3 : {t}, {t}
    }}""")
    x = np.array([5, 20], np.int8)
    assert [r.tolist() for r in program.run(x, np.int32(1))] == [[40, 127], [-5, -20]]
    assert program.run(x, np.int32(0))[1].tolist() == [5, 20]
