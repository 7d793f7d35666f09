"""Compare gather and scatter with their oracles: any dimension numbers and indices, windows out of bounds."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref
from spec_checks.evaluate import combine, evaluate, region
from spec_checks.examples import examples
from spec_checks.strategies import ALL, BOOLEANS, COMPLEXES, FLOATS, INTEGERS, WIDE_FLOATS, arrays, dtypes, same
from stablehlo_ref.algorithms import indexed_windows, scatter_updates
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import elementwise
from stablehlo_ref.semantics import gather_scatter as oracle

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = tuple[list[Array], Array, list[Array], dict[str, Any]]

MANY = examples(everyday=40, all=120)


@st.composite
def dimension_numbers(draw: st.DrawFn) -> dict[str, Any]:
    """Draw shapes and dimension numbers of a gather or scatter, with gather's names."""
    roles = draw(st.lists(st.sampled_from(["window", "window", "collapsed", "batching"]), max_size=4))
    windows, collapsed, batching = (
        tuple(d for d, r in enumerate(roles) if r == role) for role in ("window", "collapsed", "batching")
    )
    sizes = tuple(draw(st.integers(1 if role == "collapsed" else 0, 3)) for role in roles)
    slice_sizes = tuple(
        draw(st.integers(0, n) | st.just(n)) if d in windows else min(1, n) for d, n in enumerate(sizes)
    )
    indexed = tuple(d for d in draw(st.permutations(windows + collapsed)) if draw(st.booleans()))

    batch = (*(sizes[d] for d in batching), *draw(st.lists(st.integers(0, 3), max_size=2)))
    order = draw(st.permutations(range(len(batch))))
    shape = [batch[i] for i in order]
    index_vector_dim = draw(st.integers(0, len(batch)))
    implicit = len(indexed) == 1 and index_vector_dim == len(batch) and draw(st.booleans())
    if not implicit:
        shape.insert(index_vector_dim, len(indexed))
    positions = [p + (not implicit and p >= index_vector_dim) for p in range(len(batch))]
    offset_dims = sorted(draw(st.permutations(range(len(windows) + len(batch))))[: len(windows)])
    return {
        "sizes": sizes,
        "indices_shape": tuple(shape),
        "offset_dims": tuple(offset_dims),
        "collapsed_slice_dims": collapsed,
        "operand_batching_dims": batching,
        "start_indices_batching_dims": tuple(positions[order.index(i)] for i in range(len(batching))),
        "start_index_map": indexed,
        "index_vector_dim": index_vector_dim,
        "slice_sizes": slice_sizes,
    }


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Array:
    """Draw indices of any integer type: mostly small, some out of bounds, some extreme."""
    dtype = draw(dtypes(INTEGERS))
    if draw(st.integers(0, 3)) == 0:
        return draw(arrays(dtype, shape))
    low, high = -1 if dtype.name.startswith("int") else 0, 1 if dtype.name == "int2" else 2
    numbers = draw(st.lists(st.integers(low, high), min_size=prod(shape), max_size=prod(shape)))
    return np.array(numbers, np.int8).astype(dtype).reshape(shape)


@pytest.mark.parametrize("small", [True, False], ids=["small", "large"])
@MANY
@given(data=st.data())
def test_gather(small: bool, data: st.DataObject) -> None:
    numbers = data.draw(dimension_numbers())
    operand = data.draw(arrays(data.draw(dtypes(ALL)), numbers.pop("sizes")))
    start_indices = data.draw(indices(numbers.pop("indices_shape")))
    if data.draw(st.booleans()):
        operand = operand.copy("F")  # not contiguous
    with pytest.MonkeyPatch.context() as patch:
        if not small:  # treat every window as a large one
            patch.setattr(indexed_windows, "WINDOW", 0)
            patch.setattr(indexed_windows, "BLOCK", 2)
            patch.setattr(indexed_windows, "INDICES", data.draw(st.sampled_from([1, 3])))
        actual = evaluate("gather", operand, start_indices, **numbers)
    expected = oracle.gather(operand, start_indices, **numbers)
    assert same(actual, expected), f"{operand!r} {start_indices!r} {numbers}\n  got {actual!r}\n  not {expected!r}"


