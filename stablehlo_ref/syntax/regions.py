"""The pretty forms of ops with regions: while, reduce and scan."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define import Op
from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import (
    Directive,
    Draft,
    Irregular,
    attribute_dictionary,
    member_value,
    other_attributes,
    print_dictionary,
)


class While(Directive):
    """`(%arg = %init, ...) : types attributes {...} cond {...} do {...}`."""

    def parse(self, parser: Any, draft: Draft) -> None:
        pairs = parser.items(lambda: self._pair(parser), "(", ")")
        draft.operands = [init for _, init in pairs]
        draft.operand_types = ()
        if pairs:
            parser.expect(":")
            offset = parser.start
            draft.operand_types = parser.type_list()
            if len(draft.operand_types) != len(pairs):  # type: ignore[arg-type]
                raise parser.error(f"{len(pairs)} operands present, but expected {len(draft.operand_types)}", offset)  # type: ignore[arg-type]
        draft.result_types = draft.operand_types  # type: ignore[assignment]
        attribute_dictionary(parser, draft, "attributes")
        for keyword in ("cond", "do"):
            parser.expect(keyword)
            draft.regions.append(parser.region(parser.arguments([arg for arg, _ in pairs], draft.operand_types)))

    def _pair(self, parser: Any) -> tuple[tuple[str, int], tuple[str, int]]:
        argument = parser.operand()
        parser.expect("=")
        return argument, parser.operand()

    def print(self, printer: Any, op: Operation) -> None:
        if len(op.regions) != 2 or op.operand_types != op.result_types or not all(map(_is_plain, op.regions)):
            raise Irregular
        cond, body = (region.block.arguments for region in op.regions)
        located = printer.locations and any(v.location is not None for v in (*cond, *body))
        if located or not op.operand_types == [v.type for v in cond] == [v.type for v in body]:
            raise Irregular
        names = printer.region_argument_names(cond, body)
        pairs = (f"%{name} = {printer.operand(init)}" for name, init in zip(names, op.operands))
        printer.value(f"({', '.join(pairs)})")
        if op.operands:
            printer.value(f": {', '.join(map(str, op.operand_types))}")
        print_dictionary(printer, other_attributes(op, ()), "attributes")
        for keyword, region in zip(("cond", "do"), op.regions):
            if keyword == "cond":
                printer.newline()
            printer.value(f"{keyword} ")
            printer.region(region, names)


def _is_plain(region: Region) -> bool:
    """Whether a region can be printed without its block's arguments."""
    return len(region.blocks) == 1 and bool(region.block.operations)


