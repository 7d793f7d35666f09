"""The values that a backend computes inside a program: prefix cuts, within a memory budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log2, prod

import numpy as np

from stablehlo_ref.debug.cut import Flat, Segment, is_literal, is_observable, segment
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype


@dataclass
class Values:
    """The values by SSA value, and how the runs that returned them went."""

    arrays: dict[Value, Array] = field(default_factory=dict)
    failure: Outcome | None = None
    seen: int = 0  # ops whose values were asked for
    parts: list[Segment] = field(default_factory=list)  # the programs that returned them


def backend_values(flat: Flat, inputs: Sequence[Array], session: Session, max_bytes: int) -> Values:
    """Return the backend's values of all ops, asked for in as few programs as `max_bytes` of outputs allow.

    Each program starts where the one before ended, fed with what the backend returned there. At most as many programs
    are run as a bisection would need; `failure` says so if that is not all ops.
    """
    found = Values(dict(zip(flat.arguments, inputs)))
    ranges, most = parts(flat, max_bytes), most_compilations(flat) - 5
    for start, end in ranges[:most]:
        inner = [r for op in flat.ops[start:end] for r in op.results if is_observable(r) and not is_literal(r)]
        wanted = list(dict.fromkeys([*(v for v in flat.live_at(end) if v in set(inner)), *inner]))
        if not wanted:
            found.seen = end
            continue
        made = segment(flat, flat.ops[start:end], wanted)
        if any(value not in found.arrays for value in made.feeds):
            found.failure = Outcome((), "stopped", "a value at a cut is not a static tensor")
            return found
        outcome = run_segment(session, made, found.arrays)
        if outcome.failure:
            found.failure = outcome
            return found
        found.arrays.update(zip(wanted, outcome.results))
        found.parts.append(made)
        found.seen = end
    if len(ranges) > most:
        reason = f"{found.seen} of {len(flat.ops)} ops were compared, in {most} programs; more need a larger max_bytes"
        found.failure = Outcome((), "stopped", reason)
    return found


def most_compilations(flat: Flat) -> int:
    """Return how many programs a search may compile: two bisections of all ops, also those of regions, and 5."""
    ops = sum(1 for op in flat.ops for _ in op.walk())
    return 2 * ceil(log2(max(ops, 2))) + 5


def run_again(found: Values, session: Session, op: Operation | None = None) -> dict[Value, Array]:
    """Return the values that a second run of the programs returns; of those with the results of an op, if one is given.

    Programs are not compiled again. Values are missing where a run fails.
    """
    again: dict[Value, Array] = {}
    for made in found.parts:
        if op is None or set(op.results) & set(made.wanted):
            outcome = run_segment(session, made, found.arrays)
            again.update(zip(made.wanted, outcome.results))
    return again


def run_segment(session: Session, made: Segment, arrays: dict[Value, Array]) -> Outcome:
    """Run a segment on values; the types and shapes of the results are checked."""
    outcome = session.run(made.text, [arrays[value] for value in made.feeds])
    return outcome if outcome.failure else checked(outcome, [value.type for value in made.wanted])


def checked(outcome: Outcome, types: Sequence[object]) -> Outcome:
    """Return an outcome, a failure if the results are not arrays of these types."""
    if len(outcome.results) != len(types):
        return Outcome((), "wrong results", f"expected {len(types)} results, got {len(outcome.results)}")
    for index, (array, type) in enumerate(zip(outcome.results, types)):
        if not isinstance(type, TensorType):
            continue
        expected = numpy_dtype(type.element_type)
        fits = len(array.shape) == len(type.shape) and all(n in (m, None) for m, n in zip(array.shape, type.shape))
        if array.dtype != expected or not fits:
            reason = f"result {index} is {array.dtype}{list(array.shape)}, expected {type}"
            return Outcome((), "wrong results", reason)
    return outcome


def parts(flat: Flat, max_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of ops whose results are at most `max_bytes`, one op at least."""
    found, start, total = [], 0, 0
    for index, op in enumerate(flat.ops):
        size = sum(size_of(result) for result in op.results)
        if index > start and total + size > max_bytes:
            found.append((start, index))
            start, total = index, 0
        total += size
    return [*found, (start, len(flat.ops))]


def size_of(value: Value) -> int:
    """Return the bytes of a value; 0 for what cannot be observed."""
    if not is_observable(value) or is_literal(value):
        return 0
    assert isinstance(value.type, TensorType)
    return prod(n or 0 for n in value.type.shape) * np.dtype(numpy_dtype(value.type.element_type)).itemsize


def all_values(flat: Flat, inputs: Sequence[Array]) -> dict[Value, Array]:
    """Return the values of all ops that are static tensors, as the interpreter computes them."""
    wanted = [result for op in flat.ops for result in op.results if is_observable(result)]
    made = segment(flat, flat.ops, wanted, flat.arguments)
    return dict(zip((*flat.arguments, *wanted), (*inputs, *made.program.run(*inputs))))
