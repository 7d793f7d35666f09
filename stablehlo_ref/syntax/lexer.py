"""Reading a program's text: one regular expression for tokens, matched on demand at a position, and four verbs.

`peek`, `advance`, `accept` and `expect` see the next token as plain text; its first character says what it is. There
are no token objects: what occurs often (types, whole lines) is matched by larger expressions that start with `TRIVIA`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from stablehlo_ref.diagnostics import Location, MalformedError, Source

# How deep regions, types and attributes may stand inside each other, all counted together: far deeper than programs go,
# and so that the ten calls or fewer of each level stay below Python's limit of 1000.
MAX_NESTING = 64
MAX_DIGITS = 4000  # of one integer

TRIVIA = r"(?:\s++|//[^\n]*+)*+"
SUFFIX = r"(?:\d++|[A-Za-z_$.\-][\w$.\-]*+)"
STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
NUMBER = r"0x[0-9a-fA-F]++|\d++(?:\.\d*+(?:[eE][+\-]?\d++)?+)?+"


def token(pattern: str) -> Callable[..., re.Match[str] | None]:
    """The match function of `pattern` where it stands after blanks and comments."""
    return re.compile(TRIVIA + pattern, re.ASCII).match


_match_token = token(
    rf"([A-Za-z_][\w$.]*+|%{SUFFIX}(?:\#\d++)?+|@(?:{SUFFIX}|{STRING})|\#-\}}|[\#!^]{SUFFIX}|{STRING}|{NUMBER}"
    r"|->|::|\.\.\.|\{-\#|[^\s]|)"
)
_match_trivia = token("")
_match_integer = token(r"(-? *(?:0x[0-9a-fA-F]++|\d++))(?![.\w])")
_match_balanced_part = re.compile(rf"""(?:[^<>()\[\]{{}}"/\-]++|{STRING}|->|-|//[^\n]*+|/)*+([<>()\[\]{{}}]|)""").match
_CLOSERS = {"<": ">", "(": ")", "[": "]", "{": "}"}
_ESCAPE = re.compile(rb'\\(?:([0-9a-fA-F]{2})|([nt"\\]))')
_ESCAPED = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}

T = TypeVar("T")


