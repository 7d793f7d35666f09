"""MLIR's scf dialect: structured control flow on values of any type.

Loops count as those of `stablehlo.while` do toward the limits of a run. A step of a `for` that is not positive is
undefined in MLIR, and here an EvaluationError.
"""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    OperandName,
    attribute_dictionary,
    implied,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Dims, Presence
from stablehlo_ref.define.bound import ControlFlowSite
from stablehlo_ref.define.computation import ControlFlow, PlanBlock, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Bodies, Body, In, Ins, Op, Outs, outputs_of, type_of
from stablehlo_ref.define.spec import is_unique, num_bits, size
from stablehlo_ref.define.type_constraints import anything, index
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects import mlir_types
from stablehlo_ref.dialects.mlir_types import ArrowTypes, boolean, fixed_integer
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, INDEX, FunctionType, IndexType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.control_flow import (
    all_compatible,
    are_located,
    branch,
    branch_on,
    carry,
    inits_text,
    iterate,
    move,
    parse_inits,
)

YIELD, RESULTS = "scf.yield", ArrowTypes()


def print_region(printer: AsmPrinter, region: Region, names: Sequence[str] | None = None) -> None:
    """Print a region without the terminator that is implied; Irregular if it has several blocks or labels."""
    if len(region.blocks) != 1 or (names is None and region.block.arguments):
        raise Irregular
    printer.value("")
    printer.region(region, names, implied=YIELD)


def _arguments(region: Region) -> list[Value]:
    return region.block.arguments if len(region.blocks) == 1 else []


