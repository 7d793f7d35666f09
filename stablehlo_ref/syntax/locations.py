"""Debug locations: `loc(...)` after an op or a block argument."""

from __future__ import annotations

from collections.abc import Callable

from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.lexer import STRING, token
from stablehlo_ref.ir.locations import (
    UNKNOWN_LOCATION,
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    LocationAlias,
    NameLocation,
)
from stablehlo_ref.syntax.types import TypeParser

_match_file = token(rf"({STRING}):(\d++):(\d++)(?:\s*to\s*(\d*+):(\d++))?")
_match_simple_name = token(rf"loc\(({STRING})(?:\((\#[\w$.\-]++)\))?\)")
_match_loc = token(r"loc(?:\((\#[\w$.\-]++)\)|(?![\w$.]))")


class LocationParser(TypeParser):
    """Parses locations. An alias may be used before its definition, so uses are `LocationAlias`es, set later."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.location_aliases: dict[str, LocationAlias] = {}
        self.location_uses: dict[str, int] = {}  # offsets of aliases that are used and not yet defined

    # location? ::= (loc ( location-body ))?
    def trailing_location(self) -> DebugLocation | None:
        """Parse `loc(...)`, if it is next."""
        match = _match_loc(self.text, self.position)
        if not match or not match[1]:
            return self.location_attribute() if match else None
        self.position = match.end()
        return self.location_alias(match[1], match.start(1))

    # location ::= loc ( location-body )
    def location_attribute(self) -> DebugLocation:
        """Parse `loc(...)`."""
        match = self.take(_match_simple_name(self.text, self.position))
        if match:
            child = self.location_alias(match[2], match.start(2)) if match[2] else None
            return NameLocation(self.unescape(match[1], match.start(1)), child)
        self.expect("loc")
        self.expect("(")
        location = self._location_body()
        self.expect(")")
        return location

    # location-body ::= unknown | #alias | callsite ( ... ) | fused ... | file | name
    def _location_body(self) -> DebugLocation:
        self.descend()
        start = self.peek()
        if start[:1] == '"':
            location = self._file_or_name()
        elif start[:1] == "#":
            offset = self.start
            location = self.location_alias(self.advance(), offset)
        elif start in _LOCATIONS:
            self.advance()
            location = _LOCATIONS[start](self)
        else:
            raise self.expected("a location")
        self.depth -= 1
        return location

    def location_alias(self, name: str, offset: int) -> DebugLocation:
        """Return the location that an alias `#name`, used at `offset`, stands for."""
        alias = self.location_aliases.get(name)
        if alias is None:
            alias = self.location_aliases[name] = LocationAlias(name)
            self.location_uses[name] = offset
        return alias

    # file ::= string : line : column (to (line)? : column)? ; name ::= string (( location-body ))?
    def _file_or_name(self) -> DebugLocation:
        match = self.take(_match_file(self.text, self.position))
        if match:
            line, column = self.to_integer(match[2], match.start(2)), self.to_integer(match[3], match.start(3))
            end = None
            if match[5]:
                end_line = self.to_integer(match[4], match.start(4)) if match[4] else line
                end = (end_line, self.to_integer(match[5], match.start(5)))
            return FileLocation(self.unescape(match[1], match.start(1)), line, column, end)
        name, child = self.string(), None
        if self.accept("("):
            child = self._location_body()
            self.expect(")")
        return NameLocation(name, child)

    # callsite ::= callsite ( location-body at location-body )
    def _callsite(self) -> CallSiteLocation:
        self.expect("(")
        callee = self._location_body()
        self.expect("at")
        caller = self._location_body()
        self.expect(")")
        return CallSiteLocation(callee, caller)

    # fused ::= fused (< attribute >)? [ location-body (, location-body)* ]
    def _fused(self) -> FusedLocation:
        metadata = None
        if self.accept("<"):
            metadata = self.attribute()
            self.expect(">")
        return FusedLocation(tuple(self.items(self._location_body, "[", "]")), metadata)


_LOCATIONS: dict[str, Callable[[LocationParser], DebugLocation]] = {
    "unknown": lambda parser: UNKNOWN_LOCATION,
    "callsite": LocationParser._callsite,
    "fused": LocationParser._fused,
}
