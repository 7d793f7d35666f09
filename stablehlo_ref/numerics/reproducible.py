"""Kernels that take the place of others in the reproducible mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from stablehlo_ref.define import mode
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory


def with_reproducible_kernel(
    factory: KernelFactory,
    dtype: DType,
    reproducible: Callable[[ArrayKernel], ArrayKernel],
    by_default: bool = False,
) -> KernelFactory:
    """Return a factory that, for operands of `dtype`, returns another kernel in the reproducible mode.

    `reproducible` makes it from that of `factory`. It is also the kernel in other modes if `by_default` is true.
    """

    @cache
    def replacement() -> ArrayKernel:
        return reproducible(factory(dtype))

    def choose(operand: DType) -> ArrayKernel:
        is_needed = operand == dtype and (by_default or mode.current().reproducible)
        return replacement() if is_needed else factory(operand)

    return choose
