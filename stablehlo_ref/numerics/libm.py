"""numpy's elementary functions of f64, with results that do not depend on strides, alignment or the number of elements.

numpy has several loops for one function: a vectorized one, and one that calls the C library for other strides and for
single elements. Their results differ in the last bit. Here operands always take the loop for contiguous arrays of two
elements or more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.kernels import ArrayKernel


def by_one_loop(function: ArrayKernel) -> ArrayKernel:
    """Return an elementwise `function` that calls it on contiguous and aligned arrays of one shape.

    Operands broadcast. Those that are contiguous already are passed on as they are.
    """

    def run(*operands: Array) -> Array:
        shape = operands[0].shape
        for x in operands:
            flags = x.flags
            if not flags.c_contiguous or not flags.aligned or x.shape != shape:
                return run(*[np.require(x, requirements=["C", "A"]) for x in np.broadcast_arrays(*operands)])
        return _single(function, operands) if operands[0].size == 1 else function(*operands)

    return run


def _single(function: ArrayKernel, operands: Sequence[Array]) -> Array:
    """Return the result for arrays or scalars of one element, as that of an array of two."""
    result: Array = function(*[np.array((x, x)) for x in operands])[0]
    return result


exp = by_one_loop(np.exp)
expm1 = by_one_loop(np.expm1)
log = by_one_loop(np.log)
log1p = by_one_loop(np.log1p)
sin = by_one_loop(np.sin)
cos = by_one_loop(np.cos)
tan = by_one_loop(np.tan)
arctan2 = by_one_loop(np.arctan2)
sinh = by_one_loop(np.sinh)
cosh = by_one_loop(np.cosh)
cbrt = by_one_loop(np.cbrt)
power = by_one_loop(np.power)
