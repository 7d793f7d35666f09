"""Bounds that keep any program from taking the machine with it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 34


@dataclass(frozen=True)
class Limits:
    """What a program may use; going past one is a MalformedError or an EvaluationError that names it.

    `tensor_bytes` bounds any single tensor (default: the machine's memory), `call_depth` the calls within calls.
    """

    tensor_bytes: int = field(default_factory=_physical_memory)
    call_depth: int = 128
