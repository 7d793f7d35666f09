"""Weights of a program: where they come from, and which argument each of them is."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.files import array_errors, from_bits, map_array, narrowed, read_npz, read_safetensors
from stablehlo_ref.arrays.host_values import fits
from stablehlo_ref.arrays.interop import require, to_array
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, EvaluationError
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.signature import ArgumentNames, NameParts, Parameter, names_of, parts
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.files import contents, open_file, seekable
from stablehlo_ref.numerics.dtypes import numpy_dtype

T = TypeVar("T")
Weights: TypeAlias = Sequence[Any] | Mapping[str, Any] | str | os.PathLike[str]

CANNOT_READ = "cannot read weights from"
ELIDED = "__elided__"  # MLIR's placeholder for elements that its printer leaves out
SHOWN = 12  # names that a message lists
OF_CALLS = {"args", "inputs", "kwargs"}  # containers of a call's inputs, as JAX and torchax name them


def weights_of(parameters: Sequence[Parameter], source: Weights) -> dict[int, Any]:
    """Return the weight of each argument that has one, by the argument's number.

    `read_weights` describes the sources, `match_weights` how weights are matched with arguments. Bits of elements that
    a file has for a dtype that numpy lacks get the element type of the argument, and so do integers of 64 bits whose
    values it has: PyTorch keeps buffers in them where JAX has 32 bits.
    """
    found = match_weights(parameters, read_weights(source))
    if isinstance(source, str | os.PathLike):
        found = {index: from_bits(parameters[index].type, weight) for index, weight in found.items()}
    return {index: narrowed(weight, parameters[index].dtype) for index, weight in found.items()}


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
        return _named(_items(source))
    if isinstance(source, Sequence):
        return list(source)
    raise ArgumentTypeError(f"expected weights as a mapping, a sequence or a path, got {type(source).__name__}")


def _named(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in items:
        if name in found:
            raise EvaluationError(f"two weights are called '{name}'")
        found[name] = value
    return found


def _items(source: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays in nested containers, with the names that JAX gives them: `layers[0]['w']`."""
    match source:
        case Mapping():
            for name, value in source.items():
                yield from _items(value, f"{prefix}[{name!r}]" if prefix else str(name))
        case list() | tuple() if _is_container(source):
            yield from _items_of_list(source, prefix)
        case _:
            yield prefix, to_array(source)


