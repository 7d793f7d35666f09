"""Inputs of a run: MLIR literals, values by name, files of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stablehlo_ref.arrays.files import from_bits
from stablehlo_ref.cli.array_files import read_arrays
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.input_values import find_parameter, value_of
from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.ir.argument_names import ArgumentNames
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.signature import Parameter, names_of
from stablehlo_ref.ir.types import TensorType, TokenType, Type
from stablehlo_ref.syntax.parser import parse_attribute

# These messages, with the spelling, are those of upstream's tool, whose tests match them.
HINT = "i.e. --args=[dense<1> : tensor<2xi32>, ...]"
NO_LIST = f"expectected array attribute string for args, {HINT}"
NO_ELEMENTS = f"expected dense elements attribute for args elements, {HINT}"


def from_literals(text: str) -> list[Array]:
    """Return the arrays of `[dense<...> : tensor<...>, ...]`; CommandLineError for other text."""
    try:
        attribute = parse_attribute(Source(text, "--args"))
    except MalformedError as error:
        raise CommandLineError(f"{NO_LIST}\n{error}") from None
    if not isinstance(attribute, tuple):
        raise CommandLineError(NO_LIST)
    literals = [element for element in attribute if isinstance(element, DenseElements)]
    if len(literals) != len(attribute):
        raise CommandLineError(NO_ELEMENTS)
    return [literal.array for literal in literals]


def from_values(parameters: Sequence[Parameter], values: Sequence[tuple[str, str]]) -> dict[str, Array]:
    """Return the values of `--input NAME=VALUE` by the names of parameters; CommandLineError for one given twice."""
    names = names_of(parameters)
    found: dict[str, Array] = {}
    for name, text in values:
        parameter = find_parameter(parameters, names, name, f"--input {name}=...")
        if parameter.name in found:
            raise CommandLineError(f"input '{parameter.name}' is given twice by --input")
        found[parameter.name] = from_bits(parameter.type, value_of(parameter, text))
    return found


def from_archive(parameters: Sequence[Parameter], path: Path) -> dict[str, Array]:
    """Load arrays from an `.npz` or safetensors file; return them by the names of parameters.

    Members `arr_0`, `arr_1`, ... are for parameters by position.
    """
    names = names_of(parameters)
    positional = {f"arr_{i}": p.name for i, p in enumerate(without_tokens(parameters)) if not names.meant(f"arr_{i}")}

    def type_of(name: str) -> Type | None:
        found = names.meant(positional.get(name, name))
        return parameters[min(found)].type if len(found) == 1 else None

    arrays = read_arrays(path, type_of)
    if isinstance(arrays, np.ndarray):
        raise CommandLineError(
            f"--inputs {path}: expected arrays by name, got an .npy file of one; use --input NAME={path}"
        )
    if isinstance(arrays, bytes):
        raise CommandLineError(f"--inputs {path}: expected an .npz or safetensors file")
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        parameter = find_parameter(parameters, names, positional.get(name, name), f"--inputs {path}")
        if parameter.name in found:
            raise CommandLineError(f"--inputs {path}: input '{parameter.name}' is there twice")
        found[parameter.name] = from_bits(parameter.type, array)
    return found


def without_tokens(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters that files and literals have values for."""
    return [p for p in parameters if not isinstance(p.type, TokenType)]


def with_sizes(parameters: Sequence[Parameter], sizes: Mapping[str, int]) -> list[Parameter]:
    """Return parameters with sizes for unknown dimensions: `x:0` is a dimension of input `x`, `x` all of them, `*` all.

    CommandLineError for a name of no unknown dimension.
    """
    names = names_of(parameters)
    unknown = [(i, axis) for i, p in enumerate(parameters) for axis in _unknown_axes(p)]
    found: dict[tuple[int, int], int] = {}
    for key in sorted(sizes, key=lambda key: (key != "*", ":" in key)):  # the more precise ones last
        places = unknown if key == "*" else _places(names, key, unknown)
        if not places:
            known = ", ".join(f"{parameters[i].name}:{axis}" for i, axis in unknown) or "none"
            raise CommandLineError(f"no unknown dimension is called '{key}'; there are {known}")
        found |= dict.fromkeys(places, sizes[key])
    return [_with_sizes(p, {a: size for (j, a), size in found.items() if i == j}) for i, p in enumerate(parameters)]


def _places(names: ArgumentNames, key: str, unknown: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parameters and axes that `x` or `x:0` is."""
    name, _, axis = key.rpartition(":")
    is_axis = not names.meant(key)
    found = names.meant(name if is_axis else key)
    return [(i, a) for i, a in unknown if i in found and (not is_axis or axis == str(a))]


def _with_sizes(parameter: Parameter, sizes: Mapping[int, int]) -> Parameter:
    if not isinstance(parameter.type, TensorType) or not sizes:
        return parameter
    shape = tuple(sizes.get(axis, size) for axis, size in enumerate(parameter.type.shape))
    return replace(parameter, type=replace(parameter.type, shape=shape))


def _unknown_axes(parameter: Parameter) -> list[int]:
    shape = parameter.type.shape if isinstance(parameter.type, TensorType) else ()
    return [axis for axis, size in enumerate(shape) if size is None]
