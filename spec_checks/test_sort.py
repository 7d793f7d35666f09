"""Compare sort with its oracle: comparators of keys, strict weak orderings, and comparators that define no order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stablehlo_ref
from spec_checks.evaluate import evaluate, region
from spec_checks.strategies import BOOLEANS, FLOATS, INTEGERS, arrays, dtypes, same, shapes
from spec_checks.test_reduction import force
from stablehlo_ref.numerics.dtypes import element_type_of, kind
from stablehlo_ref.ops import sort as sorting
from stablehlo_ref.semantics import elementwise
from stablehlo_ref.semantics.sort import sort

Array = np.ndarray[Any, np.dtype[Any]]

FAST = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def comparator(element: Any, direction: str, kind: str, others: str = "") -> Any:
    """Return the region `compare` of its first two arguments; `others` are further arguments."""
    t = f"tensor<{element}>"
    return region(f"""(%a: {t}, %b: {t}{others}) -> tensor<i1> {{
      %0 = stablehlo.compare {direction}, %a, %b, {kind} : ({t}, {t}) -> tensor<i1>
      func.return %0 : tensor<i1>
    }}""")


def kinds(dtype: np.dtype[Any]) -> list[str]:
    if kind(dtype) == "floating":
        return ["FLOAT", "TOTALORDER"]
    return ["SIGNED" if dtype.name.startswith("int") else "UNSIGNED"]


def compared(direction: str, compare_type: str) -> Any:
    return lambda a, b, *_: (elementwise.compare(a, b, direction, compare_type),)


@pytest.fixture(params=("whole", "boxes"))
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort small arrays as a whole, or as large arrays are sorted: in boxes, and a few digits at a time."""
    if request.param == "boxes":
        for name, value in {"BLOCK": 3, "SORTED": 4, "COPIED": 4, "COLUMNS": 1}.items():
            monkeypatch.setattr(sorting, name, value)


@pytest.mark.parametrize("direction", ("LT", "GT"))
@FAST
@given(data=st.data())
def test_comparator_of_one_comparison(pieces: None, direction: str, data: st.DataObject) -> None:
    dtype = data.draw(dtypes(BOOLEANS, INTEGERS, FLOATS))
    shape = data.draw(shapes(max_rank=3, min_rank=1, max_size=5))
    dimension = data.draw(st.integers(-len(shape), len(shape) - 1))
    compare_type = data.draw(st.sampled_from(kinds(dtype)))
    operand = data.draw(arrays(dtype, shape))
    if compare_type == "FLOAT":
        operand = np.where(operand != operand, dtype.type(1), operand)  # FLOAT does not order NaN
    body = comparator(element_type_of(dtype), direction, compare_type)
    actual = evaluate("sort", operand, bodies=[body], dimension=dimension)
    (expected,) = sort((operand,), dimension, comparator=compared(direction, compare_type))
    assert same(actual, expected), f"{operand!r} {direction} {compare_type} {dimension}: {actual!r}, not {expected!r}"


@FAST
@given(data=st.data())
def test_values_move_with_their_keys(pieces: None, data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 70))
    keys, values = data.draw(arrays(np.dtype(np.int32), (n,), moderate=True)), np.arange(n, dtype=np.float32)
    body = comparator("i32", "GT", "SIGNED", ", %c: tensor<f32>, %d: tensor<f32>")
    sorted_keys, order = evaluate("sort", keys, values, bodies=[body], dimension=0)
    assert np.array_equal(order, np.argsort(-keys, kind="stable"))
    assert np.array_equal(sorted_keys, keys[order.astype(int)])


# As exported by JAX: NaNs and zeros are canonicalized, then one key after the other is compared.
TWO_KEYS = """(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.compare EQ, %c, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = stablehlo.select %1, %zero, %c : tensor<i1>, tensor<f32>
  %3 = stablehlo.compare NE, %c, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f32>
  %zero_0 = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.compare EQ, %d, %zero_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %6 = stablehlo.select %5, %zero_0, %d : tensor<i1>, tensor<f32>
  %7 = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %nan_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %8 = stablehlo.select %7, %nan_0, %6 : tensor<i1>, tensor<f32>
  %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %10 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %11 = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %12 = stablehlo.and %11, %9 : tensor<i1>
  %13 = stablehlo.or %10, %12 : tensor<i1>
  func.return %13 : tensor<i1>
}"""


def two_keys(a: Array, b: Array, c: Array, d: Array) -> tuple[Array]:
    def canonical(x: Array) -> tuple[bool, float]:
        return (bool(x != x), 0.0 if x != x else float(x))

    return (np.array((int(a), canonical(c)) < (int(b), canonical(d))),)


SELECTED = TWO_KEYS.replace(
    """  %12 = stablehlo.and %11, %9 : tensor<i1>
  %13 = stablehlo.or %10, %12 : tensor<i1>
""", """  %13 = stablehlo.select %11, %9, %10 : tensor<i1>, tensor<i1>
""")  # fmt: skip


@pytest.mark.parametrize("body", (TWO_KEYS, SELECTED))
@FAST
@given(data=st.data())
def test_several_keys(pieces: None, body: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2, min_rank=1, max_size=9))
    first = data.draw(arrays(np.dtype(np.int32), shape, moderate=True))
    second = data.draw(arrays(np.dtype(np.float32), shape))
    actual = evaluate("sort", first, second, bodies=[region(body)], dimension=-1)
    expected = sort((first, second), -1, comparator=two_keys)
    assert all(map(same, actual, expected)), (first, second, actual, expected)


