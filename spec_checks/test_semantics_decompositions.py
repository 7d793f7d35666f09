"""Test the oracles of transforms, decompositions and normalizations with the spec's examples and against numpy."""

import math

import ml_dtypes
import numpy as np
import pytest

from spec_checks.bounds_of_results import (
    batch_norm_grad_bound,
    batch_norm_inference_bound,
    batch_norm_training_bound,
    cholesky_bound,
    fft_bound,
    triangular_solve_bound,
)
from spec_checks.semantics_arrays import assert_within, normal
from stablehlo_ref.semantics.fft import fft
from stablehlo_ref.semantics.linear_algebra import cholesky, triangular_solve
from stablehlo_ref.semantics.normalization import batch_norm_grad, batch_norm_inference, batch_norm_training

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BF16 = np.dtype(ml_dtypes.bfloat16)
C64, C128 = np.dtype(np.complex64), np.dtype(np.complex128)


class TestFft:
    def test_spec_example(self):
        result = fft(np.array([1, 0, 0, 0], np.complex64), "FFT", (4,), result=((4,), C64))
        assert result.tolist() == [1, 1, 1, 1]

    @pytest.mark.parametrize("dtype", [C64, C128])
    @pytest.mark.parametrize("shape, length", [((2, 4, 5), 1), ((3, 4, 5), 2), ((2, 3, 4), 3), ((7,), 1), ((1,), 1)])
    def test_complex_matches_numpy(self, shape, length, dtype):
        x, axes, types = normal(shape, dtype), range(-length, 0), (shape, dtype)
        for fft_type, transform in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn)):
            value = fft(x, fft_type, shape[-length:], result=types)
            bound = fft_bound(x, fft_type, shape[-length:], result=types)
            assert_within(transform(x, axes=axes).astype(dtype), value, bound)
            assert (np.abs(bound) < 1e5 * float(np.finfo(dtype).eps)).all()

    @pytest.mark.parametrize("dtype", [F32, F64])
    @pytest.mark.parametrize("shape", [(4, 2, 6), (4, 2, 7), (2, 3, 1), (2, 3, 2)])
    @pytest.mark.parametrize("length", [1, 2, 3])
    def test_real_matches_numpy(self, shape, length, dtype):
        x, fft_length, axes = normal(shape, dtype), shape[-length:], range(-length, 0)
        complex_type = np.result_type(dtype, np.complex64)
        half = (*shape[:-1], shape[-1] // 2 + 1)
        value, bound = (oracle(x, "RFFT", fft_length, result=(half, complex_type)) for oracle in (fft, fft_bound))
        assert_within(np.fft.rfftn(x, axes=axes).astype(complex_type), value, bound)
        # Numpy's last transform ignores the imaginary parts of the middle and first elements too.
        y = normal(half, complex_type, 3)
        value, bound = (oracle(y, "IRFFT", fft_length, result=(shape, dtype)) for oracle in (fft, fft_bound))
        assert_within(np.fft.irfftn(y, fft_length, axes=axes).astype(dtype), value, bound)

    def test_irfft_inverts_rfft(self):
        x = normal((9,), F64)
        spectrum = fft(x, "RFFT", (9,), result=((5,), C128))
        assert np.allclose(fft(spectrum, "IRFFT", (9,), result=((9,), F64)), x, rtol=1e-14, atol=1e-15)

    @pytest.mark.parametrize("shape", [(2, 0), (0, 3)])
    def test_empty(self, shape):
        assert fft(np.zeros(shape, C64), "FFT", shape[-1:], result=(shape, C64)).shape == shape


class TestCholesky:
    def test_spec_example(self):
        a = np.array([[1, 2, 3], [2, 20, 26], [3, 26, 70]], np.float32)
        assert cholesky(a, lower=True).tolist() == [[1, 0, 0], [2, 4, 0], [3, 5, 6]]
        assert cholesky(a, lower=False).tolist() == [[1, 2, 3], [0, 4, 5], [0, 0, 6]]

    @pytest.mark.parametrize("dtype", [F32, F64, C64, C128])
    def test_matches_numpy(self, dtype):
        m = normal((2, 4, 4), dtype)
        a = m @ np.conj(np.swapaxes(m, 1, 2)) + 2 * np.eye(4, dtype=dtype)
        a = np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), 1, 2))
        for lower in (True, False):
            value, bound = cholesky(a, lower), cholesky_bound(a, lower)
            factor = np.linalg.cholesky(a)
            assert_within(factor if lower else np.conj(np.swapaxes(factor, 1, 2)), value, bound)
            triangle = np.tril if lower else np.triu
            assert (triangle(np.abs(bound)) < 1e-3).all()

    def test_reads_one_triangle(self):
        a = np.array([[4.0, 99], [2, 5]])
        assert cholesky(a, lower=True).tolist() == [[2, 0], [1, 2]]

    def test_nan_if_not_positive_definite(self):
        a = np.array([[[1.0, 2], [2, 1]], [[1, 0], [0, 1]]])
        value, bound = cholesky(a, True), cholesky_bound(a, True)
        assert np.isnan(value[0]).all() and np.isinf(bound[0]).all() and value[1].tolist() == [[1, 0], [0, 1]]


