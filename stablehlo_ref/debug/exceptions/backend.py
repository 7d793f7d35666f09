"""NaN and infinities that only a backend has: where its value of an op is exceptional and the interpreter's is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.cut import Flat, operands_of
from stablehlo_ref.debug.exceptions.elements import element_at, first_index, has_exceptions, masks
from stablehlo_ref.debug.exceptions.findings import OnlyInBackend
from stablehlo_ref.debug.exceptions.slices import place_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.values import backend_values
from stablehlo_ref.define.context import Observer
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.program import Program

MAX_BYTES = 1 << 30  # of intermediate values that one program of a backend returns


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

    The program is run again only if the backend has exceptional values at all; values are compared as they come.
    """
    suspects = {value: x for value, x in arrays.items() if value not in flat.arguments and has_exceptions(x)}
    if not suspects:
        return []
    comparison = _Comparison(flat, suspects)
    flat.program.run(*inputs, observer=comparison)
    return comparison.found


class _Comparison(Observer):
    """Compares the results of ops with those of a backend."""

    sees_every_op = True

    def __init__(self, flat: Flat, arrays: Mapping[Value, Array]) -> None:
        self.found: list[OnlyInBackend] = []
        self._flat = flat
        self._arrays = arrays
        self._differ: set[Value] = set()

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        for value, ours in zip(op.results, results):
            theirs = self._arrays.get(value)
            if theirs is not None and np.shape(theirs) == np.shape(ours):
                self._compare(op, value, theirs, ours)

    def _compare(self, op: Operation, value: Value, theirs: Array, ours: Any) -> None:
        other = masks(theirs)
        where = other.any & ~masks(ours).any
        if not where.any():
            return
        index = first_index(where)
        kind = "nan" if other.nan[index] else "inf"
        is_generated = not any(operand in self._differ for operand in operands_of(op))
        self._differ.add(value)
        place = place_of(self._flat.program.value_index, value)
        shown = element_at(theirs, index), element_at(ours, index)
        count = int(np.count_nonzero(where))
        self.found.append(OnlyInBackend(place, kind, count, where.size, index, *shown, is_generated))
