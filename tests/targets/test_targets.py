"""custom_call targets: factorizations are multiplied back, other results compared with values by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from routines import LETTERS, adjoint, both_precisions, call, close, each_letter, flag, positive, random, real

import stablehlo_ref as sr

pytestmark = [pytest.mark.usefixtures("precision"), both_precisions]

Array = Any


def permuted(a: Array, pivots: Array) -> Array:
    """Return the rows of a matrix after swaps with pivots, counted from 1."""
    a = a.copy()
    for k, pivot in enumerate(pivots - 1):
        a[[k, pivot]] = a[[pivot, k]]
    return a


# --- triangles ------------------------------------------------------------------------------------------------------


@each_letter
@pytest.mark.parametrize("uplo", "LU")
def test_potrf(letter: str, uplo: str) -> None:
    dtype = LETTERS[letter]
    a = positive(dtype, 2, 4)
    a[1, 2, 2] = -1
    factor, info = call(
        f"lapack_{letter}potrf_ffi", a, results=[(a.shape, dtype), ((2,), np.int32)], config=f"uplo = {flag(uplo)}"
    )
    triangle = np.tril(factor[0]) if uplo == "L" else adjoint(np.triu(factor[0]))
    close(triangle @ adjoint(triangle), a[0])
    np.testing.assert_array_equal((np.triu if uplo == "L" else np.tril)(factor[0] - a[0], 1 if uplo == "L" else -1), 0)
    assert info.tolist() == [0, 3]


@each_letter
@pytest.mark.parametrize("rows, columns", [(4, 4), (5, 3), (3, 5), (1, 1), (40, 70), (0, 3)])
def test_getrf(letter: str, rows: int, columns: int) -> None:
    dtype, steps = LETTERS[letter], min(rows, columns)
    a = random(dtype, 2, rows, columns)
    results = [(a.shape, dtype), ((2, steps), np.int32), ((2,), np.int32)]
    packed, pivots, info = call(f"lapack_{letter}getrf_ffi", a, results=results)
    for matrix, p, original in zip(packed, pivots, a):
        lower = np.tril(matrix[:, :steps], -1) + np.eye(rows, steps)
        assert np.abs(lower).max(initial=0) <= (2 if letter in "cz" else 1)
        close((lower @ np.triu(matrix[:steps])).astype(dtype), permuted(original, p))
    assert info.tolist() == [0, 0]


def test_getrf_reports_the_first_zero_pivot() -> None:
    a = np.array([[1.0, 2, 3], [2, 4, 6], [0, 0, 1]])
    _, pivots, info = call("lapack_dgetrf_ffi", a, results=[((3, 3), "f8"), ((3,), "i4"), ((), "i4")])
    assert pivots.tolist() == [2, 2, 3]
    assert info == 2


@each_letter
@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize("trans", "NTC")
def test_trsm(letter: str, side: str, trans: str) -> None:
    dtype = LETTERS[letter]
    a, b = np.tril(random(dtype, 3, 3)) + 3 * np.eye(3, dtype=dtype), random(dtype, 3, 3)
    config = f"diag = {flag('N')}, side = {flag(side)}, trans_x = {flag(trans)}, uplo = {flag('L')}"
    (x,) = call(f"lapack_{letter}trsm_ffi", a, b, results=[(b.shape, dtype)], config=config)
    op = {"N": a, "T": a.T, "C": adjoint(a)}[trans]
    close(op @ x if side == "L" else x @ op, b)


@each_letter
@pytest.mark.parametrize("size, stored", [(1, 1), (2, 1), (6, 5), (6, 6)])
def test_gtsv(letter: str, size: int, stored: int) -> None:
    dtype = LETTERS[letter]
    lower, diagonal, upper = random(dtype, 2, stored), random(dtype, 2, size), random(dtype, 2, stored)
    b = random(dtype, 2, size, 3)
    results = [(x.shape, dtype) for x in (lower, diagonal, upper, b)] + [((2,), np.int32)]
    *_, x, info = call(f"lapack_{letter}gtsv_ffi", lower, diagonal, upper, b, results=results)
    for low, d, up, solution, right in zip(lower[:, stored - size + 1 :], diagonal, upper[:, : size - 1], x, b):
        close(
            ((np.diag(low, -1) if size > 1 else 0) + np.diag(d) + (np.diag(up, 1) if size > 1 else 0)) @ solution, right
        )
    assert info.tolist() == [0, 0]


# --- reflectors -----------------------------------------------------------------------------------------------------


@each_letter
@pytest.mark.parametrize("rows, columns", [(5, 3), (3, 5), (4, 4), (70, 40), (1, 1)])
def test_geqrf_and_orgqr(letter: str, rows: int, columns: int) -> None:
    dtype, steps = LETTERS[letter], min(rows, columns)
    a = random(dtype, 2, rows, columns)
    packed, tau = call(f"lapack_{letter}geqrf_ffi", a, results=[(a.shape, dtype), ((2, steps), dtype)])
    multiply = "ungqr" if letter in "cz" else "orgqr"
    (q,) = call(f"lapack_{letter}{multiply}_ffi", packed[..., :steps], tau, results=[((2, rows, steps), dtype)])
    close(adjoint(q) @ q, np.broadcast_to(np.eye(steps, dtype=dtype), (2, steps, steps)))
    close(q @ np.triu(packed[:, :steps]), a)


@each_letter
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("transpose", ["true", "false"])
def test_ormqr(letter: str, left: str, transpose: str) -> None:
    dtype = LETTERS[letter]
    name = "un" if letter in "cz" else "or"
    packed, tau = call(f"lapack_{letter}geqrf_ffi", random(dtype, 4, 4), results=[((4, 4), dtype), ((4,), dtype)])
    (q,) = call(f"lapack_{letter}{name}gqr_ffi", packed, tau, results=[((4, 4), dtype)])
    c = random(dtype, 4, 4) + 1
    config = f"left = {left}, transpose = {transpose}"
    (product,) = call(f"lapack_{letter}{name}mqr_ffi", packed, tau, c, results=[((4, 4), dtype)], config=config)
    op = adjoint(q) if transpose == "true" else q
    close(product, op @ c if left == "true" else c @ op)


@each_letter
def test_geqp3(letter: str) -> None:
    dtype = LETTERS[letter]
    a, chosen = random(dtype, 2, 5, 4), np.array([[0, 0, 0, 0], [0, 0, 1, 0]], np.int32)
    results = [(a.shape, dtype), ((2, 4), np.int32), ((2, 4), dtype)]
    packed, columns, tau = call(f"lapack_{letter}geqp3_ffi", a, chosen, results=results)
    multiply = "ungqr" if letter in "cz" else "orgqr"
    (q,) = call(f"lapack_{letter}{multiply}_ffi", packed, tau, results=[(a.shape, dtype)])
    close(q @ np.triu(packed[:, :4]), np.take_along_axis(a, columns[:, np.newaxis] - 1, -1))
    diagonal = np.abs(np.diagonal(packed, axis1=-2, axis2=-1))
    assert (np.diff(diagonal[0]) <= 0).all()
    assert columns[1, 0] == 3


@each_letter
def test_gehrd(letter: str) -> None:
    dtype = LETTERS[letter]
    a = random(dtype, 2, 5, 5)
    results = [(a.shape, dtype), ((2, 4), dtype), ((2,), np.int32)]
    packed, tau, info = call(f"lapack_{letter}gehrd_ffi", a, results=results, config="low = 1 : i32, high = 5 : i32")
    q = reflectors_below(packed, tau)
    close(q @ np.triu(packed, -1) @ adjoint(q), a)
    assert info.tolist() == [0, 0]


def reflectors_below(packed: Array, tau: Array) -> Array:
    """Return the product of the reflectors stored below the first subdiagonal."""
    q = np.broadcast_to(np.eye(packed.shape[-1], dtype=packed.dtype), packed.shape)
    for k in range(tau.shape[-1]):
        v = np.tril(packed, -2)[..., k]
        v[..., k + 1] = 1
        q = q - tau[..., k, np.newaxis, np.newaxis] * (q @ v[..., np.newaxis]) @ adjoint(v[..., np.newaxis])
    return q


@each_letter
@pytest.mark.parametrize("uplo", "LU")
def test_sytrd(letter: str, uplo: str) -> None:
    dtype = LETTERS[letter]
    a = positive(dtype, 2, 5)
    results = [(a.shape, dtype), ((2, 5), real(dtype)), ((2, 4), real(dtype)), ((2, 4), dtype), ((2,), np.int32)]
    name = "hetrd" if letter in "cz" else "sytrd"
    packed, diagonal, off, tau, _ = call(
        f"lapack_{letter}{name}_ffi", a, results=results, config=f"uplo = {flag(uplo)}"
    )
    order = 1 if uplo == "L" else -1
    q = reflectors_below(packed[:, ::order, ::order], tau[:, ::order])[:, ::order, ::order]
    similar = np.stack([np.diag(d) + np.diag(e, 1) + np.diag(e, -1) for d, e in zip(diagonal, off)])
    close(q @ similar @ adjoint(q), a)


# --- eigenvalues and singular values --------------------------------------------------------------------------------


@each_letter
@pytest.mark.parametrize("mode", "ASN")
@pytest.mark.parametrize("routine", ["gesdd", "gesvd"])
def test_singular_values(letter: str, mode: str, routine: str) -> None:
    dtype = LETTERS[letter]
    a = random(dtype, 2, 5, 3)
    columns = 5 if mode != "S" else 3
    results = [(a.shape, dtype), ((2, 3), real(dtype)), ((2, 5, columns), dtype), ((2, 3, 3), dtype), ((2,), np.int32)]
    _, values, u, v, info = call(f"lapack_{letter}{routine}_ffi", a, results=results, config=f"mode = {flag(mode)}")
    close(values, np.sqrt(np.linalg.eigvalsh(adjoint(a) @ a)[..., ::-1]))
    if mode != "N":
        close(u[..., :3] * values[:, np.newaxis] @ v, a)
        close(adjoint(u) @ u, np.broadcast_to(np.eye(columns, dtype=dtype), (2, columns, columns)))
    assert info.tolist() == [0, 0]


@each_letter
@pytest.mark.parametrize("uplo", "LU")
def test_syevd(letter: str, uplo: str) -> None:
    dtype = LETTERS[letter]
    a = positive(dtype, 2, 4)
    given = (np.tril if uplo == "L" else np.triu)(a)
    name = "heevd" if letter in "cz" else "syevd"
    results = [(a.shape, dtype), ((2, 4), real(dtype)), ((2,), np.int32)]
    config = f"mode = {flag('V')}, uplo = {flag(uplo)}"
    vectors, values, info = call(f"lapack_{letter}{name}_ffi", given, results=results, config=config)
    close(vectors * values[:, np.newaxis] @ adjoint(vectors), a)
    assert (np.diff(values) >= 0).all()
    assert info.tolist() == [0, 0]


def test_syevd_of_nan_returns_nan() -> None:
    a = np.stack([np.eye(3), np.full((3, 3), np.nan)])
    results = [(a.shape, "f8"), ((2, 3), "f8"), ((2,), "i4")]
    config = f"mode = {flag('V')}, uplo = {flag('L')}"
    vectors, values, info = call("lapack_dsyevd_ffi", a, results=results, config=config)
    assert info.tolist() == [0, 1]
    np.testing.assert_array_equal(np.abs(vectors[0]), np.eye(3))
    assert np.isnan(values[1]).all()


@each_letter
def test_geev(letter: str) -> None:
    dtype = LETTERS[letter]
    a = random(dtype, 2, 4, 4)
    wide = np.result_type(dtype, np.complex64)
    parts = [((2, 4), dtype)] if letter in "cz" else [((2, 4), dtype)] * 2
    results = [*parts, (a.shape, wide), (a.shape, wide), ((2,), np.int32)]
    config = f"compute_left = {flag('V')}, compute_right = {flag('V')}"
    *values, left, right, info = call(f"lapack_{letter}geev_ffi", a, results=results, config=config)
    w = values[0] if letter in "cz" else values[0] + 1j * values[1]
    close(a @ right, right * w[:, np.newaxis])
    close(adjoint(left) @ a, w[..., np.newaxis] * adjoint(left))
    close(np.linalg.norm(left, axis=-2), np.ones((2, 4), real(dtype)))
    assert info.tolist() == [0, 0]


@each_letter
def test_gees(letter: str) -> None:
    pytest.importorskip("scipy")
    dtype = LETTERS[letter]
    a = random(dtype, 2, 4, 4)
    parts = [((2, 4), dtype)] if letter in "cz" else [((2, 4), dtype)] * 2
    results = [(a.shape, dtype), (a.shape, dtype), *parts, ((2,), np.int32), ((2,), np.int32)]
    config = f"mode = {flag('V')}, sort = {flag('N')}"
    form, vectors, *values, _, info = call(f"lapack_{letter}gees_ffi", a, results=results, config=config)
    close(vectors @ form @ adjoint(vectors), a)
    np.testing.assert_array_equal(np.tril(form, -1 if letter in "cz" else -2), 0)
    w = values[0] if letter in "cz" else values[0] + 1j * values[1]
    close(np.sort_complex(w).astype(np.result_type(dtype, np.complex64)), np.sort_complex(np.linalg.eigvals(a)))
    assert info.tolist() == [0, 0]


# --- GPUs and XLA -----------------------------------------------------------------------------------------------------


def test_gpu_libraries_have_boolean_parameters() -> None:
    a, wide = positive(np.float64, 3), random(np.float64, 2, 5)
    (factor, _) = call("cusolver_potrf_ffi", a, results=[((3, 3), "f8"), ((), "i4")], config="lower = true")
    close(np.tril(factor) @ np.tril(factor).T, a)
    flags = "compute_uv = true, full_matrices = false, transposed = true"
    results = [((2, 5), "f8"), ((2,), "f8"), ((2, 5), "f8"), ((2, 2), "f8"), ((), "i4")]
    _, values, v, u, _ = call("cusolver_gesvd_ffi", wide, results=results, config=flags)
    close(u * values @ v, wide)
    results = [((2, 5), "f8"), ((2,), "f8"), ((2, 2), "f8"), ((5, 2), "f8"), ((), "i4")]
    flags = "compute_uv = true, full_matrices = false"
    _, values, u, v, _ = call("hipsolver_gesvdj_ffi", wide, results=results, config=flags)
    close(u * values @ v.T, wide)


def test_approx_top_k_is_exact() -> None:
    text = """
    func.func @main(%x: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
      %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %none = stablehlo.constant dense<-1> : tensor<i32>
      %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {
        called_computations = [@greater],
        mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32,
                               reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}
      } : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
      return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
    }
    func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
      %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      return %0 : tensor<i1>
    }
    """
    x = np.array([[3, 1, 4, 1, 5], [-9, 2, 6, 6, -5]], np.float32)
    largest = [[5, 4], [6, 6]], [[4, 2], [2, 3]]
    smallest = [[1, 1], [-9, -5]], [[1, 3], [0, 4]]
    for direction, (values, indices) in (("GT", largest), ("LT", smallest)):
        found = sr.load(text.replace("GT", direction)).run(x)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], indices)


@pytest.mark.parametrize("target", ["TopK", "mhlo.topk"])
@pytest.mark.parametrize("config", [None, "", "k = 2 : i64"])
def test_top_k_without_k_returns_as_many_as_its_result_holds(target: str, config: str | None) -> None:
    x = np.array([[3, 1, 4, 1, 5], [-9, 2, 6, 6, -5]], np.float32)
    values, indices = call(target, x, results=[((2, 2), "f4"), ((2, 2), "i4")], config=config)
    assert values.tolist() == [[5, 4], [6, 6]]
    assert indices.tolist() == [[4, 2], [2, 3]]


def test_eigh_returns_a_tuple() -> None:
    text = """
    func.func @main(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>) {
      %0 = stablehlo.custom_call @Eigh(%x) {backend_config = "1,1,15,0.000010"}
        : (tensor<3x3xf32>) -> tuple<tensor<3x3xf32>, tensor<3xf32>>
      %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3x3xf32>, tensor<3xf32>>) -> tensor<3x3xf32>
      %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<3x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
      return %1, %2 : tensor<3x3xf32>, tensor<3xf32>
    }
    """
    a = positive(np.float32, 3)
    vectors, values = sr.load(text).run(a)
    close(vectors * values @ vectors.T, a)


def test_lu_decomposition_returns_the_permutation() -> None:
    a = random(np.float32, 4, 4)
    results = [((4, 4), "f4"), ((4,), "i4"), ((4,), "i4")]
    packed, pivots, order = call("LuDecomposition", a, results=results)
    close((np.tril(packed, -1) + np.eye(4, dtype=np.float32)) @ np.triu(packed), a[order])
    np.testing.assert_array_equal(permuted(a, pivots + 1), a[order])


def test_threefry_agrees_with_published_vectors() -> None:
    ones, pi = np.uint32(0xFFFFFFFF), np.array([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], np.uint32)
    keys, counters = ([[0, 0], [ones, ones], part] for part in (pi[2:], pi[:2]))
    words = [np.array(x, np.uint32) for pairs in (keys, counters) for x in zip(*pairs)]
    first, second = call("cu_threefry2x32_ffi", *words, results=[((3,), "u4"), ((3,), "u4")])
    assert first.tolist() == [0x6B200159, 0x1CB996FC, 0xC4923A9C]
    assert second.tolist() == [0x99BA4EFE, 0xBB002BE7, 0x483DF7A0]


# --- annotations and assertions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["Sharding", "annotate_device_placement", "SPMDFullToShardShape"])
def test_annotations_return_their_operand(target: str) -> None:
    x = random(np.float32, 2, 4)
    (y,) = call(target, x, results=[(x.shape, "f4")], more='mhlo.sharding = "{devices=[2,1]0,1}"')
    np.testing.assert_array_equal(x, y)


def test_annotations_reject_shards() -> None:
    with pytest.raises(sr.UnsupportedError, match=r"from tensor<2x4xf32> to tensor<1x4xf32> needs more than one"):
        call("xla.sdy.GlobalToLocalShape", random(np.float32, 2, 4), results=[((1, 4), "f4")])


def test_shape_assertion_formats_its_message() -> None:
    message = 'error_message = "Expected {0} to be {1} + {0}, got {2}", has_side_effect = true'
    numbers = np.int32(3), np.int64(4)
    assert call("shape_assertion", np.True_, *numbers, results=[], more=message) == ()
    with pytest.raises(sr.EvaluationError, match=r"Expected 3 to be 4 \+ 3, got \{2\}"):
        call("shape_assertion", np.False_, *numbers, results=[], more=message)


def test_host_callbacks_are_unsupported() -> None:
    target = "xla_ffi_python_cpu_callback"
    with pytest.raises(sr.UnsupportedError, match=rf"@{target} calls a function of the Python process that exported"):
        call(target, np.float32(1), results=[((), "f4")])


# --- shapes as operands -----------------------------------------------------------------------------------------------


def test_result_shapes_as_operands() -> None:
    text = """
    func.func @main(%x: tensor<?x3x3xf64>, %sizes: tensor<3xi32>, %batch: tensor<1xi32>)
        -> (tensor<?x3x3xf64>, tensor<?xi32>) {
      %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x, %sizes, %batch) {
        indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>, mhlo.backend_config = {uplo = 76 : ui8}
      } : (tensor<?x3x3xf64>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x3x3xf64>, tensor<?xi32>)
      return %0#0, %0#1 : tensor<?x3x3xf64>, tensor<?xi32>
    }
    """
    a = positive(np.float64, 4, 3)
    factor, info = sr.load(text).run(a, np.array([4, 3, 3], np.int32), np.array([4], np.int32))
    close(np.tril(factor) @ adjoint(np.tril(factor)), a)
    assert info.tolist() == [0] * 4
