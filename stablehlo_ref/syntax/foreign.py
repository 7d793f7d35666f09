"""Attributes and types of mhlo and vhlo in text, which are those of StableHLO and MLIR under other names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.vhlo.ops import split_name, to_stablehlo
from stablehlo_ref.bytecode.vhlo.versions import CURRENT
from stablehlo_ref.define.assembly import AsmParser, Draft
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.attributes import (
    Attribute,
    EnumAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.lexer import token
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    NONE,
    TOKEN,
    WITNESS,
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    IntegerType,
    QuantizedType,
    TupleType,
    Type,
    UnrankedTensorType,
    integer_type,
)
from stablehlo_ref.syntax import mhlo
from stablehlo_ref.syntax.attributes import AttributeParser
from stablehlo_ref.syntax.structs import STRUCTS

# Types of vhlo without parts that MLIR calls otherwise; `tf31` is how vhlo spells tf32.
SIMPLE: dict[str, Type] = FLOATS | {
    "bool": BOOLEAN, "index": INDEX, "none": NONE, "tf31": FLOATS["tf32"], "token": TOKEN,
    "witness": WITNESS,
}  # fmt: skip
API_VERSIONS = (
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI",
)  # fmt: skip

VHLO_FUNCTION = "vhlo.func_v1"

_match_versioned = re.compile(r"(\w+)_v\d+").fullmatch
_match_integer = re.compile(r"(u?)i([1-9]\d*)").fullmatch
_match_value_of_vhlo = token(r"=\s*#vhlo")
_find_humps = re.compile(r"(?=[A-Z])").split


class ForeignParser(AttributeParser):
    """Parses what follows `#mhlo`, `#vhlo` and `!vhlo`."""

    upgrades = False  # whether attributes of vhlo are read as what they mean, as in ops of vhlo, or kept

    def foreign_attribute(self, name: str) -> Attribute:
        if name.startswith("vhlo"):
            start = self.position - len(name) - 1
            with self.upgrading():
                meaning = self._vhlo_struct(name) if "." in name else self._vhlo_enum()
            return meaning if self.upgrades else OpaqueAttribute(self.text[start : self.position])
        if name in ("mhlo.conv", "mhlo.ragged_dot"):
            return replace(self.convolution(True) if name == "mhlo.conv" else self._ragged_dot(), spelling="mhlo")
        if struct := mhlo.struct_name(name):
            return replace(self.struct(struct), spelling="mhlo")
        start, body = self.position, self.balanced_text("dialect attribute")
        if body[1:].split(maxsplit=1)[0] not in mhlo.ENUMERATIONS:
            return OpaqueAttribute(f"#{name}{body}")
        self.position = start
        return replace(self.enum("stablehlo"), spelling="mhlo")

    # ragged-dot ::= < field (, field)* >, one of which is a struct that has fields of CHLO's
    def _ragged_dot(self) -> StructAttribute:
        fields: dict[str, object] = {}

        def entry() -> None:
            offset, field = self.start, self.word("a field name")
            if field != "dot_dimension_numbers":
                self.field("chlo.ragged_dot", field, fields, offset)
                return
            self.expect("=")
            numbers = self.attribute()
            if not isinstance(numbers, StructAttribute) or numbers.name != "stablehlo.dot":
                raise self.error("expected #mhlo.dot<...>", offset)
            fields.update(numbers.fields)

        self.items(entry, "<", ">")
        return StructAttribute("chlo.ragged_dot", STRUCTS["chlo.ragged_dot"] | fields)

    @contextmanager
    def upgrading(self) -> Iterator[None]:
        """Read attributes of vhlo as what they mean, in types and attributes of vhlo."""
        outer, self.upgrades = self.upgrades, True
        try:
            yield
        finally:
            self.upgrades = outer

    def _vhlo_name(self, name: str, start: int) -> str:
        """Return the name of an attribute or type of vhlo without dialect and version."""
        match = _match_versioned(name.partition(".")[2])
        if not match:
            raise self.error(f"unknown name '{name}' of dialect 'vhlo'", start)
        return match[1]

    # --- attributes of vhlo -------------------------------------------------------------------------------------

    # enum ::= #vhlo < kind_v1 value >
    def _vhlo_enum(self) -> EnumAttribute | IntegerAttribute:
        start = self.start
        self.expect("<")
        kind, value = self._vhlo_name(f"vhlo.{self.word('an enumeration')}", start), self.word("a value")
        self.expect(">")
        if kind != "api_version":
            return EnumAttribute("stablehlo", kind, value)
        if value not in API_VERSIONS:
            raise self.error(f"unknown version '{value}' of the API of custom calls", start)
        return IntegerAttribute(API_VERSIONS.index(value), integer_type(32))

    # struct ::= #vhlo.name_v1 < value > | #vhlo.name_v1 < field (, field)* >
    def _vhlo_struct(self, name: str) -> Attribute:
        base = self._vhlo_name(name, self.start)
        if base == "dict":
            return self._vhlo_dictionary()
        self.expect("<")
        if base == "type":
            value: Any = TypeAttribute(self.type())
        elif base in ("string", "integer", "float", "bool", "tensor", "array"):
            value = self.attribute()
        else:
            return self._vhlo_fields(f"stablehlo.{base}")
        self.expect(">")
        return value  # type: ignore[no-any-return]

    def _vhlo_dictionary(self) -> dict[str, Attribute]:
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            offset, is_plain, name = self.start, self.peek()[:1] != "#", self.attribute()
            if is_plain or not isinstance(name, str) or name in entries:
                raise self.error("expected VHLO key attribute, a string that is unique", offset)
            self.expect("=")
            entries[name] = self.attribute()

        self.expect("<")
        self.items(entry, "{", "}")
        self.expect(">")
        return entries

    def _vhlo_fields(self, struct: str) -> Attribute:
        fields: dict[str, Any] = {}
        while not self.accept(">"):
            offset, written = self.start, self.word("a field name")
            if written == "mode" and not _match_value_of_vhlo(self.text, self.position):
                raise self.error(
                    "expected VHLO result accuracy mode such as #vhlo<result_accuracy_mode_v1 DEFAULT>", offset
                )
            if written == "sub_axis_info":
                self.expect("=")
                fields[written] = self.attribute()
            else:
                self.field(struct, "_".join(_find_humps(written)).lower(), fields, offset)
            self.separator(">")
        if isinstance(mesh := fields.get("mesh"), str):
            fields["mesh"] = SymbolReference((mesh,))
        if struct == "stablehlo.result_accuracy":
            fields = {k: v for k, v in fields.items() if getattr(v, "value", None) != 0}
        return StructAttribute(struct, fields)

    # --- types of vhlo ------------------------------------------------------------------------------------------

    # type ::= !vhlo.name_v1 (< ... >)?
    def foreign_type(self, name: str) -> Type:
        start = self.start
        self.advance()
        base = self._vhlo_name(name, start)
        if simple := SIMPLE.get(base):
            return simple
        if integer := _match_integer(base):
            return integer_type(int(integer[2]), integer[1])
        if base == "tensor":
            with self.upgrading():
                return self._tensor()
        if base in ("tuple", "future"):
            elements = tuple(self.items(self.type, "<", ">"))
            return TupleType(elements) if base == "tuple" else FutureType(elements)
        self.expect("<")
        type = self._vhlo_parts(base, start)
        self.expect(">")
        return type

    def _vhlo_parts(self, base: str, start: int) -> Type:
        match base:
            case "complex":
                return ComplexType(self.type())
            case "unranked_tensor":
                return UnrankedTensorType(self.type())
            case "buffer":
                return BufferType(self._shape(), self.type())
            case "func":
                return self._vhlo_function()
            case "quant" | "quant_per_axis":
                return self._quantized_in_vhlo(base == "quant_per_axis")
        raise self.error(f"unknown type '{base}' of dialect 'vhlo'", start)

    # function ::= ( inputs ) -> outputs ; inputs, outputs ::= types | ( )
    def _vhlo_function(self) -> FunctionType:
        self.expect("(")
        inputs: tuple[Type, ...] = ()
        if self.accept("("):
            self.expect(")")
        elif self.peek() != ")":
            inputs = self.type_list()
        self.expect(")")
        self.expect("->")
        if self.peek() == "(":
            return FunctionType(inputs, tuple(self.items(self.type, "(", ")")))
        return FunctionType(inputs, self.type_list())

    # quantized ::= storage : expressed , (axis , scales , [ points ] | scale : point) , min : max , flags
    def _quantized_in_vhlo(self, per_axis: bool) -> Type:
        offset, storage = self.start, self.type()
        self.expect(":")
        expressed = self.type()
        self.expect(",")
        axis, scales, points = self._vhlo_axis_parameters() if per_axis else (None, (self._vhlo_scale(),), ())
        if axis is None:
            self.expect(":")
            points = (self.integer(),)
        self.expect(",")
        low = self.integer()
        self.expect(":")
        high = self.integer()
        self.expect(",")
        is_signed = self.integer() & 1
        if not isinstance(storage, IntegerType):
            raise self.error(f"expected an integer type as storage, got {storage}", offset)
        storage = IntegerType(storage.width, "" if is_signed else "u")
        return QuantizedType(storage, expressed, scales, points, low, high, axis)

    def _vhlo_axis_parameters(self) -> tuple[int, tuple[float, ...], tuple[int, ...]]:
        axis = self.integer()
        self.expect(",")
        scales = tuple(self.items(self._vhlo_scale, "[", "]"))
        self.expect(",")
        return axis, scales, self.dimensions()

    def _vhlo_scale(self) -> float:
        return float(self.number(typed=False).value)


# --- ops of vhlo ------------------------------------------------------------------------------------------------------


class _Place:
    """Where an op is in the text, for errors about it."""

    def __init__(self, parser: AsmParser, offset: int) -> None:
        self.parser = parser
        self.offset = offset

    def error(self, message: str) -> MalformedError:
        return self.parser.error(message, self.offset)

    unsupported = error


def parse_vhlo_function(parser: AsmParser, draft: Draft) -> None:
    """Parse what follows `vhlo.func_v1`: `@name(%arg: type, ...) -> (types) {...} {...}`."""
    name = parser.symbol_name()
    arguments = parser.argument_list()
    results: tuple[Type, ...] = ()
    if parser.accept("->"):
        results = tuple(parser.items(parser.type, "(", ")"))
    draft.regions = [parser.region(arguments, isolated=True)]
    if parser.peek() == "{":
        with parser.upgrading():
            draft.attributes |= parser.dictionary()
    signature = FunctionType(tuple(argument.type for argument in arguments), results)
    draft.attributes |= {"sym_name": name, "function_type": TypeAttribute(signature)}


def upgrade_vhlo(parser: AsmParser, draft: Draft) -> None:
    """Turn the draft of an op of vhlo into that of the op of StableHLO that it stands for."""
    op = split_name(draft.name)
    if op is None:
        raise parser.error(f"unknown op '{draft.name}'; the newest known version is {CURRENT}", draft.offset)
    attributes: dict[str, Attribute] = {**draft.members, **draft.attributes}  # type: ignore[dict-item]
    place = _Place(parser, draft.offset)
    draft.name, draft.members, draft.attributes = to_stablehlo(draft.name, attributes, op.base == "func", place)
    draft.definition = REGISTRY[draft.name]
    if op.base == "func":
        _end_with_return(draft)


def _end_with_return(draft: Draft) -> None:
    """Make the terminators of a function's blocks those of the func dialect; all regions of vhlo have the same."""
    for block in (block for region in draft.regions for block in region.blocks):
        for op in block.operations[-1:]:
            op.name = "func.return" if op.name == "stablehlo.return" else op.name