class IndexSwitchForm(Directive):
    """`%arg {...} -> types case 2 {...} case 5 {...} default {...}`."""

    members = ("cases",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (INDEX,)
        attribute_dictionary(parser, draft)
        if parser.accept("->"):
            draft.result_types = parser.result_types() if parser.peek() == "(" else parser.type_list()
        cases: list[int] = []
        while parser.accept("case"):
            cases.append(parser.integer())
            draft.regions.append(parser.region(implied=YIELD))
        parser.expect("default")
        draft.regions.insert(0, parser.region(implied=YIELD))
        draft.members["cases"] = tuple(cases)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        cases = member_value(op, "cases")
        if len(op.regions) != 1 + len(cases):
            raise Irregular
        printer.value(printer.operand(op.operands[0]))
        printer.dictionary(op, self.members)
        if op.results:
            printer.value(f"-> {', '.join(map(str, op.result_types))}")
        for head, region in zip([*(f"case {case}" for case in cases), "default"], (*op.regions[1:], op.regions[0])):
            printer.newline()
            printer.value(head)
            print_region(printer, region)


class ForForm(Directive):
    """`%i = %lower to %upper step %step iter_args(%argument = %init) -> (types) : type {...}`.

    The type is that of the bounds; it is omitted if it is `index`.
    """

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        number = parser.operand()
        parser.expect("=")
        lower = parser.operand()
        parser.expect("to")
        upper = parser.operand()
        parser.expect("step")
        step, names, inits = parser.operand(), list[OperandName](), list[OperandName]()
        if parser.accept("iter_args"):
            names, inits = parse_inits(parser)
            RESULTS.parse(parser, draft)
        offset = parser.start
        type = parser.type() if parser.accept(":") else INDEX
        if len(draft.result_types) != len(inits):
            raise parser.error(f"expected types of {len(inits)} iter_args, got {len(draft.result_types)}", offset)
        draft.operands = [lower, upper, step, *inits]
        draft.operand_types = (type, type, type, *draft.result_types)
        arguments = parser.arguments([number, *names], (type, *draft.result_types))
        draft.regions = [parser.region(arguments, implied=YIELD)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        lower, upper, step, *inits = op.operands
        arguments = _arguments(op.regions[0])
        if [v.type for v in arguments] != [lower.type, *op.result_types] or len(set(op.operand_types[:3])) != 1:
            raise Irregular
        if [v.type for v in inits] != op.result_types or are_located(printer, arguments):
            raise Irregular
        number, *names = printer.region_argument_names(arguments)
        bounds = f"{printer.operand(lower)} to {printer.operand(upper)} step {printer.operand(step)}"
        printer.value(f"%{number} = {bounds}")
        if inits:
            printer.value(f"iter_args({inits_text(printer, names, inits)})")
            RESULTS.print(printer, op)
        if lower.type != INDEX:
            printer.value(f": {lower.type}")
        print_region(printer, op.regions[0], [number, *names])


class WhileForm(Directive):
    """`(%argument = %init, ...) : (types) -> (types) {...} do {...} attributes {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        names, draft.operands = parse_inits(parser) if parser.peek() == "(" else ([], [])
        parser.expect(":")
        parser.functional_type(draft)
        before = parser.region(parser.arguments(names, draft.operand_types or ()))
        parser.expect("do")
        draft.regions = [before, parser.region()]
        attribute_dictionary(parser, draft, "attributes")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        arguments = _arguments(op.regions[0])
        types: list[Type] = [argument.type for argument in arguments]
        if len(op.regions[0].blocks) != 1 or types != op.operand_types or are_located(printer, arguments):
            raise Irregular
        names = printer.region_argument_names(arguments)
        if op.operands:
            printer.value(f"({inits_text(printer, names, op.operands)})")
        printer.value(f": {FunctionType(tuple(types), tuple(op.result_types))}")
        printer.value("")
        printer.region(op.regions[0], names)
        printer.value("do ")
        printer.region(op.regions[1])
        printer.dictionary(op, keyword="attributes")


class ConditionForm(Directive):
    """`(%condition) {...} %args : types`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.expect("(")
        draft.operands, draft.operand_types = [parser.operand()], (BOOLEAN,)
        parser.expect(")")
        attribute_dictionary(parser, draft)
        if args := parser.operand_list():
            parser.expect(":")
            draft.operands += args
            draft.operand_types += parser.type_list()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        condition, *args = op.operands
        printer.literal("(")
        printer.value(f"{printer.operand(condition)})")
        printer.dictionary(op)
        if args:
            printer.value(f"{printer.operands(args)} : {', '.join(str(v.type) for v in args)}")


class If(Op, op="if", dialect="scf", runs_once=True):
    """Run `then_region` if `condition` is true, else `else_region`, which may be absent if there are no results."""

    condition = In(boolean)
    then_region = Body(implied=YIELD)
    else_region = Body(optional=True, implied=YIELD)
    results = Outs(anything)

    syntax = (
        "$condition",
        RESULTS,
        "$then_region (else $else_region)? attr-dict",
        implied(None, lambda n: [BOOLEAN] * n),
    )

    infer = outputs_of("then_region")

    @staticmethod
    def constraints(C: Checker, then_region: FunctionType, else_region: FunctionType, results: Sequence[Type]) -> None:
        C(1, size(then_region.inputs) == size(else_region.inputs) == 0)
        C(2, all_compatible(then_region.outputs, results))
        C(3, all_compatible(else_region.outputs, results))

    @staticmethod
    def plan_control_flow(
        condition: int, then_region: PlanBlock, else_region: PlanBlock, results: tuple[int, ...]
    ) -> ControlFlow:
        return branch_on(condition, then_region, else_region, results)


class IndexSwitch(Op, op="index_switch", dialect="scf", runs_once=True):
    """Run the region of the case that is `arg`, or `default_region` if there is none."""

    arg = In(index)
    cases = Attr(Dims)
    default_region = Body()
    case_regions = Bodies()
    results = Outs(anything)

    syntax = (IndexSwitchForm(),)

    infer = outputs_of("default_region")

    @staticmethod
    def constraints(
        C: Checker,
        cases: Dims,
        default_region: FunctionType,
        case_regions: Sequence[FunctionType],
        results: Sequence[Type],
    ) -> None:
        C(1, size(cases) == size(case_regions))
        C(2, is_unique(cases))
        C(3, all(size(r.inputs) == 0 for r in (default_region, *case_regions)))
        C(4, all(all_compatible(r.outputs, results) for r in (default_region, *case_regions)))

    @staticmethod
    def plan_control_flow(
        arg: int, cases: Dims, default_region: PlanBlock, case_regions: Sequence[PlanBlock], results: tuple[int, ...]
    ) -> ControlFlow:
        default = branch(default_region, results)
        known = {case: branch(region, results) for case, region in zip(cases, case_regions)}

        def go(slots: Slots) -> Turns:
            return known.get(int(slots[arg]), default)(slots)

        return go


class ExecuteRegion(Op, op="execute_region", dialect="scf", multiple_blocks=True, runs_once=True):
    """Run `region`, which may have several blocks."""

    region = Body()
    no_inline = Attr(Presence, default=False)
    results = Outs(anything)

    syntax = ("(no_inline $no_inline)?", ArrowTypes(bare=True), "$region attr-dict-apart")

    infer = outputs_of("region")

    @staticmethod
    def constraints(C: Checker, region: FunctionType, results: Sequence[Type]) -> None:
        C(1, size(region.inputs) == 0)
        C(2, all_compatible(region.outputs, results))

    @staticmethod
    def plan_control_flow(region: PlanBlock, results: tuple[int, ...]) -> ControlFlow:
        return branch(region, results)


class For(Op, op="for", dialect="scf"):
    """Run `region` for each number from `lower_bound` up to, not including, `upper_bound`, on loop-carried values."""

    lower_bound = In(fixed_integer | index)
    upper_bound = In(fixed_integer | index)
    step = In(fixed_integer | index)
    init_args = Ins(anything)
    unsigned_cmp = Attr(Presence, default=False, name="unsignedCmp")
    region = Body()
    results = Outs(anything)

    syntax = ("(unsigned $unsigned_cmp)?", ForForm(), "attr-dict-apart")

    infer = type_of("init_args")

    @staticmethod
    def constraints(
        C: Checker,
        lower_bound: Type,
        upper_bound: Type,
        step: Type,
        init_args: Sequence[Type],
        region: FunctionType,
        results: Sequence[Type],
    ) -> None:
        C(1, lower_bound == upper_bound == step)
        C(2, all_compatible(region.inputs, (lower_bound, *init_args)))
        C(3, all_compatible(region.outputs, init_args))
        C(4, all_compatible(results, init_args))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        lower_bound: int,
        upper_bound: int,
        step: int,
        init_args: tuple[int, ...],
        unsigned_cmp: Presence,
        region: PlanBlock,
        results: tuple[int, ...],
    ) -> ControlFlow:
        block = region()
        number, *state = block.arguments
        start, next_state, finish = move(init_args, state), carry(block, state), move(state, results)
        type = site.op.operands[0].type
        bits = 64 if isinstance(type, IndexType) else num_bits(type)
        modulus, as_number = 1 << bits, numpy_dtype(type).type

        def go(slots: Slots) -> Turns:
            bounds = [int(slots[slot]) for slot in (lower_bound, upper_bound, step)]
            first, stop, stride = [x % modulus for x in bounds] if unsigned_cmp else bounds
            if stride <= 0:
                raise EvaluationError(f"the step of the loop is {stride}, not a positive number")
            start(slots)
            signed = (i - modulus if bits > 1 and 2 * i >= modulus else i for i in range(first, stop, stride))
            yield from iterate(slots, block, number, map(as_number, signed), next_state)
            finish(slots)
            for slot in state:
                slots[slot] = None

        return go


class While(Op, op="while", dialect="scf"):
    """Run `before` and, as long as its condition holds, `after` on what it forwards, in turn.

    The results are what `before` forwards when the condition is false.
    """

    inits = Ins(anything)
    before = Body()
    after = Body()
    results = Outs(anything)

    syntax = (WhileForm(),)

    @staticmethod
    def constraints(
        C: Checker, inits: Sequence[Type], before: FunctionType, after: FunctionType, results: Sequence[Type]
    ) -> None:
        C(1, all_compatible(before.inputs, inits))
        C(2, all_compatible(before.outputs, (BOOLEAN, *results)))
        C(3, all_compatible(after.inputs, results))
        C(4, all_compatible(after.outputs, inits))

    @staticmethod
    def plan_control_flow(
        inits: tuple[int, ...], before: PlanBlock, after: PlanBlock, results: tuple[int, ...]
    ) -> ControlFlow:
        test, body = before(), after()
        continues, *forwarded = test.results
        start, finish = move(inits, test.arguments), move(forwarded, results)
        enter, next_state = carry(test, body.arguments, forwarded), carry(body, test.arguments)

        def go(slots: Slots) -> Turns:
            start(slots)
            while True:
                slots[0].turn()
                if test.communicates:
                    yield from test.coroutine(slots)
                else:
                    test.run(slots)
                if not slots[continues]:
                    return finish(slots)
                enter(slots)
                if body.communicates:
                    yield from body.coroutine(slots)
                else:
                    body.run(slots)
                next_state(slots)

        return go


class Yield(mlir_types.Yield, op="yield", dialect="scf"):
    """Return `results` as the results of a region."""


class Condition(Op, op="condition", dialect="scf", terminator=True):
    """Terminate the first region of a `while`: forward `args`, to the second region if `condition` is true."""

    condition = In(boolean)
    args = Ins(anything)

    syntax = (ConditionForm(),)
