"""How exact the results of a run are: the options `reproducible` and `exact_sums`.

The mode is a property of a plan. It is in a context variable, which those who make kernels read: when a program is
planned, and when a run plans what depends on its values. So no signature on the way from the planner to a kernel
factory mentions it. A kernel that is cached must have the mode in its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    """Which results are rounded from exact ones, so that no order of operations and no library can change them."""

    reproducible: bool = False  # sums of products and elementary functions
    exact_sums: bool = False  # sums


DEFAULT = Mode()
_current: ContextVar[Mode] = ContextVar("mode", default=DEFAULT)


def current() -> Mode:
    """Return the mode for which kernels are to be made."""
    return _current.get()


@contextmanager
def in_force(mode: Mode) -> Iterator[None]:
    """Make `mode` the one for which kernels are made inside."""
    token = _current.set(mode)
    try:
        yield
    finally:
        _current.reset(token)
