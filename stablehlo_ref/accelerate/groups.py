"""Find groups of ops on large tensors of one shape, and an order of steps in which each group is one step.

A group has elementwise ops, reductions of the last dimensions, and what lies between a reduction and the ops that use
it: ops on one value per row, and broadcasts of it. Ops only move to an earlier place: an op joins a group that has, or
comes after, all that it uses, and views and small ops move in front of the group that may need them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from stablehlo_ref.accelerate.machine.elementwise import has_code
from stablehlo_ref.accelerate.policy import weight
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type

SIZE = 1 << 18  # elements of a tensor from which on ops on it are fused: smaller ones stay in the cache as they are
WORK = 5 << 18  # elements that the ops of a chain visit in all, at least: fewer cost less than blocks
ROW = 1 << 16  # elements of a row that is reduced at most, so that a few rows fit into the cache
NEAR = 32  # ops that may lie between one of a group and the next
OPEN = 16  # groups that ops may still join
MAX_WEIGHT = 500  # of the ops of a group, above which LLVM takes too long
VIEWS = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")
REDUCE = "stablehlo.reduce"
SUM = "stablehlo.add"
FOLDS = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or")  # idempotent, in any order


@dataclass(eq=False)
class Group:
    """Ops that become one step. `rows` is the number of leading dimensions that a reduction keeps; None without one."""

    shape: tuple[int, ...]
    place: int
    rows: int | None = None
    weight: int = 0  # of its ops, for LLVM
    members: list[int] = field(default_factory=list)
    made: dict[int, tuple[int, ...]] = field(default_factory=dict)  # shapes of results by slot
    touched: set[int] = field(default_factory=set)  # slots of operands and results
    before: list[int] = field(default_factory=list)  # ops that run just before the group

    def is_row(self, shape: Sequence[int]) -> bool:
        """Return whether a tensor of this shape has one element for each row."""
        rows = self.rows
        return rows is not None and tuple(shape[:rows]) == self.shape[:rows] and all(n == 1 for n in shape[rows:])


class Step(NamedTuple):
    """An op as it is scheduled: its slots, and whether its step can be made again and so may move."""

    op: Operation
    ins: Sequence[int]
    outs: Sequence[int]
    is_movable: bool


def _is_elementwise(op: Operation) -> bool:
    definition = REGISTRY.get(op.name)
    return definition is not None and definition.traits.elementwise and not op.regions and len(op.results) == 1


def is_large(op: Operation) -> bool:
    """Return whether an op is elementwise with one large result, or reduces a large tensor."""
    if op.name == REDUCE:
        return _has_many_elements(op.operands[0].type)
    return bool(op.results) and _has_many_elements(op.results[0].type) and _is_elementwise(op)


def _has_many_elements(type: Type) -> bool:
    return isinstance(type, TensorType) and type.is_static and type.size >= SIZE


def scheduled(steps: Sequence[Step]) -> list[int | Group]:
    """Return the numbers of steps in a new order; groups of two ops or more that compute are a `Group`."""
    schedule = _Schedule()
    for number, step in enumerate(steps):
        schedule.add(number, step)
    return schedule.units(steps)


class _Schedule:
    """Places are counted in twos: what runs before unit number u is made at 2u, its results are made at 2u + 1."""

    def __init__(self) -> None:
        self._units: list[int | Group] = []
        self._open: list[Group] = []
        self._made_at: dict[int, int] = {}

    def units(self, steps: Sequence[Step]) -> list[int | Group]:
        """Return the units in order, and groups that save nothing as their ops."""
        found: list[int | Group] = []
        for unit in self._units:
            if isinstance(unit, Group):
                found += unit.before
                passes = sum(_is_pass(steps[number].op, unit) for number in unit.members)
                is_chain = passes > 1 and passes * prod(unit.shape) >= WORK
                found += [unit] if is_chain else unit.members
            else:
                found.append(unit)
        return found

    def add(self, number: int, step: Step) -> None:
        place = self._place(number, step) if step.is_movable and _is_plain(step.op) else None
        if place is None:
            place = 2 * len(self._units) + 1
            self._units.append(number)
        for slot in step.outs:
            self._made_at[slot] = place

    def _place(self, number: int, step: Step) -> int | None:
        """Add a step to a group, or in front of one, and return its place; None if it has to be a unit of its own."""
        after = max((self._made_at.get(slot, -1) for slot in step.ins), default=-1)
        shape = shape_of(step.op.results[0].type)
        for group in reversed(self._open):
            if 2 * group.place + 1 < after:
                break
            if group.weight < MAX_WEIGHT and not group.touched.isdisjoint(step.ins) and _joins(group, step, shape):
                return self._join(group, number, step, shape)
        if (new := _starts(step, shape, len(self._units))) is not None:
            self._units.append(new)
            self._open = [*self._open[1 - OPEN :], new]
            return self._join(new, number, step, shape)
        if prod(shape) < SIZE or REGISTRY[step.op.name].traits.returns_views:
            for group in self._open:
                if 2 * group.place >= after:
                    group.before.append(number)
                    return 2 * group.place
        return None

    def _join(self, group: Group, number: int, step: Step, shape: tuple[int, ...]) -> int:
        group.members.append(number)
        group.weight += weight(step.op)
        group.made[step.outs[0]] = shape
        group.touched.update(step.ins, step.outs)
        return 2 * group.place + 1


def _is_pass(op: Operation, group: Group) -> bool:
    """Return whether an op visits all elements of the tensors of a group, rather than one for each row."""
    return op.name == REDUCE or (op.name not in VIEWS and shape_of(op.results[0].type) == group.shape)


def _is_plain(op: Operation) -> bool:
    """Return whether an op has one result, operands of static types, and no effects."""
    definition = REGISTRY.get(op.name)
    if definition is None or len(op.results) != 1 or (op.regions and op.name != REDUCE):
        return False
    traits = definition.traits
    if not (traits.elementwise or traits.returns_views or op.regions) or traits.effects or traits.communicates:
        return False
    return all(map(_is_static, (*op.operand_types, *op.result_types)))


def _is_static(type: Type) -> bool:
    return isinstance(type, TensorType) and type.is_static and not isinstance(type.element_type, QuantizedType)


def shape_of(type: Type) -> tuple[int, ...]:
    """Return the shape of a static tensor type."""
    return type.shape  # type: ignore[attr-defined, no-any-return]


def _starts(step: Step, shape: tuple[int, ...], place: int) -> Group | None:
    """Return a new group that the step can be the first of, or None."""
    if not is_large(step.op):
        return None
    if step.op.name == REDUCE:
        group = Group(shape_of(step.op.operands[0].type), place)
        return group if _reduces_rows(group, step) else None
    return Group(shape, place) if _has_operands_of(step.op, shape) and has_code(step.op) else None


def _joins(group: Group, step: Step, shape: tuple[int, ...]) -> bool:
    """Return whether a step can be part of a group; a reduction sets the number of dimensions of rows."""
    op = step.op
    if op.name == REDUCE:
        return _reduces_rows(group, step)
    if op.name in VIEWS:
        return step.ins[0] in group.made and _spreads(group, op, shape)
    if not REGISTRY[op.name].traits.elementwise or not _has_operands_of(op, shape):
        return False
    fits = shape == group.shape or (group.is_row(shape) and not group.made.keys().isdisjoint(step.ins))
    return fits and has_code(op)


def _has_operands_of(op: Operation, shape: tuple[int, ...]) -> bool:
    """Return whether all operands have this shape, or are scalars."""
    return all(not (sizes := shape_of(type)) or sizes == shape for type in op.operand_types)


def _reduces_rows(group: Group, step: Step) -> bool:
    """Return whether a step reduces the last dimensions of a tensor of the group's shape; fix these if it does."""
    op, rank = step.op, len(group.shape)
    if len(op.operands) != 2 or shape_of(op.operands[0].type) != group.shape:
        return False
    body = recognised_op(op.regions[0])
    if body is None or not (body.name == SUM or body.name in FOLDS) or not has_code(body):
        return False
    axes = tuple(sorted(op.properties["dimensions"]))
    rows = rank - len(axes)
    if not 0 < rows < rank or axes != tuple(range(rows, rank)) or group.rows not in (None, rows):
        return False
    if not 1 < prod(group.shape[rows:]) <= ROW:
        return False
    group.rows = rows
    return True


