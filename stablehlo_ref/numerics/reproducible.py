"""Kernel factories that have other kernels in the reproducible mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory


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
    by_default: bool = False,
) -> KernelFactory:
    """Return a factory that, for operands of `dtype`, has another kernel in the reproducible mode.

    `reproducible` makes it from that of `factory`. It is also the kernel in other modes if `by_default` is true.
    """

    @cache
    def replacement() -> ArrayKernel:
        return reproducible(factory(dtype))

    def replaced(operand: DType) -> ArrayKernel:
        return replacement() if operand == dtype else factory(operand)

    return ModalFactory(replaced if by_default else factory, replaced)
