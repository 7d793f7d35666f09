"""MPFR as an oracle of bounds: exact results of elementwise ops, and all results that are legal on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gmpy2
import ml_dtypes
import numpy as np

from stablehlo_ref.debug.bounds.ball import Ball
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.judge import excess_of

BITS = 200  # of precision
STRICT = PRESETS["strict"]
DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": gmpy2.div, "sqrt": gmpy2.sqrt,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exponential": gmpy2.exp, "exponential_minus_one": gmpy2.expm1, "log": gmpy2.log, "log_plus_one": gmpy2.log1p,
    "rsqrt": lambda x: 1 / gmpy2.sqrt(x), "cbrt": gmpy2.cbrt, "sine": gmpy2.sin, "cosine": gmpy2.cos, "tan": gmpy2.tan,
    "tanh": gmpy2.tanh, "atan2": gmpy2.atan2, "power": lambda x, y: x**y, "logistic": lambda x: 1 / (1 + gmpy2.exp(-x)),
}  # fmt: skip
OPS = {**ARITHMETIC, **FUNCTIONS}
BINARY = ("add", "subtract", "multiply", "divide", "atan2", "power")


def drawn(draw: np.random.Generator, op: str, size: int, dtype: np.dtype[Any]) -> list[np.ndarray]:
    """Return operands: the first half are normal numbers of moderate magnitude, the others have any finite bits."""
    arrays = []
    for _ in range(2 if op in BINARY else 1):
        moderate = (draw.standard_normal(size) * 2.0 ** draw.integers(-6, 6, size)).astype(dtype)
        bits = draw.integers(0, 256, (size, dtype.itemsize), np.uint8).view(dtype).reshape(size)
        with np.errstate(invalid="ignore"):
            is_used = (np.arange(size) >= size // 2) & np.isfinite(bits.astype(np.float64))
        arrays.append(np.where(is_used, bits, moderate).astype(dtype))
    return arrays


@dataclass(frozen=True)
class Measured:
    """How bounds compare with errors of correctly rounded results: the ratios where there is an error."""

    evaluations: int  # elements
    violations: int  # of elements for which a legal result is outside
    ratios: np.ndarray  # of the first half


def measured(op: str, arrays: Sequence[np.ndarray], ball: Ball) -> Measured:
    """Compare the bounds on the results of an op with exact results."""
    dtype = arrays[0].dtype
    with gmpy2.context(precision=BITS, emax=1 << 20, emin=-(1 << 20)):
        exact = [OPS[op](*map(gmpy2.mpfr, row)) for row in zip(*(a.astype(np.float64).tolist() for a in arrays))]
        center = ball.center.tolist()
        apart = np.array([float(abs(t - c)) if np.isfinite(c) else np.nan for t, c in zip(exact, center)])
        near = np.array([float(t) for t in exact])
        with np.errstate(all="ignore"):
            rounded = near.astype(dtype)
        results = rounded.astype(np.float64).tolist()
        errors = np.array([float(abs(t - r)) if np.isfinite(r) else 0.0 for t, r in zip(exact, results)])
    legal = [rounded] if op in ARITHMETIC else [rounded, neighbour(rounded, near)]
    wrong = np.zeros(rounded.shape, bool)
    for values in legal:
        wrong |= outside(values, ball)
    radius = np.broadcast_to(ball.radius, apart.shape)
    wrong |= apart > radius * (1 + 1e-9) + near_half_ulp(ball, dtype)
    kept = (errors > 0) & np.isfinite(radius) & (np.arange(len(exact)) < len(exact) // 2)
    half = np.maximum(radius[kept], errors[kept])  # the radius of a result that must be the center's is its own error
    return Measured(len(exact), int(np.count_nonzero(wrong)), half / errors[kept])


def near_half_ulp(ball: Ball, dtype: np.dtype[Any]) -> np.ndarray:
    """Return how far a center may be from the exact result: in f64 it is itself rounded."""
    spacing = np.spacing(np.abs(np.where(np.isfinite(ball.center), ball.center, 0)))
    return np.where(dtype == np.float64, 0.5 * spacing, 0.0)


def neighbour(rounded: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the numbers on the other side of exact results."""
    toward = np.where(near > rounded.astype(np.float64), np.inf, -np.inf)
    is_exact = near == rounded.astype(np.float64)
    if rounded.dtype in (np.float32, np.float64):
        other = np.nextafter(rounded, toward.astype(rounded.dtype))
    else:
        bits = rounded.view(np.int16)
        grows = (toward > 0) == (bits >= 0)
        other = np.where(bits << 1 == 0, bits, np.where(grows, bits + 1, bits - 1)).astype(np.int16).view(rounded.dtype)
    return np.where(is_exact | ~np.isfinite(rounded.astype(np.float64)), rounded, other).astype(rounded.dtype)


def outside(values: np.ndarray, ball: Ball) -> np.ndarray:
    """Return for which elements a judge calls values wrong."""
    if excess_of(values, ball, STRICT) is None:
        return np.zeros(values.shape, bool)
    radius = np.broadcast_to(ball.radius, values.shape)
    each = [Ball(ball.center[i : i + 1], radius[i : i + 1]) for i in range(len(values))]
    return np.array([excess_of(values[i : i + 1], one, STRICT) is not None for i, one in enumerate(each)])
