"""Attributes and locations as MLIR's text; the parser reads back what is written here."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from stablehlo_ref.ir.attributes import (
    UNIT,
    DenseArray,
    DenseElements,
    DenseResource,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
    Unit,
)
from stablehlo_ref.ir.locations import (
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
    resolve,
)
from stablehlo_ref.ir.types import BooleanType, FloatType, decimal_text
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.numerics.narrow import widen
from stablehlo_ref.syntax.lexer import MAX_NESTING, to_bytes
from stablehlo_ref.syntax.structs import CONVOLUTION_LISTS, STRUCTS

HEX_FROM = 101  # elements; smaller literals are written out

_is_word = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII).fullmatch
_is_suffix = re.compile(r"\d+|[A-Za-z_$.\-][\w$.\-]*", re.ASCII).fullmatch
_UNPRINTABLE = re.compile(rb"[^ !#-\[\]-~]")


def quoted(value: str) -> str:
    """A string literal."""
    raw = to_bytes(value)
    return '"' + _UNPRINTABLE.sub(lambda m: b"\\%02X" % m[0][0], raw).decode("ascii") + '"'


def symbol(name: str) -> str:
    """`@name`, quoted where it has to be."""
    return "@" + (name if _is_suffix(name) and not name[0].isdigit() else quoted(name))


def attribute_text(attribute: Any) -> str:
    """Any attribute."""
    match attribute:
        case bool():
            return "true" if attribute else "false"
        case str():
            return quoted(attribute)
        case tuple():
            return f"[{', '.join(map(attribute_text, attribute))}]"
        case dict():
            return dictionary_text(attribute)
        case Unit():
            return "unit"
        case IntegerAttribute(value, type):
            return str(value) if type is None else f"{value} : {type}"
        case FloatAttribute(value, type, text):
            return (text or float_text(value, type or FloatType("f64"))) + (f" : {type}" if type else "")
        case DenseElements(type, array):
            return f"dense<{elements_text(array, type.element_type)}> : {type}"
        case DenseResource(key, type):
            return f"dense_resource<{key if _is_word(key) else quoted(key)}> : {type}"
        case DenseArray(element_type, values):
            return _array_text(element_type, values)
        case SymbolReference(path):
            return "::".join(map(symbol, path))
        case EnumAttribute(dialect, kind, value):
            return f"#{dialect}<{kind} {value}>"
        case StructAttribute(name, fields):
            return f"#{name}<{struct_text(name, fields)}>"
        case OpaqueAttribute(text):
            return text
        case TypeAttribute(type):
            return str(type)
    return location_text(attribute)


def dictionary_text(entries: dict[str, Any]) -> str:
    """`{name = value, ...}`; a unit is its name alone."""
    written = [key_text(k) if v == UNIT else f"{key_text(k)} = {attribute_text(v)}" for k, v in entries.items()]
    return f"{{{', '.join(written)}}}"


def key_text(key: str) -> str:
    return key if _is_word(key) else quoted(key)


def dimensions_text(sizes: Any) -> str:
    """`[0, 1]`."""
    return f"[{', '.join(map(str, sizes))}]"


# --- structs --------------------------------------------------------------------------------------------------------


def struct_text(name: str, fields: Any) -> str:
    """What stands between a struct's brackets."""
    if name == "stablehlo.bounds":
        return ", ".join("?" if bound is None else str(bound) for bound in fields["bounds"])
    if name == "stablehlo.conv":
        return convolution_text(fields) or f"raw {_fields_text(name, fields)}"
    return _fields_text(name, fields)


def _fields_text(name: str, fields: Any) -> str:
    written = {field: _field_text(field, value) for field, value in fields.items()}
    defaults = {field: _field_text(field, value) for field, value in STRUCTS.get(name, {}).items()}
    return ", ".join(f"{field} = {text}" for field, text in written.items() if defaults.get(field) != text)


def _field_text(field: str, value: Any) -> str:
    """A field's value; integers and lists of them stand there without their types, enumerations like structs."""
    match value:
        case IntegerAttribute():
            return str(value.value)
        case DenseArray():
            return dimensions_text(value.values)
        case EnumAttribute(dialect, kind, member):
            return f"#{dialect}.{kind}<{member}>"
        case StructAttribute(name="stablehlo.sub_axis_info", fields=sizes):
            return f"({sizes['pre_size'].value}){sizes['size'].value}"
    if field == "bounds":
        return dimensions_text("?" if bound is None else bound for bound in value)
    return attribute_text(value)


