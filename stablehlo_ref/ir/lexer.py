"""The lexer: one regular expression for tokens, matched on demand at a position, and four verbs.

`peek`, `advance`, `accept` and `expect` handle the next token as plain text; its first character determines its kind.
There are no token objects. Frequent constructs (types, whole lines) are matched by larger expressions that start with
`TRIVIA`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from string import ascii_letters, digits
from typing import TypeVar

from stablehlo_ref.diagnostics import Location, MalformedError, Source
from stablehlo_ref.limits.budget import check_time

# The limit on the nesting of regions, types and attributes together. Real programs stay far below it. A level takes at
# most ten calls, so that the parser stays below Python's recursion limit of 1000.
MAX_NESTING = 64
MAX_DIGITS = 4000  # of one integer

BRACKETS = {"<": ">", "(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(BRACKETS.values())
TRIVIA = r"(?:\s++|//[^\n]*+)*+"
SUFFIX = r"(?:\d++|[A-Za-z_$.\-][\w$.\-]*+)"
STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
NUMBER = r"0x[0-9a-fA-F]++|\d++(?:\.\d*+(?:[eE][+\-]?\d++)?+)?+"


def token(pattern: str) -> Callable[..., re.Match[str] | None]:
    """Return a function that matches `pattern` at a position, after blanks and comments."""
    return re.compile(TRIVIA + pattern, re.ASCII).match


TOKEN = (
    rf"[A-Za-z_][\w$.]*+|%{SUFFIX}(?:\#\d++)?+|@(?:[\w$.](?:[\w$.]|-(?!>))*+|{STRING})|\#-\}}|[\#!^]{SUFFIX}|{STRING}|{NUMBER}"
    r"|->|::|\.\.\.|\{-\#|[^\s]"
)
_match_token = token(rf"({TOKEN}|)")
_match_trivia = token("")
_match_integer = token(r"(-? *(?:0x[0-9a-fA-F]++|\d++))(?![.\w])")
_match_dimensions = token(r"\[((?:\d{1,18}+(?:, ?\d{1,18}+)*+)?+)\]")  # as they are printed
_match_balanced_part = re.compile(rf"""(?:[^<>()\[\]{{}}"/\-]++|{STRING}|->|-|//[^\n]*+|/)*+([<>()\[\]{{}}]|)""").match
_QUOTES = (
    "'`\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}"
    "\N{RIGHT SINGLE QUOTATION MARK}\N{DOUBLE LOW-9 QUOTATION MARK}"
)
_is_word = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII).fullmatch
_is_suffix = re.compile(SUFFIX, re.ASCII).fullmatch
_UNPRINTABLE = re.compile(rb"[^ !#-\[\]-~]")
_ESCAPE = re.compile(rb"\\(?:([0-9a-fA-F]{2})|(.?))", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}

# Kinds of tokens, which follow from their first character. Punctuation is its own kind.
IDENTIFIER = "identifier"
VALUE = "value"  # %name, %name#1
STRING_LITERAL = "string"
HASH = "hash"  # #alias, #dialect.attribute
TYPE = "type"  # !alias, !dialect.type
SYMBOL = "symbol"  # @name, @"name"
LABEL = "label"  # ^name
NUMBER_LITERAL = "number"
_SIGILS = {"%": VALUE, '"': STRING_LITERAL, "#": HASH, "!": TYPE, "@": SYMBOL, "^": LABEL}
_KINDS = dict.fromkeys(f"{ascii_letters}_", IDENTIFIER) | dict.fromkeys(digits, NUMBER_LITERAL) | _SIGILS

T = TypeVar("T")


def kind_of(token: str) -> str:
    """Return the kind of a token; that of a character which starts nothing is the character itself."""
    return token if token in _SIGILS or token == "#-}" else _KINDS.get(token[0], token)


