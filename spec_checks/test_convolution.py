"""Compare convolution with its oracle: all windows, dimension orders, groups, element types and algorithms."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.running_error import within
from spec_checks.strategies import ALL, arrays
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics import window_products, window_views
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import convolution as oracle

SUMMABLE = tuple(dtype for dtype in ALL if dtype != ml_dtypes.float8_e8m0fnu)  # that dtype has no zero
WIDER = {"int8": "int32", "uint8": "uint32", "bfloat16": "float32", "float32": "float64"}
LARGEST_RESULT = 60  # elements


def num_windows(
    size: int, length: int, padding: tuple[int, int], stride: int, base_dilation: int, dilation: int
) -> int:
    padded = sum(padding) + (0 if size == 0 else (size - 1) * base_dilation + 1)
    window = 0 if length == 0 else (length - 1) * dilation + 1
    return 0 if padded == 0 or window > padded else (padded - window) // stride + 1


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[int, ...]]:
    """Draw the shapes of the operands, the attributes and the shape of the result."""
    n = draw(st.integers(0, 3))

    def each(strategy: st.SearchStrategy[Any]) -> tuple[Any, ...]:
        return tuple(draw(strategy) for _ in range(n))

    groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    batch, features, outputs = (draw(st.integers(1, 2)) for _ in range(3))
    features = draw(st.sampled_from([features] * 9 + [0]))
    sizes, lengths = each(st.integers(0, 5) | st.integers(1, 5)), each(st.integers(0, 3) | st.integers(1, 3))
    attributes: dict[str, Any] = {
        "window_strides": each(st.integers(1, 3)),
        "padding": each(st.tuples(st.integers(-2, 3), st.integers(-2, 3))),
        "lhs_dilation": each(st.sampled_from([1, 1, 2, 3])),
        "rhs_dilation": each(st.integers(1, 2)),
        "window_reversal": each(st.booleans()),
        "feature_group_count": groups[0],
        "batch_group_count": groups[1],
    }
    names = ("padding", "window_strides", "lhs_dilation", "rhs_dilation")
    counts = [num_windows(*numbers) for numbers in zip(sizes, lengths, *(attributes[name] for name in names))]
    shapes = []
    for side, first, second, spatial in (
        ("input batch feature", batch * groups[1], features * groups[0], sizes),
        ("kernel output_feature input_feature", outputs * max(groups), features, lengths),
        ("output batch feature", batch, outputs * max(groups), counts),
    ):
        array, first_name, second_name = side.split()
        order = draw(st.permutations(range(n + 2)))
        shapes.append(tuple((first, second, *spatial)[axis] for axis in order))
        attributes[f"{array}_{first_name}_dimension"] = order.index(0)
        attributes[f"{array}_{second_name}_dimension"] = order.index(1)
        attributes[f"{array}_spatial_dimensions"] = tuple(order.index(2 + j) for j in range(n))
    assume(min(counts, default=0) >= 0 and np.prod(shapes[2]) <= LARGEST_RESULT)
    return shapes[0], shapes[1], attributes, shapes[2]


@contextmanager
def algorithms(draw: st.DrawFn) -> Iterator[None]:
    """Choose the algorithm: sizes of blocks, and whether few products and thin groups are matrix products."""
    limits = {"BLOCK_BYTES": (1, 64, 1 << 21), "MOST_TERMS": (1, 3, 1 << 11)}
    chosen = {
        name: draw(st.sampled_from(values))
        for name, values in (limits | {"THIN": (0, 2), "FEW": (0, 0, 1 << 13), "MOST_PHASES": (1, 1 << 8)}).items()
    }
    some, slab = draw(st.sampled_from((1, 1 << 16))), draw(st.sampled_from((1, 100, 1 << 20)))
    of_sums = patch.object(window_products, "TERM_BY_TERM_ELEMENTS", some)
    with patch.multiple(window_products, **chosen), of_sums, patch.object(window_views, "SLAB_BYTES", slab):
        yield


@given(st.data())
@examples(everyday=60, all=200)
def test_convolution(data: st.DataObject) -> None:
    lhs_shape, rhs_shape, attributes, shape = data.draw(convolutions())
    dtype = data.draw(st.sampled_from(SUMMABLE))
    result_dtype = np.dtype(data.draw(st.sampled_from([dtype.name, WIDER.get(dtype.name, dtype.name)])))
    moderate = data.draw(st.booleans())
    lhs, rhs = (data.draw(arrays(dtype, s, moderate)) for s in (lhs_shape, rhs_shape))
    with algorithms(data.draw):
        result = tensor_type(shape, element_type_of(result_dtype))
        actual = evaluate("convolution", lhs, rhs, result=result, **attributes)
    expected = oracle.convolution(lhs, rhs, **attributes, result=(shape, result_dtype))
    bound = bounds.convolution_bound(lhs, rhs, **attributes, result=(shape, result_dtype))
    good = within(actual, expected, bound)
    assert good.all(), f"{lhs}\n{rhs}\n{attributes}: {actual[~good]}, not {expected[~good]} within {bound[~good]}"


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_slabs_change_no_bit(data: st.DataObject) -> None:
    """A result is the same whether all of the operand is padded and converted before, or slab by slab."""
    lhs_shape, rhs_shape, attributes, shape = data.draw(convolutions())
    dtype = data.draw(st.sampled_from(SUMMABLE))
    lhs, rhs = (data.draw(arrays(dtype, s, True)) for s in (lhs_shape, rhs_shape))
    result, results = tensor_type(shape, element_type_of(dtype)), []
    with algorithms(data.draw):
        for slab in (1, 1 << 30):
            with patch.object(window_views, "SLAB_BYTES", slab):
                results.append(evaluate("convolution", lhs, rhs, result=result, **attributes))
    assert results[0].tobytes() == results[1].tobytes()


def test_scratch_memory_is_bounded() -> None:
    """The view of all windows has 40 million elements here, so a copy of it would exceed the limit."""
    lhs, rhs = np.ones((1, 1, 1000, 1000), np.float32), np.ones((1, 1, 7, 7), np.float32)
    spatial = {f"{array}_spatial_dimensions": (2, 3) for array in ("input", "kernel", "output")}
    tracemalloc.start()
    actual = evaluate(
        "convolution", lhs, rhs, **spatial,
        input_batch_dimension=0, input_feature_dimension=1, kernel_output_feature_dimension=0,
        kernel_input_feature_dimension=1, output_batch_dimension=0, output_feature_dimension=1,
        feature_group_count=1, batch_group_count=1,
    )  # fmt: skip
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert actual.shape == (1, 1, 994, 994) and (actual == 49).all()
    assert peak < 4 * lhs.nbytes
