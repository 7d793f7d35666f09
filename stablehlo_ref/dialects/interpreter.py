"""The dialects of tests: interpreter, whose ops print, record and run a grid of processes, and check.

The ops of check compare computed values with expected ones. A failed check is recorded in the run's context. The run
continues, and raises an error with all failures at its end.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.arrays.descriptions import value_text
from stablehlo_ref.arrays.host_values import as_numpy_saves
from stablehlo_ref.arrays.results import almost_equal, close, equal, report
from stablehlo_ref.define.attribute_codecs import Dense, ListCodec, Real, String, Symbols, UInt32, UInt64
from stablehlo_ref.define.bound import ControlFlowSite, PlanSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, Outs, type_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.define.spec import element_type, is_tensor, same, size
from stablehlo_ref.define.type_constraints import anything, complex_tensor, float_tensor
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, UnsupportedError
from stablehlo_ref.dialects.mlir_types import any_tensor, unquantized_tensor
from stablehlo_ref.dialects.sdy_shardings import shard_counts
from stablehlo_ref.distribution.meshes import shard_type
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, Type
from stablehlo_ref.ops.constants import elements_of
from stablehlo_ref.ops.control_flow import all_compatible
from stablehlo_ref.ops.extensibility import FindSymbol, declared_type


class Print(Op, dialect="interpreter", op="print", effects=True):
    """Print `operand` and its SSA name to standard output."""

    operand = In(any_tensor)

    syntax = "operands attr-dict : type(operands)"

    @staticmethod
    def plan(site: PlanSite, operand: TensorType) -> Run:
        (name,) = site.op.operand_names()
        prefix = f"%{name} = " if name else ""

        def run(context: Context, value: Array) -> tuple[()]:
            print(prefix + value_text(operand, value), flush=True)
            return ()

        return run


class Probe(Op, dialect="interpreter", op="probe", effects=True):
    """Record `operand` under `probe_id` for `check.expect_serialized_eq`, and return it.

    With a probe directory, also write the value to a numbered `.npy` file there and append a line `probe_id,type,file`
    to its index.csv, in the order in which values are recorded. Element types that numpy lacks are written as unsigned
    integers with the same bits.
    """

    operand = In(any_tensor)
    probe_id = Attr(String)
    result = Out(any_tensor)

    syntax = "operands, probe_id = $probe_id attr-dict : type(results)"

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, operand == result)

    @staticmethod
    def plan(operand: TensorType, probe_id: String) -> Run:
        def run(context: Context, value: Array) -> Array:
            context.probes.setdefault(probe_id, []).append((operand, np.asarray(value)))
            if context.probe_output_dir is not None:
                number = sum(map(len, context.probes.values()))
                write_probe(context.probe_output_dir, number, probe_id, str(operand), np.asarray(value))
            return value

        return run


def write_probe(directory: Path, number: int, probe_id: str, type: str, value: Array) -> None:
    """Write `probe<number>.npy` and append its line to index.csv; probe number 1 starts a new index.

    EvaluationError if a file cannot be written.
    """
    path = directory / f"probe{number}.npy"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        np.save(path, as_numpy_saves(value))
        with open(directory / "index.csv", "w" if number == 1 else "a", newline="", encoding="utf-8") as index:
            csv.writer(index).writerow([probe_id, type, str(path)])
    except OSError as error:
        raise EvaluationError(f"cannot write probe {probe_id!r} to {directory}: {error.strerror}") from None


SymbolLists: TypeAlias = Annotated[tuple[tuple[str, ...], ...], ListCodec(Symbols)]


class RunParallel(Op, dialect="interpreter", op="run_parallel"):
    """Run the functions of `programs`, one row per replica and one column per partition, as a grid of processes.

    The inputs, and the results, of all processes are concatenated in row-major order. The functions of `infeed` return
    the values of successive reads of the infeed, which all processes share.
    """

    inputs = Ins(anything)
    infeed = Attr(Symbols, default=None)
    programs = Attr(SymbolLists)
    results = Outs(anything)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        inputs: Sequence[Type],
        infeed: Symbols | None,
        programs: SymbolLists,
        results: Sequence[Type],
    ) -> None:
        C("programs", size(programs) > 0 and size(programs[0]) > 0 and same(map(size, programs)))
        for name in (name for row in (*programs, infeed or ()) for name in row):
            C("symbols", is_function(site.symbol(name)))
        in_process = shards_of if sum(map(len, programs)) > 1 else declared_type
        functions = [in_process(name, site.symbol) for row in programs for name in row]
        C("inputs", all_compatible(inputs, [t for f in functions for t in f.inputs]))
        C("results", all_compatible(results, [t for f in functions for t in f.outputs]))
        reads = [declared_type(name, site.symbol) for name in infeed or ()]
        C("infeed", infeed != () and all(not f.inputs and is_tensor(*f.outputs) for f in reads))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        inputs: tuple[int, ...],
        infeed: Symbols | None,
        programs: SymbolLists,
        results: tuple[int, ...],
    ) -> ControlFlow:
        grid = Grid(len(programs), len(programs[0]))
        plans = [site.function(name) for row in programs for name in row]
        reads = [site.function(name) for name in infeed or ()]
        if any(plan.block.communicates for plan in reads):
            raise UnsupportedError("an infeed function communicates with other processes, which is not supported")

        def go(slots: Slots) -> Turns:
            values = iter([slots[slot] for slot in inputs])
            arguments = [list(islice(values, len(plan.block.arguments))) for plan in plans]
            queue = list(map(without_arguments, reads))
            returned = site.run_grid(slots[0], grid, list(zip(plans, arguments)), queue)
            for slot, value in zip(results, chain.from_iterable(returned)):
                slots[slot] = value
            yield from ()

        return go


def is_function(op: Operation | None) -> bool:
    return op is not None and op.name == "func.func"


def shards_of(name: str, symbols: FindSymbol) -> FunctionType:
    """Return the type of the function `@name` on the shards that its shardings describe."""
    type, function = declared_type(name, symbols), symbols(name)
    return type if function is None else FunctionType(*(
        tuple(shard_type(t, shard_counts(function, attributes, i)) for i, t in enumerate(types))
        for attributes, types in (("arg_attrs", type.inputs), ("res_attrs", type.outputs))
    ))  # fmt: skip


def without_arguments(plan: Callee) -> Callable[[Context], list[RuntimeValue]]:
    """Return the function of a run's context that calls a function without arguments."""
    return lambda context: plan.call(context, [])


