"""Types of kernels and of kernel factories."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from stablehlo_ref.ir.arrays import Array, DType

ArrayKernel: TypeAlias = Callable[..., Array]  # from arrays or numpy scalars to one array
KernelFactory: TypeAlias = Callable[[DType], ArrayKernel]
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


_INTO = "_into_form"  # an attribute of kernels, which may refer to the kernel


def with_into(kernel: ArrayKernel, into: Into) -> ArrayKernel:
    """Register `into` as the form of an elementwise `kernel` that writes its result into an argument; return `kernel`.

    That argument shares no memory with the operands. A kernel has one such form: for another, ValueError is raised.
    """
    if into_form(kernel) is not None:
        raise ValueError(f"there is a form of {kernel} that writes into an argument")
    setattr(kernel, _INTO, into)
    return kernel


def into_form(kernel: ArrayKernel) -> Into | None:
    """Return the form of a kernel that writes its result into the argument `out`; None if there is none."""
    return getattr(kernel, _INTO, None)
