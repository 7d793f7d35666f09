"""Inputs of a run: MLIR literals, values by name, files of arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.files import from_bits
from stablehlo_ref.arrays.host_values import SCALARS
from stablehlo_ref.cli.array_files import read_arrays
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.ir.argument_names import ArgumentNames
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import DenseElements, TypeAttribute
from stablehlo_ref.ir.signature import Parameter, names_of, shortened
from stablehlo_ref.ir.types import TensorType, TokenType, Type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT64, kind, numpy_dtype
from stablehlo_ref.syntax.parser import parse_attribute

FORMS = "a number, a list such as [1, 2], dense<...>, or a file (.npy, .npz, .safetensors, raw elements)"

RAW = (".bin", ".raw", ".dat")  # files that are never taken as text

_WITH_TYPE = re.compile(r"(.+?):(tensor<.*>)")


def find_parameter(parameters: Sequence[Parameter], names: ArgumentNames, name: str, option: str) -> Parameter:
    """Return the parameter that a name means among theirs; CommandLineError unless there is one."""
    if len(found := names.meant(name)) == 1:
        return parameters[min(found)]
    what = f"'{name}' is ambiguous" if found else f"the program has no input '{name}'"
    there = shortened([repr(parameter) for parameter in parameters])
    raise CommandLineError(f"{option}: {what}{names.hint(name)}\n  its inputs are {there}")


def value_of(parameter: Parameter, text: str) -> Array:
    """Return the value that a text stands for; CommandLineError, which names the parameter, if it has none."""
    name = parameter.name
    if not isinstance(parameter.type, (TensorType, *SCALARS)):
        raise CommandLineError(f"--input: '{name}' is of type {parameter.type}, whose values cannot be given")
    if text.startswith("@"):
        return _from_file(parameter, text[1:])
    if text.startswith("dense"):
        return _from_literal(parameter, text)
    try:
        return _from_json(parameter, _numbers(text))
    except (ValueError, RecursionError):  # a number of too many digits too
        if text[:1] in "[{" or re.match(r"[-+]?\.?\d[\d.]*$", text):
            raise CommandLineError(f"input '{name}': expected {FORMS}, got {_shown(text)}") from None
    return _from_file(parameter, text)


def _numbers(text: str) -> Any:
    """Return the numbers or lists of a text; ValueError if it is something else."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_as_json(text))


def _as_json(text: str) -> str:
    """Return text in which `inf`, `nan` and numbers such as `1.` and `.5` are those of JSON."""
    text = re.sub(r"(?<![\w.])([+-]?)(?:inf|Infinity)\b", lambda m: f"{m[1].strip('+')}Infinity", text)
    text = re.sub(r"(?<![\w.])nan\b", "NaN", text)
    text = re.sub(r"(?<![\w.])\+?(-?)\.(\d)", r"\g<1>0.\2", text)
    return re.sub(r"(?<![\w.])(-?\d+)\.(?!\d)", r"\1.0", text)


def _type_of(parameter: Parameter) -> TensorType:
    type = parameter.type
    return type if isinstance(type, TensorType) else tensor_type((), type)


# --- literals ---------------------------------------------------------------------------------------------------------


def _from_literal(parameter: Parameter, text: str) -> Array:
    """Return the elements of `dense<...>`, of the parameter's type if it has none."""
    typed = text if re.search(r">\s*:", text) else f"{text} : {_type_of(parameter)}"
    try:
        attribute = parse_attribute(Source(typed, f"--input {parameter.name}"))
    except MalformedError as error:
        raise CommandLineError(error.diagnostics) from None
    if not isinstance(attribute, DenseElements):
        raise CommandLineError(f"input '{parameter.name}': expected dense<...>, got {_shown(text)}")
    return attribute.array


def _from_json(parameter: Parameter, value: Any) -> Array:
    """Return a list as an array; a number is that of all elements. Integers must be exact, floats are rounded."""
    type, name = _type_of(parameter), parameter.name
    leaves = list(_leaves(value))
    if not all(isinstance(leaf, bool | int | float) for leaf in leaves):
        wrong = next(leaf for leaf in leaves if not isinstance(leaf, bool | int | float))
        raise CommandLineError(f"input '{name}': expected numbers, got {json.dumps(wrong)}")
    shape = _shape(parameter, value)
    array = _converted(parameter, type.element_type, leaves).reshape(shape)
    if shape or not type.shape:
        return array
    if not type.is_static:
        raise CommandLineError(
            f"input '{name}': the size of {type} is not known; give a list, or dense<{value}> : tensor<...>"
        )
    return np.broadcast_to(array, type.shape)  # type: ignore[arg-type]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in within_time(value, "reading the input"):
            yield from _leaves(item)
    else:
        yield value


