"""Report diagnostics on standard error: as text when they come, or in one document of JSON or SARIF at the end."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from stablehlo_ref.diagnostics import (
    SHOWN_ERRORS,
    Diagnostic,
    StablehloError,
    summary,
)
from stablehlo_ref.display.documents import Message, as_json, as_sarif, messages_of
from stablehlo_ref.testing.expected import Unexpected

FORMATS = ("text", "json", "sarif")


@dataclass
class Messages:
    """Where the diagnostics of one command line go, as its options say, and those that are not printed yet."""

    format: str = "text"
    max_errors: int | None = None  # of each program; None is the default of the format, 0 is all
    color: str = "auto"
    reported: list[Message] = field(default_factory=list)
    hidden: int = 0
    _caught: list[Diagnostic] | None = None  # while diagnostics are compared with those that a program expects

    @classmethod
    def of(cls, options: argparse.Namespace) -> Messages:
        """Return what the options of a command say, which may have none for this."""
        given = vars(options)
        return cls(given.get("diagnostics_format", "text"), given.get("max_errors"), given.get("color", "auto"))

    @property
    def _limit(self) -> int:
        """How many errors of a program are reported."""
        default = SHOWN_ERRORS if self.format == "text" else 0
        return (default if self.max_errors is None else self.max_errors) or sys.maxsize

    def report(self, error: StablehloError) -> None:
        """Report the diagnostics of an error, up to the limit."""
        if self.format == "text":
            has_location = bool(error.diagnostics) and error.diagnostics[0].location is not None
            is_whole = len(error.diagnostics) <= 1 or isinstance(error, Unexpected)
            text = str(error) if is_whole else summary(error.diagnostics, self._limit)
            self._show(text if has_location or isinstance(error, Unexpected) else f"stablehlo-interp: {text}")
            return
        self.hidden += max(0, len(error.diagnostics) - self._limit)
        self.reported += messages_of(error)[: self._limit]

    def report_text(self, subject: str, message: str) -> None:
        """Report an error that is not one of a program."""
        if self.format == "text":
            self._show(f"{subject}: error: {message}")
        else:
            self.reported.append(Message("other", Diagnostic(f"{subject}: {message}")))

    def remark(self, diagnostic: Diagnostic) -> None:
        """Report a warning, a remark or a note."""
        if self._caught is not None:
            self._caught.append(diagnostic)
        elif self.format == "text":
            self._show(str(diagnostic))
        else:
            self.reported.append(Message(diagnostic.severity, diagnostic))

    @contextmanager
    def caught(self) -> Iterator[list[Diagnostic]]:
        """Collect warnings, remarks and notes instead of reporting them."""
        found: list[Diagnostic] = []
        self._caught = found
        try:
            yield found
        finally:
            self._caught = None

    def finish(self) -> None:
        """Print the document of a format that has one."""
        if self.format != "text":
            convert = as_json if self.format == "json" else as_sarif
            print(convert(self.reported, self.hidden), file=sys.stderr)

    def _show(self, text: str) -> None:
        """Print a message on standard error, after what was printed on standard output."""
        if sys.stdout is not None:
            sys.stdout.flush()
        print(paint_diagnostics(text, sys.stderr, self.color), file=sys.stderr)


# --- colours ----------------------------------------------------------------------------------------------------------

_SEVERITIES = {"error": "1;31", "warning": "1;35", "note": "1;36", "remark": "1;36"}
_HEADLINE = re.compile(r"^((?:[^\n]*?: )?)(error|warning|note|remark)(: )(.*)$", re.M)
_CARET = re.compile(r"^(\s*)\^$", re.M)


def paint_diagnostics(text: str, stream: TextIO, when: str = "auto") -> str:
    """Return diagnostics with severities, messages and carets in colour, if the stream has colours."""
    if not _has_color(stream, when):
        return text
    text = _HEADLINE.sub(_headline, text)
    return _CARET.sub("\\1\x1b[1;32m^\x1b[0m", text)


def _has_color(stream: TextIO, when: str) -> bool:
    """Return whether to colour what is written to a stream, by `--color`, `NO_COLOR`, `FORCE_COLOR` and the stream."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _headline(match: re.Match[str]) -> str:
    place, severity, colon, message = match.groups()
    place = f"\x1b[1m{place}\x1b[0m" if place else ""
    return f"{place}\x1b[{_SEVERITIES[severity]}m{severity}{colon}\x1b[0m\x1b[1m{message}\x1b[0m"
