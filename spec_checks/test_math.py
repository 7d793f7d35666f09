"""Compare MLIR's math and complex dialects with their oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.strategies import FLOATS, NARROW_FLOATS, SIGNED, WIDE_FLOATS, arrays, dtypes, shapes
from spec_checks.test_elementwise import alike, close_parts, complex_arrays, explain, ulps
from stablehlo_ref.ir.types import BOOLEAN, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import complex as complex_oracle
from stablehlo_ref.semantics import math as oracle

Array = np.ndarray[Any, np.dtype[Any]]

EXACT = ("absf", "ceil", "floor", "round", "roundeven", "sqrt", "trunc")
# The largest errors of results in f64, in ULP.
FUNCTIONS = {
    "acos": 1, "acosh": 1, "asin": 1, "asinh": 1, "atan": 1, "atanh": 1, "cbrt": 1, "cos": 1, "cosh": 1, "erf": 1,
    "erfc": 3, "exp": 1, "exp2": 1, "expm1": 1, "log": 1, "log10": 2, "log1p": 1, "log2": 2, "rsqrt": 1, "sin": 1,
    "sinh": 1, "tan": 1, "tanh": 1,
}  # fmt: skip
FEW = settings(max_examples=12, deadline=None)
# Without formats that lack zero or negative numbers, whose signs the oracle does not know.
PLAIN = tuple(d for d in FLOATS if d.name != "float8_e8m0fnu")


@pytest.mark.parametrize("op", EXACT)
@FEW
@given(data=st.data())
def test_exact_functions(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(PLAIN)), data.draw(shapes())))
    actual, expected = evaluate(f"math.{op}", operand), getattr(oracle, op)(operand)
    assert alike(actual, expected), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", FUNCTIONS)
@FEW
@given(data=st.data())
def test_elementary_functions(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(PLAIN)), data.draw(shapes(max_rank=2, max_size=3))))
    actual, expected = evaluate(f"math.{op}", operand), getattr(oracle, op)(operand)
    dtype = operand.dtype
    limit = 0 if dtype in NARROW_FLOATS else FUNCTIONS[op] if dtype == np.float64 else 1
    assert ulps(actual, expected) <= limit, explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", ["absi", "ctlz", "ctpop", "cttz"])
@FEW
@given(data=st.data())
def test_integer_functions(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(SIGNED)), data.draw(shapes())))
    actual, expected = evaluate(f"math.{op}", operand), getattr(oracle, op)(operand)
    assert alike(actual, expected), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", ["isfinite", "isinf", "isnan", "isnormal"])
@FEW
@given(data=st.data())
def test_predicates(op: str, data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(WIDE_FLOATS)), data.draw(shapes())))
    actual = evaluate(f"math.{op}", operand, result=tensor_type(operand.shape, BOOLEAN))
    assert alike(actual, getattr(oracle, op)(operand)), explain(op, actual, operand)


@pytest.mark.parametrize("op", ["atan2", "copysign", "powf"])
@FEW
@given(data=st.data())
def test_binary_functions(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(WIDE_FLOATS)), data.draw(shapes(max_rank=2, max_size=3))
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate(f"math.{op}", lhs, rhs), getattr(oracle, op)(lhs, rhs)
    assert ulps(actual, expected) <= (op != "copysign"), explain(op, actual, expected, lhs, rhs)


@FEW
@given(data=st.data())
def test_powers_of_integers(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(SIGNED)), data.draw(shapes())
    lhs, rhs = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))
    actual, expected = evaluate("math.ipowi", lhs, rhs), oracle.ipowi(lhs, rhs)
    assert alike(actual, expected), explain("ipowi", actual, expected, lhs, rhs)


@FEW
@given(data=st.data(), powers=st.lists(st.integers(-40, 40), min_size=3, max_size=3))
def test_integer_powers_of_floats(data: st.DataObject, powers: list[int]) -> None:
    lhs = data.draw(arrays(data.draw(dtypes(WIDE_FLOATS)), (3,)))
    rhs = np.array(powers, np.int32)
    actual, expected = evaluate("math.fpowi", lhs, rhs), oracle.fpowi(lhs, rhs)
    assert ulps(actual, expected) <= 1, explain("fpowi", actual, expected, lhs, rhs)


@examples(everyday=20, all=60)
@given(data=st.data())
def test_fma(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(WIDE_FLOATS))
    numbers = st.floats(-1e9, 1e9, width=32) if data.draw(st.booleans()) else None
    draw = lambda: (  # noqa: E731
        data.draw(arrays(dtype, (4,)))
        if numbers is None or dtype == np.float64
        else np.array(data.draw(st.lists(numbers, min_size=4, max_size=4)), dtype)
    )
    a, b, c = draw(), draw(), draw()
    if data.draw(st.booleans()):
        with np.errstate(all="ignore"):
            c = np.asarray(-(a * b), dtype)  # cancels but for the rounding error of the product
    actual, expected = evaluate("math.fma", a, b, c), oracle.fma(a, b, c)
    if dtype == np.float64:  # next to underflow and overflow it is rounded twice
        with np.errstate(all="ignore"):
            size = np.abs(a * b)
            is_safe = (size > 1e-280) & (size < 1e290) & (np.maximum(np.abs(a), np.abs(b)) < 1e290)
        actual, expected = actual[is_safe], expected[is_safe]
    assert alike(actual, expected), explain("fma", actual, expected, a, b, c)


# --- complex --------------------------------------------------------------------------------------------------------

UNARY = ("conj", "cos", "exp", "expm1", "log", "log1p", "neg", "rsqrt", "sign", "sin", "sqrt", "tan", "tanh")


def on_scalars(op: str, *operands: Array, result: Any = None) -> Array:
    """Evaluate an op of the complex dialect on each tuple of elements."""
    rows = []
    for row in zip(*operands):
        types = [element_type_of(x.dtype) for x in row]
        rows.append(_scalar(op, row, types, result or types[0]))
    return np.array(rows)


def _scalar(op: str, row: tuple[Any, ...], types: list[Any], result: Any) -> Any:
    inputs = ", ".join(f"%x{i}: {type}" for i, type in enumerate(types))
    names = ", ".join(f"%x{i}" for i in range(len(types)))
    signature = f"({', '.join(map(str, types))}) -> {result}"
    text = f'%r = "complex.{op}"({names}) : {signature}\nreturn %r : {result}'
    return sr.load(f"func.func @main({inputs}) -> {result} {{\n{text}\n}}").run(*row)[0]


@pytest.mark.parametrize("op", UNARY)
@settings(max_examples=4, deadline=None)
@given(operand=complex_arrays(2))
def test_complex_functions(op: str, operand: Array) -> None:
    actual, expected = on_scalars(op, operand), getattr(complex_oracle, op)(operand)
    assert close_parts(actual, expected, units=8), explain(op, actual, expected, operand)


@pytest.mark.parametrize("op", ["add", "atan2", "div", "mul", "pow", "sub"])
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_binary_complex_functions(op: str, data: st.DataObject) -> None:
    lhs = data.draw(complex_arrays(2))
    rhs = data.draw(complex_arrays(2)).astype(lhs.dtype)
    actual, expected = on_scalars(op, lhs, rhs), getattr(complex_oracle, op)(lhs, rhs)
    assert close_parts(actual, expected, units=64), explain(op, actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", ["abs", "angle", "im", "re"])
@settings(max_examples=4, deadline=None)
@given(operand=complex_arrays(2))
def test_real_functions_of_complex_numbers(op: str, operand: Array) -> None:
    actual = on_scalars(op, operand, result=element_type_of(operand.real.dtype))
    expected = getattr(complex_oracle, op)(operand)
    assert ulps(actual, expected) <= 1, explain(op, actual, expected, operand)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_comparisons_and_parts(data: st.DataObject) -> None:
    lhs = data.draw(complex_arrays(2))
    rhs = data.draw(st.sampled_from([lhs, lhs.conj()]))
    for op in ("eq", "neq"):
        actual, expected = on_scalars(op, lhs, rhs, result=BOOLEAN), getattr(complex_oracle, op)(lhs, rhs)
        assert actual.tolist() == expected.tolist()
    parts = lhs.real.copy(), lhs.imag.copy()
    actual = on_scalars("create", *parts, result=element_type_of(lhs.dtype))
    assert alike(actual, complex_oracle.create(*parts))