class Reduce(Directive):
    """`(%input init: %init), ... applies op across dimensions = [...] attr-dict : functional_type`.

    Without `applies op` a `reducer(%a: type, %b: type) ... {...}` stands behind the type.
    """

    members = ("dimensions",)

    def parse(self, parser: Any, draft: Draft) -> None:
        pairs = [self._pair(parser)]
        while parser.accept(","):
            pairs.append(self._pair(parser))
        draft.operands = [x for x, _ in pairs] + [init for _, init in pairs]
        offset = parser.start
        inner = parser.op_name() if parser.accept("applies") else None
        for token in ("across", "dimensions", "="):
            parser.expect(token)
        draft.members["dimensions"] = parser.dimensions()
        attribute_dictionary(parser, draft)
        parser.expect(":")
        parser.functional_type(draft)
        draft.regions = [self._applied(parser, draft, inner, offset) if inner else self._reducer(parser)]

    def _pair(self, parser: Any) -> tuple[tuple[str, int], tuple[str, int]]:
        parser.expect("(")
        operand = parser.operand()
        parser.expect("init")
        parser.expect(":")
        init = parser.operand()
        parser.expect(")")
        return operand, init

    def _applied(self, parser: Any, draft: Draft, inner: str, offset: int) -> Region:
        definition = Op.registry.get(inner)
        if definition is None or not definition.commutative or len(definition.operands) != 2:
            dialect = draft.name.partition(".")[0]
            raise parser.error(
                f"expected the inner-op to be a commutative binary-op from the {dialect} dialect, with zero region, "
                f"producing single result; found '{inner}'",
                offset,
            )
        element = draft.operand_types[0] if draft.operand_types else None
        if not isinstance(element, TensorType):
            raise parser.error("'applies' needs an operand that is a tensor", offset)
        return applied_region(definition, tensor_type((), element.element_type), parser.location(draft.offset))

    def _reducer(self, parser: Any) -> Region:
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
        return parser.region(arguments)  # type: ignore[no-any-return]

    def print(self, printer: Any, op: Operation) -> None:
        count = len(op.operands) // 2
        if not count or len(op.operands) % 2 or len(op.regions) != 1 or not _is_plain(op.regions[0]):
            raise Irregular
        dimensions = text.dimensions_text(member_value(op, "dimensions"))
        names = list(map(printer.operand, op.operands))
        printer.value(", ".join(f"({x} init: {init})" for x, init in zip(names, names[count:])))
        inner = applied_op(op)
        if inner:
            printer.value(f"applies {inner}")
        printer.value(f"across dimensions = {dimensions}")
        print_dictionary(printer, other_attributes(op, self.members))
        printer.value(f": {printer.functional_type(op)}")
        if not inner:
            self._print_reducer(printer, op.regions[0])

    def _print_reducer(self, printer: Any, region: Region) -> None:
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


def applied_region(definition: type[Op], scalar: Type, location: Location) -> Region:
    """A reduction's body that is no more than one op of two scalars."""
    arguments = [Value(scalar, None, 0), Value(scalar, None, 1)]
    applied = Operation(definition.name, definition, arguments.copy(), [scalar], {}, {}, [], location)
    name = f"{definition.dialect}.return"
    returned = Operation(name, Op.registry.get(name), applied.results.copy(), [], {}, {}, [], location)
    return Region([Block(arguments, [applied, returned])])


def again(region: Region, location: Location) -> Region:
    """Another region like one that `applied_region` gave."""
    op = region.blocks[0].operations[0]
    assert op.definition is not None
    return applied_region(op.definition, op.results[0].type, location)


def applied_op(op: Operation) -> str | None:
    """The op that a reduction's body is no more than, if the short form can say so."""
    block = op.regions[0].block
    if len(block.operations) != 2 or len(op.operands) != 2 or len(block.arguments) != 2:
        return None
    inner, returned = block.operations
    definition, dialect = inner.definition, op.name.partition(".")[0]
    if definition is None or not definition.commutative or inner.name.partition(".")[0] != dialect:
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

    def parse(self, parser: Any, draft: Draft) -> None:
        inputs = parser.items(parser.operand, "(", ")")
        parser.expect("inits")
        inits = parser.items(parser.operand, "(", ")")
        draft.operands = inputs + inits
        parser.expect("dimension")
        parser.expect("=")
        draft.members["dimension"] = parser.integer()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region()]
        parser.expect(":")
        parser.functional_type(draft)
        outputs = len(draft.result_types) - len(inits)
        if outputs < 0:
            raise parser.error(f"{len(inits)} carries, but {len(draft.result_types)} results", draft.offset)
        draft.members["operand_segment_sizes"] = (len(inputs), len(inits))
        draft.members["result_segment_sizes"] = (outputs, len(inits))

    def print(self, printer: Any, op: Operation) -> None:
        if len(op.regions) != 1:
            raise Irregular
        count = member_value(op, "operand_segment_sizes")[0]
        inputs, inits = op.operands[:count], op.operands[count:]
        printer.value(f"({printer.operands(inputs)}) inits ({printer.operands(inits)})")
        printer.value(f"dimension = {member_value(op, 'dimension')}")
        print_dictionary(printer, other_attributes(op, self.members), "attributes")
        printer.value("")
        printer.region(op.regions[0])
        printer.value(f": {printer.functional_type(op)}")
