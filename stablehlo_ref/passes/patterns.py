"""Patterns that replace one op at a time, applied until none matches.

A pattern is a function of an `Emitter` and an op. It emits what replaces the op and returns it, or None where it does
not apply. Each must make a program simpler by some measure, so that they come to an end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.definition import is_constant_like, traits_of
from stablehlo_ref.define.spec import is_per_axis_quantized, is_quantized
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.passes.analysis import is_pure, known_array, operation_key
from stablehlo_ref.passes.emit import Emitter

Pattern: TypeAlias = Callable[[Emitter, Operation], Sequence[Value] | Value | None]


class Patterns:
    """Patterns by the names of the ops that they replace."""

    def __init__(self) -> None:
        self.by_op: dict[str, list[Pattern]] = defaultdict(list)

    def on(self, *names: str) -> Callable[[Pattern], Pattern]:
        """Add a pattern for ops, of StableHLO if the name has no dialect; `*` stands for all ops, after the others."""

        def add(pattern: Pattern) -> Pattern:
            for name in names:
                self.by_op[name if "." in name or name == "*" else f"stablehlo.{name}"].append(pattern)
            return pattern

        return add

    def of(self, op: Operation) -> Iterator[Pattern]:
        """Yield the patterns to try on an op."""
        yield from self.by_op.get(op.name, ())
        yield from self.by_op.get("*", ())


def rewrite(module: Operation, *tables: Patterns) -> None:
    """Apply patterns, and erase pure ops that nothing uses, until nothing changes; then merge constants.

    Values of other types than the results of an op do not replace them; results that a pattern returns stay. The
    discardable attributes of an op without regions move to the op whose result replaces its own.
    """
    with Rewriter(module) as rewriter:
        _Worklist(rewriter, module.walk()).run(tables)
    hoist_all_constants(module)


class _Worklist:
    """The ops that are to be visited, those of the program from top to bottom, each again when its uses change."""

    def __init__(self, rewriter: Rewriter, operations: Iterable[Operation]) -> None:
        self.rewriter = rewriter
        self.pending = list(operations)[::-1]
        self.queued = set(self.pending)

    def add(self, operations: Iterable[Operation]) -> None:
        """Visit ops before all others."""
        for op in operations:
            if op not in self.queued:
                self.queued.add(op)
                self.pending.append(op)

    def add_owners(self, values: Iterable[Value]) -> None:
        """Visit the ops that define values."""
        self.add(value.producer for value in values if value.producer)

    def run(self, tables: Sequence[Patterns]) -> None:
        """Visit ops until none is left."""
        while self.pending:
            op = self.pending.pop()
            self.queued.discard(op)
            check_time("transforming the program", location=op.location)
            if self._is_gone(op):
                continue
            if not self.rewriter.is_used(op) and is_pure(op):
                self._forget(op)
                self.rewriter.erase(op)
            else:
                any(self._apply(pattern, op) for table in tables for pattern in table.of(op))

    def _is_gone(self, op: Operation | None) -> bool:
        while op is not None:
            if self.rewriter.is_erased(op):
                return True
            op = op.parent_op
        return False

    def _forget(self, op: Operation) -> None:
        """Visit the ops that define what an op, which is going to be erased, uses."""
        self.add_owners(operand for inner in op.walk() for operand in inner.operands)

    def _apply(self, pattern: Pattern, op: Operation) -> bool:
        emit = Emitter(self.rewriter, op)
        found = pattern(emit, op)
        self.add(inner for made in emit.made for inner in made.walk())
        values = [found] if isinstance(found, Value) else found
        if values is None or [value.type for value in values] != op.result_types:
            return False
        for result, value in zip(op.results, values):
            users = [user for user, _ in self.rewriter.uses(result)]
            self.add(x for user in users for x in (user.parent_op, user) if x)
            if value.producer not in (op, None):
                _move_attributes(op, value.producer, value.producer in emit.made)
        self._forget(op)
        if any(value.owner is op and self.rewriter.uses(value) for value in values):
            for result, value in zip(op.results, values):
                self.rewriter.replace_uses(result, value)
        else:
            self.rewriter.replace(op, values)
        self.add_owners(values)
        return True


def _move_attributes(op: Operation, successor: Operation, is_new: bool) -> None:
    """Give an op the discardable attributes of one that it replaces, except where they would be operands of it.

    `mhlo.sharding` of a custom call says what the call computes, and attributes of other ops with effects may, too.
    Shardings have as many entries as there are results; Shardy's rules and edges name operands and results by number.
    """
    is_hint = is_new or (
        is_pure(successor) and successor.name != "stablehlo.custom_call" and len(successor.results) == 1
    )
    if not op.attributes or not is_hint or (op.regions and op.name != successor.name):
        return
    has_as_many = len(op.results) == len(successor.results)
    is_like = has_as_many and len(op.operands) == len(successor.operands)
    stay = () if is_like else NUMBERED if has_as_many else (".sharding", *NUMBERED)
    moved = {name: value for name, value in op.attributes.items() if not name.endswith(stay)}
    merged = {**successor.attributes, **moved}
    own, other = (x.attributes.get(FRONTEND) for x in (successor, op))
    if isinstance(own, dict) and isinstance(other, dict):
        merged[FRONTEND] = {**own, **other, **{name: own[name] for name in (IDENTITY,) if name in own}}
    successor.attributes = merged


NUMBERED = ("sdy.sharding_rule", "sdy.propagation_edges")
FRONTEND = "mhlo.frontend_attributes"
IDENTITY = "xla_metadata_payload"  # an entry that stays with the op that remains


# --- what operands are ----------------------------------------------------------------------------------------------


MOST_COMPARED = 1 << 20  # bytes of a constant; elements of larger ones are not compared


def splat(value: Value) -> np.generic | None:
    """Return the element of a constant whose elements have all the same bits; None of any other value."""
    array = known_array(value)
    if array is None or not array.size or is_quantized(value.type):
        return None
    first: np.generic = array[(0,) * array.ndim]
    if not any(array.strides) or array.nbytes > MOST_COMPARED:
        return None if any(array.strides) else first
    is_splat = (
        array[(-1,) * array.ndim].tobytes() == first.tobytes() and array.tobytes() == first.tobytes() * array.size
    )
    return first if is_splat else None


def static(value: Value) -> TensorType | None:
    """Return the type of a tensor of known sizes; None of others and of those that are quantized per axis."""
    is_plain = isinstance(value.type, TensorType) and value.type.is_static and not is_per_axis_quantized(value.type)
    return value.type if is_plain and isinstance(value.type, TensorType) else None


def shape_of(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a tensor; () for other values."""
    return value.type.shape if isinstance(value.type, TensorType) else ()


