"""Control flow: if, case, while and optimization_barrier; asynchronous ops.

`if`, `case` and `while` run their regions in the slots of the surrounding function. A value that a region captures is a
slot like any other, and a loop is planned once for all its iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    OperandName,
    attribute_dictionary,
    is_plain,
)
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, PlanBlock, PlannedBlock, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CALLS, KEEPS, MOVES
from stablehlo_ref.define.op import Bodies, Body, In, Ins, Op, Out, Outs, outputs_of, type_of
from stablehlo_ref.define.spec import compatible, scalar, size
from stablehlo_ref.define.type_constraints import (
    boolean_scalar,
    future,
    per_tensor_quantized,
    si32_scalar,
    tensor,
    tensor_or_token,
    tensor_token_or_buffer,
    token,
)
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, FutureType, TensorType, TokenType, Type


def move(sources: Sequence[int], targets: Sequence[int]) -> Callable[[Slots], None]:
    """Return a function that copies slots to slots, reading all of them before it writes any."""
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


def carry(block: PlannedBlock, targets: Sequence[int], sources: Sequence[int] = ()) -> Callable[[Slots], None]:
    """Return a function that moves results of a block, all by default, and empties the slots of what it has made."""
    sources = sources or block.results
    made = {slot for outs in block.outs for slot in outs}  # neither constants nor values captured from above
    moved = tuple(made.intersection(sources).difference(targets))
    copy = move(sources, targets)

    def go(slots: Slots) -> None:
        copy(slots)
        for slot in moved:
            slots[slot] = None

    return go


def iterate(
    slots: Slots, block: PlannedBlock, number: int, values: Iterable[Any], next_state: Callable[[Slots], None]
) -> Turns:
    """Run a block once for each value of its argument in slot `number`; `next_state` carries its results on."""
    for value in values:
        slots[0].turn()
        slots[number] = value
        if block.communicates:
            yield from block.coroutine(slots)
        else:
            block.run(slots)
        next_state(slots)


class If(Op, op="if", runs_once=True, facts=CALLS):
    """Run `true_branch` if `pred` is true, else `false_branch`."""

    pred = In(boolean_scalar)  # I1
    true_branch = Body()  # I2
    false_branch = Body()  # I3
    results = Outs(tensor_or_token)

    infer = outputs_of("true_branch")

    @staticmethod
    def constraints(C: Checker, true_branch: FunctionType, false_branch: FunctionType, results: Sequence[Type]) -> None:
        C(1, len(true_branch.inputs) == len(false_branch.inputs) == 0)
        C(2, all_compatible(true_branch.outputs, false_branch.outputs))
        C(3, all_compatible(results, true_branch.outputs))

    @staticmethod
    def plan_control_flow(
        pred: int, true_branch: PlanBlock, false_branch: PlanBlock, results: tuple[int, ...]
    ) -> ControlFlow:
        """Plan `results = true_branch() if pred else false_branch()`; both branches are planned, one runs."""
        return branch_on(pred, true_branch, false_branch, results)


class Case(Op, op="case", runs_once=True, facts=CALLS):
    """Run the branch number `index`; the last branch if `index` is out of range."""

    index = In(si32_scalar)  # I1
    branches = Bodies()  # I2
    results = Outs(tensor_or_token)

    @staticmethod
    def infer(branches: Sequence[FunctionType]) -> Sequence[Type]:
        return branches[0].outputs

    @staticmethod
    def constraints(C: Checker, branches: Sequence[FunctionType], results: Sequence[Type]) -> None:
        C(1, 0 < size(branches))
        C(2, all(size(b.inputs) == 0 for b in branches))
        C(3, all(all_compatible(b.outputs, branches[0].outputs) for b in branches))
        C(4, all_compatible(results, branches[0].outputs))

    @staticmethod
    def plan_control_flow(index: int, branches: Sequence[PlanBlock], results: tuple[int, ...]) -> ControlFlow:
        """Plan `results = branches[index]()`, or `branches[-1]()` if `index` is out of range."""
        steps = [branch(plan, results) for plan in branches]
        last = len(steps) - 1

        def go(slots: Slots) -> Turns:
            selected = int(slots[index])
            return steps[selected if 0 <= selected < last else last](slots)

        return go


def parse_inits(parser: AsmParser) -> tuple[list[OperandName], list[OperandName]]:
    """Parse `(%argument = %init, ...)`; return the arguments, and what they are at first."""
    arguments: list[OperandName] = []

    def pair() -> OperandName:
        arguments.append(parser.operand())
        parser.expect("=")
        return parser.operand()

    inits = parser.items(pair, "(", ")")
    return arguments, inits


def inits_text(printer: AsmPrinter, names: Sequence[str], inits: Sequence[Value]) -> str:
    """Return `%argument = %init, ...`."""
    return ", ".join(f"%{name} = {printer.operand(init)}" for name, init in zip(names, inits))


def are_located(printer: AsmPrinter, arguments: Sequence[Value]) -> bool:
    """Return whether arguments have locations to be printed, for which forms of loops have no place."""
    return printer.locations and any(argument.location is not None for argument in arguments)


class WhileForm(Directive):
    """`(%arg = %init, ...) : types attributes {...} cond {...} do {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        names, draft.operands = parse_inits(parser)
        types: tuple[Type, ...] = ()
        if names:
            parser.expect(":")
            types = parser.type_list(len(names))
        draft.operand_types = draft.result_types = types
        attribute_dictionary(parser, draft, "attributes")
        for keyword in ("cond", "do"):
            parser.expect(keyword)
            draft.regions.append(parser.region(parser.arguments(names, types)))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 2 or op.operand_types != op.result_types or not all(map(is_plain, op.regions)):
            raise Irregular
        cond, body = (region.block.arguments for region in op.regions)
        if not op.operand_types == [v.type for v in cond] == [v.type for v in body]:
            raise Irregular
        if are_located(printer, (*cond, *body)):
            raise Irregular
        names = printer.region_argument_names(cond, body)
        printer.literal("(")
        printer.value(f"{inits_text(printer, names, op.operands)})")
        if op.operands:
            printer.value(f": {', '.join(map(str, op.operand_types))}")
        printer.dictionary(op, keyword="attributes")
        for keyword, region in zip(("cond", "do"), op.regions):
            if keyword == "cond":
                printer.newline()
            printer.value(f"{keyword} ")
            printer.region(region, names)


class Barrier(Directive):
    """`%0, %1 : type, type`, or `()`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("("):
            parser.expect(")")
            return
        draft.operands = parser.operand_list()
        parser.expect(":")
        draft.operand_types = draft.result_types = parser.type_list(len(draft.operands))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operand_types != op.result_types:
            raise Irregular
        if not op.operands:
            printer.literal("(")
            printer.literal(")")
            return
        printer.value(f"{printer.operands(op.operands)} : {', '.join(map(str, op.operand_types))}")


class While(Op, op="while", facts=CALLS):
    """Run `body` on the loop state as long as `cond` returns true."""

    operand = Ins(tensor_token_or_buffer)  # I1
    cond = Body()  # I2
    body = Body()  # I3
    results = Outs(tensor_token_or_buffer)

    syntax = (WhileForm(),)

    infer = type_of("operand")

    @staticmethod
    def constraints(
        C: Checker, operand: Sequence[Type], cond: FunctionType, body: FunctionType, results: Sequence[Type]
    ) -> None:
        C(1, all_compatible(cond.inputs, operand) and cond.outputs == (scalar(BOOLEAN),))
        C(2, all_compatible(body.inputs, operand) and all_compatible(body.outputs, operand))
        C(3, all_compatible(results, operand))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, operand: tuple[int, ...], cond: PlanBlock, body: PlanBlock, results: tuple[int, ...]
    ) -> ControlFlow:
        """Plan `internal_state = operand; while cond(*internal_state): internal_state = body(*internal_state)`.

        The arguments of `body` are the internal state, which `cond` reads in the same slots. Each slot of the state is
        emptied as soon as the value has moved, so that only one copy of the state is alive.
        """
        block = body()
        internal_state = block.arguments
        test = cond(shared=internal_state)
        (continues,) = test.results
        start, next_state = move(operand, internal_state), carry(block, internal_state)
        finish, finish_loop = move(internal_state, results), site.finish_loop

        def go(slots: Slots) -> Turns:
            context = slots[0]
            start(slots)
            while finish_loop is None or not finish_loop(slots):
                context.turn()
                if test.communicates:
                    yield from test.coroutine(slots)
                else:
                    test.run(slots)
                if not slots[continues]:
                    break
                if block.communicates:
                    yield from block.coroutine(slots)
                else:
                    block.run(slots)
                next_state(slots)
            finish(slots)
            for slot in internal_state:
                slots[slot] = None

        return go


class OptimizationBarrier(
    Op,
    op="optimization_barrier",
    computes_on_storage=True,
    returns_views=True,
    nans="moved",
    facts=replace(KEEPS, fusion="never"),
):
    """Return the operands. The op keeps compilers from moving ops across it; an interpreter moves none."""

    operand = Ins(tensor | per_tensor_quantized | token)  # I1
    result = Outs(tensor | per_tensor_quantized | token)

    syntax = ("attr-dict", Barrier())

    infer = type_of("operand")

    @staticmethod
    def constraints(
        C: Checker, operand: Sequence[TensorType | TokenType], result: Sequence[TensorType | TokenType]
    ) -> None:
        C(1, all_compatible(operand, result))

    @staticmethod
    def plan() -> Run:
        def run(operands: tuple[RuntimeValue, ...]) -> RuntimeValue:
            return operands[0] if len(operands) == 1 else operands

        return run


class Return(Op, op="return", terminator=True, facts=MOVES):
    """Terminate a region and return its results."""

    results = Ins(tensor_token_or_buffer)

    syntax = "operands attr-dict (: type(operands))?"


def branch(plan: PlanBlock, results: tuple[int, ...]) -> ControlFlow:
    """Plan a block that takes no arguments and returns its values in the slots `results`."""
    block = plan()
    finish = move(block.results, results)

    def go(slots: Slots) -> Turns:
        if block.communicates:
            yield from block.coroutine(slots)
        else:
            block.run(slots)
        finish(slots)

    return go


def branch_on(condition: int, if_true: PlanBlock, if_false: PlanBlock, results: tuple[int, ...]) -> ControlFlow:
    """Plan two blocks, of which one runs, by the condition in a slot."""
    run_true, run_false = branch(if_true, results), branch(if_false, results)

    def go(slots: Slots) -> Turns:
        return (run_true if slots[condition] else run_false)(slots)

    return go


def type_of_function(symbol: Operation | None) -> FunctionType | None:
    """Return the type of a `func.func`; None for any other op."""
    found = symbol.properties.get("function_type") if symbol is not None and symbol.name == "func.func" else None
    return found if isinstance(found, FunctionType) else None


def all_compatible(xs: Sequence[Type], ys: Sequence[Type]) -> bool:
    """Return whether two lists of types have the same length and are compatible element by element."""
    return size(xs) == size(ys) and all(map(compatible, xs, ys))


def call(
    operands: tuple[int, ...],
    callee: str,
    results: tuple[int, ...],
    functions: Callable[[str], Callee],
    dying: frozenset[int],
) -> ControlFlow:
    """Plan the call of a function, for `func.call` and `composite`.

    The callee gets the last reference to operands that die here, so that it may reuse their memory.
    """
    plan = functions(callee)
    unused = tuple(dying.intersection(results))
    last_used = tuple(dying.difference(results))

    def go(slots: Slots) -> Turns:
        arguments = [slots[operand] for operand in operands]
        for slot in last_used:
            slots[slot] = None
        communicates = plan.block.communicates
        returned = (yield from plan.coroutine(slots[0], arguments)) if communicates else plan.call(slots[0], arguments)
        for slot, value in zip(results, returned):
            slots[slot] = value
        for slot in unused:
            slots[slot] = None

    return go


# --- asynchronous ops: async_start runs its op at once, so a future is the tuple of its results ----------------------


COLLECTIVES = (
    "all_reduce", "all_gather", "all_to_all", "collective_permute", "reduce_scatter", "collective_broadcast",
)  # fmt: skip
SLICES = ("slice", "dynamic_slice", "dynamic_update_slice")
MAY_BE_ASYNCHRONOUS = tuple(f"stablehlo.{op}" for op in COLLECTIVES + SLICES)


class AsyncStart(Op, op="async_start", shadows_names=True, facts=CALLS):
    """Start the op in `body` and return a future of its results.

    The op takes the arguments of `body`, or, if `body` has no arguments, values from above as in the spec's example.
    """

    operands = Ins(tensor | per_tensor_quantized)  # I1
    body = Body()  # I2
    result = Out(future)

    @staticmethod
    def infer(body: FunctionType) -> FutureType:
        return FutureType(body.outputs)

    @staticmethod
    def constraints(
        C: Checker, site: Site, operands: Sequence[TensorType], body: FunctionType, result: FutureType
    ) -> None:
        operations, arguments = site.op.regions[0].block.operations, site.op.regions[0].block.arguments
        taken = operations[0].operands
        C(1, size(operations) == 2 and operations[1].operands == operations[0].results)
        C(2, operations[0].name in MAY_BE_ASYNCHRONOUS)
        C(3, all_compatible(operands, operations[0].operand_types))
        if arguments:
            C(3, taken == arguments and tuple(operands) == body.inputs)
        C(4, result.elements == body.outputs)

    @staticmethod
    def plan_control_flow(operands: tuple[int, ...], body: PlanBlock, result: int) -> ControlFlow:
        block = body()
        start = move(operands[: len(block.arguments)], block.arguments)

        def go(slots: Slots) -> Turns:
            start(slots)
            if block.communicates:
                yield from block.coroutine(slots)
            else:
                block.run(slots)
            slots[result] = tuple(slots[slot] for slot in block.results)

        return go


class AsyncDone(Op, op="async_done", computes_on_storage=True, facts=CALLS):
    """Return the results of an asynchronous op."""

    operand = In(future)  # I1
    result = Outs(tensor_or_token)

    @staticmethod
    def infer(operand: FutureType) -> Sequence[Type]:
        return operand.elements

    @staticmethod
    def constraints(C: Checker, operand: FutureType, result: Sequence[Type]) -> None:
        C(1, result == operand.elements)

    @staticmethod
    def plan(result: Sequence[Type]) -> Run:
        return (lambda values: values[0]) if len(result) == 1 else lambda values: values