def _shape(parameter: Parameter, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    shapes = {_shape(parameter, item) for item in within_time(value, "reading the input")}
    if len(shapes) > 1:
        raise CommandLineError(f"input '{parameter.name}': the rows of the list differ in length")
    return (len(value), *shapes.pop()) if shapes else (0,)


def _converted(parameter: Parameter, element_type: Type, numbers: Sequence[bool | int | float]) -> Array:
    dtype = numpy_dtype(element_type)
    match kind(dtype):
        case "integer":
            return _integers(parameter, dtype, numbers)
        case "boolean":
            if any(number not in (0, 1) for number in numbers):
                raise CommandLineError(f"input '{parameter.name}': expected true or false for {parameter.type}")
            return np.array(numbers, bool)
        case "complex":
            return np.array(numbers, np.complex128).astype(dtype)
    if any(isinstance(number, bool) for number in numbers):
        raise CommandLineError(f"input '{parameter.name}': expected numbers for {parameter.type}, got true or false")
    with np.errstate(all="ignore"):
        return np.asarray(convert(FLOAT64, dtype)(np.array(numbers, np.float64)))


def _integers(parameter: Parameter, dtype: DType, numbers: Sequence[bool | int | float]) -> Array:
    storage = np.array(numbers, object)
    with np.errstate(all="ignore"):
        for number in numbers:
            if isinstance(number, bool) or number != number or number in (float("inf"), -float("inf")):
                raise CommandLineError(f"input '{parameter.name}': expected integers, got {json.dumps(number)}")
            if int(number) != number or not _is_in_range(dtype, int(number)):
                raise CommandLineError(f"input '{parameter.name}': {number} is not a number of {parameter.type}")
    wide = np.array([int(number) for number in storage], np.uint64 if dtype == np.uint64 else np.int64)
    return wide.astype(dtype)


def _is_in_range(dtype: DType, number: int) -> bool:
    if dtype.isbuiltin == 1:
        info = np.iinfo(dtype)
        return bool(info.min <= number <= info.max)
    width = int("".join(filter(str.isdigit, dtype.name)))
    is_unsigned = dtype.name.startswith("u")
    return (0 if is_unsigned else -(1 << width - 1)) <= number < 1 << (width if is_unsigned else width - 1)


# --- files ------------------------------------------------------------------------------------------------------------


def _from_file(parameter: Parameter, text: str) -> Array:
    declared = _type_of(parameter)
    path = Path(text)
    if not path.exists() and (match := _WITH_TYPE.fullmatch(text)):  # FILE:tensor<...>
        path, declared = Path(match[1]), _declared(parameter, match[2])
    if not path.exists():
        raise CommandLineError(f"input '{parameter.name}': no such file {_shown(str(path))}; expected {FORMS}")
    own = names_of([parameter])
    contents = read_arrays(path, lambda name: parameter.type if not name or own.meant(name) else None)
    if isinstance(contents, bytes):
        return _from_bytes(parameter, declared, contents, path)
    if isinstance(contents, np.ndarray):
        return contents
    names = [name for name in contents if own.meant(name)]
    if len(names or contents) != 1:
        count, there = "several arrays" if names else "no array", ", ".join(names or contents) or "none"
        raise CommandLineError(f"input '{parameter.name}': {path} has {count} of that name; there are {there}")
    return contents[names[0] if names else next(iter(contents))]


def _declared(parameter: Parameter, text: str) -> TensorType:
    try:
        attribute = parse_attribute(Source(text, f"--input {parameter.name}"))
    except MalformedError as error:
        raise CommandLineError(error.diagnostics) from None
    if not (isinstance(attribute, TypeAttribute) and isinstance(attribute.type, TensorType)):
        raise CommandLineError(f"input '{parameter.name}': expected a type tensor<...>, got {text}")
    return attribute.type


def _from_bytes(parameter: Parameter, type: TensorType, data: bytes, path: Path) -> Array:
    """Return raw elements in row-major order and little-endian, or the value that a short text stands for."""
    if path.suffix not in RAW and (array := _from_text(parameter, data)) is not None:
        return array
    dtype = numpy_dtype(type.element_type)
    if not type.is_static:
        raise CommandLineError(
            f"input '{parameter.name}': {path} has raw elements, and the size of {type} is not known; "
            f"give the type as @{path}:tensor<...>"
        )
    expected = type.size * dtype.itemsize
    if len(data) != expected:
        raise CommandLineError(
            f"input '{parameter.name}': {path} is no .npy, .npz or safetensors file, and has {len(data)} bytes where "
            f"{type} has {expected}"
        )
    return np.frombuffer(data, dtype).reshape(type.shape)


def _from_text(parameter: Parameter, data: bytes) -> Array | None:
    """Return the value of a text file, or None if the contents are something else."""
    if not data.isascii() or not re.match(rb"\s*(?:[-+.\d\[]|dense<|true|false|inf|nan)", data):
        return None
    text = data.decode().strip()
    if text.startswith("dense"):
        return _from_literal(parameter, text)
    try:
        return _from_json(parameter, _numbers(text))
    except (ValueError, RecursionError):
        return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


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
