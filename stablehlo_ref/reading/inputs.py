"""Read inputs of a program from text and files, or draw them at random."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.files import from_bits, read_arrays
from stablehlo_ref.arrays.host_values import SCALARS
from stablehlo_ref.arrays.random_values import Distribution, random_array
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, MalformedError, Source
from stablehlo_ref.ir.arrays import Array, DType, RuntimeValue
from stablehlo_ref.ir.attributes import DenseElements, TypeAttribute
from stablehlo_ref.ir.signature import ArgumentNames, Parameter, names_of, shortened
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType, Type, tensor_type
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT64, kind, max_value, min_value, numpy_dtype
from stablehlo_ref.syntax.parser import parse_attribute

FORMS = "a number, a list such as [1, 2], dense<...>, or a file (.npy, .npz, .safetensors, raw elements)"

RAW = (".bin", ".raw", ".dat")  # files that are never taken as text
TEXT = rb"\s*(?:[-+.\d\[]|dense<|true|false|inf|nan)"  # starts of others that may be text

_WITH_TYPE = re.compile(r"(.+?):(tensor<.*>)")


@checks_arguments
def read_inputs(
    parameters: Sequence[Parameter],
    values: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    files: Iterable[str | os.PathLike[str]] = (),
) -> dict[str, Array]:
    """Return arrays for inputs of a program, by name, from what the options `--input` and `--inputs` take.

    `values` are texts by the names of inputs: a number, which all elements have, a list `[[1, 2], [3, 4]]`,
    `dense<...>`, or the path of a file with an array. `files` are `.npz` or safetensors files with arrays by the names
    of inputs, or `arr_0`, `arr_1`, ... by position. ArgumentValueError for a name of no input, an input that is given
    twice, or text or a file that is not an array for it.

    >>> program.run(read_inputs(program.inputs, {"x": "[1, 2]"}, ["weights.npz"]))
    """
    pairs = values.items() if isinstance(values, Mapping) else values
    return joined(
        *((str(path), _from_archive(parameters, Path(path))) for path in files),
        *(("a value", _from_value(parameters, name, text)) for name, text in pairs),
    )


@checks_arguments
def random_inputs(
    parameters: Sequence[Parameter],
    seed: int = 0,
    distributions: Mapping[str, str | Distribution] | None = None,
    limits: Limits | None = None,
    sizes: Mapping[str, int] | None = None,
) -> dict[str, RuntimeValue]:
    """Return a random value for each input of a program by name, determined by the seed.

    `distributions` are those of inputs by name, or of all by `*`: normal(mean, stddev), uniform(low, high),
    integers(low, high) or constant(value). Without one, floating-point and complex numbers are normally distributed,
    integers are uniform in [0, 8), or in the range of their type if that is smaller, and booleans are uniform. `sizes`
    are those of unknown dimensions: `x:0` is a dimension of input `x`, `x` all of them, `*` all.

    >>> program.run(random_inputs(program.inputs, distributions={"x": "uniform(0, 255)"}, sizes={"x:0": 8}))
    """
    if seed < 0:
        raise ArgumentValueError(f"seed must not be negative, got {seed}")
    generator = np.random.default_rng(seed)
    drawn = [p for p in with_sizes(parameters, sizes or {}) if not isinstance(p.type, TokenType)]
    found = by_parameter(parameters, distributions or {})
    of = {p.name: found.get(p.name, found.get("*")) for p in drawn}
    return {p.name: _random(generator, p, p.type, of[p.name], limits or Limits()) for p in drawn}


def joined(*sources: tuple[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Return all values by name; ArgumentValueError for one that two sources give."""
    found: dict[str, Array] = {}
    origins: dict[str, str] = {}
    for origin, values in sources:
        for name, value in values.items():
            if name in found:
                raise ArgumentValueError(f"input '{name}' is given twice: by {origins[name]} and by {origin}")
            found[name], origins[name] = value, origin
    return found


def by_parameter(
    parameters: Sequence[Parameter], distributions: Mapping[str, str | Distribution]
) -> dict[str, Distribution]:
    """Return distributions by the names of parameters, or `*`; ArgumentValueError for a name of none."""
    names = names_of(parameters)
    return {
        name if name == "*" else _find(parameters, names, name).name: Distribution(d) if isinstance(d, str) else d
        for name, d in distributions.items()
    }