def _spreads(group: Group, op: Operation, shape: tuple[int, ...]) -> bool:
    """Return whether a view turns one value per row into the same for ops on rows, or on the whole."""
    operand, rows = shape_of(op.operands[0].type), group.rows
    if not group.is_row(operand) or rows is None:
        return False
    if op.name == "stablehlo.reshape":
        return group.is_row(shape)
    leads = tuple(op.properties["broadcast_dimensions"])[:rows] == tuple(range(rows))
    return leads and (shape == group.shape or group.is_row(shape))


def spans(ops: Sequence[Operation], ins: Sequence[Sequence[int]], outs: Sequence[Sequence[int]]) -> list[range]:
    """Return the parts of a block that may have groups: from a large op to one that uses its result soon after."""
    made: dict[int, int] = {}  # by slot, the number of the last large op that a value follows from
    found: list[range] = []
    for number, op in enumerate(ops):
        before = [made[slot] for slot in ins[number] if slot in made]
        if is_large(op) or (before and op.name == REDUCE):
            made[outs[number][0]] = number
            first = min(before, default=number)
            if number - NEAR <= first < number:
                while found and found[-1].stop > first:
                    first = min(first, found.pop().start)
                found.append(range(first, number + 1))
        elif before and (op.name in VIEWS or _is_elementwise(op)):
            made[outs[number][0]] = max(before)
    return found


def used_last(units: Sequence[Iterable[int]]) -> Mapping[int, int]:
    """Return the number of the last unit that uses each slot, of the slots that units use."""
    return {slot: number for number, slots in enumerate(units) for slot in slots}
