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

    syntax = "operands attr-dict : type(operands)"

    @staticmethod
    def plan(operand: Any) -> Any:
        def run(context: Any, value: Any) -> tuple[()]:
            print(value_text(operand, value), flush=True)
            return ()

        return run


class Probe(Op, dialect="interpreter", op="probe"):
    """Keeps a value under `probe_id`, for check.expect_serialized_eq; gives it back.

    With a probe directory it also writes the value to a numbered `.npy` file there and a line `probe_id,type,file` to
    its index.csv; the n-th line of an id is its n-th value. Element types that numpy lacks are written as unsigned
    integers with the same bits.
    """

    effects = True
    operand = In(tensor | quantized_tensor)
    probe_id = Attr(String)
    result = Out(tensor | quantized_tensor)

    syntax = "operands, probe_id = $probe_id attr-dict : type(results)"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, operand == result)

    @staticmethod
    def plan(operand: Any, probe_id: str) -> Any:
        def run(context: Any, value: Any) -> Any:
            context.probes.setdefault(probe_id, []).append((operand, np.asarray(value)))
            if context.probe_output_dir is not None:
                number = sum(map(len, context.probes.values()))
                write_probe(context.probe_output_dir, number, probe_id, str(operand), np.asarray(value))
            return value

        return run


def write_probe(directory: Path, number: int, probe_id: str, type: str, value: np.ndarray) -> None:
    """Writes `probe<number>.npy` and its line in index.csv; the first probe of a run starts a new index."""
    path = directory / f"probe{number}.npy"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        np.save(path, as_numpy_saves(value))
        with open(directory / "index.csv", "w" if number == 1 else "a", newline="", encoding="utf-8") as index:
            csv.writer(index).writerow([probe_id, type, str(path)])
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
