"""Programs and operands for tools/reproducibility.py, which are drawn by integer arithmetic, alike on all machines."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np


def names(*lines: str) -> list[str]:
    return " ".join(lines).split()


UNARY = names(
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz",
    "round_nearest_even rsqrt sign sine sqrt tan tanh",
)
BINARY = names("add atan2 divide maximum minimum multiply power remainder subtract")
CHLO_UNARY = names("acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square")
CHLO_BINARY = names("next_after polygamma zeta")
COMPLEX = names(
    "abs cbrt cosine exponential exponential_minus_one log log_plus_one logistic negate rsqrt sign sine sqrt tan tanh",
    "add divide multiply power subtract acos acosh asin asinh atan atanh cosh sinh square",
)
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
COMPLEXES: dict[str, Any] = {"complex<f32>": np.complex64, "complex<f64>": np.complex128}
DTYPES: dict[str, Any] = {**FLOATS, **COMPLEXES}
SHAPE = (37, 64)
REPEATS = 8  # of the rows of operands, so that there are many elements


class Case(NamedTuple):
    """A program, and the shapes and element types of its operands."""

    name: str
    text: str
    shapes: tuple[tuple[int, ...], ...]
    element: str
    is_elementwise: bool = False
    definite: bool = False  # the first operand is made positive definite and triangular


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for element in FLOATS:
        binary = [*BINARY, *CHLO_BINARY[:1], *(CHLO_BINARY[1:] if element in ("f32", "f64") else [])]
        for op in [*UNARY, *CHLO_UNARY, *binary]:
            yield elementwise(op, element)
    for element in COMPLEXES:
        for op in COMPLEX:
            yield elementwise(op, element)
    for element in DTYPES:
        yield from structured(element)


def elementwise(op: str, element: str) -> Case:
    count = 2 if op in BINARY or op in CHLO_BINARY else 1
    dialect = "chlo" if op in CHLO_UNARY or op in CHLO_BINARY else "stablehlo"
    t = tensor(SHAPE, element)
    result = tensor(SHAPE, element[8:-1]) if op == "abs" and element in COMPLEXES else t
    operands, types = ", ".join(f"%a{i}" for i in range(count)), ", ".join([t] * count)
    body = f'%r = "{dialect}.{op}"({operands}) : ({types}) -> {result}'
    return case(op, body, [SHAPE] * count, element, result)._replace(is_elementwise=True)


def has_kernel_for_many(case: Case) -> bool:
    """Return whether many elements of a case may be computed by another kernel than few."""
    return case.is_elementwise and case.element == "f32"


def repeated(case: Case) -> str:
    """Return the text of an elementwise case for operands with repeated rows."""
    rows, columns = SHAPE
    return case.text.replace(f"<{rows}x{columns}x", f"<{REPEATS * rows}x{columns}x")


def structured(element: str) -> Iterator[Case]:
    """Yield reductions, contractions, transforms and factorizations."""

    def one(name: str, body: str, shapes: list[tuple[int, ...]], result: tuple[int, ...]) -> Case:
        return case(name, body, shapes, element, tensor(result, element))

    zero = f"%z = stablehlo.constant dense<{'(0.0, 0.0)' if element in COMPLEXES else '0.0'}> : {tensor((), element)}"
    for shape, axes, left in (((30000,), [0], ()), ((70, 300), [1], (70,)), ((300, 70), [0], (70,))):
        types = f"({tensor(shape, element)}, {tensor((), element)}) -> {tensor(left, element)}"
        body = f"{zero} %r = stablehlo.reduce(%a0 init: %z) applies stablehlo.add across dimensions = {axes} : {types}"
        yield one(f"reduce{list(shape)}", body, [shape], left)
    for m, k, n in ((1, 1000, 1), (33, 300, 77), (1, 512, 128), (128, 512, 1)):
        types = f"({tensor((m, k), element)}, {tensor((k, n), element)}) -> {tensor((m, n), element)}"
        body = f"%r = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : {types}"
        yield one(f"dot[{m},{k},{n}]", body, [(m, k), (k, n)], (m, n))
    image, window, result = (1, 14, 14, 16), (3, 3, 16, 32), (1, 12, 12, 32)
    types = f"({tensor(image, element)}, {tensor(window, element)}) -> {tensor(result, element)}"
    numbers = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}"
    groups = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    yield one(
        "convolution", f"%r = stablehlo.convolution(%a0, %a1) {numbers} {groups} : {types}", [image, window], result
    )
    if element in ("f16", "bf16"):
        return
    square, side = tensor((40, 40), element), tensor((40, 9), element)
    yield one("cholesky", f"%r = stablehlo.cholesky %a0, lower = true : {square}", [(40, 40)], (40, 40))._replace(
        definite=True
    )
    solve = "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
    body = f'%r = "stablehlo.triangular_solve"(%a0, %a1) <{{{solve}}}> : ({square}, {side}) -> {side}'
    yield one("triangular_solve", body, [(40, 40), (40, 9)], (40, 9))._replace(definite=True)
    if element in COMPLEXES:
        t = tensor((4, 997), element)
        yield one("fft", f"%r = stablehlo.fft %a0, type = FFT, length = [997] : ({t}) -> {t}", [(4, 997)], (4, 997))


def case(name: str, body: str, shapes: list[tuple[int, ...]], element: str, result: str) -> Case:
    arguments = ", ".join(f"%a{i}: {tensor(shape, element)}" for i, shape in enumerate(shapes))
    text = f"func.func @main({arguments}) -> {result} {{\n  {body}\n  return %r : {result}\n}}\n"
    return Case(f"{name}|{element}", text, tuple(shapes), element)


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


# --- operands -------------------------------------------------------------------------------------------------------


def operands(case: Case) -> list[np.ndarray]:
    """Return operands: for elementwise ops a quarter are any bits, else multiples of 2**-20 in [-16, 16]."""
    made = []
    for number, shape in enumerate(case.shapes):
        rng = np.random.Generator(np.random.PCG64(zlib.crc32(f"{case.name}{number}".encode())))
        x = real_numbers(rng, shape, DTYPES[case.element], case.is_elementwise)
        if case.name.startswith("polygamma") and number == 0:
            x = rng.integers(0, 6, shape).astype(x.dtype)
        if case.definite and number == 0:
            x = np.tril(x) / 64 + 32 * np.eye(len(x), dtype=x.dtype)
            x = x + np.conj(x.T) if case.name.startswith("cholesky") else x
        made.append(x.astype(DTYPES[case.element]))
    return made


def real_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, any_bits: bool) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        z = np.empty(shape, dtype)
        z.real, z.imag = (real_numbers(rng, shape, z.real.dtype, any_bits) for _ in range(2))
        return z
    x = (rng.integers(-(1 << 24), 1 << 24, shape) * 2.0**-20).astype(dtype)
    if any_bits:
        bits = rng.integers(0, 1 << 64, shape, dtype=np.uint64) >> np.uint64(64 - 8 * dtype.itemsize)
        random_bits = bits.astype(f"u{dtype.itemsize}").view(dtype)
        x = np.where(rng.integers(0, 4, shape) == 0, random_bits, x)
    return x


# --- layouts --------------------------------------------------------------------------------------------------------


def reversed_axes(x: np.ndarray) -> np.ndarray:
    return np.flip(np.flip(x).copy())


def strided(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape[:-1], 3 * x.shape[-1]), x.dtype)
    wide[..., ::3] = x
    return wide[..., ::3]


def unaligned(x: np.ndarray) -> np.ndarray:
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    view = buffer[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Fortran": np.asfortranarray, "reversed": reversed_axes, "strided": strided, "unaligned": unaligned
}  # fmt: skip
