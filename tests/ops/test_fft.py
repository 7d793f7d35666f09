"""Test transforms of matrices whose rows are apart in memory while they are transformed."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

N = 32  # complex<f64> of a row take 512 bytes
DFT = np.exp(-2j * np.pi * np.outer(np.arange(N), np.arange(N)) / N)
X = np.random.default_rng(0).standard_normal((3, N, N)).astype(np.float32)
TRANSFORMED = DFT @ X @ DFT  # of each matrix, along both dimensions


@pytest.mark.parametrize("kind, operand, expected", [
    ("FFT", X.astype(np.complex64), TRANSFORMED),
    ("IFFT", TRANSFORMED.astype(np.complex64), X.astype(np.complex64)),
    ("RFFT", X, TRANSFORMED[..., : N // 2 + 1]),
    ("IRFFT", TRANSFORMED[..., : N // 2 + 1].astype(np.complex64), X),
])  # fmt: skip
def test_transforms_of_matrices(kind: str, operand: np.ndarray, expected: np.ndarray) -> None:
    types = [
        f"tensor<{'x'.join(map(str, x.shape))}x{'complex<f32>' if np.iscomplexobj(x) else 'f32'}>"
        for x in (operand, expected)
    ]
    program = sr.parse(f"""func.func @main(%x: {types[0]}) -> {types[1]} {{
      %0 = stablehlo.fft %x, type = {kind}, length = [{N}, {N}] : ({types[0]}) -> {types[1]}
      return %0 : {types[1]}
    }}""")
    (result,) = program.run(operand)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
