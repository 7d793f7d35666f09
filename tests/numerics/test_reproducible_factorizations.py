"""Factorizations of the reproducible mode: fixed orders of correctly rounded operations, right to a few ULP."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from stablehlo_ref.numerics.factorizations import exact_lower_factors, exact_quotient, exact_substitute

Array = npt.NDArray[np.generic]


def draw(n: int, dtype: type, seed: int = 0) -> Array:
    g = np.random.default_rng(seed)
    x = g.standard_normal((2, n, n))
    return (x + 1j * g.standard_normal(x.shape)).astype(dtype) if np.issubdtype(dtype, np.complexfloating) else x


def adjoint(x: Array) -> Array:
    return np.conjugate(x.swapaxes(-1, -2))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_cholesky_factors_matrices(dtype: type) -> None:
    x = draw(6, dtype)
    a = x @ adjoint(x) + 6 * np.eye(6)
    factors = exact_lower_factors(a)
    np.testing.assert_allclose(factors @ adjoint(factors), a, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(factors, np.tril(factors))


def test_cholesky_rounds_each_operation_once() -> None:
    a = np.array([[[2.0, 0.0], [3.0, 5.0]]])
    root = np.sqrt(2.0)  # correctly rounded
    below = 3.0 / root
    rest = Fraction(5) - Fraction(below) ** 2  # exact, and rounded once
    assert exact_lower_factors(a)[0].tolist() == [[root, 0.0], [below, np.sqrt(float(rest))]]


def test_cholesky_is_nan_unless_positive_definite() -> None:
    assert np.isnan(exact_lower_factors(np.array([[[1.0, 0.0], [2.0, 1.0]]]))[0, 1, 1])


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("unit", [False, True])
def test_substitution_solves_systems(dtype: type, unit: bool) -> None:
    u, b = np.triu(draw(5, dtype)) + 3 * np.eye(5), draw(5, dtype, 1)[..., :2]
    if unit:
        u[..., range(5), range(5)] = 1
    np.testing.assert_allclose(u @ exact_substitute(u, b, unit), b, rtol=1e-13, atol=1e-12)


def test_complex_quotients_do_not_overflow() -> None:
    z = np.array([1e300 + 1e300j, 3 - 4j, 1e-300 + 0j])
    np.testing.assert_allclose(exact_quotient(z, z), np.ones(3), rtol=1e-15)


def test_ops_use_the_fixed_order() -> None:
    x = draw(8, np.float64)[0]
    a = x @ x.T + 8 * np.eye(8)
    text = """func.func @main(%a: tensor<8x8xf64>) -> (tensor<8x8xf64>, tensor<8x8xf64>) {
      %0 = stablehlo.cholesky %a, lower = true : tensor<8x8xf64>
      %1 = "stablehlo.triangular_solve"(%0, %a) {left_side = true, lower = true, unit_diagonal = false,
        transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
      return %0, %1 : tensor<8x8xf64>, tensor<8x8xf64> }"""
    factor, solution = sr.parse(text).run(a, reproducible=True)
    np.testing.assert_array_equal(factor, exact_lower_factors(a[np.newaxis])[0])
    np.testing.assert_allclose(factor @ solution, a, rtol=1e-13, atol=1e-13)


def test_lapack_targets_without_a_fixed_order_are_refused() -> None:
    text = """func.func @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>) {
      %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1,1,100,1e-6"}
        : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
      return %0#0, %0#1 : tensor<3x3xf64>, tensor<3xf64> }"""
    with pytest.raises(sr.UnsupportedError, match=r"2:.*@Eigh has no reproducible .* computed by LAPACK"):
        sr.parse(text).run(np.eye(3), reproducible=True)


def test_complex_reflections_are_refused_at_their_place() -> None:
    text = """func.func @main(%a: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) {
      %0:2 = stablehlo.custom_call @Qr(%a)
        : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
      return %0#0, %0#1 : tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>> }"""
    with pytest.raises(sr.UnsupportedError, match=r"2:.*@Qr has no reproducible .*: the rounding of"):
        sr.parse(text).run(np.eye(3, dtype=complex), reproducible=True)


def test_lapack_qr_has_exact_sums_of_products() -> None:
    a = draw(6, np.float64)[0]
    text = """func.func @main(%a: tensor<6x6xf64>) -> (tensor<6x6xf64>, tensor<6xf64>) {
      %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<6x6xf64>) -> (tensor<6x6xf64>, tensor<6xf64>)
      return %0#0, %0#1 : tensor<6x6xf64>, tensor<6xf64> }"""
    packed, _ = sr.parse(text).run(a, reproducible=True)
    np.testing.assert_allclose(np.abs(np.triu(packed)), np.abs(np.linalg.qr(a)[1]), rtol=1e-12, atol=1e-13)
