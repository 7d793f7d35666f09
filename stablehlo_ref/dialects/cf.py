"""MLIR's cf dialect: assertions, and branches between the blocks of a region."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, implied
from stablehlo_ref.define.attribute_codecs import AttributeCodec, Opaque, SegmentSizes, String
from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.computation import Run, Slots
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.op import Attr, In, Ins, Op, returns
from stablehlo_ref.define.spec import size
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import boolean, fixed_integer
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseElements, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, BooleanType, IntegerType, Type, integer_type

T = TypeVar("T")


class CaseValues(NamedTuple):
    """The numbers of the cases of a switch, and their type."""

    type: Type
    values: tuple[int, ...]


class CaseValuesCodec(AttributeCodec[CaseValues]):
    """`dense<[42, 43]> : vector<2xi32>`; a tensor is accepted, too."""

    name = "list of integers"

    def read(self, attribute: Attribute) -> CaseValues | None:
        if isinstance(attribute, DenseElements) and attribute.array.ndim == 1:
            return CaseValues(attribute.type.element_type, tuple(map(int, attribute.array.tolist())))
        match = VECTOR.fullmatch(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
        if match is None:
            return None
        values = tuple(int(number) for number in re.findall(r"-?\d+", match[1]))
        count = int(match[2])
        if len(values) != count and not (len(values) == 1 and "[" not in match[1]):
            return None
        return CaseValues(integer_type(int(match[3])), values if len(values) == count else values * count)

    def encode(self, value: CaseValues) -> Attribute:
        is_splat = len(set(value.values)) == 1
        elements = value.values[0] if is_splat else list(value.values)
        return OpaqueAttribute(f"dense<{elements}> : vector<{len(value.values)}x{value.type}>")


VECTOR = re.compile(r"dense<\s*([-\[\]\d, ]*)>\s*:\s*vector<(\d{1,6})xi(\d{1,2})>")
Cases: TypeAlias = Annotated[CaseValues, CaseValuesCodec()]
Choose: TypeAlias = Callable[[Slots], int]


class Assert(Op, op="assert", dialect="cf", effects=True):
    """Raise EvaluationError with the message `msg` unless `arg` is true."""

    arg = In(boolean)
    msg = Attr(String)

    syntax = ("operands, $msg attr-dict", implied((), lambda n: [BOOLEAN] * n))

    @staticmethod
    def plan(msg: String) -> Run:
        def run(context: Context, arg: Array) -> tuple[()]:
            if not arg:
                raise EvaluationError(f"assertion failed: {msg}")
            return ()

        return run


def parse_successor(parser: AsmParser, draft: Draft) -> int:
    """Parse `^label(%operands : types)` and return the number of operands."""
    draft.successors.append(parser.label())
    if not parser.accept("("):
        return 0
    operands = parser.operand_list()
    parser.expect(":")
    types = parser.type_list(len(operands))
    parser.expect(")")
    draft.operands += operands
    draft.operand_types = (*(draft.operand_types or ()), *types)
    return len(operands)


def successor_texts(printer: AsmPrinter, op: Operation, first: int = 0) -> list[str]:
    """Return the text of each successor, which the operands from `first` on are for; Irregular if they do not fit."""
    try:
        sizes = [len(types) for types in bind_types(op, REGISTRY[op.name]).call("forwarded")]
    except (LookupError, TypeError, ValueError):
        raise Irregular from None
    if len(sizes) != len(op.successors) or first + sum(sizes) != len(op.operands):
        raise Irregular
    texts = []
    for label, count in zip(op.successors, sizes):
        values = op.operands[first : first + count]
        first += count
        types = ", ".join(str(value.type) for value in values)
        texts.append(f"^{label}({printer.operands(values)} : {types})" if values else f"^{label}")
    return texts


class Successor(Directive):
    """`^label(%operands : types)`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parse_successor(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(", ".join(successor_texts(printer, op)))


class ConditionalSuccessors(Directive):
    """`%condition, ^label(%operands : types), ^label(%operands : types)`."""

    members = ("operand_segment_sizes",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands, draft.operand_types = [parser.operand()], (BOOLEAN,)
        sizes = [1]
        for _ in range(2):
            parser.expect(",")
            sizes.append(parse_successor(parser, draft))
        draft.members["operand_segment_sizes"] = tuple(sizes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        texts = successor_texts(printer, op, 1)
        printer.value(", ".join((printer.operand(op.operands[0]), *texts)))


class SwitchSuccessors(Directive):
    """`%flag : type, [default: ^label(%operands : types), 42: ^label(%operands : types), ...]`."""

    members = ("case_values", "case_operand_segments", "operand_segment_sizes")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands = [parser.operand()]
        parser.expect(":")
        offset, type = parser.start, parser.type()
        if not isinstance(type, IntegerType | BooleanType):
            raise parser.error(f"expected an integer type, got {type}", offset)
        draft.operand_types = (type,)
        parser.expect(",")
        cases = parser.items(lambda: self._case(parser, draft), "[", "]")
        if not cases or cases[0][0] is not None or any(value is None for value, _ in cases[1:]):
            raise parser.error("expected 'default' as the first of the cases, and only there", offset)
        # MLIR prints -2 of type i32 as 4294967294.
        high = 1 << type.width - 1 if isinstance(type, IntegerType) else 2
        values = [v - 2 * high if high <= v < 2 * high else v for v, _ in cases[1:] if v is not None]
        sizes = [size for _, size in cases]
        if values:
            draft.members["case_values"] = CaseValues(type, tuple(values))
        draft.members["case_operand_segments"] = tuple(sizes[1:])
        draft.members["operand_segment_sizes"] = (1, sizes[0], sum(sizes[1:]))

    def _case(self, parser: AsmParser, draft: Draft) -> tuple[int | None, int]:
        value = None if parser.accept("default") else parser.integer()
        parser.expect(":")
        return value, parse_successor(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        flag, texts = op.operands[0], successor_texts(printer, op, 1)
        cases = op.properties.get("case_values") or CaseValues(flag.type, ())
        if not isinstance(cases, CaseValues) or len(texts) != 1 + len(cases.values) or cases.type != flag.type:
            raise Irregular
        labels = ["default", *map(str, cases.values)]
        written = ", ".join(f"{label}: {text}" for label, text in zip(labels, texts))
        printer.value(f"{printer.operand(flag)} : {flag.type}, [{written}]")


class Branch(Op, op="br", dialect="cf", terminator=True):
    """Branch to a block, whose arguments become `dest_operands`."""

    dest_operands = Ins(anything)

    syntax = (Successor(), "attr-dict")

    @staticmethod
    def forwarded(dest_operands: Sequence[T]) -> Sequence[Sequence[T]]:
        return [dest_operands]

    plan_branch = returns(lambda slots: 0)


class CondBranch(Op, op="cond_br", dialect="cf", terminator=True):
    """Branch to the first successor if `condition` is true, else to the second.

    `operand_segment_sizes` says how many of `dest_operands` become the arguments of either, after one condition.
    """

    condition = In(boolean)
    dest_operands = Ins(anything)
    branch_weights = Attr(Opaque, default=None)
    operand_segment_sizes = Attr(SegmentSizes, name="operandSegmentSizes")

    syntax = (ConditionalSuccessors(), "attr-dict")

    @staticmethod
    def constraints(C: Checker, dest_operands: Sequence[Type], operand_segment_sizes: SegmentSizes) -> None:
        C(1, size(operand_segment_sizes) == 3 and operand_segment_sizes[0] == 1)
        C(2, sum(operand_segment_sizes) == 1 + size(dest_operands))

    @staticmethod
    def forwarded(dest_operands: Sequence[T], operand_segment_sizes: SegmentSizes) -> Sequence[Sequence[T]]:
        return split(dest_operands, operand_segment_sizes[1:])

    @staticmethod
    def plan_branch(condition: int) -> Choose:
        return lambda slots: 0 if slots[condition] else 1


class Switch(Op, op="switch", dialect="cf", terminator=True):
    """Branch to the successor whose number in `case_values` is `flag`, or to the first successor, the default.

    `operand_segment_sizes` counts the flag, the operands of the default and those of all cases;
    `case_operand_segments` those of each case.
    """

    flag = In(fixed_integer)
    dest_operands = Ins(anything)
    case_values = Attr(Cases, default=None)
    case_operand_segments = Attr(SegmentSizes)
    operand_segment_sizes = Attr(SegmentSizes, name="operandSegmentSizes")

    syntax = (SwitchSuccessors(), "attr-dict")

    @staticmethod
    def constraints(
        C: Checker,
        flag: Type,
        dest_operands: Sequence[Type],
        case_values: Cases | None,
        case_operand_segments: SegmentSizes,
        operand_segment_sizes: SegmentSizes,
    ) -> None:
        C(1, size(operand_segment_sizes) == 3 and operand_segment_sizes[0] == 1)
        C(2, sum(operand_segment_sizes) == 1 + size(dest_operands))
        C(3, sum(case_operand_segments) == operand_segment_sizes[2])
        if case_values is None:
            C(4, size(case_operand_segments) == 0)
            return
        C(5, case_values.type == flag)
        C(6, size(case_values.values) == size(case_operand_segments))

    @staticmethod
    def forwarded(
        dest_operands: Sequence[T], case_operand_segments: SegmentSizes, operand_segment_sizes: SegmentSizes
    ) -> Sequence[Sequence[T]]:
        return split(dest_operands, (operand_segment_sizes[1], *case_operand_segments))

    @staticmethod
    def plan_branch(flag: int, case_values: Cases | None) -> Choose:
        values = () if case_values is None else case_values.values
        successors = {value: number for number, value in reversed(list(enumerate(values, 1)))}
        return lambda slots: successors.get(int(slots[flag]), 0)


def split(values: Sequence[T], sizes: Sequence[int]) -> list[Sequence[T]]:
    """Return consecutive parts of `values` with these sizes."""
    ends = list(accumulate(sizes))
    return [values[start:end] for start, end in zip([0, *ends], ends)]