def elements_of(value: Value) -> Type | None:
    """Return the element type of a tensor; None for other values."""
    return value.type.element_type if isinstance(value.type, TensorType) else None


# --- dead ops and constants -----------------------------------------------------------------------------------------


def erase_dead(root: Operation) -> None:
    """Erase the pure ops inside `root` that nothing uses."""
    with Rewriter(root) as rewriter:
        for op in reversed(list(root.walk())):
            is_inside_erased = op.parent_op is not None and rewriter.is_erased(op.parent_op)
            if not rewriter.is_used(op) and op is not root and is_pure(op) and not is_inside_erased:
                rewriter.erase(op)


def hoist_all_constants(module: Operation) -> None:
    """Move constants to the start of the isolated regions that they are in, one of each."""
    for op in module.walk():
        for region in op.regions if traits_of(op).isolated_from_above else ():
            hoist_constants(region)


def hoist_constants(region: Region) -> None:
    """Move the constants of an isolated region to its start, one of each."""
    if not region.blocks or not any(map(is_constant_like, _inside(region))):
        return
    root = region.parent
    assert root is not None
    entry = region.blocks[0]
    first: dict[Hashable, Operation] = {}
    with Rewriter(root) as rewriter:
        for op in filter(is_constant_like, _inside(region)):
            kept = first.setdefault(operation_key(op), op)
            if kept is not op:
                rewriter.replace(op, kept.results)
    moved = dict.fromkeys(first.values())
    for op in moved:
        assert op.parent is not None
        if op.parent is not entry:
            op.parent.operations.remove(op)
            op.parent = entry
    entry.operations = [*moved, *(op for op in entry.operations if op not in moved)]


def _inside(region: Region) -> Iterator[Operation]:
    """Yield the ops in a region and in regions inside it that are not isolated from it."""
    for block in region.blocks:
        for op in block.operations:
            yield op
            if not traits_of(op).isolated_from_above:
                for inner in op.regions:
                    yield from _inside(inner)