class TestTriangularSolve:
    def test_spec_example(self):
        a = np.array([[1, 0, 0], [2, 4, 0], [3, 5, 6]], np.float32)
        b = np.array([[2, 0, 0], [4, 8, 0], [6, 10, 12]], np.float32)
        result = triangular_solve(a, b, True, True, False, "NO_TRANSPOSE")
        assert result.tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]

    @pytest.mark.parametrize("dtype", [F32, C64, F64, C128])
    @pytest.mark.parametrize("transpose_a", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    @pytest.mark.parametrize("left_side", [True, False])
    @pytest.mark.parametrize("lower", [True, False])
    @pytest.mark.parametrize("unit_diagonal", [True, False])
    def test_matches_numpy(self, dtype, transpose_a, left_side, lower, unit_diagonal):
        a = normal((2, 3, 3), dtype) + 2 * np.eye(3, dtype=dtype)
        b = normal((2, 3, 4) if left_side else (2, 4, 3), dtype)
        arguments = (a, b, left_side, lower, unit_diagonal, transpose_a)
        value, bound = triangular_solve(*arguments), triangular_solve_bound(*arguments)
        for i in range(2):
            matrix = np.tril(a[i]) if lower else np.triu(a[i])
            np.fill_diagonal(matrix, 1 if unit_diagonal else matrix.diagonal())
            matrix = {"NO_TRANSPOSE": matrix, "TRANSPOSE": matrix.T, "ADJOINT": matrix.conj().T}[transpose_a]
            if left_side:
                assert_within(substitute(matrix, b[i]), value[i], bound[i])
            else:
                assert_within(substitute(matrix.T, b[i].T).T, value[i], bound[i])
            product = matrix @ value[i] if left_side else value[i] @ matrix
            assert np.allclose(product, b[i], rtol=1e-5, atol=1e-5)
        assert (np.abs(bound) < 1e-3).all()


def substitute(matrix, right):
    """Solve `matrix x = right` for a triangular matrix, in the arithmetic of its type."""
    x = np.zeros_like(right)
    rows = range(len(matrix)) if matrix[0, -1] == 0 else reversed(range(len(matrix)))
    for i in rows:
        x[i] = (right[i] - matrix[i] @ x) / matrix[i, i]
    return x


BN_OPERAND = np.array([[[1.0, 2], [3, 4]], [[3, 4], [1, 2]]])
ONES = np.ones(2)


class TestBatchNorm:
    def test_inference_example(self):
        result = batch_norm_inference(BN_OPERAND, ONES, ONES, np.array([2.0, 3]), ONES, 0.0, 2)
        assert result.tolist() == [[[0, 0], [2, 2]], [[2, 2], [0, 0]]]

    def test_training_example(self):
        output, mean, variance = batch_norm_training(BN_OPERAND, ONES, ONES, 0.0, 2)
        assert output.tolist() == [[[0, 0], [2, 2]], [[2, 2], [0, 0]]]
        assert mean.tolist() == [2, 3] and variance.tolist() == [1, 1]

    def test_grad_example(self):
        inputs = (BN_OPERAND, ONES, np.array([2.0, 3]), ONES, np.full((2, 2, 2), 0.1))
        grad_operand, grad_scale, grad_offset = batch_norm_grad(*inputs, 0.0, 2)
        assert not grad_operand.any() and not grad_scale.any() and grad_offset.tolist() == [0.4, 0.4]

    @pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
    def test_bounds_hold_for_same_steps_in_numpy(self, dtype):
        wide = {F16: F32, BF16: F32}.get(dtype, dtype)
        given = (normal((3, 2, 4), dtype), *(normal((2,), dtype, seed) for seed in (1, 2, 3)))
        variance, grad_output = np.abs(normal((2,), dtype, 4)), normal((3, 2, 4), dtype, 5)
        operand, scale, offset, mean = (x.astype(wide) for x in given)
        epsilon = 2.0**-7
        spread, grad = variance.astype(wide)[:, None], grad_output.astype(wide)

        def normalized(mean, spread):
            return (operand - mean[:, None]) / np.sqrt(spread + wide.type(epsilon))

        inputs = (*given, variance, epsilon, 1)
        actual = (scale[:, None] * normalized(mean, spread) + offset[:, None]).astype(dtype)
        assert_within(actual, batch_norm_inference(*inputs), batch_norm_inference_bound(*inputs))

        inputs = (*given[:3], epsilon, 1)
        batch_mean = operand.mean((0, 2))
        batch_var = np.square(operand - batch_mean[:, None]).mean((0, 2))
        output = scale[:, None] * normalized(batch_mean, batch_var[:, None]) + offset[:, None]
        for actual, value, bound in zip(
            (output, batch_mean, batch_var), batch_norm_training(*inputs), batch_norm_training_bound(*inputs)
        ):
            assert_within(actual.astype(dtype), value, bound)
            assert (bound < 0.2).all()

        inputs = (given[0], given[1], given[3], variance, grad_output, epsilon, 1)
        centered, n = operand - mean[:, None], wide.type(12)
        sums = (grad * centered).sum((0, 2))[:, None]
        i6 = n * grad - grad.sum((0, 2))[:, None] - sums * centered / (spread + wide.type(epsilon))
        grad_operand = scale[:, None] / np.sqrt(spread + wide.type(epsilon)) / n * i6
        grads = (grad_operand, (grad * normalized(mean, spread)).sum((0, 2)), grad.sum((0, 2)))
        for actual, value, bound in zip(grads, batch_norm_grad(*inputs), batch_norm_grad_bound(*inputs)):
            assert_within(actual.astype(dtype), value, bound)

    def test_gradient_matches_finite_differences(self):
        operand, scale, offset, weight = normal((4, 3)), normal((3,), seed=1), np.zeros(3), normal((4, 3), seed=2)
        epsilon, step = 0.1, 1e-6

        def loss(operand, scale):
            centered = operand - operand.mean(0)
            return (weight * (scale * centered / np.sqrt(np.square(centered).mean(0) + epsilon))).sum()

        _, mean, variance = batch_norm_training(operand, scale, offset, epsilon, 1)
        grad_operand, grad_scale, _ = batch_norm_grad(operand, scale, mean, variance, weight, epsilon, 1)
        change = np.zeros((4, 3))
        change[1, 2] = step
        slope = (loss(operand + change, scale) - loss(operand - change, scale)) / (2 * step)
        assert math.isclose(grad_operand[1, 2], slope, rel_tol=1e-6)
        change = np.array([step, 0, 0])
        slope = (loss(operand, scale + change) - loss(operand, scale - change)) / (2 * step)
        assert math.isclose(grad_scale[0], slope, rel_tol=1e-6)

    def test_zero_variance_and_no_elements(self):
        result = batch_norm_inference(
            np.array([[1.0, 2, 3]]), np.ones(3), np.zeros(3), np.array([0.0, 2, 4]), np.zeros(3), 0.0, 1
        )
        assert result[0, 0] == np.inf and np.isnan(result[0, 1]) and result[0, 2] == -np.inf
        _, mean, variance = batch_norm_training(np.zeros((0, 1)), np.ones(1), np.zeros(1), 0.0, 1)
        assert np.isnan(mean).all() and np.isnan(variance).all()
