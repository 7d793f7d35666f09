"""How many threads BLAS uses in a run.

BLAS starts a thread for each CPU and waits for the slowest. If another process has one of the CPUs, that takes until
the scheduler's next time slice, 10 to 20 ms for each product of matrices. So threads pay for products that take longer,
and for nothing else. Whether it is busy or not, a machine gets the same results from a program, as the last bits of a
product depend on the number of threads, and this only on the program and on the number of CPUs. threadpoolctl sets the
number; of a BLAS that it does not know, the BLAS decides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import prod, sqrt
from threading import Lock
from typing import Protocol

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.workers import VARIABLES, usable_cpus

LARGE = 1 << 30  # multiplications in a product that is worth threads: some 20 ms in f32 on one CPU
SPLIT = 1 << 18  # multiplications in a product of matrices from which on BLAS uses several threads
TINY = 1 << 13  # multiplications up to which no BLAS does, whatever is multiplied

_PRODUCTS = frozenset({
    "chlo.ragged_dot", "stablehlo.cholesky", "stablehlo.convolution", "stablehlo.custom_call", "stablehlo.dot",
    "stablehlo.dot_general", "stablehlo.dynamic_conv", "stablehlo.einsum", "stablehlo.triangular_solve",
})  # fmt: skip


class Library(Protocol):
    """The number of threads of a BLAS, as threadpoolctl gets and sets it."""

    @property
    def num_threads(self) -> int | None: ...
    def set_num_threads(self, num_threads: int) -> object: ...


def product_size(functions: Iterable[Iterable[Operation]]) -> float:
    """Return the average number of multiplications of those matrix products that BLAS splits among threads.

    If there are none, return 1.0 if BLAS may split a product, which is then small or of an unknown shape, and else 0.0.
    """
    ops = [op for operations in functions for op in operations if op.name in _PRODUCTS]
    sizes = [_multiplications([*op.operand_types[:2], *op.result_types[:1]]) for op in ops]
    split = [size for size in sizes if size >= SPLIT]
    return sum(split) / len(split) if split else float(any(size > TINY for size in sizes))


def _multiplications(types: list[Type]) -> float:
    """Return m·n·k for the types m·k, k·n and m·n; n³ for two types n·n, as of a factorization.

    Return a small number that BLAS may split if it is unknown.
    """
    tensors = [t for t in types if isinstance(t, TensorType)]
    if not all(t.is_static for t in tensors):
        return TINY + 1
    sizes = [t.size for t in tensors]
    return sqrt(prod(sizes)) if len(sizes) == 3 else max(sizes, default=0) ** 1.5


class _Threads:
    """The number of threads of all libraries: that of the last run that began and is in progress, if there is one."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.runs: dict[object, int] = {}  # in progress, with their numbers
        self.before: list[tuple[Library, int]] = []

    def enter(self, run: object, count: int, libraries: Iterable[Library]) -> None:
        """Set the number for a run; `leave` must follow also if that fails."""
        with self.lock:
            if not self.runs:
                self.before = [(library, library.num_threads or 1) for library in libraries]
            self.runs[run] = count
            for library, _ in self.before:
                library.set_num_threads(count)

    def leave(self, run: object) -> None:
        """Set the number for the last of the other runs, or that before all runs."""
        with self.lock:
            self.runs.pop(run, None)
            *_, last = None, *self.runs.values()
            for library, number in self.before:
                library.set_num_threads(last or number)
            if not self.runs:
                self.before = []


_threads = _Threads()


@contextmanager
def blas_threads(wanted: int | None, size: float) -> Iterator[None]:
    """Let BLAS use `wanted` threads inside; by default a number that suits products of `size` multiplications.

    The number holds for the whole process.
    """
    count = wanted or automatic(size)
    if count is None:
        yield
        return
    run = object()
    try:
        _threads.enter(run, count, _libraries("scipy.linalg" in sys.modules))
        yield
    finally:
        _threads.leave(run)


def automatic(size: float) -> int | None:
    """Return the number of threads for a run by the size of its products; None to leave the choice to BLAS.

    That is where an environment variable sets it, nothing can set it, or there is one CPU.
    """
    if not size or not _is_automatic() or (cpus := usable_cpus()) == 1:
        return None
    return cpus if size >= LARGE else 1


@cache
def _is_automatic() -> bool:
    is_set = any(os.environ.get(variable) for variable in VARIABLES)
    return not is_set and bool(_libraries(False))


@cache
def _libraries(with_scipy: bool) -> Sequence[Library]:
    """Return the BLAS of numpy and, if it has been imported, that of SciPy."""
    from threadpoolctl import ThreadpoolController  # takes 15 ms, and few programs need it

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
