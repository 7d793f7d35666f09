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
from pathlib import Path
from typing import TypeAlias

from stablehlo_ref._version import __version__
from stablehlo_ref.cli import inputs
from stablehlo_ref.cli.console import PROGRAM_HELP, Part, for_each_part
from stablehlo_ref.cli.list_ops import listing
from stablehlo_ref.cli.split import SPLIT
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.execute.observe import Observers, Progress, Statistics, ValuePrinter
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.numerics.value_text import dense_text, value_text
from stablehlo_ref.program import Program
from stablehlo_ref.syntax.mhlo import renamed

Inputs: TypeAlias = "tuple[Sequence[RuntimeValue], Mapping[str, RuntimeValue]]"  # of a process: by position, by name

DESCRIPTION = """\
Run a StableHLO program and print its results.

The entry is @main, or the only public function. The exit code is 0 if the program ran and all its checks
(check.expect_eq, ...) passed, 1 for an error in the program (malformed text, an invalid op, a failed check), and 2 for
an error in the command line.

Other commands, each with its own --help:
  stablehlo-interp opt FILE         verify, transform and print a program, as stablehlo-opt does
  stablehlo-interp translate FILE   run a program or convert it, as stablehlo-translate does
  stablehlo-interp link FILE ...    merge programs into one
  stablehlo-interp diff FILE        compare a backend and locate the ops that are wrong
  stablehlo-interp reduce FILE      make a program small that still shows a fault
  stablehlo-interp aliases DIR      write scripts with the names of StableHLO's own tools"""

EXAMPLES = """\
examples:
  stablehlo-interp add.mlir                                   run @main
  stablehlo-interp add.mlir --args="[dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>]"
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --output result.npz
  stablehlo-interp model.mlir --random-inputs 0 --stats       which ops take the time
  stablehlo-interp model.mlir --random-inputs 0 -v            every value, op by op
  cat tests.mlir | stablehlo-interp --split-input-file -      each part between `// -----` on its own"""


def main(arguments: Sequence[str]) -> int:
    """Run a program as the arguments say; return the exit code."""
    options = _options(arguments)
    return for_each_part(options.file, options.split_input_file, partial(_run_part, options))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options; a usage error ends the process."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.random_inputs is not None and (options.args or options.inputs or options.input):
        parser.error("--random-inputs excludes --args, --input and --inputs")
    if options.dim and options.random_inputs is None:
        parser.error("--dim gives the sizes of random inputs: it needs --random-inputs")
    processes = (options.replicas or 1) * (options.partitions or 1)
    for name, given in (("--args", len(options.args)), ("--inputs", len(options.inputs))):
        if given not in (0, 1, processes):
            parser.error(f"{name} is given {given} times, but the number of processes is {processes}")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stablehlo-interp", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    add("--entry", metavar="NAME", help="the function to run")
    more = partial(add, action="append", default=[])
    more("--args", metavar="LIST", help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")
    more("--input", metavar="NAME=FILE", type=_named_file, help="an input from a .npy file")
    more("--inputs", metavar="FILE", type=Path, help="inputs by name, or arr_0, ... by position, from a .npz file")
    add("--random-inputs", metavar="SEED", type=_seed, help="draw all inputs at random")
    add("--random-weights", metavar="SEED", type=_seed, help="draw the elements of constants that the text leaves out")
    more("--dim", metavar="NAME:AXIS=SIZE", type=_dimension, help="the size of an unknown dimension of a random input")
    add("--rng-seed", metavar="SEED", type=_seed, default=0, help="the seed of the op `rng`")
    add("--replicas", metavar="N", type=_count, help="run N replicas; give --args or --inputs once, or once for each")
    add("--partitions", metavar="M", type=_count, help="run M partitions of each replica, likewise")
    add("--output", metavar="FILE", type=Path, help="write the results to a .npz file instead of printing them")
    add("--print-dense", action="store_true", help="print results as dense<...> literals")
    add("--probe-output-dir", metavar="DIR", type=Path, help="the directory for the .npy files of interpreter.probe")
    add("--split-input-file", action="store_true", help=f"run each part between `{SPLIT}` on its own")
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of unregistered dialects")
    add("--warn-implementation-defined", action="store_true", help="warn about implementation-defined results")
    add("--strict", action="store_true", help="reject implementation-defined results; docs/choices.md lists the cases")
    add("--exact-lapack", action="store_true", help="compute LAPACK custom calls in f64 and round once")
    add("--max-seconds", metavar="S", type=_seconds, help="stop a run that takes longer")
    add("--stats", action="store_true", help="print the number and time of ops and the peak memory on standard error")
    add("-v", "--verbose", action="store_true", help="print the results of every op on standard error")
    add("--list-ops", action=ListOps, nargs=0, help="print a table of all ops")
    add("--version", action="version", version=f"stablehlo-interp {__version__}")
    return parser


class ListOps(argparse.Action):
    """Prints the table of ops and ends the process."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(listing())
        parser.exit()


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"expected NAME=FILE, got {text!r}")
    return name, Path(path)


def _dimension(text: str) -> tuple[str, int]:
    name, equals, size = text.rpartition("=")
    if not (name and equals and size.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected NAME:AXIS=SIZE, got {text!r}")
    return name, int(size)


def _seed(text: str) -> int:
    if not (text.isdecimal() and int(text) < 1 << 64):
        raise argparse.ArgumentTypeError(f"expected a number of 64 bits that is not negative, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, got {text!r}")
    return seconds


def _run_part(options: argparse.Namespace, part: Part) -> None:
    program = part.parse(options.allow_unregistered_dialect, options.entry).verify()
    if options.random_weights is not None:
        program = program.with_random_weights(options.random_weights)
    if program.functions or options.entry:
        _run(options, program)


def _run(options: argparse.Namespace, program: Program) -> None:
    grid = Grid(options.replicas or 1, options.partitions or 1)
    context = Context(
        replace(program.limits, max_seconds=options.max_seconds),
        probe_output_dir=options.probe_output_dir,
        rng_seed=options.rng_seed,
        exact_lapack=options.exact_lapack,
        warn=lambda found: print(found, file=sys.stderr),
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
