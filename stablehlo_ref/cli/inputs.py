"""Inputs and outputs on disk: `.npy` and `.npz` files, MLIR literals, random values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import cast
from zipfile import ZipFile

import numpy as np

from stablehlo_ref.array_files import read_npy, read_npz
from stablehlo_ref.diagnostics import EvaluationError, LimitError, MalformedError, Source
from stablehlo_ref.dialects.interpreter import as_numpy_saves
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.host_values import SCALARS
from stablehlo_ref.numerics.random_values import random_array
from stablehlo_ref.syntax.parser import parse_attribute

# These messages, with the spelling, are those of upstream's tool, whose tests match them.
HINT = "i.e. --args=[dense<1> : tensor<2xi32>, ...]"
NO_LIST = f"expectected array attribute string for args, {HINT}"
NO_ELEMENTS = f"expected dense elements attribute for args elements, {HINT}"


def from_literals(text: str) -> list[Array]:
    """Return the arrays of `[dense<...> : tensor<...>, ...]`; MalformedError for other text."""
    try:
        attribute = parse_attribute(Source(text, "--args"))
    except MalformedError as error:
        raise MalformedError(f"{NO_LIST}\n{error}") from None
    if not isinstance(attribute, tuple):
        raise MalformedError(NO_LIST)
    literals = [element for element in attribute if isinstance(element, DenseElements)]
    if len(literals) != len(attribute):
        raise MalformedError(NO_ELEMENTS)
    return [literal.array for literal in literals]


def from_files(parameters: Sequence[Parameter], files: Mapping[str, Path]) -> dict[str, Array]:
    """Load arrays from `.npy` files; return them by the names of parameters."""
    types = _types(parameters)
    return _as_parameters(parameters, {name: read_npy(path, types.get(name)) for name, path in files.items()})


def from_archive(parameters: Sequence[Parameter], path: Path) -> dict[str, Array]:
    """Load arrays from an `.npz` file; return them by the names of parameters.

    Members `arr_0`, `arr_1`, ... are for parameters by position.
    """
    types = _types(parameters)
    positional = {f"arr_{i}": p.name for i, p in enumerate(without_tokens(parameters))}

    def name_of(member: str) -> str:
        return member if member in types else positional.get(member, member)

    arrays = read_npz(path, lambda member: types.get(name_of(member)))
    return _as_parameters(parameters, {name_of(member): array for member, array in arrays.items()})


def _types(parameters: Sequence[Parameter]) -> dict[str, Type]:
    return {name: p.type for p in parameters for name in p.names}


def without_tokens(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters that files and literals have values for."""
    return [p for p in parameters if not isinstance(p.type, TokenType)]


def _as_parameters(parameters: Sequence[Parameter], arrays: Mapping[str, Array]) -> dict[str, Array]:
    types = _types(parameters)
    return {name: _reinterpreted(types.get(name), array) for name, array in arrays.items()}


def _reinterpreted(type: Type | None, array: Array) -> Array:
    """Return an array with the element type of its parameter, if numpy saved the bits as void or unsigned integers."""
    if not isinstance(type, TensorType):
        return array
    dtype = numpy_dtype(type.element_type)
    foreign = dtype.isbuiltin != 1 and array.dtype.kind in "Vu" and array.dtype.itemsize == dtype.itemsize
    return array.view(dtype) if foreign else array


def random_inputs(parameters: Sequence[Parameter], seed: int) -> list[RuntimeValue]:
    """Return a random value for each parameter, determined by the seed.

    Floating-point and complex numbers are normally distributed. Integers are uniform in [0, 8), or in the range of
    their type if that is smaller, and booleans are uniform.
    """
    generator = np.random.default_rng(seed)
    return [_random(generator, p, p.type) for p in parameters]


def with_sizes(parameters: Sequence[Parameter], sizes: Mapping[str, int]) -> list[Parameter]:
    """Return parameters with sizes for unknown dimensions: `x:0` is a dimension of input `x`, `x` all of them, `*` all.

    EvaluationError for a name of no unknown dimension.
    """
    used: set[str] = set()
    found = [_with_sizes(parameter, sizes, used) for parameter in parameters]
    if unknown := [name for name in sizes if name not in used]:
        known = [f"{p.name}:{axis}" for p in parameters for axis in _unknown_axes(p)]
        raise EvaluationError(f"no unknown dimension is called '{unknown[0]}'; there are {', '.join(known) or 'none'}")
    return found


def _with_sizes(parameter: Parameter, sizes: Mapping[str, int], used: set[str]) -> Parameter:
    if not isinstance(parameter.type, TensorType):
        return parameter
    shape = list(parameter.type.shape)
    for axis in _unknown_axes(parameter):
        names = (parameter.name, *parameter.names)
        keys = [key for key in (*(f"{name}:{axis}" for name in names), *names, "*") if key in sizes]
        used.update(keys)
        shape[axis] = sizes[keys[0]] if keys else None
    return replace(parameter, type=replace(parameter.type, shape=tuple(shape)))


def _unknown_axes(parameter: Parameter) -> list[int]:
    shape = parameter.type.shape if isinstance(parameter.type, TensorType) else ()
    return [axis for axis, size in enumerate(shape) if size is None]


def _random(generator: np.random.Generator, parameter: Parameter, type: Type) -> RuntimeValue:
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        return tuple(_random(generator, parameter, element) for element in type.elements)
    if isinstance(type, SCALARS):
        return random_array(generator, numpy_dtype(type), ())
    if not isinstance(type, TensorType) or not type.is_static:
        hint = "; --dim NAME:AXIS=SIZE gives a size" if isinstance(type, TensorType) else ""
        message = f"cannot draw argument '{parameter.name}' of type {type} at random{hint}"
        raise EvaluationError(message, parameter.location)
    try:
        return random_array(generator, numpy_dtype(type.element_type), cast("tuple[int, ...]", type.shape))
    except LimitError as error:
        raise error.at(parameter.location) from None


def save_outputs(path: Path, parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> None:
    """Write results to an `.npz` file under their names, with the number of the result appended to duplicate names.

    Element i of a tuple is written as `name.i`. Tokens are not written.
    """
    names = [p.name for p in parameters]
    keys = [n if names.count(n) == 1 else f"{n}_{i}" for i, n in enumerate(names)]
    arrays = chain.from_iterable(map(_leaves, keys, values))
    try:
        with ZipFile(path, "w") as archive:
            for name, array in arrays:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, as_numpy_saves(array), allow_pickle=False)
    except OSError as error:
        raise EvaluationError(f"cannot write {path}: {error.strerror}") from None


def _leaves(name: str, value: RuntimeValue) -> Iterator[tuple[str, Array]]:
    if isinstance(value, tuple):
        yield from chain.from_iterable(_leaves(f"{name}.{i}", element) for i, element in enumerate(value))
    elif value is not None:
        yield name, np.asarray(value)
