"""Checked access to what a custom_call passes to its handler: configuration entries, computations and operands.

Configurations are not verified with the program, because only handlers know their entries. The functions here raise
EvaluationError at the call's location, with the name of the target, for missing and malformed entries.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from typing import TypeAlias

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ops.extensibility import OPEN_TARGETS, Computation, CustomCall, PureHandler, register_custom_call

Routine: TypeAlias = Callable[..., Sequence[Array]]  # from a CustomCall and the arrays of its operands

# Raised by numpy for operands whose shapes or element types do not fit together.
OPERAND_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def malformed(call: CustomCall, message: str) -> EvaluationError:
    """Return the error for a call that a handler cannot evaluate."""
    return EvaluationError(f"custom_call @{call.target}: {message}", call.location)


def register(target: str, routine: Routine, is_open: bool = False) -> None:
    """Register `routine` for custom_calls of `target`, with checked operands; `is_open` if results are not unique."""
    register_custom_call(target, checked(routine))
    if is_open:
        OPEN_TARGETS.add(target)


def checked(routine: Routine) -> Routine:
    """Return `routine` with located errors for operands and results that do not fit."""
    if isinstance(routine, PureHandler):
        return PureHandler(checked(routine.run))

    @wraps(routine)
    def handler(call: CustomCall, *operands: Array) -> Sequence[Array]:
        low, high = _operand_counts(routine)
        if not low <= len(operands) <= high:
            expected = str(low) if low == high else f"at least {low}" if high == np.inf else f"{low} to {high}"
            raise malformed(call, f"expected {expected} operands, got {len(operands)}")
        try:
            return routine(call, *operands)
        except StablehloError:
            raise
        except OPERAND_ERRORS as error:
            types = [", ".join(map(str, types)) for types in (call.operand_types, call.result_types)]
            raise malformed(call, f"unsupported types ({types[0]}) -> ({types[1]}): {error}") from error

    return handler


@cache  # and called with the first call, as there are many routines
def _operand_counts(routine: Routine) -> tuple[int, float]:
    """Return the smallest and the largest number of operands that a routine takes after the call."""
    parameters = list(inspect.signature(routine).parameters.values())[1:]
    positional = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    required = [p for p in positional if p.default is p.empty]
    return len(required), len(positional) if positional == parameters else np.inf


def check_shapes(call: CustomCall, dimensions: str, operands: Sequence[Array]) -> None:
    """Check the dimensions of operands after a common batch: `"mn n"` is a matrix and a vector of its row size.

    Operands without a word, or with `-`, are not checked.
    """
    sizes: dict[str, int] = {}
    batch: tuple[int, ...] | None = None
    for index, (names, operand) in enumerate(zip(dimensions.split(), operands)):
        if names == "-":
            continue
        rank, what = np.ndim(operand) - len(names), f"operand #{index} of type {call.operand_types[index]}"
        if rank < 0:
            raise malformed(call, f"{what} must have at least {len(names)} dimensions")
        if operand.shape[:rank] != (operand.shape[:rank] if batch is None else batch):
            raise malformed(call, f"{what} must have the batch dimensions {list(batch or ())} of operand #0")
        batch = operand.shape[:rank]
        for name, size in zip(names, operand.shape[rank:]):
            if sizes.setdefault(name, size) != size:
                raise malformed(call, f"{what} must have size {sizes[name]} instead of {size}")


# --- configuration --------------------------------------------------------------------------------------------------


def configuration(call: CustomCall) -> Mapping[str, object]:
    """Return the entries of `mhlo.backend_config`, none if the call has no configuration."""
    if type(call.backend_config) is dict:  # quicker than to ask for any mapping
        return call.backend_config
    if call.backend_config in ("", None):
        return {}
    if not isinstance(call.backend_config, Mapping):
        raise malformed(call, f"expected a dictionary as backend_config, got {call.backend_config!r}")
    return call.backend_config


def with_entries(call: CustomCall, entries: Mapping[str, object]) -> CustomCall:
    """Return the call with another configuration."""
    return replace(call, backend_config=entries)


def integer(call: CustomCall, name: str, low: int, high: int, default: int | None = None) -> int:
    """Return an integer entry, `low <= entry <= high`."""
    value = _entry(call, name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise malformed(call, f"expected {name!r} to be an integer from {low} to {high}, got {value!r}")
    return value


def boolean(call: CustomCall, name: str, default: bool | None = None) -> bool:
    """Return a boolean entry; JAX also writes 0 and 1."""
    value = _entry(call, name, default)
    if not isinstance(value, int) or value not in (0, 1):
        raise malformed(call, f"expected {name!r} to be a boolean, got {value!r}")
    return bool(value)


def letter(call: CustomCall, name: str, allowed: str) -> str:
    """Return an entry that is the ASCII code of one of the letters in `allowed`."""
    value = _entry(call, name, None)
    if not isinstance(value, int) or isinstance(value, bool) or value not in [*allowed.encode()]:
        expected = ", ".join(f"{ord(c)} ({c})" for c in allowed)
        raise malformed(call, f"expected {name!r} to be one of {expected}, got {value!r}")
    return chr(value)


def _entry(call: CustomCall, name: str, default: object) -> object:
    """Return an entry of the configuration, or its default."""
    value = configuration(call).get(name, default)
    if value is None:
        raise malformed(call, f"missing configuration entry {name!r}")
    return value


def computation(call: CustomCall) -> Computation:
    """Return the only called computation."""
    if len(call.computations) != 1:
        raise malformed(call, f"expected one called computation, got {len(call.computations)}")
    return call.computations[0]


def scalar(call: CustomCall, name: str, value: Array) -> int:
    """Return an operand that is an integer scalar."""
    if np.ndim(value) or np.asarray(value).dtype.kind not in "iu":
        raise malformed(call, f"expected operand {name!r} to be an integer scalar, got {np.asarray(value).dtype}"
                        f" of shape {list(np.shape(value))}")  # fmt: skip
    return int(value)
