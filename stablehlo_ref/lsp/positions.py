"""Positions of the Language Server Protocol: lines and UTF-16 code units, both counted from 0."""

from __future__ import annotations

from bisect import bisect_right


class Lines:
    """The lines of a text; converts between offsets in characters and positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the UTF-16 column of the character at `offset`."""
        line = bisect_right(self.starts, offset) - 1
        return line, units(self.text[self.starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position; one behind the end of its line is the end of the line."""
        if line >= len(self.starts):
            return len(self.text)
        content = self.text[self.starts[line] :].partition("\n")[0]
        if content.isascii():
            return self.starts[line] + min(column, len(content))
        encoded = content.encode("utf-16-le", "surrogatepass")[: 2 * column]
        return self.starts[line] + len(encoded.decode("utf-16-le", "ignore"))


def units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
