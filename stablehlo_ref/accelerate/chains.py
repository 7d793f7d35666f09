"""Chains: groups of elementwise ops and row reductions on large tensors, which become one pass in machine code.

The ops of a chain are a block of their own in the plan. It runs them one after the other until machine code has taken
over, and whenever operands have a form that this is not for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from stablehlo_ref.accelerate.groups import Group, scheduled, shape_of, spans, used_last
from stablehlo_ref.accelerate.groups import Step as Scheduled
from stablehlo_ref.accelerate.machine.chains import Chain, MachineChain
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.accelerate.machine.rows import Part, Tensor
from stablehlo_ref.define.computation import Slots, Turns
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.run import BlockPlan, Step
from stablehlo_ref.execute.steps import step_for
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

Planned: TypeAlias = tuple[Step, Operation, tuple[int, ...], tuple[int, ...]]  # with slots of operands and results


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
            (Part(op, ins, out, numpy_dtype(op.results[0].type.element_type), op in canonical), group.made[out])  # type: ignore[attr-defined]
            for op, ins, (out,) in zip(block.ops, block.ins, block.outs)
        ]
        kept = frozenset(group.made.keys() - dead)
        chain = Chain(
            group.shape,
            group.rows,
            [_tensor(group, slot, type) for slot, type in given.items() if shape_of(type)],
            [slot for slot, type in given.items() if not shape_of(type)],
            [(part, Tensor(part.result, shape, part.dtype, shape != group.shape)) for part, shape in parts],
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
