"""Weights of a program: where they come from, and which argument each of them is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast
from zipfile import BadZipFile

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.array_files import from_bits, read_npz, read_safetensors
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, EvaluationError
from stablehlo_ref.interop import require, to_array
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.random_values import random_array
from stablehlo_ref.suggestions import did_you_mean

NameParts: TypeAlias = tuple[str, ...]  # the parts of a name: ("params", "layer", "0") of params['layer'][0]
Weights: TypeAlias = Sequence[Any] | Mapping[str, Any] | str | os.PathLike[str]

ELIDED = "__elided__"  # MLIR's placeholder for elements that its printer leaves out
SHOWN = 12  # names that a message lists

_PARTS = re.compile(r"\[\s*['\"]?([^'\"\]]*)['\"]?\s*\]|([^.\[\]/]+)")


def weights_of(parameters: Sequence[Parameter], source: Weights) -> dict[int, Any]:
    """Return the weight of each argument that has one, by the argument's number.

    `read_weights` describes the sources, `match_weights` how weights are matched with arguments. Bits of elements that
    a file has for a dtype that numpy lacks get the element type of the argument.
    """
    found = match_weights(parameters, read_weights(source))
    if not isinstance(source, str | os.PathLike):
        return found
    return {index: from_bits(parameters[index].type, weight) for index, weight in found.items()}


# --- where they come from -------------------------------------------------------------------------------------------


def read_weights(source: Weights) -> dict[str, Any] | list[Any]:
    """Return weights by name, or in order, from any of their sources.

    A mapping (nested ones too) or a sequence of arrays or tensors; the path of a `.npz` or `.safetensors` file, of a
    `.pt`, `.pth` or `.bin` file of PyTorch (read without running code in it), or of a folder with `.npy` files.
    EvaluationError if a file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        return _read(Path(source))
    if isinstance(source, Mapping):
        return dict(_flattened(source, ""))
    if isinstance(source, Sequence):
        return list(map(to_array, source))
    raise ArgumentTypeError(f"expected weights as a mapping, a sequence or a path, got {type(source).__name__}")


