"""The option `exact_sums`: a reduce that adds floats gives the exact sum, rounded once; compared with rationals."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

import gmpy2
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.numerics.exact_sums import rounded_sums

Array = npt.NDArray[Any]

PROGRAM = """
func.func @main(%x: tensor<{shape}x{type}>, %init: tensor<{type}>) -> tensor<{result}{type}> {{
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [{axes}]
    : (tensor<{shape}x{type}>, tensor<{type}>) -> tensor<{result}{type}>
  return %0 : tensor<{result}{type}>
}}
"""
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def nearest(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return np.inf if x > 0 else -np.inf


def total(row: Array) -> Fraction:
    """Return the exact sum of finite numbers."""
    result = sum(map(gmpy2.mpq, row.tolist()), gmpy2.mpq(0))
    return Fraction(int(result.numerator), int(result.denominator))


def rounded(x: Fraction, dtype: npt.DTypeLike) -> Array:
    """Round to the nearest number of a narrower format: the f64 neighbour, then the better of its neighbours."""
    guess = np.float64(nearest(x)).astype(dtype)
    if dtype == np.float64 or not np.isfinite(guess):
        return np.asarray(guess)
    bits = np.array(guess).view(f"i{guess.itemsize}")
    close = [np.asarray(bits + step, bits.dtype).view(dtype)[()] for step in (-1, 0, 1)] + [np.asarray(0, dtype)[()]]
    finite = [c for c in close if np.isfinite(c)]
    return np.asarray(min(finite, key=lambda c: (abs(Fraction(float(c)) - x), int(np.array(c).view(bits.dtype)) & 1)))


def operands(case: str, dtype: Any) -> Array:
    g = np.random.default_rng(len(case))
    x = g.standard_normal((12, 40))
    match case:
        case "ill-conditioned":
            x = np.concatenate([x, -x, 2.0**-40 * x[:, :1]], 1)
            x = g.permuted(x, axis=1)
        case "extreme exponents":
            x = np.ldexp(x, g.integers(-1070, 1020, x.shape)) if dtype == np.float64 else 2.0 ** np.clip(9 * x, -14, 15)
            x = np.concatenate([x, -x[:, :-1]], 1)
        case "subnormal":
            x = x * float(ml_dtypes.finfo(dtype).smallest_subnormal) * 9  # type: ignore[no-untyped-call]
        case "overflow of partial sums":
            largest = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
            x = np.tile([largest, largest, -largest, -largest, 1.0, -largest, largest], (12, 1))
        case "ties":
            x = np.tile([1.0, float(ml_dtypes.finfo(dtype).eps) / 2, 0.0], (12, 1))  # type: ignore[no-untyped-call]
            x[:, 2] = np.repeat([0.0, 2.0**-1074, -(2.0**-1074)], 4) if dtype == np.float64 else 0.0
    with np.errstate(all="ignore"):
        return np.asarray(x.astype(dtype))


@pytest.mark.parametrize(
    "case",
    ["normal", "ill-conditioned", "extreme exponents", "subnormal", "overflow of partial sums", "ties"],
)
@pytest.mark.parametrize("type", NUMPY)
def test_sums_are_exact_and_rounded_once(case: str, type: str) -> None:
    x = operands(case, NUMPY[type])
    program = sr.parse(PROGRAM.format(shape="x".join(map(str, x.shape)), type=type, result="12x", axes=1))
    init = np.asarray(0.125, x.dtype) if case != "subnormal" else np.asarray(0, x.dtype)
    (result,) = program.run(x, init, exact_sums=True)
    exact = [sum(map(Fraction, map(float, row)), Fraction(float(init))) for row in x]
    np.testing.assert_array_equal(result, np.array([rounded(v, x.dtype) for v in exact]))


def test_several_axes_of_complex_numbers() -> None:
    g = np.random.default_rng(0)
    x = (g.standard_normal((5, 4, 6)) + 1j * g.standard_normal((5, 4, 6))) * 10.0 ** g.integers(-9, 9, (5, 4, 6))
    program = sr.parse(PROGRAM.format(shape="5x4x6", type="complex<f64>", result="4x", axes="0, 2"))
    (result,) = program.run(x, np.array(1 - 2j), exact_sums=True)
    for j in range(4):
        assert result[j].real == float(sum(map(Fraction, x[:, j].real.flat), Fraction(1)))
        assert result[j].imag == float(sum(map(Fraction, x[:, j].imag.flat), Fraction(-2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [32767, 32768, 32769, 100_000])
def test_long_rows(dtype: Any, k: int) -> None:
    x = np.random.default_rng(k).standard_normal((1, k)).astype(dtype)
    x[0, k // 2 :] -= x[0, : k - k // 2]
    exact = total(x[0])
    assert rounded_sums(np.dtype(dtype))(x[:, :, np.newaxis], np.zeros((), dtype))[0, 0] == rounded(exact, dtype)


def contents(case: str, shape: tuple[int, ...]) -> Array:
    g = np.random.default_rng(1)
    x = g.standard_normal(shape)
    match case:
        case "scales":
            x *= np.exp2(g.integers(-60, 60, (shape[0], 1, shape[2])))
        case "integers":  # zero sums, ties and rows of zeros
            x = g.integers(-3, 3, shape) * 2.0 ** g.choice([0, 24, 53], shape)
            x[:, :, ::2] = 0
        case "specials":
            x.flat[:: x.size // 5] = [np.inf, -np.inf, np.nan, np.inf, 1e30, 0][: len(x.flat[:: x.size // 5])]
        case "cancelling":
            x[:, 1::2] = -x[:, : x.shape[1] // 2 * 2 : 2]
    return x


@pytest.mark.parametrize("case", ["normal", "scales", "integers", "specials", "cancelling"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "shape",
    [(40, 8, 1), (3, 3000, 1), (2, 33000, 1), (1, 70, 300), (5, 40, 60), (3, 6, 4), (1, 20000, 3), (2, 2, 9000)],
)
def test_layouts(shape: tuple[int, ...], dtype: Any, case: str) -> None:
    x = contents(case, shape).astype(dtype)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):  # as in a run
        actual = rounded_sums(np.dtype(dtype))(x, np.asarray(-0.0, dtype))
        special = wide.sum(1)
    for a, b in np.ndindex(actual.shape):
        row = wide[a, :, b]
        if not np.isfinite(special[a, b]):
            np.testing.assert_array_equal(float(actual[a, b]), special[a, b])
        elif dtype == np.float64:
            assert actual[a, b] == fsum(row)
        elif (a + b) % 7 == 0:
            assert actual[a, b] == rounded(total(row), dtype)


@pytest.mark.parametrize(
    ("terms", "init", "expected"),
    [
        ([np.inf, 1.0], 2.0, np.inf),
        ([-np.inf, 1e308], 1e308, -np.inf),
        ([np.inf, -np.inf], 0.0, np.nan),
        ([1.0, 2.0], np.nan, np.nan),
        ([np.nan, np.inf], 0.0, np.nan),
        ([1e308, 1e308], 0.0, np.inf),
        ([-1e308, -1e308], 1e308, -1e308),
        ([-0.0, -0.0], -0.0, -0.0),
        ([-0.0, -0.0], 0.0, 0.0),
        ([-0.0, 0.0], -0.0, 0.0),
        ([1.0, -1.0], -0.0, 0.0),
        ([2.0**-1074, -(2.0**-1073)], 0.0, -(2.0**-1074)),
    ],
)
def test_special_operands(terms: list[float], init: float, expected: float) -> None:
    program = sr.parse(PROGRAM.format(shape="2", type="f64", result="", axes=0))
    (result,) = program.run(np.array(terms), np.array(init), exact_sums=True)
    np.testing.assert_array_equal(result, expected)
    if expected == expected:
        assert np.signbit(result) == np.signbit(expected)


def test_runs_of_one_program_do_not_share_plans() -> None:
    program = sr.parse(PROGRAM.format(shape="3", type="f64", result="", axes=0))
    x, init = np.array([2.0**53, 1.0, -(2.0**53)]), np.array(0.0)
    for _ in range(2):
        assert program.run(x, init)[0] == 0
        assert program.run(x, init, exact_sums=True)[0] == 1
        assert program.run(x, init, exact_sums=True, reproducible=True, fast=False)[0] == 1


def test_guarantees_and_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROGRAM.format(shape="3", type="f32", result="", axes=0)
    statements = {row.op: row.statement for row in sr.parse(text).guarantees(exact_sums=True)}
    assert "exact, rounded once" in statements["stablehlo.reduce"]
    path = tmp_path / "sum.mlir"
    path.write_text(text)
    main([str(path), "--input", "x=[1e8, 1.0, -1e8]", "--input", "init=0", "--mode", "exact-sums", "--profile"])
    captured = capsys.readouterr()
    assert "1.0" in captured.out and "exact, rounded once" in captured.err


def test_exact_sums_must_be_a_boolean() -> None:
    with pytest.raises(TypeError, match="exact_sums"):
        sr.parse("func.func @main() { return }").run(exact_sums=1)  # type: ignore[arg-type]
