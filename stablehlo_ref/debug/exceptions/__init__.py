"""Where do NaN and infinities come from, and do they reach an output? Overflow, underflow and cancellation too.

>>> print(sr.debug.exceptions(program, x, y))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.exceptions.backend import backend_exceptions, only_in_backend
from stablehlo_ref.debug.exceptions.findings import (
    GENERATIONS,
    Effect,
    Event,
    Exceptions,
    Finding,
    Kind,
    OnlyInBackend,
    Place,
    Reach,
    Slice,
)
from stablehlo_ref.debug.exceptions.watch import ExceptionWatcher
from stablehlo_ref.diagnostics import ArgumentTypeError, EvaluationError
from stablehlo_ref.program import Program

__all__ = [
    "GENERATIONS",
    "Effect",
    "Event",
    "ExceptionWatcher",
    "Exceptions",
    "Finding",
    "Kind",
    "OnlyInBackend",
    "Place",
    "Reach",
    "Slice",
    "backend_exceptions",
    "exceptions",
    "exceptions_parallel",
    "kinds_of",
    "only_in_backend",
]

GROUPS = {"inf": (Kind.OVERFLOW, Kind.DIVISION), "all": GENERATIONS}


@checks_arguments
def exceptions(
    program: Program,
    /,
    *inputs: Any,
    kinds: str | Iterable[Kind | str] = GENERATIONS,
    threshold: int | None = None,
    **named: Any,
) -> Exceptions:
    """Run a program on inputs, in order or by name, and return where exceptional values come from.

    `kinds` are the generations to look for, names or members of `Kind`: nan, overflow, division-by-zero (inf is both),
    underflow, cancellation; all by default. A cancellation loses at least `threshold` bits, by default half of those of
    the type. Options of `Program.run` are keywords too, except `observer` and `until`. Raises the run's errors, and
    EvaluationError for an unknown kind.
    """
    _check_options(named)
    watcher = ExceptionWatcher(program, kinds_of(kinds), threshold)
    return watcher.found([program.run(*inputs, observer=watcher, **named)])


@checks_arguments
def exceptions_parallel(
    program: Program,
    inputs_per_process: Sequence[Any],
    *,
    kinds: str | Iterable[Kind | str] = GENERATIONS,
    threshold: int | None = None,
    **options: Any,
) -> Exceptions:
    """Run a program in a grid of processes as `Program.run_parallel` does, and return what `exceptions` returns."""
    _check_options(options)
    watcher = ExceptionWatcher(program, kinds_of(kinds), threshold)
    return watcher.found(program.run_parallel(inputs_per_process, observer=watcher, **options))


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise ArgumentTypeError for an option of a run that cannot be given."""
    for name in ("observer", "until"):
        if name in options:
            raise ArgumentTypeError(f"expected no option {name!r}: the run is observed until its end")


@checks_arguments
def kinds_of(names: str | Iterable[Kind | str]) -> tuple[Kind, ...]:
    """Return the kinds of generations of names, `nan,inf` or a list; EvaluationError for an unknown name."""
    found: list[Kind] = []
    for name in names.split(",") if isinstance(names, str) else names:
        group = GROUPS.get(str(name).strip())
        known = {str(kind): (kind,) for kind in GENERATIONS}
        if group is None and str(name).strip() not in known:
            raise EvaluationError(f"unknown kind of exception {str(name)!r}; there are {', '.join([*known, *GROUPS])}")
        found += group or known[str(name).strip()]
    return tuple(dict.fromkeys(found))
