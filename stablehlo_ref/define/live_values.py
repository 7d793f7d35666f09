"""The memory of the values that are alive in a run."""

from __future__ import annotations

from collections.abc import Iterable
from mmap import mmap
from typing import Any

import numpy as np


def live_bytes(frames: Iterable[Iterable[Any]]) -> int:
    """Return the bytes of all arrays in lists of values; memory that several arrays share is counted once.

    A view counts as the array that it is a view of, so a splat takes the memory of one element. Mapped files take none.
    """
    owners: dict[int, int] = {}
    for values in frames:
        for value in values:
            _add(owners, value)
    return sum(owners.values())


def _add(owners: dict[int, int], value: object) -> None:
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        base = value.base.obj if isinstance(value.base, memoryview) else value.base
        owners[id(value if base is None else base)] = 0 if isinstance(base, mmap) else value.nbytes
    elif isinstance(value, tuple | list):
        for element in value:
            _add(owners, element)
