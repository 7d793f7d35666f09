"""Bounds that keep any program from taking the machine with it, or from never ending."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from numbers import Real
from typing import Any


def _half_of_memory() -> int:
    """An op holds an operand and its result."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 1 << 34


@dataclass(frozen=True)
class Limits:
    """What a run may use; going past one is an EvaluationError that names it.

    `max_bytes` bounds each single tensor (default: half of the machine's memory), `max_depth` the calls within calls,
    `max_steps` the turns of loops and the calls of a run together, `max_seconds` its time (default: none).
    """

    max_bytes: int = field(default_factory=_half_of_memory)
    max_depth: int = 128
    max_steps: int = 100_000_000
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        """TypeError unless they are numbers, ValueError unless they are positive."""
        for name, value in vars(self).items():
            if value is None and name == "max_seconds":
                continue
            check_type(name, value, Real, "a number")
            if not value > 0:
                raise ValueError(f"{name} is a positive number, not {value!r}")


def check_type(name: str, value: Any, expected: Any, what: str) -> None:
    """TypeError, which says what an argument is, unless it is an instance of what is expected."""
    if not isinstance(value, expected):
        raise TypeError(f"{name} is {what}, not {value!r}")
