"""Inputs and outputs on disk: `.npy` and `.npz` files, MLIR literals, random values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, MalformedError, Source
from stablehlo_ref.dialects.interpreter import as_numpy_saves
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType, Type
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT8_E8M0FNU, FLOAT64, kind, numpy_dtype
from stablehlo_ref.signature import Parameter
from stablehlo_ref.syntax.parser import parse_attribute

HINT = "i.e. --args=[dense<1> : tensor<2xi32>, ...]"
NO_LIST = f"expectected array attribute string for args, {HINT}"  # spelled as by upstream's tool, whose tests match it


def from_literals(text: str) -> list[np.ndarray]:
    """The arrays of `[dense<...> : tensor<...>, ...]`; MalformedError for anything else."""
    try:
        attribute = parse_attribute(Source(text, "--args"))
    except MalformedError as error:
        raise MalformedError(f"{NO_LIST}\n{error}") from None
    if not isinstance(attribute, tuple):
        raise MalformedError(NO_LIST)
    if not all(isinstance(element, DenseElements) for element in attribute):
        raise MalformedError(f"expected dense elements attribute for args elements, {HINT}")
    return [element.array for element in attribute]


def from_files(parameters: Sequence[Parameter], files: Mapping[str, Path]) -> dict[str, Any]:
    """Arrays by the names of parameters, from `.npy` files."""
    return _as_parameters(parameters, {name: _load(path) for name, path in files.items()})


def from_archive(parameters: Sequence[Parameter], path: Path) -> dict[str, Any]:
    """Arrays by the names of parameters, from an `.npz` file; members `arr_0`, `arr_1`, ... go by position."""
    archive = _load(path)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise EvaluationError(f"{path} is not an .npz archive")
    with archive:
        positional = {f"arr_{i}": p.name for i, p in enumerate(without_tokens(parameters))}
        known = {name for p in parameters for name in p.names}
        names = {name: name if name in known else positional.get(name, name) for name in archive.files}
        arrays = {names[name]: _member(path, archive, name) for name in archive.files}
    return _as_parameters(parameters, arrays)


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise EvaluationError(f"can't read {path}: {error}") from None


def _member(path: Path, archive: Any, name: str) -> Any:
    try:
        return archive[name]
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise EvaluationError(f"can't read {name} of {path}: {error}") from None


def without_tokens(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Those that files and literals have values for."""
    return [p for p in parameters if not isinstance(p.type, TokenType)]


def _as_parameters(parameters: Sequence[Parameter], arrays: Mapping[str, Any]) -> dict[str, Any]:
    types = {name: p.type for p in parameters for name in p.names}
    return {name: _reinterpreted(types.get(name), array) for name, array in arrays.items()}


def _reinterpreted(type: Type | None, array: Any) -> Any:
    """Bits of element types that numpy lacks, which its files hold as void or as unsigned integers."""
    if not isinstance(type, TensorType):
        return array
    dtype = numpy_dtype(type.element_type)
    foreign = dtype.isbuiltin != 1 and array.dtype.kind in "Vu" and array.dtype.itemsize == dtype.itemsize
    return array.view(dtype) if foreign else array


def random_inputs(parameters: Sequence[Parameter], seed: int) -> list[Any]:
    """Values for each parameter: floats and complex normal, integers uniform in [0, 8) as the type allows, booleans
    even odds. The same seed gives the same values."""
    generator = np.random.default_rng(seed)
    return [_random(generator, p, p.type) for p in parameters]


def _random(generator: np.random.Generator, parameter: Parameter, type: Type) -> Any:
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        return tuple(_random(generator, parameter, element) for element in type.elements)
    if not isinstance(type, TensorType) or not type.is_static:
        raise EvaluationError(f"argument '{parameter.name}' of type {type} can't be random", parameter.location)
    dtype = numpy_dtype(type.element_type)
    shape: Any = type.shape
    match kind(dtype):
        case "boolean":
            return generator.integers(0, 2, shape).astype(bool)
        case "integer":
            highest = 2 if dtype.name.endswith("int2") else 8
            return generator.integers(0, highest, shape).astype(np.int8).astype(dtype)
        case "complex":
            parts = generator.standard_normal((2, *shape))
            return (parts[0] + 1j * parts[1]).astype(dtype)
    numbers = generator.standard_normal(shape)
    numbers = np.abs(numbers) if dtype == FLOAT8_E8M0FNU else numbers  # which has no sign
    return np.asarray(convert(FLOAT64, dtype)(numbers))


def save_outputs(path: Path, parameters: Sequence[Parameter], values: Sequence[Any]) -> None:
    """Writes results to an `.npz` file under their names; those that share a name get their number appended.

    Element number i of a tuple goes by `name.i`; a token has nothing to write.
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
        raise EvaluationError(f"can't write {path}: {error.strerror}") from None


def _leaves(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, tuple):
        yield from chain.from_iterable(_leaves(f"{name}.{i}", element) for i, element in enumerate(value))
    elif value is not None:
        yield name, np.asarray(value)
