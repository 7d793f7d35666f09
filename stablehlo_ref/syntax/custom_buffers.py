"""The pretty forms of memref, bufferization and affine."""

from __future__ import annotations

from stablehlo_ref.ir.affine import AffineMap
from stablehlo_ref.ir.attributes import UNIT, DenseElements, DenseResource, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, BufferType, TensorType, Type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.directive import Directive, Irregular, give, member_value
from stablehlo_ref.syntax.draft import Draft
from stablehlo_ref.syntax.protocols import AsmParser, AsmPrinter


def as_tensor(type: Type) -> Type:
    """Return the type of a tensor with the contents of a buffer."""
    return TensorType(type.shape, type.element_type) if isinstance(type, BufferType) else type


class Global(Directive):
    """`"private" constant @name : type = value`; the value has no type, and may be `uninitialized`.

    `alignment = 64` may follow. Earlier versions of MLIR write it as an attribute: what both read is the generic form.
    """

    members = ("sym_visibility", "constant", "sym_name", "type", "initial_value")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek()[:1] == '"':
            draft.members["sym_visibility"] = parser.string()
        if parser.accept("constant"):
            draft.members["constant"] = True
        draft.members["sym_name"] = parser.symbol_name()
        parser.expect(":")
        draft.members["type"] = type = parser.type()
        if parser.accept("="):
            is_open = parser.accept("uninitialized")
            draft.members["initial_value"] = UNIT if is_open else parser.elements(as_tensor(type))
        if parser.accept("alignment"):
            parser.expect("=")
            draft.attributes["alignment"] = parser.attribute()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if "alignment" in (*op.properties, *op.attributes):
            raise Irregular
        type, value = member_value(op, "type"), op.properties.get("initial_value")
        parts = [text.symbol(member_value(op, "sym_name")), ":", str(type)]
        if op.properties.get("constant"):
            parts.insert(0, "constant")
        if op.properties.get("sym_visibility") is not None:
            parts.insert(0, text.quoted(member_value(op, "sym_visibility")))
        if value == UNIT:
            parts.append("= uninitialized")
        elif value is not None:
            if not isinstance(value, DenseElements | DenseResource) or value.type != as_tensor(type):
                raise Irregular
            parts.append(f"= {text.attribute_text(value).removesuffix(f' : {value.type}')}")
        printer.value(" ".join(parts))


class PresentWords(Directive):
    """Words that stand for unit attributes."""

    def __init__(self, *members: str) -> None:
        self.members = members

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        for member in self.members:
            if parser.accept(member):
                draft.members[member] = True

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for member in self.members:
            if op.properties.get(member):
                printer.value(member)


class TensorOfBuffer(Directive):
    """`memref<...> to tensor<...>`, or `memref<...>` as before MLIR 20."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        type = parser.type()
        draft.operand_types = (type,)
        draft.result_types = (parser.type() if parser.accept("to") else as_tensor(type),)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{op.operand_types[0]} to {op.result_types[0]}")


class BufferOfTensor(Directive):
    """`memref<...>`, or `tensor<...> to memref<...>` as from MLIR 20 on."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        type = parser.type() if parser.accept("to") else first
        draft.operand_types, draft.result_types = (as_tensor(type) if type is first else first,), (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(f"{op.operand_types[0]} to {op.result_types[0]}")


class AppliedMap(Directive):
    """`affine_map<...>(%dims)[%symbols]`."""

    members = ("map",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset, attribute = parser.start, parser.attribute()
        if not isinstance(attribute, OpaqueAttribute):
            raise parser.error("expected an affine map", offset)
        give(draft, "map", attribute)
        draft.exclusive = self.members
        draft.operands = parser.items(parser.operand, "(", ")")
        if parser.peek() == "[":
            draft.operands += parser.items(parser.operand, "[", "]")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        map = member_value(op, "map")
        if not isinstance(map, AffineMap) or map.dims + map.symbols != len(op.operands):
            raise Irregular
        dims, symbols = op.operands[: map.dims], op.operands[map.dims :]
        listed = f"[{printer.operands(symbols)}]" if symbols else ""
        printer.value(f"{map.text}({printer.operands(dims)}){listed}")


class Indices(Directive):
    """No text: all values have the type `index`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operand_types, draft.result_types = (INDEX,) * len(draft.operands), (INDEX,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if {*op.operand_types, *op.result_types} != {INDEX}:
            raise Irregular


BUFFER_FORMS: dict[str, Directive] = {
    "applied_map": AppliedMap(),
    "buffer_flags": PresentWords("restrict", "writable"),
    "buffer_of_tensor": BufferOfTensor(),
    "indices": Indices(),
    "memref_global": Global(),
    "read_only": PresentWords("read_only"),
    "tensor_of_buffer": TensorOfBuffer(),
}
