"""Tokens of MLIR assembly as a list, for text of any dialect.

Nothing here knows an op, a type or an attribute: a text is a list of tokens with their offsets, and the blanks and
comments between them.
"""

from __future__ import annotations

import re

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import Location, MalformedError, Source
from stablehlo_ref.ir.lexer import HASH, LABEL, SUFFIX, TOKEN, TYPE, VALUE, kind_of
from stablehlo_ref.limits.budget import within_time

MAX_INTEGER_DIGITS = 9  # of a number of results
READING = "reading the text"  # in messages on limits
END = "end"  # the kind of what follows the last token

_find_tokens = re.compile(rf"//[^\n]*+|\0|(%{SUFFIX}\s*+\#\d++|{TOKEN})", re.ASCII).finditer


class Tokens:
    """The tokens of a source: parallel lists of kinds, texts and offsets, closed by a token of kind `END`."""

    def __init__(self, source: Source) -> None:
        """Split `source`; MalformedError at a string that does not end or a name that is missing."""
        self.source = source
        found = [match for match in within_time(_find_tokens(source.text), READING) if match[1]]
        self.values = [match[1] for match in within_time(found, READING)]
        self.kinds = list(map(kind_of, within_time(self.values, READING)))
        self.starts = [match.start() for match in within_time(found, READING)]
        self.ends = [match.end() for match in within_time(found, READING)]
        for kind, message in _UNFINISHED.items():
            if kind in self.kinds:
                raise self.error(message, self.kinds.index(kind))
        self.values.append("")
        self.kinds.append(END)
        self.starts.append(len(source.text))
        self.ends.append(len(source.text))

    def __len__(self) -> int:
        return len(self.kinds)

    def error(self, message: str, index: int, shift: int = 0) -> MalformedError:
        """Return an error at a token, or at a character in it, to be raised."""
        return MalformedError(message, Location(self.source, self.starts[index] + shift))

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

    def name(self, index: int) -> str:
        """Return the `%0` of a value `%0#1`."""
        return self.values[index].partition("#")[0].rstrip()

    def is_alias(self, index: int) -> bool:
        """Return whether a token refers to an alias: `#map` or `!ty`, but not `#dialect.map` or `!dialect<...>`."""
        return self.kinds[index] in (HASH, TYPE) and "." not in self.values[index] and self.kinds[index + 1] != "<"

    def small_integer(self, digits: str, index: int, shift: int = 0) -> int:
        """Return the value of a number of results, in a token; MalformedError for any other number."""
        if not digits.isdigit() or len(digits) > MAX_INTEGER_DIGITS:
            raise self.error(f"expected a number of results, got '{digits[:40]}'", index, shift)
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
    return {tokens.name(index) for index, kind in enumerate(tokens.kinds) if kind in (VALUE, LABEL)}