def _flattened(source: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    match source:
        case Mapping():
            for name, value in source.items():
                yield from _flattened(value, f"{prefix}.{name}" if prefix else str(name))
        case list() | tuple():
            for index, value in enumerate(source):
                yield from _flattened(value, f"{prefix}[{index}]")
        case _:
            yield prefix, to_array(source)


def _read(path: Path) -> dict[str, Any] | list[Any]:
    readers = {
        ".npz": _read_npz, ".safetensors": _read_safetensors, ".pt": _read_torch, ".pth": _read_torch,
        ".bin": _read_torch,
    }  # fmt: skip
    if path.is_dir():
        return _read_folder(path)
    reader = readers.get(path.suffix)
    if reader is None:
        known = ", ".join(sorted(readers))
        raise EvaluationError(f"cannot read weights from {path}: expected a folder or a file of {known}")
    try:
        return reader(path)
    except (OSError, ValueError, EOFError, BadZipFile, KeyError) as error:
        raise EvaluationError(f"cannot read weights from {path}: {error}") from None


def _read_npz(path: Path) -> dict[str, Any]:
    return dict(read_npz(path))


def _read_safetensors(path: Path) -> dict[str, Any]:
    return dict(read_safetensors(path.read_bytes()))


def _read_torch(path: Path) -> dict[str, Any]:
    torch = require("torch")
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling errors of many kinds
        reason = str(error).partition("\n")[0]
        raise EvaluationError(f"cannot read weights from {path}: {reason}") from None
    if not isinstance(loaded, Mapping):
        raise EvaluationError(f"cannot read weights from {path}: expected a state_dict, got {type(loaded).__name__}")
    return dict(_flattened(loaded, ""))


def _read_folder(path: Path) -> dict[str, Any]:
    """Read a folder of `.npy` files by file name."""
    files = sorted(path.rglob("*.npy"))
    names = [file.relative_to(path).with_suffix("").as_posix() for file in files]
    if not files:
        raise EvaluationError(f"cannot read weights from {path}: no .npy files in it")
    return {name: np.load(file, allow_pickle=False, mmap_mode="r") for name, file in zip(names, files)}


# --- which argument each of them is ---------------------------------------------------------------------------------


def match_weights(parameters: Sequence[Parameter], weights: Mapping[str, Any] | Sequence[Any]) -> dict[int, Any]:
    """Return the weight of each argument that has one, by the argument's number.

    Names are compared part by part, so `params['layer'][0]`, `params.layer.0` and `params/layer/0` are one name; a
    name may lack the first part if what is left is unambiguous. If no argument lacks its weight, other names with the
    first part of an argument's name are those that the exporter dropped as unused.

    Weights in order are those of the arguments whose names end in their numbers, such as `states[17]`; numbers without
    an argument were dropped likewise. A mapping of which no name is an argument's is taken in its order.

    EvaluationError that lists every unknown, missing and misshapen name.
    """
    paths = {path: index for index, p in enumerate(parameters) for name in p.names if (path := parts(name))}
    if not isinstance(weights, Mapping):
        return _checked(parameters, _in_order(paths, weights), [])
    by_name = _by_name(paths, weights)
    if not by_name and _indexed(paths):
        return _checked(parameters, _in_order(paths, list(weights.values())), [])
    found = {index: weights[name] for name, index in by_name.items()}
    unknown = [name for name in weights if name not in by_name]
    if not _missing(parameters, found):
        unknown = [name for name in unknown if parts(name)[:1] not in {path[:1] for path in paths if len(path) > 1}]
    return _checked(parameters, found, [_unknown(name, parameters) for name in unknown])


def parts(name: str) -> NameParts:
    """Return the parts of a name: `params['a'][0]` is ("params", "a", "0")."""
    return tuple(bracketed or plain for bracketed, plain in _PARTS.findall(name))


def _by_name(paths: Mapping[NameParts, int], weights: Mapping[str, Any]) -> dict[str, int]:
    """Return the argument of each weight whose name, perhaps without the first part, is that of one argument."""
    shorter: dict[NameParts, set[int]] = {}
    for path, index in paths.items():
        shorter.setdefault(path[1:], set()).add(index)
    found: dict[str, int] = {}
    for name in weights:
        path = parts(name)
        if path in paths:
            found[name] = paths[path]
        elif len(path) > 0 and len(shorter.get(path, ())) == 1 and not path[0].isdecimal():
            (found[name],) = shorter[path]
    return found


def _indexed(paths: Mapping[NameParts, int]) -> dict[int, int]:
    """Return the arguments called `root[i]` by i, of the root that has most of them."""
    roots: dict[str, dict[int, int]] = {}
    for path, index in paths.items():
        if len(path) == 2 and path[1].isdecimal():
            roots.setdefault(path[0], {})[int(path[1])] = index
    return max(roots.values(), key=len, default={})


def _in_order(paths: Mapping[NameParts, int], weights: Sequence[Any]) -> dict[int, Any]:
    numbered = _indexed(paths)
    if not numbered:
        raise EvaluationError("weights in order need arguments with numbers in their names, such as states[17]")
    beyond = sorted(number for number in numbered if number >= len(weights))
    if beyond:
        raise EvaluationError(f"{len(weights)} weights are given, but arguments go up to number {beyond[-1]}")
    return {index: weights[number] for number, index in numbered.items()}


def _checked(parameters: Sequence[Parameter], found: Mapping[int, Any], problems: Sequence[str]) -> dict[int, Any]:
    missing = _missing(parameters, found)
    shapes = [_misshapen(parameters[index], value) for index, value in found.items()]
    listed = [*problems, *(f"no weight for '{name}'" for name in missing), *filter(None, shapes)]
    if listed:
        more = [f"... and {len(listed) - SHOWN} more"] if len(listed) > SHOWN else []
        raise EvaluationError("the weights do not fit the program", notes=[*listed[:SHOWN], *more])
    return dict(found)


def _missing(parameters: Sequence[Parameter], found: Mapping[int, Any]) -> list[str]:
    """Return the names of arguments without a weight that have the first part of their name in common with others."""
    roots = {parts(name)[0] for index in found for name in parameters[index].names if len(parts(name)) > 1}
    return [
        p.names[-1]
        for index, p in enumerate(parameters)
        if index not in found and any(len(parts(name)) > 1 and parts(name)[0] in roots for name in p.names)
    ]


def _unknown(name: str, parameters: Sequence[Parameter]) -> str:
    known = [other for p in parameters for other in p.names]
    return f"no argument '{name}'{did_you_mean(name, known)}"


def _misshapen(parameter: Parameter, value: Any) -> str | None:
    expected = parameter.type
    shape = np.shape(value)
    if not isinstance(expected, TensorType):
        return None
    fits = len(shape) == len(expected.shape) and all(n in (None, m) for n, m in zip(expected.shape, shape))
    return None if fits else f"'{parameter.names[-1]}' is {expected}, the weight has the shape {shape}"


# --- random weights -------------------------------------------------------------------------------------------------


@checks_arguments
def with_random_constants(module: Operation, seed: int, max_bytes: int) -> Operation:
    """Return a copy of a module in which random elements take the place of those that its text leaves out.

    Equal resources have equal elements, except MLIR's placeholder `__elided__`, which stands for any. EvaluationError
    for a tensor of more than `max_bytes`.
    """
    if seed < 0:
        raise ArgumentValueError(f"seed must not be negative, got {seed}")
    generator = np.random.default_rng(seed)
    drawn: dict[DenseResource, DenseResource] = {}

    def filled(value: object) -> object:
        if isinstance(value, DenseResource) and value.array is None and isinstance(value.type, TensorType):
            dtype = numpy_dtype(value.type.element_type)
            if value.type.size * dtype.itemsize > max_bytes:
                raise EvaluationError(f"{value.type} is larger than the limit of {max_bytes} bytes for a tensor")
            if value not in drawn or value.key == ELIDED:
                array = random_array(generator, dtype, cast("tuple[int, ...]", value.type.shape))
                array.flags.writeable = False
                drawn[value] = DenseResource(value.key.replace(ELIDED, "random"), value.type, array)
            return drawn[value]
        return value

    copied = clone(module, {})
    for op in copied.walk():
        op.properties = {name: filled(value) for name, value in op.properties.items()}
    return copied
