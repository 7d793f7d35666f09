"""The arguments that a run accepts, and the results that it returns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.host_values import as_value
from stablehlo_ref.define.context import RunOptions
from stablehlo_ref.define.spec import without
from stablehlo_ref.diagnostics import (
    Diagnostic,
    EvaluationError,
    UnsupportedError,
)
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.ir.arrays import Array, DType, RuntimeValue
from stablehlo_ref.ir.core import Operation, symbol_name
from stablehlo_ref.ir.signature import Function, Parameter, listed
from stablehlo_ref.ir.types import BufferType, TensorType, TokenType, Type
from stablehlo_ref.limits import check_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.suggestions import closest

# --- arguments ------------------------------------------------------------------------------------------------------


def array_dtype(type: Type) -> DType | None:
    """Return the dtype of arrays of a type; None for tokens, tuples, and element types without arrays."""
    element = type.element_type if isinstance(type, TensorType | BufferType) else type
    try:
        return numpy_dtype(element)
    except UnsupportedError:
        return None


def as_expected(entry: Function, arrays: Sequence[Any]) -> list[Any] | None:
    """Return arrays as the values that slots hold; None unless all are arrays of the types of the function's inputs."""
    expected = entry.arrays
    if expected is None or not isinstance(arrays, list | tuple) or len(arrays) != len(expected):
        return None
    arguments: list[Any] = []
    for array, (dtype, shape) in zip(arrays, expected):
        if type(array) is np.ndarray:
            if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype) or not array.flags.aligned:
                return None
            arguments.append(array if shape else array[()])
        elif shape == () and isinstance(array, np.generic) and array.dtype == dtype:
            arguments.append(array)
        else:
            return None
    return arguments


