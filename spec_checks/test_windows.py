"""Compare reduce_window and select_and_scatter with their oracles, and check the order of elements in windows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from spec_checks.evaluate import combine, evaluate, region
from spec_checks.examples import examples
from spec_checks.schedules import is_among, reduce_schedules
from spec_checks.strategies import BOOLEANS, FLOATS, INTEGERS, WIDE_FLOATS, arrays, dtypes, same, shapes
from spec_checks.test_reduction import (
    ANY_ORDER,
    GENERAL,
    TIERS,
    WITH_SHAPES,
    Concatenate,
    computation_of,
    force,
    names,
    small,
)
from stablehlo_ref.algorithms import reduction_schedule, sliding_windows, window_reductions
from stablehlo_ref.algorithms.window_reductions import BOX, LARGE, full_windows
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops import windows as algorithm
from stablehlo_ref.ops.windows import num_windows
from stablehlo_ref.semantics import elementwise
from stablehlo_ref.semantics.reduction import reduce_window, select_and_scatter

__all__ = ["small"]

Array = np.ndarray[Any, np.dtype[Any]]

FAST = examples(everyday=8, all=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
Windows = dict[str, Any]


@st.composite
def windows(draw: st.DrawFn, shape: tuple[int, ...]) -> Windows:
    """Draw attributes of reduce_window with a limited number of windows."""
    rank = len(shape)

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    attributes = {
        "window_dimensions": numbers(1, 4),
        "window_strides": numbers(1, 3),
        "base_dilations": numbers(1, 3),
        "window_dilations": numbers(1, 2),
        "padding": tuple(zip(numbers(-2, 3), numbers(-2, 3))),
    }
    if draw(st.integers(0, 3)) == 0 and rank and min(shape) > 0:
        axis, reverse = draw(st.integers(0, rank - 1)), draw(st.booleans())
        attributes = dict.fromkeys(attributes, (1,) * rank)
        window, padding = [1] * rank, [(0, 0)] * rank
        window[axis] = n = shape[axis]
        padding[axis] = (0, n - 1) if reverse else (n - 1, 0)
        dilations = numbers(1, 2) if draw(st.integers(0, 3)) == 0 else (1,) * rank
        attributes |= {"window_dimensions": tuple(window), "window_dilations": dilations, "padding": tuple(padding)}
    return attributes


def sizes_of(shape: tuple[int, ...], attributes: Windows) -> tuple[int, ...]:
    return num_windows(
        shape, attributes["window_dimensions"], attributes["window_strides"], attributes["base_dilations"],
        attributes["window_dilations"], attributes["padding"],
    )  # type: ignore[return-value]  # fmt: skip


@pytest.mark.parametrize("op", ("maximum", "minimum", "and", "or"))
@FAST
@given(data=st.data())
def test_windows_of_idempotent_ops(op: str, data: st.DataObject) -> None:
    """The result does not depend on how often the init value is combined."""
    dtype, shape = data.draw(dtypes(ANY_ORDER[op])), data.draw(shapes(max_rank=3, max_size=4))
    operand, init, attributes = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ())), data.draw(windows(shape))
    actual = evaluate("reduce_window", operand, init, bodies=[combine(op, element_type_of(dtype))], **attributes)
    result = ((sizes_of(shape, attributes), dtype),)
    (expected,) = reduce_window((operand,), (init,), **attributes, body=computation_of(op), results=result)
    assert same(actual, expected), f"{op} {operand!r} {init!r} {attributes}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize("op", ("add", "multiply", "xor"))
@FAST
@given(data=st.data())
def test_windows_of_sums(op: str, data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes(BOOLEANS, INTEGERS)), data.draw(shapes(max_rank=3, max_size=4))
    operand, init, attributes = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ())), data.draw(windows(shape))
    actual = evaluate("reduce_window", operand, init, bodies=[combine(op, element_type_of(dtype))], **attributes)
    result = ((sizes_of(shape, attributes), dtype),)
    (expected,) = reduce_window((operand,), (init,), **attributes, body=computation_of(op), results=result)
    assert same(actual, expected), f"{op} {operand!r} {init!r} {attributes}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize("init", (0, 3))
@pytest.mark.parametrize("padding", ((2, 0), (0, 2)))
@pytest.mark.parametrize("body", ("%a", "%b", "%c", "%difference"))
def test_padding_is_combined_by_regions_without_neutral_element(body: str, padding: tuple[int, int], init: int) -> None:
    functions = {"%a": lambda a, b: (a,), "%b": lambda a, b: (b,), "%c": lambda a, b: (np.array(7),)}
    t = "tensor<i64>"
    block = region(f"""(%a: {t}, %b: {t}) -> {t} {{
      %c = stablehlo.constant dense<7> : {t}
      %difference = stablehlo.subtract %a, %b : {t}
      func.return {body} : {t}
    }}""")
    x = np.array([5, 1, 4])
    padded = np.pad(x, padding, constant_values=init)
    actual = evaluate("reduce_window", x, np.int64(init), bodies=[block], window_dimensions=(3,), padding=(padding,))
    for start, result in enumerate(actual):
        window, function = padded[start : start + 3], functions.get(body, lambda a, b: (a - b,))
        allowed = reduce_schedules((window,), (np.int64(init),), function)
        assert is_among((result,), allowed), f"{window} with {init}: {result}, not one of {allowed}"


@pytest.mark.parametrize("op", ("add", "multiply", "subtract", "divide"))
@FAST
@given(data=st.data())
def test_short_windows_are_folded_from_the_left(op: str, data: st.DataObject) -> None:
    floats = WIDE_FLOATS if op == "divide" else FLOATS  # formats without NaN have zeros instead, of either sign
    dtype, shape = data.draw(dtypes(floats)), data.draw(shapes(max_rank=2, max_size=4))
    operand, init, attributes = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ())), data.draw(windows(shape))
    actual = evaluate("reduce_window", operand, init, bodies=[combine(op, element_type_of(dtype))], **attributes)
    result = ((sizes_of(shape, attributes), dtype),)
    (expected,) = reduce_window((operand,), (init,), **attributes, body=computation_of(op), results=result)
    assert same(actual, expected), f"{op} {operand!r} {init!r} {attributes}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize("op", ("subtract", "divide"))
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((120,), {"window_dimensions": (80,)}),
        ((20, 25), {"window_dimensions": (9, 11), "window_strides": (2, 3), "padding": ((3, 0), (0, 4))}),
        ((90,), {"window_dimensions": (90,), "padding": ((89, 0),)}),
        ((90,), {"window_dimensions": (90,), "padding": ((0, 89),)}),
    ],
)
def test_windows_of_ops_that_are_not_associative(op: str, shape: tuple[int, ...], attributes: Windows) -> None:
    x, init = np.random.default_rng(0).uniform(0.9, 1.1, shape).astype(np.float32), np.float32(1)
    ones = dict.fromkeys(("window_strides", "base_dilations", "window_dilations"), (1,) * len(shape))
    attributes = {**ones, "padding": ((0, 0),) * len(shape), **attributes}
    actual = evaluate("reduce_window", x, init, bodies=[combine(op, "f32")], **attributes)
    result = ((sizes_of(shape, attributes), x.dtype),)
    (expected,) = reduce_window((x,), (init,), **attributes, body=computation_of(op), results=result)
    assert same(actual, expected)


def test_rejects_padding_larger_than_memory() -> None:
    x, body = np.ones(1, np.float32), combine("add", "f32")
    attributes = {"window_dimensions": (100,), "window_strides": (1 << 48,), "padding": ((0, 1 << 62),)}
    with pytest.raises(EvaluationError, match="tensor<4611686018427387905xf32>, is larger than the address space"):
        evaluate("reduce_window", x, np.float32(0), bodies=[body], **attributes)


def test_short_windows_of_padding_larger_than_memory() -> None:
    x, body = np.ones(1, np.float32), combine("add", "f32")
    attributes = {"window_dimensions": (1,), "window_strides": (1 << 48,), "padding": ((0, 1 << 62),)}
    actual = evaluate("reduce_window", x, np.float32(0), bodies=[body], **attributes)
    assert same(actual, np.eye(1, (1 << 14) + 1, dtype=np.float32)[0])


@pytest.mark.parametrize("body", (GENERAL, WITH_SHAPES))
@FAST
@given(data=st.data())
def test_tiers_agree_on_general_regions(body: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2, max_size=5))
    x, attributes = np.random.default_rng(1).standard_normal(shape).astype(np.float32), data.draw(windows(shape))
    results = []
    for tier in TIERS:
        with pytest.MonkeyPatch.context() as patch:
            force(tier, patch)
            results.append(evaluate("reduce_window", x, np.float32(0.25), bodies=[region(body)], **attributes))
    assert all(same(result, results[0]) for result in results)


@pytest.mark.parametrize("body", ("add", "subtract", "maximum", "minimum", GENERAL))
@FAST
@given(data=st.data())
def test_strategies_agree_bitwise(body: str, data: st.DataObject) -> None:
    """All windows at once, only full ones, and box by box."""
    dtype = data.draw(dtypes(FLOATS, (np.dtype(np.int8),))) if body != GENERAL else np.dtype(np.float32)
    shape = data.draw(shapes(max_rank=3, max_size=5))
    x, init, attributes = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ())), data.draw(windows(shape))
    block = region(body) if body == GENERAL else combine(body, element_type_of(dtype))
    results = []
    for full, large, box in ((lambda _: None, LARGE, BOX), (full_windows, LARGE, BOX), (full_windows, 0, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(window_reductions, "full_windows", full)
            patch.setattr(window_reductions, "LARGE", large)
            patch.setattr(window_reductions, "BOX", box)
            for layout in (x, x.T.copy().T):
                results.append(evaluate("reduce_window", layout, init, bodies=[block], **attributes))
    assert all(same(result, results[0]) for result in results)


def test_default_attributes() -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    body = combine("add", element_type_of(x.dtype))
    assert evaluate("reduce_window", x, np.int32(0), bodies=[body], window_dimensions=(2, 2)).tolist() == [[8, 12]]


# --- the order of elements ------------------------------------------------------------------------------------------


@examples(everyday=60, all=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=shapes(max_rank=3, max_size=9, min_rank=1, min_size=1), data=st.data())
def test_windows_keep_the_order_of_elements(small: None, shape: tuple[int, ...], data: st.DataObject) -> None:
    rank = len(shape)
    window = tuple(data.draw(st.integers(1, n)) for n in shape)
    strides = tuple(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    dilations = tuple(data.draw(st.integers(1, max(1, (n - 1) // max(1, w - 1)))) for n, w in zip(shape, window))
    operand = names(shape)
    (actual,) = sliding_windows.reduce_windows(Strings(), [operand], window, strides, dilations)
    (folded,) = sliding_windows.fold_windows(Strings(), [""], [operand], window, strides, dilations)  # type: ignore[list-item]
    expected = np.empty(actual.shape, object)
    for index in np.ndindex(*actual.shape):
        starts = [i * s for i, s in zip(index, strides)]
        ends = [a + (w - 1) * d + 1 for a, w, d in zip(starts, window, dilations)]
        expected[index] = "".join(operand[tuple(map(slice, starts, ends, dilations))].flat)
    assert np.array_equal(actual, expected) and np.array_equal(folded, expected)
    ones = (1,) * rank
    assert actual.shape == num_windows(shape, window, strides, ones, dilations, ((0, 0),) * rank)


@pytest.mark.parametrize("size", (70, 100, 129))
def test_long_windows_keep_the_order_of_elements(size: int, small: None) -> None:
    operand = names((130,))
    for stride in (1, 7, 60):
        (actual,) = sliding_windows.reduce_windows_along(Concatenate(), [operand], 0, size, stride, 1)  # type: ignore[arg-type]
        assert list(actual) == ["".join(operand[i : i + size]) for i in range(0, 131 - size, stride)]


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("shape", ((1,), (2,), (7,), (64,), (3, 5), (5, 600), (2, 9, 3)))
def test_running_folds_keep_the_order_of_elements(
    shape: tuple[int, ...], reverse: bool, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliding_windows, "CHUNK", 16)
    operand = names(shape)
    for axis in range(len(shape)):
        order = (slice(None),) * axis + (slice(None, None, -1 if reverse else 1),)
        expected = operand[order].copy()
        for i in range(1, shape[axis]):
            here, before = ((slice(None),) * axis + (k,) for k in (i, i - 1))
            expected[here] = expected[here] + expected[before] if reverse else expected[before] + expected[here]
        (actual,) = sliding_windows.reduce_cumulatively(Strings(), axis, reverse, [], [operand])  # type: ignore[arg-type]
        assert np.array_equal(actual, expected[order])


@pytest.mark.parametrize("n", (1, 2, 15, 16, 17, 64, 100, 127, 128, 129, 1000))
def test_chunks_of_running_folds_change_no_bit(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((3, n, 2)).astype(np.float32)
    monkeypatch.setattr(sliding_windows, "RUN", 1)
    results = []
    for chunk in (1, 16, 64, 1 << 19):
        monkeypatch.setattr(sliding_windows, "CHUNK", chunk)
        results.append(sliding_windows.reduce_cumulatively(Additions(), 1, False, [], [x])[0])
    assert all(same(result, results[-1]) for result in results)


class Additions(reduction_schedule.Combine):
    """Adds f32 numbers."""

    def __init__(self) -> None:
        self.dtype, self.ufunc = np.dtype(np.float32), np.add


class Strings(reduction_schedule.Combine):
    """As `Concatenate`, with the other methods of Combine."""

    def __init__(self) -> None:
        self.dtype = np.dtype(object)
        self.each = lambda lhs, rhs: [lhs + rhs]


@pytest.mark.parametrize("padding", (((0, 0), (299, 0)), ((0, 0), (0, 299)), ((39, 0), (0, 0)), ((0, 39), (0, 0))))
def test_running_sums(padding: tuple[tuple[int, int], ...]) -> None:
    x = np.random.default_rng(0).integers(-8, 8, (40, 300)).astype(np.float32)  # for exact sums
    window = tuple(max(p) + 1 for p in padding)
    body = combine("add", element_type_of(x.dtype))
    actual = evaluate("reduce_window", x, np.float32(0), bodies=[body], window_dimensions=window, padding=padding)
    axis = int(window[0] == 1)
    backwards = padding[axis][0] == 0
    expected = np.flip(np.flip(x, axis).cumsum(axis), axis) if backwards else x.cumsum(axis)
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize("op", ("maximum", "minimum"))
def test_extremes_of_zeros_of_both_signs(op: str) -> None:
    x = np.array([[-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]], np.float32)
    init = np.float32(-np.inf if op == "maximum" else np.inf)
    body = combine(op, element_type_of(x.dtype))
    last = elementwise.maximum(x[:, 0], x[:, 1]) if op == "maximum" else elementwise.minimum(x[:, 0], x[:, 1])
    total = evaluate("reduce", x, init, bodies=[body], dimensions=(1,))
    window = evaluate("reduce_window", x, init, bodies=[body], window_dimensions=(1, 2))
    running = evaluate("reduce_window", x, init, bodies=[body], window_dimensions=(1, 2), padding=((0, 0), (1, 0)))
    for result in (total, window[:, 0], running[:, 1]):
        assert same(result, last)


# --- select_and_scatter ---------------------------------------------------------------------------------------------


def select_body(direction: str, element: Any) -> Any:
    t = f"tensor<{element}>"
    return region(f"""(%a: {t}, %b: {t}) -> tensor<i1> {{
      %0 = stablehlo.compare {direction}, %a, %b : ({t}, {t}) -> tensor<i1>
      func.return %0 : tensor<i1>
    }}""")


@pytest.mark.parametrize("scatter", ("maximum", "add"))
@pytest.mark.parametrize(("direction", "few"), (("GE", 99), ("GT", 99), ("LE", 99), ("NE", 99), ("GE", 0), ("GT", 0)))
@FAST
@given(data=st.data())
def test_select_and_scatter(direction: str, few: int, scatter: str, data: st.DataObject) -> None:
    """Windows of up to `few` elements are searched by position, larger ones are folded in a tree.

    What a tree selects is defined by an order of the elements: not with NE, nor where there are NaNs.
    """
    dtype = data.draw(dtypes(INTEGERS, FLOATS) if scatter == "maximum" else dtypes(INTEGERS))
    shape = data.draw(shapes(max_rank=3, max_size=4))
    rank = len(shape)
    window = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    strides = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    padding = tuple((data.draw(st.integers(-1, w)), data.draw(st.integers(-1, w))) for w in window)
    source_shape = num_windows(shape, window, strides, (1,) * rank, (1,) * rank, padding)
    operand, init = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ()))
    source = data.draw(arrays(dtype, source_shape))  # type: ignore[arg-type]
    if not prod(source_shape):
        return
    if few == 0:
        operand = np.where(operand == operand, operand, np.zeros((), dtype))
    element = element_type_of(dtype)
    bodies = [select_body(direction, element), combine(scatter, element)]
    attributes = {"window_dimensions": window, "window_strides": strides, "padding": padding}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "FEW", few)
        actual = evaluate("select_and_scatter", operand, source, init, bodies=bodies, **attributes)
    expected = select_and_scatter(
        operand, source, init, **attributes, scatter=computation_of(scatter), result=(shape, dtype),
        select=lambda a, b: (elementwise.compare(a, b, direction),),
    )  # fmt: skip
    assert same(actual, expected), f"{operand!r} {source!r} {init!r} {attributes}: {actual!r}, not {expected!r}"


def test_huge_windows() -> None:
    """Windows that are mostly padding, or contain the whole operand, take little time and memory."""
    bodies = [select_body("GE", "f32"), combine("add", "f32")]
    x, n = np.array([1, 3, 2, 3], np.float32), 1 << 18
    attributes = {"window_dimensions": (n,), "padding": ((n - 4, n - 1),)}
    source = np.ones(n, np.float32)
    actual = evaluate("select_and_scatter", x, source, np.float32(0), bodies=bodies, **attributes)
    assert actual.tolist() == [0, n - 2, 0, 2]  # the last windows contain [2, 3] and [3]
    y = np.arange(n, dtype=np.float32)
    whole = evaluate("select_and_scatter", y, source[:1], np.float32(0), bodies=bodies, window_dimensions=(n,))
    assert np.flatnonzero(whole).tolist() == [n - 1]
