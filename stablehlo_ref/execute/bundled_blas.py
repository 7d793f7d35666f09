"""The number of threads of the OpenBLAS that wheels of numpy and SciPy contain, without further packages."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

NAMES = (  # of functions, before and after `set_num_threads`
    ("scipy_openblas_", "64_"),
    ("scipy_openblas_", ""),
    ("openblas_", "64_"),
    ("openblas_", ""),
)


class BundledBlas:
    """An OpenBLAS, by its functions that return and set the number of threads."""

    def __init__(self, get: Callable[[], int], set_number: Callable[[int], object]) -> None:
        self._get = get
        self.set_num_threads = set_number

    @property
    def num_threads(self) -> int:
        return self._get()


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
