"""Chains: groups of elementwise ops and row reductions on large tensors, which become one pass in machine code.

A group has elementwise ops, reductions of the last dimensions, and what lies between a reduction and the ops that use
it: ops on one value per row, and broadcasts of it. Ops between these that do not use the group's results move in front
of it, others behind it. A map of several ops is a chain by itself.

The ops of a chain are a block of their own in the plan. It runs them one after the other until machine code has taken
over, and whenever operands have a form that this is not for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from stablehlo_ref.accelerate.elements import has_code, is_narrow
from stablehlo_ref.accelerate.ir import dtype_of
from stablehlo_ref.accelerate.machine.chains import REDUCE, VIEWS, Chain, MachineChain, Part, Tensor
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.accelerate.machine.reductions import FOLDS, SUM
from stablehlo_ref.accelerate.policy import weight
from stablehlo_ref.define.bound import constant_array
from stablehlo_ref.define.computation import Slots, Turns
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import BlockPlan, Step
from stablehlo_ref.execute.steps import step_for
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.ops.elementwise import LANES

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAP = "stablehlo.map"
SIZE = 1 << 18  # elements of a tensor from which on ops on it are fused: smaller ones stay in the cache as they are
WORK = 5 << 18  # elements that the ops of a chain visit in all, at least: with fewer, machine code saves nothing
ROW = 1 << 16  # elements of a row that is reduced at most, so that a few rows fit into the cache
NEAR = 32  # ops that may lie between one of a group and the next
NARROW_PASSES = 6  # of an op on narrow floats, which numpy computes in f32
MAX_OPS = 200  # of the computation of a map
MAX_WEIGHT = 500  # of the ops of a group, above which LLVM takes too long
Planned: TypeAlias = tuple[Step, Operation, tuple[int, ...], tuple[int, ...]]  # with slots of operands and results


@dataclass(eq=False)
class Scheduled:
    """An op as it is scheduled: its slots, and whether its step can be made again and so may move."""

    op: Operation
    ins: Sequence[int]
    outs: Sequence[int]
    is_movable: bool

    @cached_property
    def is_on_elements(self) -> bool:
        """Whether the op has instructions, and all operands have the shape of the result, or are scalars."""
        op, shape = self.op, shape_of(self.op.results[0].type)
        traits = REGISTRY[op.name].traits
        return traits.elementwise and all(shape_of(t) in ((), shape) for t in op.operand_types) and has_code(op)


@dataclass(eq=False)
class Group:
    """Ops that become one step. `rows` is the number of leading dimensions that a reduction keeps; None without one."""

    shape: tuple[int, ...]
    rows: int | None = None
    weight: int = 0  # of its ops, for LLVM
    passes: int = 0  # ops that visit all elements, rather than one for each row
    members: list[int] = field(default_factory=list)
    made: dict[int, tuple[int, ...]] = field(default_factory=dict)  # shapes of results by slot
    touched: set[int] = field(default_factory=set)  # slots of operands and results

    @property
    def pays_off(self) -> bool:
        return self.passes > 1 and self.passes * prod(self.shape) >= WORK

    def is_row(self, shape: Sequence[int]) -> bool:
        """Return whether a tensor of this shape has one element for each row."""
        rows = self.rows
        return rows is not None and tuple(shape[:rows]) == self.shape[:rows] and all(n == 1 for n in shape[rows:])

    def add(self, number: int, step: Scheduled) -> None:
        """Add a step."""
        shape = shape_of(step.op.results[0].type)
        self.members.append(number)
        self.weight += weight(step.op)
        if step.op.name == REDUCE or (step.op.name not in VIEWS and shape == self.shape):
            self.passes += NARROW_PASSES if is_narrow(step.op.operands[0].type) else 1
        self.made[step.outs[0]] = shape
        self.touched.update(step.ins, step.outs)

    def may_add(self, step: Scheduled) -> bool:
        """Return whether a step can be part of the group; a reduction sets the number of dimensions of rows."""
        op = step.op
        if self.weight >= MAX_WEIGHT or self.touched.isdisjoint(step.ins) or not _is_plain(op):
            return False
        if op.name == REDUCE:
            return self.reduces_rows(op)
        shape = shape_of(op.results[0].type)
        if op.name in VIEWS:
            return step.ins[0] in self.made and self._spreads(op, shape)
        fits = shape == self.shape or (self.is_row(shape) and not self.made.keys().isdisjoint(step.ins))
        return fits and step.is_on_elements

    def reduces_rows(self, op: Operation) -> bool:
        """Return whether an op reduces the last dimensions of a tensor of the group's shape; fix these if it does."""
        rank = len(self.shape)
        if len(op.operands) != 2 or shape_of(op.operands[0].type) != self.shape:
            return False
        body = None if is_narrow(op.operands[0].type) else recognised_op(op.regions[0])
        if body is None or not (body.name == SUM or body.name in FOLDS) or not has_code(body):
            return False
        axes = tuple(sorted(op.properties["dimensions"]))
        rows = rank - len(axes)
        if not 0 < rows < rank or axes != tuple(range(rows, rank)) or self.rows not in (None, rows):
            return False
        if not 1 < prod(self.shape[rows:]) <= ROW:
            return False
        self.rows = rows
        return True

    def _spreads(self, op: Operation, shape: tuple[int, ...]) -> bool:
        """Return whether a view turns one value per row into the same for ops on rows, or on the whole."""
        if self.rows is None or not self.is_row(shape_of(op.operands[0].type)):
            return False
        if op.name == "stablehlo.reshape":
            return self.is_row(shape)
        leads = tuple(op.properties["broadcast_dimensions"])[: self.rows] == tuple(range(self.rows))
        return leads and (shape == self.shape or self.is_row(shape))


