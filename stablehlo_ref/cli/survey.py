"""Measure the accuracy of a backend's elementwise functions: `stablehlo-interp survey`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from stablehlo_ref.cli.backend_options import PYTHON
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.options import (
    LIMITS,
    MESSAGES,
    CommandLineError,
    CommandParser,
    Group,
    converter,
    names,
    option,
    positive,
    seconds,
    within_limits,
)
from stablehlo_ref.conform import metamorphic
from stablehlo_ref.conform.survey import SAMPLES, TYPES, Refused, Row, as_markdown, as_text, functions, survey
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, file_errors
from stablehlo_ref.suggestions import did_you_mean

DESCRIPTION = "Measure the errors of a backend's elementwise functions, by op, type and range of the operand."
EPILOG = """\
examples:
  stablehlo-interp survey --backend jax --ops log_plus_one,tanh
  stablehlo-interp survey --backend jax --types f32,f64 --markdown table.md
  stablehlo-interp survey --backend jax --ops tanh --types f32 --every     # all values of f32
  stablehlo-interp survey --backend jax --relations --types f32            # the same rows in another batch

exit codes: 0 if the measurement ran, 1 if the backend cannot be opened, 2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Measure; return the exit code."""
    with within_limits(options):
        return _relations(options) if options.relations else _survey(options)


def _survey(options: argparse.Namespace) -> int:
    ops = _ops(options.ops, functions())
    rows: list[Row] = []
    with Session(options.backend, seconds=options.seconds, python=options.backend_python) as session:
        session.open()
        for op in ops:
            for type in options.types:
                try:
                    rows += survey(session, op, type, options.samples, options.every)
                except Refused as error:
                    print(f"{op} {type}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
    print(as_text(rows))
    for path, text in ((options.markdown, as_markdown(rows)), (options.json, _as_json(rows))):
        if path is not None:
            with file_errors(path, "write the table"):
                path.write_text(text, encoding="utf-8")
    return FINE


def _as_json(rows: Sequence[Row]) -> str:
    return json.dumps([row.as_dictionary() for row in rows], indent=1) + "\n"


def _relations(options: argparse.Namespace) -> int:
    """Print whether bits are the same in another batch, padding, layout and order."""
    every = {subject.name: subject for subject in metamorphic.subjects()}
    found: list[metamorphic.Relation] = []
    with Session(options.backend, seconds=options.seconds, python=options.backend_python) as session:
        session.open()
        for op in _ops(options.ops, list(every)):
            for type in options.types:
                try:
                    found += metamorphic.check(session, every[op], type)
                except Refused as error:
                    print(f"{op} {type}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
    print(metamorphic.as_text(found))
    return FINE


def _ops(patterns: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the ops that patterns select; `tanh` is `stablehlo.tanh`."""
    found: list[str] = []
    for pattern in patterns:
        matching = [op for op in known if pattern and (fnmatchcase(op, pattern) or fnmatchcase(op, f"*.{pattern}"))]
        if not matching:
            names = [*known, *(op.partition(".")[2] for op in known)]
            raise CommandLineError(f"--ops: there is no function {pattern!r}{did_you_mean(pattern, names)}")
        found += matching
    return list(dict.fromkeys(found or known))


@converter
def _types(text: str) -> list[str]:
    types = text.split(",")
    for type in types:
        if type not in TYPES:
            raise ArgumentValueError(f"expected types among {', '.join(TYPES)}, got {type!r}")
    return types


OPTIONS = Group("", [
    option("--backend B", "what to measure: see `stablehlo-interp diff --help`", required=True),
    option("--ops OP,OP", "only these, with wildcards", names, default=[]),
    option("--types T,T", f"element types ({','.join(TYPES)})", _types, default=list(TYPES)),
    option("--samples N", f"operands of each range and sign ({SAMPLES})", positive, default=SAMPLES),
    option("--every", "try all values of f32, which takes minutes for each op"),
    option("--relations", "say instead whether bits change with batch, padding, layout and order"),
    option("--seconds S", "of the backend for each program (120)", seconds, default=120.0),
    PYTHON,
    option("--markdown FILE", "write a table of the largest errors", Path),
    option("--json FILE", "write all rows as JSON", Path),
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("survey", DESCRIPTION, EPILOG, OPTIONS, LIMITS, MESSAGES,
                         renamed={"--python": "--backend-python="})  # fmt: skip
