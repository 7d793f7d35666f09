"""Products of the reproducible mode: each element is the exact sum of products, rounded once."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from stablehlo_ref.numerics.exact_products import exact_matmul

Array = npt.NDArray[np.generic]

NAMES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
CASES = ("normal", "wide", "tiny", "huge", "cancelling", "zero", "integers", "ties", "sparse")


def operands(case: str, dtype: type, m: int, k: int, n: int) -> tuple[Array, Array]:
    """Draw matrices whose products are hard to round."""
    g = np.random.default_rng([CASES.index(case), m, k, n])
    a, b = g.standard_normal((m, k)), g.standard_normal((k, n))
    half, is_double = k // 2, dtype == np.float64
    match case:
        case "wide":
            spread = 500 if is_double else 60
            a, b = (x * np.exp2(g.integers(-spread, spread, x.shape)) for x in (a, b))
        case "tiny":
            a, b = (x * 2.0 ** (-530 if is_double else -70) for x in (a, b))
        case "huge":
            a, b = (x * 2.0 ** (510 if is_double else 62) for x in (a, b))
        case "cancelling" | "zero":
            a, b = a.astype(dtype).astype(np.float64), b.astype(dtype).astype(np.float64)
            a[:, half : 2 * half], a[:, 2 * half :] = a[:, :half], 0
            b[half : 2 * half] = -b[:half]
            if case == "cancelling":
                b[half : 2 * half] *= 1 + 2.0 ** (-50 if is_double else -22) * g.integers(-1, 2, (half, n))
            order = g.permutation(k)
            a, b = a[:, order], b[order]
        case "integers":
            a, b = (g.integers(-3, 4, x.shape).astype(np.float64) for x in (a, b))
        case "ties":
            a, b = g.integers(-4000, 4000, a.shape) / 2, (g.integers(-4000, 4000, b.shape) | 1) / 4096
        case "sparse":
            a, b = (np.where(g.random(x.shape) < 0.1, x, 0) for x in (a, b))
    return a.astype(dtype), b.astype(dtype)


def exact(a: Array, b: Array) -> list[list[Fraction]]:
    """Multiply matrices of exact numbers."""
    rows = [[Fraction(float(x)) for x in row] for row in a]
    columns = [[Fraction(float(x)) for x in column] for column in b.T]
    return [[sum((x * y for x, y in zip(r, c)), Fraction(0)) for c in columns] for r in rows]


def is_nearest(y: float, x: Fraction, dtype: type) -> bool:
    """Return whether no number of `dtype` is closer to `x` than `y`, and `y` is even if one is as close."""
    if x == 0 or y == 0:
        smallest = Fraction(float(ml_dtypes.finfo(dtype).smallest_subnormal))
        return y == 0 and np.signbit(y) == (x < 0) and abs(x) <= smallest / 2
    if np.isinf(y):
        largest = Fraction(float(ml_dtypes.finfo(dtype).max))
        ulp = largest - Fraction(float(np.nextafter(dtype(float(largest)), dtype(0))))
        return bool((y > 0) == (x > 0)) and abs(x) >= largest + ulp / 2
    value = np.array(y, dtype)
    error = abs(Fraction(y) - x)
    for toward in (-np.inf, np.inf):
        other = float(np.nextafter(value, np.array(toward, dtype)))
        distance = abs(Fraction(other) - x) if np.isfinite(other) else error + 1
        is_odd = int(value.view(f"i{value.itemsize}")) & 1
        if distance < error or (distance == error and is_odd):
            return False
    return True


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("operand", "result"), [("f32", "f32"), ("f64", "f64"), ("f32", "bf16"), ("f64", "f32"), ("f32", "f64")]
)
def test_products_are_exact_sums_rounded_once(case: str, operand: str, result: str) -> None:
    for m, k, n in ((1, 1, 1), (3, 7, 4), (2, 70, 3)):
        a, b = operands(case, NAMES[operand], m, k, n)
        with np.errstate(all="ignore"):
            y = exact_matmul(np.dtype(NAMES[operand]), np.dtype(NAMES[result]), np.matmul)(a, b)
        expected = exact(a, b)
        wrong = [(i, j) for i in range(m) for j in range(n)
                 if not is_nearest(float(y[i, j]), expected[i][j], NAMES[result])]  # fmt: skip
        assert not wrong


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize(
    ("left", "right"), [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (2, 3, 4)),
                        ((2, 0), (0, 3)), ((0, 2), (2, 3))]
)  # fmt: skip
def test_shapes_are_those_of_matmul(dtype: type, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    g = np.random.default_rng(0)
    a, b = (g.integers(-9, 9, sizes).astype(dtype) for sizes in (left, right))
    expected = np.matmul(a, b)
    y = exact_matmul(np.dtype(dtype), np.dtype(dtype), np.matmul)(a, b)
    np.testing.assert_array_equal(y, expected, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinities_and_nans_are_those_of_the_products(dtype: type) -> None:
    inf, nan = np.inf, np.nan
    a = np.array([[inf, 1], [inf, -inf], [0, nan], [1, 2], [-inf, 3]], dtype)
    b = np.array([[1, 0, -2, inf], [1, 5, 2, 1]], dtype)
    with np.errstate(all="ignore"):
        y = exact_matmul(np.dtype(dtype), np.dtype(dtype), np.matmul)(a, b)
    expected = [[inf, nan, -inf, inf], [nan, nan, -inf, nan], [nan] * 4, [3, 10, 2, inf], [-inf, nan, inf, -inf]]
    np.testing.assert_array_equal(y, np.array(expected, dtype))


def test_complex_parts_are_exact_sums_rounded_once() -> None:
    (ar, br), (ai, bi) = operands("normal", np.float32, 2, 50, 3), operands("wide", np.float32, 2, 50, 3)
    y = exact_matmul(np.dtype(np.complex64), np.dtype(np.complex64), np.matmul)(ar + 1j * ai, br + 1j * bi)
    real = exact(np.concatenate([ar, -ai], 1), np.concatenate([br, bi]))
    imag = exact(np.concatenate([ar, ai], 1), np.concatenate([bi, br]))
    for i, j in np.ndindex(y.shape):
        assert is_nearest(float(y[i, j].real), real[i][j], np.float32)
        assert is_nearest(float(y[i, j].imag), imag[i][j], np.float32)


def run(text: str, *arrays: Array) -> Array:
    """Run a program reproducibly."""
    return np.asarray(sr.parse(text).run(*arrays, reproducible=True)[0])


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_dot_general_rounds_once(name: str) -> None:
    a, b = operands("cancelling", NAMES[name], 3, 40, 5)
    types = f"(tensor<3x40x{name}>, tensor<40x5x{name}>) -> tensor<3x5x{name}>"
    y = run(f"""func.func @main(%a: tensor<3x40x{name}>, %b: tensor<40x5x{name}>) -> tensor<3x5x{name}> {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : {types}
      return %0 : tensor<3x5x{name}> }}""", a, b)  # fmt: skip
    expected = exact(a, b)
    assert all(is_nearest(float(y[i, j]), expected[i][j], NAMES[name]) for i, j in np.ndindex(y.shape))


@pytest.mark.parametrize(("groups", "features"), [(1, 3000), (2, 4), (4, 4)])
def test_convolution_rounds_once(groups: int, features: int) -> None:
    """All terms of a window are summed before they are rounded, also where they are copied in parts."""
    count = features // groups
    x, k = operands("normal", np.float32, 3, features, 1)[0], operands("wide", np.float32, 2 * count, 4, 1)[0]
    x, k = x.reshape(1, 3, features), np.ascontiguousarray(k.reshape(2, count, 4))
    types = f"(tensor<1x3x{features}xf32>, tensor<2x{count}x4xf32>) -> tensor<1x2x4xf32>"
    y = run(f"""func.func @main(%x: tensor<1x3x{features}xf32>, %k: tensor<2x{count}x4xf32>) -> tensor<1x2x4xf32> {{
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}}
        {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : {types}
      return %0 : tensor<1x2x4xf32> }}""", x, k)  # fmt: skip
    for position, output in np.ndindex(2, 4):
        group = output // (4 // groups)
        window = x[0, position : position + 2, group * count : (group + 1) * count]
        expected = exact(window.reshape(1, -1), k[:, :, output].reshape(-1, 1))[0][0]
        assert is_nearest(float(y[0, position, output]), expected, np.float32)


def test_a_run_without_the_mode_uses_another_plan() -> None:
    program = sr.parse("""func.func @main(%a: tensor<1x300xf32>, %b: tensor<300x40xf32>) -> tensor<1x40xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<1x300xf32>, tensor<300x40xf32>) -> tensor<1x40xf32>
      return %0 : tensor<1x40xf32> }""")
    a, b = operands("normal", np.float32, 1, 300, 40)
    first = program.run(a, b, reproducible=True)[0]
    assert (program.run(a, b)[0] != first).any()
    np.testing.assert_array_equal(program.run(a, b, reproducible=True)[0], first)


def test_reproducible_must_be_a_boolean() -> None:
    with pytest.raises(TypeError, match="reproducible"):
        sr.parse("func.func @main() { return }").run(reproducible=1)  # type: ignore[arg-type]
