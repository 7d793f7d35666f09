"""Round results of a wider format correctly: those too close to a tie for their error are computed again.

Of random results about one in a hundred million is (Ziv, "Fast evaluation of elementary mathematical functions with
correctly rounded last bit", 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.blocks import computed_in
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.libm import LONG_DOUBLE
from stablehlo_ref.numerics.multiple_precision import Function, to_nearest

EIGHT_ULP = 2.0**-49  # of f64, relative to the result
PRECISE = 2.0**-60  # 8 ULP of a long double with 64 bits; those of C libraries have errors of up to 5
_single = cast(ArrayKernel, np.float32)  # of arrays, too, and faster than astype on scalars
SMALL = 1 << 10  # elements: below this, comparing bytes is faster than comparing arrays


def rounded_to_f32(
    function: ArrayKernel, fallback: ArrayKernel, error: float = EIGHT_ULP, absolute: float = 0.0
) -> ArrayKernel:
    """Return a function of f64 arrays that rounds the results of `function` to f32 as exact ones would.

    Parameters
    ----------
    function : f64 arrays or scalars that broadcast to one f64 array. That is overwritten, so it must be a new array,
        which shares no memory with the operands.
    fallback : f64 arrays of one dimension to one; computes the results in doubt
    error : the largest relative error of `function`, in long double if results are
    absolute : the largest error where results are small because terms cancel

    """
    below, above = 1.0 - error, 1.0 + error

    def run(*operands: Array) -> Array:
        result = function(*operands)
        highest = result * above
        result *= below
        if absolute:
            result -= absolute
            highest += absolute
        lowest, highest = _single(result), _single(highest)
        return lowest if _same_bits(lowest, highest) else with_fallback(operands, lowest, highest)

    def with_fallback(operands: Sequence[Array], lowest: Array, highest: Array) -> Array:
        result, highest = np.array(lowest), np.asarray(highest)
        doubtful = result.view(np.uint32) != highest.view(np.uint32)
        result[doubtful] = fallback(*[np.broadcast_to(x, result.shape)[doubtful] for x in operands])
        return result[()]

    return run


def rounded_to_f32_if_small(
    kernel: ArrayKernel,
    function: ArrayKernel,
    error: float = EIGHT_ULP,
    absolute: float = 0.0,
) -> ArrayKernel:
    """Return a kernel of f32 that rounds results of `function` for scalars and small arrays, with little overhead.

    `kernel` computes arrays of `SMALL` elements or more, and those with results in doubt. Errors are as for
    `rounded_to_f32`.
    """
    below, above, one = 1.0 - error, 1.0 + error, np.float32(1.0)
    lower, upper, absolutely = map(np.array, (below, above, absolute))  # ufuncs take longer to take Python's numbers

    def run(x: Array) -> Array:
        if isinstance(x, np.float32) or not x.ndim:
            value = float(function(np.float64(x)))
            low: Any = one * (value * below - absolute)  # rounded as a factor
            high = one * (value * above + absolute)
            return low if low == high and (low or not absolute) else kernel(x)
        if x.size >= SMALL:
            return kernel(x)
        result = function(x.astype(FLOAT64))
        highest = np.multiply(result, upper)
        np.multiply(result, lower, result)
        if absolute:
            np.subtract(result, absolutely, result)
            np.add(highest, absolutely, highest)
        lowest, highest = result.astype(FLOAT32), highest.astype(FLOAT32)
        return lowest if lowest.tobytes() == highest.tobytes() else kernel(x)

    return run


def _same_bits(x: Array, y: Array) -> bool:
    if x.size < SMALL:
        return x.tobytes() == y.tobytes()
    return np.array_equal(x.view(np.uint32), y.view(np.uint32))


# --- f64, in the reproducible mode ----------------------------------------------------------------------------------


def rounded_to_f64(function: ArrayKernel, exact: Function) -> ArrayKernel:
    """Return the f64 kernel with the results of a `function` of long doubles, rounded as exact ones would be.

    Its relative error is below `PRECISE`, so that of random results one in 60 is computed by `exact`.
    """
    fallback, below, above = to_nearest(exact), 1 - LONG_DOUBLE.type(PRECISE), 1 + LONG_DOUBLE.type(PRECISE)

    def run(*operands: Array) -> Array:
        operands = np.broadcast_arrays(*operands)
        result = function(*[x.astype(LONG_DOUBLE) for x in operands])
        lowest, highest = (np.asarray((result * bound).astype(FLOAT64)) for bound in (below, above))
        doubtful = lowest < highest
        doubtful |= lowest > highest
        if doubtful.any():
            lowest[doubtful] = fallback(*[x[doubtful] for x in operands])
        return lowest

    return computed_in(FLOAT64, run, FLOAT64)


@dataclass(frozen=True, eq=False)
class ModalFactory:
    """A kernel factory, and that of the same op in the reproducible mode."""

    default: KernelFactory
    reproducible: KernelFactory

    def __call__(self, dtype: DType) -> ArrayKernel:
        return self.default(dtype)


def in_mode(factory: KernelFactory, reproducible: bool) -> KernelFactory:
    """Return the factory of kernels for a mode."""
    return factory.reproducible if reproducible and isinstance(factory, ModalFactory) else factory


def with_reproducible_kernel(
    factory: KernelFactory,
    dtype: DType,
    reproducible: Callable[[ArrayKernel], ArrayKernel],
) -> KernelFactory:
    """Return a factory that, for operands of `dtype`, has another kernel in the reproducible mode.

    `reproducible` makes it from that of `factory`.
    """

    @cache
    def replacement() -> ArrayKernel:
        return reproducible(factory(dtype))

    return ModalFactory(factory, lambda operand: replacement() if operand == dtype else factory(operand))
