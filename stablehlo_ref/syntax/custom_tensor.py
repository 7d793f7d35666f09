"""The pretty forms of tensor's slices and of its ops with regions, with numbers that are static or operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.syntax.custom_dialects import DYNAMIC
from stablehlo_ref.syntax.directive import Directive, Irregular, member_value
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def parse_numbers(parser: AsmParser, draft: Draft) -> tuple[int, ...]:
    """Parse `[1, %n, 3]`, with `DYNAMIC` for each operand."""

    def number() -> int:
        if parser.peek()[:1] != "%":
            return parser.integer()
        draft.operands.append(parser.operand())
        return DYNAMIC

    return tuple(parser.items(number, "[", "]"))


def numbers_text(printer: AsmPrinter, static: Sequence[int], dynamic: Iterator[Value]) -> str:
    """Return `[1, %n, 3]`; Irregular if there are too few operands."""
    written = []
    for n in static:
        operand = next(dynamic, None) if n == DYNAMIC else None
        if n == DYNAMIC and operand is None:
            raise Irregular
        written.append(str(n) if operand is None else printer.operand(operand))
    return f"[{', '.join(written)}]"


class Numbers(Directive):
    """Lists `[1, %n, 3]`, one for each of `lists`, each after its keyword if it has one; and the sizes of segments.

    `before` is the number of operands before them: `%source`, or `%source into %dest`.
    """

    def __init__(self, lists: dict[str, str], before: int = 1, flag: str = "") -> None:
        self.lists = lists
        self.before = before
        self.flag = flag
        self.members = (*lists, "operand_segment_sizes", *((flag,) if flag else ()))

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands.append(parser.operand())
        if self.before > 1:
            parser.expect("into")
            draft.operands.append(parser.operand())
        if self.flag and parser.accept(self.flag):
            draft.members[self.flag] = True
        sizes = [1] * self.before
        for member, keyword in self.lists.items():
            if keyword:
                parser.expect(keyword)
            draft.members[member] = numbers = parse_numbers(parser, draft)
            sizes.append(numbers.count(DYNAMIC))
        draft.members["operand_segment_sizes"] = tuple(sizes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        dynamic = iter(op.operands[self.before :])
        names = list(map(printer.operand, op.operands[: self.before]))
        lists = [kw + numbers_text(printer, member_value(op, m), dynamic) for m, kw in self.lists.items()]
        flag = [self.flag] if self.flag and op.properties.get(self.flag) else []
        if next(dynamic, None) is not None:
            raise Irregular
        first = " into ".join(names)
        if any(self.lists.values()):
            printer.value(" ".join((first, *flag, *lists)))
        else:
            printer.value(first + " ".join(lists))


class ElementBody(Directive):
    """`{...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions = [parser.region()]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1:
            raise Irregular
        printer.value("")
        printer.region(op.regions[0])


STRIDED = {"static_offsets": "", "static_sizes": "", "static_strides": ""}
TENSOR_FORMS: dict[str, Directive] = {
    "element_body": ElementBody(),
    "inserted_slice": Numbers(STRIDED, before=2),
    "padded": Numbers({"static_low": "low", "static_high": "high"}, flag="nofold"),
    "sliced": Numbers(STRIDED),
}
