"""How many threads BLAS uses in a run.

BLAS starts a thread for each CPU and waits for the slowest. If another process has one of the CPUs, that takes until
the scheduler's next time slice, 10 to 20 ms for each product of matrices. So threads pay for products that take longer,
and for nothing else. Whether it is busy or not, a machine gets the same results from a program, as the last
bits of a product depend on the number of threads, and this only on the program and on the number of CPUs.
The number is set in the OpenBLAS that numpy's wheels contain. threadpoolctl, an optional dependency, sets it in any
BLAS; without either, BLAS decides.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from math import prod, sqrt
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol, cast

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.workers import VARIABLES, usable_cpus

LARGE = 1 << 30  # multiplications in a product that is worth threads: some 20 ms in f32 on one CPU
SPLIT = 1 << 18  # multiplications in a product of matrices from which on BLAS uses several threads
TINY = 1 << 13  # multiplications up to which no BLAS does, whatever is multiplied

PRODUCTS = frozenset({
    "chlo.ragged_dot", "stablehlo.cholesky", "stablehlo.convolution", "stablehlo.custom_call", "stablehlo.dot",
    "stablehlo.dot_general", "stablehlo.dynamic_conv", "stablehlo.einsum", "stablehlo.triangular_solve",
})  # fmt: skip


class Library(Protocol):
    """The number of threads of a BLAS, which threadpoolctl or `BundledBlas` gets and sets."""

    @property
    def num_threads(self) -> int | None: ...
    @property
    def set_num_threads(self) -> Callable[[int], object]: ...


def product_size(functions: Iterable[Iterable[Operation]]) -> float:
    """Return the average number of multiplications of those matrix products that BLAS splits among threads.

    If there are none, return 1.0 if BLAS may split a product, which is then small or of an unknown shape, and else 0.0.
    """
    ops = [op for operations in functions for op in operations if op.name in PRODUCTS]
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


_lock = Lock()
_runs: dict[object, int] = {}  # in progress, with their numbers of threads
_before: list[tuple[Library, int]] = []  # the numbers before all runs


def _set(run: object, count: int | None, libraries: Iterable[Library] = ()) -> None:
    """Set the number for a run that begins; at its end, with None, that of the last of the other runs, or before all.

    The end of a run must be set also if its beginning fails.
    """
    with _lock:
        if not _runs and count:
            _before[:] = [(library, library.num_threads or 1) for library in libraries]
        _runs.pop(run, None)
        if count:
            _runs[run] = count
        *_, last = None, *_runs.values()
        for library, number in _before:
            library.set_num_threads(last or number)
        if not _runs:
            _before.clear()


@contextmanager
def blas_threads(wanted: int | None, size: float) -> Iterator[None]:
    """Let BLAS use `wanted` threads inside; by default a number that suits products of `size` multiplications.

    The number holds for the whole process. ImportError if threads are wanted of a BLAS that only threadpoolctl knows,
    which is missing.
    """
    count = wanted or automatic(size)
    if count is None:
        yield
        return
    libraries = _libraries("scipy.linalg" in sys.modules)
    if not libraries:
        require("threadpoolctl")
    run = object()
    try:
        _set(run, count, libraries)
        yield
    finally:
        _set(run, None)


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
    if importlib.util.find_spec("threadpoolctl") is None:
        return bundled_blas(("numpy", "scipy") if with_scipy else ("numpy",))
    controllers = require("threadpoolctl").ThreadpoolController().lib_controllers
    return [library for library in controllers if library.user_api == "blas"]


NAMES = tuple(product(("scipy_openblas_", "openblas_"), ("64_", "")))  # before and after those of functions


class BundledBlas(NamedTuple):
    """An OpenBLAS, by its functions that return and set the number of threads."""

    get: Callable[[], int]
    set_num_threads: Callable[[int], object]

    @property
    def num_threads(self) -> int:
        return self.get()


def bundled_blas(packages: Iterable[str]) -> list[BundledBlas]:
    """Return the libraries in the wheels of imported packages; none of packages that were installed otherwise."""
    found = [_opened(path) for package in packages for path in _paths(package)]
    return [library for library in found if library is not None]


def _paths(package: str) -> list[Path]:
    """Return the libraries beside or in a package, where auditwheel, delvewheel and delocate put them."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent
    places = (folder.with_name(f"{package}.libs"), folder / ".libs", folder / ".dylibs")
    return [path for place in places for path in sorted(place.glob("*openblas*"))]


def _opened(path: Path) -> BundledBlas | None:
    try:
        from ctypes import CDLL

        library = CDLL(str(path))
    except (ImportError, OSError):
        return None
    for before, after in NAMES:
        get = getattr(library, f"{before}get_num_threads{after}", None)
        set_number = getattr(library, f"{before}set_num_threads{after}", None)
        if get is not None and set_number is not None:
            return BundledBlas(cast(Callable[[], int], get), cast(Callable[[int], object], set_number))
    return None
