"""LAPACK custom_calls: the results of JAX with SciPy, of f64 without it, and left eigenvectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from routines import LETTERS, adjoint, both_precisions, call, each_letter, flag, random

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.targets.exact_lapack import scipy_linalg

Array = Any
GEEV = f"compute_left = {flag('V')}, compute_right = {flag('V')}"


def geev(a: Array, **options: Any) -> tuple[Array, Array, Array]:
    """Return complex eigenvalues, left and right eigenvectors."""
    letter = next(letter for letter, dtype in LETTERS.items() if dtype == a.dtype)
    wide, n = np.result_type(a.dtype, np.complex64), len(a)
    parts = [((n,), a.dtype)] * (1 if letter in "cz" else 2)
    results = [*parts, (a.shape, wide), (a.shape, wide), ((), "i4")]
    *values, left, right, info = call(f"lapack_{letter}geev_ffi", a, results=results, config=GEEV, **options)
    assert info == 0
    return values[0] if len(values) == 1 else values[0] + 1j * values[1], left, right


# --- SciPy ----------------------------------------------------------------------------------------------------------


def svd(a: Array, **options: Any) -> list[Array]:
    """Return the thin singular value decomposition in f32."""
    results = [(a.shape, "f4"), ((2,), "f4"), (a.shape, "f4"), ((2, 2), "f4"), ((), "i4")]
    return list(call("lapack_sgesdd_ffi", a, results=results, config=f"mode = {flag('S')}", **options)[1:4])


def test_signs_of_vectors_are_those_of_jax() -> None:
    """The expected values are those of jax.lax.linalg.svd and eigh in JAX 0.10.2 on CPUs, in f32."""
    pytest.importorskip("scipy")
    values, u, v = svd(np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    np.testing.assert_allclose(values, [9.525518, 0.5143011], 1e-5)
    np.testing.assert_allclose(u, [[-0.2298478, 0.8834610], [-0.5247449, 0.2407822], [-0.8196419, -0.4018958]], 1e-5)
    np.testing.assert_allclose(v, [[-0.6196294, -0.7848945], [-0.7848945, 0.6196294]], 1e-5)
    a = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 5]], np.float32)
    config = f"mode = {flag('V')}, uplo = {flag('L')}"
    results = [(a.shape, "f4"), ((3,), "f4"), ((), "i4")]
    vectors, eigenvalues, _ = call("lapack_ssyevd_ffi", a, results=results, config=config)
    np.testing.assert_allclose(eigenvalues, [1.3003719, 3.2391233, 5.4605050], 1e-5)
    expected = [
        [0.8097123, -0.5744267, 0.1200003],
        [-0.5664976, -0.7117855, 0.4152616],
        [0.1531228, 0.4042222, 0.9017528],
    ]
    np.testing.assert_allclose(vectors, expected, 1e-5)


@each_letter
def test_routines_are_those_of_lapack(letter: str) -> None:
    lapack = pytest.importorskip("scipy.linalg").lapack
    dtype = LETTERS[letter]
    a = random(dtype, 6, 6)
    form, *_, vectors, _, info = getattr(lapack, f"{letter}gees")(lambda *_: None, a)
    parts = [((6,), dtype)] * (1 if letter in "cz" else 2)
    results = [(a.shape, dtype), (a.shape, dtype), *parts, ((), "i4"), ((), "i4")]
    config = f"mode = {flag('V')}, sort = {flag('N')}"
    found = call(f"lapack_{letter}gees_ffi", a, results=results, config=config)
    np.testing.assert_array_equal(found[0], form)
    np.testing.assert_array_equal(found[1], vectors)
    assert found[-1] == info == 0
    packed, pivots, info = getattr(lapack, f"{letter}getrf")(a)
    found = call(f"lapack_{letter}getrf_ffi", a, results=[(a.shape, dtype), ((6,), "i4"), ((), "i4")])
    np.testing.assert_array_equal(found[0], packed)
    np.testing.assert_array_equal(found[1], pivots + 1)


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make SciPy look as if it were not installed."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    scipy_linalg.cache_clear()
    yield
    scipy_linalg.cache_clear()


def test_exact_lapack_is_the_default_without_scipy(without_scipy: None) -> None:
    a = random(np.float32, 5, 2)
    for found, expected in zip(svd(a), svd(a, exact=True)):
        np.testing.assert_array_equal(found, expected)


def test_exact_lapack_rounds_once() -> None:
    """The squares of the singular values of [[1, 1], [eps, 0]] have the sum 2 + eps**2 and the product eps**2."""
    epsilon = np.float32(2**-20)
    values, *_ = svd(np.array([[1, 1], [epsilon, 0], [0, 0]], np.float32), exact=True)
    exact = np.sqrt([2 + 2.0**-41, 2.0**-41 * (1 - 2.0**-42)])
    np.testing.assert_array_equal(values, exact.astype(np.float32))


def test_schur_decomposition_needs_scipy(without_scipy: None) -> None:
    results = [((2, 2), "f8"), ((2, 2), "f8"), ((2,), "f8"), ((2,), "f8"), ((), "i4"), ((), "i4")]
    config = f"mode = {flag('V')}, sort = {flag('N')}"
    with pytest.raises(sr.UnsupportedError, match=r"needs SciPy: pip install 'scipy>=1.11' \(the extra `lapack`\)"):
        call("lapack_dgees_ffi", np.eye(2), results=results, config=config)


def test_exact_lapack_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text("""
    func.func @main() {
      %a = stablehlo.constant dense<[[1.0, 1.0], [9.53674316E-7, 0.0], [0.0, 0.0]]> : tensor<3x2xf32>
      %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}}
        : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<i32>)
      check.expect_eq_const %0#1, dense<[1.41421354, 6.74349569E-7]> : tensor<2xf32>
      return
    }
    """)
    assert main([str(path), "--mode=exact-lapack"]) == 0


def test_exact_lapack_must_be_a_boolean() -> None:
    with pytest.raises(TypeError, match="exact_lapack"):
        sr.load("func.func @main() {\n  return\n}\n").run(exact_lapack=1)


# --- left eigenvectors ----------------------------------------------------------------------------------------------


def frank(size: int) -> Array:
    """Return the Frank matrix, whose smallest eigenvalues are ill-conditioned."""
    return np.array([[size - max(i, j) if j >= i - 1 else 0 for j in range(size)] for i in range(size)], np.float64)


def jordan(size: int, value: complex) -> Array:
    return value * np.eye(size) + np.eye(size, k=1)


def rotated(a: Array) -> Array:
    q, _ = np.linalg.qr(random(np.float64, *a.shape))
    return q @ a @ q.T


BLOCKS = np.zeros((6, 6))
BLOCKS[:3, :3], BLOCKS[3:5, 3:5], BLOCKS[5, 5] = jordan(3, 2), 2 * np.eye(2), -1
ROTATION = np.kron(np.eye(2), [[0, -1], [1, 0]]) + np.eye(4, k=2)  # i and -i, each with one eigenvector
MATRICES = {
    "2x2": np.array([[1.0, 1], [0, 1]]), "jordan": jordan(5, 2), "rotated": rotated(jordan(5, 2)), "frank": frank(12),
    "blocks": rotated(BLOCKS), "complex": jordan(4, 1j).astype(np.complex128), "rotation": ROTATION,
    "identity": np.eye(4), "zero": np.zeros((3, 3)),
}  # fmt: skip


@both_precisions
@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize("name", MATRICES)
def test_left_eigenvectors_have_small_residuals(name: str) -> None:
    a = MATRICES[name]
    values, left, _ = geev(a)
    residuals = adjoint(left) @ a - values[:, np.newaxis] * adjoint(left)
    assert np.linalg.norm(residuals, axis=1).max() <= 20 * np.finfo(np.float64).eps * np.linalg.norm(a)
    np.testing.assert_allclose(np.linalg.norm(left, axis=0), 1)


def test_left_eigenvectors_of_large_numbers() -> None:
    _, left, _ = geev(1e300 * jordan(3, 2), exact=True)
    np.testing.assert_allclose(np.abs(left), np.outer([0, 0, 1], np.ones(3)), atol=1e-14)


@both_precisions
@pytest.mark.usefixtures("precision")
def test_semisimple_eigenvalue_has_independent_left_eigenvectors() -> None:
    """A Jordan block of size 3, and two eigenvectors more: three left eigenvectors for 2, and one for -1."""
    _, left, _ = geev(BLOCKS)
    assert np.linalg.matrix_rank(left, tol=1e-4) == 4


@both_precisions
@pytest.mark.usefixtures("precision")
def test_left_eigenvectors_of_a_real_matrix_are_real_or_conjugate() -> None:
    for a in (ROTATION, random(np.float64, 7, 7)):
        values, left, _ = geev(a)
        for k, value in enumerate(values):
            if value.imag == 0:
                assert (left[:, k].imag == 0).all()
            elif value.imag > 0:
                np.testing.assert_array_equal(left[:, k + 1], np.conjugate(left[:, k]))
