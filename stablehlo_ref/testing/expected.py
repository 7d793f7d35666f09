"""`--verify-diagnostics`: compare what a part of a file reports with the annotations in its text.

An annotation `// expected-error@+1 {{text}}` expects a diagnostic of that severity (error, warning, remark or note)
whose message contains the text, on that line: `@+N` and `@-N` count from the line of the annotation, `@above` and
`@below` are the nearest lines without annotations, `@unknown` is a diagnostic without a location, and without `@` it is
the line of the annotation. A line before the first one, where MLIR has a module that is not written out, stands for
any. After `-re`, parts of the text in `{{...}}` are regular expressions. A number before the text expects that many
diagnostics, and `N+` at least as many.

Every error, warning and remark must have an annotation. Notes need none, but a note that has one must be reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from stablehlo_ref.diagnostics import Diagnostic, StablehloError

_ANNOTATION = re.compile(
    r"expected-(error|note|remark|warning)(-re)? *(?:@([+-]\d{1,9}|above|below|unknown))? *"
    r"(?:(\d{1,9})(\+)? *)?\{\{(.*)\}\}$"
)
_REGEX_PART = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class Expectation:
    """An expected diagnostic; `line` is None for one without a location, and 0 for one at any.

    `count` diagnostics must be reported, or any number from 1 on if it is None; more are allowed if it `may_exceed`.
    """

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    written_on: int
    count: int | None = None
    may_exceed: bool = False
    met: int = field(default=0)

    def fits(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic has the line and the text, with any severity."""
        return self.line in (0, diagnostic.line) and self.pattern.search(diagnostic.message) is not None

    @property
    def is_met(self) -> bool:
        """Whether as many diagnostics were reported as are expected."""
        if self.count is None:
            return self.met > 0
        return self.met >= self.count if self.may_exceed else self.met == self.count


class Unexpected(StablehloError):
    """Diagnostics that differ from the expected ones."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__([Diagnostic(line) for line in lines])
        self.lines = lines

    def __str__(self) -> str:
        return "\n".join(self.lines)


def expectations(text: str, first_line: int = 1) -> list[Expectation]:
    """Return the diagnostics that a text expects; lines count from `first_line`."""
    lines = [_ANNOTATION.search(line.rstrip()) for line in text.split("\n")]
    found = []
    for index, match in enumerate(lines):
        if match is None:
            continue
        severity, is_regex, designator, count, exceeds, message = match.groups()
        line = _line(lines, index, designator)
        pattern = _pattern(message) if is_regex else re.compile(re.escape(message))
        number = None if line is None else first_line + line if line >= 0 else 0
        times = None if count is None else int(count)
        found.append(Expectation(severity, number, message, pattern, first_line + index, times, exceeds is not None))
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


def _pattern(text: str) -> re.Pattern[str]:
    """Return the regular expression of a text with `{{regular expressions}}` in it; malformed ones match nothing."""
    parts = _REGEX_PART.split(text)
    try:
        return re.compile("".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts)))
    except re.error:
        return re.compile(r"(?!)")


def mismatches(expected: Sequence[Expectation], reported: Sequence[Diagnostic], filename: str) -> Iterator[str]:
    """Yield a line for each diagnostic that was not expected, and for each expectation without a diagnostic."""
    for diagnostic in _with_notes(reported):
        near = [e for e in expected if e.fits(diagnostic)]
        met = [e for e in near if e.severity == diagnostic.severity]
        for expectation in met:
            expectation.met += 1
        if not met and diagnostic.severity != "note":
            yield _unexpected(diagnostic, near, filename)
    for expectation in expected:
        if not expectation.is_met:
            yield _missing(expectation, filename)


def _with_notes(reported: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics, each with its notes: those at other places, and lines below it."""
    for diagnostic in reported:
        yield diagnostic
        yield from diagnostic.attached
        yield from (Diagnostic(note, diagnostic.location, "note") for note in diagnostic.notes)


def _missing(expectation: Expectation, filename: str) -> str:
    place = f"{filename}:{expectation.written_on}:1"
    what = f'{place}: error: expected {expectation.severity} "{expectation.text}" was '
    if expectation.count is None or not expectation.met:
        return f"{what}not produced"
    return f"{what}produced {expectation.met} times, not {expectation.count}"


def _unexpected(diagnostic: Diagnostic, near: Sequence[Expectation], filename: str) -> str:
    severity = diagnostic.severity
    if near:
        place = f"{filename}:{near[0].written_on}:1"
        return f"{place}: error: '{severity}' diagnostic emitted when expecting a '{near[0].severity}'"
    place = f"{diagnostic.location}" if diagnostic.location else filename
    return f"{place}: error: unexpected {severity}: {diagnostic.message}"
