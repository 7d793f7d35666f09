"""Programs as text of VHLO of a version: `"vhlo.add_v1"(%0, %1) : (...) -> !vhlo.tensor_v1<!vhlo.f32_v1>`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stablehlo_ref.bytecode.encodings.stablehlo import ACCURACY_DEFAULTS
from stablehlo_ref.bytecode.encodings.vhlo import ENUMERATIONS, I64, SIMPLE_CODES, STRUCTS
from stablehlo_ref.bytecode.vhlo.artifact import VhloForm
from stablehlo_ref.bytecode.vhlo.ops import CAST, TO_VHLO, vhlo_name
from stablehlo_ref.bytecode.vhlo.versions import Version, parse_version
from stablehlo_ref.ir.attributes import (
    DenseArray,
    DenseElements,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.lexer import key_text, quoted, symbol
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    WITNESS,
    BufferType,
    ComplexType,
    FloatType,
    FunctionType,
    FutureType,
    IntegerType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    UnrankedTensorType,
    tensor_type,
)
from stablehlo_ref.syntax.attribute_text import LocationAliases, attribute_text, float_text
from stablehlo_ref.syntax.foreign import API_VERSIONS
from stablehlo_ref.syntax.printer import Printer

SPELLING = "vhlo "  # and the version: the spelling of a module that is printed as VHLO
PLAIN_LISTS = ("bounds", "operand_tuple_indices", "output_tuple_indices")  # fields that are lists of numbers
NAMES = {BOOLEAN: "bool", FLOATS["tf32"]: "tf31", WITNESS: "witness"}  # of types; others are named as MLIR prints them


def spelled_version(module: Operation) -> Version | None:
    """Return the version of VHLO that a module is printed as; None for a module that is printed as StableHLO."""
    is_vhlo = module.spelling.startswith(SPELLING)
    return parse_version(module.spelling.removeprefix(SPELLING)) if is_vhlo else None


class VhloPrinter(Printer):
    """Prints ops of StableHLO as the ops of VHLO that stand for them, and others, with what they use, as they are."""

    def __init__(self, version: Version, generic: bool, locations: bool, aliases: LocationAliases | None) -> None:
        super().__init__(generic, locations, aliases)
        self.vhlo = VhloForm(Version(version.major, version.minor))

    def operation(self, op: Operation) -> None:
        """Print an operation."""
        if op.name == CAST:
            self._cast(op)
            return
        if vhlo_name(op) is None:
            super().operation(op)
            return
        form = self.vhlo.form(op)
        if op.name == "func.func" and not self.generic:
            self._function(op, form.name, {**form.inherent, **form.discardable})
        else:
            self.parts.append(f"{self._result_names(op)}{quoted(form.name)}({self.operands(op.operands)})")
            self.parts.append(f" <{_entries(form.inherent)}>" if form.inherent else "")
            if op.regions:
                self._generic_regions(op.regions)
            self.parts.append(f" {_entries(form.discardable)}" if form.discardable else "")
            self.parts.append(f" : {self.functional_type(op)}")
        self.parts.append(self._location(op.debug_location))

    def _function(self, op: Operation, name: str, attributes: Mapping[str, Any]) -> None:
        """Print `vhlo.func_v1 @name(%arg0: type) -> (type) {...} {attributes}`."""
        block = op.regions[0].blocks[0] if op.regions[0].blocks else None
        names = self.region_argument_names(block.arguments) if block else []
        arguments = [self.argument_text(x, n) for x, n in zip(block.arguments, names)] if block else []
        outputs = ", ".join(map(type_text, op.properties["function_type"].outputs))
        self.parts.append(f"{name} {symbol(attributes['sym_name'])}({', '.join(arguments)}) -> ({outputs}) ")
        self.region(op.regions[0], names)
        shown = {n: value for n, value in attributes.items() if n not in ("sym_name", "function_type")}
        self.parts.append(f" {_entries(shown)}")

    def _cast(self, op: Operation) -> None:
        """Print a cast, to or from types of VHLO if its other side is an op of VHLO."""
        is_vhlo = [_is_of_vhlo(x) for x in op.operands]
        inputs = ", ".join(type_text(x.type) if of_vhlo else str(x.type) for x, of_vhlo in zip(op.operands, is_vhlo))
        to_vhlo = op.spelling == TO_VHLO
        outputs = ", ".join(type_text(type) if to_vhlo else str(type) for type in op.result_types)
        self.parts.append(f"{self._result_names(op)}{CAST} {self.operands(op.operands)} : {inputs} to {outputs}")

    def functional_type(self, op: Operation) -> str:
        """Return `(operand types) -> result types`."""
        if vhlo_name(op) is None:
            return super().functional_type(op)
        inputs, outputs = (list(map(type_text, types)) for types in (op.operand_types, op.result_types))
        results = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"({', '.join(inputs)}) -> {results}"

    def argument_text(self, argument: Value, name: str, attributes: str = "") -> str:
        """Return `%name: type`, with its location."""
        if not _is_of_vhlo(argument):
            return super().argument_text(argument, name, attributes)
        return f"%{name}: {type_text(argument.type)}{attributes}{self._argument_location(argument)}"


def _is_of_vhlo(value: Value) -> bool:
    """Return whether a value has a type of VHLO: one that an op of VHLO, or a cast to it, defines."""
    owner = value.owner
    if isinstance(owner, Block):
        owner = owner.parent.parent if owner.parent else None
    return isinstance(owner, Operation) and (vhlo_name(owner) is not None or owner.spelling == TO_VHLO)


# --- attributes -----------------------------------------------------------------------------------------------------


def _entries(attributes: Mapping[str, Any]) -> str:
    written = [f"{key_text(name)} = {vhlo_text(value)}" for name, value in sorted(attributes.items())]
    return f"{{{', '.join(written)}}}"


def vhlo_text(attribute: Any) -> str:
    """Return an attribute as text of VHLO, or of MLIR if VHLO does not have it."""
    match attribute:
        case bool():
            return f"#vhlo.bool_v1<{'true' if attribute else 'false'}>"
        case str(text) | SymbolReference(path=(text,)):
            return f"#vhlo.string_v1<{quoted(text)}>"
        case tuple():
            return f"#vhlo.array_v1<{_list(map(vhlo_text, attribute))}>"
        case dict():
            entries = [f"{vhlo_text(name)} = {vhlo_text(value)}" for name, value in sorted(attribute.items())]
            return f"#vhlo.dict_v1<{{{', '.join(entries)}}}>"
        case IntegerAttribute(value, type):
            return f"#vhlo.integer_v1<{attribute_text(IntegerAttribute(value, type or I64))}>"
        case FloatAttribute(value, type, text):
            number_type = type if isinstance(type, FloatType) else FLOATS["f64"]
            return f"#vhlo.float_v1<{text or float_text(value, number_type)} : {type_text(number_type)}>"
        case TypeAttribute(type):
            return f"#vhlo.type_v1<{type_text(type)}>"
        case DenseElements():
            return f"#vhlo.tensor_v1<{attribute_text(attribute)}>"
        case DenseArray(element_type, values) if element_type in (I64, BOOLEAN):
            array = np.array(values, np.bool_ if element_type == BOOLEAN else np.int64)
            return vhlo_text(DenseElements(tensor_type((len(values),), element_type), array))
        case EnumAttribute(kind="api_version", value=value):
            return f"#vhlo<api_version_v1 {API_VERSIONS[int(value)]}>"
        case EnumAttribute(kind=kind, value=value) if kind in ENUMERATIONS:
            return f"#vhlo<{kind}_v1 {value}>"
        case StructAttribute(name=name, fields=fields) if (base := name.partition(".")[2]) in STRUCTS:
            return f"#vhlo.{'type_extensions' if base == 'bounds' else base}_v1<{_fields_text(base, fields)}>"
    return attribute_text(attribute)


def _fields_text(struct: str, fields: Mapping[str, Any]) -> str:
    known = {**ACCURACY_DEFAULTS, "ulps": 0, **fields} if struct == "result_accuracy" else fields
    written = [name for name in STRUCTS[struct].fields if known.get(name) is not None]
    return ", ".join(f"{_name(struct, name)} = {_field(name, known[name])}" for name in written)


def _name(struct: str, field: str) -> str:
    """Return the name of a field, which is written in camel case for aliases."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others)) if struct == "output_operand_alias" else field


