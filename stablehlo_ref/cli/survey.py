"""Measure the accuracy of a backend's elementwise functions: `stablehlo-interp survey`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeVar

from stablehlo_ref.cli.backend_options import PYTHON
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.conform import OPS, selected, write
from stablehlo_ref.cli.options import (
    LIMITS,
    MESSAGES,
    CommandParser,
    Group,
    names,
    option,
    positive,
    seconds,
    within_limits,
)
from stablehlo_ref.conform import survey as kit
from stablehlo_ref.debug.session import Session

T = TypeVar("T")

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
    if options.relations:
        known = {subject.name: subject for subject in kit.subjects()}
        found = _measured(options, list(known), lambda session, op, type: kit.check(session, known[op], type))
        print(kit.relations_as_text(found))
        return FINE
    measure = partial(kit.survey, samples=options.samples, every=options.every)
    rows = _measured(options, kit.functions(), measure)
    print(kit.as_text(rows))
    write(options.markdown, kit.as_markdown(rows))
    write(options.json, json.dumps([row.as_dictionary() for row in rows], indent=1) + "\n")
    return FINE


def _measured(
    options: argparse.Namespace, known: Sequence[str], measure: Callable[[Session, str, str], Iterable[T]]
) -> list[T]:
    """Return what is measured of the ops and types that the options ask for; what is refused is printed."""
    ops, found = selected(options, known), list[T]()
    session = Session(options.backend, seconds=options.seconds, python=options.backend_python)
    with within_limits(options), session:
        session.open()
        for op, type in product(ops, options.types):
            try:
                found += measure(session, op, type)
            except kit.Refused as error:
                print(f"{op} {type}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
    return found


def _unknown(options: argparse.Namespace) -> str | None:
    """Return which type is none that can be measured."""
    unknown = next((type for type in options.types or [""] if type not in kit.TYPES), None)
    return None if unknown is None else f"--types: expected types among {', '.join(kit.TYPES)}, got {unknown!r}"


OPTIONS = Group("", [
    option("--backend B", "what to measure: see `stablehlo-interp diff --help`", required=True),
    OPS,
    option("--types T,T", f"element types ({','.join(kit.TYPES)})", names, default=list(kit.TYPES)),
    option("--samples N", f"operands of each range and sign ({kit.SAMPLES})", positive, default=kit.SAMPLES),
    option("--every", "try all values of f32, which takes minutes for each op"),
    option("--relations", "say instead whether bits change with batch, padding, layout and order"),
    option("--seconds S", "of the backend for each program (120)", seconds, default=120.0),
    PYTHON,
    option("--markdown FILE", "write a table of the largest errors", Path),
    option("--json FILE", "write all rows as JSON", Path),
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("survey", DESCRIPTION, EPILOG, OPTIONS, LIMITS, MESSAGES, check=_unknown,
                         renamed={"--python": "--backend-python="})  # fmt: skip