class Cursor:
    """A position in a source's text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.position = 1 if source.text.startswith("\ufeff") else 0
        self.depth = 0
        self._token_at = -1  # the position of which `_token` is the next token
        self._token: re.Match[str]

    # --- the four verbs -----------------------------------------------------------------------------------------

    def _next(self) -> re.Match[str]:
        """Return the match of the next token, which is often asked for several times."""
        if self._token_at != self.position:
            self._token = _match_token(self.text, self.position)  # type: ignore[assignment]
            self._token_at = self.position
        return self._token

    def peek(self) -> str:
        """Return the next token; "" at the end of the text."""
        return self._token[1] if self._token_at == self.position else self._next()[1]

    def advance(self) -> str:
        """Consume the next token and return it."""
        match = self._next()
        self.position = match.end()
        return match[1]

    def accept(self, expected: str) -> bool:
        """Consume the next token if it is `expected`; return whether it is."""
        match = self._token if self._token_at == self.position else self._next()  # often called
        if match[1] != expected:
            return False
        self.position = match.end()
        return True

    def expect(self, expected: str) -> None:
        """Consume the next token; MalformedError unless it is `expected`."""
        if not self.accept(expected):
            raise self.expected(f"'{expected}'")

    # --- locations and errors -----------------------------------------------------------------------------------

    @property
    def start(self) -> int:
        """The offset of the next token."""
        if self._token_at == self.position:
            return self._token.start(1)
        return _match_trivia(self.text, self.position).end()  # type: ignore[union-attr]

    def starts_with(self, prefix: str) -> bool:
        """Return whether the next token starts with `prefix`; cheaper than `peek` for long strings."""
        return self.text.startswith(prefix, self.start)

    def location(self, offset: int) -> Location:
        """Return the location of an offset."""
        return Location(self.source, offset)

    def error(self, message: str, offset: int | None = None) -> MalformedError:
        """Return an error at `offset`, by default that of the next token."""
        return MalformedError(message, Location(self.source, self.start if offset is None else offset))

    def expected(self, what: str, starts_line: bool = False, hint: str = "") -> MalformedError:
        """Return an error that says what was expected instead of the next token, with a hint behind it.

        If the next token is on a later line, the location is the end of the previous token, unless the expected
        construct starts a line.
        """
        found, offset = self.peek(), self.start
        if "\n" in self.text[self.position : offset] and not starts_line:
            offset = self.position
        if found == '"' or (found == "@" and self.text.startswith('"', self.start + 1)):
            return self.error("unterminated string; expected '\"' on the same line", offset + (found == "@"))
        return self.error(f"expected {what}, got {_described(found)}{hint}", offset)

    def descend(self) -> None:
        """Enter a region, type or attribute. The caller decrements `depth` afterwards."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"nesting exceeds the limit of {MAX_NESTING} levels")

    # --- common constructs --------------------------------------------------------------------------------------

    def take(self, match: re.Match[str] | None) -> re.Match[str] | None:
        """Consume a match that was made at the current position, if there is one; return it."""
        if match:
            self.position = match.end()
        return match

    def items(self, item: Callable[[], T], opening: str, closing: str) -> list[T]:
        """Parse `opening (item (, item)*)? closing`."""
        self.expect(opening)
        found: list[T] = []
        if self.accept(closing):
            return found
        found.append(item())
        while self.accept(","):
            check_time("parsing")
            found.append(item())
        if not self.accept(closing):
            raise self.expected(f"',' or '{closing}'")
        return found

    def word(self, what: str) -> str:
        """Parse a bare identifier or keyword; `what` describes it in errors."""
        found = self.peek()
        if not (found[:1].isalpha() or found[:1] == "_"):
            raise self.expected(what)
        return self.advance()

    def integer(self) -> int:
        """Parse a decimal or hexadecimal integer that fits in 64 bits, signed or unsigned."""
        match = _match_integer(self.text, self.position)
        if not match:
            raise self.expected("integer value")
        value = self.to_integer(match[1], match.start(1))
        if not -1 << 63 <= value < 1 << 64:
            raise self.error("integer value too large", match.start(1))
        self.position = match.end()
        return value

    def to_integer(self, digits: str, offset: int) -> int:
        """Return the value of the integer `digits` at `offset`."""
        if len(digits) > MAX_DIGITS:
            raise self.error(f"integer literal exceeds the limit of {MAX_DIGITS} digits", offset)
        return int(digits.replace(" ", ""), 0 if "x" in digits else 10)

    def dimensions(self) -> tuple[int, ...]:
        """Parse `[ (integer (, integer)*)? ]`."""
        if match := self.take(_match_dimensions(self.text, self.position)):
            return tuple(map(int, match[1].split(","))) if match[1] else ()
        return tuple(self.items(self.integer, "[", "]"))

    def string(self) -> str:
        """Parse a string literal and return its value. Bytes that are not valid UTF-8 become surrogates."""
        offset, literal = self.start, self.peek()
        if literal[:1] != '"' or len(literal) < 2:
            raise self.expected("a string")
        self.advance()
        return self.unescape(literal, offset)

    def unescape(self, literal: str, offset: int) -> str:
        """Return the value of the string literal at `offset`, given with its quotes."""
        if "\\" not in literal:
            return literal[1:-1]
        try:
            value = _ESCAPE.sub(_unescaped, to_bytes(literal[1:-1]))
        except KeyError:
            raise self.error("unknown escape in string literal", offset) from None
        return value.decode("utf-8", "surrogateescape")

    def balanced(self, what: str) -> None:
        """Consume everything from the next bracket to the one that closes it."""
        start, pending = self.start, []
        position = start
        while True:
            match = _match_balanced_part(self.text, position)
            assert match is not None  # the expression matches everywhere
            position, bracket = match.end(), match[1]
            if bracket in BRACKETS:
                pending.append(BRACKETS[bracket])
            elif not bracket or not pending or pending.pop() != bracket:
                raise self.error(f"unbalanced brackets in {what}", start)
            if not pending:
                self.position = position
                return

    def balanced_text(self, what: str) -> str:
        """Return the text from the next bracket to the one that closes it; `what` describes it in errors."""
        start = self.start
        self.balanced(what)
        return self.text[start : self.position]


