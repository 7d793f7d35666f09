"""Where do NaN and infinities come from, and do they reach an output? Overflow, underflow and cancellation too.

>>> print(sr.debug.exceptions(program, x, y))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.cut import Flat, operands_of, subprogram
from stablehlo_ref.debug.evaluate import MAX_BYTES, backend_values
from stablehlo_ref.debug.exceptions.findings import (
    GENERATIONS,
    BackwardSlice,
    Effect,
    Event,
    ExceptionKind,
    Exceptions,
    Finding,
    OnlyInBackend,
    Reach,
)
from stablehlo_ref.debug.exceptions.taint import element_at, first_index, has_exceptions, masks
from stablehlo_ref.debug.exceptions.watch import ExceptionWatcher
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.traces.record import Place, place_of
from stablehlo_ref.define.processes import GRID_SIZES
from stablehlo_ref.diagnostics import ArgumentTypeError, EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.program import Program

__all__ = [
    "GENERATIONS",
    "Effect",
    "Event",
    "ExceptionWatcher",
    "Exceptions",
    "Finding",
    "ExceptionKind",
    "OnlyInBackend",
    "Place",
    "Reach",
    "BackwardSlice",
    "backend_exceptions",
    "exceptions",
    "exceptions_parallel",
    "kinds_of",
    "only_in_backend",
]
GROUPS = {"inf": (ExceptionKind.OVERFLOW, ExceptionKind.DIVISION), "all": GENERATIONS}


@checks_arguments
def exceptions(
    program: Program,
    /,
    *inputs: Any,
    kinds: str | Iterable[ExceptionKind | str] = GENERATIONS,
    threshold: int | None = None,
    first: bool = False,
    **named: Any,
) -> Exceptions:
    """Run a program on inputs, in order or by name, and return where exceptional values come from.

    `kinds` are the generations to look for, names or members of `ExceptionKind`: nan, overflow, division-by-zero (inf
    is both), underflow, cancellation; all by default. A cancellation loses at least `threshold` bits, by default half
    of those of the type. With `first`, the first generation is an EvaluationError at its op. Options of `Program.run`
    are keywords too, except `observer` and `until`. Raises the run's errors, and EvaluationError for an unknown kind.
    """
    watcher = _watcher(program, kinds, threshold, first, named)
    return watcher.found([program.run(*inputs, observer=watcher, **named)])


@checks_arguments
def exceptions_parallel(
    program: Program,
    inputs_per_process: Sequence[Any],
    *,
    kinds: str | Iterable[ExceptionKind | str] = GENERATIONS,
    threshold: int | None = None,
    first: bool = False,
    **options: Any,
) -> Exceptions:
    """Run a program in a grid of processes as `Program.run_parallel` does, and return what `exceptions` returns."""
    sizes = map(options.get, GRID_SIZES)
    program = program.on_shards(program.grid(len(inputs_per_process), *sizes))
    watcher = _watcher(program, kinds, threshold, first, options)
    return watcher.found(program.run_parallel(inputs_per_process, observer=watcher, **options))


def _watcher(
    program: Program, names: str | Iterable[str], threshold: int | None, first: bool, options: Mapping[str, Any]
) -> ExceptionWatcher:
    """Return the observer of a run; ArgumentTypeError for an option of a run that cannot be given."""
    for name in ("observer", "until"):
        if name in options:
            raise ArgumentTypeError(f"expected no option {name!r}: the run is observed until its end")
    kinds = kinds_of(names)
    return ExceptionWatcher(program, kinds, threshold, kinds if first else ())


@checks_arguments
def kinds_of(names: str | Iterable[ExceptionKind | str]) -> tuple[ExceptionKind, ...]:
    """Return the kinds of generations of names, `nan,inf` or a list; EvaluationError for an unknown name."""
    known = {str(kind): (kind,) for kind in GENERATIONS} | GROUPS
    found: list[ExceptionKind] = []
    for name in (str(given).strip() for given in (names.split(",") if isinstance(names, str) else names)):
        if name not in known:
            raise EvaluationError(f"unknown kind of exception {name!r}; there are {', '.join(known)}")
        found += known[name]
    return tuple(dict.fromkeys(found))


@checks_arguments
def backend_exceptions(
    program: Program, inputs: Sequence[Any], backend: str | Session, *, max_bytes: int = MAX_BYTES
) -> list[OnlyInBackend]:
    """Return the values of a program that have NaN or infinities only in a backend, in the order of the program.

    The backend returns at most `max_bytes` of intermediate values in one compilation. Raises the interpreter's errors,
    and EvaluationError if the backend fails.
    """
    if not isinstance(backend, Session):
        with Session(backend) as session:
            return backend_exceptions(program, inputs, session, max_bytes=max_bytes)
    flat, arrays = Flat(program), to_arrays(inputs)
    values = backend_values(flat, arrays, backend, max_bytes)
    if values.failure is not None:
        raise EvaluationError(f"the backend failed: {values.failure}", program.entry.location)
    return only_in_backend(flat, arrays, values.arrays)


def only_in_backend(flat: Flat, inputs: Sequence[Array], arrays: Mapping[Value, Array]) -> list[OnlyInBackend]:
    """Return where the backend's values of a flat program, `arrays`, are exceptional and ours are not.

    The program is run again, and only if the backend has exceptional values at all.
    """
    results = (result for op in flat.ops for result in op.results if result in arrays)
    suspects = {result: arrays[result] for result in results if has_exceptions(arrays[result])}
    ours = subprogram(flat, flat.ops, [*suspects], flat.arguments).program.run(*inputs) if suspects else ()
    found: dict[Value, OnlyInBackend] = {}
    for (value, theirs), expected in zip(suspects.items(), ours):
        other = masks(theirs)
        where = other.any & ~masks(expected).any if np.shape(theirs) == np.shape(expected) else np.zeros((), bool)
        if where.any():
            index, op = first_index(where), value.owner
            is_generated = isinstance(op, Operation) and not any(operand in found for operand in operands_of(op))
            found[value] = OnlyInBackend(
                place_of(flat.program.value_index, value), "nan" if other.nan[index] else "inf",
                int(np.count_nonzero(where)), where.size, index, element_at(theirs, index), element_at(expected, index),
                is_generated,
            )  # fmt: skip
    return list(found.values())
