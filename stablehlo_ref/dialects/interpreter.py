"""The interpreter dialect: ops that show a program's values while it runs.

`run_parallel`, which starts a grid of processes, belongs to distribution and is not evaluated.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.kinds import ListOf, Opaque, String, Symbol, anything, quantized_tensor, tensor
from stablehlo_ref.text import value_text


class Print(Op, dialect="interpreter", op="print"):
    """Prints a value to standard output."""

    effects = True
    operand = In(tensor | quantized_tensor)

    syntax = "$operand attr-dict : type($operand)"

    @staticmethod
    def plan(operand: Any) -> Any:
        def run(context: Any, value: Any) -> tuple[()]:
            print(value_text(operand, value), flush=True)
            return ()

        return run


class Probe(Op, dialect="interpreter", op="probe"):
    """Writes a value to `<probe directory>/<probe_id>_<iteration>.npy`, with a line in index.csv; gives it back.

    Without a probe directory it only gives the value back. Element types that numpy lacks are written as the bits of
    unsigned integers of their width; those of complex, real and integer types as numpy's own.
    """

    effects = True
    operand = In(tensor | quantized_tensor)
    probe_id = Attr(String)
    result = Out(tensor | quantized_tensor)

    syntax = "$operand, probe_id = $probe_id attr-dict : type($result)"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, operand == result)

    @staticmethod
    def plan(operand: Any, probe_id: str) -> Any:
        def run(context: Any, value: Any) -> Any:
            directory = context.options.get("probe_output_dir")
            if directory is not None:
                counts = context.options.setdefault("probe_counts", {})
                counts[probe_id] = counts.get(probe_id, 0) + 1
                write_probe(Path(directory), probe_id, counts[probe_id], str(operand), np.asarray(value))
            return value

        return run


def write_probe(directory: Path, probe_id: str, iteration: int, type: str, value: np.ndarray) -> None:
    """One .npy file and one line in index.csv: probe id, type, iteration, file."""
    path = directory / f"{probe_id.replace('/', '_')}_{iteration}.npy"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        np.save(path, as_numpy_saves(value))
        with open(directory / "index.csv", "a", newline="", encoding="utf-8") as index:
            csv.writer(index).writerow([probe_id, type, iteration, str(path)])
    except OSError as error:
        raise EvaluationError(f"can't write probe {probe_id!r} to {directory}: {error.strerror}") from None


def as_numpy_saves(value: np.ndarray) -> np.ndarray:
    """An array that `numpy.load` reads back without ml_dtypes: types that numpy lacks as the bits they are."""
    return value if value.dtype.isbuiltin == 1 else value.view(f"u{value.dtype.itemsize}")


class RunParallel(Op, dialect="interpreter", op="run_parallel"):
    """Runs a grid of programs."""

    inputs = Ins(anything)
    infeed = Attr(ListOf(Symbol), default=())
    programs = Attr(Opaque)
    results = Outs(anything)
