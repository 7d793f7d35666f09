"""Compare batch_norm_inference, batch_norm_training and batch_norm_grad with their oracles."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.running_error import within
from spec_checks.strategies import WIDE_FLOATS, arrays, shapes
from stablehlo_ref.ops import normalization
from stablehlo_ref.semantics import normalization as oracle

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = (*WIDE_FLOATS, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
VECTORS = {"inference": 4, "training": 2, "grad": 3}  # number of operands with one element per feature


@st.composite
def arguments(draw: st.DrawFn, op: str) -> tuple[list[Array], float, int]:
    """Draw operands, epsilon and feature_index."""
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(shapes(max_rank=3, min_rank=1))
    feature_index = draw(st.integers(0, len(shape) - 1))
    sizes = [shape, *[(shape[feature_index],)] * VECTORS[op], *[shape] * (op == "grad")]
    kind = draw(st.sampled_from(["any", "whole numbers", "normal", "normal", "normal"]))
    if kind != "normal":
        operands = [draw(arrays(dtype, size, moderate=kind != "any")) for size in sizes]
    else:
        random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
        mean = draw(st.sampled_from([0, 1, 100]))
        operands = [(random.normal(size=size) + mean).astype(dtype) for size in sizes]
        if op != "training":
            variance = 4 if op == "inference" else 3
            operands[variance] = np.abs(operands[variance])
    return operands, float(np.float32(draw(st.sampled_from([0.0, 1e-3, 1e-5])))), feature_index


@pytest.mark.parametrize("long", [1, normalization.LONG])
@pytest.mark.parametrize("op", VECTORS)
@examples(everyday=15, all=40)
@given(data=st.data())
def test_batch_norm(op: str, long: int, data: st.DataObject) -> None:
    operands, epsilon, feature_index = data.draw(arguments(op))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalization, "LONG", long)
        for limit in ("BLOCK", "LONGEST"):
            patch.setattr(normalization, limit, data.draw(st.sampled_from([2, getattr(normalization, limit)])))
        results = evaluate(f"batch_norm_{op}", *operands, epsilon=epsilon, feature_index=feature_index)
    expected = getattr(oracle, f"batch_norm_{op}")(*operands, epsilon, feature_index)
    margins = getattr(bounds, f"batch_norm_{op}_bound")(*operands, epsilon, feature_index)
    if op == "inference":
        results, expected, margins = (results,), (expected,), (margins,)
    for actual, value, bound in zip(results, expected, margins):
        message = f"{operands} {epsilon} {feature_index}\n  got {actual!r}\n  not {value!r}\n  by {bound}"
        assert np.all(within(actual, value, bound)), message


@pytest.mark.parametrize("shape", [(40, 9, 10, 3), (3, 5, 200, 100)])
@pytest.mark.parametrize("feature_index", [0, 1, 3])
def test_large_tensors(shape: tuple[int, ...], feature_index: int) -> None:
    """Blocks of rows, and rows with all features several times, agree with the spec's decomposition in f64."""
    random = np.random.default_rng(0)
    features = shape[feature_index]
    x, dy = random.normal(size=shape).astype(np.float32) + 3, random.normal(size=shape).astype(np.float32)
    scale, offset = random.normal(size=(2, features)).astype(np.float32)
    others = tuple(d for d in range(4) if d != feature_index)

    def spread(v: Array) -> Array:
        return v.reshape([features if d == feature_index else 1 for d in range(4)])

    mean, variance = x.mean(others, np.float64), x.astype(np.float64).var(others)
    stddev = np.sqrt(variance + 0.5)
    normalized = (x - spread(mean)) / spread(stddev)
    actual = evaluate("batch_norm_training", x, scale, offset, epsilon=0.5, feature_index=feature_index)
    np.testing.assert_allclose(actual[0], normalized * spread(scale) + spread(offset), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(actual[1], mean, rtol=1e-6)
    np.testing.assert_allclose(actual[2], variance, rtol=1e-6)

    mean, variance = mean.astype(np.float32), variance.astype(np.float32)
    actual = evaluate("batch_norm_grad", x, scale, mean, variance, dy, epsilon=0.5, feature_index=feature_index)
    grad_scale, grad_offset = (dy * normalized).sum(others), dy.sum(others, np.float64)
    n = x.size / features
    gradient = spread(scale / stddev) * (dy - spread(grad_offset / n) - normalized * spread(grad_scale / n))
    np.testing.assert_allclose(actual[0], gradient, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(actual[1], grad_scale, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(actual[2], grad_offset, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("count", [2_000_000, 2_000_003])
def test_long_sums_are_accurate(count: int) -> None:
    """Sums of a prime number of elements, which cannot be cut into equal rows, are as accurate as others.

    The error is that of the last rounding and of 2**14 additions in f32.
    """
    x = np.random.default_rng(0).random((1, 1, count), np.float32) + np.float32(3)
    one = np.ones(1, np.float32)
    _, mean, variance = evaluate("batch_norm_training", x, one, one, epsilon=0.0, feature_index=1)
    exact = math.fsum(x.flat) / count
    assert abs(mean[0] - exact) <= np.spacing(np.float32(exact))
    spread = math.fsum((x.astype(np.float64).ravel() - exact) ** 2) / count
    assert abs(variance[0] - spread) <= 2 * np.spacing(np.float32(spread))
