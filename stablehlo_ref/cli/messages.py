"""Report diagnostics on standard error: as text when they come, or in one document of JSON or SARIF at the end."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from stablehlo_ref._version import __version__
from stablehlo_ref.diagnostics import (
    SHOWN_ERRORS,
    Diagnostic,
    EvaluationError,
    InternalError,
    InvalidError,
    Location,
    MalformedError,
    StablehloError,
    UnsupportedError,
    summary,
)
from stablehlo_ref.testing.expected import Unexpected

FORMATS = ("text", "json", "sarif")
KINDS: Mapping[type, str] = {
    MalformedError: "malformed",
    InvalidError: "invalid",
    EvaluationError: "evaluation",
    UnsupportedError: "unsupported",
    InternalError: "internal",
}


@dataclass(frozen=True)
class Message:
    """A diagnostic, and what it is about: `invalid` for an InvalidError, `warning` for a warning."""

    kind: str
    diagnostic: Diagnostic


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
        kind = next((KINDS[c] for c in type(error).__mro__ if c in KINDS), "other")
        self.hidden += max(0, len(error.diagnostics) - self._limit)
        self.reported += [Message(kind, diagnostic) for diagnostic in error.diagnostics[: self._limit]]

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


# --- documents --------------------------------------------------------------------------------------------------------

SCHEMA_VERSION = 1  # of the JSON document
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "note": "note", "remark": "note"}
RULES = {
    "malformed": "The text or bytecode is not MLIR.",
    "invalid": "The program violates a rule of the spec.",
    "evaluation": "The run of a valid program failed.",
    "unsupported": "The program requires something that is not supported.",
    "internal": "A defect of stablehlo-ref.",
    "warning": "The program can be run, but may not do what is meant.",
}
_match_constraint = re.compile(r"'([\w.]+)' op \((\w[\w ]*)\): ").match


# --- JSON -----------------------------------------------------------------------------------------------------------


def as_json(messages: Sequence[Message], hidden: int = 0) -> str:
    """Return the JSON document of messages; `hidden` more were left out."""
    diagnostics = [{"rule": rule_of(message), **as_dictionary(message.diagnostic)} for message in messages]
    return json.dumps({"schema": SCHEMA_VERSION, "diagnostics": diagnostics, "hidden": hidden}, indent=2)


def as_dictionary(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return the fields of a diagnostic; those of the place are null if it has none."""
    return {
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.filename,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "notes": list(diagnostic.notes),
        "related": [as_dictionary(related) for related in diagnostic.attached],
    }


def rule_of(message: Message) -> str:
    """Return the rule that is violated: `stablehlo.add/C1` for a constraint, or what kind of error it is."""
    constraint = _match_constraint(message.diagnostic.message)
    return f"{constraint[1]}/{constraint[2]}" if constraint else message.kind


# --- SARIF ----------------------------------------------------------------------------------------------------------


def as_sarif(messages: Sequence[Message], hidden: int = 0) -> str:
    """Return the log in SARIF 2.1.0; `hidden` more results were left out."""
    rules = dict.fromkeys(map(rule_of, messages))
    driver = {
        "name": "stablehlo-interp",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(message, list(rules)) for message in messages],
        "properties": {"hidden": hidden},
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: str) -> dict[str, Any]:
    op, slash, constraint = rule.partition("/")
    text = f"Constraint {constraint} of {op}." if slash else RULES.get(rule, "An error outside of the program.")
    return {"id": rule, "shortDescription": {"text": text}}


def _result(message: Message, rules: Sequence[str]) -> dict[str, Any]:
    diagnostic, rule = message.diagnostic, rule_of(message)
    found: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": LEVELS.get(diagnostic.severity, "none"),
        "message": {"text": "\n".join((diagnostic.message, *diagnostic.notes))},
        "locations": [_location(diagnostic.location)] if diagnostic.location else [],
    }
    related = [
        {"id": number, **_location(note.location), "message": {"text": note.message}}
        for number, note in enumerate(diagnostic.attached)
        if note.location
    ]
    return {**found, "relatedLocations": related} if related else found


def _location(location: Location) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(location.filename)}}
    if location.source.text:  # bytecode has no lines
        line = location.source.line_at(location.offset)
        column = location.column
        place["region"] = {"startLine": location.line, "startColumn": column, "endColumn": column + 1}
        place["contextRegion"] = {"startLine": location.line, "snippet": {"text": line}}
    return {"physicalLocation": place}


def _uri(filename: str) -> str:
    """Return a file's name as a URI, relative if the name is."""
    path = Path(filename)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