def _find(parameters: Sequence[Parameter], names: ArgumentNames, name: str) -> Parameter:
    """Return the parameter that a name means among theirs; ArgumentValueError unless there is one."""
    if len(found := names.meant(name)) == 1:
        return parameters[min(found)]
    what = f"'{name}' is ambiguous" if found else f"the program has no input '{name}'"
    there = shortened([repr(parameter) for parameter in parameters])
    raise ArgumentValueError(f"{what}{names.hint(name)}\n  its inputs are {there}")


def _from_value(parameters: Sequence[Parameter], name: str, text: str) -> dict[str, Array]:
    """Return the value that a text stands for by the name of the parameter that `name` means."""
    parameter = _find(parameters, names_of(parameters), name)
    return {parameter.name: from_bits(parameter.type, _value_of(parameter, text))}


def _value_of(parameter: Parameter, text: str) -> Array:
    """Return the value that a text stands for; ArgumentValueError, which names the parameter, if it has none."""
    name = parameter.name
    if not isinstance(parameter.type, (TensorType, *SCALARS)):
        raise ArgumentValueError(f"input '{name}' is of type {parameter.type}, whose values cannot be given")
    if text.startswith("@"):
        return _from_file(parameter, text[1:])
    if (array := _written(parameter, text)) is not None:
        return array
    if text[:1] in "[{" or re.match(r"[-+]?\.?\d[\d.]*$", text):
        raise ArgumentValueError(f"input '{name}': expected {FORMS}, got {_shown(text)}")
    return _from_file(parameter, text)


def _written(parameter: Parameter, text: str) -> Array | None:
    """Return the value of a literal or of numbers; None for other text."""
    if text.startswith("dense"):
        return _from_literal(parameter, text)
    try:
        value = _numbers(text)
    except (ValueError, RecursionError):  # a number of too many digits too
        return None
    return _from_json(parameter, value)


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


def _attribute(parameter: Parameter, text: str) -> Any:
    try:
        return parse_attribute(Source(text, f"input {parameter.name}"))
    except MalformedError as error:
        raise ArgumentValueError(error.diagnostics) from None


def _from_literal(parameter: Parameter, text: str) -> Array:
    """Return the elements of `dense<...>`, of the parameter's type if it has none."""
    typed = text if re.search(r">\s*:", text) else f"{text} : {_type_of(parameter)}"
    attribute = _attribute(parameter, typed)
    if not isinstance(attribute, DenseElements):
        raise ArgumentValueError(f"input '{parameter.name}': expected dense<...>, got {_shown(text)}")
    return attribute.array


def _from_json(parameter: Parameter, value: object) -> Array:
    """Return a list as an array; a number is that of all elements. Integers must be exact, floats are rounded."""
    type, name = _type_of(parameter), parameter.name
    given = np.array(value, object)
    numbers = given.ravel().tolist()
    for number in within_time(numbers, "reading the input"):
        if not isinstance(number, bool | int | float | list):
            raise ArgumentValueError(f"input '{name}': expected numbers, got {json.dumps(number)}")
    if any(isinstance(number, list) for number in numbers):
        raise ArgumentValueError(f"input '{name}': the rows of the list differ in length")
    try:
        array = _converted(parameter, type.element_type, numbers).reshape(given.shape)
    except OverflowError:  # of integers that Python does not convert to floats
        raise ArgumentValueError(f"input '{name}': an integer is too large for {parameter.type}") from None
    if given.shape or not type.shape:
        return array
    if not type.is_static:
        raise ArgumentValueError(
            f"input '{name}': the size of {type} is not known; give a list, or dense<{value}> : tensor<...>"
        )
    return np.broadcast_to(array, type.shape)  # type: ignore[arg-type]


def _converted(parameter: Parameter, element_type: Type, numbers: Sequence[bool | int | float]) -> Array:
    dtype = numpy_dtype(element_type)
    match kind(dtype):
        case "integer":
            return _integers(parameter, dtype, numbers)
        case "boolean":
            if any(number not in (0, 1) for number in numbers):
                raise ArgumentValueError(f"input '{parameter.name}': expected true or false for {parameter.type}")
            return np.array(numbers, bool)
        case "complex":
            return np.array(numbers, np.complex128).astype(dtype)
    if any(isinstance(number, bool) for number in numbers):
        raise ArgumentValueError(f"input '{parameter.name}': expected numbers for {parameter.type}, got true or false")
    with np.errstate(all="ignore"):
        return np.asarray(convert(FLOAT64, dtype)(np.array(numbers, np.float64)))


