"""Where diagnostics go: to standard error as text, as they come, or in one document of JSON or SARIF at the end.

The options of a command set the format and the limit, as `--color` sets colours, so these belong to the process.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stablehlo_ref._version import __version__
from stablehlo_ref.cli.terminal import paint_diagnostics, set_color
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
class Settings:
    """What the options of a command have set, and what has been reported so far, unless it was printed."""

    format: str = "text"
    max_errors: int | None = None  # of each program; None is the default of the format, 0 is all
    compares: bool = False  # whether diagnostics are compared with those that the program expects
    reported: list[Message] = field(default_factory=list)
    hidden: int = 0
    caught: list[Diagnostic] | None = None  # while diagnostics are compared

    @property
    def limit(self) -> int:
        """How many errors of a program are reported."""
        default = SHOWN_ERRORS if self.format == "text" else 0
        return (default if self.max_errors is None else self.max_errors) or sys.maxsize


SETTINGS = Settings()


def configure(options: argparse.Namespace) -> None:
    """Set how diagnostics are reported, from the options of a command; forget what was reported before."""
    global SETTINGS  # of the process, as its standard error is
    given = vars(options)
    SETTINGS = Settings(
        given.get("diagnostics_format", "text"), given.get("max_errors"), given.get("verify_diagnostics", False)
    )
    set_color(given.get("color", "auto"))


def report(error: StablehloError) -> None:
    """Report the diagnostics of an error, up to the limit."""
    if SETTINGS.format == "text":
        has_location = bool(error.diagnostics) and error.diagnostics[0].location is not None
        is_whole = len(error.diagnostics) <= 1 or isinstance(error, Unexpected)
        text = str(error) if is_whole else summary(error.diagnostics, SETTINGS.limit)
        show(text if has_location or isinstance(error, Unexpected) else f"stablehlo-interp: {text}")
        return
    kind = next((KINDS[c] for c in type(error).__mro__ if c in KINDS), "other")
    SETTINGS.hidden += max(0, len(error.diagnostics) - SETTINGS.limit)
    SETTINGS.reported += [Message(kind, diagnostic) for diagnostic in error.diagnostics[: SETTINGS.limit]]


def report_text(subject: str, message: str) -> None:
    """Report an error that is not one of a program."""
    if SETTINGS.format == "text":
        show(f"{subject}: error: {message}")
    else:
        SETTINGS.reported.append(Message("other", Diagnostic(f"{subject}: {message}")))


def remark(diagnostic: Diagnostic) -> None:
    """Report a warning, a remark or a note."""
    if SETTINGS.caught is not None:
        SETTINGS.caught.append(diagnostic)
    elif SETTINGS.format == "text":
        show(str(diagnostic))
    else:
        SETTINGS.reported.append(Message(diagnostic.severity, diagnostic))


@contextmanager
def caught() -> Iterator[list[Diagnostic]]:
    """Collect warnings, remarks and notes instead of reporting them."""
    SETTINGS.caught = []
    try:
        yield SETTINGS.caught
    finally:
        SETTINGS.caught = None


def show(text: str) -> None:
    """Print a message on standard error, after what was printed on standard output."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(paint_diagnostics(text, sys.stderr), file=sys.stderr)


def finish() -> None:
    """Print the document of a format that has one."""
    if SETTINGS.format != "text":
        print(document(SETTINGS.format, SETTINGS.reported, SETTINGS.hidden), file=sys.stderr)


def document(format: str, messages: Sequence[Message], hidden: int = 0) -> str:
    """Return messages as a document of JSON or SARIF."""
    return as_json(messages, hidden) if format == "json" else as_sarif(messages, hidden)


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
