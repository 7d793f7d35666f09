"""Calls of public functions, checked against the annotations of their parameters."""

from __future__ import annotations

import inspect
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from stablehlo_ref.diagnostics import ArgumentTypeError

P = ParamSpec("P")
T = TypeVar("T")

_NUMBERS: dict[object, type] = {int: Integral, float: Real}
_MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")
_NOT_ONLY_INSTANCES = (bool, int, float, object)  # types that also other values may have
_hints = cache(get_type_hints)


def checks_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function raise ArgumentTypeError for calls that do not fit its parameters and their annotations.

    Elements of sequences, sets and mappings are compared too. A `str` is no sequence, an array is one. Keywords in
    `**named` may be anything.
    """
    signature = inspect.signature(function)
    hints = cache(lambda: get_type_hints(function))  # when all modules are imported
    any_number = {p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL}
    unchecked = {p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD}

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> T:
        try:
            given = signature.bind(*args, **named).arguments
        except TypeError as error:
            raise ArgumentTypeError(f"{function.__qualname__.removesuffix('.__init__')}: {error}") from None
        for name, value in given.items():
            hint = hints().get(name, Any)
            if name not in unchecked and not all(fits(v, hint) for v in (value if name in any_number else (value,))):
                raise ArgumentTypeError(f"{name} must be {_text(hint)}, got {shown(value)}")
        return function(*args, **named)

    return call


def check_fields(record: Any) -> None:
    """Raise ArgumentTypeError unless the fields of a dataclass have the types that they are declared with."""
    for name, hint in _hints(record.__class__).items():
        if not fits(value := getattr(record, name), hint):
            raise ArgumentTypeError(f"{name} must be {_text(hint)}, got {shown(value)}")


def fits(value: object, hint: Any) -> bool:
    """Return whether a value has the type of an annotation, as far as that is known without using up an iterator."""
    if hint is Any or (isinstance(hint, type) and hint not in _NOT_ONLY_INSTANCES):
        return hint is Any or isinstance(value, hint)
    origin, parts, kind = _parts(hint)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is tuple:
        return isinstance(value, tuple) and _all_fit(value, parts)
    if kind is Mapping:
        return isinstance(value, Mapping) and all(
            fits(key, parts[0]) and fits(element, parts[1]) for key, element in value.items()
        )
    if kind is Sequence and getattr(value, "ndim", False):
        return parts[0] is Any or all(fits(element, parts[0]) for element in cast(Iterable[object], value))
    if hint in (bool, int, float) and getattr(value, "ndim", None) == 0:  # a scalar of numpy, or an array of one
        value = cast(Any, value).item()
    expected = _NUMBERS.get(hint, origin or hint)
    if not inspect.isclass(expected) or expected is object:
        return hint is not None or value is None
    if isinstance(value, str | bytes) and parts and not issubclass(expected, str):
        return False
    if not isinstance(value, expected):
        return False
    if len(parts) != 1 or parts[0] is Any or not isinstance(value, Collection):
        return True
    return all(fits(element, parts[0]) for element in value)


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...], type | None]:
    """Return the origin and the parts of an annotation, and `Mapping` or `Sequence` if it is one of these."""
    origin = get_origin(hint)
    kinds = [kind for kind in (Mapping, Sequence) if inspect.isclass(origin) and issubclass(origin, kind)]
    return origin, get_args(hint), kinds[0] if kinds else None


def _all_fit(values: tuple[object, ...], parts: tuple[Any, ...]) -> bool:
    every = parts[:1] * len(values) if parts[1:] == (...,) else parts
    return len(values) == len(every) and all(map(fits, values, every))


def _text(hint: Any) -> str:
    """Return an annotation without the names of modules."""
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(map(_text, get_args(hint))).replace("NoneType", "None")
    return hint.__name__ if inspect.isclass(hint) and not get_args(hint) else _MODULES.sub("", str(hint))


def shown(value: object) -> str:
    """Return a value in a line: of an array its dtype and shape."""
    if getattr(value, "shape", ()):
        return f"an array of {getattr(value, 'dtype', 'unknown dtype')} with the shape {getattr(value, 'shape', ())}"
    return " ".join(reprlib.repr(value).split())
