"""Results in files, and their comparison with expected ones."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from stablehlo_ref.arrays.agreement import report, within
from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.arrays.files import read_arrays
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.arrays.value_text import dense_text, json_number, type_text, value_text
from stablehlo_ref.cli.messages import as_dictionary
from stablehlo_ref.cli.options import CommandLineError
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Parameter, shortened
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType
from stablehlo_ref.suggestions import did_you_mean

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


def save_outputs(path: Path, parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> None:
    """Write results to an `.npz` file, or `.npy` or `.safetensors` by the name of the file.

    Names are those of `named_arrays`; EvaluationError if the file cannot be written.
    """
    arrays = named_arrays(parameters, values)
    try:
        match path.suffix:
            case ".npy":
                with path.open("wb") as file:
                    np.lib.format.write_array(file, as_numpy_saves(arrays.popitem()[1]), allow_pickle=False)
            case ".safetensors":
                path.write_bytes(_safetensors(arrays))
            case _:
                _save_npz(path, arrays)
    except OSError as error:
        raise EvaluationError(f"cannot write {path}: {error.strerror}") from None


def named_arrays(parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> dict[str, Array]:
    """Return results by name, with the number of the result appended to duplicate names.

    Element i of a tuple is `name.i`. Tokens are left out.
    """
    names = [p.name for p in parameters]
    keys = [n if names.count(n) == 1 else f"{n}_{i}" for i, n in enumerate(names)]
    return dict(chain.from_iterable(map(_leaves, keys, values)))


def _leaves(name: str, value: RuntimeValue) -> Iterator[tuple[str, Array]]:
    if isinstance(value, tuple):
        yield from chain.from_iterable(_leaves(f"{name}.{i}", element) for i, element in enumerate(value))
    elif value is not None:
        yield name, np.asarray(value)


def _save_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    with ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, as_numpy_saves(array), allow_pickle=False)


def _safetensors(arrays: Mapping[str, Array]) -> bytes:
    """Return the contents of a safetensors file; element types that the format lacks become their bits."""
    package = require("safetensors.numpy")
    known = {
        name: array for name, array in arrays.items() if array.dtype.isbuiltin == 1 or array.dtype.name == "bfloat16"
    }
    try:
        data: bytes = package.save({name: known.get(name, as_numpy_saves(array)) for name, array in arrays.items()})
    except Exception as error:  # of the package's own kind, for complex128
        raise EvaluationError(f"cannot write safetensors: {error}") from None
    return data


def differences(
    options: argparse.Namespace,
    parameters: Sequence[Parameter],
    values: Sequence[RuntimeValue],
    arrays: Mapping[str, Array] | Array,
) -> list[Diagnostic]:
    """Return an error for each result that differs from the expected array of its name.

    One array is that of the only result, whatever its name; names `arr_0`, `arr_1`, ... are results by position.
    CommandLineError if the names of arrays are not those of results.
    """
    results = named_arrays(parameters, values)
    expected = _by_result(list(results), arrays)
    if expected.keys() != results.keys():
        raise CommandLineError(_other_names(options.expect, list(results), list(expected)))
    return [d for name, actual in results.items() for d in _difference(name, actual, expected[name], options)]


def _other_names(path: Path, results: Sequence[str], arrays: Sequence[str]) -> str:
    """Return how the names of arrays and results differ."""
    unknown = [name for name in arrays if name not in results]
    missing = [name for name in results if name not in arrays]
    wrong = [f"no array is called '{missing[0]}'"] if missing else []
    wrong += [f"no result is called '{unknown[0]}'{did_you_mean(unknown[0], missing)}"] if unknown else []
    there = f"its arrays are {shortened(arrays)}; the results are {shortened(results)}"
    return f"--expect {path}: {', and '.join(wrong)}\n  {there}"


def _difference(name: str, actual: Array, expected: Array, options: argparse.Namespace) -> Iterator[Diagnostic]:
    expected = as_numpy_loads(expected, actual.dtype)
    for what, x, y in (("dtype", actual.dtype, expected.dtype), ("shape", actual.shape, expected.shape)):
        if x != y:
            yield Diagnostic(f"result '{name}' has the {what} {x}, expected {y}")
            return
    agree = within(actual, expected, options.ulp, options.rtol, options.atol)
    if not agree.all():
        message, notes = report(actual, expected, agree)
        yield Diagnostic(f"result '{name}' is not as expected: {message}", notes=tuple(notes))


def read_expected(path: Path) -> Mapping[str, Array] | Array:
    """Return the arrays of the file of `--expect`, by name, or the only one."""
    arrays = read_arrays(path)
    if isinstance(arrays, bytes):
        raise CommandLineError(f"--expect {path}: expected an .npy, .npz or safetensors file")
    return arrays


def _by_result(names: Sequence[str], arrays: Mapping[str, Array] | Array) -> dict[str, Array]:
    """Return expected arrays by the names of results; `arr_0`, `arr_1`, ... are results by position."""
    if isinstance(arrays, np.ndarray):
        arrays = {"arr_0": arrays}
    if len(names) == len(arrays) == 1:
        return dict(zip(names, arrays.values()))
    positional = {f"arr_{i}": name for i, name in enumerate(names)}
    return {name if name in names else positional.get(name, name): array for name, array in arrays.items()}


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