def convolution_text(fields: Any) -> str | None:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`; None where the dimensions are not a permutation."""
    lists = []
    for letters, spatial in CONVOLUTION_LISTS:
        labels = {fields[field].value: letter for letter, field in letters.items()}
        dimensions = _integers(fields[spatial])
        labels |= {dimension: str(label) for label, dimension in enumerate(dimensions)}
        rank = len(letters) + len(dimensions)
        if sorted(labels) != list(range(rank)):
            return None
        lists.append(dimensions_text(labels[position] for position in range(rank)))
    return f"{lists[0]}x{lists[1]}->{lists[2]}"


def _integers(value: Any) -> list[int]:
    return list(value.values) if isinstance(value, DenseArray) else [v.value for v in value]


# --- numbers --------------------------------------------------------------------------------------------------------


def float_text(value: float, type: Any) -> str:
    """A number that reads back as `value`; infinities and NaNs by their bits."""
    if not np.isfinite(value):
        return _bits_text(np.asarray(value).astype(dtypes.numpy_dtype(type)))
    rounded = f"{value:e}"  # what MLIR writes where it is exact
    return rounded if float(rounded) == value else decimal_text(repr(float(value)))


def _bits_text(value: Any) -> str:
    return f"0x{int(value.view(f'u{value.dtype.itemsize}')):0{2 * value.dtype.itemsize}X}"


def _array_text(element_type: Any, values: tuple[Any, ...]) -> str:
    if not values:
        return f"array<{element_type}>"
    match element_type:
        case FloatType():
            words = [float_text(value, element_type) for value in values]
        case BooleanType():
            words = ["true" if value else "false" for value in values]
        case _:
            words = list(map(str, values))
    return f"array<{element_type}: {', '.join(words)}>"


def elements_text(array: np.ndarray, element_type: Any) -> str:
    """What stands between the brackets of `dense<...>`: one element for all, a list, or from 101 elements on, bytes."""
    if array.size == 0:
        return ""
    if array.size == 1 or not any(array.strides):
        return _element_text(array[(0,) * array.ndim], element_type)  # `flat` has no more than 32 dimensions
    if array.size >= HEX_FROM and array.dtype != np.bool_:  # which some versions of MLIR pack, and others do not
        return f'"0x{array.tobytes().hex().upper()}"'
    return _nested_text(array, element_type)


def _nested_text(array: Any, element_type: Any) -> str:
    if array.ndim == 0:
        return _element_text(array[()], element_type)
    return f"[{', '.join(_nested_text(part, element_type) for part in array)}]"


def _element_text(value: Any, element_type: Any) -> str:
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return f"({_real_text(value.real)}, {_real_text(value.imag)})"
    if isinstance(element_type, FloatType):
        return _real_text(value)
    return str(int(value))


def _real_text(value: Any) -> str:
    if not np.isfinite(widen(value) if dtypes.is_narrow_float(value.dtype) else value):
        return _bits_text(np.asarray(value))
    rounded = f"{float(value):e}"
    if type(value)(float(rounded)) == value:
        return rounded
    shortest = isinstance(value, np.float32 | np.float64)
    return decimal_text(np.format_float_scientific(value) if shortest else repr(float(value)))


# --- locations ------------------------------------------------------------------------------------------------------


def location_text(location: DebugLocation) -> str:
    """`loc(...)`, aliases spelled out."""
    return f"loc({_location_body(location)})"


def _location_body(location: DebugLocation | None, depth: int = 0) -> str:
    """A location without `loc( )`. Aliases may chain to any depth, of which so much is written as can be read."""
    if depth >= MAX_NESTING // 2:
        return "unknown"
    below = partial(_location_body, depth=depth + 1)
    match resolve(location):
        case FileLocation(filename, line, column, end):
            return f"{quoted(filename)}:{line}:{column}" + (f" to {end[0]}:{end[1]}" if end else "")
        case NameLocation(name, child):
            return quoted(name) + (f"({below(child)})" if child else "")
        case CallSiteLocation(callee, caller):
            return f"callsite({below(callee)} at {below(caller)})"
        case FusedLocation(locations, metadata):
            mark = "" if metadata is None else f"<{attribute_text(metadata)}>"
            return f"fused{mark}[{', '.join(map(below, locations))}]"
        case UnknownLocation() | None:
            return "unknown"
    raise TypeError(f"no attribute: {location!r}")
