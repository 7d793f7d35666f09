"""Write diagnostics as a document of JSON or SARIF, for scripts and editors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stablehlo_ref._version import __version__
from stablehlo_ref.diagnostics import (
    Diagnostic,
    EvaluationError,
    InternalError,
    InvalidError,
    Location,
    MalformedError,
    StablehloError,
    UnsupportedError,
)

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


def messages_of(error: StablehloError) -> list[Message]:
    """Return the diagnostics of an error, with its kind."""
    kind = next((KINDS[c] for c in type(error).__mro__ if c in KINDS), "other")
    return [Message(kind, diagnostic) for diagnostic in error.diagnostics]


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
