"""Chains: groups of ops on large tensors that run block by block, so that values between them stay in the cache.

Each op computes on a block what it computes on the whole tensor, with the same kernel, so results are the same bit for
bit: an elementwise kernel treats each element by itself, and the schedule of a reduction depends on the length of a row
alone. Only values that are used outside of the group are stored as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.kinds import Kind
from stablehlo_ref.execute.fuse.blockwise import Chain, Computed, Tensor, blockwise_step
from stablehlo_ref.execute.fuse.groups import VIEWS, Group, scheduled, shape_of, spans, used_last
from stablehlo_ref.execute.fuse.groups import Step as Scheduled
from stablehlo_ref.execute.fuse.rows import reduction, spread
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.run import BlockPlan, Step
from stablehlo_ref.execute.steps import step_for
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel, into_form, stored
from stablehlo_ref.numerics.nans import canonical_nans

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
    frame.blocks[block] = plan
    if frame.planner.step_by_step or frame.lanes is not None or plan.communicates:
        return plan
    if found := spans(plan.ops, plan.ins, plan.outs):
        count, kernels = len(plan.ops), dict[Kind | None, _Kernel]()
        for span in reversed(found):
            _Chains(frame, plan, span, dying, kernels).replace()
        if len(plan.ops) < count:
            del frame.blocks[block]
    return plan


class _Kernel(NamedTuple):
    """What computes a block, and whether it stores into an argument, which may be an operand (see `Computed`)."""

    run: ArrayKernel
    stores: bool
    overwrites: bool


class _Chains:
    """Some steps of a block, in a new order, with chains."""

    def __init__(
        self,
        frame: FramePlanner,
        plan: BlockPlan,
        numbers: range,
        dying: Mapping[Operation, Sequence[Value]],
        kernels: dict[Kind | None, _Kernel],
    ) -> None:
        self.frame = frame
        self.kernels = kernels  # of elementwise ops
        self.numbers = numbers
        self.plan = part = BlockPlan()
        span = slice(numbers.start, numbers.stop)
        part.steps, part.ops, part.ins, part.outs = plan.steps[span], plan.ops[span], plan.ins[span], plan.outs[span]
        self.whole = plan
        self.dead = [self._dropped(dying.get(op, ())) for op in part.ops]
        self.may_drop = frozenset[int]().union(*self.dead)
        self.kinds = [frame.planner.kind(op) for op in part.ops]
        self.known = [frame.known_kernel(op, kind) for op, kind in zip(part.ops, self.kinds)]

    def _dropped(self, values: Sequence[Value]) -> frozenset[int]:
        return frozenset(map(self.frame.slot, values)).difference(self.frame.constants)

    def replace(self) -> None:
        """Put the steps into the new order, each of which empties the slots that it is the last to use."""
        part, plan = self.plan, self.whole
        steps = zip(part.ops, part.ins, part.outs, self.known)
        units = scheduled([Scheduled(op, ins, outs, known is not None) for op, ins, outs, known in steps])
        if not any(isinstance(unit, Group) for unit in units):
            return
        last = used_last([self._used(unit) for unit in units])
        ends: list[set[int]] = [set() for _ in units]
        for slot in self.may_drop:
            ends[last[slot]].add(slot)
        made = [
            self._chain(unit, frozenset(end)) if isinstance(unit, Group) else self._single(unit, end)
            for unit, end in zip(units, ends)
        ]
        for target, column in zip((plan.steps, plan.ops, plan.ins, plan.outs), zip(*made)):
            target[self.numbers.start : self.numbers.stop] = column  # type: ignore[index]

    def _used(self, unit: int | Group) -> set[int]:
        """Return the slots that a unit uses, also those that regions capture, and those of its results."""
        slots: set[int] = set()
        for number in unit.members if isinstance(unit, Group) else [unit]:
            slots.update(self.plan.ins[number], self.plan.outs[number], self.dead[number])
            for region in self.plan.ops[number].regions:
                slots.update(map(self.frame.slot, captured(region)))
        return slots

    def _single(self, number: int, dead: set[int]) -> Planned:
        """Return the step of an op that empties the slots `dead`."""
        plan, step, known = self.plan, self.plan.steps[number], self.known[number]
        op, ins, outs = plan.ops[number], plan.ins[number], plan.outs[number]
        if dead != self.dead[number]:
            if known:
                step = step_for(known.kernel, ins, outs, sorted(dead), known.traits)
            else:
                step = _then_drop(step, dead - self.dead[number])
        return step, op, ins, outs

    def _chain(self, group: Group, dead: frozenset[int]) -> Planned:
        """Return the step of a group that empties the slots `dead`."""
        kept = group.made.keys() - (dead & self.may_drop)
        numbers, same = self._without_duplicates(self._needed(group, kept), kept)
        operands = {same.get(s, s): v for n in numbers for s, v in zip(self.plan.ins[n], self.plan.ops[n].operands)}
        given = [(slot, value.type) for slot, value in operands.items() if slot not in group.made]
        chain = Chain(
            group.shape,
            group.rows,
            [_tensor(group, slot, type) for slot, type in given if shape_of(type)],
            [slot for slot, type in given if not shape_of(type)],
            [self._computed(group, n, tuple(same.get(slot, slot) for slot in self.plan.ins[n])) for n in numbers],
            frozenset(kept),
            dead - group.made.keys(),
        )
        first, found = self.plan.ops[group.members[0]], self.frame.planner.generated
        step = blockwise_step(chain, lambda what, text: found.append((f"a chain at {first.location}, {what}", text)))
        return step, first, tuple(slot for slot, _ in given), tuple(kept)

    def _needed(self, group: Group, kept: Collection[int]) -> list[int]:
        """Return the ops of a group that values in `kept` depend on."""
        needed, numbers = set(kept), []
        for number in reversed(group.members):
            if self.plan.outs[number][0] in needed:
                needed.update(self.plan.ins[number])
                numbers.append(number)
        return numbers[::-1]

    def _without_duplicates(self, numbers: list[int], kept: Collection[int]) -> tuple[list[int], dict[int, int]]:
        """Return the ops that compute something new, and for other slots the one that holds the same value."""
        same: dict[int, int] = {}
        constants: dict[int, int] = {}  # the slot of each array
        for slot in (slot for number in numbers for slot in self.plan.ins[number]):
            if (array := self.frame.constants.get(slot)) is not None:
                same[slot] = constants.setdefault(id(array), slot)
        known: dict[object, int] = {}
        new = []
        for number in numbers:
            (out,) = self.plan.outs[number]
            kind = self.kinds[number]
            key = kind, tuple([same.get(slot, slot) for slot in self.plan.ins[number]])
            if kind is not None and key in known and out not in kept:
                same[out] = known[key]
            else:
                known.setdefault(key, out)
                new.append(number)
        return new, same

    def _computed(self, group: Group, number: int, ins: tuple[int, ...]) -> Computed:
        op, (slot,) = self.plan.ops[number], self.plan.outs[number]
        result = _tensor(group, slot, op.results[0].type)
        is_canonical = op in self.frame.planner.canonical
        if op.name in VIEWS:
            return Computed(result, ins, lambda box: spread(op, box[: group.rows]), op, is_canonical)
        if op.regions:
            bound, canonical = self.frame._resolve(op, None), self._canonical(op)
            plan = lambda box: _with_canonical(reduction(bound, box, group.rows), canonical)  # noqa: E731
            return Computed(result, ins, plan, op, is_canonical)
        kernel = self.kernels.get(self.kinds[number])
        if kernel is None:
            kernel = self.kernels[self.kinds[number]] = self._kernel(op)
        return Computed(result, ins, lambda box: kernel.run, op, is_canonical, kernel.stores, kernel.overwrites)

    def _kernel(self, op: Operation) -> _Kernel:
        """Return the kernel of an elementwise op, which depends on its kind alone, as other ops are not movable."""
        run, canonical = self.frame._resolve(op, None).call("plan"), self._canonical(op)
        store = run if isinstance(run, np.ufunc) else into_form(run)
        if store is None:
            return _Kernel(_with_canonical(run, canonical), False, False)
        return _Kernel(_stored(store, canonical), True, isinstance(run, np.ufunc))

    def _canonical(self, op: Operation) -> ArrayKernel | None:
        """Return the kernel that makes NaNs of the result canonical, if they can be observed."""
        is_observed = op in self.frame.planner.canonical
        return canonical_nans(numpy_dtype(op.results[0].type.element_type)) if is_observed else None  # type: ignore[attr-defined]


def _with_canonical(run: ArrayKernel, canonical: ArrayKernel | None) -> ArrayKernel:
    """Return a kernel that applies `canonical` to the result of `run`."""
    return run if canonical is None else lambda *operands: canonical(run(*operands), *operands)


def _stored(store: ArrayKernel, canonical: ArrayKernel | None) -> ArrayKernel:
    """Return `store`, which writes into the argument `out`, or one that applies `canonical` to what it has written."""
    return store if canonical is None else lambda *operands, out: stored(canonical(store(*operands, out=out)), out)


def _tensor(group: Group, slot: int, type: Any) -> Tensor:
    return Tensor(slot, type.shape, numpy_dtype(type.element_type), type.shape != group.shape)


def _then_drop(step: Step, dead: set[int]) -> Step:
    """Return a step that also empties the slots `dead`."""

    def run(slots: Slots) -> Any:
        turns = step(slots)
        for slot in dead:
            slots[slot] = None
        return turns

    return run