BODIES = {
    "add": (*BOOLEANS, *INTEGERS, *FLOATS, *COMPLEXES),
    "multiply": (*BOOLEANS, *INTEGERS, *WIDE_FLOATS, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)),
    "maximum": (*BOOLEANS, *INTEGERS, *FLOATS),
    "minimum": (*BOOLEANS, *INTEGERS, *FLOATS),
    "and": (*BOOLEANS, *INTEGERS),
    "or": (*BOOLEANS, *INTEGERS),
    "xor": (*BOOLEANS, *INTEGERS),
}


def scatter_arguments(data: st.DataObject, dtype: np.dtype[Any], count: int = 1) -> Arguments:
    """Draw inputs, indices, updates and attributes of a scatter."""
    names = {
        "offset_dims": "update_window_dims",
        "collapsed_slice_dims": "inserted_window_dims",
        "operand_batching_dims": "input_batching_dims",
        "start_indices_batching_dims": "scatter_indices_batching_dims",
        "start_index_map": "scatter_dims_to_operand_dims",
        "index_vector_dim": "index_vector_dim",
    }
    numbers = data.draw(dimension_numbers())
    scatter_indices = data.draw(indices(numbers["indices_shape"]))
    removed = {*numbers["collapsed_slice_dims"], *numbers["operand_batching_dims"]}
    batch = [n for d, n in enumerate(numbers["indices_shape"]) if d != numbers["index_vector_dim"]]
    windows = [n for d, n in enumerate(numbers["slice_sizes"]) if d not in removed]
    shape = oracle.combine(batch, windows, numbers["offset_dims"])
    inputs = [data.draw(arrays(dtype, numbers["sizes"])) for _ in range(count)]
    news = [data.draw(arrays(dtype, shape)) for _ in range(count)]
    return inputs, scatter_indices, news, {names[k]: v for k, v in numbers.items() if k in names}


def check_scatter(
    data: st.DataObject, arguments: Arguments, body: Any, function: Any, element: np.dtype[Any] | None = None
) -> None:
    """Compare a scatter with its oracle; `function` is the update computation `body` in Python.

    `element` is the element type of the computation if it differs from that of the inputs.
    """
    inputs, scatter_indices, news, numbers = arguments
    with pytest.MonkeyPatch.context() as patch:  # every algorithm is correct for every window
        patch.setattr(scatter_updates, "PATIENCE", data.draw(st.sampled_from([0, scatter_updates.PATIENCE])))
        patch.setattr(scatter_updates, "BLOCK", data.draw(st.sampled_from([2, scatter_updates.BLOCK])))
        results = evaluate("scatter", *inputs, scatter_indices, *news, bodies=[body], **numbers)
    actual = results if len(inputs) > 1 else (results,)
    types = element and tuple((x.shape, element) for x in inputs)
    with np.errstate(all="ignore"):
        expected = oracle.scatter(
            tuple(inputs), scatter_indices, tuple(news), **numbers, update_computation=function, results=types
        )
    assert all(map(same, actual, expected)), f"{arguments}\n  got {actual!r}\n  not {expected!r}"


@MANY
@given(data=st.data())
def test_scatter_with_recognised_computation(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(sorted(BODIES)))
    dtype = data.draw(st.sampled_from(BODIES[op]))
    function = getattr(elementwise, {"and": "and_", "or": "or_"}.get(op, op))
    body = combine(op, element_type_of(dtype))
    check_scatter(data, scatter_arguments(data, dtype), body, lambda x, y: (function(x, y),))


@MANY
@given(data=st.data())
def test_scatter_with_several_inputs(data: st.DataObject) -> None:
    """The new value of each input depends on the other input and on the order of updates."""
    t = "tensor<i32>"
    body = region(
        f"(%a: {t}, %b: {t}, %c: {t}, %d: {t}) -> ({t}, {t}) {{"
        f" %0 = stablehlo.subtract %b, %c : {t} %1 = stablehlo.xor %a, %d : {t} func.return %0, %1 : {t}, {t} }}"
    )
    arguments = scatter_arguments(data, np.dtype(np.int32), 2)
    check_scatter(data, arguments, body, lambda a, b, c, d: (b - c, a ^ d))