def shape_of(type: Type) -> tuple[int, ...]:
    """Return the shape of a static tensor type."""
    return type.shape  # type: ignore[attr-defined, no-any-return]


def _is_large(op: Operation) -> bool:
    """Return whether an op may be the first of a group, or is a map."""
    values = op.operands if op.name == REDUCE else op.results
    type = values[0].type if values else None
    if not isinstance(type, TensorType) or not type.is_static or type.size < (LANES + 1 if op.name == MAP else SIZE):
        return False
    return op.name not in VIEWS and _is_plain(op)


def _is_plain(op: Operation) -> bool:
    """Return whether an op of a group has operands of static types and one result, or is a map."""
    definition = REGISTRY.get(op.name)
    if definition is None or len(op.results) != 1 or (op.regions and op.name not in (REDUCE, MAP)):
        return False
    traits = definition.traits
    if not (traits.elementwise or op.name in VIEWS or op.regions) or traits.effects or traits.communicates:
        return False
    return all(map(_is_static, (*op.operand_types, *op.result_types)))


def _is_static(type: Type) -> bool:
    return isinstance(type, TensorType) and type.is_static and not isinstance(type.element_type, QuantizedType)


def _started(step: Scheduled) -> Group | None:
    """Return a new group that the step can be the first of, or None."""
    if not _is_large(step.op) or step.op.name == MAP or not step.is_movable:
        return None
    if step.op.name == REDUCE:
        group = Group(shape_of(step.op.operands[0].type))
        return group if group.reduces_rows(step.op) else None
    group = Group(shape_of(step.op.results[0].type))
    return group if step.is_on_elements else None


def scheduled(steps: Sequence[Scheduled]) -> list[int | Group]:
    """Return the numbers of steps in a new order; groups of two ops or more that pay off are a `Group`."""
    units: list[int | Group] = []
    left = list(reversed(range(len(steps))))
    while left:
        number = left.pop()
        group = _started(steps[number])
        if group is None:
            units.append(number)
            continue
        group.add(number, steps[number])
        before, after = _filled(group, steps, left)
        units += before
        units += [group] if group.pays_off else group.members
        left += reversed(after)
    return units


def _filled(group: Group, steps: Sequence[Scheduled], left: list[int]) -> tuple[list[int], list[int]]:
    """Take ops from the end of `left` into a group; return those between them that come before it, and after it."""
    before, after, late, since = list[int](), list[int](), set[int](), 0
    while left and since < NEAR and steps[left[-1]].is_movable:
        step = steps[number := left.pop()]
        since += 1
        if late.isdisjoint(step.ins) and group.may_add(step):
            group.add(number, step)
            since = 0
        elif _is_large(step.op) or not (late.isdisjoint(step.ins) and group.made.keys().isdisjoint(step.ins)):
            after.append(number)
            late.update(step.outs)
        else:
            before.append(number)
    return before, after


def with_chains(
    frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
) -> BlockPlan:
    """Replace groups of ops of a planned block by chains, and return the plan.

    `dying` are the values that each op is the last to use. A block with chains, whose tensors are large, does not
    become generated source.
    """
    if not is_available() or frame.planner.step_by_step or frame.lanes is not None or plan.communicates:
        return plan
    if any(map(_is_large, plan.ops)) and _Chains(frame, plan, dying).replace():
        del frame.blocks[block]
    return plan


