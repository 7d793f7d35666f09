"""What `run` prints of results: the values, and the line at its end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.numerics.value_text import dense_text, type_text, value_text

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
    passed = f"{checks} check{'s' if checks != 1 else ''} passed" if checks else "ran, no checks in it"
    passed += f", results as in {options.expect}" if options.expect else ""
    shown = [f"{p.name}: {type_text(p.type, value)}" for p, value in zip(parameters[:SHOWN], results)]
    more = [f"and {len(results) - SHOWN} more"] if len(results) > SHOWN else []
    where = f" in {options.output}" if options.output else ""
    names = f": {', '.join([*shown, *more])}" if shown else ""
    return f"// {filename}: {passed}; {_counted(len(results))}{where}{names}"


def last_line_of_parts(filename: str, parts: int, failed: int, checks: int) -> str:
    """Return one line for a file whose parts ran one by one."""
    return f"// {filename}: {parts - failed} of {parts} parts ran; {checks} checks passed"


def _counted(results: int) -> str:
    return f"{results or 'no'} result{'s' if results != 1 else ''}"
