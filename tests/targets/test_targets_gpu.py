"""Targets of GPU libraries whose parameters or results differ from LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest
from routines import LETTERS, call, close, each_letter, random

CONFIG = "compute_uv = {uv}, full_matrices = {full}"


@pytest.mark.parametrize("routine", ["gesvdj", "gesvdp"])
def test_right_vectors_are_columns(routine: str) -> None:
    a = random(np.complex128, 2, 3, 5)
    results = [(a.shape, "c16"), ((2, 3), "f8"), ((2, 3, 3), "c16"), ((2, 5, 3), "c16"), ((2,), "i4")]
    config = CONFIG.format(uv="true", full="false")
    _, values, u, v, _ = call(f"cusolver_{routine}_ffi", a, results=results, config=config)
    close(u * values[:, np.newaxis] @ np.conjugate(v.swapaxes(1, 2)), a)


@pytest.mark.parametrize("routine", ["gesvdj", "gesvdp"])
def test_values_without_vectors(routine: str) -> None:
    a = random(np.float64, 3, 5)
    results = [(a.shape, "f8"), ((3,), "f8"), ((3, 3), "f8"), ((5, 3), "f8"), ((), "i4")]
    config = CONFIG.format(uv="false", full="false")
    _, values, *_ = call(f"hipsolver_{routine}_ffi", a, results=results, config=config)
    close(np.sum(values**2), np.sum(a**2))  # the square of the Frobenius norm


@each_letter
def test_geev_returns_conjugate_vectors_as_real_and_imaginary_parts(letter: str) -> None:
    dtype = LETTERS[letter]
    a, wide = random(dtype, 4, 4), np.result_type(dtype, np.complex64)
    a[:2, :2] = [[0, -2], [2, 0]]  # this block of a block triangular matrix has a pair of conjugate eigenvalues
    a[2:, :2] = 0
    results = [(a.shape, dtype), ((4,), wide), (a.shape, dtype), (a.shape, dtype), ((), "i4")]
    _, values, _, vectors, info = call("cusolver_geev_ffi", a, results=results, config="left = false, right = true")
    assert np.any(values.imag > 1)
    right = vectors.astype(wide)
    if letter in "sd":
        for k in np.flatnonzero(values.imag > 0):
            right[:, k], right[:, k + 1] = (
                vectors[:, k] + 1j * vectors[:, k + 1],
                vectors[:, k] - 1j * vectors[:, k + 1],
            )
    close(a @ right, right * values)
    assert info == 0


def test_geev_of_nan_returns_nan() -> None:
    results = [((2, 2), "f8"), ((2,), "c16"), ((2, 2), "f8"), ((2, 2), "f8"), ((), "i4")]
    _, values, *_, info = call(
        "cusolver_geev_ffi", np.full((2, 2), np.nan), results=results, config="left = false, right = true"
    )
    assert np.isnan(values).all()
    assert info == 1


@pytest.mark.parametrize("transpose", ["true", "false"])
def test_syrk(transpose: str) -> None:
    a, c = random(np.float64, 3, 3), random(np.float64, 3, 3)
    scalars = np.float64(2), np.float64(-1)
    config = f"transpose = {transpose}"
    (found,) = call("cusolver_syrk_ffi", a, c, *scalars, results=[((3, 3), "f8")], config=config)
    factor = a.T if transpose == "true" else a
    close(found, 2 * factor @ factor.T - c)


def test_cholesky_update() -> None:
    factor, w = np.triu(random(np.float64, 4, 4)), random(np.float64, 4)
    found, _ = call("cu_cholesky_update_ffi", factor, w, results=[((4, 4), "f8"), ((4,), "f8")])
    close(found.T @ found, factor.T @ factor + np.outer(w, w))
    close(np.tril(found, -1), np.zeros((4, 4)))
    assert np.diagonal(found).min() > 0