class _Chains:
    """The steps of a block, in a new order, with chains."""

    def __init__(self, frame: FramePlanner, plan: BlockPlan, dying: Mapping[Operation, Sequence[Value]]) -> None:
        self.frame, self.plan = frame, plan
        self.exact_sums = frame.planner.mode.exact_sums
        self.dead = [frozenset(map(frame.slot, dying.get(op, ()))).difference(frame.constants) for op in plan.ops]
        self.known = [frame.known_kernel(op, frame.planner.kind(op)) for op in plan.ops]

    def replace(self) -> bool:
        """Put the steps into the new order, each of which empties the slots that it is the last to use."""
        plan = self.plan
        steps = zip(plan.ops, plan.ins, plan.outs, self.known)
        units = scheduled([Scheduled(op, ins, outs, known is not None) for op, ins, outs, known in steps])
        order = [number for unit in units for number in (unit.members if isinstance(unit, Group) else [unit])]
        last = {slot: number for number in order for slot in self._used(number)}
        ends: dict[int, set[int]] = {number: set() for number in order}
        for slot in frozenset[int]().union(*self.dead):
            ends[last[slot]].add(slot)
        planned, has_chains = list[Planned](), False
        for unit in units:
            members = unit.members if isinstance(unit, Group) else [unit]
            single = [self._single(number, ends[number]) for number in members]
            dead = frozenset[int]().union(*[ends[number] for number in members])
            chain = self._chain(unit, single, dead) if isinstance(unit, Group) else self._map(single[0], dead)
            has_chains = has_chains or chain is not None
            planned += single if chain is None else [chain]
        if has_chains:
            plan.steps, plan.ops, plan.ins, plan.outs = map(list, zip(*planned))
        return has_chains

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

    def _chain(self, group: Group, single: Sequence[Planned], dead: frozenset[int]) -> Planned:
        """Return the step of a group of ops, which have these steps one by one, that empties the slots `dead`."""

        def tensor(slot: int, type: Type) -> Tensor:
            return Tensor(slot, shape_of(type), dtype_of(type), shape_of(type) != group.shape)

        inputs = {s: tensor(s, v.type) for _, op, ins, _ in single for s, v in zip(ins, op.operands)}
        parts = [
            Part(op, ins, tensor(out, op.results[0].type), op in self.frame.planner.canonical)
            for _, op, ins, (out,) in single
        ]
        given = [inputs[slot] for slot in inputs if slot not in group.made]
        kept = frozenset(group.made.keys() - dead)
        chain = Chain(group.shape, group.rows, given, parts, kept, dead - group.made.keys(), self.exact_sums)
        return self._step("a chain", single, chain)

    def _map(self, single: Planned, dead: frozenset[int]) -> Planned | None:
        """Return the step of a map whose computation becomes a chain, with slots for the values in it."""
        _, op, ins, outs = single
        block = _computation(op) if op.name == MAP and dead.isdisjoint(outs) else None
        if block is None:
            return None
        frame, shape, canonical = self.frame, shape_of(op.results[0].type), self.frame.planner.canonical
        *ops, last = block.operations
        named = {**dict(zip(block.arguments, ins)), last.operands[0]: outs[0]}
        of = {x: named[x] if x in named else frame.slot(x) for x in (*named, *(x.results[0] for x in ops))}
        inputs = [Tensor(of[x], shape, dtype_of(x.type), False) for x in block.arguments]
        parts = []
        for x in ops:
            (result,) = x.results
            if (constant := constant_array(result)) is not None:
                inputs.append(Tensor(of[result], (), dtype_of(result.type), True))
                frame.frame.template[of[result]] = constant
                continue
            is_canonical = x in canonical or (op in canonical and result is last.operands[0])
            tensor = Tensor(of[result], shape, dtype_of(result.type), False)
            parts.append(Part(x, tuple(of[v] for v in x.operands), tensor, is_canonical))
        used = {slot for part in parts for slot in part.operands}
        given = {x.slot: x for x in inputs if x.slot in used}
        return self._step(
            MAP,
            [single],
            Chain(shape, None, list(given.values()), parts, frozenset(outs), dead, self.exact_sums),
        )

    def _step(self, what: str, single: Sequence[Planned], chain: Chain) -> Planned:
        """Return the step of a chain of ops, which have these steps one by one."""
        block = BlockPlan()
        block.steps, block.ops, block.ins, block.outs = map(list, zip(*single))
        title, found = f"{what} at {block.ops[0].location}", self.frame.planner.generated
        step = MachineChain(chain, block, lambda what, text: found.append((f"{title}, {what}", text)))
        return step, block.ops[0], tuple(x.slot for x in chain.inputs), tuple(chain.kept)


def _computation(op: Operation) -> Block | None:
    """Return the block of a map of several ops that all have instructions, and capture nothing; else None."""
    region = op.regions[0]
    if len(region.blocks) != 1 or recognised_op(region) is not None or captured(region):
        return None
    *ops, last = region.block.operations
    values = [*region.block.arguments, *(result for x in ops for result in x.results)]
    is_plain = all(len(x.results) == 1 for x in ops) and len(ops) <= MAX_OPS
    if not is_plain or any(not _is_static(v.type) or shape_of(v.type) for v in values):
        return None
    computed = [x for x in ops if constant_array(x.results[0]) is None]
    is_computed = last.operands[0] in [x.results[0] for x in computed]
    return region.block if is_computed and all(map(has_code, computed)) else None


def _then_drop(step: Step, dead: frozenset[int]) -> Step:
    """Return a step that also empties the slots `dead`."""

    def run(slots: Slots) -> Turns | None:
        turns = step(slots)
        for slot in dead:
            slots[slot] = None
        return turns

    return run
