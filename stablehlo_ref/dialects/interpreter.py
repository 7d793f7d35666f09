"""The interpreter dialect: ops that show a program's values while it runs, and one that starts a grid of processes."""

from __future__ import annotations

import csv
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.kinds import ListOf, String, Symbol, anything, quantized_tensor, tensor
from stablehlo_ref.ops.control_flow import Go, Slots, Turns, all_compatible
from stablehlo_ref.processes import Grid
from stablehlo_ref.spec import is_tensor, same, size
from stablehlo_ref.text import value_text


class Print(Op, dialect="interpreter", op="print"):
    """Prints a value and its name to standard output."""

    effects = True
    operand = In(tensor | quantized_tensor)

    syntax = "operands attr-dict : type(operands)"

    @staticmethod
    def plan(operand: Any, operand_names: Any) -> Any:
        (name,) = operand_names()
        prefix = f"%{name} = " if name else ""

        def run(context: Any, value: Any) -> tuple[()]:
            print(prefix + value_text(operand, value), flush=True)
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
    """Runs the functions of `programs`, a row for each replica and a column for each partition, as a grid of processes.

    Inputs and results are those of the processes one after another, row by row. The functions of `infeed` give what
    reads of the grid's infeed get, whichever process reads.
    """

    inputs = Ins(anything)
    infeed = Attr(ListOf(Symbol), default=None)
    programs = Attr(ListOf(ListOf(Symbol)))
    results = Outs(anything)

    @staticmethod
    def constraints(C: Any, inputs: Any, infeed: Any, programs: Any, results: Any, symbols: Any) -> None:
        C("programs", size(programs) > 0 and size(programs[0]) > 0 and same(map(size, programs)))
        for name in (name for row in (*programs, infeed or ()) for name in row):
            C("symbols", is_function(symbols(name)))
        functions = [symbols(name).properties["function_type"] for row in programs for name in row]
        C("inputs", all_compatible(inputs, [t for f in functions for t in f.inputs]))
        C("results", all_compatible(results, [t for f in functions for t in f.outputs]))
        reads = [symbols(name).properties["function_type"] for name in infeed or ()]
        C("infeed", infeed != () and all(not f.inputs and is_tensor(*f.outputs) for f in reads))

    @staticmethod
    def inline(
        inputs: tuple[int, ...], infeed: Any, programs: Any, results: tuple[int, ...], functions: Any, run_grid: Any
    ) -> Go:
        grid = Grid(len(programs), len(programs[0]))
        plans = [functions(name) for row in programs for name in row]
        reads = [functions(name) for name in infeed or ()]
        if any(plan.block.communicates for plan in reads):
            raise UnsupportedError("a function of the infeed communicates with other processes")

        def go(slots: Slots) -> Turns:
            values = iter([slots[slot] for slot in inputs])
            arguments = [list(islice(values, len(plan.block.arguments))) for plan in plans]
            queue = [lambda context, plan=plan: plan.call(context, []) for plan in reads]
            returned = run_grid(slots[0], grid, list(zip(plans, arguments)), queue)
            for slot, value in zip(results, chain.from_iterable(returned)):
                slots[slot] = value
            yield from ()

        return go


def is_function(op: Any) -> bool:
    return op is not None and op.name == "func.func"