def _items_of_list(source: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for index, value in enumerate(source):
        yield from _items(value, f"{prefix}[{index}]")


def _is_container(source: object) -> bool:
    """Return whether a list has arrays, or containers, as its items; others are arrays themselves."""
    if isinstance(source, list | tuple):
        return any(hasattr(item, "shape") or _is_container(item) for item in source)
    return isinstance(source, Mapping)


def _read(path: Path) -> dict[str, Any] | list[Any]:
    readers = {
        ".npz": read_npz, ".safetensors": _read_safetensors, ".pt": _read_torch, ".pth": _read_torch,
        ".bin": _read_torch,
    }  # fmt: skip
    with array_errors(path, CANNOT_READ):
        reader = _read_folder if path.is_dir() else readers.get(path.suffix)
        if reader is None:
            known = ", ".join(sorted(readers))
            raise EvaluationError(f"{CANNOT_READ} {path}: expected a folder or a file of {known}")
        return reader(path)


def _read_safetensors(path: Path) -> dict[str, Any]:
    with open_file(path) as file:
        return dict(read_safetensors(contents(file, str(path))))


def _read_torch(path: Path) -> dict[str, Any]:
    torch = require("torch")
    with open_file(path) as file:
        loaded = torch.load(seekable(file, str(path)), map_location="cpu", weights_only=True)
    if not isinstance(loaded, Mapping):
        raise EvaluationError(f"{CANNOT_READ} {path}: expected a state_dict, got {type(loaded).__name__}")
    return _named(_items(loaded))


def _read_folder(path: Path) -> dict[str, Any]:
    """Read a folder of `.npy` files by file name."""
    files = sorted(path.rglob("*.npy"))
    names = [file.relative_to(path).with_suffix("").as_posix() for file in files]
    if not files:
        raise EvaluationError(f"{CANNOT_READ} {path}: no .npy files in it")
    found = {}
    for name, file in zip(names, files):
        with array_errors(file, CANNOT_READ):
            found[name] = map_array(file)
    return found


# --- which argument each of them is ---------------------------------------------------------------------------------


def match_weights(parameters: Sequence[Parameter], weights: Mapping[str, Any] | Sequence[Any]) -> dict[int, Any]:
    """Return the weight of each argument that has one, by the argument's number.

    `ArgumentNames` says which arguments a name may mean. Names are all whole, or all lack the same first part; without
    it, none means an input of a call, such as `args[0]`. Names of no argument are those of weights that the
    exporter dropped as unused, unless no name is that of an argument in a container, or others of it lack weights.

    Weights in order are those of the only container if it has numbers, `states[17]`, or the first arguments if there
    are no containers.

    EvaluationError that lists every ambiguous name, or else every unknown, missing and misshapen one.
    """
    names = names_of(parameters)
    problems: Iterable[str] = ()
    if isinstance(weights, Mapping):
        found, problems = _by_name(names, weights)
    elif root := _numbered_container(names):
        found, problems = _by_name(names, _named(_items_of_list(weights, root)))
    else:
        found = {number: weight for number, (_, weight) in enumerate(_items_of_list(weights))}
        if len(found) > len(parameters):
            raise EvaluationError(f"expected weights for {len(parameters)} arguments, got {len(found)}")
    _check([*problems, *_listed(list(_misshapen(parameters, found)), str)])
    return found


def _by_name(names: ArgumentNames, weights: Mapping[str, Any]) -> tuple[dict[int, Any], Iterator[str]]:
    """Return weights by the numbers of their arguments, and the problems of those without weight or argument."""
    numbers = _numbers(names, weights)
    found = {index: weights[name] for name, index in numbers.items()}
    started = {_unit(names, index) for index in found}
    inside = [index for of_one in names.containers.values() for index in of_one]
    missing = [index for index in inside if index not in found and _unit(names, index) in started]
    unknown = [name for name in weights if name not in numbers]
    if unknown and not found:
        return found, _all_unmatched(names, unknown)
    if not found.keys() & set(inside):  # only weights of containers may have been dropped
        return found, _unknown(names, unknown, [index for index in range(len(names)) if index not in found])
    return found, _unmatched(names, unknown, missing) if missing else iter(())


def _unit(names: ArgumentNames, index: int) -> NameParts:
    """Return the name of the container whose arguments all have weights, or none of them: one input of a call."""
    path = names.path(index)
    return path[: 2 if OF_CALLS.intersection(path[:1]) else 1]


def _numbers(names: ArgumentNames, weights: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the arguments that names mean; EvaluationError if a name or an argument has several."""
    whole = {name: names.whole(name) for name in within_time(weights, "naming the weights")}
    taken = {index for found in whole.values() for index in found}
    of_calls = _in_containers_of_calls(names)
    found: dict[str, int] = {}
    problems: list[str] = []
    for name, wholly in within_time(whole.items(), "naming the weights"):
        is_certain = wholly and all(names.path(index) in ((), parts(name)) for index in wholly)  # not by text alone
        short = [index for index in names.short(name) if index not in of_calls and not (is_certain and index in taken)]
        candidates = [*wholly, *short]
        if len(candidates) == 1:
            found[name] = candidates[0]
        elif candidates:
            problems.append(f"'{name}' may be {names.listed(candidates)}: write one of these")
    problems += [*_given_twice(names, found), *_of_several_containers(names, found, whole)]
    _check(_listed(problems, str))
    return found


def _given_twice(names: ArgumentNames, found: Mapping[str, int]) -> Iterator[str]:
    first: dict[int, str] = {}
    for name, index in found.items():
        if first.setdefault(index, name) != name:
            yield f"'{first[index]}' and '{name}' are both the argument '{names.shown(index)}'"


def _of_several_containers(
    names: ArgumentNames, found: Mapping[str, int], whole: Mapping[str, Collection[int]]
) -> Iterator[str]:
    """Yield a message unless names are all whole, or all lack the same first part."""
    firsts: dict[str, str] = {}
    for name, index in found.items():
        firsts.setdefault("" if whole[name] else names.path(index)[0], name)
    if len(firsts) > 1:
        a, b, *_ = (f"'{name}' is the argument '{names.shown(found[name])}'" for name in firsts.values())
        yield f"{a}, but {b}: write whole names, or leave out the same first part of all"


def _unmatched(names: ArgumentNames, unknown: Sequence[str], missing: Sequence[int]) -> Iterator[str]:
    """Yield messages on names of no argument and on arguments without a weight, with those that are most similar."""
    given = ArgumentNames(("", name) for name in unknown)
    yield from _unknown(names, unknown, missing)
    unused = range(len(given))
    yield from _listed(
        missing, lambda i: f"no weight for '{names.shown(i)}'{_meant(given.nearest(names.shown(i), unused))}"
    )


def _unknown(names: ArgumentNames, unknown: Sequence[str], among: Sequence[int]) -> Iterator[str]:
    return _listed(unknown, lambda name: f"no argument '{name}'{_meant(names.nearest(name, among))}")


def _all_unmatched(names: ArgumentNames, unknown: Sequence[str]) -> Iterator[str]:
    of_calls = _of_calls(names)
    yield from _unmatched(names, unknown, [index for index in range(len(names)) if index not in of_calls])
    if not any(map(names.path, range(len(names)))):
        yield "arguments have no names in locations; an exporter's text has them if it is printed with debug info"
    elif _is_numbered(names, roots := _roots(names)):
        yield f"arguments in '{roots[0]}' have numbers: give the weights in the list that the exporter returned"


def _meant(name: str | None) -> str:
    return f"; did you mean '{name}'?" if name else ""


def _listed(items: Sequence[T], line: Callable[[T], str]) -> Iterator[str]:
    yield from map(line, items[:SHOWN])
    if len(items) > SHOWN:
        yield f"... and {len(items) - SHOWN} more"


def _numbered_container(names: ArgumentNames) -> str | None:
    """Return the container of arguments with numbers, `states` of `states[17]`; None if no argument is in a container.

    EvaluationError if arguments are in several, or have other names.
    """
    roots = _roots(names)
    if not roots or _is_numbered(names, roots):
        return next(iter(roots), None)
    shown = " and ".join(f"'{names.shown(names.containers[root][0])}'" for root in roots[:SHOWN])
    raise EvaluationError(
        f"weights in order need arguments with numbers, in one container; there are {shown}: give names"
    )


def _roots(names: ArgumentNames) -> list[str]:
    """Return the containers that weights may be in."""
    of_calls = _of_calls(names)
    return [root for root, found in names.containers.items() if of_calls.isdisjoint(found)]


def _is_numbered(names: ArgumentNames, roots: Sequence[str]) -> bool:
    return len(roots) == 1 and all(names.path(index)[1].isdecimal() for index in names.containers[roots[0]])


def _of_calls(names: ArgumentNames) -> set[int]:
    """Return the arguments that are inputs of a call, if there are others."""
    found = _in_containers_of_calls(names)
    return found if len(found) < len(names) else set()


def _in_containers_of_calls(names: ArgumentNames) -> set[int]:
    return {index for root in OF_CALLS & names.containers.keys() for index in names.containers[root]}


def _check(problems: Iterable[str]) -> None:
    """Raise EvaluationError that lists problems, if there are any."""
    if found := list(problems):
        raise EvaluationError("the weights do not fit the program", notes=found)


def _misshapen(parameters: Sequence[Parameter], found: Mapping[int, Any]) -> Iterator[str]:
    for index, value in found.items():
        expected, shape = parameters[index].type, getattr(value, "shape", None)
        if shape is not None and isinstance(expected, TensorType) and not fits(expected, shape):
            yield f"'{parameters[index].names[-1]}' is {expected}, the weight has the shape {tuple(shape)}"


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
