"""Compare CHLO's constants, scan and ragged_dot with their oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate, region, type_of
from spec_checks.running_error import within
from spec_checks.strategies import ALL, BOOLEANS, FLOATS, INTEGERS, NUMBERS, arrays, dtypes, same, shapes
from stablehlo_ref.ir.attributes import DenseElements, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import chlo_structured as oracle
from stablehlo_ref.semantics.rounding import number

Array = np.ndarray[Any, np.dtype[Any]]
Dims = tuple[int, ...]

MANY = settings(max_examples=60, deadline=None)
SUMMABLE = tuple(dtype for dtype in NUMBERS if dtype.name != "float8_e8m0fnu") + BOOLEANS  # float8_e8m0fnu has no zero


# --- constants ------------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_constant(data: st.DataObject) -> None:
    value = data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes())))
    actual = evaluate("chlo.constant", value=DenseElements(type_of(value), value), result=type_of(value))
    assert same(actual, oracle.constant(value))


@MANY
@given(data=st.data())
def test_constant_like(data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes())))
    dtype = data.draw(dtypes(BOOLEANS, INTEGERS, FLOATS))
    value = data.draw(arrays(dtype, (), moderate=True))[()]
    attribute = number_attribute(value)
    expected = oracle.constant_like(number(value), operand, dtype)
    assert same(evaluate("chlo.constant_like", operand, value=attribute), expected)


def number_attribute(value: Any) -> Any:
    element = element_type_of(value.dtype)
    if value.dtype in BOOLEANS:
        return bool(value)
    return IntegerAttribute(int(value), element) if value.dtype in INTEGERS else FloatAttribute(float(value), element)


# --- scan -----------------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_scan(data: st.DataObject) -> None:
    """The region has two inputs, one output and two carries and uses all of them."""
    shape = data.draw(shapes(min_rank=1, max_rank=3, max_size=3))
    dimension, is_reverse = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.booleans())
    rest, dtype = shape[:dimension] + shape[dimension + 1 :], np.dtype(np.int32)
    x, y, init, other = (data.draw(arrays(dtype, sizes)) for sizes in (shape, shape, rest, rest))
    t = str(tensor_type(rest, element_type_of(dtype)))
    body = region(f"""(%x: {t}, %y: {t}, %c: {t}, %d: {t}) -> ({t}, {t}, {t}) {{
      %0 = stablehlo.add %x, %c : {t}
      %1 = stablehlo.multiply %0, %y : {t}
      %2 = stablehlo.subtract %1, %d : {t}
      return %2, %0, %1 : {t}, {t}, {t}
    }}""")

    def step(x: Array, y: Array, c: Array, d: Array) -> tuple[Array, ...]:
        return (x + c) * y - d, x + c, (x + c) * y

    actual = evaluate(
        "chlo.scan", x, y, init, other, bodies=[body], result=[type_of(x), type_of(init), type_of(init)],
        dimension=dimension, is_reverse=is_reverse, operand_segment_sizes=(2, 2), result_segment_sizes=(1, 2),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        expected = oracle.scan(
            (x, y), (init, other), dimension, is_reverse, step, count=shape[dimension], slices=[(rest, dtype)]
        )
    assert all(map(same, actual, expected)), f"{x} {y} {init} {other} {dimension}: {actual}, not {expected}"


@MANY
@given(data=st.data())
def test_scan_with_a_single_result(data: st.DataObject) -> None:
    shape = data.draw(shapes(min_rank=1, max_rank=3, max_size=3))
    dimension, is_reverse = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.booleans())
    rest, dtype = shape[:dimension] + shape[dimension + 1 :], np.dtype(np.int32)
    x = data.draw(arrays(dtype, shape))
    t = str(tensor_type(rest, element_type_of(dtype)))
    body = region(f"(%x: {t}) -> {t} {{\n%0 = stablehlo.multiply %x, %x : {t}\nreturn %0 : {t}\n}}")
    actual = evaluate(
        "chlo.scan", x, bodies=[body], result=type_of(x), dimension=dimension, is_reverse=is_reverse,
        operand_segment_sizes=(1, 0), result_segment_sizes=(1, 0),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        (expected,) = oracle.scan(
            (x,), (), dimension, is_reverse, lambda x: (x * x,), count=shape[dimension], slices=[(rest, dtype)]
        )
    assert same(actual, expected), f"{x} {dimension}: {actual}, not {expected}"


# --- ragged_dot -----------------------------------------------------------------------------------------------------


@st.composite
def ragged(draw: st.DrawFn) -> tuple[Dims, Dims, Dims, dict[str, Any], Dims]:
    """Draw operand shapes, dimension numbers and the result shape, for all three modes and any order of dimensions."""
    sizes = st.lists(st.integers(0, 3) | st.integers(1, 3), max_size=2)
    batching, contracting, lhs_others, rhs_others = (draw(sizes) for _ in range(4))
    groups = draw(st.integers(1, 3))
    roles = {"b": batching, "c": contracting, "l": lhs_others, "r": rhs_others, "g": [groups]}
    kind = draw(st.sampled_from([k for k in "bcl" if roles[k]] or ["l"]))
    roles["l"] = roles["l"] or [draw(st.integers(1, 4))]
    place = draw(st.integers(0, len(roles[kind]) - 1))

    def order(kinds: str) -> list[tuple[str, int]]:
        return draw(st.permutations([(k, i) for k in kinds for i in range(len(roles[k]))]))

    left, right = order("bcl"), order("bcrg" if kind == "l" else "bcr")
    dims = {
        f"{side}_{name}_dimensions": tuple(o.index((k, i)) for i in range(len(roles[k])))
        for side, o in (("lhs", left), ("rhs", right))
        for name, k in (("batching", "b"), ("contracting", "c"))
    }
    dims["lhs_ragged_dimensions"] = (left.index((kind, place)),)
    dims["rhs_group_dimensions"] = (right.index(("g", 0)),) if kind == "l" else ()
    order_of_lhs_others = [i for k, i in left if k == "l"]
    lhs_free = [roles["l"][i] for i in order_of_lhs_others]
    before = {
        "b": roles["b"][:place],
        "c": roles["b"] + roles["c"][:place],
        "l": roles["b"] + lhs_free[: order_of_lhs_others.index(place)] if kind == "l" else [],
    }[kind]
    sizes_shape = (*(before if draw(st.booleans()) else ()), groups)
    shape = (*roles["b"], *lhs_free, *[roles["r"][i] for k, i in right if k == "r"])
    lhs, rhs = (tuple(roles[k][i] for k, i in o) for o in (left, right))
    return lhs, rhs, sizes_shape, dims, (groups, *shape) if kind == "c" else shape


@settings(max_examples=120, deadline=None)
@given(data=st.data(), case=ragged(), moderate=st.booleans())
def test_ragged_dot(data: st.DataObject, case: Any, moderate: bool) -> None:
    lhs_shape, rhs_shape, sizes_shape, dims, shape = case
    dtype = data.draw(dtypes(SUMMABLE))
    lhs, rhs = (data.draw(arrays(dtype, s, moderate)) for s in (lhs_shape, rhs_shape))
    sizes = np.abs(data.draw(arrays(np.dtype(data.draw(st.sampled_from([np.int32, np.int64]))), sizes_shape, True)))
    expected = oracle.ragged_dot(lhs, rhs, sizes, **dims, result=(shape, dtype))
    bound = bounds.ragged_dot_bound(lhs, rhs, sizes, **dims, result=(shape, dtype))
    actual = evaluate("chlo.ragged_dot", lhs, rhs, sizes, **dims)
    good = within(actual, expected, bound)
    assert actual.shape == shape and good.all(), f"{lhs}\n{rhs}\n{sizes}\n{dims}: {actual}, not {expected}"