# --- check ----------------------------------------------------------------------------------------------------------

DEFAULT_TOLERANCE = 1e-4  # of `expect_almost_eq` and `expect_almost_eq_const`


def checked(site: PlanSite, agree: Callable[[Array, Array], Array], *constant: Array) -> Run:
    """Return a function that compares two arrays, counts that, and records in the run's context how they differ.

    `agree` returns which elements agree. The second array may be a constant.
    """

    def run(context: Context, *values: Array) -> tuple[()]:
        context.checks += 1
        actual, expected = map(np.asarray, (*values, *constant))
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            context.failures.append(Diagnostic(f"'{site.name}' failed: {message}", site.location, notes=tuple(notes)))
        return ()

    return run


class Check(Op, dialect="check", effects=True):
    """The base class of ops that compare two values. Quantized tensors are compared by their stored integers."""


class ExpectEq(Check, op="expect_eq"):
    """Check that `lhs` and `rhs` are equal element by element; NaN equals NaN."""

    lhs = In(any_tensor)
    rhs = In(any_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType) -> None:
        C(1, lhs == rhs)

    @staticmethod
    def plan(site: PlanSite) -> Run:
        return checked(site, equal)


class ExpectEqConst(Check, op="expect_eq_const"):
    """Check that `lhs` equals the constant `value` element by element; NaN equals NaN."""

    lhs = In(any_tensor)
    value = Attr(Dense)

    syntax = "operands, $value attr-dict"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, value: Dense) -> None:
        C(1, lhs == value.type)

    @staticmethod
    def plan(site: PlanSite, value: Dense) -> Run:
        return checked(site, equal, elements_of(value))


