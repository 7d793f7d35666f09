"""Compare reduce with its oracle, tiers of evaluation with each other, and the schedule with those the spec allows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_checks.evaluate import NOWHERE, combine, evaluate, region
from spec_checks.examples import examples
from spec_checks.schedules import is_among, reduce_schedules
from spec_checks.strategies import ALL, BOOLEANS, FLOATS, INTEGERS, WIDE_FLOATS, arrays, dtypes, same, shapes
from stablehlo_ref.algorithms import reduction_schedule
from stablehlo_ref.execute.plan import FramePlanner, Planner
from stablehlo_ref.execute.regions import PlannedRegion
from stablehlo_ref.execute.run import FunctionPlan
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import elementwise
from stablehlo_ref.semantics.reduction import reduce

Array = np.ndarray[Any, np.dtype[Any]]

FAST = examples(everyday=8, all=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY_ORDER = {
    "add": BOOLEANS + INTEGERS,
    "and": BOOLEANS + INTEGERS,
    "maximum": BOOLEANS + INTEGERS + FLOATS,
    "minimum": BOOLEANS + INTEGERS + FLOATS,
    "multiply": BOOLEANS + INTEGERS,
    "or": BOOLEANS + INTEGERS,
    "xor": BOOLEANS + INTEGERS,
}
TIERS = ("recognised", "lanes", "scalars")


def computation_of(op: str) -> Any:
    """Return the oracle of an op as a computation of two scalars that returns a tuple."""
    function = getattr(elementwise, op, None) or getattr(elementwise, f"{op}_")
    return lambda *arguments: (function(*arguments),)


def force(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluate regions by the given tier or a slower one."""
    if tier != "recognised":
        monkeypatch.setattr(PlannedRegion, "recognised", None)
        monkeypatch.setattr(reduction_schedule, "arg_reduction", lambda body: None)
    if tier == "scalars":
        monkeypatch.setattr(PlannedRegion, "is_elementwise", False)
        monkeypatch.setattr(PlannedRegion, "_batched", lambda self, count: None)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and runs so small that schedules of small arrays have all the parts of those of large arrays."""
    for name, value in {"SMALL": 24, "BLOCK": 24, "RUN": 4, "LANES": 6, "SHORT": 3}.items():
        monkeypatch.setattr(reduction_schedule, name, value)


def some_axes(rank: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.permutations(range(rank)).flatmap(lambda p: st.integers(0, rank).map(lambda n: tuple(p[:n])))


@pytest.mark.parametrize("op", ANY_ORDER)
@FAST
@given(data=st.data())
def test_reductions_in_any_order(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(ANY_ORDER[op])), data.draw(shapes(max_size=3))
    dimensions = data.draw(some_axes(len(shape)))
    operand, init = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ()))
    kept = tuple(n for d, n in enumerate(shape) if d not in dimensions)
    actual = evaluate("reduce", operand, init, bodies=[combine(op, element_type_of(dtype))], dimensions=dimensions)
    (expected,) = reduce((operand,), (init,), dimensions, computation_of(op), results=((kept, dtype),))
    assert same(actual, expected), f"{op} {operand!r} {init!r} {dimensions}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize("op", ("add", "multiply", "subtract"))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_schedule_is_legal(op: str, data: st.DataObject) -> None:
    dtype, size = data.draw(dtypes(FLOATS)), data.draw(st.integers(0, 5))
    operand, init = data.draw(arrays(dtype, (size,))), data.draw(arrays(dtype, ()))
    actual = evaluate("reduce", operand, init, bodies=[combine(op, element_type_of(dtype))], dimensions=(0,))
    allowed = reduce_schedules((operand,), (init,), computation_of(op), max_init_values=1)
    assert is_among((actual,), allowed), f"{op} {operand!r} {init!r}: {actual!r} is not one of {allowed}"


@pytest.mark.parametrize("op", ("subtract", "divide", "remainder", "power", "atan2"))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_ops_that_are_not_associative_are_folded_from_the_left(op: str, data: st.DataObject) -> None:
    integers = INTEGERS if op == "subtract" else ()
    dtype, shape = data.draw(dtypes(WIDE_FLOATS, integers)), data.draw(shapes(max_size=5))
    dimensions = data.draw(some_axes(len(shape)))
    operand, init = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ()))
    kept = tuple(n for d, n in enumerate(shape) if d not in dimensions)
    size = prod(shape[d] for d in dimensions)
    actual = evaluate("reduce", operand, init, bodies=[combine(op, element_type_of(dtype))], dimensions=dimensions)
    moved = np.moveaxis(operand, sorted(dimensions), range(len(dimensions))).reshape(size, *kept)
    value = np.broadcast_to(init, kept)
    for row in moved:
        value = evaluate(op, value, row)
    expected = np.asarray(value)
    assert same(actual, expected), f"{op} {operand!r} {init!r} {dimensions}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize(
    ("op", "dtype"), [("subtract", "f4"), ("subtract", "f8"), ("subtract", "c8"), ("divide", "f4")]
)
@pytest.mark.parametrize(
    ("shape", "dimensions"), [((5000,), (0,)), ((3, 700), (1,)), ((700, 3), (0,)), ((30, 40), (0, 1))]
)
def test_long_left_folds(op: str, dtype: str, shape: tuple[int, ...], dimensions: tuple[int, ...]) -> None:
    x, init = np.random.default_rng(0).uniform(0.9, 1.1, shape).astype(dtype), np.dtype(dtype).type(1)
    actual = evaluate("reduce", x, init, bodies=[combine(op, element_type_of(x.dtype))], dimensions=dimensions)
    value, function = init, {"subtract": np.subtract, "divide": np.divide}[op]
    for row in np.moveaxis(x, dimensions, range(len(dimensions))).reshape(-1, *actual.shape):
        value = function(value, row)
    assert same(actual, np.asarray(value))


@pytest.mark.parametrize("element", ("f32", "f64", "bf16", "f8E5M2", "i32", "ui8", "i4", "complex<f64>"))
@pytest.mark.parametrize(
    ("body", "associative"),
    [
        ("add %a, %b", True), ("multiply %a, %b", True), ("subtract %a, %b", False), ("add %a, %a", False),
        ("subtract %b, %a", False), ("multiply %a, %a", False),
    ],
)  # fmt: skip
def test_a_trial_shows_what_is_associative(element: str, body: str, associative: bool) -> None:
    t = f"tensor<{element}>"
    text = f"(%a: {t}, %b: {t}) -> {t} {{ %0 = stablehlo.{body} : {t} func.return %0 : {t} }}"
    assert planned(text).is_associative == associative


@pytest.mark.parametrize(
    ("ops", "associative"),
    [
        ("%0 = stablehlo.add %a, %b : T %1 = stablehlo.multiply %a, %b : T %2 = stablehlo.subtract %0, %1 : T", True),
        ("%0 = stablehlo.multiply %a, %b : T %2 = stablehlo.add %0, %a : T", False),
        ("%h = stablehlo.constant dense<0.5> : T %0 = stablehlo.add %a, %b : T"
         " %2 = stablehlo.multiply %0, %h : T", False),
        ("%0 = stablehlo.exponential %a : T %1 = stablehlo.exponential %b : T %3 = stablehlo.add %0, %1 : T"
         " %2 = stablehlo.log %3 : T", True),
        ("%2 = stablehlo.constant dense<0.5> : T", True),
    ],
)  # fmt: skip
def test_a_trial_allows_for_rounding(ops: str, associative: bool) -> None:
    text = f"(%a: T, %b: T) -> T {{ {ops} func.return %2 : T }}".replace("T", "tensor<f32>")
    assert planned(text).is_associative == associative


def test_argmax_is_associative_and_independent_parts_are_tried_one_by_one() -> None:
    assert planned(extreme_body("GT", "f32")).is_associative
    types = "tensor<f32>, tensor<i32>"
    text = f"""(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>) -> ({types}) {{
      %0 = stablehlo.add %a, %b : tensor<f32>
      %1 = stablehlo.subtract %i, %j : tensor<i32>
      func.return %0, %1 : {types}
    }}"""
    assert [part.is_associative for part in planned(text).parts] == [True, False]
    x, i = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.int32)
    total, rest = evaluate("reduce", x, i, np.float32(0), np.int32(9), bodies=[region(text)], dimensions=(0,))
    assert total == 6 and rest == 3


def planned(text: str) -> PlannedRegion:
    module = Operation("builtin.module", [], (), {}, {}, [], NOWHERE)
    return FramePlanner(Planner(module, Limits()), FunctionPlan("reduce")).region(region(text))


# --- the schedule ---------------------------------------------------------------------------------------------------


class Concatenate:
    """Concatenates strings, so that the result of a fold shows the order of its elements."""

    ufunc, any_order, in_f32 = None, np.add, None
    dtype = np.dtype(object)

    def __call__(self, lhs: list[Array], rhs: list[Array]) -> list[Array]:
        return [lhs[0] + rhs[0]]

    into = __call__


def names(shape: tuple[int, ...]) -> Array:
    """Return an array whose elements name their indices."""
    array = np.empty(shape, object)
    for index in np.ndindex(*shape):
        array[index] = "".join(map(chr, (48 + i for i in index))) + " "
    return array


@examples(everyday=50, all=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=shapes(max_rank=4, max_size=7, min_size=1), data=st.data())
def test_elements_are_folded_in_lexicographic_order(small: None, shape: tuple[int, ...], data: st.DataObject) -> None:
    dimensions = sorted(data.draw(some_axes(len(shape))))
    operand = names(shape)
    (actual,) = reduction_schedule._scheduled(Concatenate(), shape, dimensions)([operand])  # type: ignore[arg-type]
    moved = np.moveaxis(operand, dimensions, range(-len(dimensions), 0)) if dimensions else operand[..., np.newaxis]
    kept = tuple(n for d, n in enumerate(shape) if d not in dimensions)
    expected = np.array(["".join(row) for row in moved.reshape(prod(kept), -1)], object).reshape(kept)
    assert np.array_equal(actual, expected)


def layouts(x: Array) -> Iterator[Array]:
    """Yield arrays with the same elements in different memory layouts."""
    yield x
    yield np.asfortranarray(x)
    yield x[::-1].copy()[::-1]
    yield np.repeat(x, 2, -1)[..., ::2]


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize("shape", ((3, 300, 1), (2, 150, 17), (1, 70, 40), (5, 3, 65), (2, 129, 2)))
@pytest.mark.parametrize("op", ("add", "multiply"))
def test_tiers_and_layouts_agree_bitwise(
    op: str, shape: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(np.float32)
    results = []
    for tier in TIERS if prod(shape) < 1500 else TIERS[:2]:
        force(tier, monkeypatch)
        for layout in layouts(x):
            results.append(evaluate("reduce", layout, np.float32(1), bodies=[combine(op, "f32")], dimensions=(axis,)))
    assert all(same(result, results[0]) for result in results)


@pytest.mark.parametrize("tier", TIERS)
def test_large_arrays_agree_with_exact_sums(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force("recognised" if tier == "scalars" else tier, monkeypatch)
    x = np.random.default_rng(0).integers(-8, 8, (3, 700, 300)).astype(np.float32)  # for exact sums
    for dimensions in [d for n in range(4) for d in product(range(3), repeat=n) if len(set(d)) == n]:
        actual = evaluate("reduce", x, np.float32(0), bodies=[combine("add", "f32")], dimensions=dimensions)
        assert np.array_equal(actual, x.astype(np.int64).sum(dimensions))


# --- regions --------------------------------------------------------------------------------------------------------

GENERAL = """(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.multiply %a, %b : tensor<f32>
  %1 = stablehlo.subtract %a, %0 : tensor<f32>
  %2 = stablehlo.constant dense<0.5> : tensor<f32>
  %3 = stablehlo.multiply %1, %2 : tensor<f32>
  %4 = stablehlo.add %3, %b : tensor<f32>
  func.return %4 : tensor<f32>
}"""
WITH_SHAPES = """(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %b : (tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<1xf32>
  %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
  func.return %3 : tensor<f32>
}"""
CONSTANT = """(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.5> : tensor<f32>
  func.return %0 : tensor<f32>
}"""
LEFT = "(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> { func.return %a : tensor<f32> }"


@pytest.mark.parametrize("body", (GENERAL, WITH_SHAPES, CONSTANT, LEFT))
@pytest.mark.parametrize("dimensions", ((0,), (1,), (2,), (0, 2), (2, 1, 0), ()))
def test_tiers_agree_on_general_regions(
    body: str, dimensions: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    x = np.random.default_rng(1).standard_normal((3, 11, 5)).astype(np.float32)
    results = []
    for tier in TIERS:
        force(tier, monkeypatch)
        results.append(evaluate("reduce", x, np.float32(0.25), bodies=[region(body)], dimensions=dimensions))
    assert all(same(result, results[0]) for result in results)


def extreme_body(direction: str, element: str) -> str:
    """Return the region of argmax or argmin as JAX exports it."""
    kind = "FLOAT" if element.startswith("f") else "SIGNED"
    x, i, p = f"tensor<{element}>", "tensor<i32>", "tensor<i1>"
    return f"""(%a: {x}, %i: {i}, %b: {x}, %j: {i}) -> ({x}, {i}) {{
      %0 = stablehlo.compare {direction}, %a, %b, {kind} : ({x}, {x}) -> {p}
      %1 = stablehlo.compare NE, %a, %a, {kind} : ({x}, {x}) -> {p}
      %2 = stablehlo.or %0, %1 : {p}
      %3 = stablehlo.compare EQ, %a, %b, {kind} : ({x}, {x}) -> {p}
      %4 = stablehlo.compare LT, %i, %j, SIGNED : ({i}, {i}) -> {p}
      %5 = stablehlo.and %3, %4 : {p}
      %6 = stablehlo.or %2, %5 : {p}
      %7 = stablehlo.select %2, %a, %b : {p}, {x}
      %8 = stablehlo.select %6, %i, %j : {p}, {i}
      func.return %7, %8 : {x}, {i}
    }}"""


@pytest.mark.parametrize("direction", ("GT", "LT"))
@pytest.mark.parametrize("element", ("f32", "f64", "i32", "i8"))
@FAST
@given(data=st.data())
def test_argmax_and_argmin(direction: str, element: str, data: st.DataObject) -> None:
    dtype = np.dtype({"f32": "f4", "f64": "f8", "i32": "i4", "i8": "i1"}[element])
    shape = data.draw(shapes(max_rank=3, min_rank=1, min_size=1, max_size=5))
    axes = sorted({0, *data.draw(some_axes(len(shape)))}) if data.draw(st.booleans()) else [len(shape) - 1]
    operand = data.draw(arrays(dtype, shape, moderate=data.draw(st.booleans())))
    index = np.random.default_rng(prod(shape)).permuted(np.arange(prod(shape), dtype=np.int32)).reshape(shape)
    if step := data.draw(st.sampled_from([None, 1, -1])):  # the same indices in all rows
        index = np.broadcast_to(np.arange(shape[-1], dtype=np.int32)[::step], shape)
    lowest, highest = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind == "i" else (-np.inf, np.inf)
    init = data.draw(st.sampled_from([0, lowest if direction == "GT" else highest]))
    inits = dtype.type(init), np.int32(data.draw(st.sampled_from([0, 1000])))
    body = region(extreme_body(direction, element))
    results = []
    for many in (None, 1, 1 << 20):  # by the region; by the indices of extremes; by those of all elements
        with pytest.MonkeyPatch.context() as patch:
            if many is None:
                force("lanes", patch)
            else:
                patch.setattr(reduction_schedule, "MANY", many)
            results.append(evaluate("reduce", operand, index, *inits, bodies=[body], dimensions=tuple(axes)))
    assert all(all(map(same, results[0], other)) for other in results[1:]), (operand, results)


@pytest.mark.parametrize("zero", (0.0, -0.0))
def test_argmax_of_zeros_of_one_sign(zero: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maxima that are zeros of one sign, as after a ReLU, need no call of the region."""
    x = np.maximum(np.random.default_rng(0).standard_normal((40, 5)), 0).astype(np.float32)
    x[7] = 0
    x[x == 0] = zero
    index = np.broadcast_to(np.arange(5, dtype=np.int32), x.shape)
    monkeypatch.setattr(reduction_schedule, "fold_middle", None)
    inits, body = (np.float32(-np.inf), np.int32(0)), region(extreme_body("GT", "f32"))
    maxima, indices = evaluate("reduce", x, index, *inits, bodies=[body], dimensions=(1,))
    assert same(maxima, x.max(1)) and np.array_equal(indices, x.argmax(1))


def test_independent_results_are_reduced_separately() -> None:
    types = "tensor<f32>, tensor<i32>"
    body = region(f"""(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>) -> ({types}) {{
      %0 = stablehlo.add %a, %b : tensor<f32>
      %1 = stablehlo.maximum %i, %j : tensor<i32>
      func.return %0, %1 : {types}
    }}""")
    x, i = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(12, dtype=np.int32).reshape(3, 4)
    total, most = evaluate("reduce", x, i, np.float32(0), np.int32(9), bodies=[body], dimensions=(1,))
    assert total.tolist() == [6, 22, 38] and most.tolist() == [9, 9, 11]


@FAST
@given(data=st.data())
def test_operands_are_promoted(data: st.DataObject) -> None:
    pairs = [("int8", "int32"), ("float16", "float32"), ("uint8", "uint64"), ("bool", "bool")]
    narrow, wide = data.draw(st.sampled_from(pairs))
    operand, init = data.draw(arrays(np.dtype(narrow), (3, 3))), data.draw(arrays(np.dtype(narrow), ()))
    body = combine("maximum", element_type_of(np.dtype(wide)))
    actual = evaluate("reduce", operand, init, bodies=[body], dimensions=(1,))
    (expected,) = reduce((operand,), (init,), (1,), computation_of("maximum"), results=(((3,), np.dtype(wide)),))
    assert same(actual, expected)


def test_empty_slices_reduce_to_the_init_value() -> None:
    for dtype in ALL:
        empty, init = np.zeros((2, 0, 3), dtype), np.ones((), dtype)
        actual = evaluate("reduce", empty, init, bodies=[combine("add", element_type_of(dtype))], dimensions=(1,))
        assert same(actual, np.ones((2, 3), dtype))