def _integers(parameter: Parameter, dtype: DType, numbers: Sequence[bool | int | float]) -> Array:
    low, high = int(min_value(dtype)), int(max_value(dtype))
    for number in numbers:
        if isinstance(number, bool) or number != number or abs(number) == math.inf:
            raise ArgumentValueError(f"input '{parameter.name}': expected integers, got {json.dumps(number)}")
        if int(number) != number or not low <= number <= high:
            raise ArgumentValueError(f"input '{parameter.name}': {number} is not a number of {parameter.type}")
    wide = np.array(list(map(int, numbers)), np.uint64 if dtype == np.uint64 else np.int64)
    return wide.astype(dtype)


# --- files ------------------------------------------------------------------------------------------------------------


def _from_file(parameter: Parameter, text: str) -> Array:
    declared = _type_of(parameter)
    path = Path(text)
    if not path.exists() and (match := _WITH_TYPE.fullmatch(text)):  # FILE:tensor<...>
        path, declared = Path(match[1]), _declared(parameter, match[2])
    if not path.exists():
        raise ArgumentValueError(f"input '{parameter.name}': no such file {_shown(str(path))}; expected {FORMS}")
    own = names_of([parameter])
    contents = read_arrays(path, lambda name: parameter.type if not name or own.meant(name) else None)
    if isinstance(contents, bytes):
        return _from_bytes(parameter, declared, contents, path)
    if isinstance(contents, np.ndarray):
        return contents
    names = [name for name in contents if own.meant(name)]
    if len(names or contents) != 1:
        count, there = "several arrays" if names else "no array", ", ".join(names or contents) or "none"
        raise ArgumentValueError(f"input '{parameter.name}': {path} has {count} of that name; there are {there}")
    return contents[names[0] if names else next(iter(contents))]


def _declared(parameter: Parameter, text: str) -> TensorType:
    attribute = _attribute(parameter, text)
    if not (isinstance(attribute, TypeAttribute) and isinstance(attribute.type, TensorType)):
        raise ArgumentValueError(f"input '{parameter.name}': expected a type tensor<...>, got {text}")
    return attribute.type


def _from_bytes(parameter: Parameter, type: TensorType, data: bytes, path: Path) -> Array:
    """Return raw elements in row-major order and little-endian, or the value that a short text stands for."""
    is_text = path.suffix not in RAW and data.isascii() and re.match(TEXT, data)
    if is_text and (array := _written(parameter, data.decode().strip())) is not None:
        return array
    dtype = numpy_dtype(type.element_type)
    if not type.is_static:
        raise ArgumentValueError(
            f"input '{parameter.name}': {path} has raw elements, and the size of {type} is not known; "
            f"give the type as @{path}:tensor<...>"
        )
    expected = type.size * dtype.itemsize
    if len(data) != expected:
        raise ArgumentValueError(
            f"input '{parameter.name}': {path} is no .npy, .npz or safetensors file, and has {len(data)} bytes where "
            f"{type} has {expected}"
        )
    return np.frombuffer(data, dtype).reshape(type.shape)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


# These messages, with the spelling, are those of upstream's tool, whose tests match them.
HINT = "i.e. --args=[dense<1> : tensor<2xi32>, ...]"
NO_LIST = f"expectected array attribute string for args, {HINT}"
NO_ELEMENTS = f"expected dense elements attribute for args elements, {HINT}"


def literals(text: str) -> list[Array]:
    """Return the arrays of `[dense<...> : tensor<...>, ...]`; ArgumentValueError for other text."""
    try:
        attribute = parse_attribute(Source(text, "--args"))
    except MalformedError as error:
        raise ArgumentValueError(f"{NO_LIST}\n{error}") from None
    if not isinstance(attribute, tuple):
        raise ArgumentValueError(NO_LIST)
    found = [element for element in attribute if isinstance(element, DenseElements)]
    if len(found) != len(attribute):
        raise ArgumentValueError(NO_ELEMENTS)
    return [literal.array for literal in found]


