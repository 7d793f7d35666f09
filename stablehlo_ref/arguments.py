"""Arguments as a run takes them, and results as it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.limits import check_type
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.ops.outside import as_value
from stablehlo_ref.signature import Function, Parameter
from stablehlo_ref.spec import without


def in_order(entry: Function, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """Arguments given by position and by name, in the order of the function's inputs. Tokens may be left out."""
    check_type("what a process is given", arrays, Sequence | np.ndarray, "a list of arrays, or a mapping by name")
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
    """Which input is called how: in the text, or else in its location."""
    by_location = {name: i for i, p in enumerate(entry.inputs) for name in p.names}
    return by_location | {p.name: i for i, p in enumerate(entry.inputs)}


def checked(parameter: Parameter, value: Any) -> Any:
    """An argument as `as_value` gives it; EvaluationError, which names the parameter, where it does not fit."""
    try:
        return as_value(parameter.type, value)
    except ValueError as error:
        raise EvaluationError(f"argument '{parameter.name}': {error}", parameter.location) from None
    except UnsupportedError as error:
        reason = error.diagnostics[0].message
        raise UnsupportedError(f"argument '{parameter.name}': {reason}", parameter.location) from None


def leaves(values: Sequence[Any]) -> list[Any]:
    """The arrays among values, and in tuples among them, and those that they are views of."""
    return [leaf for v in values for leaf in (leaves(v) if isinstance(v, tuple) else [v, root(v)])]


def root(array: Any) -> Any:
    """The array that an array is a view of in the end; an array of its own is its own root."""
    while isinstance(base := getattr(array, "base", None), np.ndarray):
        array = base
    return array


def owned_once(value: Any, kept: set[int], alike: dict[int, Any]) -> Any:
    """`owned`, but where several processes have one array for their result: they all get one, which is read-only."""
    if id(value) not in alike:
        alike[id(value)] = owned(value, kept)
    elif isinstance(result := alike[id(value)], np.ndarray):
        result.flags.writeable = False
    return alike[id(value)]


def owned(value: Any, kept: set[int]) -> Any:
    """A result as a C-contiguous array that neither an input nor a constant of the program shares."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(owned(v, kept) for v in value)
    array = np.asarray(value)
    whole = root(array)
    shared = not whole.flags.owndata or not whole.flags.writeable or id(whole) in kept or id(array) in kept
    kept.add(id(whole))
    return contiguous(array) if shared or not array.flags.c_contiguous else array
