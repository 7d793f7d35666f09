"""Chains: groups of elementwise ops and row reductions on large tensors, which become one pass in machine code.

A group has elementwise ops, reductions of the last dimensions, and what lies between a reduction and the ops that use
it: ops on one value per row, and broadcasts of it. Ops only move to an earlier place: an op joins a group that has, or
comes after, all that it uses, and views and small ops move in front of the group that may need them.

The ops of a chain are a block of their own in the plan. It runs them one after the other until machine code has taken
over, and whenever operands have a form that this is not for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stablehlo_ref.accelerate.machine.chains import REDUCE, VIEWS, Chain, MachineChain, Part, Tensor
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.accelerate.machine.elementwise import has_code
from stablehlo_ref.accelerate.machine.reductions import FOLDS, SUM
from stablehlo_ref.accelerate.policy import weight
from stablehlo_ref.define.computation import Slots, Turns
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import BlockPlan, Step
from stablehlo_ref.execute.steps import step_for
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

SIZE = 1 << 18  # elements of a tensor from which on ops on it are fused: smaller ones stay in the cache as they are
WORK = 5 << 18  # elements that the ops of a chain visit in all, at least: with fewer, machine code saves nothing
ROW = 1 << 16  # elements of a row that is reduced at most, so that a few rows fit into the cache
NEAR = 32  # ops that may lie between one of a group and the next
OPEN = 16  # groups that ops may still join
MAX_WEIGHT = 500  # of the ops of a group, above which LLVM takes too long
Planned: TypeAlias = tuple[Step, Operation, tuple[int, ...], tuple[int, ...]]  # with slots of operands and results


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


class Scheduled(NamedTuple):
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


def scheduled(steps: Sequence[Scheduled]) -> list[int | Group]:
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

    def units(self, steps: Sequence[Scheduled]) -> list[int | Group]:
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

    def add(self, number: int, step: Scheduled) -> None:
        place = self._place(number, step) if step.is_movable and _is_plain(step.op) else None
        if place is None:
            place = 2 * len(self._units) + 1
            self._units.append(number)
        for slot in step.outs:
            self._made_at[slot] = place

    def _place(self, number: int, step: Scheduled) -> int | None:
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

    def _join(self, group: Group, number: int, step: Scheduled, shape: tuple[int, ...]) -> int:
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


def _starts(step: Scheduled, shape: tuple[int, ...], place: int) -> Group | None:
    """Return a new group that the step can be the first of, or None."""
    if not is_large(step.op):
        return None
    if step.op.name == REDUCE:
        group = Group(shape_of(step.op.operands[0].type), place)
        return group if _reduces_rows(group, step) else None
    return Group(shape, place) if _has_operands_of(step.op, shape) and has_code(step.op) else None


def _joins(group: Group, step: Scheduled, shape: tuple[int, ...]) -> bool:
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


def _reduces_rows(group: Group, step: Scheduled) -> bool:
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


def with_chains(
    frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
) -> BlockPlan:
    """Replace groups of ops of a planned block by chains, and return the plan.

    `dying` are the values that each op is the last to use. A block with chains, whose tensors are large, does not
    become generated source.
    """
    if not is_available() or frame.planner.step_by_step or frame.lanes is not None or plan.communicates:
        return plan
    if found := spans(plan.ops, plan.ins, plan.outs):
        count = len(plan.ops)
        for span in reversed(found):
            _Chains(frame, plan, span, dying).replace()
        if len(plan.ops) < count:
            del frame.blocks[block]
    return plan


class _Chains:
    """Some steps of a block, in a new order, with chains."""

    def __init__(
        self, frame: FramePlanner, plan: BlockPlan, numbers: range, dying: Mapping[Operation, Sequence[Value]]
    ) -> None:
        self.frame = frame
        self.numbers = numbers
        self.plan = part = BlockPlan()
        span = slice(numbers.start, numbers.stop)
        part.steps, part.ops, part.ins, part.outs = plan.steps[span], plan.ops[span], plan.ins[span], plan.outs[span]
        self.whole = plan
        self.dead = [self._dropped(dying.get(op, ())) for op in part.ops]
        self.known = [frame.known_kernel(op, frame.planner.kind(op)) for op in part.ops]

    def _dropped(self, values: Sequence[Value]) -> frozenset[int]:
        return frozenset(map(self.frame.slot, values)).difference(self.frame.constants)

    def replace(self) -> None:
        """Put the steps into the new order, each of which empties the slots that it is the last to use."""
        part, plan = self.plan, self.whole
        steps = zip(part.ops, part.ins, part.outs, self.known)
        units = scheduled([Scheduled(op, ins, outs, known is not None) for op, ins, outs, known in steps])
        if not any(isinstance(unit, Group) for unit in units):
            return
        members = [unit.members if isinstance(unit, Group) else [unit] for unit in units]
        order = [number for unit in members for number in unit]
        last = used_last([self._used(number) for number in order])
        ends: list[set[int]] = [set() for _ in order]
        for slot in frozenset[int]().union(*self.dead):
            ends[last[slot]].add(slot)
        single = {number: self._single(number, end) for number, end in zip(order, ends)}
        dead = dict(zip(order, ends))
        made = [
            self._chain(unit, [single[n] for n in unit.members], frozenset().union(*[dead[n] for n in unit.members]))
            if isinstance(unit, Group)
            else single[unit]
            for unit in units
        ]
        for target, column in zip((plan.steps, plan.ops, plan.ins, plan.outs), zip(*made)):
            target[self.numbers.start : self.numbers.stop] = column  # type: ignore[index]

    def _used(self, number: int) -> set[int]:
        """Return the slots that an op uses, also those that its regions capture, and those of its results."""
        slots = {*self.plan.ins[number], *self.plan.outs[number], *self.dead[number]}
        return slots.union(self.frame.slot(v) for region in self.plan.ops[number].regions for v in captured(region))

    def _single(self, number: int, dead: Iterable[int]) -> Planned:
        """Return the step of an op that empties the slots `dead`."""
        plan, step, known = self.plan, self.plan.steps[number], self.known[number]
        op, ins, outs = plan.ops[number], plan.ins[number], plan.outs[number]
        if frozenset(dead) != self.dead[number]:
            if known:
                step = step_for(known.kernel, ins, outs, sorted(dead), known.traits)
            else:
                step = _then_drop(step, frozenset(dead) - self.dead[number])
        return step, op, ins, outs

    def _chain(self, group: Group, steps: Sequence[Planned], dead: frozenset[int]) -> Planned:
        """Return the step of a group of ops, which have these steps one by one, that empties the slots `dead`."""
        block = BlockPlan()
        block.steps, block.ops, block.ins, block.outs = map(list, zip(*steps))
        given = {
            slot: value.type
            for op, slots in zip(block.ops, block.ins)
            for slot, value in zip(slots, op.operands)
            if slot not in group.made
        }
        canonical = self.frame.planner.canonical
        parts = [
            Part(op, ins, _tensor(group, out, op.results[0].type), op in canonical)
            for op, ins, (out,) in zip(block.ops, block.ins, block.outs)
        ]
        kept = frozenset(group.made.keys() - dead)
        chain = Chain(
            group.shape,
            group.rows,
            [_tensor(group, slot, type) for slot, type in given.items()],
            parts,
            kept,
            dead - group.made.keys(),
        )
        title, found = f"a chain at {block.ops[0].location}", self.frame.planner.generated
        step = MachineChain(chain, block, lambda what, text: found.append((f"{title}, {what}", text)))
        return step, block.ops[0], tuple(given), tuple(kept)


def _tensor(group: Group, slot: int, type: Type) -> Tensor:
    shape = shape_of(type)
    return Tensor(slot, shape, numpy_dtype(type.element_type), shape != group.shape)  # type: ignore[attr-defined]


def _then_drop(step: Step, dead: frozenset[int]) -> Step:
    """Return a step that also empties the slots `dead`."""

    def run(slots: Slots) -> Turns | None:
        turns = step(slots)
        for slot in dead:
            slots[slot] = None
        return turns

    return run