class ExpectAlmostEq(ExpectEq, op="expect_almost_eq"):
    """Check that elements of `lhs` and `rhs` differ by at most `tolerance`."""

    lhs = In(float_tensor | complex_tensor)
    rhs = In(float_tensor | complex_tensor)
    tolerance = Attr(Real, default=DEFAULT_TOLERANCE)

    syntax = "operands (, tolerance = $tolerance)? attr-dict : same_type"

    @staticmethod
    def plan(site: PlanSite, tolerance: Real) -> Run:
        return checked(site, lambda x, y: almost_equal(x, y, tolerance))


class ExpectAlmostEqConst(ExpectEqConst, op="expect_almost_eq_const"):
    """Check that elements of `lhs` differ from the constant `value` by at most `tolerance`."""

    lhs = In(float_tensor | complex_tensor)
    tolerance = Attr(Real, default=DEFAULT_TOLERANCE)

    syntax = "operands, $value (, tolerance = $tolerance)? attr-dict"

    @staticmethod
    def plan(site: PlanSite, value: Dense, tolerance: Real) -> Run:
        return checked(site, lambda x, y: almost_equal(x, y, tolerance), elements_of(value))


class ExpectClose(Check, op="expect_close"):
    """Check that elements of `actual` and `expected` are `min_ulp_difference` to `max_ulp_difference` ULPs apart."""

    actual = In(float_tensor | complex_tensor)
    expected = In(float_tensor | complex_tensor)
    max_ulp_difference = Attr(UInt64, default=1)
    min_ulp_difference = Attr(UInt64, default=0)

    syntax = (
        "operands, max_ulp_difference = $max_ulp_difference"
        " (, min_ulp_difference = $min_ulp_difference)? : attr-dict type(operands)"
    )

    @staticmethod
    def constraints(
        C: Checker, actual: TensorType, expected: TensorType, max_ulp_difference: UInt64, min_ulp_difference: UInt64
    ) -> None:
        C(1, element_type(actual) == element_type(expected))
        C(2, actual == expected)
        C(3, 0 <= min_ulp_difference)
        C(4, 0 <= max_ulp_difference)

    @staticmethod
    def plan(site: PlanSite, max_ulp_difference: UInt64, min_ulp_difference: UInt64) -> Run:
        return checked(site, lambda x, y: close(x, y, min_ulp_difference, max_ulp_difference))


class ExpectSerializedEq(Check, op="expect_serialized_eq"):
    """Check that `expected` equals the value that probe `probe_id` recorded at 0-based `iteration` in this run."""

    expected = In(unquantized_tensor)
    probe_id = Attr(String)
    iteration = Attr(UInt32, default=0)

    syntax = "operands, probe_id = $probe_id (, iter = $iteration)? attr-dict : type(operands)"

    @staticmethod
    def constraints(C: Checker, iteration: UInt32) -> None:
        C(1, 0 <= iteration)

    @staticmethod
    def plan(site: PlanSite, expected: TensorType, probe_id: String, iteration: UInt32) -> Run:
        compare = checked(site, equal)

        def run(context: Context, value: Array) -> object:
            recorded = context.probes.get(probe_id, [])
            if iteration >= len(recorded):
                raise EvaluationError(f"probe {probe_id!r} recorded {len(recorded)} values, no iteration {iteration}")
            type, probed = recorded[iteration]
            if type != expected:
                raise EvaluationError(f"probe {probe_id!r}: expected a value of type {expected}, got {type}")
            return compare(context, np.asarray(probed), value)

        return run
