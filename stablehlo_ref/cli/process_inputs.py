"""The inputs of a run, for each process, from all options that give or draw them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stablehlo_ref.arrays.weights import weights_of
from stablehlo_ref.cli import inputs
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.inputs import find_parameter
from stablehlo_ref.cli.random_inputs import random_inputs
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.execute.arguments import arguments_in_order, check_argument, check_numbered_arguments
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Function, Parameter, names_of
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program

HOW = "give them by --input NAME=VALUE, --inputs FILE or --args, or draw them by --random-inputs SEED"


def inputs_of_processes(
    options: argparse.Namespace, program: Program, grid: Grid, limits: Limits
) -> list[list[RuntimeValue]]:
    """Return the arguments of each process, in order.

    CommandLineError if inputs that are given do not fit the program; EvaluationError if none are, but it has some.
    """
    weights = _weights(program.inputs, options.weights) if options.weights else {}
    open_inputs = [p for i, p in enumerate(program.inputs) if i not in weights]
    entry = replace(program.entry, inputs=tuple(open_inputs))
    parameters = inputs.with_sizes(open_inputs, dict(options.dim))
    literals = [inputs.from_literals(text) for text in options.args] or [[]]
    archives = [inputs.from_archive(open_inputs, path) for path in options.inputs] or [{}]
    if grid.count == 1:
        archives = [_joined(*((f"--inputs {path}", a) for path, a in zip(options.inputs, archives)))]
    values = inputs.from_values(open_inputs, options.input)
    named = [_joined(("--inputs", archive), ("--input", values)) for archive in archives]
    names = names_of(open_inputs)
    distributions = {
        name if name == "*" else find_parameter(open_inputs, names, name, "--random").name: distribution
        for name, distribution in options.random
    }
    found = []
    for number in range(grid.count):
        given = named[number % len(named)]
        drawn = _drawn(parameters, given, distributions, options.random_inputs)
        seed = (options.random_inputs or 0) + number
        random = random_inputs(drawn, seed, distributions, limits)
        rest = iter(_checked(options, program, entry, literals[number % len(literals)], {**given, **random}))
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


def _joined(*sources: tuple[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Return all values by name; CommandLineError for one that two sources give."""
    found: dict[str, Array] = {}
    origins: dict[str, str] = {}
    for origin, values in sources:
        for name, value in values.items():
            if name in found:
                raise CommandLineError(f"input '{name}' is given twice: by {origins[name]} and by {origin}")
            found[name], origins[name] = value, origin
    return found


def _drawn(
    parameters: Sequence[Parameter], given: Mapping[str, Array], distributions: Mapping[str, Any], seed: int | None
) -> list[Parameter]:
    """Return the parameters to draw values for."""
    for name in distributions:
        if name in given:
            raise CommandLineError(f"input '{name}' is given twice: by a value and by --random")
    is_all = seed is not None or "*" in distributions
    return [p for p in parameters if p.name not in given and (is_all or p.name in distributions)]


def _checked(
    options: argparse.Namespace,
    program: Program,
    entry: Function,
    positional: Sequence[RuntimeValue],
    named: Mapping[str, RuntimeValue],
) -> list[RuntimeValue]:
    """Return the arguments in order, each with the type of its parameter."""
    try:
        ordered = arguments_in_order(entry, positional, named, program.module)
        return [check_argument(parameter, value) for parameter, value in zip(entry.inputs, ordered)]
    except StablehloError as error:
        first, *others = error.diagnostics
        if named or options.args:
            raise CommandLineError([first, *others]) from None
        raise EvaluationError([replace(first, notes=(*first.notes, HOW)), *others]) from None
