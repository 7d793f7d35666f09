"""The options of `stablehlo-interp run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref._version import __version__
from stablehlo_ref.cli.exit_codes import EXIT_CODES
from stablehlo_ref.cli.options import (
    PROGRAM_HELP,
    CommandParser,
    add_limit_options,
    add_message_options,
    add_reading_options,
    positive,
    seed,
)

DESCRIPTION = """\
Run a StableHLO program and print its results. The entry is @main, or the only public function."""

EXAMPLES = """\
examples:
  stablehlo-interp add.mlir --args="[dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>]"
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --output result.npz
  stablehlo-interp model.mlir --random-inputs 0 --stats       # which ops take the time
  stablehlo-interp model.mlir --random-inputs 0 -v            # every value, op by op
  cat tests.mlir | stablehlo-interp --split-input-file -      # each part between `// -----` on its own"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options; a usage error ends the process."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if options.random_inputs is not None and (options.args or options.inputs or options.input):
        command_line.error("--random-inputs excludes --args, --input and --inputs")
    if options.dim and options.random_inputs is None:
        command_line.error("--dim gives the sizes of random inputs: it needs --random-inputs")
    processes = (options.replicas or 1) * (options.partitions or 1)
    for name, given in (("--args", len(options.args)), ("--inputs", len(options.inputs))):
        if given not in (0, 1, processes):
            command_line.error(f"{name} is given {given} times, but the number of processes is {processes}")
    return options


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("", DESCRIPTION, f"{EXAMPLES}\n\n{EXIT_CODES}", "stablehlo-interp [run] FILE [options]")
    add = found.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    add("--version", action="version", version=f"stablehlo-interp {__version__}")
    add("--entry", metavar="NAME", help="the function to run")
    _add_inputs(found)
    _add_outputs(found)
    _add_grid(found)
    _add_watching(found)
    _add_semantics(found)
    add_reading_options(found)
    add_limit_options(found)
    add_message_options(found)
    return found


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("inputs")
    add = group.add_argument
    _append(group, "--args", metavar="LIST", help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")
    _append(group, "--inputs", metavar="FILE", type=Path, help="inputs by name from a .npz file; repeated: per process")
    _append(group, "--input", metavar="NAME=FILE", type=_named_file, help="an input from a .npy file")
    add("--random-inputs", metavar="SEED", type=seed, help="draw all inputs at random")
    _append(
        group,
        "--dim",
        metavar="NAME:AXIS=SIZE",
        type=_dimension,
        help="the size of an unknown dimension",
    )
    add("--random-weights", metavar="SEED", type=seed, help="draw the elements of constants that the text leaves out")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results").add_argument
    add("--output", metavar="FILE", type=Path, help="write the results to a .npz file instead of printing them")
    add("--print-dense", action="store_true", help="print results as dense<...> literals")
    add("--probe-output-dir", metavar="DIR", type=Path, help="the directory for the .npy files of interpreter.probe")


def _add_grid(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("a grid of processes").add_argument
    add("--replicas", metavar="N", type=positive, help="run N replicas; give --args or --inputs once, or once for each")
    add("--partitions", metavar="M", type=positive, help="run M partitions of each replica, likewise")


def _add_watching(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("watching the run").add_argument
    add("--stats", action="store_true", help="print the number and time of ops and the peak memory on standard error")
    add("-v", "--verbose", action="store_true", help="print the results of every op on standard error")


def _add_semantics(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results that the spec leaves open").add_argument
    add("--rng-seed", metavar="SEED", type=seed, default=0, help="the seed of the op `rng`")
    add("--warn-implementation-defined", action="store_true", help="warn about implementation-defined results")
    add("--strict", action="store_true", help="reject implementation-defined results; docs/choices.md lists the cases")
    add("--exact-lapack", action="store_true", help="compute LAPACK custom calls in f64 and round once")


def _append(group: argparse._ArgumentGroup, name: str, **settings: object) -> None:
    group.add_argument(name, action="append", default=[], **settings)  # type: ignore[arg-type]


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
