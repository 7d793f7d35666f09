"""Compare elementwise ops with their oracles: exact ops bitwise, elementary functions in ULP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate, region, type_of
from spec_checks.strategies import (
    ALL,
    BOOLEANS,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    NARROW_FLOATS,
    NUMBERS,
    SIGNED,
    WIDE_FLOATS,
    arrays,
    dtypes,
    same,
    shapes,
    special_values,
)
from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.semantics import elementwise as oracle
from stablehlo_ref.semantics.notation import complex_element_type, num_bits

Array = np.ndarray[Any, np.dtype[Any]]

EXACT_UNARY = {
    "abs": SIGNED + FLOATS,
    "ceil": FLOATS,
    "count_leading_zeros": INTEGERS,
    "floor": FLOATS,
    "imag": FLOATS + COMPLEXES,
    "is_finite": FLOATS,
    "negate": NUMBERS,
    "not": BOOLEANS + INTEGERS,
    "popcnt": INTEGERS,
    "real": FLOATS + COMPLEXES,
    "round_nearest_afz": FLOATS,
    "round_nearest_even": FLOATS,
    "sign": SIGNED + FLOATS,
    "sqrt": FLOATS,
}
EXACT_BINARY = {
    "add": ALL,
    "and": BOOLEANS + INTEGERS,
    "complex": WIDE_FLOATS,
    "divide": INTEGERS + FLOATS,
    "maximum": ALL,
    "minimum": ALL,
    "multiply": BOOLEANS + INTEGERS + FLOATS,
    "or": BOOLEANS + INTEGERS,
    "power": INTEGERS,
    "remainder": INTEGERS + FLOATS,
    "shift_left": INTEGERS,
    "shift_right_arithmetic": INTEGERS,
    "shift_right_logical": INTEGERS,
    "subtract": NUMBERS,
    "xor": BOOLEANS + INTEGERS,
}
ELEMENTARY = (
    "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine", "tan",
    "tanh",
)  # fmt: skip
COMPLEX_UNARY = ("abs", *ELEMENTARY, "sign", "sqrt")
COMPLEX_BINARY = ("atan2", "divide", "multiply", "power")

# f8E8M0FNU has no zero: all smaller numbers, and zero in f64, are rounded to its smallest number.
FLOATS_WITH_ZERO = tuple(dtype for dtype in FLOATS if dtype.name != "float8_e8m0fnu")

FAST = settings(max_examples=25, deadline=None)


def oracle_of(op: str) -> Any:
    return getattr(oracle, op, None) or getattr(oracle, f"{op}_")


def alike(actual: Array, expected: Array) -> bool:
    """Return whether arrays are equal, up to the sign of zeros that replace NaN in formats without NaN."""
    if actual.dtype.name.startswith(("float4_", "float6_")):
        return actual.dtype == expected.dtype and actual.shape == expected.shape and bool(np.all(actual == expected))
    return same(actual, expected)


def explain(op: str, actual: Array, expected: Array, *operands: Any) -> str:
    return f"{op}{operands!r}\n  actual    {actual!r}\n  expected  {expected!r}"


def ulps(actual: Array, expected: Array) -> int:
    """Return the largest distance of two arrays of floats in ULP; two NaNs have distance 0."""
    if actual.dtype in COMPLEXES:
        return max(ulps(actual.real.copy(), expected.real.copy()), ulps(actual.imag.copy(), expected.imag.copy()))
    return max((abs(_ordinal(x) - _ordinal(y)) for x, y in zip(actual.flat, expected.flat)), default=0)


def _ordinal(x: Any) -> int:
    if x != x:
        return 1 << 70
    bits = int(x.view(f"u{x.dtype.itemsize}")) if x.dtype.name != "float8_e8m0fnu" else int(x.view(np.uint8))
    sign = 1 << num_bits(x.dtype) - 1
    return sign - bits if bits & sign and x.dtype.name != "float8_e8m0fnu" else bits


# --- one and two operands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", EXACT_UNARY)
@FAST
@given(data=st.data())
def test_exact_unary_ops(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(EXACT_UNARY[op])), data.draw(shapes())))
    actual, expected = evaluate(op, operand), oracle_of(op)(operand)
    assert alike(actual, expected), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", EXACT_BINARY)
@FAST
@given(data=st.data())
def test_exact_binary_ops(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(EXACT_BINARY[op])), data.draw(shapes())
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate(op, lhs, rhs), oracle_of(op)(lhs, rhs)
    assert alike(actual, expected), explain(op, actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", ELEMENTARY)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_elementary_functions(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(FLOATS)), data.draw(shapes(max_rank=2, max_size=3))))
    actual, expected = evaluate(op, operand), oracle_of(op)(operand)
    limit = 0 if operand.dtype in NARROW_FLOATS else 1
    assert ulps(actual, expected) <= limit, explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", ["atan2", "power"])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_binary_elementary_functions(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(FLOATS_WITH_ZERO)), data.draw(shapes(max_rank=2, max_size=3))
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate(op, lhs, rhs), oracle_of(op)(lhs, rhs)
    limit = 0 if dtype in NARROW_FLOATS else 1
    assert ulps(actual, expected) <= limit, explain(op, actual, expected, lhs, rhs)


# --- complex numbers ------------------------------------------------------------------------------------------------


def complex_arrays(count: int) -> st.SearchStrategy[Array]:
    """Draw moderate numbers without zeros: the spec does not define the results of special values and zeros."""
    parts = st.floats(0.125, 4.0, width=32).flatmap(lambda x: st.sampled_from([x, -x]))
    numbers = st.lists(st.tuples(parts, parts), min_size=count, max_size=count)
    chosen = st.sampled_from(COMPLEXES)
    return st.tuples(numbers, chosen).map(lambda t: np.array([complex(*z) for z in t[0]], t[1]))


def close_parts(actual: Array, expected: Array, units: int = 4) -> bool:
    """Compare within ULPs of the larger part, since cancellation makes the smaller part inexact."""
    known = np.isfinite(expected)
    actual, expected = actual[known], expected[known]
    unit = np.spacing(np.maximum(np.abs(expected.real), np.abs(expected.imag)))
    error = np.maximum(np.abs(actual.real - expected.real), np.abs(actual.imag - expected.imag))
    return bool(np.all(error <= units * unit))


@pytest.mark.parametrize("op", COMPLEX_UNARY)
@settings(max_examples=6, deadline=None)
@given(operand=complex_arrays(3))
def test_complex_functions(op: str, operand: Array) -> None:
    actual, expected = evaluate(op, operand), oracle_of(op)(operand)
    assert actual.dtype == expected.dtype
    assert close_parts(actual, expected), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", COMPLEX_BINARY)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_binary_complex_functions(op: str, data: st.DataObject) -> None:
    lhs = data.draw(complex_arrays(3))
    rhs = data.draw(complex_arrays(3)).astype(lhs.dtype)
    actual, expected = evaluate(op, lhs, rhs), oracle_of(op)(lhs, rhs)
    assert close_parts(actual, expected, units=64), explain(op, actual, expected, lhs, rhs)


# --- comparison and selection ---------------------------------------------------------------------------------------


@FAST
@given(data=st.data())
def test_compare(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(ALL)), data.draw(shapes())
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    direction = data.draw(st.sampled_from(["EQ", "NE", "GE", "GT", "LE", "LT"]))
    kind = data.draw(st.sampled_from(["FLOAT", "TOTALORDER"])) if dtype in FLOATS else None
    actual, expected = compare(lhs, rhs, direction, kind), oracle.compare(lhs, rhs, direction, kind)
    assert alike(actual, expected), explain(f"compare {direction} {kind}", actual, expected, lhs, rhs)


def compare(lhs: Array, rhs: Array, direction: str, kind: str | None) -> Array:
    compare_type = ComparisonType[kind] if kind else None
    result: Array = evaluate(
        "compare", lhs, rhs, comparison_direction=ComparisonDirection[direction], compare_type=compare_type
    )
    return result


@FAST
@given(data=st.data())
def test_select(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(ALL)), data.draw(shapes())
    pred = data.draw(arrays(np.dtype(bool), data.draw(st.sampled_from([(), shape]))))
    on_true, on_false = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate("select", pred, on_true, on_false), oracle.select(pred, on_true, on_false)
    assert alike(actual, expected), explain("select", actual, expected, pred, on_true, on_false)


@FAST
@given(data=st.data())
def test_clamp(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(ALL)), data.draw(shapes())
    low, high = (data.draw(arrays(dtype, data.draw(st.sampled_from([(), shape])))) for _ in range(2))
    operand = data.draw(arrays(dtype, shape))
    actual, expected = evaluate("clamp", low, operand, high), oracle.clamp(low, operand, high)
    assert alike(actual, expected), explain("clamp", actual, expected, low, operand, high)


# --- conversion -----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_convert(data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes())))
    dtype = data.draw(dtypes(ALL))
    actual, expected = convert(operand, dtype), oracle.convert(operand, result=(operand.shape, dtype))
    assert alike(actual, expected), explain(f"convert to {dtype}", actual, expected, operand)


def convert(operand: Array, dtype: np.dtype[Any]) -> Array:
    result: Array = evaluate("convert", operand, result=tensor_type(operand.shape, element_type_of(dtype)))
    return result


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_bitcast_convert(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(tuple(t for t in ALL if num_bits(t) not in (1, 6))))
    others = tuple(t for t in ALL if num_bits(t) not in (1, 6) and (t in COMPLEXES) == (dtype in COMPLEXES))
    result_dtype = data.draw(dtypes(others))
    shape = data.draw(shapes(max_rank=2, max_size=3))
    bits, result_bits = num_bits(dtype), num_bits(result_dtype)
    operand_shape = (*shape, result_bits // bits) if result_bits > bits else shape
    result_shape = (*shape, bits // result_bits) if result_bits < bits else shape
    operand = data.draw(arrays(dtype, operand_shape))
    result = tensor_type(result_shape, element_type_of(result_dtype))
    actual = evaluate("bitcast_convert", operand, result=result)
    expected = oracle.bitcast_convert(operand, result=(result_shape, result_dtype))
    assert actual.tobytes() == expected.tobytes(), explain(f"to {result_dtype}", actual, expected, operand)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_reduce_precision(data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(FLOATS)), data.draw(shapes())))
    bits = {"exponent_bits": data.draw(st.integers(1, 12)), "mantissa_bits": data.draw(st.integers(0, 55))}
    actual, expected = evaluate("reduce_precision", operand, **bits), oracle.reduce_precision(operand, **bits)
    assert alike(actual, expected), explain(f"reduce_precision {bits}", actual, expected, operand)


# --- map ------------------------------------------------------------------------------------------------------------

BODIES = {
    "elementwise": "%1 = stablehlo.multiply %a, %b : tensor<i32> %2 = stablehlo.subtract %1, %a : tensor<i32>",
    "in lanes": """
      %1 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
      %3 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.subtract %3, %1 : tensor<1xi32>
      %2 = stablehlo.reshape %4 : (tensor<1xi32>) -> tensor<i32>""",
    "one by one": """
      %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %2 = "stablehlo.if"(%p) ({ stablehlo.return %a : tensor<i32> }, { stablehlo.return %b : tensor<i32> })
        : (tensor<i1>) -> tensor<i32>""",
    "a constant": "%2 = stablehlo.constant dense<7> : tensor<i32>",
}
MEANINGS = {
    "elementwise": lambda a, b: (a * b - a,),
    "in lanes": lambda a, b: (b - a,),
    "one by one": lambda a, b: (np.minimum(a, b),),
    "a constant": lambda a, b: (np.int32(7),),
}


@pytest.mark.parametrize("body", BODIES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_map(body: str, data: st.DataObject) -> None:
    shape = data.draw(shapes())
    a, b = (data.draw(arrays(np.dtype(np.int32), shape, moderate=True)) for _ in range(2))
    inputs = "%a: tensor<i32>, %b: tensor<i32>"
    computation = region(f"({inputs}) -> tensor<i32> {{ {BODIES[body]} return %2 : tensor<i32> }}")
    axes = tuple(range(len(shape)))
    actual = evaluate("map", a, b, bodies=[computation], result=type_of(a), dimensions=axes)
    expected = oracle.map((a, b), axes, MEANINGS[body], result=(shape, a.dtype))
    assert alike(actual, expected), explain(f"map {body}", actual, expected, a, b)


# --- paths for large, strided and repeated operands -----------------------------------------------------------------

LARGE = 70_000
BROADCASTS = [(op, t) for op, types in EXACT_BINARY.items() for t in types] + [
    (op, t) for op in COMPLEX_BINARY for t in COMPLEXES
]
PATHS = [(op, dtype) for op, types in (EXACT_UNARY | EXACT_BINARY).items() for dtype in types]


@pytest.mark.parametrize(("op", "dtype"), PATHS, ids=lambda x: str(x))
def test_large_operands_agree_with_small_ones(op: str, dtype: np.dtype[Any]) -> None:
    """Blocks, tables and vectorised loops return the same as a few elements at a time."""
    operands = pairs_of_specials(dtype)[: 2 if op in EXACT_BINARY else 1]
    small, large = evaluate(op, *operands), evaluate(op, *map(repeated, operands))
    assert same(large, repeated(small))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_compare_select_and_convert_large_operands(dtype: np.dtype[Any]) -> None:
    x, y = pairs_of_specials(dtype)
    pred = np.arange(x.size) % 3 == 0
    for kind in ("FLOAT", "TOTALORDER") if dtype in FLOATS else (None,):
        assert same(compare(repeated(x), repeated(y), "GE", kind), repeated(compare(x, y, "GE", kind)))
    scalar = x[1:2].reshape(())
    masks = pred, np.ones_like(pred), np.zeros_like(pred), np.arange(x.size) == x.size - 1
    for op, *operands in (
        *[("select", mask, x, y) for mask in masks],
        ("clamp", x, y, np.roll(x, 3)),
        ("clamp", scalar, y, scalar),
    ):
        large = evaluate(op, *[repeated(z) if z.ndim else z for z in operands])
        assert same(large, repeated(evaluate(op, *operands))), op
    for other in ALL:
        small, large = (convert(z, other) for z in (x, repeated(x)))
        assert same(large, repeated(small)), f"convert to {other}"


def pairs_of_specials(dtype: np.dtype[Any]) -> list[Array]:
    """Return two arrays that pair each special value with each."""
    specials = special_values(dtype) if dtype not in COMPLEXES else _complex_specials(dtype)
    count = len(specials) * (len(specials) + 1)
    return [np.resize(specials, count), np.resize(np.append(specials, specials[0]), count)]


def repeated(x: Array) -> Array:
    """Repeat an array so often that it is processed as a large one."""
    return np.tile(x, LARGE // x.size + 1)


def _complex_specials(dtype: np.dtype[Any]) -> Array:
    parts = special_values(complex_element_type(dtype))
    return np.stack([parts, np.roll(parts, 1)], axis=-1).copy().view(dtype)[:, 0]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_operands_of_any_strides(dtype: np.dtype[Any]) -> None:
    whole = np.resize(special_values(dtype) if dtype not in COMPLEXES else _complex_specials(dtype), (300, 300))
    reverse, repeated = whole[::-1, ::2].T, np.broadcast_to(whole[0], (150, 300))
    for op in ("add", "maximum"):
        expected = evaluate(op, reverse.copy(), repeated.copy())
        assert same(evaluate(op, reverse, repeated), expected), op
    pred = np.broadcast_to(np.arange(300) % 3 == 0, (150, 300))
    expected = np.where(pred, reverse, repeated)
    assert same(evaluate("select", pred, reverse, repeated), expected)


@pytest.mark.parametrize(("op", "dtype"), BROADCASTS, ids=str)
def test_scalars_broadcast_in_computations_of_lanes(op: str, dtype: np.dtype[Any]) -> None:
    """In a region called with arrays of lanes, constants remain scalars and broadcast on either side."""
    lanes = np.arange(1, 701).astype(dtype)
    constant = np.ones((), dtype)
    kernel = call_role(REGISTRY[f"stablehlo.{op}"], "plan", {"lhs": type_of(constant)})
    with np.errstate(all="ignore"):
        for lhs, rhs in ((lanes, constant), (constant[()], lanes), (lanes[:3], constant)):
            whole = np.broadcast_arrays(lhs, rhs)
            assert same(np.asarray(kernel(lhs, rhs)), np.asarray(kernel(*whole))), f"{op} {lhs!r} {rhs!r}"
