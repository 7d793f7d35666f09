"""Where an op came from, as its program says (`loc(...)`); where it stands in the text is a `diagnostics.Location`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class UnknownLocation:
    """`loc(unknown)`."""


@dataclass(frozen=True)
class FileLocation:
    """`loc("file.py":12:3)`, also `12:3 to 13:4`: `end` is its last line and column."""

    filename: str
    line: int
    column: int
    end: tuple[int, int] | None = None


@dataclass(frozen=True)
class NameLocation:
    """`loc("name"(child))`: how frameworks call an op or an argument."""

    name: str
    child: DebugLocation | None = None


@dataclass(frozen=True)
class CallSiteLocation:
    """`loc(callsite(callee at caller))`."""

    callee: DebugLocation
    caller: DebugLocation


@dataclass(frozen=True)
class FusedLocation:
    """`loc(fused<metadata>[...])`."""

    locations: tuple[DebugLocation, ...]
    metadata: Any = None


@dataclass(eq=False)
class LocationAlias:
    """`#loc12`, which may be defined after its use: `target` is set when the parser gets there."""

    alias: str
    target: DebugLocation | None = None


DebugLocation: TypeAlias = (
    UnknownLocation | FileLocation | NameLocation | CallSiteLocation | FusedLocation | LocationAlias
)
UNKNOWN_LOCATION = UnknownLocation()


def resolve(location: DebugLocation | None) -> DebugLocation | None:
    """What an alias, perhaps of an alias, stands for; anything else as it is."""
    seen = 0
    while isinstance(location, LocationAlias):
        location = location.target
        seen += 1
        if seen > 1000:  # an alias of itself
            return UNKNOWN_LOCATION
    return location


def name_of(location: DebugLocation | None) -> str | None:
    """The name that a location carries outermost, such as `args[0]` in `loc("args[0]")`; None if it has none."""
    location = resolve(location)
    return location.name if isinstance(location, NameLocation) else None