@MANY
@given(data=st.data())
def test_scatter_with_independent_inputs(data: st.DataObject) -> None:
    t = "tensor<i32>"
    body = region(
        f"(%a: {t}, %b: {t}, %c: {t}, %d: {t}) -> ({t}, {t}) {{"
        f" %0 = stablehlo.add %a, %c : {t} func.return %0, %d : {t}, {t} }}"
    )
    arguments = scatter_arguments(data, np.dtype(np.int32), 2)
    check_scatter(data, arguments, body, lambda a, b, c, d: (a + c, d))


@MANY
@given(data=st.data())
def test_scatter_overwrites_and_promotes(data: st.DataObject) -> None:
    pairs = [("int8", "int32"), ("float16", "float32"), ("bool", "bool")]
    narrow, wide = map(np.dtype, data.draw(st.sampled_from(pairs)))
    t = f"tensor<{element_type_of(wide)}>"
    body = region(f"(%a: {t}, %b: {t}) -> {t} {{ func.return %b : {t} }}")
    check_scatter(data, scatter_arguments(data, narrow), body, lambda a, b: (b,), wide)


@pytest.mark.parametrize("count", [1, 5, 40, 300])
@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.parametrize("patience", [0, 2, 8])
def test_rounds_of_updates(count: int, rows: int, patience: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds contain each update once, no row twice, and the updates of a row in order."""
    monkeypatch.setattr(scatter_updates, "PATIENCE", patience)
    numbers = np.random.default_rng(count + rows).integers(0, rows, count)
    found = [np.arange(count)[hits] for hits in scatter_updates.rounds(numbers, rows)]
    assert sorted(np.concatenate(found)) == list(range(count))
    for hits in found:
        assert len(set(numbers[hits])) == len(hits)
    for row in range(rows):
        in_order = [k for hits in found for k in hits if numbers[k] == row]
        assert in_order == sorted(in_order)


OF_COLUMNS = {"inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1}


@pytest.mark.parametrize("columns", [(), (3,), (30,)], ids=["elements", "rows", "large"])
def test_updates_of_a_row_are_a_left_fold(columns: tuple[int, ...]) -> None:
    """Each sum is rounded, so another order has another result."""
    operand, count = np.zeros((2, *columns), np.float32) + np.float32(1e8), 1000
    numbers = np.arange(count).reshape(-1, 1) % 2
    new = np.random.default_rng(0).normal(size=(count, *columns)).astype(np.float32)
    expected = operand.copy()
    for number, value in zip(numbers[:, 0], new):
        expected[number] += value
    window_dims = tuple(range(1, 1 + len(columns)))
    body = combine("add", "f32")
    actual = evaluate("scatter", operand, numbers, new, bodies=[body], update_window_dims=window_dims, **OF_COLUMNS)
    assert same(actual, expected)


def test_scatter_in_place_does_not_change_arguments() -> None:
    """%y is last used by the first scatter and may be overwritten; %x belongs to the caller."""
    scatter = """"stablehlo.scatter"(INPUT, %i, %u) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.multiply %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
      } : (tensor<3xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<3xi32>"""
    program = stablehlo_ref.load(
        f"""
        func.func @main(%x: tensor<3xi32>, %i: tensor<2x1xi32>, %u: tensor<2xi32>) -> (tensor<3xi32>, tensor<3xi32>) {{
          %y = stablehlo.add %x, %x : tensor<3xi32>
          %0 = {scatter.replace("INPUT", "%y")}
          %1 = {scatter.replace("INPUT", "%x")}
          func.return %0, %1 : tensor<3xi32>, tensor<3xi32>
        }}"""
    )
    x = np.array([1, 2, 3], np.int32)
    first, second = program.run(x, np.array([[2], [2]], np.int32), np.array([5, 7], np.int32))
    assert x.tolist() == [1, 2, 3]
    assert first.tolist() == [2, 4, 210]
    assert second.tolist() == [1, 2, 105]