def _field(name: str, value: Any) -> str:
    if name in PLAIN_LISTS:
        return _list("?" if n is None or n < 0 else str(n) for n in getattr(value, "values", value))
    match value:
        case IntegerAttribute(value=number) | int(number):
            return str(number)
        case FloatAttribute(value=number, text=text):
            return text or float_text(number, FLOATS["f64"])
    return vhlo_text(value)


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


# --- types ----------------------------------------------------------------------------------------------------------


def type_text(type: Type) -> str:
    """Return a type as text of VHLO, or of MLIR if VHLO does not have it."""
    if type in SIMPLE_CODES:
        return f"!vhlo.{NAMES.get(type) or str(type).removeprefix('!stablehlo.')}_v1"
    match type:
        case TensorType(shape=shape, element_type=element, bounds=bounds, encoding=None):
            extension = "" if bounds is None else f", #vhlo.type_extensions_v1<bounds = {_field('bounds', bounds)}>"
            return f"!vhlo.tensor_v1<{_sizes(shape)}{type_text(element)}{extension}>"
        case BufferType(shape=shape, element_type=element):
            return f"!vhlo.buffer_v1<{_sizes(shape)}{type_text(element)}>"
        case ComplexType(element):
            return f"!vhlo.complex_v1<{type_text(element)}>"
        case UnrankedTensorType(element):
            return f"!vhlo.unranked_tensor_v1<{type_text(element)}>"
        case TupleType(elements) | FutureType(elements):
            kind = "tuple" if isinstance(type, TupleType) else "future"
            return f"!vhlo.{kind}_v1<{', '.join(map(type_text, elements))}>"
        case FunctionType(inputs, outputs):
            written = [", ".join(map(type_text, types)) or "()" for types in (inputs, outputs)]
            return f"!vhlo.func_v1<({written[0]}) -> {written[1]}>"
        case QuantizedType():
            return _quantized_text(type)
    return str(type)


def _sizes(shape: Iterable[int | None]) -> str:
    return "".join(f"{'?' if n is None else n}x" for n in shape)


def _quantized_text(type: QuantizedType) -> str:
    storage = type_text(IntegerType(type.storage_type.width))
    types = f"{storage}:{type_text(type.expressed_type)}"
    limits = f"{type.storage_min}:{type.storage_max}, {int(type.storage_type.signedness != 'u')}"
    scales = [float_text(scale, FLOATS["f64"]) for scale in type.scales]
    points = type.zero_points or (0,) * len(scales)
    if type.quantization_dimension is None:
        return f"!vhlo.quant_v1<{types}, {scales[0]}:{points[0]}, {limits}>"
    parameters = f"{type.quantization_dimension}, {_list(scales)}, {_list(map(str, points))}"
    return f"!vhlo.quant_per_axis_v1<{types}, {parameters}, {limits}>"
