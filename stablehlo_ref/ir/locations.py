"""Debug locations, `loc(...)` in a program; the position of an op in the text is a `diagnostics.Location`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True)
class UnknownLocation:
    """`loc(unknown)`."""


@dataclass(frozen=True)
class FileLocation:
    """`loc("file.py":12:3)`; of a range `12:3 to 13:4`, `end` is the last line and column."""

    filename: str
    line: int
    column: int
    end: tuple[int, int] | None = None


@dataclass(frozen=True)
class NameLocation:
    """`loc("name"(child))`: the name of an op or argument in a framework."""

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
    metadata: object = None  # an attribute


@dataclass(eq=False)
class LocationAlias:
    """`#loc12`, which may be used before its definition, so that the parser sets `target` later.

    Pickling omits `target`, as chains of aliases may be long; `ir.flat` pickles the targets of a program's aliases.
    """

    alias: str
    target: DebugLocation | None = None

    def __getstate__(self) -> dict[str, object]:
        return {"alias": self.alias, "target": None}


DebugLocation: TypeAlias = (
    UnknownLocation | FileLocation | NameLocation | CallSiteLocation | FusedLocation | LocationAlias
)
UNKNOWN_LOCATION = UnknownLocation()


def nested_locations(location: DebugLocation) -> tuple[DebugLocation, ...]:
    """Return the locations that a location directly refers to."""
    match location:
        case NameLocation(child=other) | LocationAlias(target=other):
            return () if other is None else (other,)
        case CallSiteLocation(callee, caller):
            return callee, caller
        case FusedLocation(locations):
            return locations
    return ()


def resolve(location: DebugLocation | None) -> DebugLocation | None:
    """Return the target of an alias, through any number of aliases; return any other location as it is."""
    seen = 0
    while isinstance(location, LocationAlias):
        location = location.target
        seen += 1
        if seen > 1000:  # an alias of itself
            return UNKNOWN_LOCATION
    return location


def without_ranges(location: DebugLocation | None) -> DebugLocation | None:
    """Return a location whose ranges in files are places, the starts of the ranges; aliases are spelled out."""
    match location := resolve(location):
        case FileLocation(end=tuple()):
            return replace(location, end=None)
        case NameLocation(name, child):
            return NameLocation(name, without_ranges(child))
        case CallSiteLocation(callee, caller):
            return CallSiteLocation(*(without_ranges(x) or UNKNOWN_LOCATION for x in (callee, caller)))
        case FusedLocation(locations, metadata):
            return FusedLocation(tuple(without_ranges(x) or UNKNOWN_LOCATION for x in locations), metadata)
    return location


def name_of(location: DebugLocation | None) -> str | None:
    """Return the outermost name in a location, such as `args[0]` in `loc("args[0]")`; None if it has no name.

    The name of an op that was inlined is that which it has in the function.
    """
    location = resolve(location)
    while isinstance(location, CallSiteLocation):
        location = resolve(location.callee)
    return location.name if isinstance(location, NameLocation) else None


def file_of(location: DebugLocation | None) -> FileLocation | None:
    """Return the first place in a file that a location refers to, the innermost call first; None if there is none."""
    pending = [location]
    for _ in range(1000):  # an alias may refer to itself
        if not pending:
            break
        found = resolve(pending.pop())
        if isinstance(found, FileLocation):
            return found
        if found is not None:
            pending.extend(reversed(nested_locations(found)))
    return None


def model_location(location: DebugLocation | None) -> str | None:
    """Return where an op comes from in the model, `jit(model)/add at model.py:12:0`; None if that is unknown."""
    return " at ".join(filter(None, (name_of(location), _place(location)))) or None


def short_location(location: DebugLocation | None) -> str | None:
    """Return the place in a file that a location refers to, `model.py:12:0`, or else its name; None if unknown."""
    return _place(location) or name_of(location)


def _place(location: DebugLocation | None) -> str | None:
    place = file_of(location)
    return f"{place.filename}:{place.line}:{place.column}" if place else None
