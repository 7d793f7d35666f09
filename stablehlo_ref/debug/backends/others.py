"""Backends without a compiler: commands, Python functions, saved results, and this interpreter."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.files import read_npz
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.reading.loading import load

MARKS = ("{program}", "{inputs}", "{outputs}")


def save_arrays(path: Path, arrays: Sequence[Array]) -> None:
    """Write arrays as `arr_0`, `arr_1`, ..."""
    np.savez(path, *(as_numpy_saves(np.asarray(array)) for array in arrays))


def load_arrays(path: Path, parameters: Sequence[Parameter]) -> list[Array]:
    """Return an array for each parameter, by name or as `arr_0`, `arr_1`, ...; EvaluationError if one is missing."""
    arrays, found = read_npz(path), []
    for index, parameter in enumerate(parameters):
        names = (parameter.name, *parameter.names, f"arr_{index}", f"{parameter.name}_{index}")
        name = next((name for name in names if name in arrays), None)
        if name is None:
            raise EvaluationError(f"{path} has no array {parameter.name!r} or 'arr_{index}'")
        found.append(_as_declared(arrays[name], parameter))
    return found


def _as_declared(array: Array, parameter: Parameter) -> Array:
    if not isinstance(parameter.type, TensorType):
        return array
    return as_numpy_loads(array, numpy_dtype(parameter.type.element_type))


class CommandBackend:
    """Runs a command for each program.

    `{program}` is a file of MLIR text, `{inputs}` and `{outputs}` are `.npz` files with members `arr_0`, `arr_1`, ...,
    in which types that numpy lacks are saved as unsigned integers of their size.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.name = words[0]
        self._words = words

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as folder:
            files = {mark: str(Path(folder) / name) for mark, name in zip(MARKS, ("p.mlir", "in.npz", "out.npz"))}
            Path(files["{program}"]).write_text(program, encoding="utf-8")
            save_arrays(Path(files["{inputs}"]), inputs)
            words = [_filled(word, files) for word in self._words]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                raise RuntimeError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
            return load_arrays(Path(files["{outputs}"]), load(program).outputs)


def _filled(word: str, files: dict[str, str]) -> str:
    for mark, path in files.items():
        word = word.replace(mark, path)
    return word


def command(argument: str) -> CommandBackend:
    """Return the backend of a command; ValueError if it does not name its files."""
    words = shlex.split(argument)
    if not words or any(not any(mark in word for word in words) for mark in MARKS):
        raise ValueError(f"expected a command with {', '.join(MARKS)}, got {argument!r}")
    return CommandBackend(words)


class Dump:
    """Returns what the file has for the first program, and refuses others, such as those with intermediate values."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        self._program: str | None = None

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        self._program = self._program or program
        if program != self._program:
            raise NotImplementedError("saved results have no intermediate values")
        return load_arrays(self._path, load(program).outputs)


def dump(argument: str) -> Dump:
    """Return the backend of a file; ValueError if there is none."""
    path = Path(argument)
    if not path.is_file():
        raise ValueError(f"cannot read {path}: no such file")
    return Dump(path)


class PythonFunction:
    """Calls a function of the text of a program and a list of arrays, which returns a sequence of arrays."""

    def __init__(self, name: str, function: Callable[..., Sequence[Any]]) -> None:
        self.name = name
        self.switches = getattr(function, "switches", {})
        self.run_parallel = getattr(function, "run_parallel", None)
        self._function = function

    def run(self, program: str, inputs: Sequence[Any], **options: Any) -> Sequence[Any]:
        return self._function(program, inputs, **options)


def function(argument: str) -> PythonFunction:
    """Return the backend `MODULE:FUNCTION`; ValueError if there is none."""
    module, _, name = argument.partition(":")
    function = getattr(importlib.import_module(module), name, None) if module and name else None
    if not callable(function):
        raise ValueError(f"expected python:MODULE:FUNCTION, got 'python:{argument}'")
    return PythonFunction(argument, function)


class Itself:
    """Runs programs with this interpreter."""

    def __init__(self, name: str) -> None:
        self.name = name or "self"

    def run(self, program: str, inputs: Sequence[Any]) -> Sequence[Any]:
        return load(program).run(*inputs)

    def run_parallel(self, program: str, inputs_per_process: Sequence[Sequence[Any]], grid: Grid) -> list[Any]:
        replicas, partitions = grid.num_replicas, grid.num_partitions
        return load(program).run_parallel(inputs_per_process, num_replicas=replicas, num_partitions=partitions)
