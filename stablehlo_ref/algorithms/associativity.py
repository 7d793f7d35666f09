"""Find out whether a reduction body is associative, by a trial on a few values.

The spec lets an implementation reduce by any tree, as if bodies were associative. Those that are not, such as
`subtract`, are folded from the left, as by all other implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import bit_width, kind, mantissa_bits, part_dtype

# A body that is one of these ops needs no trial.
ASSOCIATIVE = frozenset(f"stablehlo.{op}" for op in ("add", "multiply", "maximum", "minimum", "and", "or", "xor"))

_VALUES = {
    "boolean": (False, True),
    "integer": (1, 2, 3, 5, 7, -11),
    "floating": (1.0, 2.0, 3.5, -1.25, 0.75, 5.0),  # no sum of a few is 0
    "complex": (1 + 2j, 2.0, 3.5 - 1j, -1.25 + 0.5j, 0.75j, 5.0),
}
_TRIPLES = np.array([*product(range(2), repeat=3), *((i, 5 * i + 1, i // 2 + 3) for i in range(2, 26))])


def is_associative(body: Callable[..., list[Array]], dtypes: Sequence[DType]) -> bool:
    """Return whether `body(body(a, b), c)` is `body(a, body(b, c))`, rounding aside, for all values that are tried.

    `body` takes two tuples of arrays of `dtypes`, one after the other, and returns one. Results that are not finite in
    either order say nothing.
    """
    a, b, c = ([_samples(dtype, _TRIPLES[:, i] + shift) for shift, dtype in enumerate(dtypes)] for i in range(3))
    left, right = body(*body(*a, *b), *c), body(*a, *body(*b, *c))
    scales = [np.max(np.abs([_wide(x) for x in of_one]), axis=0) for of_one in zip(a, b, c)]
    return all(map(_agree, left, right, scales))


def _samples(dtype: DType, indices: Array) -> Array:
    values = np.array(_VALUES[kind(dtype)])
    if kind(dtype) == "integer" and bit_width(dtype) < 8:
        values = np.arange(1 << bit_width(dtype) // 2)
    samples: Array = values[indices % len(values)].astype(dtype)
    return samples


def _wide(x: Array) -> Array:
    return x.astype(np.complex128 if kind(x.dtype) == "complex" else np.float64)


def _agree(left: Array, right: Array, scale: Array) -> bool:
    dtype = left.dtype
    if kind(dtype) in ("boolean", "integer"):
        return bool(np.array_equal(left, right))
    bits = mantissa_bits(part_dtype(dtype) if kind(dtype) == "complex" else dtype)
    x, y = _wide(left), _wide(right)
    are_finite = np.isfinite(x) & np.isfinite(y)
    limit = min(2.0 ** (-bits / 2), 0.3) * np.maximum(scale, np.maximum(np.abs(x), np.abs(y)))
    return not bool((are_finite & (np.abs(x - y) > limit)).any())
