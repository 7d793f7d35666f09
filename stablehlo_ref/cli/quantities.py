"""Times and sizes on the command line: `90`, `1.5m`, `2GB`, `512MiB`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0}
BYTES: Mapping[str, float] = {"": 1, "b": 1} | {
    prefix + unit: base**power
    for unit, base in (("", 1000), ("b", 1000), ("ib", 1024))
    for power, prefix in enumerate("kmgt", 1)
}


def seconds(text: str) -> float:
    """Return a time in seconds: a positive number, alone or with the unit ms, s, m or h."""
    return _quantity(text, SECONDS, "a positive number of seconds, such as 90, 500ms, 1.5m or 1h")


def byte_count(text: str) -> int:
    """Return a size in bytes: a positive number, alone or with the unit kB, MB, GB, TB, KiB, MiB, GiB or TiB."""
    count = _quantity(text, BYTES, "a positive size, such as 500MB or 2GiB")
    return max(1, int(count))


def _quantity(text: str, units: Mapping[str, float], expected: str) -> float:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?|[0-9]+\.)\s*([a-z]*)\s*", text.lower())
    unit = units.get(match[2]) if match else None
    quantity = float(match[1]) * unit if match and unit else 0.0
    if not 0 < quantity < 1e300:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return quantity
