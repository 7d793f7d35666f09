"""Limits of the memory and time that a run may use."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from numbers import Real
from types import UnionType


def _half_of_memory() -> int:
    """Return half of the machine's memory in bytes, as an op needs memory for an operand and its result."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 1 << 34


@dataclass(frozen=True)
class Limits:
    """What a run may use. A run that exceeds a limit raises an EvaluationError that names the limit.

    `max_bytes` is the size of a single tensor in bytes (default: half of the machine's memory), `max_depth` the depth
    of nested calls, `max_steps` the number of loop iterations and calls in a run, and `max_seconds` the time of a run
    (default: no limit). Raises TypeError for a limit that is not a number, ValueError for one that is not positive.
    """

    max_bytes: int = field(default_factory=_half_of_memory)
    max_depth: int = 128
    max_steps: int = 100_000_000
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None and name == "max_seconds":
                continue
            check_type(name, value, Real, "a number")
            if not value > 0:
                raise ValueError(f"{name} must be a positive number, got {value!r}")


def check_type(name: str, value: object, expected: type | UnionType, description: str) -> None:
    """Raise TypeError, which describes the argument `name`, unless `value` is an instance of `expected`."""
    if not isinstance(value, expected):
        raise TypeError(f"{name} must be {description}, got {value!r}")
