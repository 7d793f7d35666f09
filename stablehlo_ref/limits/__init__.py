"""Limits of the memory and time that a run may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from pathlib import Path
from types import UnionType

from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError

MAX_THREADS = 1 << 16  # of BLAS
UNKNOWN_MEMORY = 1 << 35  # bytes: assumed if the system does not report it

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")


@cache
def available_memory() -> int:
    """Return the bytes of memory that this process may use: the machine's, or what its cgroups (v1, v2) allow."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = UNKNOWN_MEMORY
    return min([machine, *_cgroup_limits(_OWN_CGROUPS, _CGROUPS)])


def _cgroup_limits(own: Path, root: Path) -> Iterator[int]:
    """Yield the memory limits in bytes of the cgroups in the file `own`, and of those that contain them."""
    try:
        lines = own.read_text().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, path = line.split(":", 2) if line.count(":") >= 2 else ("", "-", "")
        if controllers not in ("", "memory"):
            continue
        base = root / controllers
        group = base / path.lstrip("/")
        for folder in (group, *(parent for parent in group.parents if parent.is_relative_to(base))):
            yield from _limit_in(folder / ("memory.limit_in_bytes" if controllers else "memory.max"))


def _limit_in(file: Path) -> Iterator[int]:
    try:
        text = file.read_text().strip()
    except (OSError, ValueError):
        return
    if text.isdecimal() and int(text):  # "max" is no limit
        yield int(text)


@dataclass(frozen=True)
class Limits:
    """What a call may use. One that exceeds a limit raises an EvaluationError that names the limit.

    `max_bytes` is the size of a single tensor in bytes (default: half of the memory of the machine, or of the process's
    cgroup). `max_total_bytes` is the size of all values that are alive at a time, and of temporaries of tensor size
    (default: three quarters). `max_depth` is the depth of nested calls, `max_steps` the number of loop iterations and
    calls in a run; calls count that are recursive or lead to more than 1,000 others. `max_seconds` is the time of a
    call: of `load`, or of `run` with its planning (default: no limit). ArgumentTypeError for a limit that is not a
    number, ArgumentValueError for one that is not positive.
    """

    max_bytes: int = field(default_factory=lambda: available_memory() // 2)  # of an operand, and of its result
    max_depth: int = 128
    max_steps: int = 100_000_000
    max_seconds: float | None = None
    max_total_bytes: int = field(default_factory=lambda: available_memory() * 3 // 4)  # room for the program is left

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None and name == "max_seconds":
                continue
            check_positive(name, value)


def check_positive(name: str, value: object) -> None:
    """Raise ArgumentTypeError or ArgumentValueError unless the argument `name` is a positive number."""
    check_type(name, value, Real, "a number")
    if not value > 0:  # type: ignore[operator]
        raise ArgumentValueError(f"{name} must be a positive number, got {value!r}")


def check_type(name: str, value: object, expected: type | UnionType, description: str) -> None:
    """Raise ArgumentTypeError, which describes the argument `name`, unless `value` is an instance of `expected`."""
    if not isinstance(value, expected):
        raise ArgumentTypeError(f"{name} must be {description}, got {value!r}")
