"""Compare CHLO's ops with their oracles: elementary and special functions in ULP, all others bitwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.strategies import (
    BOOLEANS,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    NARROW_FLOATS,
    arrays,
    dtypes,
    same,
    shapes,
)
from spec_checks.test_elementwise import alike, close_parts, complex_arrays, explain, ulps
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ops.comparison import ComparisonDirection, ComparisonType
from stablehlo_ref.semantics import chlo as oracle
from stablehlo_ref.semantics.data_movement import broadcast_in_dim

Array = np.ndarray[Any, np.dtype[Any]]
Sizes = tuple[int, ...]

# The largest errors of results in f64, in ULP.
FUNCTIONS = {
    "acos": 1, "acosh": 1, "asin": 1, "asinh": 1, "atan": 1, "atanh": 1, "bessel_i1e": 3, "cosh": 1, "digamma": 4,
    "erf": 1, "erf_inv": 3, "erfc": 2, "lgamma": 4, "sinh": 1, "square": 1, "tan": 1,
}  # fmt: skip
COMPLEX_FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "square", "tan")
BROADCAST = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "and", "or", "xor")

FEW = examples(everyday=8, all=20)


def limit(op: str, dtype: np.dtype[Any]) -> int:
    """Return the allowed error in ULP from the rounded exact result: none in narrow formats."""
    return 0 if dtype in NARROW_FLOATS else FUNCTIONS[op] if dtype == np.float64 else 1


# --- functions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", FUNCTIONS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_unary_functions(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(FLOATS)), data.draw(shapes(max_rank=2, max_size=3))))
    operand = without_large_negatives(operand) if op in ("digamma", "lgamma") else operand
    actual, expected = evaluate(f"chlo.{op}", operand), getattr(oracle, op)(operand)
    assert ulps(actual, expected) <= limit(op, operand.dtype), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", FUNCTIONS)
@settings(max_examples=12, deadline=None)
@given(values=st.lists(st.floats(-12, 12), min_size=1, max_size=8), wide=st.booleans())
def test_unary_functions_of_moderate_numbers(op: str, values: list[float], wide: bool) -> None:
    operand = np.array(values, np.float64 if wide else np.float32)
    actual, expected = evaluate(f"chlo.{op}", operand), getattr(oracle, op)(operand)
    assert ulps(actual, expected) <= limit(op, operand.dtype), explain(op, actual, expected, operand)


def without_large_negatives(x: Array) -> Array:
    """Make numbers far below zero positive, since mpmath takes too long for their gamma function."""
    with np.errstate(all="ignore"):
        return np.where(np.asarray(x, np.float64) < -1e3, np.negative(x), x).astype(x.dtype)


def parts(low: float, high: float) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(low, high), min_size=4, max_size=4)


@FEW
@given(s=parts(1.0, 40.0), q=parts(0.01, 200.0), wide=st.booleans())
def test_zeta(s: list[float], q: list[float], wide: bool) -> None:
    lhs, rhs = (np.array(x, np.float64 if wide else np.float32) for x in (s, q))
    actual, expected = evaluate("chlo.zeta", lhs, rhs), oracle.zeta(lhs, rhs)
    assert ulps(actual, expected) <= (4 if wide else 1), explain("zeta", actual, expected, lhs, rhs)


@FEW
@given(n=st.lists(st.integers(0, 60), min_size=4, max_size=4), x=parts(0.01, 200.0), wide=st.booleans())
def test_polygamma(n: list[int], x: list[float], wide: bool) -> None:
    lhs, rhs = (np.array(v, np.float64 if wide else np.float32) for v in (n, x))
    actual, expected = evaluate("chlo.polygamma", lhs, rhs), oracle.polygamma(lhs, rhs)
    assert ulps(actual, expected) <= (6 if wide else 1), explain("polygamma", actual, expected, lhs, rhs)


@FEW
@given(s=st.lists(st.integers(2, 30), min_size=4, max_size=4), q=parts(-9.75, -0.25), wide=st.booleans())
def test_zeta_of_negative_numbers(s: list[int], q: list[float], wide: bool) -> None:
    """Zeta functions of odd order have zeros half way between poles, which are among the operands."""
    numbers = np.array(q, np.float64 if wide else np.float32)
    half_way = np.floor(numbers) + numbers.dtype.type(0.5)
    lhs, rhs = np.tile(s, 3).astype(numbers.dtype), np.hstack([numbers, half_way, np.spacing(half_way) + half_way])
    actual, expected = evaluate("chlo.zeta", lhs, rhs), oracle.zeta(lhs, rhs)
    assert ulps(actual, expected) <= (32 if wide else 1), explain("zeta", actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", ["zeta", "polygamma"])
@examples(everyday=10, all=30)
@given(data=st.data())
def test_special_values_of_binary_functions(op: str, data: st.DataObject) -> None:
    values = st.sampled_from([-np.inf, -3.0, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf, np.nan])
    lhs, rhs = (np.array([data.draw(values)]) for _ in range(2))
    actual, expected = evaluate(f"chlo.{op}", lhs, rhs), getattr(oracle, op)(lhs, rhs)
    assert ulps(actual, expected) <= 4, explain(op, actual, expected, lhs, rhs)


@FEW
@given(data=st.data())
def test_next_after(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(FLOATS)), data.draw(shapes())
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate("chlo.next_after", lhs, rhs), oracle.next_after(lhs, rhs)
    assert same(actual, expected), explain("next_after", actual, expected, lhs, rhs)


@FEW
@given(data=st.data())
def test_mulhi(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(INTEGERS)), data.draw(shapes())
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate("chlo.mulhi", lhs, rhs), oracle.mulhi(lhs, rhs)
    assert same(actual, expected), explain("mulhi", actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", COMPLEX_FUNCTIONS)
@settings(max_examples=6, deadline=None)
@given(operand=complex_arrays(3))
def test_complex_functions(op: str, operand: Array) -> None:
    actual, expected = evaluate(f"chlo.{op}", operand), getattr(oracle, op)(operand)
    assert close_parts(actual, expected), explain(op, actual, expected, operand)


@settings(max_examples=10, deadline=None)
@given(z=complex_arrays(3))
def test_asin_acos_kernel(z: Array) -> None:
    w = evaluate("chlo._asin_acos_kernel", z)
    assert close_parts(w, oracle.asin_acos_kernel(z)), (z, w)
    acos = np.arctan2(w.real, z.real) - 1j * np.sign(z.imag) * w.imag
    assert close_parts(acos.astype(z.dtype), oracle.acos(z))


@FEW
@given(data=st.data())
def test_conj(data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(FLOATS, COMPLEXES)), data.draw(shapes())))
    assert same(evaluate("chlo.conj", operand), oracle.conj(operand))


@pytest.mark.parametrize("op", ["is_inf", "is_neg_inf", "is_pos_inf"])
@FEW
@given(data=st.data())
def test_predicates(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(FLOATS)), data.draw(shapes())))
    assert same(evaluate(f"chlo.{op}", operand), getattr(oracle, op)(operand))


# --- broadcasting ---------------------------------------------------------------------------------------------------


@st.composite
def broadcast_shapes(draw: st.DrawFn) -> tuple[Sizes, Sizes, Sizes, Sizes | None]:
    """Draw a result shape, two shapes that broadcast to it, and broadcast_dimensions of the second or None."""
    shape = draw(shapes(max_rank=3, max_size=3))
    dimensions = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1))) if shape else ()))
    explicit = draw(st.booleans())
    if not explicit:
        dimensions = tuple(range(len(shape)))[len(shape) - len(dimensions) :]
    small = tuple(draw(st.sampled_from([1, shape[d]])) for d in dimensions)
    large = list(shape)
    for d, size in zip(dimensions, small):
        large[d] = draw(st.sampled_from([1, shape[d]])) if size == shape[d] else shape[d]
    return shape, tuple(large), small, dimensions if explicit and len(small) < len(large) else None


@pytest.mark.parametrize("op", BROADCAST)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_broadcasting(op: str, data: st.DataObject) -> None:
    _, large, small, dimensions = data.draw(broadcast_shapes())
    lhs, rhs = (data.draw(arrays(np.dtype(np.int32), s)) for s in (large, small))
    actual = evaluate(f"chlo.broadcast_{op}", lhs, rhs, broadcast_dimensions=dimensions)
    function = getattr(oracle, f"broadcast_{op}")
    expected = function(lhs, rhs, broadcast_dimensions=dimensions)
    assert same(actual, expected), explain(op, actual, expected, lhs, rhs, dimensions)


@FEW
@given(data=st.data())
def test_broadcasting_compare(data: st.DataObject) -> None:
    shape, large, small, dimensions = data.draw(broadcast_shapes())
    lhs, rhs = (data.draw(arrays(np.dtype(np.float32), s)) for s in (large, small))
    attributes: dict[str, Any] = {
        "comparison_direction": ComparisonDirection.LE,
        "compare_type": ComparisonType.TOTALORDER,
    }
    actual = evaluate("chlo.broadcast_compare", lhs, rhs, broadcast_dimensions=dimensions, **attributes)
    places = tuple(range(len(shape) - len(small), len(shape))) if dimensions is None else dimensions
    result = shape, lhs.dtype
    operands = [broadcast_in_dim(x, d, result=result) for x, d in ((lhs, tuple(range(len(shape)))), (rhs, places))]
    assert same(actual, evaluate("compare", *operands, **attributes))


# --- structured ops -------------------------------------------------------------------------------------------------


@examples(everyday=20, all=60)
@given(data=st.data())
def test_top_k(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(BOOLEANS, INTEGERS, FLOATS))
    shape = (*data.draw(shapes(max_rank=1, max_size=3)), data.draw(st.integers(0, 40)))
    operand = data.draw(arrays(dtype, shape, moderate=data.draw(st.booleans())))
    k = data.draw(st.integers(0, min(shape[-1], 4)))
    values, indices = evaluate("chlo.top_k", operand, k=k)
    expected_values, expected_indices = oracle.top_k(operand, k)
    assert same(indices, expected_indices), explain("top_k", indices, expected_indices, operand, k)
    assert alike(values, expected_values), explain("top_k", values, expected_values, operand, k)


def test_top_k_rejects_complex_numbers() -> None:
    with pytest.raises(UnsupportedError, match="unsupported element type complex"):
        evaluate("chlo.top_k", np.ones(3, np.complex64), k=1)
