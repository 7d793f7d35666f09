"""`stablehlo-interp FILE`: run a program and print its results."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain, cycle
from typing import TypeAlias

from stablehlo_ref.budget import limited
from stablehlo_ref.cli import inputs
from stablehlo_ref.cli.console import Part, for_each_part
from stablehlo_ref.cli.messages import remark
from stablehlo_ref.cli.options import limits_of
from stablehlo_ref.cli.run_options import parse, parser  # noqa: F401  (the parser of this command)
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.execute.observe import Observers, Progress, Statistics, ValuePrinter
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.numerics.value_text import dense_text, value_text
from stablehlo_ref.program import Program
from stablehlo_ref.syntax.mhlo import renamed

Inputs: TypeAlias = "tuple[Sequence[RuntimeValue], Mapping[str, RuntimeValue]]"  # of a process: by position, by name


def main(arguments: Sequence[str], is_upstream: bool = False) -> int:
    """Run a program as the arguments say; return the exit code. Print what upstream's tool does if `is_upstream`."""
    options = parse(arguments)
    return for_each_part(options.file, options.split_input_file, partial(_run_part, options))


def _run_part(options: argparse.Namespace, part: Part) -> None:
    limits = limits_of(options)
    with limited(limits):
        program = part.parse(options.allow_unregistered_dialect, options.entry).verify()
        program.limits = limits
        if options.random_weights is not None:
            program = program.with_random_weights(options.random_weights)
        if program.functions or options.entry:
            _run(options, program)


def _run(options: argparse.Namespace, program: Program) -> None:
    grid = Grid(options.replicas or 1, options.partitions or 1)
    context = Context(
        program.limits,
        probe_output_dir=options.probe_output_dir,
        rng_seed=options.rng_seed,
        exact_lapack=options.exact_lapack,
        warn=remark,
        on_implementation_defined=(
            "error" if options.strict else "warn" if options.warn_implementation_defined else "ignore"
        ),
    )
    with ExitStack() as stack:
        statistics = stack.enter_context(Statistics()) if options.stats else None
        steps = program.step_count * grid.count
        progress = Progress(steps) if sys.stderr.isatty() and not options.verbose else None
        observers = [o for o in (ValuePrinter() if options.verbose else None, statistics, progress) if o]
        if progress:
            stack.callback(progress.close)
        if observers:
            context.observer = Observers(*observers)
        parameters, results = _results(options, program, context, grid)
    _show(options, parameters, results)
    if statistics:
        print(statistics, file=sys.stderr)
        for dialect, count in Counter(renamed(program.module)).items():
            print(f"{count} ops of {dialect} were read as those of StableHLO and CHLO that they are", file=sys.stderr)


def _results(
    options: argparse.Namespace, program: Program, context: Context, grid: Grid
) -> tuple[list[Parameter], list[RuntimeValue]]:
    """Return the outputs and their values; those of a grid are named `name@(replica id, partition id)`."""
    given = _inputs(options, program, grid.count)
    if grid.count == 1:
        ((positional, named),) = given
        return list(program.outputs), list(program.run_in(context, *positional, **named))
    parameters = [replace(p, name=f"{p.name}@{process}") for process in grid.processes for p in program.outputs]
    of_each = [_by_name(program, *of_process) for of_process in given]
    return parameters, list(chain(*program.run_parallel_in(context, grid, of_each)))


def _inputs(options: argparse.Namespace, program: Program, count: int) -> list[Inputs]:
    """Return the positional and named inputs of each process."""
    if options.random_inputs is not None:
        parameters = inputs.with_sizes(program.inputs, dict(options.dim))
        return [(inputs.random_inputs(parameters, options.random_inputs + number), {}) for number in range(count)]
    literals = [inputs.from_literals(text) for text in options.args] or [[]]
    archives = [inputs.from_archive(program.inputs, path) for path in options.inputs] or [{}]
    files = inputs.from_files(program.inputs, dict(options.input))
    of_each = zip(cycle(literals), cycle(archives), range(count))
    return [(positional, {**named, **files}) for positional, named, _ in of_each]


def _by_name(
    program: Program, positional: Sequence[RuntimeValue], named: Mapping[str, RuntimeValue]
) -> Sequence[RuntimeValue] | dict[str, RuntimeValue]:
    names = (p.name for p in inputs.without_tokens(program.inputs))
    return {**dict(zip(names, positional)), **named} if named else positional


def _show(options: argparse.Namespace, parameters: Sequence[Parameter], results: Sequence[RuntimeValue]) -> None:
    if options.output:
        inputs.save_outputs(options.output, parameters, results)
        return
    as_text = dense_text if options.print_dense else value_text
    is_grid = (options.replicas or 1) * (options.partitions or 1) > 1
    for parameter, value in zip(parameters, results):
        if is_grid:
            print(f"// {parameter.name}")
        print(as_text(parameter.type, value))
