"""The arguments that a run accepts, and the results that it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define.spec import without
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Function, Parameter
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.limits import check_type
from stablehlo_ref.numerics.host_values import as_value
from stablehlo_ref.numerics.layout import contiguous

# --- arguments ------------------------------------------------------------------------------------------------------


def arguments_in_order(entry: Function, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Return the arguments that are given by position and by name, in the order of the function's inputs.

    Tokens may be omitted. Raises EvaluationError for an unknown name, and unless there is one value for each input.
    """
    check_type("the inputs of a process", arrays, Sequence | np.ndarray, "a list of arrays, or a mapping by name")
    tokens = [i for i, p in enumerate(entry.inputs) if isinstance(p.type, TokenType)]
    every = range(max(len(entry.inputs), len(arrays)))
    without_tokens = without(range(len(entry.inputs)), tokens)
    given = dict(zip(without_tokens if len(arrays) <= len(without_tokens) else every, arrays))
    positions = _positions(entry) if named else {}
    for name, value in named.items():
        position = positions.get(name)
        if position is None:
            known = ", ".join(p.name for p in entry.inputs) or "none"
            raise EvaluationError(f"@{entry.name} has no argument {name!r}; it has {known}", entry.location)
        if position in given:
            raise EvaluationError(f"argument {name!r} of @{entry.name} is given twice", entry.location)
        given[position] = value
    given = dict.fromkeys(tokens) | given
    missing = [p.name for i, p in enumerate(entry.inputs) if i not in given]
    if missing or len(given) != len(entry.inputs):
        count = f"takes {len(entry.inputs)} arguments, but {len(given)} are given"
        which = f" (missing: {', '.join(missing)})" if missing else ""
        raise EvaluationError(f"@{entry.name} {count}{which}", entry.location)
    return [given[i] for i in range(len(entry.inputs))]


def _positions(entry: Function) -> dict[str, int]:
    """Return the number of each input by its names; the name in the text takes precedence over that of a location."""
    by_location = {name: i for i, p in enumerate(entry.inputs) for name in p.names}
    return by_location | {p.name: i for i, p in enumerate(entry.inputs)}


def check_argument(parameter: Parameter, value: object) -> RuntimeValue:
    """Return an argument as the value that a slot holds.

    Raises EvaluationError for a value of another type, and UnsupportedError if no value of the type can be passed.
    """
    try:
        return as_value(parameter.type, value)
    except ValueError as error:
        raise EvaluationError(f"argument '{parameter.name}': {error}", parameter.location) from None
    except UnsupportedError as error:
        reason = error.diagnostics[0].message
        raise UnsupportedError(f"argument '{parameter.name}': {reason}", parameter.location) from None


# --- results --------------------------------------------------------------------------------------------------------


def take_results(values: list[Any]) -> tuple[RuntimeValue, ...]:
    """Return results as C-contiguous arrays whose memory nothing else refers to. Empties the list.

    Values that an input, a constant, a cache, an observer or another result refers to are copied.
    """
    return tuple(_take(values, index) for index in range(len(values)))


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
        if isinstance(values[index], tuple):
            count += bytes_to_copy(list(values[index]))
        elif isinstance(values[index], np.ndarray) and not _is_own(values, index):
            count += values[index].nbytes
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
    if isinstance(value, tuple):
        elements = list(value)
        del value  # so that its elements are counted once if nothing else refers to the tuple
        return take_results(elements)
    array: Array = np.asarray(value)
    return array if is_own else contiguous(array)
