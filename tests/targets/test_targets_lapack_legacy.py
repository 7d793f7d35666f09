"""Targets without the typed FFI: parameters are operands or bytes; factorizations are multiplied back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from routines import LETTERS, adjoint, both_precisions, call, close, each_letter, positive, random, real

pytestmark = [pytest.mark.usefixtures("precision"), both_precisions]

Array = Any


def call_legacy(
    target: str, parameters: list[int], *matrices: Array, results: list[tuple[tuple[int, ...], Any]]
) -> Any:
    """Return the results of a target whose leading operands are parameters."""
    return call(target, *[np.int32(n) for n in parameters], *matrices, results=results)


@each_letter
def test_potrf(letter: str) -> None:
    a = positive(LETTERS[letter], 2, 4)
    factor, info = call_legacy(f"lapack_{letter}potrf", [1, 2, 4], a, results=[(a.shape, a.dtype), ((2,), "i4")])
    close(np.tril(factor) @ adjoint(np.tril(factor)), a)
    assert info.tolist() == [0, 0]


@each_letter
def test_getrf(letter: str) -> None:
    a = random(LETTERS[letter], 3, 3)
    packed, pivots, info = call_legacy(
        f"lapack_{letter}getrf", [1, 3, 3], a, results=[(a.shape, a.dtype), ((3,), "i4"), ((), "i4")]
    )
    product = (np.tril(packed, -1) + np.eye(3)) @ np.triu(packed)
    for k in (2, 1, 0):
        product[[k, pivots[k] - 1]] = product[[pivots[k] - 1, k]]
    close(product.astype(a.dtype), a)
    assert info == 0


@each_letter
def test_geqrf_and_orgqr_return_workspaces(letter: str) -> None:
    a = random(LETTERS[letter], 5, 3)
    work = [((), "i4"), ((96,), a.dtype)]
    vectors = [(a.shape, a.dtype), ((3,), a.dtype)]
    packed, tau, info, _ = call_legacy(f"lapack_{letter}geqrf", [1, 5, 3, 96], a, results=[*vectors, *work])
    product = f"lapack_{letter}{'orgqr' if letter in 'sd' else 'ungqr'}"
    q, *_ = call_legacy(product, [1, 5, 3, 3, 96], packed, tau, results=[vectors[0], *work])
    close(q @ np.triu(packed[:3]), a)
    assert info == 0


@each_letter
@pytest.mark.parametrize("full", [0, 1])
def test_gesdd(letter: str, full: int) -> None:
    a = random(LETTERS[letter], 3, 5)
    right = ((5 if full else 3, 5), a.dtype)
    results = [(a.shape, a.dtype), ((3,), real(a.dtype)), ((3, 3), a.dtype), right, ((), "i4"), ((24,), "i4")]
    _, values, u, v, *_ = call_legacy(f"lapack_{letter}gesdd", [full, 1, 1, 3, 5, 96], a, results=results)
    close(u * values @ v[:3], a)


@each_letter
def test_syevd(letter: str) -> None:
    a = positive(LETTERS[letter], 4)
    results = [(a.shape, a.dtype), ((4,), real(a.dtype)), ((), "i4"), ((49,), a.dtype)]
    name = "syevd" if letter in "sd" else "heevd"
    vectors, values, *_ = call_legacy(f"lapack_{letter}{name}", [1, 1, 4], np.tril(a), results=results)
    close(vectors * values @ adjoint(vectors), a)


@each_letter
def test_geev_returns_workspaces_first(letter: str) -> None:
    dtype = LETTERS[letter]
    a, wide = random(dtype, 4, 4), np.result_type(dtype, np.complex64)
    parts = 2 if letter in "sd" else 1
    work = [((4, 4), dtype)] * 3 if parts == 2 else [((4, 4), dtype), ((8,), real(dtype))]
    results = [*work, *[((4,), dtype)] * parts, *[((4, 4), wide)] * 2, ((), "i4")]
    _, *found = call_legacy(f"lapack_{letter}geev", [1, 4, ord("V"), ord("V")], a, results=results)
    *values, left, right, _ = found[len(work) - 1 :]
    value = values[0] + 1j * values[1] if parts == 2 else values[0]
    close(a @ right, right * value)
    close(adjoint(left) @ a, value[:, np.newaxis] * adjoint(left))


@each_letter
@pytest.mark.parametrize("typed", [False, True])
def test_gees_returns_vectors_after_eigenvalues(letter: str, typed: bool) -> None:
    pytest.importorskip("scipy")
    dtype = LETTERS[letter]
    a, square, vector, counts = random(dtype, 4, 4), ((4, 4), dtype), ((4,), dtype), [((), "i4"), ((), "i4")]
    values, work = ([vector] * 2, []) if letter in "sd" else ([vector], [((4,), real(dtype))])
    if typed:
        results = [square, *values, square, *counts, *work]
        form, *rest = call(f"lapack_{letter}gees_ffi", a, results=results, config="mode = 86 : ui8, sort = 78 : ui8")
    else:
        results = [square, *work, *values, square, *counts]
        form, *rest = call_legacy(f"lapack_{letter}gees", [1, 4, ord("V"), ord("N")], a, results=results)
    vectors = next(x for x in rest if x.ndim == 2)
    close(vectors @ form @ adjoint(vectors), a)


@each_letter
@pytest.mark.parametrize("left, transpose", [(1, 0), (0, 1), (1, 2)])
def test_trsm(letter: str, left: int, transpose: int) -> None:
    dtype = LETTERS[letter]
    a, b = np.tril(random(dtype, 3, 3)) + 3 * np.eye(3, dtype=dtype), random(dtype, 3, 3)
    numbers = [np.int32(n) for n in (left, 1, transpose, 0, 3, 3, 1)]
    (x,) = call(f"blas_{letter}trsm", *numbers, np.array(2, dtype), a, b, results=[(b.shape, dtype)])
    op = [a, a.T, adjoint(a)][transpose]
    close(op @ x if left else x @ op, 2 * b)


def test_trsm_scales_by_an_operand() -> None:
    config = "diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8"
    a, b = np.array([[2.0, 0], [2, 4]]), np.array([[2.0], [6]])
    (x,) = call("lapack_dtrsm_ffi", a, b, np.float64(2), results=[(b.shape, "f8")], config=config)
    assert x.tolist() == [[2.0], [2.0]]  # 2 x0 = 4; 2 x0 + 4 x1 = 12


@pytest.mark.parametrize("device, triangle", [("cu", 0), ("cu", 1), ("hip", 122), ("hip", 121)])
def test_descriptor_selects_triangle(device: str, triangle: int) -> None:
    a = positive(np.float32, 4)
    kept = np.tril(a) if triangle in (0, 122) else np.triu(a)
    config = "".join(f"\\{byte:02X}" for byte in (0, 0, 0, 0, triangle, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0))
    results = [(a.shape, "f4"), ((4,), "f4"), ((), "i4"), ((256,), "f4")]
    target = f"{device}solver_syevj"
    vectors, values, *_ = call(target, kept, results=results, more=f'backend_config = "{config}"', config=None)
    close(vectors * values @ vectors.T, a)
