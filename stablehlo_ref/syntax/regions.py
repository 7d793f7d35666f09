"""The pretty forms of ops with regions: while, reduce and scan."""

from __future__ import annotations

from stablehlo_ref.define.definition import REGISTRY, OpDefinition, definition_of
from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Irregular,
    attribute_dictionary,
    member_value,
    other_attributes,
    print_dictionary,
)
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


class While(Directive):
    """`(%arg = %init, ...) : types attributes {...} cond {...} do {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        pairs = parser.items(lambda: self._pair(parser), "(", ")")
        draft.operands = [init for _, init in pairs]
        types = self._types(parser, len(pairs)) if pairs else ()
        draft.operand_types = draft.result_types = types
        attribute_dictionary(parser, draft, "attributes")
        for keyword in ("cond", "do"):
            parser.expect(keyword)
            draft.regions.append(parser.region(parser.arguments([arg for arg, _ in pairs], types)))

    def _types(self, parser: AsmParser, count: int) -> tuple[Type, ...]:
        parser.expect(":")
        offset = parser.start
        types = parser.type_list()
        if len(types) != count:
            raise parser.error(f"{count} operands present, but expected {len(types)}", offset)
        return types

    def _pair(self, parser: AsmParser) -> tuple[tuple[str, int], tuple[str, int]]:
        argument = parser.operand()
        parser.expect("=")
        return argument, parser.operand()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 2 or op.operand_types != op.result_types or not all(map(_is_plain, op.regions)):
            raise Irregular
        cond, body = (region.block.arguments for region in op.regions)
        located = printer.locations and any(v.location is not None for v in (*cond, *body))
        if located or not op.operand_types == [v.type for v in cond] == [v.type for v in body]:
            raise Irregular
        names = printer.region_argument_names(cond, body)
        pairs = (f"%{name} = {printer.operand(init)}" for name, init in zip(names, op.operands))
        printer.literal("(")
        printer.value(f"{', '.join(pairs)})")
        if op.operands:
            printer.value(f": {', '.join(map(str, op.operand_types))}")
        print_dictionary(printer, other_attributes(op, ()), "attributes")
        for keyword, region in zip(("cond", "do"), op.regions):
            if keyword == "cond":
                printer.newline()
            printer.value(f"{keyword} ")
            printer.region(region, names)


def _is_plain(region: Region) -> bool:
    """Return whether a region can be printed without the label of its block."""
    return len(region.blocks) == 1 and bool(region.block.operations)


class Reduce(Directive):
    """`(%input init: %init), ... applies op across dimensions = [...] attr-dict : functional_type`.

    Without `applies op`, `reducer(%a: type, %b: type) ... {...}` follows the type.
    """

    members = ("dimensions",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        pairs = [self._pair(parser)]
        while parser.accept(","):
            pairs.append(self._pair(parser))
        draft.operands = [x for x, _ in pairs] + [init for _, init in pairs]
        offset = parser.start
        inner = parser.op_name() if parser.accept("applies") else None
        for token in ("across", "dimensions", "="):
            parser.expect(token)
        draft.members["dimensions"] = parser.dimensions()
        draft.exclusive = self.members
        attribute_dictionary(parser, draft)
        parser.expect(":")
        parser.functional_type(draft)
        draft.regions = [self._applied(parser, draft, inner, offset) if inner else self._reducer(parser)]

    def _pair(self, parser: AsmParser) -> tuple[tuple[str, int], tuple[str, int]]:
        parser.expect("(")
        operand = parser.operand()
        parser.expect("init")
        parser.expect(":")
        init = parser.operand()
        parser.expect(")")
        return operand, init

    def _applied(self, parser: AsmParser, draft: Draft, inner: str, offset: int) -> Region:
        definition = REGISTRY.get(inner)
        if definition is None or not definition.traits.commutative or len(definition.operands) != 2:
            dialect = draft.name.partition(".")[0]
            raise parser.error(
                f"expected the inner-op to be a commutative binary-op from the {dialect} dialect, with zero region, "
                f"producing single result; found '{inner}'",
                offset,
            )
        element = draft.operand_types[0] if draft.operand_types else None
        if not isinstance(element, TensorType):
            raise parser.error(f"'applies' requires a tensor operand, got {element}", offset)
        return applied_region(definition, tensor_type((), element.element_type), parser.location(draft.offset))

    def _reducer(self, parser: AsmParser) -> Region:
        parser.expect("reducer")
        pairs = []
        while parser.accept("("):
            first = parser.argument()
            parser.expect(",")
            pairs.append((first, parser.argument()))
            parser.expect(")")
        arguments = [a for a, _ in pairs] + [b for _, b in pairs]
        for index, argument in enumerate(arguments):
            argument.index = index
        return parser.region(arguments)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        count = len(op.operands) // 2
        if not count or len(op.operands) % 2 or len(op.regions) != 1 or not _is_plain(op.regions[0]):
            raise Irregular
        dimensions = text.dimensions_text(member_value(op, "dimensions"))
        names = list(map(printer.operand, op.operands))
        printer.literal("(")
        printer.value(", (".join(f"{x} init: {init})" for x, init in zip(names, names[count:])))
        inner = applied_op(op)
        if inner:
            printer.value(f"applies {inner}")
        printer.value(f"across dimensions = {dimensions}")
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(f": {printer.functional_type(op)}")
        if not inner:
            self._print_reducer(printer, op.regions[0])

    def _print_reducer(self, printer: AsmPrinter, region: Region) -> None:
        arguments = region.block.arguments
        count = len(arguments) // 2
        if len(arguments) % 2:
            raise Irregular
        names = printer.region_argument_names(arguments)
        written = [printer.argument_text(a, name) for a, name in zip(arguments, names)]
        printer.newline()
        pairs = "".join(f"({a}, {b}) " for a, b in zip(written, written[count:]))
        printer.value(f"reducer{pairs} ")
        printer.region(region, names)


def applied_region(definition: OpDefinition, scalar: Type, location: Location) -> Region:
    """Return the body of a reduction that applies one op to two scalars."""
    arguments = [Value(scalar, None, 0), Value(scalar, None, 1)]
    applied = Operation(definition.name, arguments.copy(), [scalar], {}, {}, [], location)
    name = f"{definition.dialect}.return"
    returned = Operation(name, applied.results.copy(), [], {}, {}, [], location)
    return Region([Block(arguments, [applied, returned])])


def copy_applied_region(region: Region, location: Location) -> Region:
    """Return a copy of a region that `applied_region` returned."""
    op = region.blocks[0].operations[0]
    return applied_region(REGISTRY[op.name], op.results[0].type, location)


def applied_op(op: Operation) -> str | None:
    """Return the op that the body of a reduction applies, if `applies op` can express the body; else None."""
    block = op.regions[0].block
    if len(block.operations) != 2 or len(op.operands) != 2 or len(block.arguments) != 2:
        return None
    inner, returned = block.operations
    definition, dialect = definition_of(inner), op.name.partition(".")[0]
    if definition is None or not definition.traits.commutative or inner.name.partition(".")[0] != dialect:
        return None
    operand = op.operands[0].type
    scalar = tensor_type((), operand.element_type) if isinstance(operand, TensorType) else None
    same_types = {scalar} == {*inner.operand_types, *inner.result_types}
    bare = not (inner.properties or inner.attributes or inner.regions or returned.attributes)
    forwards = inner.operands == block.arguments and returned.operands == inner.results
    return inner.name if same_types and bare and forwards and returned.name == f"{dialect}.return" else None


class Scan(Directive):
    """`(%inputs) inits (%inits) dimension = 0 attributes {...} {...} : functional_type`."""

    members = ("dimension", "operand_segment_sizes", "result_segment_sizes")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        inputs = parser.items(parser.operand, "(", ")")
        parser.expect("inits")
        inits = parser.items(parser.operand, "(", ")")
        draft.operands = inputs + inits
        parser.expect("dimension")
        parser.expect("=")
        draft.members["dimension"] = parser.integer()
        draft.exclusive = ("dimension", "operandSegmentSizes", "resultSegmentSizes")
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region()]
        parser.expect(":")
        parser.functional_type(draft)
        outputs = len(draft.result_types) - len(inits)
        if outputs < 0:
            message = f"expected at least {len(inits)} results, one for each init, got {len(draft.result_types)}"
            raise parser.error(message, draft.offset)
        draft.members["operand_segment_sizes"] = (len(inputs), len(inits))
        draft.members["result_segment_sizes"] = (outputs, len(inits))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1:
            raise Irregular
        count = member_value(op, "operand_segment_sizes")[0]
        inputs, inits = op.operands[:count], op.operands[count:]
        printer.literal("(")
        printer.value(f"{printer.operands(inputs)}) inits ({printer.operands(inits)})")
        printer.value(f"dimension = {member_value(op, 'dimension')}")
        print_dictionary(printer, other_attributes(op, self.members), "attributes")
        printer.value("")
        printer.region(op.regions[0])
        printer.value(f": {printer.functional_type(op)}")
