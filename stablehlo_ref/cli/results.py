"""What `run` prints of results: the values, and the line at its end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stablehlo_ref.arrays.value_text import dense_text, type_text, value_text
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter

SHOWN = 8  # results that the last line names


def print_results(
    options: argparse.Namespace, parameters: Sequence[Parameter], results: Sequence[RuntimeValue], names: bool
) -> None:
    """Print results, with a line of their name before each if there are several of a name."""
    for parameter, value in zip(parameters, results):
        if names:
            print(f"// {parameter.name}")
        if options.print_dense:
            print(dense_text(parameter.type, value))
        else:
            print(value_text(parameter.type, value, elides=not options.full))


def last_line(
    options: argparse.Namespace,
    filename: str,
    checks: int,
    parameters: Sequence[Parameter],
    results: Sequence[RuntimeValue],
) -> str:
    """Return one line: how many checks passed, and names and types of results."""
    passed = f"{_counted(checks, 'check')} passed" if checks else "ran, no checks in it"
    passed += f", results as in {options.expect}" if options.expect else ""
    shown = [f"{p.name}: {type_text(p.type, value)}" for p, value in zip(parameters[:SHOWN], results)]
    more = [f"and {len(results) - SHOWN} more"] if len(results) > SHOWN else []
    where = f" in {options.output}" if options.output else ""
    names = f": {', '.join([*shown, *more])}" if shown else ""
    return f"// {filename}: {passed}; {_counted(len(results), 'result')}{where}{names}"


def last_line_of_parts(filename: str, parts: int, failed: int, checks: int) -> str:
    """Return one line for a file whose parts ran one by one."""
    failures = f", {failed} failed" if failed else ""
    return f"// {filename}: {_counted(parts, 'part')} ran{failures}; {_counted(checks, 'check')} passed"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'s' if count != 1 else ''}"