class Cursor:
    """A position in a source's text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.position = 1 if source.text.startswith("\ufeff") else 0
        self.depth = 0

    # --- the four verbs -----------------------------------------------------------------------------------------

    def peek(self) -> str:
        """The next token; "" at the end of the text."""
        return _match_token(self.text, self.position)[1]  # type: ignore[index]

    def advance(self) -> str:
        """Takes the next token."""
        match = _match_token(self.text, self.position)
        self.position = match.end()  # type: ignore[union-attr]
        return match[1]  # type: ignore[index]

    def accept(self, expected: str) -> bool:
        """Takes the next token if it is `expected`."""
        match = _match_token(self.text, self.position)
        if match[1] != expected:  # type: ignore[index]
            return False
        self.position = match.end()  # type: ignore[union-attr]
        return True

    def expect(self, expected: str) -> None:
        """Takes the next token, which must be `expected`."""
        if not self.accept(expected):
            raise self.expected(f"'{expected}'")

    # --- places and errors --------------------------------------------------------------------------------------

    @property
    def start(self) -> int:
        """The offset of the next token."""
        return _match_trivia(self.text, self.position).end()  # type: ignore[union-attr]

    def starts_with(self, prefix: str) -> bool:
        """Whether the next token starts so; unlike `peek` at no cost for long strings."""
        return self.text.startswith(prefix, self.start)

    def location(self, offset: int) -> Location:
        return Location(self.source, offset)

    def error(self, message: str, offset: int | None = None) -> MalformedError:
        """An error at `offset`, by default at the next token; to be raised."""
        return MalformedError(message, Location(self.source, self.start if offset is None else offset))

    def expected(self, what: str, starts_line: bool = False) -> MalformedError:
        """An error that says what should stand where the next token does.

        Where that is on a later line, its place is the end of the last token, unless it is about what starts a line.
        """
        found, offset = self.peek(), self.start
        if "\n" in self.text[self.position : offset] and not starts_line:
            offset = self.position
        shown = f"'{shorten(found)}'" if found else "the end of the text"
        return self.error(f"expected {what}, found {shown}", offset)

    def descend(self) -> None:
        """Called on the way into a region, type or attribute; whoever calls it lowers `depth` again."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"nested more than {MAX_NESTING} levels deep")

    # --- what many constructs share -----------------------------------------------------------------------------

    def take(self, match: re.Match[str] | None) -> re.Match[str] | None:
        """Moves behind a match made at the present position, if it is one."""
        if match:
            self.position = match.end()
        return match

    def items(self, item: Callable[[], T], opening: str, closing: str) -> list[T]:
        """`opening (item (, item)*)? closing`."""
        self.expect(opening)
        found: list[T] = []
        if self.accept(closing):
            return found
        found.append(item())
        while self.accept(","):
            found.append(item())
        if not self.accept(closing):
            raise self.expected(f"',' or '{closing}'")
        return found

    def word(self, what: str) -> str:
        """A bare identifier or keyword."""
        found = self.peek()
        if not (found[:1].isalpha() or found[:1] == "_"):
            raise self.expected(what)
        return self.advance()

    def integer(self) -> int:
        """A decimal or hexadecimal integer of 64 bits, signed or not."""
        match = _match_integer(self.text, self.position)
        if not match:
            raise self.expected("integer value")
        value = self.to_integer(match[1], match.start(1))
        if not -1 << 63 <= value < 1 << 64:
            raise self.error("integer value too large", match.start(1))
        self.position = match.end()
        return value

    def to_integer(self, digits: str, offset: int) -> int:
        """The value of an integer's text."""
        if len(digits) > MAX_DIGITS:
            raise self.error(f"an integer of more than {MAX_DIGITS} digits", offset)
        return int(digits.replace(" ", ""), 0 if "x" in digits else 10)

    def dimensions(self) -> tuple[int, ...]:
        """`[ (integer (, integer)*)? ]`."""
        return tuple(self.items(self.integer, "[", "]"))

    def string(self) -> str:
        """A string literal's value. It may hold any bytes: those that are no UTF-8 become surrogates."""
        offset, literal = self.start, self.peek()
        if literal[:1] != '"' or len(literal) < 2:
            raise self.expected("a string")
        self.advance()
        return self.unescape(literal, offset)

    def unescape(self, literal: str, offset: int) -> str:
        """The value of a string literal, quotes included, that stands at `offset`."""
        if "\\" not in literal:
            return literal[1:-1]
        raw = to_bytes(literal[1:-1])
        if b"\\" in _ESCAPE.sub(b"", raw):
            raise self.error("unknown escape in a string", offset)
        value = _ESCAPE.sub(_unescaped, raw)
        return value.decode("utf-8", "surrogateescape")

    def balanced(self, what: str) -> None:
        """Moves behind the bracket that closes the one that stands next."""
        start, pending = self.start, []
        position = start
        while True:
            match: Any = _match_balanced_part(self.text, position)
            position, bracket = match.end(), match[1]
            if bracket in _CLOSERS:
                pending.append(_CLOSERS[bracket])
            elif not bracket or not pending or pending.pop() != bracket:
                raise self.error(f"{what} with unbalanced brackets", start)
            if not pending:
                self.position = position
                return


def shorten(text: str) -> str:
    """A piece of text as a message shows it."""
    return text if len(text) <= 60 else f"{text[:60]}..."


def to_bytes(text: str) -> bytes:
    """UTF-8; surrogates that stand for bytes become those bytes, any other is written as if it were a character."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else _ESCAPED[match[2]]
