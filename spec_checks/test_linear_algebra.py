"""Compare cholesky and triangular_solve with their oracles: all types and forms, batches, singular matrices."""

from __future__ import annotations

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
from spec_checks.strategies import COMPLEXES, WIDE_FLOATS, shapes
from stablehlo_ref.ops import linear_algebra
from stablehlo_ref.ops.linear_algebra import Transpose
from stablehlo_ref.semantics import linear_algebra as oracle

Array = np.ndarray[Any, np.dtype[Any]]

MANY = examples(everyday=25, all=80)
DTYPES = (*WIDE_FLOATS, *COMPLEXES, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
UNREAD = (0.0, 7.0, np.nan, np.inf)  # values for the triangle that is not read


@st.composite
def matrices(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Draw moderate elements, many of them +0; the oracle does not distinguish zeros."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    values = random.normal(size=shape) * (random.random(shape) < draw(st.sampled_from([0.5, 1.0])))
    if dtype.kind == "c":
        values = values + 1j * random.normal(size=shape)
    return (values + 0.0).astype(dtype)


@MANY
@given(data=st.data())
def test_cholesky(data: st.DataObject) -> None:
    dtype, lower, n = data.draw(st.sampled_from(DTYPES)), data.draw(st.booleans()), data.draw(st.integers(0, 4))
    batch = data.draw(shapes(max_rank=1, max_size=3))
    root = data.draw(matrices((*batch, n, n), dtype)).astype(np.complex128)
    a = root @ np.conjugate(root.swapaxes(-1, -2)) + data.draw(st.sampled_from([0.0, 0.5, 3.0])) * np.eye(n)
    if data.draw(st.integers(0, 4)) == 0:
        a = a - 2 * np.eye(n)
    a = (a if dtype.kind == "c" else a.real).astype(dtype)
    triangle = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
    a[..., ~triangle] = data.draw(st.sampled_from(UNREAD))
    actual, expected = evaluate("cholesky", a, lower=lower), oracle.cholesky(a, lower)
    bound = bounds.cholesky_bound(a, lower)
    is_in_doubt = np.any(np.isinf(bound) & triangle, (-1, -2), keepdims=True)  # it may be positive definite or not
    agree = within(actual, expected, bound) | is_in_doubt
    assert np.all(agree), f"{a!r}\n  got {actual!r}\n  not {expected!r}"
    for index in np.ndindex(batch):
        failed = np.isnan(actual[index]).any()
        assert failed == np.isnan(actual[index].real).all() or n == 0
        assert failed or np.all((np.triu(actual[index], 1) if lower else np.tril(actual[index], -1)) == 0)


@pytest.mark.parametrize("few", [0, linear_algebra.FEW])
@pytest.mark.parametrize("block", [1, 2, linear_algebra.BLOCK])
@MANY
@given(data=st.data())
def test_triangular_solve(block: int, few: int, data: st.DataObject) -> None:
    dtype, transpose_a = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(Transpose))
    left_side, lower, unit_diagonal = (data.draw(st.booleans()) for _ in range(3))
    n, m = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 3))
    batch = data.draw(shapes(max_rank=1, max_size=2))
    a = data.draw(matrices((*batch, n, n), dtype))
    b = data.draw(matrices((*batch, n, m) if left_side else (*batch, m, n), dtype))
    if unit_diagonal:
        a[..., range(n), range(n)] = data.draw(st.sampled_from(UNREAD))
    a[..., ~(np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T)] = data.draw(st.sampled_from(UNREAD))
    attributes = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_algebra, "BLOCK", block)
        patch.setattr(linear_algebra, "FEW", few)
        actual = evaluate("triangular_solve", a, b, transpose_a=transpose_a, **attributes)
    expected = oracle.triangular_solve(a, b, transpose_a=transpose_a.name, **attributes)
    bound = bounds.triangular_solve_bound(a, b, transpose_a=transpose_a.name, **attributes)
    assert np.all(within(actual, expected, bound)), f"{a!r} {b!r} {attributes}\n  got {actual!r}\n  not {expected!r}"


def test_large_systems() -> None:
    """Systems of several blocks of rows; multiplying the solution by the matrix returns the right-hand side."""
    random = np.random.default_rng(0)
    a, b = np.tril(random.normal(size=(100, 100))) + 8 * np.eye(100), random.normal(size=(100, 7))
    attributes = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": Transpose.NO_TRANSPOSE}
    x = evaluate("triangular_solve", a, b, **attributes)
    assert np.abs(a @ x - b).max() < 1e-13
    l = evaluate("cholesky", a @ a.T, lower=True)  # noqa: E741
    assert np.abs(l - a).max() < 1e-11


@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize(
    "scale", [0.1, 1.0]
)  # with the second, substitution in f32 has no correct digit, and it overflows
def test_inverses_of_blocks_are_as_accurate_as_substitution(scale: float, unit_diagonal: bool) -> None:
    random = np.random.default_rng(0)
    u = np.triu(random.normal(size=(3, 150, 150))) * scale + np.eye(150)
    u[1] *= np.ldexp(1.0, random.integers(-40, 40, (150, 1)))
    u[2, 70, 70] = 1 if unit_diagonal else 0
    u = u.astype(np.float32).astype(np.float64)
    b = random.normal(size=(3, 150, 5))
    b[0, 40, 2] = np.inf
    with np.errstate(all="ignore"):
        expected = linear_algebra.substitute(u, b, unit_diagonal, is_rounded=False)
        actual = linear_algebra.substitute(u, b, unit_diagonal, is_rounded=True)
    finite = np.isfinite(expected)
    assert np.array_equal(np.isfinite(actual), finite)
    assert np.allclose(actual[finite], expected[finite], rtol=1e-5 if scale < 1 else 1, atol=0)


@pytest.mark.parametrize("diagonal", [0, np.nan, np.inf, 1e-300])
def test_solutions_do_not_depend_on_other_matrices_of_the_stack(diagonal: float) -> None:
    random = np.random.default_rng(0)
    u, b = np.triu(random.normal(size=(3, 20, 20))) + 8 * np.eye(20), random.normal(size=(3, 20, 50))
    u[1, 5, 5] = diagonal
    with np.errstate(all="ignore"):
        x = linear_algebra.substitute(u, b, unit_diagonal=False, is_rounded=True)
        alone = [linear_algebra.substitute(u[i], b[i], unit_diagonal=False, is_rounded=True) for i in (0, 2)]
    assert np.array_equal(x[[0, 2]], alone)


@pytest.mark.parametrize("failing", [[], [0], [14], [3, 4, 9], range(15)])
def test_cholesky_is_nan_only_for_matrices_that_are_not_positive_definite(failing: Any) -> None:
    a = np.tile(np.array([[4.0, 0.0], [2.0, 5.0]], np.float32), (15, 1, 1))
    a[list(failing), 1, 1] = 0.5  # less than (2 / sqrt(4))**2
    expected = np.tile(np.array([[2.0, 0.0], [1.0, 2.0]], np.float32), (15, 1, 1))
    expected[list(failing)] = np.nan
    actual = evaluate("cholesky", a.reshape(3, 5, 2, 2), lower=True)
    assert np.array_equal(actual.reshape(15, 2, 2), expected, equal_nan=True)
