"""Print and describe results, and check where they are to be written."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.descriptions import dense_text, json_number, statistics, type_text, value_text
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.cli.options import CommandLineError
from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.display.documents import as_dictionary
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType

NPY, NPZ, SAFETENSORS = ".npy", ".npz", ".safetensors"


def check_output(path: Path, parameters: Sequence[Parameter], others: Mapping[str, Path]) -> None:
    """Raise CommandLineError if results cannot be written to a file, or would overwrite one of `others`, by option."""
    for option, other in others.items():
        if path.exists() and other.exists() and path.samefile(other):
            raise CommandLineError(f"--output {path} would overwrite {option}")
    if path.is_dir():
        raise CommandLineError(f"--output {path} is a folder")
    if not path.parent.is_dir():
        raise CommandLineError(f"--output {path}: there is no folder {path.parent}")
    if path.suffix not in ("", NPY, NPZ, SAFETENSORS):
        raise CommandLineError(f"--output {path}: expected a name that ends in {NPY}, {NPZ} or {SAFETENSORS}")
    results = [p for p in parameters if not isinstance(p.type, TokenType)]
    if path.suffix == NPY and (len(results) != 1 or isinstance(results[0].type, TupleType)):
        raise CommandLineError(f"--output {path}: an .npy file has one array, got {len(results)} results; use .npz")
    if path.suffix == SAFETENSORS:
        require("safetensors")


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


SCHEMA = 1


class Report:
    """What is known of the run of one part of a file."""

    def __init__(self, filename: str, first_line: int) -> None:
        self.fields: dict[str, Any] = {"schema": SCHEMA, "file": filename, "line": first_line, "ok": False}
        self.fields |= {"entry": None, "inputs": [], "results": [], "checks": {"passed": 0, "failed": 0}}
        self.fields |= {"diagnostics": [], "seconds": {}, "ops": []}

    def signature(self, entry: str, inputs: Sequence[Parameter], outputs: Sequence[Parameter]) -> None:
        """Add the names and types of inputs and results."""
        self.fields["entry"] = entry
        self.fields["inputs"] = [_described(parameter) for parameter in inputs]
        self.fields["results"] = [_described(parameter) for parameter in outputs]

    def results(self, parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> None:
        """Add the results' sizes and statistics."""
        self.fields["results"] = [{**_described(p), **_statistics(p, value)} for p, value in zip(parameters, values)]

    def checks(self, ran: int, failed: int) -> None:
        """Add the number of checks."""
        self.fields["checks"] = {"passed": ran - failed, "failed": failed}

    def ops(self, measured: Mapping[str, tuple[float, int]]) -> None:
        """Add the time of ops, and how often they ran."""
        self.fields["ops"] = [{"name": n, "count": count, "seconds": s} for n, (s, count) in measured.items()]

    def diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics."""
        self.fields["diagnostics"] += [as_dictionary(diagnostic) for diagnostic in diagnostics]

    def __str__(self) -> str:
        return json.dumps(self.fields, allow_nan=False)


def _described(parameter: Parameter) -> dict[str, Any]:
    type = parameter.type
    shape = list(type.shape) if isinstance(type, TensorType) else None
    return {"name": parameter.name, "names": list(parameter.names), "type": str(type), "shape": shape}


def _statistics(parameter: Parameter, value: RuntimeValue) -> dict[str, Any]:
    if value is None or isinstance(value, tuple):
        return {}
    found = statistics(np.asarray(value))
    numbers = {"min": found.smallest, "max": found.largest, "mean": found.mean}
    shown = {name: json_number(number) for name, number in numbers.items()}
    shape = list(np.asarray(value).shape)
    return {"type": type_text(parameter.type, value), "shape": shape, **shown, "nans": found.nans}