def test_recognises_comparators_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_merging(*arguments: Any) -> Any:
        raise AssertionError("not by keys")

    monkeypatch.setattr(sorting, "merge_sort", no_merging)
    exchanged = TWO_KEYS.replace("or %10, %12", "or %12, %10").replace("LT, %a, %b", "GT, %b, %a")
    absolute = """(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
      %1 = stablehlo.abs %a : tensor<f32>
      %2 = stablehlo.abs %b : tensor<f32>
      %3 = stablehlo.compare GT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      func.return %3 : tensor<i1>
    }"""
    i, f = np.array([2, 1, 2, 1], np.int32), np.array([-4, np.nan, 3, 2], np.float32)
    for body in (TWO_KEYS, SELECTED, exchanged):
        keys, order = evaluate("sort", i, f, bodies=[region(body)], dimension=0)
        assert keys.tolist() == [1, 1, 2, 2] and same(order, np.array([2, np.nan, -4, 3], np.float32))
    numbers, _ = evaluate("sort", np.array([1, -3, 2, -2], np.float32), i, bodies=[region(absolute)], dimension=0)
    assert numbers.tolist() == [-3, 2, -2, 1]


CAPTURING = """func.func @main(%x: tensor<4xi32>, %p: tensor<i32>, %q: tensor<i32>) -> tensor<4xi32> {
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %s = stablehlo.multiply %p, %m : tensor<i32>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %a, %LEFT : tensor<i32>
    %2 = stablehlo.multiply %b, %RIGHT : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
"""


def test_comparators_may_capture_values() -> None:
    x, p, q = np.array([3, 1, 4, 2], np.int32), np.int32(1), np.int32(0)
    for left, right, expected in (("p", "p", [1, 2, 3, 4]), ("s", "s", [4, 3, 2, 1])):
        program = stablehlo_ref.parse(CAPTURING.replace("LEFT", left).replace("RIGHT", right))
        assert program.run(x, p, q)[0].tolist() == expected
    unequal = stablehlo_ref.parse(CAPTURING.replace("LEFT", "p").replace("RIGHT", "q"))
    assert sorted(unequal.run(x, p, q)[0].tolist()) == [1, 2, 3, 4]


DOUBLINGS = 60  # with 2**60 paths from the result to the argument


def doubled(argument: str) -> str:
    steps = [
        f"%{argument}{i + 1} = stablehlo.add %{argument}{i}, %{argument}{i} : tensor<f32>" for i in range(DOUBLINGS)
    ]
    return f"%{argument}0 = stablehlo.abs %{argument} : tensor<f32> " + " ".join(steps)


def test_shared_values_of_comparators_are_visited_once() -> None:
    program = stablehlo_ref.parse(f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = "stablehlo.sort"(%x) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        {doubled("a")}
        {doubled("b")}
        %less = stablehlo.compare LT, %a60, %b60 : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }}) {{dimension = 0 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }}""")
    x = np.array([-3, 1, 4, -2], np.float32)
    assert program.run(x, on_implementation_defined="error")[0].tolist() == [1, -2, -3, 4]
    with pytest.raises(stablehlo_ref.EvaluationError, match="#sort-unordered"):
        program.run(np.array([-3, 1, np.nan, -2], np.float32), on_implementation_defined="error")


# --- any comparator -------------------------------------------------------------------------------------------------

# Orders by the remainder of the division by 3, and numbers with the same remainder in descending order.
BY_REMAINDER = """(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.remainder %a, %three : tensor<i32>
  %1 = stablehlo.remainder %b, %three : tensor<i32>
  %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %3 = stablehlo.compare GE, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %4 = stablehlo.compare LE, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %5 = stablehlo.and %3, %4 : tensor<i1>
  %6 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %7 = stablehlo.and %5, %6 : tensor<i1>
  %8 = stablehlo.or %2, %7 : tensor<i1>
  func.return %8 : tensor<i1>
}"""


@pytest.mark.parametrize("tier", ("lanes", "scalars"))
@FAST
@given(data=st.data())
def test_strict_weak_orderings(tier: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=3, min_rank=1, max_size=6))
    dimension = data.draw(st.integers(-len(shape), len(shape) - 1))
    operand = data.draw(arrays(np.dtype(np.int32), shape, moderate=True)) % 7
    with pytest.MonkeyPatch.context() as patch:
        force(tier, patch)
        actual = evaluate("sort", operand, bodies=[region(BY_REMAINDER)], dimension=dimension)
    moved = np.moveaxis(operand, dimension, -1)
    expected = np.empty_like(moved)
    for row in np.ndindex(*moved.shape[:-1]):
        expected[row] = sorted(moved[row].tolist(), key=lambda x: (x % 3, -x))
    expected = np.moveaxis(expected, -1, dimension)
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize("n", (1, 2, 3, 17, 100, 1000))
def test_merging_is_stable(n: int) -> None:
    keys = np.random.default_rng(0).integers(0, 5, (2, n)).astype(np.int32)
    calls = []

    def less(a: Array, b: Array) -> list[Array]:
        calls.append(a.shape)
        return [a < b]

    order = sorting.merge_sort(less, [keys])
    assert np.array_equal(order - [[0], [n]], np.argsort(keys, -1, "stable"))
    assert len(calls) <= n.bit_length() ** 2


@pytest.mark.parametrize("body", ("GE", "NE", "EQ"))
def test_comparators_without_an_order_return_a_permutation(body: str) -> None:
    x = np.random.default_rng(0).integers(0, 5, 50).astype(np.int32)
    for tier in ("lanes", "recognised"):
        with pytest.MonkeyPatch.context() as patch:
            force(tier, patch)
            result = evaluate("sort", x, bodies=[comparator("i32", body, "SIGNED")], dimension=0)
        assert sorted(result.tolist()) == sorted(x.tolist())
