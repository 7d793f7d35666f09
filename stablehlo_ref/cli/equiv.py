"""Search for inputs on which two programs differ: `stablehlo-interp equiv`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import existing
from stablehlo_ref.cli.options import (
    LIMITS,
    MESSAGES,
    CommandParser,
    Group,
    limits_of,
    option,
    positive,
    seconds,
    within_limits,
)
from stablehlo_ref.conform.equivalent import CONTRACT, INPUTS, Equivalence, equivalent
from stablehlo_ref.diagnostics import EvaluationError, file_errors
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load

DESCRIPTION = (
    "Search for inputs on which two programs differ by more than rounding explains, as before and after a rewrite."
)
EPILOG = """\
examples:
  stablehlo-interp equiv before.mlir after.mlir
  stablehlo-interp equiv before.mlir after.mlir --tries 1000 --save inputs.npz --repro differs.mlir

Functions are compared by name, if the programs have no @main and no --entry is given.

exit codes: 0 if no difference was found, 1 if there is one, or one of which nothing is known, or an error in a program,
2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Search; return the exit code."""
    how = {"inputs": options.tries, "seconds": options.seconds, "contract": options.contract, "seed": options.seed}
    with within_limits(options):
        found = {name: equivalent(first, second, **how) for name, first, second in _pairs(options)}
    for name, result in found.items():
        print(json.dumps(_as_json(name, result)) if options.json else f"@{name}: {result}")
        if (example := result.example) is not None and options.save:
            with file_errors(options.save, "write the inputs"):
                example.save(options.save)
        if example is not None and options.repro:
            with file_errors(options.repro, "write the program"):
                options.repro.write_text(example.program(), encoding="utf-8")
    return FINE if all(found.values()) else AT_FAULT


def _pairs(options: argparse.Namespace) -> Iterator[tuple[str, Program, Program]]:
    """Yield the functions to compare: the one that is named or runs by default, or else all that both programs have."""
    limits = limits_of(options)
    first, second = (load(existing(f), entry=options.entry, limits=limits) for f in (options.first, options.second))
    public = [[name for name, f in p.functions.items() if f.is_public] for p in (first, second)]
    if options.entry or any("main" in names or len(names) == 1 for names in public):
        yield first.entry.name, first, second
        return
    common = [name for name in public[0] if name in public[1]]
    if not common:
        raise EvaluationError("the programs have no functions of the same names; use --entry")
    for name in common:
        yield name, Program(first.module, name, first.limits), Program(second.module, name, second.limits)


def _as_json(name: str, found: Equivalence) -> dict[str, object]:
    example, shown = found.example, None
    if example is not None:
        shown = {"output": example.output, "reason": example.reason, "proved": example.is_proved}
    counts = {"tried": found.tried, "rounded": found.rounded, "skipped": found.skipped}
    return {"function": name, "verdict": found.verdict, **counts, "difference": shown}


OPTIONS = Group("", [
    option("FIRST", "a program", dest="first"),
    option("SECOND", "a program with the same signature", dest="second"),
    option("--entry NAME", "the function to compare, which both programs have"),
    option("--tries N", f"how many inputs are tried at most ({INPUTS})", positive, default=INPUTS),
    option("--seconds S", "after which no other input is tried (60)", seconds, default=60.0),
    option("--contract C", f"what rounding may do, as for `diff` ({CONTRACT})", default=CONTRACT),
    option("--seed N", "of random inputs (0)", int, default=0),
    option("--save FILE.npz", "write the inputs on which the programs differ", Path),
    option("--repro FILE.mlir", "write SECOND with these inputs as a program that checks itself", Path),
    option("--json", "print a line of JSON for each function"),
])  # fmt: skip
RENAMED = {"--function": "--entry=", "--inputs": "--tries="}


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("equiv", DESCRIPTION, EPILOG, OPTIONS, LIMITS, MESSAGES, renamed=RENAMED)
