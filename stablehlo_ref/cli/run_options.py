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
    count,
    directory,
    number,
    positive,
    seed,
    threads,
)
from stablehlo_ref.cli.random_inputs import FORMS, Distribution
from stablehlo_ref.diagnostics import EvaluationError

DESCRIPTION = """\
Run a StableHLO program and print its results. The entry is @main, or the only public function."""

EXAMPLES = """\
examples:
  stablehlo-interp add.mlir --input x=0.5 --input 'y=[1, 2, 3, 4]'
  stablehlo-interp add.mlir --args="[dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>]"
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --output result.npz
  stablehlo-interp model.mlir --input x=image.npy --inputs weights.npz --expect result.npz --rtol 1e-5
  stablehlo-interp model.mlir --weights weights.npz --input x=image.npy
  stablehlo-interp model.mlir --random-inputs 0 --random 'x=uniform(0, 255)' --full
  stablehlo-interp model.mlir --random-inputs 0 --stats                  # which ops take the time
  stablehlo-interp model.mlir --random-inputs 0 --profile                # and where they are
  stablehlo-interp model.mlir --random-inputs 0 -v                       # one line for each op
  stablehlo-interp model.mlir --random-inputs 0 --trace-values %0,%1     # these values
  stablehlo-interp model.mlir --random-inputs 0 --trace-to trace         # all values as .npy files
  echo continue | stablehlo-interp model.mlir --random-inputs 0 --break %0
  stablehlo-interp model.mlir --random-inputs 0 --trap nan,inf           # stop at the op that generates one
  stablehlo-interp model.mlir --random-inputs 0 --json
  stablehlo-interp spmd.mlir --partitions 2 --random-inputs 0            # two processes
  cat tests.mlir | stablehlo-interp --split-input-file -                 # each part between `// -----`"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the options; a usage error ends the process."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if error := _contradiction(options):
        command_line.error(error)
    return options


def _contradiction(options: argparse.Namespace) -> str | None:
    """Return why options exclude each other."""
    is_random = options.random_inputs is not None or options.random
    if is_random and options.args:
        return "--args gives all inputs: it excludes --random-inputs and --random"
    if options.dim and not is_random:
        return "--dim gives the sizes of random inputs: it needs --random-inputs"
    if options.expect is None and (options.rtol or options.atol or options.ulp is not None):
        return "--rtol, --atol and --ulp are tolerances of --expect"
    if options.semantics and (options.strict or options.warn_implementation_defined or options.dump_code):
        return "--semantics excludes --strict, --warn-implementation-defined and --dump-code"
    if options.json and options.print_dense:
        return "--json and --print-dense exclude each other"
    if options.keep is not None and not options.trace_to:
        return "--keep selects what --trace-to writes"
    if options.breaks and options.file in ("-", "/dev/stdin"):
        return "--break reads commands from standard input, so the program cannot come from there"
    processes = (options.replicas or 1) * (options.partitions or 1)
    for name, given in (("--args", len(options.args)), ("--inputs", len(options.inputs))):
        if given not in (0, 1, processes) and (name == "--args" or processes > 1):
            return f"{name} is given {given} times, but the number of processes is {processes}"
    return None


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("", DESCRIPTION, f"{EXAMPLES}\n\n{EXIT_CODES}", "stablehlo-interp [run] FILE [options]")
    add = found.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    add("--version", action="version", version=f"stablehlo-interp {__version__}")
    add("--entry", metavar="NAME", help="the function to run")
    add_input_options(found)
    _add_outputs(found)
    add_grid_options(found)
    _add_watching(found)
    _add_semantics(found)
    add_reading_options(found)
    found.add_argument("--no-fast", action="store_true", help="take no fast paths; results are the same, bit for bit")
    found.add_argument("--cache", metavar="DIR", type=directory, help="keep programs that were parsed and verified")
    found.add_argument("--threads", metavar="N", type=threads, help="threads, of BLAS and for blocks of large tensors")
    found.add_argument("--no-jit", action="store_true", help="compile nothing to machine code (the extra jit does)")
    add_limit_options(found)
    add_message_options(found)
    return found


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add what gives or draws inputs; `inputs_of_processes` returns them."""
    add = parser.add_argument_group("inputs").add_argument
    add("--input", action="append", default=[], metavar="NAME=VALUE", type=_named,
        help="an input by its name in the text or in its loc(...): a number, which all elements have; a list [[1, 2], "
        "[3, 4]]; dense<...>; or a file, or pipe, with an array (.npy, .npz, .safetensors), a list, or raw elements: "
        "FILE, @FILE, or @FILE:tensor<...> to give the type of raw elements")  # fmt: skip
    add("--inputs", action="append", default=[], metavar="FILE", type=Path,
        help="inputs by name from a .npz or .safetensors file; repeated: per process")  # fmt: skip
    add("--weights", metavar="FILE", type=Path,
        help="weights by name, q.weight for states['q.weight'], from a .safetensors, .npz or .pt file or a folder of "
        ".npy files; the other options give the inputs that remain")  # fmt: skip
    add("--args", action="append", default=[], metavar="LIST",
        help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")  # fmt: skip
    add("--random-inputs", metavar="SEED", type=seed, help="draw the inputs that are not given")
    add("--random", action="append", default=[], metavar="NAME=DISTRIBUTION", type=_distribution,
        help=f"draw an input, or * for all, from {FORMS}")  # fmt: skip
    add("--dim", action="append", default=[], metavar="NAME:AXIS=SIZE", type=_dimension,
        help="the size of an unknown dimension of a random input")  # fmt: skip
    add("--random-weights", metavar="SEED", type=seed, help="draw the elements of constants that the text leaves out")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results").add_argument
    add("--output", metavar="FILE", type=Path, help="write the results to a .npz, .npy or .safetensors file instead")
    add("--full", action="store_true", help="print all elements of large results")
    add("--print-dense", action="store_true", help="print results as dense<...> literals, and nothing else")
    add("-q", "--quiet", action="store_true", help="leave out the last line, on checks and results")
    add("--json", action="store_true",
        help="print one line of JSON: signature, statistics of results, diagnostics, times")  # fmt: skip
    add("--expect", metavar="FILE", type=Path, help="compare the results with a .npz, .npy or .safetensors file")
    add("--rtol", metavar="R", type=number, default=0.0,
        help="how far elements may differ, relative to the expected (0)")  # fmt: skip
    add("--atol", metavar="A", type=number, default=0.0, help="how far elements may differ (0)")
    add("--ulp", metavar="N", type=count, help="how many representable numbers apart elements may be")
    add("--probe-output-dir", metavar="DIR", type=Path, help="the directory for the .npy files of interpreter.probe")


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """Add the sizes of a grid of processes."""
    add = parser.add_argument_group("a grid of processes").add_argument
    add("--replicas", metavar="N", type=positive, help="run N replicas; give --args or --inputs once, or once for each")
    add("--partitions", metavar="M", type=positive, help="run M partitions of each replica, likewise")


def _add_watching(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("watching the run (on standard error)").add_argument
    add("-v", "--verbose", action="count", default=0,
        help="a line for each op; -vv: its results; -vvv: all their elements")  # fmt: skip
    add("--trace-values", action="extend", default=[], metavar="%3,%7", type=_names,
        help="only these values; also @f/%%3, names in locations, or a line of the model: model.py:6")  # fmt: skip
    add("--trace-ops", action="extend", default=[], metavar="OP,OP", type=_names,
        help="only these ops, with wildcards: dot_general, chlo.*")  # fmt: skip
    add("--trace-to", metavar="DIR", type=Path, help="write the values to .npy files, with an index")
    add("--keep", metavar="REGEX",
        help="write only values in whose name or op it is found; statistics of all are kept; '' for none")  # fmt: skip
    add("--break", action="append", default=[], metavar="VALUE", dest="breaks",
        help="stop when a value is computed, and open a prompt")  # fmt: skip
    add("--trap", action="extend", default=[], metavar="KIND,KIND", type=exception_kinds,
        help="stop at the first op that generates nan, inf, overflow, underflow, ...: see `exceptions`")  # fmt: skip
    add("--stats", action="store_true", help="the number and time of ops, and the peak memory")
    add("--profile", action="store_true", help="the time of ops by kind and by place")
    add("--profile-output", metavar="FILE", type=Path,
        help="write the time of ops, and what they run in, as JSON that speedscope.app opens")  # fmt: skip
    add("--dump-code", action="store_true", help="the Python source that hot loops and functions became")


def _add_semantics(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results that the spec leaves open").add_argument
    add("--rng-seed", metavar="SEED", type=seed, default=0, help="the seed of the op `rng`")
    add("--warn-implementation-defined", action="store_true", help="warn about implementation-defined results")
    add("--strict", action="store_true", help="reject implementation-defined results; docs/choices.md lists the cases")
    add("--exact-lapack", action="store_true", help="compute LAPACK custom calls in f64 and round once")
    add("--semantics", action="store_true", help="run each op element by element as the spec describes it, slowly")
    add("--reproducible", action="store_true", help="round results from exact ones: the same bits on every machine")
    add(
        "--exact-sums",
        action="store_true",
        help="sums of reductions, windows, collectives, scatters and batch normalization are exact, and rounded once",
    )


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def _distribution(text: str) -> tuple[str, Distribution]:
    name, distribution = _named(text)
    try:
        return name, Distribution(distribution)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def exception_kinds(text: str) -> Sequence[str]:
    """Convert names of kinds of exceptions, with commas between them."""
    from stablehlo_ref.debug.exceptions import kinds_of  # imported when it is used

    try:
        return kinds_of(text)
    except EvaluationError as error:
        raise argparse.ArgumentTypeError(error.diagnostics[0].message) from None


def _dimension(text: str) -> tuple[str, int]:
    name, equals, size = text.rpartition("=")
    if not (name and equals and size.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected NAME:AXIS=SIZE, got {text!r}")
    return name, int(size)
