"""Where diagnostics go: to standard error as text, as they come, or in one document of JSON or SARIF at the end.

The options of a command set the format and the limit, as `--color` sets colours, so these belong to the process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stablehlo_ref.cli.expected import Unexpected
from stablehlo_ref.cli.terminal import paint_diagnostics
from stablehlo_ref.diagnostics import (
    SHOWN_ERRORS,
    Diagnostic,
    EvaluationError,
    InternalError,
    InvalidError,
    MalformedError,
    StablehloError,
    UnsupportedError,
    summary,
)

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


def reset() -> None:
    """Forget options and what has been reported, before a command starts."""
    SETTINGS.__init__()  # type: ignore[misc]


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
    from stablehlo_ref.cli import message_documents  # rarely needed

    if format == "json":
        return message_documents.as_json(messages, hidden)
    return message_documents.as_sarif(messages, hidden)
