"""Types of kernels and of kernel factories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from stablehlo_ref.ir.arrays import Array, DType

ArrayKernel: TypeAlias = Callable[..., Array]  # from arrays or numpy scalars to one array
KernelFactory: TypeAlias = Callable[[DType], ArrayKernel]
StoreBlock: TypeAlias = Callable[[Array, Array], object]  # from a 1-dimensional block into another


def same_kernel(kernel: ArrayKernel) -> KernelFactory:
    """Return the factory of one kernel for every dtype."""
    return lambda dtype: kernel


_INTO: WeakKeyDictionary[ArrayKernel, ArrayKernel] = WeakKeyDictionary()


def with_into(kernel: ArrayKernel, into: ArrayKernel) -> ArrayKernel:
    """Return an elementwise `kernel`, of which `into` is the form that writes its result into a last argument.

    That argument shares no memory with the operands.
    """
    _INTO[kernel] = into
    return kernel


def into(kernel: ArrayKernel) -> ArrayKernel | None:
    """Return the form of a kernel that writes its result into a last argument; None if there is none."""
    return _INTO.get(kernel)
