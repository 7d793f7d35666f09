"""Types of kernels and of kernel factories."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.ir.arrays import Array, DType

ArrayKernel: TypeAlias = Callable[..., Array]  # from arrays or numpy scalars to one array
KernelFactory: TypeAlias = Callable[[DType], ArrayKernel]  # from the dtype of elements
Into: TypeAlias = Callable[..., Array]  # writes its result into a last argument `out`, and returns that


def stored(result: Array, out: Array | None) -> Array:
    """Return a result, or `out`, unless that is None, with its elements."""
    if out is None or out is result:
        return result
    out[...] = result
    return out


@cache
def same_kernel(kernel: ArrayKernel) -> KernelFactory:
    """Return the factory of one kernel for every dtype, the same one each time."""
    return lambda dtype: kernel


def into_form(kernel: ArrayKernel) -> Into | None:
    """Return the form of a kernel that writes its result into a last argument `out`; None if there is none."""
    if isinstance(kernel, Kernel):
        return kernel.into or into_form(kernel.run)
    return kernel if isinstance(kernel, np.ufunc) else None
