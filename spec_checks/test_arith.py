"""Compare MLIR's arith dialect with its oracles, on tensors and on scalars."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.strategies import BOOLEANS, FLOATS, SIGNED, arrays, dtypes, same, shapes, width
from spec_checks.test_elementwise import alike
from stablehlo_ref.dialects.arith_conversion import CmpFPredicate, CmpIPredicate
from stablehlo_ref.ir.types import INDEX, tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import arith as oracle

Array = np.ndarray[Any, np.dtype[Any]]

SIGNLESS = BOOLEANS + SIGNED
# Without f8E8M0FNU, which has no zero: it rounds differences, and products that underflow, differently.
PLAIN_FLOATS = tuple(dtype for dtype in FLOATS if dtype.name != "float8_e8m0fnu")
INTEGER_OPS = (
    "addi", "subi", "muli", "divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui", "andi", "ori",
    "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui",
)  # fmt: skip
FLOAT_OPS = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf")
FAST = examples(everyday=10, all=30)


def two(data: st.DataObject, *groups: Any) -> tuple[Array, Array]:
    dtype, shape = data.draw(dtypes(*groups)), data.draw(shapes())
    return data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, shape))


def evaluate_scalars(op: str, *operands: Array, result: Any, attributes: str = "", signature: str = "") -> Array:
    """Evaluate the op on scalars, which a program extracts from tensors of one element."""
    types = tuple(str(element_type_of(x.dtype)) for x in operands)
    return _program_of_scalars(op, types, str(result), attributes, signature or types[0]).run(*operands)[0]


@cache
def _program_of_scalars(op: str, types: tuple[str, ...], result: str, attributes: str, signature: str) -> sr.Program:
    names = [f"%x{i}" for i in range(len(types))]
    inputs = ", ".join(f"{name}t: tensor<{type}>" for name, type in zip(names, types))
    extracts = "\n".join(f"{name} = tensor.extract {name}t[] : tensor<{type}>" for name, type in zip(names, types))
    return sr.load(f"""
    func.func @main({inputs}) -> tensor<{result}> {{
      {extracts}
      %r = arith.{op} {attributes}{", ".join(names)} : {signature}
      %t = tensor.from_elements %r : tensor<{result}>
      return %t : tensor<{result}>
    }}""")


def explained(op: str, actual: Array, expected: Array, *operands: Any) -> str:
    return f"{op} {operands!r}\n  actual    {actual!r}\n  expected  {expected!r}"


# --- arithmetic -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", INTEGER_OPS)
@FAST
@given(data=st.data())
def test_integer_ops(op: str, data: st.DataObject) -> None:
    lhs, rhs = two(data, SIGNLESS)
    actual, expected = evaluate(f"arith.{op}", lhs, rhs), getattr(oracle, op)(lhs, rhs)
    assert same(actual, expected), explained(op, actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", FLOAT_OPS)
@FAST
@given(data=st.data())
def test_float_ops(op: str, data: st.DataObject) -> None:
    lhs, rhs = two(data, PLAIN_FLOATS)
    actual, expected = evaluate(f"arith.{op}", lhs, rhs), getattr(oracle, op)(lhs, rhs)
    assert alike(actual, expected), explained(op, actual, expected, lhs, rhs)


@pytest.mark.parametrize("op", ["maxnumf", "minnumf"])
@FAST
@given(data=st.data())
def test_minnumf_and_maxnumf(op: str, data: st.DataObject) -> None:
    """Of zeros of different signs, either result is correct."""
    lhs, rhs = two(data, PLAIN_FLOATS)
    actual, expected = evaluate(f"arith.{op}", lhs, rhs), getattr(oracle, op)(lhs, rhs)
    agree = (actual == expected) | ((actual != actual) & (expected != expected))
    assert actual.dtype == lhs.dtype and agree.all(), explained(op, actual, expected, lhs, rhs)


@FAST
@given(data=st.data())
def test_negf(data: st.DataObject) -> None:
    operand, _ = two(data, PLAIN_FLOATS)
    assert alike(evaluate("arith.negf", operand), oracle.negf(operand))


@pytest.mark.parametrize("op", (*INTEGER_OPS, *FLOAT_OPS))
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_arithmetic_on_scalars(op: str, data: st.DataObject) -> None:
    dtype = data.draw(dtypes(SIGNLESS if op in INTEGER_OPS else PLAIN_FLOATS))
    lhs, rhs = (data.draw(arrays(dtype, ())) for _ in range(2))
    actual = evaluate_scalars(op, lhs, rhs, result=element_type_of(dtype))
    assert alike(actual, getattr(oracle, op)(lhs, rhs)), f"{lhs} {rhs}: {actual}"


# --- comparison and selection ---------------------------------------------------------------------------------------


COMPARISONS = [
    *(pytest.param("cmpi", SIGNLESS, predicate, id=f"cmpi-{predicate.name}") for predicate in CmpIPredicate),
    *(pytest.param("cmpf", FLOATS, predicate, id=f"cmpf-{predicate.name}") for predicate in CmpFPredicate),
]


@pytest.mark.parametrize(("op", "types", "predicate"), COMPARISONS)
@FAST
@given(data=st.data())
def test_comparisons(op: str, types: Any, predicate: Any, data: st.DataObject) -> None:
    lhs, rhs = two(data, types)
    expected = getattr(oracle, op)(lhs, rhs, predicate.name)
    actual = evaluate(f"arith.{op}", lhs, rhs, predicate=predicate)
    assert same(actual, expected), explained(predicate.name, actual, expected, lhs, rhs)
    if lhs.ndim == 0:
        assert evaluate_scalars(op, lhs, rhs, result="i1", attributes=f"{predicate.name}, ") == expected


@FAST
@given(data=st.data())
def test_select(data: st.DataObject) -> None:
    x, y = two(data, SIGNLESS, FLOATS)
    condition = data.draw(arrays(np.dtype(bool), x.shape))
    assert same(evaluate("arith.select", condition, x, y), oracle.select(condition, x, y))


# --- conversion -----------------------------------------------------------------------------------------------------

CASTS = {
    "extf": (FLOATS, FLOATS), "truncf": (FLOATS, FLOATS), "fptosi": (FLOATS, SIGNLESS), "fptoui": (FLOATS, SIGNLESS),
    "sitofp": (SIGNLESS, FLOATS), "uitofp": (SIGNLESS, FLOATS), "extsi": (SIGNLESS, SIGNLESS),
    "extui": (SIGNLESS, SIGNLESS), "trunci": (SIGNLESS, SIGNLESS), "bitcast": (SIGNLESS + FLOATS, SIGNLESS + FLOATS),
}  # fmt: skip
WIDTHS = {
    "ext": lambda x, y: width(x) < width(y),
    "tru": lambda x, y: width(x) > width(y),
    "bit": lambda x, y: width(x) == width(y),
}


def castable(op: str) -> list[tuple[np.dtype[Any], np.dtype[Any]]]:
    """Return the pairs of element types that a cast accepts."""
    fits = WIDTHS.get(op[:3], lambda x, y: True)
    return [(x, y) for x in CASTS[op][0] for y in CASTS[op][1] if fits(x, y)]


@pytest.mark.parametrize("op", CASTS)
@examples(everyday=25, all=80)
@given(data=st.data())
def test_casts(op: str, data: st.DataObject) -> None:
    source, target = data.draw(st.sampled_from(castable(op)))
    operand = data.draw(arrays(source, data.draw(shapes())))
    expected = getattr(oracle, op)(operand, target)
    actual = evaluate(f"arith.{op}", operand, result=tensor_type(operand.shape, element_type_of(target)))
    assert alike(actual, expected), explained(f"{op} to {target}", actual, expected, operand)
    if operand.ndim == 0:
        types = [str(element_type_of(dtype)) for dtype in (source, target)]
        number = evaluate_scalars(op, operand, result=types[1], signature=" to ".join(types))
        assert alike(number, expected)


@pytest.mark.parametrize("op", ["index_cast", "index_castui"])
@FAST
@given(data=st.data())
def test_index_casts(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(SIGNLESS)), data.draw(shapes())
    index, fixed = tensor_type(shape, INDEX), tensor_type(shape, element_type_of(dtype))
    operand = data.draw(arrays(dtype, shape))
    to_index = evaluate_cast(op, operand, fixed, index)
    assert same(to_index, getattr(oracle, op)(operand, np.dtype(np.int64))), explained(op, to_index, operand, operand)
    numbers = data.draw(arrays(np.dtype(np.int64), shape))
    back, expected = evaluate_cast(op, numbers, index, fixed), getattr(oracle, op)(numbers, dtype)
    assert same(back, expected), explained(op, back, expected, numbers)


def evaluate_cast(op: str, operand: Array, source: Any, target: Any) -> Array:
    program = sr.load(f"""
    func.func @main(%x: {with_i64(source)}) -> {with_i64(target)} {{
      %0 = builtin.unrealized_conversion_cast %x : {with_i64(source)} to {source}
      %1 = arith.{op} %0 : {source} to {target}
      %2 = builtin.unrealized_conversion_cast %1 : {target} to {with_i64(target)}
      return %2 : {with_i64(target)}
    }}""")
    return program.run(operand)[0]


def with_i64(type: Any) -> str:
    return str(type).replace("index", "i64")