def _described(token: str) -> str:
    """Return a token in quotes, with the name of a character that may look like another, or advice for quotes."""
    if not token:
        return "the end of the text"
    if token in _QUOTES:
        return f"'{token}'; strings are written in straight double quotes"
    if len(token) == 1 and not token.isascii():
        return f"'{token}' ({unicodedata.name(token, f'U+{ord(token):04X}').lower()})"
    return f"'{shorten(token)}'"


def shorten(text: str) -> str:
    """Return text cut to the length that messages show."""
    return text if len(text) <= 60 else f"{text[:60]}..."


def to_bytes(text: str) -> bytes:
    """Encode text as UTF-8. Surrogates for undecodable bytes become those bytes, others are encoded as characters."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _unescaped(match: re.Match[bytes]) -> bytes:
    """Return the byte that an escape stands for; KeyError if it is unknown."""
    check_time("parsing")
    return bytes.fromhex(match[1].decode()) if match[1] else _ESCAPED[match[2]]


# --- names and strings as text ---------------------------------------------------------------------------------------


def quoted(value: str) -> str:
    """Return a string literal."""
    raw = to_bytes(value)
    return '"' + _UNPRINTABLE.sub(lambda m: b"\\%02X" % m[0][0], raw).decode("ascii") + '"'


def symbol(name: str) -> str:
    """Return `@name`, quoted unless it is a bare identifier."""
    return "@" + key_text(name)


def is_value_name(name: str) -> bool:
    """Return whether `%name` is the name of a value."""
    return _is_suffix(name) is not None


def key_text(key: str) -> str:
    """Return a name, quoted unless it is a bare identifier."""
    return key if _is_word(key) else quoted(key)
