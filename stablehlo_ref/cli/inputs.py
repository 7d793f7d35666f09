"""Give a run its inputs: the options that give or draw them, and the arguments of each process."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stablehlo_ref.arrays.random_values import FORMS, Distribution
from stablehlo_ref.arrays.weights import weights_of
from stablehlo_ref.cli.options import CommandLineError, Group, converter, option, positive, seed, usage_errors
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, StablehloError
from stablehlo_ref.execute.arguments import arguments_in_order, check_argument, check_numbered_arguments
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program
from stablehlo_ref.reading.inputs import by_parameter, joined, literals, random_inputs, read_inputs, with_sizes

HOW = "give them by --input NAME=VALUE, --inputs FILE or --args, or draw them by --random-inputs SEED"


@converter
def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ArgumentValueError(f"expected NAME=VALUE, got {text!r}")
    return name, value


@converter
def _distribution(text: str) -> tuple[str, Distribution]:
    name, distribution = _named(text)
    return name, Distribution(distribution)


@converter
def _dimension(text: str) -> tuple[str, int]:
    name, equals, size = text.rpartition("=")
    if not (name and equals and size.isdecimal()):
        raise ArgumentValueError(f"expected NAME:AXIS=SIZE, got {text!r}")
    return name, int(size)


INPUTS = Group("inputs", [
    option("--input NAME=VALUE", "an input by its name in the text or in its loc(...): a number, which all elements "
           "have; a list [[1, 2], [3, 4]]; dense<...>; or a file, or pipe, with an array (.npy, .npz, .safetensors), a "
           "list, or raw elements: FILE, @FILE, or @FILE:tensor<...> to give the type of raw elements", _named,
           action="append", default=[]),
    option("--inputs FILE", "inputs by name from a .npz or .safetensors file; repeated: per process", Path,
           action="append", default=[]),
    option("--weights FILE", "weights by name, q.weight for states['q.weight'], from a .safetensors, .npz or .pt file "
           "or a folder of .npy files; the other options give the inputs that remain", Path),
    option("--args LIST", "inputs as MLIR literals: [dense<...> : tensor<...>, ...]", action="append", default=[]),
    option("--random-inputs SEED", "draw the inputs that are not given", seed),
    option("--random NAME=DISTRIBUTION", f"draw an input, or * for all, from {FORMS}", _distribution, action="append",
           default=[]),
    option("--dim NAME:AXIS=SIZE", "the size of an unknown dimension of a random input", _dimension, action="append",
           default=[]),
    option("--random-weights SEED", "draw the elements of constants that the text leaves out", seed),
])  # fmt: skip
GRID = Group("a grid of processes", [
    option("--replicas N", "run N replicas; give --args or --inputs once, or once for each", positive),
    option("--partitions M", "run M partitions of each replica, likewise", positive),
])  # fmt: skip


def grid_of(options: argparse.Namespace) -> Grid:
    """Return the grid of processes that the options `GRID` describe."""
    return Grid(options.replicas or 1, options.partitions or 1)


def inputs_of_processes(
    options: argparse.Namespace, program: Program, grid: Grid, limits: Limits
) -> list[list[RuntimeValue]]:
    """Return the arguments of each process, in order.

    CommandLineError if inputs that are given do not fit the program; EvaluationError if none are, but it has some.
    """
    weights = _weights(program.inputs, options.weights) if options.weights else {}
    open_inputs = [p for i, p in enumerate(program.inputs) if i not in weights]
    entry = replace(program.entry, inputs=tuple(open_inputs))
    with usage_errors():
        sized = with_sizes(open_inputs, dict(options.dim))
        distributions = by_parameter(open_inputs, dict(options.random))
        positional = [literals(text) for text in options.args] or [[]]
        shared = read_inputs(open_inputs, options.input, options.inputs if grid.count == 1 else ())
        files = () if grid.count == 1 else options.inputs
        named = [joined(("--inputs", read_inputs(open_inputs, (), [f])), ("--input", shared)) for f in files] or [
            shared
        ]
    is_all = options.random_inputs is not None or "*" in distributions
    found = []
    for number in range(grid.count):
        given = named[number % len(named)]
        drawn = [p for p in sized if p.name not in given and (is_all or p.name in distributions)]
        if both := distributions.keys() & given.keys():
            raise CommandLineError(f"input '{min(both)}' is given twice: by a value and by --random")
        used = {name: d for name, d in distributions.items() if name == "*" or name in {p.name for p in drawn}}
        with usage_errors():
            random = random_inputs(drawn, (options.random_inputs or 0) + number, used, limits)
        values = positional[number % len(positional)], {**given, **random}
        try:
            ordered = arguments_in_order(entry, *values, program.module)
            rest = iter([check_argument(parameter, value) for parameter, value in zip(open_inputs, ordered)])
        except StablehloError as error:
            first, *others = error.diagnostics
            if values[1] or options.args:
                raise CommandLineError([first, *others]) from None
            raise EvaluationError([replace(first, notes=(*first.notes, HOW)), *others]) from None
        found.append([weights[i] if i in weights else next(rest) for i in range(len(program.inputs))])
    return found


def _weights(parameters: Sequence[Parameter], path: Path) -> dict[int, RuntimeValue]:
    """Return the weights in a file or folder by the numbers of parameters; CommandLineError if they do not fit."""
    try:
        return check_numbered_arguments(parameters, weights_of(parameters, path), str(path))
    except EvaluationError as error:
        first, *others = error.diagnostics
        option = "--weights" if str(path) in first.message else f"--weights {path}"
        raise CommandLineError([replace(first, message=f"{option}: {first.message}"), *others]) from None
