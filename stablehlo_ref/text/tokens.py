"""Tokens of MLIR assembly, for text of any dialect.

Nothing here knows an op, a type or an attribute: a text is a list of tokens with their offsets, and the blanks and
comments between them.
"""

from __future__ import annotations

import re

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import Location, MalformedError, Source

SUFFIX = r"(?:\d+|[A-Za-z_$.\-][\w$.\-]*)"
STRING = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
MAX_INTEGER_DIGITS = 9  # of a number of results

_find_tokens = re.compile(
    rf"""
      //[^\n]*+
    | (?P<i> [A-Za-z_][\w$.]*+ )
    | (?P<p> %{SUFFIX} )
    | (?P<s> {STRING} )
    | (?P<c> \{{-\# | \#-\}} | -> | :: | \.\.\. )
    | (?P<h> \#{SUFFIX} )
    | (?P<t> !{SUFFIX} )
    | (?P<a> @(?: [A-Za-z_$.\d](?:[\w$.]|-(?!>))*+ | {STRING} ) )
    | (?P<l> \^{SUFFIX} )
    | (?P<n> \d+\.\d*(?:[eE][+\-]?\d+)? | \d[\w$]*+ )
    | (?P<o> [^\s\0] )
    """,
    re.ASCII | re.VERBOSE,
).finditer

# Kinds of tokens. Punctuation has its own text as its kind.
IDENTIFIER = "identifier"
VALUE = "value"  # %name
STRING_LITERAL = "string"
HASH = "hash"  # #alias, #dialect.attribute, and the #1 of %0#1
TYPE = "type"  # !alias, !dialect.type
SYMBOL = "symbol"  # @name, @"name"
LABEL = "label"  # ^name
NUMBER = "number"
END = "end"  # what follows the last token

_KINDS = {
    "i": IDENTIFIER,
    "p": VALUE,
    "s": STRING_LITERAL,
    "h": HASH,
    "t": TYPE,
    "a": SYMBOL,
    "l": LABEL,
    "n": NUMBER,
}


class Tokens:
    """The tokens of a source: parallel lists of kinds, texts and offsets, closed by a token of kind `END`."""

    def __init__(self, source: Source) -> None:
        """Split `source`; MalformedError at a string that does not end or a name that is missing."""
        self.source = source
        found = [match for match in _find_tokens(source.text) if match.lastgroup]
        self.values = [match[0] for match in found]
        self.kinds = [_KINDS.get(match.lastgroup or "", match[0]) for match in found]
        self.starts = [match.start() for match in found]
        self.ends = [match.end() for match in found]
        for kind, message in _UNFINISHED.items():
            if kind in self.kinds:
                raise self.error(message, self.kinds.index(kind))
        self.values.append("")
        self.kinds.append(END)
        self.starts.append(len(source.text))
        self.ends.append(len(source.text))

    def __len__(self) -> int:
        return len(self.kinds)

    def error(self, message: str, index: int) -> MalformedError:
        """Return an error at a token, to be raised."""
        return MalformedError(message, Location(self.source, self.starts[index]))

    def starts_line(self, index: int) -> bool:
        """Return whether a line break separates a token from the one before it."""
        start = self.ends[index - 1] if index else 0
        return index == 0 or "\n" in self.source.text[start : self.starts[index]]

    def touches_next(self, index: int) -> bool:
        """Return whether the next token follows without a blank."""
        return self.ends[index] == self.starts[index + 1]

    def blanks_before(self, index: int) -> str:
        """Return what separates a token from the one before it, or a blank if that is a line break or a comment."""
        blanks = self.source.text[self.ends[index - 1] : self.starts[index]]
        return " " if "\n" in blanks else blanks

    def is_result_number(self, index: int) -> bool:
        """Return whether a token is the `#1` of `%0#1`."""
        is_number = self.kinds[index] == HASH and self.values[index][1:].isdigit()
        return is_number and index > 0 and self.kinds[index - 1] == VALUE

    def is_alias(self, index: int) -> bool:
        """Whether a token refers to an alias: `#map` or `!ty`, but not `#dialect.map`, `!dialect<...>` or `%0#1`."""
        if self.kinds[index] not in (HASH, TYPE) or "." in self.values[index]:
            return False
        return self.kinds[index + 1] != "<" and not self.is_result_number(index)

    def small_integer(self, digits: str, index: int) -> int:
        """Return the value of a number of results; MalformedError for any other number."""
        if not digits.isdigit() or len(digits) > MAX_INTEGER_DIGITS:
            raise self.error(f"expected a number of results, got '{digits[:40]}'", index)
        return int(digits)


_UNFINISHED = {
    '"': "string literal without a closing quote",
    "%": "expected a name after '%'",
}


def counted(number: int, noun: str) -> str:
    """Return `1 result` or `2 results`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@checks_arguments
def names(text: str) -> set[str]:
    """Return every SSA name and block label of a text, such as `{"%x", "^bb1"}`.

    This is what `used_names` of `inline_function` takes where the caller is available as text.
    """
    tokens = Tokens(Source(text))
    return {value for kind, value in zip(tokens.kinds, tokens.values) if kind in (VALUE, LABEL)}
