"""Types of kernels and of kernel factories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from stablehlo_ref.ir.arrays import Array, DType

ArrayKernel: TypeAlias = Callable[..., Array]  # from arrays or numpy scalars to one array
KernelFactory: TypeAlias = Callable[[DType], ArrayKernel]
StoreBlock: TypeAlias = Callable[[Array, Array], None]  # from a 1-dimensional block into another


def same_kernel(kernel: ArrayKernel) -> KernelFactory:
    """Return the factory of one kernel for every dtype."""
    return lambda dtype: kernel
