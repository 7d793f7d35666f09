"""`--verify-diagnostics`: compare what a part of a file reports with the annotations in its text.

An annotation `// expected-error@+1 {{text}}` demands a diagnostic of that severity (error, warning, remark or note)
whose message contains the text, on that line: `@+N` and `@-N` count from the line of the annotation, `@above` and
`@below` are the nearest lines without annotations, `@unknown` is a diagnostic without a location, and without `@` it is
the line of the annotation. After `-re`, parts of the text in `{{...}}` are regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stablehlo_ref.diagnostics import Diagnostic

_ANNOTATION = re.compile(
    r"expected-(error|note|remark|warning)(-re)? *(?:@([+-]\d+|above|below|unknown))? *\{\{(.*)\}\}$"
)
_REGEX_PART = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class Expectation:
    """A diagnostic that a text announces; `line` is None for one without a location."""

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    written_on: int
    is_met: bool = field(default=False)

    def fits(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic has the line and the text, with any severity."""
        return diagnostic.line == self.line and self.pattern.search(diagnostic.message) is not None


def expectations(text: str, first_line: int = 1) -> list[Expectation]:
    """Return the diagnostics that a text announces; lines count from `first_line`."""
    lines = [_ANNOTATION.search(line.rstrip()) for line in text.split("\n")]
    found = []
    for index, match in enumerate(lines):
        if match is None:
            continue
        severity, is_regex, designator, message = match.groups()
        line = _line(lines, index, designator)
        pattern = _pattern(message) if is_regex else re.escape(message)
        number = None if line is None else first_line + line
        found.append(Expectation(severity, number, message, re.compile(pattern), first_line + index))
    return found


def _line(annotations: Sequence[re.Match[str] | None], index: int, designator: str | None) -> int | None:
    """Return the index of the line that an annotation on line `index` refers to."""
    match designator:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            step = -1 if designator == "above" else 1
            index += step
            while 0 <= index < len(annotations) and annotations[index]:
                index += step
            return index
    return index + int(designator)


def _pattern(text: str) -> str:
    """Return the regular expression of a text with `{{regular expressions}}` in it."""
    parts = _REGEX_PART.split(text)
    return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))


def complaints(expected: Sequence[Expectation], reported: Sequence[Diagnostic], filename: str) -> Iterator[str]:
    """Yield a line for each diagnostic that was not expected, and for each expectation without a diagnostic."""
    for diagnostic in reported:
        near = [e for e in expected if e.fits(diagnostic)]
        met = [e for e in near if e.severity == diagnostic.severity]
        for expectation in met:
            expectation.is_met = True
        if not met:
            yield _unexpected(diagnostic, near, filename)
    for expectation in expected:
        if not expectation.is_met:
            place = f"{filename}:{expectation.written_on}:1"
            yield f'{place}: error: expected {expectation.severity} "{expectation.text}" was not produced'


def _unexpected(diagnostic: Diagnostic, near: Sequence[Expectation], filename: str) -> str:
    severity = diagnostic.severity
    if near:
        place = f"{filename}:{near[0].written_on}:1"
        return f"{place}: error: '{severity}' diagnostic emitted when expecting a '{near[0].severity}'"
    place = f"{diagnostic.location}" if diagnostic.location else filename
    return f"{place}: error: unexpected {severity}: {diagnostic.message}"
