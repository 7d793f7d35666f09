"""Ops that choose what runs next: if, case, while, and optimization_barrier, which chooses nothing.

`if`, `case` and `while` run their regions on the slots of the function that they stand in, so a value that a region
captures is just a slot, and a loop is planned once however often it turns.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from stablehlo_ref.define import Bodies, Body, In, Ins, Op, Outs
from stablehlo_ref.kinds import anything, boolean_scalar, per_tensor_quantized, si32_scalar, tensor, token
from stablehlo_ref.spec import BOOLEAN, compatible, scalar, size

Slots = list[Any]
Turns = Generator[Any, Any, None]  # what a generator of rendezvous with other processes is; mostly it yields nothing
Go = Callable[[Slots], Turns]
PlannedBlock = Any  # execute.run.BlockPlan: `.run(slots)`; `.arguments`, `.results` and `.outs` are slot numbers
PlanBlock = Callable[..., PlannedBlock]


def move(sources: Sequence[int], targets: Sequence[int]) -> Callable[[Slots], None]:
    """Copies slots to slots, all at once."""
    if len(sources) == 1:
        source, target = sources[0], targets[0]

        def move_one(slots: Slots) -> None:
            slots[target] = slots[source]

        return move_one

    def move_all(slots: Slots) -> None:
        values = [slots[source] for source in sources]
        for target, value in zip(targets, values):
            slots[target] = value

    return move_all


class If(Op, op="if"):
    """Runs `true_branch` or `false_branch` as `pred` says."""

    pred = In(boolean_scalar)  # I1
    true_branch = Body()  # I2
    false_branch = Body()  # I3
    results = Outs(anything)

    @staticmethod
    def infer(true_branch: Any) -> Any:
        return true_branch.outputs

    @staticmethod
    def constraints(C: Any, true_branch: Any, false_branch: Any, results: Any) -> None:
        C(1, len(true_branch.inputs) == len(false_branch.inputs) == 0)
        C(2, all_compatible(true_branch.outputs, false_branch.outputs))
        C(3, all_compatible(results, true_branch.outputs))

    @staticmethod
    def inline(pred: int, true_branch: PlanBlock, false_branch: PlanBlock, results: tuple[int, ...]) -> Go:
        when_true, when_false = branch(true_branch, results), branch(false_branch, results)

        def go(slots: Slots) -> Turns:
            return (when_true if slots[pred] else when_false)(slots)

        return go


class Case(Op, op="case"):
    """Runs the branch number `index`; the last one where there is no such branch."""

    index = In(si32_scalar)  # I1
    branches = Bodies()  # I2
    results = Outs(anything)

    @staticmethod
    def infer(branches: Any) -> Any:
        return branches[0].outputs

    @staticmethod
    def constraints(C: Any, branches: Any, results: Any) -> None:
        C(1, 0 < size(branches))
        C(2, all(size(b.inputs) == 0 for b in branches))
        C(3, all(all_compatible(b.outputs, branches[0].outputs) for b in branches))
        C(4, all_compatible(results, branches[0].outputs))

    @staticmethod
    def inline(index: int, branches: tuple[PlanBlock, ...], results: tuple[int, ...]) -> Go:
        steps = [branch(plan, results) for plan in branches]
        last = len(steps) - 1

        def go(slots: Slots) -> Turns:
            chosen = int(slots[index])
            return steps[chosen if 0 <= chosen < last else last](slots)

        return go


class While(Op, op="while"):
    """Runs `body` on the state for as long as `cond` says."""

    operand = Ins(anything)  # I1
    cond = Body()  # I2
    body = Body()  # I3
    results = Outs(anything)

    syntax = "custom(while)"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, cond: Any, body: Any, results: Any) -> None:
        C(1, all_compatible(cond.inputs, operand) and cond.outputs == (scalar(BOOLEAN),))
        C(2, all_compatible(body.inputs, operand) and all_compatible(body.outputs, operand))
        C(3, all_compatible(results, operand))

    @staticmethod
    def inline(operand: tuple[int, ...], cond: PlanBlock, body: PlanBlock, results: tuple[int, ...]) -> Go:
        loop = body()
        test = cond(shared=loop.arguments)
        (goes_on,) = test.results
        state = loop.arguments
        start, turn, finish = move(operand, state), move(loop.results, state), move(state, results)
        made = {slot for outs in loop.outs for slot in outs}  # not constants, nor values captured from above
        spent = tuple(slot for slot in loop.results if slot in made)

        def go(slots: Slots) -> Turns:
            context = slots[0]
            start(slots)
            while True:
                context.turn()
                if test.communicates:
                    yield from test.go(slots)
                else:
                    test.run(slots)
                if not slots[goes_on]:
                    break
                if loop.communicates:
                    yield from loop.go(slots)
                else:
                    loop.run(slots)
                turn(slots)
                for slot in spent:
                    slots[slot] = None
            finish(slots)
            for slot in state:
                slots[slot] = None

        return go


class OptimizationBarrier(Op, op="optimization_barrier"):
    """Returns its operands; keeps compilers from moving work across it, and there is none here."""

    on_storage = True
    operand = Ins(tensor | per_tensor_quantized | token)  # I1
    result = Outs(tensor | per_tensor_quantized | token)

    syntax = "attr-dict custom(barrier)"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, all_compatible(operand, result))

    @staticmethod
    def plan() -> Callable[..., Any]:
        def run(operands: tuple[Any, ...]) -> Any:
            return operands[0] if len(operands) == 1 else operands

        return run


class Return(Op, op="return"):
    """Ends a region and gives its results."""

    terminator = True
    results = Ins(anything)

    syntax = "operands attr-dict (: type(operands))?"


def branch(plan: PlanBlock, results: tuple[int, ...]) -> Go:
    """Runs a planned block and moves what it returns into `results`."""
    block = plan()
    finish = move(block.results, results)

    def go(slots: Slots) -> Turns:
        if block.communicates:
            yield from block.go(slots)
        else:
            block.run(slots)
        finish(slots)

    return go


def all_compatible(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    """Whether two lists of types are of one length and agree one by one."""
    return size(xs) == size(ys) and all(map(compatible, xs, ys))


def call(operands: tuple[int, ...], callee: str, results: tuple[int, ...], functions: Any, dying: frozenset[int]) -> Go:
    """Calls a function: the one of func.call and of composite. The callee gets the last reference to
    operands that die here, so that it may reuse them."""
    plan = functions(callee)
    unused = tuple(dying.intersection(results))
    spent = tuple(dying.difference(results))

    def go(slots: Slots) -> Turns:
        arguments = [slots[operand] for operand in operands]
        for slot in spent:
            slots[slot] = None
        communicates = plan.block.communicates
        returned = (yield from plan.go(slots[0], arguments)) if communicates else plan.call(slots[0], arguments)
        for slot, value in zip(results, returned):
            slots[slot] = value
        for slot in unused:
            slots[slot] = None

    return go