def without_mapping(arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return inputs by position and by name; a mapping that is the only one by position has inputs by name."""
    return ((), {**arrays[0], **named}) if len(arrays) == 1 and isinstance(arrays[0], Mapping) else (arrays, named)


def arguments_in_order(
    entry: Function, arrays: Sequence[Any], named: Mapping[str, Any], module: Operation
) -> list[Any]:
    """Return the arguments that are given by position and by name, in the order of the function's inputs.

    Tokens may be omitted. Raises EvaluationError for an unknown name, and unless there is one value for each input.
    """
    check_type("the inputs of a process", arrays, Sequence | np.ndarray, "a list of arrays, or a mapping by name")
    tokens = [i for i, p in enumerate(entry.inputs) if isinstance(p.type, TokenType)]
    every = range(max(len(entry.inputs), len(arrays)))
    without_tokens = without(range(len(entry.inputs)), tokens)
    given = dict(zip(without_tokens if len(arrays) <= len(without_tokens) else every, arrays))
    names: dict[int, str] = {}
    for name, value in named.items():
        check_type("the name of an input", name, str, "a string")
        found = entry.argument_names.meant(name)
        if len(found) != 1:
            reason = f"@{entry.name} has no argument {name!r}; it has {listed(entry.inputs)}{_meant(name, entry)}"
            raise EvaluationError(reason, entry.location, _unused_in_jax(entry, module))
        (position,) = found
        if position in given:
            also = f", also as {names[position]!r}" if position in names else ""
            reason = f"argument {name!r} of @{entry.name} is given twice{also}"
            raise EvaluationError(reason, entry.inputs[position].location)
        given[position], names[position] = value, name
    given = dict.fromkeys(tokens) | given
    if given.keys() != set(range(len(entry.inputs))):
        raise _wrong_count(entry, given, module)
    return [given[i] for i in range(len(entry.inputs))]


def _wrong_count(entry: Function, given: Collection[int], module: Operation) -> EvaluationError:
    """Return the error that arguments are missing, or that there are too many."""
    missing = [p for i, p in enumerate(entry.inputs) if i not in given]
    arguments = f"{len(entry.inputs)} argument{'s' if len(entry.inputs) != 1 else ''}"
    count = f"takes {arguments}, but {len(given)} {'is' if len(given) == 1 else 'are'} given"
    which = f" (missing: {listed(missing)})" if missing else ""
    notes = [f"its arguments are {listed(entry.inputs)}"] if len(missing) < len(entry.inputs) else []
    notes += [_OPTION.format(p.name) for p in missing if p.name in RunOptions.__annotations__]
    place = missing[0].location if missing else entry.location
    return EvaluationError(
        f"@{entry.name} {count}{which}", place, [*notes, *(_unused_in_jax(entry, module) if given else ())]
    )


_OPTION = "{0!r} is also the name of an option: pass such inputs in a mapping, run({{{0!r}: ...}})"
_JAX_NAME = re.compile(r"args\[(\d+)\]")


def _meant(name: str, entry: Function) -> str:
    """Return a suggestion of similar inputs, or of an option."""
    if hint := entry.argument_names.hint(name):
        return hint
    option = closest(name, RunOptions.__annotations__)
    return f"; did you mean the option {option!r}?" if option else ""


def _unused_in_jax(entry: Function, module: Operation) -> list[str]:
    """Return a note on the arguments that JAX has left out, if the program looks like one of its exports."""
    name = symbol_name(module) or ""
    numbers = [int(m[1]) for p in entry.inputs for n in p.names if (m := _JAX_NAME.match(n))]
    has_gap = sorted(set(numbers)) != list(range(len(set(numbers))))
    if not (name.startswith(("jit_", "pmap_")) or has_gap):
        return []
    return ["JAX leaves out arguments that the function does not use; jax.jit(f, keep_unused=True) keeps them"]


def check_numbered_arguments(
    parameters: Sequence[Parameter], values: Mapping[int, object], origin: str | None = None
) -> dict[int, RuntimeValue]:
    """Return arguments by number as `check_argument` does; EvaluationError with the errors of all."""
    found: dict[int, RuntimeValue] = {}
    errors: list[Diagnostic] = []
    for number, value in values.items():
        try:
            found[number] = check_argument(parameters[number], value, origin=origin)
        except EvaluationError as error:
            errors += error.diagnostics
    if errors:
        raise EvaluationError(errors)
    return found


def check_argument(
    parameter: Parameter, value: object, named: Collection[str] = (), origin: str | None = None
) -> RuntimeValue:
    """Return an argument as the value that a slot holds.

    In errors it has the name in `named` if one of its names is there, as the caller uses it; `origin` is the file that
    it is from. Raises EvaluationError for a value of another type, and UnsupportedError if no value of the type can be
    passed.
    """
    called = next((name for name in parameter.names if name in named), parameter.name)
    others = ", ".join(name for name in parameter.names if name != called)
    notes = [f"its other names: {others}"] if others else []
    notes += [f"its value is from {origin}"] if origin else []
    try:
        return as_value(parameter.type, value)
    except ValueError as error:
        raise EvaluationError(f"argument '{called}': {error}", parameter.location, notes) from None
    except UnsupportedError as error:
        reason = error.diagnostics[0].message
        raise UnsupportedError(f"argument '{called}': {reason}", parameter.location, notes) from None


# --- results --------------------------------------------------------------------------------------------------------


def take_results(values: list[Any]) -> tuple[RuntimeValue, ...]:
    """Return results as C-contiguous arrays whose memory nothing else refers to. Empties the list.

    Values that an input, a constant, a cache, an observer or another result refers to are copied.
    """
    return tuple([_take(values, index) for index in range(len(values))])


def take_results_of_processes(results: Sequence[list[Any]]) -> list[tuple[RuntimeValue, ...]]:
    """Return the results of each process as `take_results` does. Empties the lists.

    Where several results are one array, it is copied at most once, and all of them become one read-only array.
    """
    for places in _places_by_value(results):
        (process, index), *others = places
        for p, i in others:
            results[p][i] = None
        result = _take(results[process], index)
        if others and isinstance(result, np.ndarray):
            result.flags.writeable = False
        for p, i in places:
            results[p][i] = result
    return [tuple(of_process) for of_process in results]


def _places_by_value(results: Sequence[Sequence[object]]) -> list[list[tuple[int, int]]]:
    """Return a list of all (process, index) of each distinct object among results."""
    places: dict[int, list[tuple[int, int]]] = {}
    for process, of_process in enumerate(results):
        for index, value in enumerate(of_process):
            places.setdefault(id(value), []).append((process, index))
    return list(places.values())


def bytes_to_copy(values: list[Any]) -> int:
    """Return the bytes of those arrays among results that `take_results` copies."""
    count = 0
    for index in range(len(values)):  # without a variable for the value, which would count as a reference to it
        if isinstance(values[index], np.ndarray):
            count += 0 if _is_own(values, index) else values[index].nbytes
        elif isinstance(values[index], tuple):
            count += bytes_to_copy(list(values[index]))
    return count


def _is_own(values: list[Any], index: int) -> bool:
    """Return whether `values[index]` is a contiguous array whose memory nothing else refers to."""
    is_array = isinstance(values[index], np.ndarray) and values[index].flags.c_contiguous
    return is_array and (is_exclusively_owned(values, index) or is_exclusive_view(values, index))


def _take(values: list[Any], index: int) -> RuntimeValue:
    """Remove `values[index]` from the list and return it, or a copy."""
    is_own = _is_own(values, index)
    value, values[index] = values[index], None
    if value is None:
        return None
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, tuple):
        elements = list(value)
        del value  # so that its elements are counted once if nothing else refers to the tuple
        return take_results(elements)
    array: Array = np.asarray(value)
    return array if is_own else contiguous(array)