def _from_archive(parameters: Sequence[Parameter], path: Path) -> dict[str, Array]:
    """Load arrays from an `.npz` or safetensors file; return them by the names of parameters.

    Members `arr_0`, `arr_1`, ... are for parameters by position.
    """
    names = names_of(parameters)
    tensors = [p for p in parameters if not isinstance(p.type, TokenType)]
    positional = {f"arr_{i}": p.name for i, p in enumerate(tensors) if not names.meant(f"arr_{i}")}

    def type_of(name: str) -> Type | None:
        found = names.meant(positional.get(name, name))
        return parameters[min(found)].type if len(found) == 1 else None

    arrays = read_arrays(path, type_of)
    if isinstance(arrays, np.ndarray):
        raise ArgumentValueError(
            f"{path}: expected arrays by name, got an .npy file of one; give it by name, NAME={path}"
        )
    if isinstance(arrays, bytes):
        raise ArgumentValueError(f"{path}: expected an .npz or safetensors file")
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        try:
            parameter = _find(parameters, names, positional.get(name, name))
        except ArgumentValueError as error:
            raise ArgumentValueError(f"{path}: {error}") from None
        if parameter.name in found:
            raise ArgumentValueError(f"{path}: input '{parameter.name}' is there twice")
        found[parameter.name] = from_bits(parameter.type, array)
    return found


def with_sizes(parameters: Sequence[Parameter], sizes: Mapping[str, int]) -> list[Parameter]:
    """Return parameters with sizes for unknown dimensions: `x:0` is a dimension of input `x`, `x` all of them, `*` all.

    ArgumentValueError for a name of no unknown dimension.
    """
    names = names_of(parameters)
    types = {i: parameter.type for i, parameter in enumerate(parameters) if isinstance(parameter.type, TensorType)}
    shapes = {i: list(type.shape) for i, type in types.items()}
    unknown = [(i, axis) for i, shape in shapes.items() for axis, size in enumerate(shape) if size is None]
    for key in sorted(sizes, key=lambda key: (key != "*", ":" in key)):  # the more precise ones last
        places = unknown if key == "*" else _places(names, key, unknown)
        if not places:
            known = ", ".join(f"{parameters[i].name}:{axis}" for i, axis in unknown) or "none"
            raise ArgumentValueError(f"no unknown dimension is called '{key}'; there are {known}")
        for i, axis in places:
            shapes[i][axis] = sizes[key]
    found = {i: replace(parameters[i], type=replace(type, shape=tuple(shapes[i]))) for i, type in types.items()}
    return [found.get(i, parameter) for i, parameter in enumerate(parameters)]


def _places(names: ArgumentNames, key: str, unknown: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parameters and axes that `x` or `x:0` is."""
    name, _, axis = key.rpartition(":")
    is_axis = not names.meant(key)
    found = names.meant(name if is_axis else key)
    return [(i, a) for i, a in unknown if i in found and (not is_axis or axis == str(a))]


# --- random values ----------------------------------------------------------------------------------------------------


def _random(
    generator: np.random.Generator, parameter: Parameter, type: Type, distribution: Distribution | None, limits: Limits
) -> RuntimeValue:
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        return tuple(_random(generator, parameter, element, distribution, limits) for element in type.elements)
    if isinstance(type, SCALARS):
        return _drawn(generator, parameter, numpy_dtype(type), (), distribution)
    if not isinstance(type, TensorType) or not type.is_static:
        hint = "; `sizes`, or --dim NAME:AXIS=SIZE, gives a size" if isinstance(type, TensorType) else ""
        message = f"cannot draw argument '{parameter.name}' of type {type} at random{hint}"
        raise EvaluationError(message, parameter.location)
    dtype = numpy_dtype(type.element_type)
    check_size(parameter, type, dtype.itemsize, limits)
    return _drawn(generator, parameter, dtype, cast("tuple[int, ...]", type.shape), distribution)


def check_size(parameter: Parameter, type: TensorType, itemsize: int, limits: Limits) -> None:
    """Raise EvaluationError if an argument of a static type, with elements of so many bytes, is too large to draw."""
    if type.size * itemsize > limits.max_bytes:
        message = f"argument '{parameter.name}' of type {type} is larger than the limit of {limits.max_bytes} bytes"
        raise EvaluationError(message, parameter.location)


def _drawn(
    generator: np.random.Generator,
    parameter: Parameter,
    dtype: DType,
    shape: tuple[int, ...],
    distribution: Distribution | None,
) -> Array:
    if distribution is None:
        return random_array(generator, dtype, shape)
    try:
        return distribution.draw(generator, dtype, shape)
    except ValueError as error:
        raise ArgumentValueError(f"cannot draw input '{parameter.name}': {error}") from None
